// it is long
// What wasm/isolate.js does besides isolating a page: it touches only documents
// and workers, follows a change of its policy, leaves other service workers
// alone, never takes turns with one, and can be removed.
import * as fs from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as assert from "uvu/assert";
import { drive, type Driven } from "../_run/browser/driver.ts";
import { programOf } from "../_run/browser/server.ts";
import { suite } from "../_run/harness.ts";

const SCRIPT = fs.readFileSync(
  new URL("../../wasm/isolate.js", import.meta.url),
  "utf8",
);

const test = suite("isolate.js");

/** A page whose script has these attributes; it keeps what was told. */
const page = (attributes = "") =>
  `<!doctype html><title>Weft</title>
<link rel="icon" href="data:,">
<script>
const count = Number(sessionStorage.getItem("loads")) + 1;
sessionStorage.setItem("loads", count);
globalThis.told = [];
console.error = (text) => told.push(text);
</script>
<script src="isolate.js"${attributes}></script>
`;

/** What the host has, by path; a test may change it. */
type Host = Map<string, [type: string, text: string] | number | string>;

const JS = "text/javascript";

/** What all tests have. */
const files = (): Host =>
  new Map<string, [string, string] | number | string>([
    ["/", ["text/html", page()]],
    ["/isolate.js", [JS, SCRIPT]],
    ["/204", 204],
    ["/205", 205],
    ["/304", 304],
    ["/404", 404],
    ["/old.mjs", "/deep/new.mjs"],
    ["/deep/new.mjs", [JS, 'import x from "./x.mjs"; postMessage(x);']],
    ["/deep/x.mjs", [JS, "export default crossOriginIsolated;"]],
    ["/moved.mjs", "/deep/moved.mjs"],
    ["/deep/moved.mjs", [JS, 'export { default } from "./x.mjs";']],
    ["/frame", ["text/html", "<!doctype html>"]],
    ["/plain.txt", ["text/plain", "text"]],
  ]);

