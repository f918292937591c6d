/**
 * Rows in which agents note the tasks that they took from a tracked
 * `WorkCounter`.
 *
 * ```text
 * word `next`      bits 0-7   the row that handed out last; 255: none
 *                  bits 8-31  units handed out: chunks; guided: tasks
 * row, word 0      agent   The id of the agent that has the row, or 0.
 * row, word 1      taken   The units after the last range that this agent took,
 *                          if it, or another agent, has confirmed that.
 * row, word 2      done    Tasks that agents of this row have done.
 * row, words 3-5   unit, start, before  A range: the units after it, its first
 *                          task, and `done` when it was taken.
 * row, words 6-8   The same for another range.
 * ```
 *
 * An agent takes tasks in three steps: it writes the range that does not count
 * yet; it exchanges `next`, which from then on names the row; and it confirms
 * the units in its row, so that this range counts. If it is terminated after
 * the second step, `next` still says that the range was taken. An agent that
 * replaces that word confirms the range first (C). So a row tells exactly which
 * tasks its agent took and has not done, wherever that agent was terminated.
 *
 * Invariant: only the agent of a row changes what is in it, except for the
 * confirmation; `next` and `taken` only grow. A row without an agent may have
 * tasks that are not done: the next agent with that row does them.
 * C twin: `_ranges.h`. Source: as `_memory/tracked.ts`; `next` is its own
 * sequence.
 *
 * @module
 */

import { DamagedError } from "./damaged.ts";
import { ROW, Rows } from "./tracked.ts";

/** Words of a row. */
const TAKEN = 1, DONE = 2, ONE = 3, OTHER = 6;
/** Words of a range. */
const UNIT = 0, START = 1, BEFORE = 2;

/** In `next`. */
const ROW_MASK = 0xff; // WORK_COUNTER_BITS.ROW
const NOBODY = 0xff;
const UNITS_SHIFT = 8; // WORK_COUNTER_BITS.UNITS

/** The most chunks, or tasks if guided. */
export const MAX_UNITS = 0x00ff_ffff; // WORK_COUNTER_BITS.UNITS

/** The tasks from `start` to `end - 1`. */
interface Range {
  start: number;
  end: number;
}

/** The units that this word `next` tells. */
export const unitsOf = (next: number): number => next >>> UNITS_SHIFT;

/** The units when no task is left. */
export const endOf = (total: number, chunk: number): number =>
  chunk < 0 ? total : Math.ceil(total / chunk);

/** The rows of agents that take tasks. */
export class Ranges extends Rows {
  readonly #next: number;
  readonly #total: number;
  readonly #chunk: number;
  readonly #end: number;

