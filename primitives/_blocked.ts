/**
 * Slots of an `MpmcQueue` that an agent has claimed, and not handed on.
 *
 * @module
 */

import type { MPMC_QUEUE } from "./_layout.ts";

const CAPACITY: typeof MPMC_QUEUE.capacity = 1;
const ELEMENT_SIZE: typeof MPMC_QUEUE.element_size = 2;
const TAIL: typeof MPMC_QUEUE.tail = 32;
const HEAD: typeof MPMC_QUEUE.head = 64;
const SLOTS: typeof MPMC_QUEUE.length = 160;
/** In `tail`: the queue is closed. */
const CLOSED_BIT = 1;
/** What a ticket is counted in, and what a filled slot's turn has added. */
const ONE = 2;
const FILLED = 1;
/** So many slots are looked at, and no more. */
const MOST = 65536;

/** A claimed slot: its word, and the turn it has while it is claimed. */
export interface Claimed {
  /** The index of its `turn`. */
  readonly index: number;
  /** What `turn` is until the agent hands the slot on. */
  readonly turn: number;
  /** What its agent was doing. */
  readonly by: "push" | "pop";
}

/**
 * The slots of the queue in `words` that an agent is writing to, or reading
 * from. Its configuration must have been checked.
 */
export function claimedSlots(words: Int32Array): Claimed[] {
  const capacity = words[CAPACITY]!;
  const size = words[ELEMENT_SIZE]!;
  const stride = 2 + (size + 7 >> 3) * 2;
  const tail = Atomics.load(words, TAIL) & ~CLOSED_BIT;
  const found: Claimed[] = [];
  if (!(capacity > 0 && SLOTS + capacity * stride <= words.length)) {
    return found;
  }
  for (let i = 0; i < Math.min(capacity, MOST); i++) {
    // The last ticket of this slot that a producer took.
    const ticket = tail - ONE * (capacity - i) | 0;
    const index = SLOTS + (ticket >>> 1 & capacity - 1) * stride;
    const turn = Atomics.load(words, index);
    const head = Atomics.load(words, HEAD);
    if (turn === ticket) found.push({ index, turn, by: "push" });
    else if (turn === (ticket + FILLED | 0) && (head - ticket | 0) > 0) {
      found.push({ index, turn, by: "pop" });
    }
  }
  return found;
}
