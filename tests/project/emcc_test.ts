// also: node
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { emcc, findCompiler, PTHREADS, wasmClang } from "../../wasm/emcc.ts";
import { skip, suite } from "../_run/harness.ts";

const FIXTURES = fileURLToPath(new URL("./fixtures", import.meta.url));
const THREAD = fileURLToPath(
  new URL("../../.weft/thread.mjs", import.meta.url),
);
const BARE = [
  "-O2",
  "-matomics",
  "-mbulk-memory",
  "-nostdlib",
  "-Wl,--no-entry,--import-memory,--shared-memory,--export=add",
  "-Wl,--initial-memory=131072,--max-memory=131072",
];

const test = suite("emcc.ts");
let folder = "";

test.before(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-emcc-"));
});

test.after(() => {
  fs.rmSync(folder, { recursive: true });
});

/** A build of `text`, the same one for the same `name`. */
function bareBuild(name: string, text: string) {
  const source = path.join(folder, `${name}.c`);
  fs.writeFileSync(source, text);
  const out = path.join(folder, `${name}.wasm`);
  return { sources: [source], args: BARE, out };
}

/** The time `out` was written at. */
function written(build: { out: string }): number {
  return fs.statSync(build.out).mtimeMs;
}

/** Runs `body` with `variables` in the environment. */
async function withEnvironment(
  variables: Record<string, string>,
  body: () => Promise<unknown>,
): Promise<string> {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    await body();
    return "did not reject";
  } catch (error) {
    return `${error}`;
  } finally {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

test("emcc() makes a module whose pthreads share its memory", async () => {
  // As `_run/compiler.ts` builds it before the tests, so that it is built once.
  const args = [...PTHREADS, "-O1", "-sPTHREAD_POOL_SIZE=1"];
  const sources = [path.join(FIXTURES, "thread.c")];
  await emcc({ sources, args, out: THREAD });
  const { default: load } = await import(THREAD);
  const module = await load();
  const index = module._begin(5) >> 2;
  const words = new Int32Array(module.wasmMemory.buffer);
  while (Atomics.load(words, index) !== 5) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
});

test("wasmClang() makes a bare module on the memory it is given", async () => {
  const text = fs.readFileSync(path.join(FIXTURES, "bare.c"), "utf8");
  const build = bareBuild("bare", text);
  await wasmClang(build);
  const memory = new WebAssembly.Memory({
    initial: 2,
    maximum: 2,
    shared: true,
  });
  const { instance } = await WebAssembly.instantiate(
    fs.readFileSync(build.out),
    { env: { memory } },
  );
  const add = instance.exports.add as (amount: number) => number;
  assert.is(add(2), 2);
  assert.is(add(3), 5);
});

test("a build is repeated only when a source or a flag changed", async () => {
  const build = bareBuild("again", "int add(int n) { return n; }");
  await wasmClang(build);
  const first = written(build);
  await wasmClang(build);
  assert.is(written(build), first, "nothing changed");
  await wasmClang(bareBuild("again", "int add(int n) { return n + 1; }"));
  const second = written(build);
  assert.not.equal(second, first, "the source changed");
  await wasmClang({ ...build, args: [...BARE, "-DONE"] });
  assert.not.equal(written(build), second, "the flags changed");
});

test("builds of one thing at once make it whole", async () => {
  const build = bareBuild("twice", "int add(int n) { return n; }");
  fs.writeFileSync(`${build.out}.lock`, "999999999\n"); // of no process
  await Promise.all([wasmClang(build), wasmClang(build), wasmClang(build)]);
  await WebAssembly.compile(fs.readFileSync(build.out));
  const left = fs.readdirSync(folder).filter((name) => name.includes("twice"));
  assert.equal(left.sort(), ["twice.c", "twice.wasm", "twice.wasm.stamp"]);
});

test("a folder that cannot be written is told", async () => {
  if (!fs.existsSync("/proc/self")) skip("no folder like that here");
  const build = bareBuild("lost", "int add(int n) { return n; }");
  const failed = wasmClang({ ...build, out: "/proc/self/lost.wasm" });
  assert.match(await failed.then(() => "built", String), "ENOENT");
});

test("an error in the source is told, and the last result kept", async () => {
  const build = bareBuild("wrong", "int add(int n) { return n; }");
  await wasmClang(build);
  const first = written(build);
  const wrong = bareBuild("wrong", "int add(int n) { return m; }");
  const message = await wasmClang(wrong).catch((error) => error.message);
  assert.match(message, "undeclared identifier 'm'");
  assert.is(written(build), first);
});

test("findCompiler() says what to do where there is none", async () => {
  const old = path.join(folder, "emcc");
  fs.writeFileSync(old, "#!/bin/sh\necho 'emcc (Emscripten) 3.1.6 ()'\n");
  fs.chmodSync(old, 0o755);
  const todo = "install Emscripten 3.1.58 or later, or set EMCC";
  assert.is(
    await withEnvironment({ EMCC: old }, findCompiler),
    `NoCompiler: EMCC names version 3.1.6: ${todo}`,
  );
  assert.is(
    await withEnvironment({ EMCC: path.join(folder, "no") }, findCompiler),
    `NoCompiler: EMCC names no emcc that runs: ${todo}`,
  );
  // An old one on PATH is passed over, and nothing there fetches a new one.
  const cache = path.join(folder, "cache");
  const variables = { EMCC: "", PATH: folder, XDG_CACHE_HOME: cache };
  assert.is(
    await withEnvironment(variables, findCompiler),
    `NoCompiler: no emcc, and no bash to fetch it with: ${todo}`,
  );
});
