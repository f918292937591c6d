// it is long
// What a mutex and a queue of C cost a module of WebAssembly, and that it does
// not grow unnoticed.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { BUILT } from "../_run/native.ts";

const SOURCE = fileURLToPath(new URL("fixtures/weight.c", import.meta.url));
const WASM = fileURLToPath(new URL("../../wasm", import.meta.url));

/**
 * The most bytes that a mutex and the queue may add; and without spinning. Of
 * the first, about 500 spin, 500 lock and unlock the mutex, 200 make and close
 * the queue, 550 push and pop, 400 wait and wake, and 110 are words of a thread
 * and its id. What the C library adds for a sleep is the rest.
 */
const MOST: Readonly<Record<string, readonly [spins: number, sleeps: number]>> =
  {
    spsc: [2500, 2000],
    mpmc: [2740, 2310],
  };

/** The most bytes that `weft_select` adds where only this queue has arms. */
const SELECT: Readonly<Record<string, number>> = { spsc: 855, mpmc: 840 };

const test = suite("Weight");

/** The bytes of the module that these flags make. */
async function bytesOf(name: string, ...flags: string[]): Promise<number> {
  const out = path.join(BUILT, `weight-${name}.mjs`);
  fs.mkdirSync(BUILT, { recursive: true });
  const args = [...PTHREADS, "-Os", `-I${WASM}`, ...flags];
  await emcc({ sources: [SOURCE], args, out, quiet: true });
  return fs.statSync(out.replace(/mjs$/, "wasm")).size;
}

/** The bytes without them; compiled by the first test. */
let without: Promise<number> | undefined;

for (const [queue, limits] of Object.entries(MOST)) {
  for (const [i, most] of limits.entries()) {
    const how = i === 0 ? "" : ", that never spins,";
    test(`a mutex and ${queue}_queue${how} add ${most} bytes at most`, async () => {
      const rounds = i === 0 ? [] : ["-DWEFT_SPIN_ROUNDS=0"];
      const words = [`-DQUEUE=${queue}`, ...rounds];
      const before = await (without ??= bytesOf("none"));
      const after = await bytesOf(`${queue}-${i}`, ...words);
      const more = after - before;
      assert.ok(more <= most, `${more} bytes`);
      // Far below what it may have, nobody would notice it grow.
      assert.ok(more > most * 0.9, `only ${more} bytes: lower it`);
    });
  }
}

for (const [queue, most] of Object.entries(SELECT)) {
  // Ten kinds of arms would be 12,000 bytes.
  test(`weft_select at a ${queue}_queue adds ${most} bytes at most`, async () => {
    const words = [`-DQUEUE=${queue}`];
    const pops = await bytesOf(`${queue}-pops`, ...words);
    const selects = await bytesOf(`${queue}-selects`, ...words, "-DSELECT");
    const more = selects - pops;
    assert.ok(more <= most, `${more} bytes`);
    assert.ok(more > most * 0.9, `only ${more} bytes: lower it`);
  });
}