/** Serves `host`, without headers, and opens it in Chromium. */
async function open(host: Host, look: (page: Driven) => Promise<void>) {
  programOf("chromium"); // before anything is served
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://localhost");
    const found = host.get(pathname) ?? 404;
    response.setHeader("Cache-Control", "no-store");
    if (typeof found === "number") response.writeHead(found).end();
    else if (typeof found === "string") {
      response.writeHead(302, { Location: found }).end();
    } else {
      response.writeHead(200, { "Content-Type": found[0] }).end(found[1]);
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  let driven: Driven | undefined;
  try {
    driven = await drive("chromium", url);
    await look(driven);
  } finally {
    driven?.close();
    server.close();
    server.closeAllConnections();
  }
}

const SETTLED = 'document.readyState === "complete"';

/** Visits `url` as a visitor who comes back, until `state` is true. */
async function visit(page: Driven, url: string, state: string) {
  await page.value(`void (globalThis.left = true,
    sessionStorage.removeItem("loads"), location.href = "${url}")`);
  await page.until(`globalThis.left === undefined && ${SETTLED} && ${state}`);
}

/** How many loads the last visit took. */
const loads = (page: Driven) =>
  page.value('Number(sessionStorage.getItem("loads"))');

/** What is sent with the page now. */
const policy = (page: Driven) =>
  page.value(`fetch("/isolate.js").then(() =>
    navigator.serviceWorker.controller?.scriptURL.replace(/^.*[/]/, ""))`);

/** Waits, so that what must not happen could have happened. */
const wait = (page: Driven) =>
  page.value("new Promise((done) => setTimeout(done, 300))");

test("it adds headers to documents and workers, and lets all else pass", async () => {
  await open(files(), async (page) => {
    await page.until(`crossOriginIsolated && ${SETTLED}`);
    const answers = await page.value(`Promise.all(
      ["/204", "/205", "/304", "/404", "/plain.txt", "/frame"].map((path) =>
        fetch(path).then(
          ({ status, headers }) =>
            [status, headers.get("cross-origin-embedder-policy")],
          ({ message }) => message,
        )))`);
    assert.equal(answers, [
      [204, null],
      [205, null],
      [304, null],
      [404, null],
      [200, null],
      [200, null],
    ]);
    // A frame without the header would not load, nor would a worker.
    assert.is(
      await page.value(`new Promise((done) => {
        const frame = document.createElement("iframe");
        frame.src = "/frame";
        frame.onload = () => {
          try {
            done(frame.contentDocument.location.pathname);
          } catch (error) {
            done(error.message);
          }
        };
        document.body.append(frame);
      })`),
      "/frame",
    );
    // A document that moved, in a frame.
    const worker = (path: string) =>
      page.value(`new Promise((done) => {
        const worker = new Worker("${path}", { type: "module" });
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = () => done("error");
      })`);
    assert.is(await worker("/deep/new.mjs"), true);
    assert.is(await worker("/old.mjs"), true, "its imports lie elsewhere");
    const moved = 'import("/moved.mjs").then((x) => x.default, String)';
    assert.is(await page.value(moved), true, "a module that moved");
  });
});

test("a 204 answer to a navigation leaves the page as it is", async () => {
  await open(files(), async (page) => {
    await page.until(`crossOriginIsolated && ${SETTLED}`);
    await page.value('void (globalThis.here = 1, location.href = "/204")');
    await wait(page);
    assert.is(await page.value("globalThis.here"), 1);
  });
});

test("a changed data-coep reaches a visitor who comes back", async () => {
  const host = files();
  await open(host, async (page_) => {
    await page_.until(`crossOriginIsolated && ${SETTLED}`);
    assert.is(await policy(page_), "isolate.js");
    host.set("/", ["text/html", page(' data-coep="credentialless"')]);
    const changed =
      'navigator.serviceWorker.controller?.scriptURL.endsWith("credentialless")';
    const twice = 'sessionStorage.getItem("loads") === "2"';
    await visit(page_, "/", `crossOriginIsolated && ${changed} && ${twice}`);
    await wait(page_);
    assert.is(await loads(page_), 2, "it reloads once");
    await visit(page_, "/", `crossOriginIsolated && ${changed}`);
    await wait(page_);
    assert.is(await loads(page_), 1);
    host.set("/", ["text/html", page()]);
    await visit(page_, "/", `crossOriginIsolated && !${changed}`);
  });
});

test("two pages of one folder that disagree do not take turns", async () => {
  const host = files();
  host.set("/other", ["text/html", page(' data-coep="credentialless"')]);
  await open(host, async (page) => {
    await page.until(`crossOriginIsolated && ${SETTLED}`);
    const twice = 'sessionStorage.getItem("loads") === "2"';
    await visit(page, "/other", `crossOriginIsolated && ${twice}`);
    await wait(page);
    // Each has asked once; now nothing changes any more, and both say so.
    const said: unknown[] = [];
    for (const path of ["/", "/other", "/", "/other"]) {
      await visit(page, path, "crossOriginIsolated");
      await wait(page);
      assert.is(await loads(page), 1, path);
      said.push(await page.value("told.length"));
    }
    assert.equal(said, [1, 0, 1, 0]);
    await visit(page, "/", "told.length > 0");
    assert.match(await page.value("told[0]") as string, /another page of this/);
  });
});

test("it leaves the service worker of the page's own alone", async () => {
  const host = files();
  host.set("/own.js", [JS, "// does nothing"]);
  host.set("/", ["text/html", "<!doctype html><title>Weft</title>"]);
  await open(host, async (page_) => {
    await page_.until(SETTLED);
    await page_.value(`navigator.serviceWorker.register("/own.js")
      .then(() => navigator.serviceWorker.ready).then(() => true)`);
    host.set("/", ["text/html", page()]);
    await visit(page_, "/", "told.length > 0");
    await wait(page_);
    assert.is(await loads(page_), 1);
    assert.match(await page_.value("told[0]") as string, /let .*own\.js add/);
    assert.is(
      await page_.value(`navigator.serviceWorker.getRegistrations()
        .then((all) => all.map(({ active }) => active.scriptURL.slice(-6)).join())`),
      "own.js",
    );
  });
});

test("a newer isolate.js reaches a visitor who comes back", async () => {
  const host = files();
  await open(host, async (page) => {
    await page.until(`crossOriginIsolated && ${SETTLED}`);
    const newer = `if (inWorker) {
      self.addEventListener("message", ({ source }) => source.postMessage(2));
    }`;
    host.set("/isolate.js", [JS, `${SCRIPT}\n${newer}`]);
    await visit(page, "/", "crossOriginIsolated");
    await page.until(`new Promise((done) => {
      const { serviceWorker } = navigator;
      serviceWorker.onmessage = ({ data }) => done(data === 2);
      serviceWorker.controller.postMessage("");
      setTimeout(done, 200, false);
    })`);
    assert.is(await loads(page), 1);
  });
});

test("data-remove removes it", async () => {
  const host = files();
  await open(host, async (page_) => {
    await page_.until(`crossOriginIsolated && ${SETTLED}`);
    host.set("/", ["text/html", page(" data-remove")]);
    await visit(page_, "/", "true");
    await page_.until(`navigator.serviceWorker.getRegistrations()
      .then((all) => all.length === 0)`);
    await visit(page_, "/", "!crossOriginIsolated");
    await wait(page_);
    assert.is(await loads(page_), 1);
    assert.equal(await page_.value("told"), []);
    assert.is(await page_.value("localStorage.length"), 0);
  });
});
