/**
 * Runs threads of `allocators.c`, and of JavaScript, and prints how long they
 * took.
 *
 * @module
 */

import { performance } from "node:perf_hooks";
import process from "node:process";
import { Latch, SlabPool } from "../../../mod.ts";
import { hire } from "../crew.ts";
import { orderOf } from "../processes.ts";
import type { Role } from "./freer.ts";

/** The jobs of threads, in the order of `allocators.c`. */
const WORK = [
  "sums",
  "malloc",
  "slab",
  "exchange malloc",
  "exchange slab",
] as const;

/** The orders of the process. */
export interface Job {
  /** The compiled module. */
  readonly module: string;
  readonly what: typeof WORK[number];
  /**
   * Numbers of threads, measured one after the other. In exchanges, half of the
   * threads free.
   */
  readonly threads: readonly number[];
  readonly total: number;
  readonly rounds: number;
  /** The half of an exchange that JavaScript does. */
  readonly script?: "takes" | "frees";
}

/** The output of the process. */
export interface Printed {
  threads: number;
  ms: number;
  /** The bytes that the allocator has taken from the memory so far. */
  heap: number;
}

/** The module's functions. */
interface Module {
  readonly wasmMemory: WebAssembly.Memory;
  _prepare(threads: number, blocks: number): number;
  _begin(what: number, threads: number, total: number, frees: boolean): void;
  _heap_bytes(): number;
}

const job = orderOf<Job>();
const { default: load } = await import(job.module);
const module: Module = await load();
const memory = module.wasmMemory;
const FREER = new URL("./freer.ts", import.meta.url);

async function run(threads: number): Promise<number> {
  const { what, total, script } = job;
  const exchanges = what.startsWith("exchange");
  const blocks = !what.endsWith("slab") ? 0 : exchanges ? 4096 : threads * 1100;
  const at = (module._prepare(threads, blocks) >>> 0) / 4;
  const [done, queue, pool] = new Int32Array(memory.buffer, at * 4, 3);
  const latch = new Latch(memory, done! >>> 0);
  const half = threads / 2;
  const kind = WORK.indexOf(what);
  if (script) {
    const role = { memory, queue: queue!, pool: pool!, done: done! };
    const count = total / half;
    await Promise.all(
      Array.from({ length: half }, () => scribe({ ...role, script, count })),
    );
  }
  const begin = performance.now();
  if (!exchanges) module._begin(kind, threads, total, false);
  else {
    if (script !== "frees") module._begin(kind, half, total, true);
    if (script !== "takes") module._begin(kind, half, total, false);
    for (const start of waiting.splice(0)) start();
  }
  await latch.waitAsync();
  const ms = performance.now() - begin;
  const [wrong, missing] = new Int32Array(memory.buffer, at * 4 + 12, 2);
  if (wrong || missing) throw new Error(`${wrong} wrong, ${missing} missing`);
  if (blocks > 0) {
    const { available } = new SlabPool(memory, pool! >>> 0);
    if (available !== blocks) throw new Error(`${available} of ${blocks} free`);
  }
  return ms;
}

/** Starts those threads of JavaScript that are ready. */
const waiting: (() => void)[] = [];

/** Gets a thread of JavaScript ready. */
function scribe(role: Role): Promise<void> {
  return new Promise((ready) => {
    const hand = hire(FREER, (message: "ready" | "over") => {
      if (message === "over") return hand.stop();
      waiting.push(() => hand.post("go"));
      ready();
    });
    hand.post(role);
  });
}

for (const threads of job.threads) {
  // The first round only lets the compilers work.
  for (let round = 0; round <= job.rounds; round++) {
    const ms = await run(threads);
    if (round === 0) continue;
    const printed: Printed = { threads, ms, heap: module._heap_bytes() };
    console.log(JSON.stringify(printed));
  }
}
process.exit(0);
