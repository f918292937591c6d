/**
 * The words of every primitive, from the files of `layout/`, one for each
 * family. No other place describes them. An entry is an Int32 index from the
 * primitive's base; `length` is the number of words before its elements. The
 * comment of an entry says what the word means.
 * `@writer` says who writes it; without `@writer`, only the agent that
 * initializes the primitive does. `@sleeper` says who sleeps on it. `@behind`
 * describes the data that follow the words of a row.
 *
 * `deno task layout` writes from these files: the structs of `wasm/weft/`, the
 * table in the comment of each class, the constants of its indexes, and
 * `docs/layouts.md`.
 *
 * Each row is a constant of its own, so that a bundle of one primitive holds
 * that row alone: no bundler drops the unused members of an object. For the
 * same reason the classes write each index as a number, whose type names the
 * word: `const STATE: typeof MUTEX.state = 0`. A number is dropped when it is
 * not used; `MUTEX.state` is not.
 *
 * `X_BITS` has the bits of the words of `X`: a number is one bit, a pair is the
 * first and the last one. Both languages' constants name them in a comment, by
 * which the task writes their values:
 * `const OWNER_MASK = …; // MUTEX_BITS.OWNER`.
 *
 * Words written by different agents lie at least 32 words (128 bytes) apart. So
 * they are in different cache lines, whatever the base's alignment.
 *
 * @module
 */

import * as calls from "./layout/calls.ts";
import * as data from "./layout/data.ts";
import * as locks from "./layout/locks.ts";
import * as queues from "./layout/queues.ts";
import * as records from "./layout/records.ts";
import * as signals from "./layout/signals.ts";
import * as work from "./layout/work.ts";

export * from "./layout/calls.ts";
export * from "./layout/data.ts";
export * from "./layout/locks.ts";
export * from "./layout/queues.ts";
export * from "./layout/records.ts";
export * from "./layout/signals.ts";
export * from "./layout/waiting.ts";
export * from "./layout/work.ts";

/**
 * All rows, under the names of their primitives, in the order of dependency.
 * `deno task layout` adds a new row behind the one before it in its file.
 */
export const LAYOUT = {
  mutex: locks.MUTEX,
  rw_lock: locks.RW_LOCK,
  condition: locks.CONDITION,
  semaphore: locks.SEMAPHORE,
  event: signals.EVENT,
  latch: signals.LATCH,
  wait_group: signals.WAIT_GROUP,
  barrier: signals.BARRIER,
  once: signals.ONCE,
  snapshot: data.SNAPSHOT,
  spsc_queue: queues.SPSC_QUEUE,
  mpmc_queue: queues.MPMC_QUEUE,
  lock_free_queue: queues.LOCK_FREE_QUEUE,
  record_ring: records.RECORD_RING,
  broadcast: records.BROADCAST,
  shape_table: records.SHAPE_TABLE,
  channel: calls.CHANNEL,
  call_ring: calls.CALL_RING,
  work_counter: work.WORK_COUNTER,
  work_deque: work.WORK_DEQUE,
  slab_pool: data.SLAB_POOL,
  hash_map: data.HASH_MAP,
  striped_counter: data.STRIPED_COUNTER,
} as const;

/**
 * The number of each kind in `magic` words. Never change a number.
 * `deno task layout` adds the next one for a new row with a `magic` word.
 */
export const KIND = {
  semaphore: 1,
  latch: 5,
  barrier: 6,
  snapshot: 7,
  spsc_queue: 2,
  mpmc_queue: 3,
  lock_free_queue: 8,
  record_ring: 9,
  broadcast: 10,
  shape_table: 16,
  channel: 15,
  call_ring: 11,
  work_counter: 4,
  work_deque: 12,
  slab_pool: 13,
  hash_map: 17,
  striped_counter: 14,
} as const;

/** The name of a primitive with a row in {@linkcode LAYOUT}. */
export type Stem = keyof typeof LAYOUT;

/** The name of a primitive that carries its configuration. */
export type ConfiguredStem = keyof typeof KIND;

/** The version of this table: the low byte of every `magic` word. */
export const VERSION = 2;

/** "WF" in the high half of every `magic` word. */
export const SIGNATURE = 0x5746;
