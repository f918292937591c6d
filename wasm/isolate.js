// Makes a page cross-origin isolated whose host cannot send headers. Copy this
// file beside the page, and load it before all other scripts:
//
//     <script src="isolate.js"></script>
//
// On the page, it registers itself as a service worker, and then reloads the
// page once. As the service worker, it adds the two headers to documents,
// frames and the scripts of workers; it does not touch any other request.
// With data-coep="credentialless", the page may show images and scripts of
// other origins that send no Cross-Origin-Resource-Policy (not in Safari).
// With data-remove, it removes the service worker from browsers that have it.

const inWorker = typeof ServiceWorkerGlobalScope === "function" &&
  self instanceof ServiceWorkerGlobalScope;

// In the session: when this page was reloaded. In the browser: which policy
// this page asked for. The path is in the key because an isolated page and
// others lie in two processes, which may see old items for a while.
const KEY = `weft-isolate ${self.location.pathname}`;

if (inWorker) serve();
else if (document.currentScript) isolate(document.currentScript);
else tell('load it by <script src="isolate.js"></script>: it is no module');

/** The policy that the service worker at `url` sends. */
function policyOf(url) {
  return new URL(url).searchParams.get("coep") ?? "require-corp";
}

/** Adds the headers to what needs them. */
function serve() {
  const policy = policyOf(self.location.href);

  self.addEventListener("install", () => self.skipWaiting());
  self.addEventListener(
    "activate",
    (event) => event.waitUntil(self.clients.claim()),
  );
  self.addEventListener("fetch", (event) => {
    const { request } = event;
    const { mode, destination } = request;
    if (mode === "navigate" || /worker$/.test(destination)) {
      event.respondWith(withHeaders(request));
    }
  });

  async function withHeaders(request) {
    const response = await fetch(request);
    const { status, statusText, redirected, url } = response;
    // A document that moved: the browser follows, and asks here again. So it
    // does with a script: otherwise its imports would be sought in the old
    // place.
    if (status === 0) return response;
    if (redirected) return Response.redirect(url);
    if (status === 204 || status === 205 || status === 304) return response;
    const headers = new Headers(response.headers);
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Embedder-Policy", policy);
    return new Response(response.body, { status, statusText, headers });
  }
}

/** Registers this file, or another policy, and reloads the page once. */
async function isolate(script) {
  const { serviceWorker } = navigator;
  const isolated = self.crossOriginIsolated;
  if (!serviceWorker) {
    if (!isolated) tell("service workers need https, or localhost");
    return;
  }
  const url = new URL(script.src);
  if (script.dataset.coep) url.searchParams.set("coep", script.dataset.coep);
  const scope = new URL("./", url).href;
  const found = await serviceWorker.getRegistration(scope);
  const own = found?.scope === scope ? found : undefined;
  const worker = own?.active ?? own?.waiting ?? own?.installing;
  const there = worker && new URL(worker.scriptURL);
  if (there && there.pathname !== url.pathname) {
    if (!isolated) tell(`let ${there} add the headers: it was here before`);
    return;
  }
  if (script.dataset.remove !== undefined) {
    await own?.unregister();
    localStorage.removeItem(KEY);
    return;
  }
  const wanted = policyOf(url);
  const differs = there && policyOf(there) !== wanted;
  if (isolated && !differs) {
    localStorage.setItem(KEY, wanted);
    sessionStorage.removeItem(KEY);
    return;
  }
  if (differs && localStorage.getItem(KEY) === wanted) {
    // To register again would let the two pages take turns for ever.
    tell(`another page of this folder has data-coep="${policyOf(there)}"`);
    if (isolated) return;
  } else {
    await activated(await serviceWorker.register(url));
    localStorage.setItem(KEY, wanted);
  }
  if (Date.now() - Number(sessionStorage.getItem(KEY)) < 60_000) {
    // Reloading again would not help.
    tell("the page is not isolated all the same");
    sessionStorage.removeItem(KEY);
    return;
  }
  sessionStorage.setItem(KEY, Date.now());
  location.reload();
}

function tell(text) {
  console.error(`isolate.js: ${text}`);
}

/** Waits until the newest worker of a registration serves. */
function activated({ installing, waiting, active }) {
  const worker = installing ?? waiting ?? active;
  return new Promise((resolve) => {
    const look = () =>
      /^(activated|redundant)$/.test(worker.state) && resolve();
    worker.addEventListener("statechange", look);
    look();
  });
}
