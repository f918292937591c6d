/**
 * The words of every primitive. This is the only place that describes them. An
 * entry is an Int32 index from the primitive's base; `length` is the number of
 * words before its elements. The comment of an entry says what the word means.
 * `@writer` says who writes it; without `@writer`, only the agent that
 * initializes the primitive does. `@sleeper` says who sleeps on it. `@behind`
 * describes the data that follow the words of a row.
 *
 * `deno task layout` writes from this file: the structs of `wasm/weft/`, the
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

/** A mutex. All words 0: unlocked. */
export const MUTEX = {
  /**
   * bits 0-27: the owner's agent id, or 0
   * bit 28: ABANDONED: free, because the dead owner was recovered
   * bit 29: HANDOFF: it is kept for a woken sleeper; with an owner, offered to
   * one
   * bit 30: CONTENDED: somebody may sleep on this word
   * @writer any agent
   * @sleeper agents that lock
   */
  state: 0,
  /**
   * 1 while there is a sleeper that newcomers passed for a millisecond.
   * @writer agents that lock, and the owner
   */
  starving: 1,
  length: 2,
} as const;

/** The bits in the words of {@linkcode MUTEX}. */
export const MUTEX_BITS = {
  OWNER: [0, 27],
  ABANDONED: 28,
  HANDOFF: 29,
  CONTENDED: 30,
} as const;

/**
 * A read-write lock. All words 0: unlocked.
 *
 * @behind From word 40 on, if agents are tracked, rows of 32 words. A row has
 * the id of its agent, or 0; and what it reads: bits 0-9: how often; bits
 * 10-19: how often it waits to read; bits 20-31: the gate's bits 1-12 when it
 * began to wait. A row's agent reads, too, if it waits and the gate has moved
 * since.
 */
export const RW_LOCK = {
  /**
   * bits 0-12: agents that read, unless they are tracked
   * bits 13-25: pending: agents that will read after this writer, unless they
   * are tracked
   * bit 26: WRITING
   * bit 27: WANTED: a writer waits until nobody reads, or the lock was passed
   * on to a writer that does not run yet
   * bit 28: ASLEEP: that writer may sleep on this word
   * bit 29: ABANDONED: a dead writer was recovered
   * bits 30-31: the phase: how often pending agents were let in, modulo 4;
   * unless agents are tracked
   * @writer any agent
   * @sleeper the writer that waits until nobody reads; if agents are tracked,
   * it sleeps in a row
   */
  state: 0,
  /**
   * bit 0: WAITING: pending agents may sleep on this word
   * bits 1-31: change after each phase; if agents are tracked, they are the
   * phase
   * @writer the writer, and pending agents
   * @sleeper pending agents
   */
  gate: 1,
  /**
   * The `state` of a mutex among writers. Its owner writes, or waits until
   * nobody reads.
   * @writer writers
   * @sleeper writers
   */
  writer: 2,
  /**
   * The `starving` of that mutex.
   * @writer writers
   */
  writer_starving: 3,
  /**
   * 0, or if agents note that they read:
   * bits 0-7: how many agents, 1 to 255
   * bits 8-15: the same, inverted
   * bits 16-31: 0x5765
   */
  tracked: 4,
  /**
   * How often the lock was passed on from a writer to the next one, modulo 8.
   * When it is 0 again, waiting readers come first.
   * @writer writers
   */
  turns: 5,
  length: 6,
} as const;

/** The bits in the words of {@linkcode RW_LOCK}. */
export const RW_LOCK_BITS = {
  READING: [0, 12],
  PENDING: [13, 25],
  WRITING: 26,
  WANTED: 27,
  ASLEEP: 28,
  ABANDONED: 29,
  PHASE: [30, 31],
  WAITING: 0,
  OPENING: [1, 31],
  TURNS: [0, 2],
} as const;

/** A condition. All words 0: nobody waits. */
export const CONDITION = {
  /**
   * The number of the group that is called, modulo 2^32; the group after it
   * gathers.
   * @writer any agent
   */
  turn: 0,
  /**
   * The state of the groups with an even number:
   * bits 0-14: called: agents that may go on, but did not yet
   * bits 15-29: waiting: agents that are not called yet
   * bit 30: GATHERS: agents that wait belong to the group two after the
   *   called one
   * bit 31: bit 1 of the number of the called group, plus 1
   * @writer any agent
   * @sleeper agents of even groups
   */
  even: 1,
  /**
   * The same for the groups with an odd number.
   * @writer any agent
   * @sleeper agents of odd groups
   */
  odd: 2,
  length: 3,
} as const;

