/**
 * The words by which agents wait and say where: parts of the rows of many
 * primitives, and the table of agents.
 * `../layout.ts` says how a row is written.
 *
 * @module
 */

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
