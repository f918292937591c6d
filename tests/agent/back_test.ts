// it waits
// A page that the visitor leaves and comes back to. Chromium and Firefox may
// keep such a page meanwhile, in the back/forward cache.
import * as esbuild from "esbuild";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { ISOLATED } from "../../docs/page/serve.ts";
import { drive, type Driven } from "../_run/browser/driver.ts";
import { programOf } from "../_run/browser/server.ts";
import { skip, suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

const test = suite("A page that is left", 300_000);

/** What a page does, and what the path of the page is called. */
const PAGES = {
  /** It awaits, and has a worker that blocks. */
  waits: `
    const mutex = Mutex.create();
    const nobodys = mutex.tryLock(); // the page's own, which it unlocks later
    const event = Event.create();
    const waiting = Promise.all([mutex.lockAsync(), event.waitAsync()]);
    addEventListener("unlocks", () => (nobodys.unlock(), event.set()));
    const source = "onmessage = ({ data }) => (postMessage(0), " +
      "Atomics.wait(data, 0, 0))";
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    worker.postMessage(new Int32Array(new SharedArrayBuffer(4)));
    await new Promise((resolve) => worker.onmessage = resolve);
    weft.waiting = waiting.then(() => true);`,
  /** It has announced itself. */
  announces: `weft.id = await announceAgent();`,
  /** A worker of it has announced itself. */
  employs: `
    const worker = new Worker("worker.js", { type: "module" });
    weft.id = await new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
    });`,
  other: "",
} as const;

const WORKER = `import { announceAgent } from "./weft.js";
postMessage(await announceAgent());`;

const pageOf = (body: string) =>
  `<!doctype html><title>Weft</title><link rel="icon" href="data:,">
<script type="module">
import { announceAgent, Event, Mutex } from "./weft.js";
const weft = globalThis.weft = { shown: 0, kept: 0 };
addEventListener("pageshow", ({ persisted }) => {
  weft.shown++;
  if (persisted) weft.kept++;
});
${body}
weft.ready = true;
</script>`;

/** Whether the lock of the agent that was announced is held. */
const HELD = `navigator.locks.query().then(({ held }) =>
  held.some(({ name }) => name === "weft:agent:" + weft.id))`;

/** Opens a browser for `look`, which gets a page and where pages are. */
async function visit(
  name: string,
  look: (page: Driven) => Promise<void>,
): Promise<void> {
  programOf(name); // before the page is made
  const { outputFiles } = await esbuild.build({
    stdin: { contents: 'export * from "./mod.ts";', resolveDir: PROJECT },
    bundle: true,
    format: "esm",
    target: "es2022",
    external: ["node:*"],
    write: false,
    logLevel: "error",
  });
  await esbuild.stop();
  const files: Readonly<Record<string, string>> = {
    "weft.js": outputFiles[0]!.text,
    "worker.js": WORKER,
    ...Object.fromEntries(
      Object.entries(PAGES).map(([name, body]) => [name, pageOf(body)]),
    ),
  };
  const server = createServer((request, response) => {
    const file = request.url!.slice(1);
    const type = file.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(file in files ? 200 : 404, {
      ...ISOLATED,
      "Content-Type": type,
    }).end(files[file] ?? "");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  let browser: Driven | undefined;
  try {
    const url = `http://127.0.0.1:${port}/other`;
    browser = await drive(name, url);
    await look(browser);
  } finally {
    browser?.close();
    server.close();
    server.closeAllConnections();
  }
}

/** Goes to a page, away from it and back; whether the browser kept it. */
async function leave(page: Driven, name: keyof typeof PAGES): Promise<boolean> {
  const at = (name: string) =>
    page.until(`location.pathname === "/${name}" && weft.ready === true`);
  const go = (how: string) => page.value(`void (${how})`).catch(() => {});
  await at("other");
  await go(`location.href = "/${name}"`);
  await at(name);
  await page.value("weft.left = true"); // a page that begins anew was not
  await go(`location.href = "/other"`);
  await at("other");
  await go("history.back()");
  await at(name);
  await page.until("weft.shown > (weft.left === true ? 1 : 0)");
  return await page.value("weft.kept") === 1;
}

for (const name of ["chromium", "firefox"]) {
  test(`${name}: waits go on, and agents are announced, when it is back`, async () => {
    let kept = false;
    await visit(name, async (page) => {
      assert.ok(await leave(page, "waits"), "a page that waits");
      await page.value('void dispatchEvent(new Event("unlocks"))');
      assert.is(await page.value("weft.waiting"), true);
      for (const what of ["announces", "employs"] as const) {
        await page.value('void (location.href = "/other")').catch(() => {});
        const isKept = await leave(page, what);
        // Firefox keeps no page that has a Web Lock: the page begins anew.
        if (name !== "firefox") assert.ok(isKept, what);
        kept ||= isKept;
        assert.is(await page.value(HELD), true, what);
      }
    });
    if (name === "firefox" && kept) {
      skip(
        "Firefox keeps a page with a lock: docs/primitives/agent.md denies it",
      );
    }
  });
}
