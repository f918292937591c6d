/**
 * The words of a record ring, and those of a record.
 *
 * @module
 */

import { RECORD_RING } from "../../_memory/layout.ts";
import type { WordsInspection } from "../../_memory/region.ts";
import { waitersOf } from "../../_wait/event_count.ts";

export const CAPACITY: typeof RECORD_RING.capacity = 1;
export const ROLES: typeof RECORD_RING.roles = 2;
export const MOST: typeof RECORD_RING.most = 4;
export const TAIL: typeof RECORD_RING.tail = 32;
export const CLAIMANT: typeof RECORD_RING.claimant = 33;
export const HEAD: typeof RECORD_RING.head = 64;
export const CONSUMER: typeof RECORD_RING.consumer = 66;
export const POPPED: typeof RECORD_RING.popped = 67;
export const POP_EPOCH: typeof RECORD_RING.pop_epoch = 96;
export const PUSH_EPOCH: typeof RECORD_RING.push_epoch = 128;
export const POP_GONG: typeof RECORD_RING.pop_gong = 98;
export const PUSH_GONG: typeof RECORD_RING.push_gong = 130;
export const DATA: typeof RECORD_RING.length = 160;

export const POSITION_MASK = -8; // RECORD_RING_BITS.POSITION
/** Bits of `roles`. */
export const ONE_PRODUCER = 1; // RECORD_RING_BITS.ONE_PRODUCER
export const MANY_CONSUMERS = 2; // RECORD_RING_BITS.MANY_CONSUMERS
export const OWNER_MASK = 0x0fff_ffff; // RECORD_RING_BITS.OWNER
/** The states of a record, in the low bits of its first word. */
export const RESERVED = 1;
export const COMMITTED = 2;
export const SKIPPED = 3;
/** The size of a record's head, in bytes. */
export const HEADER = 8;

/** Whether `used` bytes can be a number of whole records. */
export function isWhole(used: number, capacity: number): boolean {
  return used >= 0 && used <= capacity && (used & 7) === 0;
}

/** The index of the first word of the record at a position. */
export function indexAt(position: number, capacity: number): number {
  return DATA + ((position & capacity - 1) >> 2);
}

/** The facts that `inspect` shows of a ring. */
export const RECORDS: WordsInspection = {
  row: RECORD_RING,
  waiters: (words) =>
    waitersOf(words, POP_EPOCH) + waitersOf(words, PUSH_EPOCH),
};

/** The bytes that a record occupies. */
export const spaceFor = (length: number): number => (length + 7 & ~7) + HEADER;

/** The bytes of a ring of `capacity` bytes and of these roles. */
export function bytesFor(capacity: number, roles: number): number {
  if (
    capacity >= 16 && (capacity & capacity - 1) === 0 &&
    (roles & ~(ONE_PRODUCER | MANY_CONSUMERS)) === 0
  ) return DATA * 4 + capacity;
  throw new RangeError(
    `there is no ring of ${capacity} bytes whose roles are ${roles}`,
  );
}