/** The bits in the words of {@linkcode CONDITION}. */
export const CONDITION_BITS = {
  CALLED: [0, 14],
  WAITING: [15, 29],
  GATHERS: 30,
} as const;

/**
 * A semaphore.
 *
 * @behind From word 40 on, if agents are tracked, rows of 32 words. A row has
 * the id of its agent, or 0; the sequence of the last confirmed change of that
 * agent; what it holds after its changes with an even sequence; and the same
 * for an odd one.
 */
export const SEMAPHORE = {
  /** Kind and layout version. */
  magic: 0,
  /** How many agents note what they hold, up to 255; 0 if none does. */
  tracked: 1,
  /**
   * The most permits there can be, up to 2^30 - 1; if agents are tracked, 2047.
   */
  max: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * bits 0-1: who may sleep here: 0 nobody; 1 agents that want one permit; 2
   * also agents that want several; 3 as 2, and there is a debt
   * bits 2-31: free permits; with a debt, what the claimant still lacks. If
   * agents are tracked:
   * bits 0-11: the sequence of the last change, modulo 4096
   * bits 12-19: the row of the agent that made it
   * bits 20-31: free permits; below 0, what the claimant still lacks
   * @writer any agent
   * @sleeper agents that want permits
   */
  permits: 4,
  /**
   * Operations in the slow path of `acquire`.
   * @writer agents that wait
   */
  waiters: 5,
  /**
   * Those of them that want several permits, and the claimant.
   * @writer agents that wait
   */
  bulk: 6,
  /**
   * The agent that took its permits in advance, or 0.
   * @writer the claimant, and the agent that recovers it
   */
  claimant: 7,
  /**
   * How many permits it took.
   * @writer the claimant
   */
  claim: 8,
  length: 9,
} as const;

/** The bits in the words of {@linkcode SEMAPHORE}. */
export const SEMAPHORE_BITS = {
  WHO: [0, 1],
  FREE: [2, 31],
} as const;

/** An event. All words 0: reset manually, and not set. */
export const EVENT = {
  /**
   * bit 0: AUTO: it resets automatically. Without AUTO:
   * bit 1: SET
   * bit 2: WAITING: somebody may sleep on this word
   * bits 3-31: how often it was set, modulo 2^29. With AUTO:
   * bits 1-15: signals: sets that no waiter has taken yet
   * bits 16-30: waiters, 2^15 - 1 at most; more are not counted
   * @writer any agent
   * @sleeper agents that wait
   */
  state: 0,
  length: 1,
} as const;

/** The bits in the words of {@linkcode EVENT}. */
export const EVENT_BITS = {
  AUTO: 0,
  SET: 1,
  WAITING: 2,
  PULSE: [3, 31],
  SIGNALS: [1, 15],
  WAITERS: [16, 30],
} as const;

/** A latch. */
export const LATCH = {
  /** Kind and layout version. */
  magic: 0,
  /** Check word over the configuration. */
  seal: 1,
  /**
   * bit 0: WAITING: somebody may sleep on this word
   * bits 1-30: the count, 2^30 - 1 to 0
   * @writer any agent
   * @sleeper agents that wait
   */
  state: 2,
  length: 3,
} as const;

/** The bits in the words of {@linkcode LATCH}. */
export const LATCH_BITS = {
  WAITING: 0,
  COUNT: [1, 30],
} as const;

/** A wait group. All words 0: its count is 0. */
export const WAIT_GROUP = {
  /**
   * bit 0: WAITING: somebody may sleep on this word, and the count is not 0
   * bits 1-18: the count, 0 to 2^18 - 1
   * bits 19-31: how often it fell to 0 while somebody waited, modulo 2^13
   * @writer any agent
   * @sleeper agents that wait
   */
  state: 0,
  length: 1,
} as const;

