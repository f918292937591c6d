// limit: 300 s
// also: node
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { header } from "../../wasm/header.ts";
import { suite } from "../_run/harness.ts";

const FILE = fileURLToPath(new URL("../../wasm/weft.h", import.meta.url));
const PORT = fileURLToPath(new URL("../../wasm/weft.py", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../../wasm/header.ts", import.meta.url));

const test = suite("header.ts", 120_000);
const text = fs.readFileSync(FILE, "utf8");
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
  return spawnSync(process.execPath, args, { encoding: "utf8" });
}

test("header is the text of weft.h (if not: deno task header)", () => {
  assert.ok(header === text);
});

test("the program prints weft.h, and needs no permission for it", () => {
  const { status, stdout } = run([]);
  assert.is(status, 0);
  assert.ok(stdout === text);
});

test("the program writes weft.h into the folder after --out", () => {
  const out = path.join(folder, "new", "include");
  const { status, stderr } = run(["--allow-write"], "--out", out);
  assert.is(status, 0, stderr);
  assert.ok(fs.readFileSync(path.join(out, "weft.h"), "utf8") === text);
});

test("the program ends with 2 and one line where it cannot", () => {
  const file = path.join(folder, "file");
  fs.writeFileSync(file, "");
  const below = path.join(file, "include");
  const { status, stderr } = run(["--allow-write"], "--out", below);
  assert.is(status, 2);
  assert.match(stderr, /^.*not a directory.*\n$/i);
  const { status: usage, stderr: said } = run([], "--output", folder);
  assert.is(usage, 2);
  assert.is(said, "usage: header [--out FOLDER]\n");
});

test("weft.py lets emcc find weft.h, and JavaScript the memory", async () => {
  const source = path.join(folder, "port.c");
  fs.writeFileSync(source, "#include <weft.h>\n");
  const out = path.join(folder, "port.mjs");
  const args = PTHREADS.filter((flag) => !flag.includes("wasmMemory"));
  args.push(`--use-port=${PORT}`);
  await emcc({ sources: [source], args, out });
  const { default: load } = await import(out);
  assert.instance((await load()).wasmMemory, WebAssembly.Memory);
});
