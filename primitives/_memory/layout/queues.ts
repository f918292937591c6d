/**
 * The words of queues with elements of one size.
 * `../layout.ts` says how a row is written.
 *
 * @module
 */

/**
 * A queue from one producer to one consumer.
 *
 * @behind `capacity` elements of `element_size` bytes. Index `i` lies in place
 * `i mod capacity`.
 */
export const SPSC_QUEUE = {
  /** Kind and layout version. */
  magic: 0,
  /** How many elements fit, a power of two. */
  capacity: 1,
  /** Bytes of an element: 1, 2 or a multiple of 4. */
  element_size: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * A number that tells apart records with different fields; 0 if the elements
   * are not records, or if nobody knows.
   */
  shape: 4,
  /**
   * bit 0: WAITING: the consumer sleeps on this word
   * bit 1: CLOSED
   * bits 2-31: the next index to push
   * @writer the producer; the consumer sets WAITING
   * @sleeper the consumer
   */
  tail: 32,
  /**
   * The value of `head` that the producer saw last.
   * @writer the producer
   */
  head_cache: 33,
  /**
   * The agent that pushes, from its first push on, or 0.
   * @writer the producer, and the agent that abandons it
   */
  producer: 34,
  /**
   * In native programs, the flags of `tail`; otherwise 0.
   * @writer the consumer, and the agent that closes; the producer
   * @sleeper the consumer
   */
  tail_bell: 35,
  /**
   * A gong, for an agent that waits for elements here and for others.
   * @writer any agent
   * @sleeper agents that wait at several ends
   */
  tail_gong: 36,
  /**
   * bit 0: WAITING: the producer sleeps on this word
   * bit 1: CLOSED
   * bits 2-31: the next index to pop
   * @writer the consumer; the producer sets WAITING
   * @sleeper the producer
   */
  head: 64,
  /**
   * The value of `tail` that the consumer saw last.
   * @writer the consumer
   */
  tail_cache: 65,
  /**
   * The agent that pops, from its first pop on, or 0.
   * @writer the consumer, and the agent that abandons it
   */
  consumer: 66,
  /**
   * In native programs, the flag of `head`; otherwise 0.
   * @writer the producer; the consumer
   * @sleeper the producer
   */
  head_bell: 67,
  /**
   * A gong, for an agent that waits for room here and for others.
   * @writer any agent
   * @sleeper agents that wait at several ends
   */
  head_gong: 68,
  length: 96,
} as const;

/** The bits in the words of {@linkcode SPSC_QUEUE}. */
export const SPSC_QUEUE_BITS = {
  WAITING: 0,
  CLOSED: 1,
  INDEX: [2, 31],
  OWNER: [0, 27],
} as const;

/**
 * A queue from many producers to many consumers.
 *
 * @behind `capacity` slots. Each has a word `turn`, a spare word and an
 * element, padded to a multiple of 8 bytes. The slot of ticket `t` is in place
 * `t mod capacity`. Its `turn` is `2t` while it is free for that push, and
 * `2t + 1` while it is filled for that pop.
 */
export const MPMC_QUEUE = {
  /** Kind and layout version. */
  magic: 0,
  /** How many elements fit, a power of two. */
  capacity: 1,
  /** Bytes of an element: 1, 2 or a multiple of 4. */
  element_size: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * A number that tells apart records with different fields; 0 if the elements
   * are not records, or if nobody knows.
   */
  shape: 4,
  /**
   * bit 0: CLOSED
   * bits 1-31: the next ticket to push
   * @writer producers
   */
  tail: 32,
  /**
   * The next ticket to pop, times 2.
   * @writer consumers
   */
  head: 64,
  /**
   * Changes when sleeping consumers must look again.
   * @writer producers
   * @sleeper consumers
   */
  pop_epoch: 96,
  /**
   * bits 0-30: consumers that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer consumers
   */
  pop_waiters: 97,
  /**
   * A gong, for agents that wait for elements here and for others.
   * @writer any agent
   * @sleeper agents that wait at several ends
   */
  pop_gong: 98,
  /**
   * Changes when sleeping producers must look again.
   * @writer consumers
   * @sleeper producers
   */
  push_epoch: 128,
  /**
   * bits 0-30: producers that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer producers
   */
  push_waiters: 129,
  /**
   * A gong, for agents that wait for room here and for others.
   * @writer any agent
   * @sleeper agents that wait at several ends
   */
  push_gong: 130,
  length: 160,
} as const;

/** The bits in the words of {@linkcode MPMC_QUEUE}. */
export const MPMC_QUEUE_BITS = {
  CLOSED: 0,
  TICKET: [1, 31],
} as const;

/**
 * A queue from many to many that no agent can block.
 *
 * @behind `n` entries of the queue, `n` entries of the ring of free slots, and
 * `n - 1` slots of `element_size` bytes. `n` is twice `capacity`, but at least
 * 16. The entry of ticket `t` is in place `t mod n`. With `n = 2^k` it holds,
 * from bit 0 on, `k` bits for a slot, one bit FILLED, and the lap `t / n`. An
 * entry that is not FILLED is free for the ticket of its lap if the slot bits
 * are 0, and the end of a closed queue if they are 1.
 */
export const LOCK_FREE_QUEUE = {
  /** Kind and layout version. */
  magic: 0,
  /** How many elements fit, a power of two. */
  capacity: 1,
  /** Bytes of an element, a multiple of 4. */
  element_size: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * A number that tells apart records with different fields; 0 if the elements
   * are not records, or if nobody knows.
   */
  shape: 4,
  /**
   * A ticket to push, at most the next one.
   * @writer producers
   */
  tail: 32,
  /**
   * A ticket to pop, at most the next one.
   * @writer consumers
   */
  head: 64,
  /**
   * The same as `tail`, for the ring of free slots.
   * @writer consumers
   */
  free_tail: 96,
  /**
   * The same as `head`, for the ring of free slots.
   * @writer producers
   */
  free_head: 128,
  /**
   * Changes when sleeping consumers must look again.
   * @writer producers
   * @sleeper consumers
   */
  pop_epoch: 160,
  /**
   * bits 0-30: consumers that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer consumers
   */
  pop_waiters: 161,
  /**
   * A gong, for agents that wait for elements here and for others.
   * @writer any agent
   * @sleeper agents that wait at several ends
   */
  pop_gong: 162,
  /**
   * Changes when sleeping producers must look again.
   * @writer consumers
   * @sleeper producers
   */
  push_epoch: 192,
  /**
   * bits 0-30: producers that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer producers
   */
  push_waiters: 193,
  /**
   * A gong, for agents that wait for room here and for others.
   * @writer any agent
   * @sleeper agents that wait at several ends
   */
  push_gong: 194,
  length: 224,
} as const;
