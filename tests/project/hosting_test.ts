// it is long
// A page whose host sends no headers becomes isolated by wasm/isolate.js, after
// one reload, and then runs the README's worker example, bundled by esbuild. It
// also runs from a host that sends them, bundled by others.
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
import { ISOLATED, serve as serveFiles } from "../../docs/page/serve.ts";
import { drive } from "../_run/browser/driver.ts";
import { BROWSERS, programOf } from "../_run/browser/server.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { run } from "../_run/native.ts";
import { install } from "../_run/package.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const README = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");

const test = suite("Hosting");

/** What the page tells: whether each load was isolated, and what it printed. */
interface Told {
  readonly loads: readonly boolean[];
  readonly printed: string;
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>Weft</title>
<link rel="icon" href="data:,">
<script>
const loads = JSON.parse(sessionStorage.getItem("loads") ?? "[]");
loads.push(crossOriginIsolated);
sessionStorage.setItem("loads", JSON.stringify(loads));
console.log = console.error = (printed) => fetch("told", {
  method: "POST",
  body: JSON.stringify({ loads, printed: String(printed) }),
});
addEventListener("error", ({ message }) => console.log(message));
addEventListener("unhandledrejection", ({ reason }) => console.log(reason));
</script>
<script src="isolate.js"></script>
<script type="module">if (crossOriginIsolated) await import("./main.mjs");</script>
`;

/** Writes the example into `folder`, which has the package, too. */
async function writeExample(folder: string): Promise<string[]> {
  await install(folder);
  const files = README.matchAll(
    /^```js ignore\n\/\/ (main.mjs|worker.mjs)\n([^]*?)^```$/gm,
  );
  return [...files].map(([, name, text]) => {
    const file = path.join(folder, name!);
    fs.writeFileSync(file, text!);
    return file;
  });
}

/** Writes the example, as esbuild makes it for a page, into `folder`. */
async function bundleExample(folder: string) {
  const entryPoints = await writeExample(folder);
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

/** Opens the page in a browser, and returns what it tells, if anything. */
async function visit(program: string, folder: string, site: string) {
  let end = (_?: Told) => {};
  const told = new Promise<Told | undefined>((resolve) => end = resolve);
  const server = await serve(site, end);
  const { port } = server.address() as AddressInfo;
  const profile = fs.mkdtempSync(path.join(folder, "profile-"));
  const words = BROWSERS.chromium!.args(profile, `http://127.0.0.1:${port}/`);
  const browser = spawn(program, words, { stdio: "ignore", detached: true });
  browser.on("exit", () => end());
  const result = await told;
  try {
    process.kill(-browser.pid!, "SIGKILL");
  } catch {
    // It has ended.
  }
  server.close();
  server.closeAllConnections();
  return result;
}

test("isolate.js isolates a page with one reload, and the example runs", async () => {
  const program = programOf("chromium");
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-hosting-"));
  const site = await bundleExample(folder);
  // A browser that ends before it shows anything says nothing about the page.
  let told: Told | undefined;
  for (let turn = 0; turn < 3 && told === undefined; turn++) {
    told = await visit(program, folder, site);
  }
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (told === undefined) throw new Missing("chromium that runs");
  assert.equal(told, { loads: [false, true], printed: "333833500" });
});

/** Shows in its title what the example prints. */
const TITLE = `<!doctype html><title></title><link rel="icon" href="data:,">
<script>console.log = (text) => document.title = text;</script>
<script type="module" src="./main.mjs"></script>
`;

const BUNDLERS = fileURLToPath(new URL("_bundlers.ts", import.meta.url));

/** Bundles the page in `folder`; false if npm does not have the bundler. */
async function bundlePage(bundler: string, folder: string): Promise<boolean> {
  const words = ["run", "-A", "--no-config", "--no-lock", BUNDLERS];
  const all = [...words, bundler, folder, "--page"];
  const { code, output } = await run(process.execPath, all, 250);
  if (/npm package|error sending request/.test(output)) return false;
  assert.is(code, 0, output);
  return true;
}

test("the example runs as Vite, webpack and Rollup bundle it", async () => {
  programOf("chromium"); // before anything is bundled
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-bundlers-"));
  try {
    await writeExample(folder);
    await esbuild.stop();
    fs.writeFileSync(path.join(folder, "index.html"), TITLE);
    const bundlers = ["vite", "webpack", "rollup"];
    const bundled = await Promise.all(
      bundlers.map((name) => bundlePage(name, folder)),
    );
    const there = bundlers.filter((_, i) => bundled[i]);
    if (there.length === 0) throw new Missing("bundlers of npm");
    const { server, url } = await serveFiles(`${folder}/dist`, ISOLATED);
    const page = await drive("chromium", url);
    try {
      for (const name of there) {
        const place = JSON.stringify(`/${name}/`);
        await page.until(`location.protocol === "http:" &&
          (location.href = ${place}, true)`);
        await page.until(`location.pathname === ${place} &&
          document.title === "333833500"`);
      }
    } finally {
      page.close();
      server.close();
      server.closeAllConnections();
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}, 250_000);