/** The bits in the words of {@linkcode WAIT_GROUP}. */
export const WAIT_GROUP_BITS = {
  WAITING: 0,
  COUNT: [1, 18],
  ROUND: [19, 31],
} as const;

/**
 * A barrier.
 *
 * @behind From word 40 on, if parties are tracked, rows of 32 words. A row has
 * the id of its agent, 0 if no party has it yet, or -1 if that party has left;
 * and 0, or twice the generation in which the party arrived last, plus 1.
 */
export const BARRIER = {
  /** Kind and layout version. */
  magic: 0,
  /** How many parties it was made for, 1 to 4095. */
  parties: 1,
  /** The same if parties note that they arrive, up to 255; 0 if not. */
  tracked: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * bits 0-11: parties that have arrived
   * bits 12-23: parties that have not left; if they are tracked, bits 0-23
   * change when one takes its arrival back
   * bit 24: WAITING: somebody may sleep on this word
   * bits 25-31: the generation, modulo 128
   * @writer any agent
   * @sleeper parties that have arrived
   */
  state: 4,
  length: 5,
} as const;

/** The bits in the words of {@linkcode BARRIER}. */
export const BARRIER_BITS = {
  ARRIVED: [0, 11],
  PARTIES: [12, 23],
  WAITING: 24,
  GENERATION: [25, 31],
  CHANGES: [0, 23],
} as const;

/** A once. All words 0: the function did not run. */
export const ONCE = {
  /**
   * bits 0-27: the id of the agent that runs the function, or 0
   * bit 28: DONE
   * bit 30: WAITING: somebody may sleep on this word
   * @writer any agent
   * @sleeper agents that wait for the result
   */
  state: 0,
  length: 1,
} as const;

/** The bits in the words of {@linkcode ONCE}. */
export const ONCE_BITS = {
  RUNNER: [0, 27],
  DONE: 28,
  WAITING: 30,
} as const;

/**
 * The latest value of some bytes.
 *
 * @behind Copies of the value, each padded to a multiple of 128 bytes. Without
 * `single_reader` there are two: value number `v` lies in copy `v mod 2`. With
 * it there are three, and `state` names them.
 */
export const SNAPSHOT = {
  /** Kind and layout version. */
  magic: 0,
  /** Bytes of the value, a multiple of 4. */
  size: 1,
  /** 1 if there is one reader. */
  single_reader: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * How many values were written. With `single_reader`:
   * bits 0-1: the middle copy
   * bits 2-3: the reader's copy
   * bit 4: NEW: the middle copy is newer than the reader's
   * bits 5-31: how many values were written, modulo 2^27
   * @writer the writer, and a single reader
   */
  state: 32,
  /**
   * The agent that writes, from its first value on, or 0.
   * @writer the writer, and the agent that abandons it
   */
  writer: 33,
  /**
   * With `single_reader`, the agent that reads, from its first look on, or 0.
   * @writer the reader, and the agent that abandons it
   */
  reader: 34,
  length: 64,
} as const;

/** The bits in the words of {@linkcode SNAPSHOT}. */
export const SNAPSHOT_BITS = {
  MIDDLE: [0, 1],
  FRONT: [2, 3],
  NEW: 4,
  VERSION: [5, 31],
  OWNER: [0, 27],
} as const;

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
  length: 224,
} as const;

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
   * How often a producer without room may still hand its wake on.
   * @writer the consumer
   */
  hand_ons: 130,
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

/**
 * A channel of messages.
 *
 * @behind The queue or ring that carries the messages, with its own head.
 * Without a carrier, that is an `mpmc_queue` for i32, f64 and record, and a
 * `record_ring` for the other codecs. With a carrier, it is an `spsc_queue`, an
 * `mpmc_queue` or a `lock_free_queue`; if messages differ in length, each
 * element begins with the length of its message. If the codec is `value`, a
 * `shape_table` with 3568 bytes for texts lies behind the queue or ring. If
 * ends are counted, rows of 32 words follow, first those of senders. A row has
 * the id of its agent, or 0; the sequence of the last confirmed change of that
 * agent; how many ends it has after its changes with an even sequence; and the
 * same for an odd one. If the capacity is 0, there is no queue: four words
 * follow that are 0, and then the place for one message, which begins with its
 * length if messages differ in length.
 */
