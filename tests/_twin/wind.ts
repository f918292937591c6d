import type { MpmcQueue, SpscQueue } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";

/** Sets the counters of an empty queue, so that they soon wrap. */
export function wind(
  queue: SpscQueue<unknown> | MpmcQueue<unknown>,
  start: number,
): void {
  const { buffer, byteOffset, byteLength, capacity, elementSize } = queue;
  const words = new Int32Array(buffer, byteOffset, byteLength / 4);
  if (queue.kind === "spsc_queue") {
    const { head, tail, head_cache, tail_cache } = LAYOUT.spsc_queue;
    for (const index of [head, tail, head_cache, tail_cache]) {
      words[index] = start & ~3;
    }
    return;
  }
  const { head, tail, pop_epoch, push_epoch, length } = LAYOUT.mpmc_queue;
  const from = start & ~1;
  words[head] = words[tail] = from;
  words[pop_epoch] = words[push_epoch] = start;
  const stride = 2 + (elementSize + 7 >> 3) * 2;
  for (let i = 0; i < capacity; i++) {
    const ticket = from + 2 * i | 0;
    words[length + (ticket >>> 1 & capacity - 1) * stride] = ticket;
  }
}
