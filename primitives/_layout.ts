/**
 * The words of every primitive: the one table both languages obey. An entry is
 * an Int32 index from the primitive's base; `length` is the number of words
 * before its elements. `wasm/weft.h` asserts each row at compile time and
 * `tests/project/layout_test.ts` compares the two texts.
 *
 * Each row is a constant of its own, so that a bundle of one primitive holds
 * that row alone: no bundler drops the unused members of an object.
 *
 * Words written by different agents lie at least 32 words (128 bytes) apart,
 * which separates cache lines whatever the base's alignment.
 *
 * @module
 */

export const MUTEX = { state: 0, starving: 1, length: 2 } as const;
export const RW_LOCK = {
  state: 0,
  gate: 1,
  writer: 2,
  writer_starving: 3,
  length: 4,
} as const;
export const CONDITION = { turn: 0, even: 1, odd: 2, length: 3 } as const;
export const SEMAPHORE = {
  magic: 0,
  seal: 1,
  permits: 2,
  waiters: 3,
  turn: 4,
  bulk: 5,
  claimant: 6,
  claim: 7,
  length: 8,
} as const;
export const EVENT = { state: 0, length: 1 } as const;
export const LATCH = { magic: 0, seal: 1, state: 2, length: 3 } as const;
export const BARRIER = {
  magic: 0,
  parties: 1,
  seal: 2,
  state: 3,
  length: 4,
} as const;
export const ONCE = { state: 0, length: 1 } as const;
export const SNAPSHOT = {
  magic: 0,
  size: 1,
  single_reader: 2,
  seal: 3,
  state: 32,
  length: 64,
} as const;
export const SPSC_QUEUE = {
  magic: 0,
  capacity: 1,
  element_size: 2,
  seal: 3,
  tail: 32,
  head_cache: 33,
  head: 64,
  tail_cache: 65,
  length: 96,
} as const;
export const MPMC_QUEUE = {
  magic: 0,
  capacity: 1,
  element_size: 2,
  seal: 3,
  tail: 32,
  head: 64,
  pop_epoch: 96,
  pop_waiters: 97,
  push_epoch: 128,
  push_waiters: 129,
  length: 160,
} as const;
export const LOCK_FREE_QUEUE = {
  magic: 0,
  capacity: 1,
  element_size: 2,
  seal: 3,
  tail: 32,
  head: 64,
  free_tail: 96,
  free_head: 128,
  pop_epoch: 160,
  pop_waiters: 161,
  push_epoch: 192,
  push_waiters: 193,
  length: 224,
} as const;
export const RECORD_RING = {
  magic: 0,
  capacity: 1,
  single_producer: 2,
  seal: 3,
  tail: 32,
  claimant: 33,
  head_cache: 34,
  head: 64,
  tail_cache: 65,
  pop_epoch: 96,
  pop_waiters: 97,
  push_epoch: 128,
  push_waiters: 129,
  length: 160,
} as const;
export const BROADCAST = {
  magic: 0,
  shape: 1,
  element_size: 2,
  seal: 3,
  tail: 32,
  slowest: 33,
  pop_epoch: 64,
  pop_waiters: 65,
  push_epoch: 96,
  push_waiters: 97,
  length: 128,
} as const;
export const CHANNEL = {
  magic: 0,
  codec: 1,
  shape: 2,
  seal: 3,
  length: 32,
} as const;
export const CALL_RING = {
  magic: 0,
  shape: 1,
  reply: 2,
  seal: 3,
  closed: 4,
  serve_epoch: 32,
  serve_waiters: 33,
  look: 34,
  slot_epoch: 64,
  slot_waiters: 65,
  length: 96,
} as const;
export const WORK_COUNTER = {
  magic: 0,
  total: 1,
  chunk: 2,
  seal: 3,
  next: 32,
  done: 64,
  target: 65,
  finished: 66,
  length: 67,
} as const;
export const WORK_DEQUE = {
  magic: 0,
  capacity: 1,
  seal: 2,
  bottom: 32,
  top: 64,
  length: 96,
} as const;
export const SLAB_POOL = {
  magic: 0,
  capacity: 1,
  block_size: 2,
  seal: 3,
  length: 32,
} as const;
export const STRIPED_COUNTER = {
  magic: 0,
  stripes: 1,
  seal: 2,
  claims: 3,
  length: 32,
} as const;

/** All rows, under the names of their primitives. */
export const LAYOUT = {
  mutex: MUTEX,
  rw_lock: RW_LOCK,
  condition: CONDITION,
  semaphore: SEMAPHORE,
  event: EVENT,
  latch: LATCH,
  barrier: BARRIER,
  once: ONCE,
  snapshot: SNAPSHOT,
  spsc_queue: SPSC_QUEUE,
  mpmc_queue: MPMC_QUEUE,
  lock_free_queue: LOCK_FREE_QUEUE,
  record_ring: RECORD_RING,
  broadcast: BROADCAST,
  channel: CHANNEL,
  call_ring: CALL_RING,
  work_counter: WORK_COUNTER,
  work_deque: WORK_DEQUE,
  slab_pool: SLAB_POOL,
  striped_counter: STRIPED_COUNTER,
} as const;

/** What the `magic` word of a configured primitive names; never renumbered. */
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
  channel: 15,
  call_ring: 11,
  work_counter: 4,
  work_deque: 12,
  slab_pool: 13,
  striped_counter: 14,
} as const;

/** The name of a primitive with a row in {@linkcode LAYOUT}. */
export type Stem = keyof typeof LAYOUT;

/** The name of a primitive that carries its configuration. */
export type ConfiguredStem = keyof typeof KIND;

/** The version of this table: the low byte of every `magic` word. */
export const VERSION = 1;

/** "WF" in the high half of every `magic` word. */
export const SIGNATURE = 0x5746;