export const CHANNEL = {
  /** Kind and layout version. */
  magic: 0,
  /**
   * 1 binary, 2 text, 3 json, 4 i32, 5 f64, 6 record, 7 structured, 8 own, 9
   * value.
   */
  codec: 1,
  /**
   * A number that tells apart records with different fields, and users' codecs
   * with different names; or 0.
   */
  shape: 2,
  /** Check word over the configuration. */
  seal: 3,
  /** The expected bytes of a message, by which `capacity` is counted, or 0. */
  message_size: 4,
  /**
   * 0, or if senders and receivers are counted:
   * bits 0-7: how many agents have rows at each end
   * bits 8-15: the same, each bit flipped
   * bits 16-31: 0x5765
   */
  tracked: 5,
  /**
   * bit 0: SENT: there was a sender
   * bit 1: RECEIVED: there was a receiver
   */
  ends: 6,
  /**
   * bits 0-11: the sequence of the last change, modulo 4096
   * bits 12-19: the row of the agent that made it
   * bits 20-31: how many more senders there can be
   */
  senders: 7,
  /**
   * bits 0-11: the sequence of the last change, modulo 4096
   * bits 12-19: the row of the agent that made it
   * bits 20-31: how many more receivers there can be
   */
  receivers: 8,
  /**
   * The bytes of the place for a message, if the capacity is 0; otherwise 0.
   */
  place: 9,
  /**
   * If the capacity is 0:
   * bits 0-1: PHASE: what is in the place: 0 nothing; 1 posted: a message,
   * whose sender waits; 2 handed: a message for a receiver that waits
   * bit 2: STOPPED: the channel is closed
   * bits 3-8: OFFERS: receivers that wait, and that no message was handed to
   * bits 9-12: ENDED: how often all offers were ended because an agent was
   * terminated, modulo 16
   * bits 13-31: NUMBER: of the last message, modulo 2^19
   */
  handoff: 10,
  /**
   * If the capacity is 0: changes when sleeping senders must look again that
   * can only send to a receiver that waits.
   * @sleeper senders
   */
  offer_epoch: 11,
  /**
   * bits 0-30: such senders that sleep, or are about to
   * bit 31: one of them awaits, or did
   */
  offer_waiters: 12,
  /**
   * A gong, for agents that wait to send here and for others.
   * @sleeper agents that wait at several ends
   */
  offer_gong: 13,
  /**
   * If the capacity is 0: changes when sleeping receivers must look again.
   * @sleeper receivers
   */
  message_epoch: 14,
  /**
   * bits 0-30: receivers that sleep, or are about to
   * bit 31: one of them awaits, or did
   */
  message_waiters: 15,
  /**
   * A gong, for agents that wait for messages here and for others.
   * @sleeper agents that wait at several ends
   */
  message_gong: 16,
  /**
   * If the capacity is 0: changes when sleeping senders must look again that
   * wait for the place.
   * @sleeper senders
   */
  room_epoch: 17,
  /**
   * bits 0-30: such senders that sleep, or are about to
   * bit 31: one of them awaits, or did
   */
  room_waiters: 18,
  /**
   * If the capacity is 0: changes when the sender of the posted message must
   * look again.
   * @sleeper senders
   */
  taken_epoch: 19,
  /**
   * bits 0-30: such senders that sleep, or are about to
   * bit 31: one of them awaits, or did
   */
  taken_waiters: 20,
  /**
   * If the capacity is 0: the id of the sender that may write a message, or 0.
   */
  writer: 21,
  length: 32,
} as const;

/** The bits of the words `ends` and `handoff` of a channel. */
export const CHANNEL_BITS = {
  SENT: 0,
  RECEIVED: 1,
  PHASE: [0, 1],
  STOPPED: 2,
  OFFERS: [3, 8],
  ENDED: [9, 12],
  NUMBER: [13, 31],
} as const;

/**
 * A ring of calls from many callers to many servers.
 *
 * @behind The slots, each at a multiple of 32 words. A slot has four words:
 * `state`, the agent id of the caller, the length of the request and the length
 * of the reply. The bytes of both follow. In `state`, bits 0-27 are the id of
 * the agent that the state names. Bits 28-30 are 0 FREE, 1 CLAIMED by a caller,
 * 2 POSTED, 3 SERVING, 4 DROPPED (a server has it, and the caller gave up), 5
 * REPLIED, 6 FAILED or 7 LOST (its server died). Bit 31 says that the caller
 * sleeps there. Bit 28 of the caller says that it died.
 */
