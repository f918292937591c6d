// it waits
// pthread_cancel while a thread of C waits, natively and under Emscripten.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { build, run, WARNINGS } from "../_run/native.ts";

const path = (relative: string) =>
  fileURLToPath(new URL(relative, import.meta.url));
const SOURCE = path("./cancel.c");
const MODULE = path("../../.weft/cancel.mjs");

/** It sleeps at once, and only a wake ends the sleep: a lost one is a hang. */
const SLEEPY = ["-DWEFT_SPIN_ROUNDS=0", "-DWEFT__LOOK=INT64_C(3600000000000)"];

const test = suite("pthread_cancel");

test("natively, a cancelled thread waits on and stays counted", async () => {
  const file = await build({
    name: "cancel",
    compiler: "gcc",
    words: ["-std=c11", "-O1", "-pthread", ...SLEEPY, ...WARNINGS],
    sources: [SOURCE],
  });
  const { code, output } = await run(file, [], 250);
  assert.is(code, 0, output);
  assert.match(output, /^done$/m);
});

test("under Emscripten, a cancelled thread waits on, too", async () => {
  await emcc({
    sources: [SOURCE],
    args: [
      ...PTHREADS,
      "-O1", // links fast
      "-std=gnu11",
      "-sPTHREAD_POOL_SIZE=3",
      ...SLEEPY,
      ...WARNINGS,
      `-I${path("../../wasm")}`,
      `-I${path("../_run")}`,
    ],
    out: MODULE,
  });
  const { default: load } = await import(MODULE);
  const module = await load();
  const at = module._begin() >>> 2;
  const words = new Int32Array(module.wasmMemory.buffer);
  const end = performance.now() + 100_000;
  while (Atomics.load(words, at) === 0) {
    assert.ok(performance.now() < end, "a thread failed, or sleeps for ever");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
