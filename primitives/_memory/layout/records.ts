/**
 * The words of what carries records of any length: record rings, broadcasts,
 * and the table of the shapes of their values.
 * `../layout.ts` says how a row is written.
 *
 * @module
 */

/**
 * A ring of byte records from many producers to one consumer.
 *
 * @behind `capacity` bytes. Position `p` is at byte `p mod capacity`. A record
 * begins at a multiple of 8 bytes with two words. The first is its length
 * times 4 plus its state: 1 RESERVED, 2 COMMITTED or 3 SKIPPED. The second is
 * the id of the agent that reserved it. Its bytes follow, padded to a multiple
 * of 8.
 */
export const RECORD_RING = {
  /** Kind and layout version. */
  magic: 0,
  /** Bytes, a power of two. */
  capacity: 1,
  /**
   * bit 0: there is one producer
   * bit 1: there is any number of consumers
   */
  roles: 2,
  /** Check word over the configuration. */
  seal: 3,
  /** The most records in the ring, or 0 if only their bytes are limited. */
  most: 4,
  /**
   * bit 0: CLOSED
   * bits 3-31: where the next record goes, in units of 8 bytes
   * @writer producers
   */
  tail: 32,
  /**
   * The agent that moves `tail` now, or 0. Bit 28 is CONTENDED. If there is one
   * producer, its id from its first push on.
   * @writer producers
   */
  claimant: 33,
  /**
   * The value of `head` that the producers saw last.
   * @writer producers
   */
  head_cache: 34,
  /**
   * The fewest bytes, head included, for which a producer waited; 0 if none
   * did.
   * @writer producers
   */
  least: 35,
  /**
   * How many records were pushed, without the skipped ones, modulo 2^32, if
   * `most` is not 0.
   * @writer producers
   */
  pushed: 36,
  /**
   * The value of `popped` that the producers saw last.
   * @writer producers
   */
  popped_cache: 37,
  /**
   * Where the consumer reads next, in bytes.
   * @writer the consumer
   */
  head: 64,
  /**
   * The value of `tail` that the consumer saw last.
   * @writer the consumer
   */
  tail_cache: 65,
  /**
   * The agent that reads, or 0. If there is one consumer, its id from its first
   * pop on. Otherwise the agent that moves `head` now; bit 28 is CONTENDED.
   * @writer consumers
   */
  consumer: 66,
  /**
   * How many records were popped, modulo 2^32, if `most` is not 0.
   * @writer the consumer
   */
  popped: 67,
  /**
   * Changes when the sleeping consumer must look again.
   * @writer producers
   * @sleeper the consumer
   */
  pop_epoch: 96,
  /**
   * bits 0-30: waits of the consumer that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer the consumer
   */
  pop_waiters: 97,
  /**
   * A gong, for agents that wait for records here and for others.
   * @writer any agent
   * @sleeper agents that wait at several ends
   */
  pop_gong: 98,
  /**
   * Changes when sleeping producers must look again.
   * @writer the consumer
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
  /**
   * How often a producer without room may still hand its wake on.
   * @writer the consumer
   */
  hand_ons: 131,
  length: 160,
} as const;

/** The bits in the words of {@linkcode RECORD_RING}. */
export const RECORD_RING_BITS = {
  ONE_PRODUCER: 0,
  MANY_CONSUMERS: 1,
  CLOSED: 0,
  POSITION: [3, 31],
  OWNER: [0, 27],
  CONTENDED: 28,
} as const;

/**
 * A ring whose subscribers each see every element.
 *
 * @behind Seats of 32 words each. A seat has the next position to pop, times
 * 2; then the agent id of the subscriber, with bit 28 set while it joins, or
 * 0; and how many elements it lost. The elements lie behind the seats:
 * position `p` is in place `p mod capacity`.
 */
export const BROADCAST = {
  /** Kind and layout version. */
  magic: 0,
  /**
   * bits 0-4: the logarithm of the capacity
   * bit 5: DROP
   * bits 6-31: the number of seats
   */
  shape: 1,
  /** Bytes of an element, a multiple of 4. */
  element_size: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * bit 0: CLOSED
   * bits 1-31: the next position to push
   * @writer the producer
   */
  tail: 32,
  /**
   * The slowest cursor, as the producer saw it last.
   * @writer the producer
   */
  slowest: 33,
  /**
   * The agent that pushes, from its first push on, or 0.
   * @writer the producer, and the agent that abandons it
   */
  producer: 34,
  /**
   * Changes when sleeping subscribers must look again.
   * @writer the producer
   * @sleeper subscribers
   */
  pop_epoch: 64,
  /**
   * bits 0-30: subscribers that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer subscribers
   */
  pop_waiters: 65,
  /**
   * Changes when the sleeping producer must look again.
   * @writer subscribers
   * @sleeper the producer
   */
  push_epoch: 96,
  /**
   * bits 0-30: waits of the producer that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer the producer
   */
  push_waiters: 97,
  length: 128,
} as const;

/** The bits in the words of {@linkcode BROADCAST}. */
export const BROADCAST_BITS = {
  ORDER: [0, 4],
  DROP: 5,
  SEATS: [6, 31],
  CLOSED: 0,
  POSITION: [1, 31],
  JOINING: 28,
  OWNER: [0, 27],
} as const;

/**
 * A table of the shapes of objects, to which agents add.
 *
 * @behind 64 slots of two words, and then the text. A slot has `state`: 0 while
 * it is free, 1 while an agent adds a shape, and then the hash of the shape's
 * text, with bit 1 set; and `place`: bits 0-10: the bytes of the shape's text;
 * bits 11-31: where it begins in the text, in words.
 */
export const SHAPE_TABLE = {
  /** Kind and layout version. */
  magic: 0,
  /** Bytes for the texts of all shapes, a multiple of 4. */
  bytes: 1,
  /** Check word over the configuration. */
  seal: 2,
  /**
   * Bytes of text that agents have claimed. It may be more than there are.
   * @writer agents that add
   */
  used: 3,
  length: 4,
} as const;