export const CALL_RING = {
  /** Kind and layout version. */
  magic: 0,
  /**
   * bits 0-21: the most words of a request
   * bits 22-31: the number of slots, less 1
   */
  shape: 1,
  /** The most bytes of a reply, a multiple of 4. */
  reply: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * 1 after `close`.
   * @writer any agent
   */
  closed: 4,
  /**
   * Changes when sleeping servers must look again.
   * @writer callers
   * @sleeper servers
   */
  serve_epoch: 32,
  /**
   * bits 0-30: servers that sleep, or are about to
   * bit 31: one of them awaits, or did
   * @writer servers
   */
  serve_waiters: 33,
  /**
   * The slot where a server written in C looks first.
   * @writer servers
   */
  look: 34,
  /**
   * Changes when callers without a slot must look again.
   * @writer any agent
   * @sleeper callers without a slot
   */
  slot_epoch: 64,
  /**
   * bits 0-30: callers that sleep there, or are about to
   * bit 31: one of them awaits, or did
   * @writer callers
   */
  slot_waiters: 65,
  /**
   * How many pauses callers still owe to others, which found no free slot.
   * @writer callers
   */
  pauses: 66,
  length: 96,
} as const;

/** The bits in the words of {@linkcode CALL_RING}. */
export const CALL_RING_BITS = {
  WORDS: [0, 21],
  SLOTS: [22, 31],
  ID: [0, 27],
  PHASE: [28, 30],
  WAITING: 31,
  DEAD: 28,
} as const;

/**
 * A counter that hands out tasks.
 *
 * @behind From word 104 on, if agents are tracked, rows of 32 words. A row has
 * the id of its agent, or 0; the units after the last range that it took; the
 * tasks that agents of this row have done; and two ranges: the units after it,
 * its first task, and the tasks done when it was taken. The range with the same
 * units counts.
 */
export const WORK_COUNTER = {
  /** Kind and layout version. */
  magic: 0,
  /** Tasks, 0 to 2^30. */
  total: 1,
  /** Tasks handed out at a time. Below 0: guided, for that many agents. */
  chunk: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * 0, or if agents note what they take:
   * bits 0-7: how many agents, 1 to 255
   * bits 8-15: the same, inverted
   * bits 16-31: 0x5765
   */
  tracked: 4,
  /**
   * Chunks handed out; guided: tasks handed out. If agents are tracked, that is
   * in bits 8-31, and bits 0-7 are the row that took the last of them.
   * @writer agents that take tasks
   */
  next: 32,
  /**
   * Tasks done, unless agents are tracked.
   * @writer agents that did tasks
   */
  done: 64,
  /**
   * Tasks to be done: all, or fewer once cancelled.
   * @writer the agent that cancels
   */
  target: 65,
  /**
   * 0 running, 1 running and somebody may sleep here, 2 over.
   * @writer any agent
   * @sleeper agents that wait for the end
   */
  finished: 66,
  length: 67,
} as const;

/** The bits in the words of {@linkcode WORK_COUNTER}. */
export const WORK_COUNTER_BITS = {
  ROW: [0, 7],
  UNITS: [8, 31],
} as const;

/**
 * A stack of work that others may steal from.
 *
 * @behind `capacity` items of one word. Item `i` lies in place `i mod
 * capacity`.
 */
export const WORK_DEQUE = {
  /** Kind and layout version. */
  magic: 0,
  /** How many items fit, a power of two. */
  capacity: 1,
  /** Check word over the configuration. */
  seal: 2,
  /**
   * Where the owner pushes next.
   * @writer the owner
   */
  bottom: 32,
  /**
   * bits 0-27: the agent that pushes and pops, from its first time on, or 0
   * bit 28: LEFT: the last owner gave the deque up, so the next one adopts it
   * @writer the owner, and the agent that abandons it
   */
  owner: 33,
  /**
   * The item that is stolen next.
   * @writer thieves, and the owner for the last item
   */
  top: 64,
  length: 96,
} as const;

