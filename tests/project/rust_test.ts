// it is long
// A thread of Rust and JavaScript share two queues in one memory.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { MpmcQueue } from "../../mod.ts";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { BUILT, run } from "../_run/native.ts";

const FIXTURES = fileURLToPath(new URL("./fixtures", import.meta.url));
const WASM = fileURLToPath(new URL("../../wasm", import.meta.url));
const TARGET = "wasm32-unknown-unknown";

/** Debian's compiler has its libraries for wasm beside it; others may, too. */
const COMPILERS = ["rustc", "/usr/bin/rustc"];

/** Flags of code without Rust's own library, for threads that share memory. */
const FLAGS = [
  ...["--target", TARGET, "--edition", "2021", "--crate-type", "lib"],
  ...["--emit", "obj", "-O", "-C", "panic=abort", "-C", "codegen-units=1"],
  ...["-C", "target-feature=+atomics,+bulk-memory"],
];

const test = suite("Rust");

/** A compiler that has Rust's `core` for wasm. */
async function rustc(): Promise<string> {
  for (const compiler of COMPILERS) {
    if (compiler.includes("/") && !fs.existsSync(compiler)) continue;
    const words = ["--target", TARGET, "--print", "target-libdir"];
    const found = await run(compiler, words, 60).catch(() => undefined);
    if (found?.code === 0 && fs.existsSync(found.output.trim())) {
      return compiler;
    }
  }
  throw new Missing("rustc for wasm32");
}

interface Module {
  wasmMemory: WebAssembly.Memory;
  _place(i: number): number;
  _begin(): number;
  _end(): number;
}

test("a thread of Rust takes from JavaScript's queue, and gives", async () => {
  fs.mkdirSync(BUILT, { recursive: true });
  const object = path.join(BUILT, "jobs.o");
  const source = path.join(FIXTURES, "jobs.rs");
  const words = [...FLAGS, "-o", object, source];
  const { code, output } = await run(await rustc(), words, 200);
  assert.is(code, 0, output);
  const sources = [
    path.join(FIXTURES, "start_rust.c"),
    path.join(WASM, "exports.c"),
  ];
  const args = [...PTHREADS, "-O1", "-sPTHREAD_POOL_SIZE=1", `-I${WASM}`];
  const out = path.join(BUILT, "jobs.mjs");
  await emcc({ sources, args: [...args, object], out, quiet: true });
  const { default: load } = await import(out);
  const module: Module = await load();
  const { wasmMemory: memory } = module;
  const config = { capacity: 64, elementSize: 4 };
  const [jobs, results] = [0, 1].map((i) =>
    MpmcQueue.init(memory, module._place(i) >>> 0, config)
  ) as [MpmcQueue, MpmcQueue];
  assert.is(module._begin(), 0);
  const pushed = (async () => {
    for (let i = 0; i < 1000; i++) await jobs.pushIntAsync(i);
    jobs.close();
  })();
  for (let i = 0; i < 1000; i++) assert.is(await results.popIntAsync(), 2 * i);
  await pushed;
  assert.is(module._end(), 1000);
});
