/**
 * The words of a lock, and the model of one, for the race scenarios.
 *
 * @module
 */
import { LAYOUT } from "../../primitives/_memory/layout.ts";

export const { state, gate, writer, writer_starving, turns } = LAYOUT.rw_lock;
/**
 * Words that are read plainly before an exchange, or for the reader's own bits.
 */
export const HINTS = [state, writer, writer_starving]
  .map((i) => [i * 4, i * 4 + 4] as const);
export const TOTAL = LAYOUT.rw_lock.length * 4;

/** The model: the value, how often it was read. */
export interface Model {
  readonly value: number;
  readonly reads: number;
}

export const WRITING = 1 << 26, WANTED = 1 << 27, ABANDONED = 1 << 29;
/** In the word `writer`. */
export const HANDOFF = 1 << 29, CONTENDED = 1 << 30;

/** Where the rows of a tracked lock begin, and words of a row. */
export const ROWS = 40, ROW = 32, READS = 1;