/** The bits in the words of {@linkcode WORK_DEQUE}. */
export const WORK_DEQUE_BITS = {
  OWNER: [0, 27],
  LEFT: 28,
} as const;

/**
 * An allocator of blocks of one size.
 *
 * @behind A bit for each block, 1 if the block is probably not free. Then an
 * owner for each block: 0 while it is free, or the id of the agent that
 * allocated it, with bit 28 set while it lies in the cache of that agent. Then
 * the blocks. Each of the three begins at a multiple of 32 words.
 */
export const SLAB_POOL = {
  /** Kind and layout version. */
  magic: 0,
  /** How many blocks there are. */
  capacity: 1,
  /** Bytes of a block, a multiple of 4. */
  block_size: 2,
  /** Check word over the configuration. */
  seal: 3,
  length: 32,
} as const;

/** The bits in the words of {@linkcode SLAB_POOL}. */
export const SLAB_POOL_BITS = {
  CACHED: 28,
} as const;

/**
 * A map from keys to values.
 *
 * @behind 32 event counts, an epoch and a count of waiters each: agents wait on
 * that of the five highest bits of the hash of a key. Then a pair of words for
 * each of up to 256 values that agents are making, padded to a multiple of 32
 * words: the id of the agent, or 0; and the hash of the key, 1 for a hash of 0.
 * Then a bit for each entry, 1 if the entry is probably not free, padded to a
 * multiple of 32 words. Then the buckets, four words each: the two words of a
 * mutex; `version`, which changes after each step that readers must notice; and
 * `head`, the number of the first entry, counted from 1, or 0. Then the
 * entries. An entry has `link`: 0 while it is free; bit 31 and the id of the
 * agent that fills it; or bit 30 and the number of the next entry, or 0. Then
 * the hash of the key. Then, if a value may have more than one word, `current`,
 * which changes by 1 with each value: its lowest bit is the number of the copy
 * that counts, 0 or 1. Then, in a cache, `used`: 1 if the entry was used since
 * the hand passed it, or 0. Then the key, and the value or its two copies. What
 * may differ in length begins with its length in bytes. If entries expire, a
 * value has two copies, and the last word of each is `expires`: the time of day
 * in milliseconds, modulo 2^32, from which on it counts no longer. A cache has
 * eight stripes behind its entries, each of 32 words, from a multiple of 32
 * words on: hits, misses and evictions, each as two words of a stripe of a
 * `striped_counter`. A map with a heap has at its end, from a multiple of 32
 * words on, a bit for each block, 1 if the block is probably not free, padded
 * to a multiple of 32 words, and then the blocks. A block has `owner`: 0 while
 * it is free, or the number of the bucket to which its key or value belongs,
 * counted from 1; then the number of the next block of that, counted from 1, or
 * 0; then its bytes. An entry whose key or value has more bytes than fit there
 * has the number of the first block instead of the bytes.
 */
export const HASH_MAP = {
  /** Kind and layout version. */
  magic: 0,
  /** How many entries there are. */
  capacity: 1,
  /**
   * bits 0-11: the most bytes of a key in an entry
   * bits 12-27: the most bytes of a value in an entry
   * bit 28: keys differ in length
   * bit 29: values differ in length
   * bit 30: it is a cache, which evicts entries
   * bit 31: its entries expire
   */
  sizes: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * bits 0-7: the codec of the keys, as in a channel
   * bits 8-15: the codec of the values
   */
  codecs: 4,
  /** A number that tells apart keys with different fields; or 0. */
  key_shape: 5,
  /** The same for values. */
  value_shape: 6,
  /** The lower half of the seed of the hash. */
  seed_low: 7,
  /** The upper half. */
  seed_high: 8,
  /**
   * For how many milliseconds a value counts at most; 0 if entries do not
   * expire.
   */
  ttl: 9,
  /**
   * How many blocks the heap has; 0 if the map has no heap, as are the next
   * four words.
   */
  blocks: 10,
  /** The words of a block. */
  block_words: 11,
  /** The most bytes of a value; 0 if all values lie in their entries. */
  longest: 12,
  /** Check word over the other words of the heap. */
  heap_seal: 13,
  /** The most bytes of a key; 0 if all keys lie in their entries. */
  longest_key: 14,
  /**
   * Entries and blocks that the hand of the clock has passed, modulo 2^32; 0 in
   * a map that is not a cache, as are the next two words.
   * @writer any agent
   */
  hand: 16,
  /**
   * Entries that were freed, modulo 2^32.
   * @writer any agent
   */
  freed: 17,
  /**
   * `freed` + 1 before the last search that found no free entry.
   * @writer any agent
   */
  full: 18,
  length: 32,
} as const;

