/**
 * The algorithm of `WorkCounter`: what each operation does to its words. If
 * agents are tracked, each agent has a row, in which it notes the tasks that it
 * took and has done: see `_memory/ranges.ts`. Otherwise the words `next` and
 * `done` count the tasks of all agents.
 *
 * C twin: `work_counter.h`, function by function.
 *
 * @module
 */

import type { WORK_COUNTER } from "../_memory/layout.ts";
import { endOf, Ranges, unitsOf } from "../_memory/ranges.ts";
import { relax, spinning } from "../_wait/spin.ts";
import { block, type Waiting } from "../_wait/wait.ts";

const TOTAL: typeof WORK_COUNTER.total = 1;
const CHUNK: typeof WORK_COUNTER.chunk = 2;
export const TRACKED: typeof WORK_COUNTER.tracked = 4;
const NEXT: typeof WORK_COUNTER.next = 32;
const DONE: typeof WORK_COUNTER.done = 64;
export const TARGET: typeof WORK_COUNTER.target = 65;
export const FINISHED: typeof WORK_COUNTER.finished = 66;

/** Where the rows of a tracked counter begin. */
export const ROWS = 104;

/** The states of `finished`. */
export const RUNNING = 0, AWAITED = 1, OVER = 2;

/** The tasks from `start` to `end - 1`. */
export interface WorkRange {
  /** The first task. */
  start: number;
  /** The number after the last task. */
  end: number;
}

/** The words of a counter, as one agent uses them. */
export class Work {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #total: number;
  readonly #chunk: number;
  /** The rows of agents that note what they take. */
  readonly #rows: Ranges | undefined;

  /** The counter of `words`, which tracks `tracked` agents, for agent `id`. */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    tracked: number,
    id: number,
  ) {
    const total = this.#total = words[TOTAL]!;
    const chunk = this.#chunk = words[CHUNK]!;
    this.#words = words;
    if (tracked === 0) return;
    this.#rows = new Ranges(words, ROWS, tracked, id, NEXT, total, chunk);
  }

  /** How many agents can note what they take; 0 if none are tracked. */
  get tracked(): number {
    return this.#rows?.agents ?? 0;
  }

  /** How many tasks were handed out when the word `next` has this value. */
  #handedOut(next: number): number {
    const step = Math.max(this.#chunk, 1);
    return Math.min((next >>> 0) * step, this.#total);
  }

  /** Tasks that are not handed out yet. */
  get remaining(): number {
    const next = Atomics.load(this.#words, NEXT);
    return this.#total -
      this.#handedOut(this.#rows === undefined ? next : unitsOf(next));
  }

  /** Tasks that are done. */
  get completed(): number {
    return this.#rows?.completed ?? Atomics.load(this.#words, DONE);
  }

  /** Whether `cancel` came before the last task was handed out. */
  get cancelled(): boolean {
    return Atomics.load(this.#words, TARGET) < this.#total;
  }

  #takeGuided(range: WorkRange): void {
    const words = this.#words;
    const total = this.#total;
    let next = words[NEXT]!; // a hint: the exchange below checks it
    while (next < total) {
      const start = next;
      const share = Math.floor((total - start) / (-2 * this.#chunk));
      const end = start + Math.max(share, 1);
      next = Atomics.compareExchange(words, NEXT, start, end);
      if (next !== start) continue;
      range.start = start;
      range.end = end;
      return;
    }
  }

  /** Takes the next tasks: `range`, which stays empty if there are none. */
  take(range: WorkRange): void {
    if (this.#rows !== undefined) {
      Object.assign(range, this.#rows.take());
      return;
    }
    const words = this.#words;
    const total = this.#total;
    const chunk = this.#chunk;
    if (chunk < 0) return this.#takeGuided(range);
    // An agent that has moved `next` past the end sees that here, and moves it
    // no further.
    if ((words[NEXT]! >>> 0) * chunk >= total) return;
    const start = (Atomics.add(words, NEXT, 1) >>> 0) * chunk;
    if (start >= total) return;
    range.start = start;
    range.end = Math.min(start + chunk, total);
  }

  #finish(): void {
    const words = this.#words;
    const was = Atomics.exchange(words, FINISHED, OVER);
    if (was === AWAITED) Atomics.notify(words, FINISHED);
  }

  /** Sets `finished` if all tasks are done. */
  #look(): void {
    if (this.completed >= Atomics.load(this.#words, TARGET)) this.#finish();
  }

  /** Counts `n` tasks as done, and wakes all waiters if they were the last. */
  done(n: number): void {
    const rows = this.#rows;
    if (rows !== undefined) {
      if (rows.done(n)) this.#look(); // (T) pairs with (C), as below
      return;
    }
    const words = this.#words;
    let done = words[DONE]!; // a hint: the exchange below checks it
    for (;;) {
      // `done` only grows and `target` only falls, so a stale value of either
      // never refuses a call that should pass.
      if (done + n > words[TARGET]!) {
        throw new RangeError(
          `Cannot count ${n} tasks as done: ${done} of ${words[TARGET]} are`,
        );
      }
      const seen = Atomics.compareExchange(words, DONE, done, done + n);
      if (seen === done) break;
      done = seen;
    }
    // (T) Pairs with (C): this agent sees the lower target, or `cancel` sees
    // these tasks.
    if (done + n >= Atomics.load(words, TARGET)) this.#finish();
  }

  /** Waits until all tasks are done, blocking at most `timeout` ms. */
  wait(timeout: number): boolean {
    for (let i = timeout > 0 ? spinning.rounds : 0;; i--) {
      if (Atomics.load(this.#words, FINISHED) === OVER) return true;
      if (i === 0) return block(this.waitSlow(), timeout);
      relax();
    }
  }

  /** Waits until all tasks are done. */
  *waitSlow(): Waiting<boolean> {
    const words = this.#words;
    for (;;) {
      // The agent of the last task may have been terminated before it set
      // `finished`.
      this.#look();
      const was = Atomics.compareExchange(words, FINISHED, RUNNING, AWAITED);
      if (was === OVER) return true;
      const outcome = yield { words, index: FINISHED, value: AWAITED };
      if (outcome === "timed-out") {
        return Atomics.load(words, FINISHED) === OVER;
      }
    }
  }

  /** Ends handing out. Returns how many chunks were handed out; -1 if all. */
  #close(): number {
    const end = endOf(this.#total, this.#chunk);
    const was = Atomics.exchange(this.#words, NEXT, end);
    return (was >>> 0) < end ? was : -1;
  }

  /** Hands out no more tasks. */
  cancel(): void {
    const rows = this.#rows;
    this.#aim(rows === undefined ? this.#close() : rows.cancel());
  }

  /** Lets waiting end when the `units` that were handed out are done. */
  #aim(units: number): void {
    if (units < 0) return;
    const target = this.#handedOut(units);
    Atomics.store(this.#words, TARGET, target); // (C) then look at what is done
    if (this.completed >= target) this.#finish();
  }

  /** Gives others the tasks that agent `id` took and did not do. */
  abandon(id: number): WorkRange[] {
    const rows = this.#rows;
    if (rows === undefined) return [];
    const ranges = rows.abandon(id);
    this.#aim(rows.cancelled); // that agent may have ended within `cancel`
    return ranges;
  }
}
