/**
 * The slots of an `MpmcQueue`, as an agent that looks at them from outside sees
 * them.
 *
 * @module
 */

import type { MPMC_QUEUE } from "../../_memory/layout.ts";

export const CAPACITY: typeof MPMC_QUEUE.capacity = 1;
export const ELEMENT_SIZE: typeof MPMC_QUEUE.element_size = 2;
export const TAIL: typeof MPMC_QUEUE.tail = 32;
export const HEAD: typeof MPMC_QUEUE.head = 64;
export const SLOTS: typeof MPMC_QUEUE.length = 160;
/**
 * Where the element begins in a slot: after the turn and a spare word, at a
 * multiple of 8 bytes.
 */
export const ELEMENT = 2;
/** A bit of `tail`: the queue is closed, and no further ticket is given out. */
export const CLOSED_BIT = 1; // MPMC_QUEUE_BITS.CLOSED
/** Tickets count in steps of two; the odd number between two means "filled". */
export const ONE = 2; // MPMC_QUEUE_BITS.TICKET
/** Added to a ticket, it means that the ticket's slot holds an element. */
export const FILLED = 1;

/** The number of slots that are looked at, at most. */
const MOST = 65536;

/**
 * The words from one slot to the next: the turn, a spare word and the element.
 */
export function strideFor(elementSize: number): number {
  return ELEMENT + (elementSize + 7 >> 3) * 2;
}

/** What an agent is doing in a slot, or that its turn cannot be. */
type Doing = "push" | "pop" | "damaged";

/**
 * Calls `tell` for each slot of the queue in `words` that an agent is writing
 * to or reading from, or whose turn cannot be: with the number of the slot, the
 * index of its turn, and the turn. A turn changes when the agent hands the slot
 * on. The configuration of the queue must have been checked, and `words` end
 * where it ends.
 */
export function lookAtSlots(
  words: Int32Array,
  tell: (doing: Doing, slot: number, index: number, turn: number) => void,
): void {
  const capacity = words[CAPACITY]!;
  const stride = strideFor(words[ELEMENT_SIZE]!);
  const tail = Atomics.load(words, TAIL) & ~CLOSED_BIT;
  for (let i = 0; i < Math.min(capacity, MOST); i++) {
    // The last ticket of this slot that a producer took.
    const ticket = tail - ONE * (capacity - i) | 0;
    const slot = ticket >>> 1 & capacity - 1;
    const index = SLOTS + slot * stride;
    const turn = Atomics.load(words, index);
    const popped = (Atomics.load(words, HEAD) - ticket | 0) > 0;
    const free = ticket + capacity * ONE | 0;
    if (turn === ticket) tell("push", slot, index, turn);
    else if (turn === (ticket + FILLED | 0)) {
      if (popped) tell("pop", slot, index, turn);
    } else if (turn !== free || !popped) tell("damaged", slot, index, turn);
  }
}