/** The bits in the words of {@linkcode HASH_MAP}. */
export const HASH_MAP_BITS = {
  KEY_SIZE: [0, 11],
  VALUE_SIZE: [12, 27],
  KEY_VARIES: 28,
  VALUE_VARIES: 29,
  EVICTS: 30,
  EXPIRES: 31,
  CLAIMED: 31,
  LINKED: 30,
  NEXT: [0, 29],
} as const;

/**
 * A sum that many agents add to.
 *
 * @behind Stripes of 32 words each. A stripe has `low`, the sum of the numbers
 * added there, modulo 2^32, and `high`, that sum divided by 2^28. A carry into
 * `high` may be late.
 */
export const STRIPED_COUNTER = {
  /** Kind and layout version. */
  magic: 0,
  /** How many stripes there are, 1 to 1024. */
  stripes: 1,
  /** Check word over the configuration. */
  seal: 2,
  /**
   * Views, or threads of C, that took a stripe, modulo 2^32.
   * @writer any agent
   */
  claims: 3,
  length: 32,
} as const;

/**
 * The words of an event count: agents sleep on `epoch`, and `waiters` counts
 * them. In each row, `x_waiters` lies behind `x_epoch`, as here; and behind
 * that, `x_gong`, if it has one.
 */
export const EVENT_COUNT = { epoch: 0, waiters: 1, gong: 2 } as const;

/** The bits of a gong: see `_wait/gong.ts`. */
export const GONG_BITS = {
  LINK: 0,
  WAITING: 1,
  STRIKES: [2, 15],
  SIGN: [16, 31],
} as const;

/** The bits of a row of a tracked read-write lock. */
export const READER_BITS = {
  READING: [0, 9],
  PENDING: [10, 19],
  PHASE: [20, 31],
} as const;

/** The bits of the counted word of a tracked semaphore. */
export const TRACKED_BITS = {
  SEQUENCE: [0, 11],
  ROW: [12, 19],
  COUNT: [20, 31],
} as const;

/** The bits of the words `x_waiters`. */
export const WAITERS_BITS = {
  AWAITED: 31,
} as const;

/** The head of a table of agents, which `deadlocks` reads. */
export const AGENT_TABLE = { magic: 0, agents: 1, rows: 32 } as const;

/**
 * A row of that table, 32 words for each agent. `agent` is its id, or 0.
 * `sequence` changes with each sleep. `on` is the word that it blocks on, or 0;
 * so are the eight words from `awaits` on for words that it awaits. Each is
 * counted in words from the row. `name` is UTF-8, of `bytes` bytes.
 */
export const AGENT_ROW = {
  agent: 0,
  sequence: 1,
  on: 2,
  awaits: 3,
  bytes: 11,
  name: 12,
  words: 32,
} as const;

/** All rows, under the names of their primitives. */
export const LAYOUT = {
  mutex: MUTEX,
  rw_lock: RW_LOCK,
  condition: CONDITION,
  semaphore: SEMAPHORE,
  event: EVENT,
  latch: LATCH,
  wait_group: WAIT_GROUP,
  barrier: BARRIER,
  once: ONCE,
  snapshot: SNAPSHOT,
  spsc_queue: SPSC_QUEUE,
  mpmc_queue: MPMC_QUEUE,
  lock_free_queue: LOCK_FREE_QUEUE,
  record_ring: RECORD_RING,
  broadcast: BROADCAST,
  shape_table: SHAPE_TABLE,
  channel: CHANNEL,
  call_ring: CALL_RING,
  work_counter: WORK_COUNTER,
  work_deque: WORK_DEQUE,
  slab_pool: SLAB_POOL,
  hash_map: HASH_MAP,
  striped_counter: STRIPED_COUNTER,
} as const;

/** The number of each kind in `magic` words. Never change a number. */
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