  /**
   * The rows of `agents` agents that begin at the word `first`; used by the
   * agent `id`. `next` is the index of that word. `total` and `chunk` are the
   * words of a counter.
   */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    first: number,
    agents: number,
    id: number,
    next: number,
    total: number,
    chunk: number,
  ) {
    super(words, first, agents, id);
    this.#next = next;
    this.#total = total;
    this.#chunk = chunk;
    this.#end = endOf(total, chunk);
  }

  /** How many tasks are done. */
  get completed(): number {
    let sum = 0;
    for (let row = 0; row < this.agents; row++) {
      sum += Atomics.load(this.words, this.first + row * ROW + DONE);
    }
    return sum;
  }

  /**
   * Takes the next range for this agent; `undefined` if there is none.
   *
   * @throws {TypeError} If this agent has not done what it took before.
   * @throws {RangeError} If it needs a row, and all are taken.
   */
  take(): Range | undefined {
    const words = this.words;
    const had = this.find(this.id);
    const at = had < 0 ? this.own() : had;
    const current = this.#ownCurrent(at);
    if (this.#left(at, current) > 0) {
      const left = this.#undone(at);
      if (had < 0) return this.#checked(left); // of an agent that is dead
      throw new TypeError(
        `Cannot take tasks: agent ${this.id} has not done ${left.start} to ` +
          `${left.end - 1}`,
      );
    }
    const row = (at - this.first) / ROW;
    const chunk = this.#chunk;
    const other = at + (current === at + ONE ? OTHER : ONE);
    for (let next = words[this.#next]!; unitsOf(next) < this.#end;) {
      const seen = next; // a hint: the exchange checks it
      if ((seen & ROW_MASK) !== row) this.#confirm(seen);
      const units = unitsOf(seen);
      const unit = units + (chunk < 0 ? this.#share(units) : 1);
      // This range does not count until the exchange.
      const start = units * Math.max(chunk, 1);
      words[other + UNIT] = unit;
      words[other + START] = start;
      words[other + BEFORE] = words[at + DONE]!;
      const named = unit << UNITS_SHIFT | row;
      next = Atomics.compareExchange(words, this.#next, seen, named);
      if (next !== seen) continue;
      Atomics.store(words, at + TAKEN, unit);
      return { start, end: this.#endOf(unit) };
    }
    return this.#adopt(at);
  }

  /**
   * Counts `n` tasks of this agent as done. Returns whether all are handed out.
   *
   * @throws {RangeError} If this agent has not taken `n` tasks.
   */
  done(n: number): boolean {
    const words = this.words;
    const at = this.find(this.id);
    const left = at < 0 ? 0 : this.#left(at, this.#ownCurrent(at));
    if (n > left) {
      throw new RangeError(
        `Cannot count ${n} tasks as done: agent ${this.id} took ${left}`,
      );
    }
    // (D) Note it, then look whether all are handed out.
    if (n > 0) Atomics.store(words, at + DONE, words[at + DONE]! + n);
    return unitsOf(Atomics.load(words, this.#next)) >= this.#end;
  }

  /**
   * Hands out no more. Returns the units that were handed out; -1 if those were
   * all.
   */
  cancel(): number {
    const words = this.words;
    const end = this.#end;
    let next = Atomics.load(words, this.#next);
    while (unitsOf(next) < end) {
      const seen = next;
      this.#confirm(seen);
      const named = end << UNITS_SHIFT | NOBODY;
      next = Atomics.compareExchange(words, this.#next, seen, named);
      if (next === seen) return unitsOf(seen);
    }
    return this.cancelled;
  }

  /**
   * The units that were handed out when it was cancelled, or -1. Whoever
   * cancelled has confirmed the last of them.
   */
  get cancelled(): number {
    const words = this.words;
    if ((Atomics.load(words, this.#next) & ROW_MASK) !== NOBODY) return -1;
    let units = 0;
    for (let row = 0; row < this.agents; row++) {
      const taken = Atomics.load(words, this.first + row * ROW + TAKEN);
      units = Math.max(units, taken);
    }
    return units;
  }

  /**
   * Frees the rows of the agent `id`: others take what it has not done. Only
   * one of the agents that call this does so. Returns those ranges.
   */
  abandon(id: number): Range[] {
    const words = this.words;
    const ranges: Range[] = [];
    for (let row = 0; row < this.agents; row++) {
      const at = this.first + row * ROW;
      if (Atomics.load(words, at) !== id) continue;
      this.#confirm(Atomics.load(words, this.#next)); // its last range, if so
      const left = this.#checked(this.#undone(at));
      // (H) Whoever frees the row tells what was in it.
      if (Atomics.compareExchange(words, at, id, 0) !== id) continue;
      if (left.start < left.end) ranges.push(left);
    }
    return ranges;
  }

  /** Takes over a row that has tasks and no agent, in place of that at `at`. */
  #adopt(at: number): Range | undefined {
    const words = this.words;
    for (let row = 0; row < this.agents; row++) {
      const there = this.first + row * ROW;
      if (Atomics.load(words, there) !== 0) continue;
      const seen = this.#undone(there);
      if (seen.start >= seen.end) continue;
      // (A) One agent alone does these tasks.
      if (Atomics.compareExchange(words, there, 0, this.id) !== 0) continue;
      Atomics.store(words, at, 0);
      at = there;
      const left = this.#undone(at);
      if (left.start < left.end) return this.#checked(left);
    }
  }

  /** The same range. Throws if it lies outside the tasks of this counter. */
  #checked(range: Range): Range {
    const { start, end } = range;
    if (start >= 0 && start <= end && end <= this.#total) return range;
    throw new DamagedError("The work counter");
  }

  /**
   * (C) Confirms the range that `seen` names, before it is replaced: its agent
   * may have been terminated before it did so.
   */
  #confirm(seen: number): void {
    const words = this.words;
    const row = seen & ROW_MASK;
    if (row === NOBODY) return;
    if (row >= this.agents) throw new DamagedError("The work counter");
    const at = this.first + row * ROW + TAKEN;
    const taken = Atomics.load(words, at);
    if (taken === unitsOf(seen)) return;
    // An old `seen` may name a range before the last one.
    if (Atomics.load(words, this.#next) !== seen) return;
    // If this fails, another agent confirmed it.
    Atomics.compareExchange(words, at, taken, unitsOf(seen));
  }

  /** Where the range is that counts in the row at `at`. */
  #current(at: number): number {
    const words = this.words;
    const taken = Atomics.load(words, at + TAKEN);
    return at + (words[at + ONE + UNIT] === taken ? ONE : OTHER);
  }

  /** The same in this agent's row. Plainly: others confirm what it wrote. */
  #ownCurrent(at: number): number {
    const words = this.words;
    const taken = words[at + TAKEN]!;
    return at + (words[at + ONE + UNIT] === taken ? ONE : OTHER);
  }

  /** How many tasks a guided counter hands out after the first `units`. */
  #share(units: number): number {
    const share = Math.floor((this.#total - units) / (-2 * this.#chunk));
    return Math.max(share, 1);
  }

  /** The number after the last task of a range with this unit. */
  #endOf(unit: number): number {
    const chunk = this.#chunk;
    return chunk < 0 ? unit : Math.min(unit * chunk, this.#total);
  }

  /** The tasks of the row at `at` that are not done. */
  #undone(at: number): Range {
    const words = this.words;
    const range = this.#current(at);
    const did = Atomics.load(words, at + DONE) - words[range + BEFORE]!;
    const end = this.#endOf(words[range + UNIT]!);
    return { start: words[range + START]! + did, end };
  }

  /** How many tasks this agent's row at `at` has, if `range` counts. */
  #left(at: number, range: number): number {
    const words = this.words;
    const did = words[at + DONE]! - words[range + BEFORE]!; // it wrote both
    return this.#endOf(words[range + UNIT]!) - words[range + START]! - did;
  }
}
