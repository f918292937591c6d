/**
 * The waiters of one line by their priorities: those of one priority stand side
 * by side, as a run.
 *
 * @module
 */

import type { Line, Ranked, Run, Waiter } from "./waiter.ts";

/** The runs of a line in which waiters stand by their priorities. */
class Runs implements Ranked {
  readonly #end: Waiter;
  /** The last one of the line first: the end of an array is quick to remove. */
  readonly #runs: Run[] = [];

  /** Those of the line that has the mark `end`. */
  constructor(end: Waiter) {
    this.#end = end;
  }

  enter(waiter: Waiter, priority: number): void {
    const runs = this.#runs;
    const at = this.#notBelow(priority);
    const above = runs[at];
    let { before } = waiter;
    // A waiter that is in no run has priority 0.
    if (priority > 0) before = above?.last ?? this.#end;
    else if (at > 0) before = runs[at - 1]!.first.before;
    move(waiter, before);
    if (above?.priority === priority && above.last === before) {
      above.last = waiter;
      waiter.run = above;
    } else {
      waiter.run = { priority, first: waiter, last: waiter };
      runs.splice(at, 0, waiter.run);
    }
  }

  leave(waiter: Waiter): void {
    const { run } = waiter;
    if (run === undefined) return;
    waiter.run = undefined;
    if (run.first === run.last) this.#remove(run);
    else if (run.first === waiter) run.first = waiter.behind;
    else if (run.last === waiter) run.last = waiter.before;
  }

  #remove(run: Run): void {
    const runs = this.#runs;
    if (runs.at(-1) === run) runs.pop();
    else runs.splice(runs.indexOf(run), 1);
  }

  /** The index of the last run in line of at least this priority. */
  #notBelow(priority: number): number {
    const runs = this.#runs;
    let from = 0, to = runs.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (runs[middle]!.priority < priority) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** The runs of a line, which it has from now on. */
export const runsOf = (line: Line): Ranked => line.runs ??= new Runs(line.end);

/** Puts a waiter behind another one of its line, or behind the end mark. */
function move(waiter: Waiter, before: Waiter): void {
  waiter.before.behind = waiter.behind;
  waiter.behind.before = waiter.before;
  waiter.before = before;
  waiter.behind = before.behind;
  before.behind = before.behind.before = waiter;
}
