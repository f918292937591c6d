// Makes a page cross-origin isolated whose host cannot send headers. Copy this
// file beside the page, and load it before all other scripts:
//
//     <script src="isolate.js"></script>
//
// On the page, it registers itself as a service worker, and then reloads the
// page once. As the service worker, it adds the two headers to each response.
// With data-coep="credentialless", the page may show images and scripts of
// other origins that send no Cross-Origin-Resource-Policy (not in Safari).

const inWorker = typeof ServiceWorkerGlobalScope === "function" &&
  self instanceof ServiceWorkerGlobalScope;

// When this page was reloaded. The path is in the key because an isolated page
// and others lie in two processes, which may see old items for a while.
const KEY = `weft-isolate ${self.location.pathname}`;

if (inWorker) serve();
else if (!self.crossOriginIsolated) isolate(document.currentScript);
else sessionStorage.removeItem(KEY);

/** Adds the headers to each response. */
function serve() {
  const coep = new URL(self.location.href).searchParams.get("coep") ??
    "require-corp";

  self.addEventListener("install", () => self.skipWaiting());
  self.addEventListener(
    "activate",
    (event) => event.waitUntil(self.clients.claim()),
  );
  self.addEventListener("fetch", (event) => {
    const { request } = event;
    // Chromium's DevTools ask so, and a service worker may not.
    const { cache, mode } = request;
    if (cache === "only-if-cached" && mode !== "same-origin") return;
    event.respondWith(withHeaders(request));
  });

  async function withHeaders(request) {
    const anonymous = coep === "credentialless" && request.mode === "no-cors";
    const response = await fetch(
      anonymous ? new Request(request, { credentials: "omit" }) : request,
    );
    if (response.status === 0) return response; // of another origin, or moved
    const headers = new Headers(response.headers);
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Embedder-Policy", coep);
    const { body, status, statusText } = response;
    return new Response(body, { status, statusText, headers });
  }
}

/** Registers this file, and reloads the page once. */
async function isolate(script) {
  if (!navigator.serviceWorker) {
    console.error("isolate.js: service workers need https, or localhost");
    return;
  }
  const url = new URL(script.src);
  if (script.dataset.coep) url.searchParams.set("coep", script.dataset.coep);
  await navigator.serviceWorker.register(url);
  await navigator.serviceWorker.ready;
  if (Date.now() - Number(sessionStorage.getItem(KEY)) < 60_000) {
    // Reloading again would not help.
    console.error("isolate.js: the page is not isolated all the same");
    sessionStorage.removeItem(KEY);
    return;
  }
  sessionStorage.setItem(KEY, Date.now());
  location.reload();
}
