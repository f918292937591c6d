/**
 * Rows in which agents note that they read a tracked `RwLock`.
 *
 * ```text
 * row, word 0  agent  The id of the agent that has the row, or 0.
 * row, word 1  reads  bits 0-9    how often the agent reads
 *                     bits 10-19  pending: how often it waits to read
 *                     bits 20-31  the phase in which it began to wait, modulo
 *                                 4096
 *                     sleepers: the writer that waits until nobody reads
 * ```
 *
 * The phase is in bits 1 to 31 of the word `gate`. An agent that is pending in
 * a phase that is over reads. So a writer lets all pending agents in when it
 * changes the phase, whether they run or not.
 *
 * Invariant: only the agent of a row changes its `reads`. A survivor becomes
 * the agent of the row of a dead one, then clears its `reads`, and then frees
 * it. So a row tells exactly what its agent reads, wherever that agent was
 * terminated.
 * C twin: `_readers.h`. Source: distributed readers (Hsieh and Weihl 1992).
 *
 * @module
 */

import { ROW, Rows } from "../_memory/tracked.ts";

/** The word of a row that says how often its agent reads. */
export const READS = 1;

const READING_MASK = 0x3ff; // READER_BITS.READING
const PENDING_SHIFT = 10; // READER_BITS.PENDING
/** Once pending. */
export const ONE_PENDING = 0x400; // READER_BITS.PENDING
const PHASE_SHIFT = 20; // READER_BITS.PHASE
const PHASE_MASK = 0xfff; // READER_BITS.PHASE, shifted

/** How often one agent can read, or wait to. */
export const MAX_READS = 0x3ff; // READER_BITS.READING

/** The rows of the agents that read. */
export class Readers extends Rows {
  /** Where this agent notes what it reads, or -1 if it has no row. */
  get mine(): number {
    const at = this.find(this.id);
    return at < 0 ? at : at + READS;
  }

  /**
   * The same, but it takes a row if it has none.
   *
   * @throws {RangeError} If all rows are taken, or the agent reads too often.
   */
  room(): number {
    const at = this.own() + READS;
    const reads = this.words[at]!; // this agent wrote it
    const pending = reads >>> PENDING_SHIFT & READING_MASK;
    if ((reads & READING_MASK) + pending < MAX_READS) return at;
    throw new RangeError(
      `Cannot read: this agent has ${MAX_READS} reads already, begun or awaited`,
    );
  }

  /** Where an agent notes that it reads in this phase of the gate, or -1. */
  blocking(gate: number): number {
    for (let row = 0; row < this.agents; row++) {
      const at = this.first + row * ROW + READS;
      if (readingOf(Atomics.load(this.words, at), gate) > 0) return at;
    }
    return -1;
  }

  /** How many reads have begun and not ended, of all agents together. */
  count(gate: number): number {
    let sum = 0;
    for (let row = 0; row < this.agents; row++) {
      const at = this.first + row * ROW + READS;
      sum += readingOf(Atomics.load(this.words, at), gate);
    }
    return sum;
  }
}

/** Whether agents that were pending with these `reads` have been let in. */
const isIn = (reads: number, gate: number): boolean =>
  ((reads >>> PHASE_SHIFT ^ gate >>> 1) & PHASE_MASK) !== 0;

/** How often the agent with these `reads` reads in this phase of the gate. */
export function readingOf(reads: number, gate: number): number {
  const pending = reads >>> PENDING_SHIFT & READING_MASK;
  return (reads & READING_MASK) + (isIn(reads, gate) ? pending : 0);
}

/** The same `reads`, with what was let in no longer pending. */
export function settled(reads: number, gate: number): number {
  return isIn(reads, gate)
    ? readingOf(reads, gate) | (gate >>> 1 & PHASE_MASK) << PHASE_SHIFT
    : reads;
}
