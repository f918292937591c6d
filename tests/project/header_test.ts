// also: node
// it is long
import { Buffer } from "node:buffer";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { emcc, PTHREADS, wasmClang } from "../../wasm/emcc.ts";
import { header } from "../../wasm/header.ts";
import { skip, suite } from "../_run/harness.ts";
import {
  functionsOf,
  headerFiles,
  headerText,
  INCLUDE,
} from "../_run/header.ts";
import { cppHeaders, need } from "../_run/native.ts";

const EXPORTS = fileURLToPath(
  new URL("../../wasm/exports.c", import.meta.url),
);
const PORT = fileURLToPath(new URL("../../wasm/weft.py", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../../wasm/header.ts", import.meta.url));

const test = suite("header.ts");
const text = headerText();
let folder = "";

test.before(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-header-"));
});

test.after(() => {
  fs.rmSync(folder, { recursive: true });
});

/** Runs the program, under Deno with `permissions` only. */
function run(permissions: string[], ...words: string[]) {
  const before = "Deno" in globalThis ? ["run", ...permissions] : [];
  const args = [...before, PROGRAM, ...words];
  return spawnSync(process.execPath, args, {
    encoding: "utf8",
    timeout: 60_000,
  });
}

test("header() is one file that holds every header once", async () => {
  assert.ok(await header() === text);
  assert.not.match(text, /^#include "/m);
  const functions = functionsOf(text);
  assert.is(new Set(functions).size, functions.length);
  for (const part of Object.values(headerFiles())) {
    const guard = part.match(/^#ifndef WEFT_\w+$/m)![0];
    assert.is(text.split(`\n${guard}\n`).length, 2, guard);
  }
});

/** Compiles with the C headers of `folder`, and returns the module's bytes. */
async function built(folder: string): Promise<Uint8Array> {
  const out = path.join(INCLUDE, "..", ".weft", "header", "module.wasm");
  fs.rmSync(out, { force: true });
  const flags = "-O1 -matomics -mbulk-memory -nostdlib -Wl,--no-entry," +
    "--export-dynamic,--import-memory,--allow-undefined --no-wasm-opt";
  const args = [...flags.split(" "), `-I${folder}`];
  await wasmClang({ sources: [EXPORTS], args, out, quiet: true });
  return fs.readFileSync(out);
}

test("the one file and the folder compile to the same module", async () => {
  const single = path.join(folder, "single");
  fs.mkdirSync(single);
  fs.writeFileSync(path.join(single, "weft.h"), text);
  const [ours, theirs] = [await built(INCLUDE), await built(single)];
  assert.ok(ours.length > 50_000);
  assert.ok(Buffer.compare(ours, theirs) === 0);
});

test("each header compiles alone, as C11 and as C++17", async () => {
  await need("cc");
  const warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion"];
  const flags = [...warnings, "-Werror", "-fsyntax-only", `-I${INCLUDE}`];
  for (const [language, std] of [["c", "c11"], ["c++", "c++17"]]) {
    for (const name of Object.keys(headerFiles())) {
      const input = `#include <${name}>\n`;
      const args = [...flags, `-std=${std}`, "-x", language!, "-"];
      const { status, stderr } = spawnSync("cc", args, { input });
      assert.is(status, 0, `${name} as ${std}: ${stderr}`);
    }
  }
});

test("the program prints it", () => {
  const { status, stdout } = run(["--allow-read"]);
  assert.is(status, 0);
  assert.ok(stdout === text);
});

test("it needs no permission where it comes from JSR", async () => {
  if (!("Deno" in globalThis)) skip("JSR is Deno's here");
  const { server, origin } = await registry();
  const env = { ...process.env, JSR_URL: origin, DENO_DIR: folder };
  const args = ["run", "--no-prompt", "jsr:@weft/sync/header"];
  const child = spawn(process.execPath, args, { env, cwd: folder });
  let [out, said] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (part) => out += part);
  child.stderr.setEncoding("utf8").on("data", (part) => said += part);
  await new Promise((resolve) => child.on("close", resolve));
  server.close();
  assert.ok(out === text, said);
});

/** JSR as far as the program needs it: this package, on this machine. */
async function registry(): Promise<{ server: Server; origin: string }> {
  const names = [
    "wasm/header.ts",
    "wasm/_amalgamation.ts",
    ...Object.keys(headerFiles()).map((name) => `wasm/${name}`),
  ];
  const files = new Map<string, string>();
  const manifest: Record<string, unknown> = {};
  for (const name of names) {
    const text = fs.readFileSync(path.join(INCLUDE, "..", name), "utf8");
    const sum = createHash("sha256").update(text).digest("hex");
    files.set(`/@weft/sync/0.0.1/${name}`, text);
    const size = Buffer.byteLength(text);
    manifest[`/${name}`] = { size, checksum: `sha256-${sum}` };
  }
  const exports = { "./header": "./wasm/header.ts" };
  const versions = { versions: { "0.0.1": {} } };
  files.set("/@weft/sync/meta.json", JSON.stringify(versions));
  const meta = JSON.stringify({ manifest, exports });
  files.set("/@weft/sync/0.0.1_meta.json", meta);
  const server = createServer(({ url }, response) => {
    const text = files.get(url!);
    const type = url!.endsWith(".ts")
      ? "text/typescript"
      : url!.endsWith(".json")
      ? "application/json"
      : "text/plain";
    response.writeHead(text === undefined ? 404 : 200, {
      "content-type": type,
    });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { server, origin: `http://127.0.0.1:${port}/` };
}

test("the program writes weft.h into the folder after --out", () => {
  const out = path.join(folder, "new", "include");
  const { status, stderr } = run(
    ["--allow-read", "--allow-write"],
    "--out",
    out,
  );
  assert.is(status, 0, stderr);
  assert.ok(fs.readFileSync(path.join(out, "weft.h"), "utf8") === text);
  for (const name of ["weft_pthread.h", ...cppHeaders()]) {
    const cpp = fs.readFileSync(path.join(INCLUDE, name), "utf8");
    assert.is(fs.readFileSync(path.join(out, name), "utf8"), cpp);
  }
});

test("the program makes a folder whose name leads in and out", () => {
  for (const out of ["made/.", "in/../out", "deep/1/2/"]) {
    const place = `${folder}/${out}`;
    const { status, stderr } = run(["-A"], "--out", place);
    assert.is(status, 0, stderr);
    assert.is(fs.readFileSync(`${place}/weft.h`, "utf8"), text);
  }
});

test("--help prints how the program is used", () => {
  const { status, stdout, stderr } = run([], "--help");
  assert.equal([status, stderr], [0, ""]);
  assert.is(stdout, "usage: header [--out FOLDER]\n");
});

test("the program ends with 2 and one line where it cannot", () => {
  const file = path.join(folder, "file");
  fs.writeFileSync(file, "");
  const below = path.join(file, "include");
  const { status, stderr } = run(
    ["--allow-read", "--allow-write"],
    "--out",
    below,
  );
  assert.is(status, 2);
  assert.match(stderr, /^.*not a directory.*\n$/i);
  // No folder can be made in Linux's /proc, though it exists.
  if (fs.existsSync("/proc/self")) {
    const { status, stderr } = run(["-A"], "--out", "/proc/weft");
    assert.is(status, 2);
    assert.match(stderr, /^ENOENT.*'\/proc\/weft'\n$/);
  }
  const { status: usage, stderr: said } = run([], "--output", folder);
  assert.is(usage, 2);
  assert.is(said, "usage: header [--out FOLDER]\n");
});

/** Runs the program in a shell: `line` names it as "$@". */
function runIn(line: string) {
  const before = "Deno" in globalThis ? ["run", "-A"] : [];
  const args = ["-c", line, "sh", process.execPath, ...before, PROGRAM];
  return spawnSync("sh", args, {
    encoding: "utf8",
    timeout: 60_000,
    cwd: folder,
  });
}

test("the program ends in one line where its output has no room", () => {
  if (!fs.existsSync("/dev/full")) skip("no /dev/full here");
  const { status, stderr } = runIn('"$@" > /dev/full');
  assert.is(status, 2);
  assert.match(stderr, /^.*no space left.*\n$/i);
});

test("the program ends well where its reader wants no more", () => {
  if (process.platform === "win32") skip("no pipes of a shell here");
  const line = '{ "$@"; echo "$?" > status; } | head -c 10';
  const { stdout, stderr } = runIn(line);
  assert.is(stdout, text.slice(0, 10));
  assert.is(stderr, "");
  assert.is(fs.readFileSync(path.join(folder, "status"), "utf8"), "0\n");
});

test("a header that was there stays whole where there is no room", () => {
  if (process.platform === "win32") skip("no ulimit here");
  const out = path.join(folder, "old");
  fs.mkdirSync(out);
  fs.writeFileSync(path.join(out, "weft.h"), "old");
  // A file has 20 blocks of 512 bytes at most.
  const line = 'trap "" XFSZ; ulimit -f 20; "$@" --out old';
  const { status, stderr } = runIn(line);
  assert.is(status, 2);
  assert.match(stderr, /^.*file too large.*\n$/i);
  assert.equal(fs.readdirSync(out), ["weft.h"]);
  assert.is(fs.readFileSync(path.join(out, "weft.h"), "utf8"), "old");
});

test("weft.py lets emcc find the headers, and JavaScript the memory", async () => {
  const source = path.join(folder, "port.c");
  fs.writeFileSync(source, "#include <weft/latch.h>\n#include <weft.h>\n");
  const out = path.join(folder, "port.mjs");
  const args = PTHREADS.filter((flag) => !flag.includes("wasmMemory"));
  args.push("-O1", `--use-port=${PORT}`); // links fast
  await emcc({ sources: [source], args, out });
  const { default: load } = await import(out);
  assert.instance((await load()).wasmMemory, WebAssembly.Memory);
});
