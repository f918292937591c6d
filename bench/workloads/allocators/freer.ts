/**
 * JavaScript's threads of an exchange: the twin of `exchange` in
 * `allocators.c`.
 *
 * @module
 */

import { Latch, MpmcQueue, SlabPool } from "../../../mod.ts";
import { listen, post } from "../crew.ts";

/** The orders of a thread. */
export interface Role {
  readonly memory: WebAssembly.Memory;
  /** Addresses. */
  readonly queue: number;
  readonly pool: number;
  readonly done: number;
  /** How many blocks to take, or to free. */
  readonly count: number;
  readonly script: "takes" | "frees";
}

/** Words that are stamped. */
const WORDS = 250;

function run({ memory, queue, pool, done, count, script }: Role): void {
  const pointers = new MpmcQueue(memory, queue >>> 0);
  const slab = new SlabPool(memory, pool >>> 0);
  const words = new Int32Array(memory.buffer);
  slab.useCache();
  for (let i = 0; i < count; i++) {
    if (script === "frees") {
      const at = pointers.popInt()! >>> 0;
      if (words[at / 4 + WORDS - 1] !== ~words[at / 4]!) {
        throw new Error(`the block at ${at} does not hold what was written`);
      }
      slab.free(at - slab.byteOffset);
      continue;
    }
    let offset = -1;
    // All blocks may be on their way to the threads that free them.
    while ((offset = slab.allocate()) < 0);
    const at = slab.byteOffset + offset;
    words[at / 4] = i;
    words[at / 4 + WORDS - 1] = ~i;
    pointers.pushInt(at | 0);
  }
  slab.release();
  new Latch(memory, done >>> 0).countDown();
}

let role: Role | undefined;

listen((message: Role | "go") => {
  if (message !== "go") {
    role = message;
    return post("ready");
  }
  run(role!);
  post("over");
});
