/**
 * A JavaScript worker of the demo. It pops slot numbers from the queue that the
 * wasm threads use, too. It hashes the bytes in the slot, and counts them under
 * the lock that the threads use, too. It is the twin of `agent` in `hash.c`.
 *
 * @module
 */

import { ClosedError } from "../../mod.ts";
import { Arena, type Plan } from "./arena.ts";
import { blake2bShared } from "./blake2b.ts";

/** What the main thread posts. */
export interface Start {
  /** The memory that everything lies in. */
  memory: WebAssembly.Memory;
  /** The places in it. */
  plan: Plan;
  /** The row of the summary to write to. */
  row: number;
}

function run({ memory, plan, row }: Start): void {
  const arena = new Arena(memory, plan);
  const { jobs, permits, work, lock } = arena;
  arena.ready.release();
  for (;;) {
    const slot = jobs.popInt(); // throws when there is no more to do
    const chunk = arena.chunkIn(slot);
    const begin = performance.now();
    const digest = blake2bShared(chunk);
    const busy = performance.now() - begin;
    {
      using _lock = lock.lock();
      arena.count(0, chunk.length, busy);
      arena.count(row, chunk.length, busy);
    }
    arena.finish(slot, digest);
    work.done();
    permits.release();
  }
}

addEventListener("message", ({ data }: MessageEvent<Start>) => {
  try {
    run(data);
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
  close();
});
