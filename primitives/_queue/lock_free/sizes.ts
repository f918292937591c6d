/**
 * How many entries and bytes a `LockFreeQueue` has, and how many agents use it.
 *
 * @module
 */

import type { LOCK_FREE_QUEUE } from "../../_memory/layout.ts";
import { assertFormatted } from "../queue_core.ts";

const ENTRIES: typeof LOCK_FREE_QUEUE.length = 224;

/**
 * The fewest entries of a ring, so that several agents can use a small queue.
 */
const FEWEST = 16;

/** The number of entries of a ring: one more than there are slots. */
export function entriesFor(capacity: number): number {
  return Math.max(2 * capacity, FEWEST);
}

/** The bytes of a queue of this configuration. */
export function bytesFor(capacity: number, elementSize: number): number {
  assertFormatted(capacity, elementSize);
  const entries = entriesFor(capacity);
  return (ENTRIES + 2 * entries) * 4 + (entries - 1) * elementSize;
}

/** While a queue is not full, each of this many agents finds a slot. */
export function agentsFor(capacity: number): number {
  return Math.max(capacity, FEWEST / 2);
}
