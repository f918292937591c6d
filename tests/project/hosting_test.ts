// A page whose host sends no headers becomes isolated by wasm/isolate.js, after
// one reload, and then runs the README's worker example, bundled.
import * as esbuild from "esbuild";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { BROWSERS, programOf } from "../_run/browser/server.ts";
import { skip, suite } from "../_run/harness.ts";
import { install } from "../_run/package.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const README = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");

const test = suite("Hosting");

/** What the page tells: which load of it this is, and what happened in it. */
interface Told {
  readonly load: number;
  readonly isolated: boolean;
  readonly printed?: string;
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>Weft</title>
<link rel="icon" href="data:,">
<script>
const load = Number(sessionStorage.getItem("loads") ?? 0) + 1;
sessionStorage.setItem("loads", load);
const tell = (more) => fetch("told", {
  method: "POST",
  body: JSON.stringify({ load, isolated: crossOriginIsolated, ...more }),
});
console.log = (printed) => tell({ printed: String(printed) });
console.error = console.log;
addEventListener("error", ({ message }) => console.log(message));
addEventListener("unhandledrejection", ({ reason }) => console.log(reason));
</script>
<script src="isolate.js"></script>
<script>if (!crossOriginIsolated) tell();</script>
<script type="module">if (crossOriginIsolated) await import("./main.mjs");</script>
`;

/** Writes the example, as a bundler makes it for a page, into `folder`. */
async function bundleExample(folder: string) {
  await install(folder);
  const files = README.matchAll(/^```js ignore\n\/\/ (.*)\n([^]*?)^```$/gm);
  const entryPoints = [...files].map(([, name, text]) => {
    const file = path.join(folder, name!);
    fs.writeFileSync(file, text!);
    return file;
  });
  await esbuild.build({
    absWorkingDir: folder,
    entryPoints,
    bundle: true,
    format: "esm",
    target: "es2022",
    external: ["node:*"],
    outdir: path.join(folder, "site"),
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
  });
  await esbuild.stop();
  const site = path.join(folder, "site");
  fs.writeFileSync(path.join(site, "index.html"), PAGE);
  fs.copyFileSync(
    path.join(folder, "node_modules/@weft/sync/wasm/isolate.js"),
    path.join(site, "isolate.js"),
  );
  return site;
}

/** Serves `site` without headers, and calls `take` with what the page tells. */
function serve(site: string, take: (told: Told) => void) {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text) => body += text);
    request.on("end", () => {
      if (request.method === "POST") {
        response.end();
        return take(JSON.parse(body));
      }
      const name = path.basename(request.url!.split("?")[0]!) || "index.html";
      const isPage = name === "index.html";
      const type = isPage ? "text/html" : "text/javascript";
      fs.readFile(path.join(site, name), (error, data) => {
        response.writeHead(error ? 404 : 200, { "Content-Type": type });
        response.end(error ? "" : data);
      });
    });
  });
  return new Promise<typeof server>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}

test("isolate.js isolates a page with one reload, and the example runs", async () => {
  let program: string;
  try {
    program = programOf("chromium");
  } catch {
    skip("no chromium here");
  }
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-hosting-"));
  const site = await bundleExample(folder);
  const all: Told[] = [];
  let end = () => {};
  const over = new Promise<void>((resolve) => end = resolve);
  const server = await serve(site, (told) => {
    all.push(told);
    if (told.printed !== undefined) end();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const profile = path.join(folder, "profile");
  const browser = spawn(program!, BROWSERS.chromium!.args(profile, url), {
    stdio: "ignore",
    detached: true,
  });
  browser.on("exit", end);
  await over;
  try {
    process.kill(-browser.pid!, "SIGKILL");
  } catch {
    // It has ended.
  }
  server.close();
  server.closeAllConnections();
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  assert.equal(all, [
    { load: 1, isolated: false },
    { load: 2, isolated: true, printed: "333833500" },
  ]);
});
