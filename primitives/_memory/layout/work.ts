/**
 * The words of work counters and of work deques.
 * `../layout.ts` says how a row is written.
 *
 * @module
 */

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
