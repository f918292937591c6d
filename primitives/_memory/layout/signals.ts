/**
 * The words of what agents wait for together: events, latches, wait groups,
 * barriers and onces.
 * `../layout.ts` says how a row is written.
 *
 * @module
 */

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
