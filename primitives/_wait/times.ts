/**
 * The times at which awaiting waiters must be resumed: a heap of times with one
 * timer. A native timeout for each waiter would stay in memory until it passes,
 * even if its wait is long over.
 *
 * @module
 */

import { ownOf } from "../_memory/explored.ts";
import type { Waiter } from "./waiter.ts";

/** Deno's functions for timers that are numbers. */
type Timers = Record<`${"ref" | "unref"}Timer`, (timer: unknown) => void>;

/**
 * Sets whether `timer` keeps the process alive, if the platform has such a
 * setting.
 */
export function refer(timer: unknown, ref: boolean): void {
  const verb = ref ? "ref" : "unref";
  const node = timer as { [verb in "ref" | "unref"]?: () => void };
  if (node[verb] !== undefined) return node[verb]();
  const { Deno } = globalThis as { Deno?: unknown };
  (Deno as Timers | undefined)?.[`${verb}Timer`](timer);
}

/** The instant `timeout` ms from now. */
export function deadlineAfter(timeout: number): number {
  return timeout === Infinity ? timeout : performance.now() + timeout;
}

interface Times {
  readonly heap: Waiter[];
  timerDue: number;
  timer?: unknown;
  /** The `setTimeout` that made the timer. */
  clock?: unknown;
}

const own = /* @__PURE__ */ ownOf((): Times => ({
  heap: [],
  timerDue: Infinity,
}));

const dueAt = (rank: number): number => own.now.heap[rank]?.due ?? Infinity;

/** Puts a waiter that has begun a sleep into the heap. */
export function schedule(waiter: Waiter): void {
  const { atMost, patient } = waiter.sleep;
  let due = patient ? Infinity : waiter.deadline;
  if (atMost !== undefined) due = Math.min(due, deadlineAfter(atMost));
  if (due === waiter.due) return;
  unschedule(waiter);
  if (due === Infinity) return;
  waiter.due = due;
  siftHeap(waiter, own.now.heap.push(waiter) - 1);
  if (due <= performance.now()) resumeDue(waiter);
  else setTimer();
}

/** Takes a waiter out of the heap. */
export function unschedule(waiter: Waiter): void {
  if (waiter.due === Infinity) return;
  waiter.due = Infinity;
  const last = own.now.heap.pop()!;
  if (last !== waiter) siftHeap(last, waiter.rank);
}

/** Moves a waiter up or down from `rank` to the place of its time. */
function siftHeap(waiter: Waiter, rank: number): void {
  const { due } = waiter;
  const { heap } = own.now;
  for (let next; rank > 0 && dueAt(next = rank - 1 >> 1) > due; rank = next) {
    (heap[rank] = heap[next]!).rank = rank;
  }
  for (let next;; rank = next) {
    next = 2 * rank + 1;
    if (dueAt(next + 1) < dueAt(next)) next++;
    if (dueAt(next) >= due) break;
    (heap[rank] = heap[next]!).rank = rank;
  }
  (heap[rank] = waiter).rank = rank;
}

/** Resumes a waiter whose time has come. */
function resumeDue(waiter: Waiter): void {
  const { due, deadline, sleep } = waiter;
  unschedule(waiter);
  const early = due < deadline || sleep.patient;
  waiter.resume(waiter, early ? "looked" : "timed-out");
}

/**
 * Sets the timer to the earliest time in the heap. If a waiter is woken before
 * its time, the timer stays as it is, and finds nothing to do when it fires.
 */
function setTimer(): void {
  const mine = own.now;
  const due = dueAt(0);
  if (mine.clock !== setTimeout) {
    // A test replaced the clock, or put it back: that timer may never fire.
    mine.clock = setTimeout;
    mine.timer = undefined;
    mine.timerDue = Infinity;
  }
  if (due >= mine.timerDue) return;
  clearTimeout(mine.timer as number);
  mine.timerDue = due;
  const delay = Math.min(Math.max(due - performance.now(), 0), 0x7fff_ffff);
  mine.timer = setTimeout(expire, delay);
  // the timer in `_wait/life.ts` keeps the process alive
  refer(mine.timer, false);
}

function expire(): void {
  const { heap } = own.now;
  own.now.timerDue = Infinity;
  const now = performance.now();
  while (dueAt(0) <= now) resumeDue(heap[0]!);
  setTimer();
}
