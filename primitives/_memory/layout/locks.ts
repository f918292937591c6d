/**
 * The words of locks: mutexes, read-write locks, conditions and semaphores.
 * `../layout.ts` says how a row is written.
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

/** The bits of a row of a tracked read-write lock. */
export const READER_BITS = {
  READING: [0, 9],
  PENDING: [10, 19],
  PHASE: [20, 31],
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

/** The bits of the counted word of a tracked semaphore. */
export const TRACKED_BITS = {
  SEQUENCE: [0, 11],
  ROW: [12, 19],
  COUNT: [20, 31],
} as const;
