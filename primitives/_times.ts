/**
 * The times at which awaiting waiters must be resumed: a heap of times with one
 * timer. A native timeout for each waiter would stay in memory until it passes,
 * even if its wait is long over.
 *
 * @module
 */

import type { Waiter } from "./_waiter.ts";

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

const heap: Waiter[] = [];
let timer: unknown;
let timerDue = Infinity;

const dueAt = (rank: number): number => heap[rank]?.due ?? Infinity;

/** Puts a waiter that has begun a sleep into the heap. */
export function schedule(waiter: Waiter): void {
  const { atMost, patient } = waiter.sleep;
  let due = patient ? Infinity : waiter.deadline;
  if (atMost !== undefined) due = Math.min(due, deadlineAfter(atMost));
  if (due === waiter.due) return;
  unschedule(waiter);
  if (due === Infinity) return;
  waiter.due = due;
  siftHeap(waiter, heap.push(waiter) - 1);
  if (due <= performance.now()) resumeDue(waiter);
  else setTimer();
}

/** Takes a waiter out of the heap. */
export function unschedule(waiter: Waiter): void {
  if (waiter.due === Infinity) return;
  waiter.due = Infinity;
  const last = heap.pop()!;
  if (last !== waiter) siftHeap(last, waiter.rank);
}

/** Moves a waiter up or down from `rank` to the place of its time. */
function siftHeap(waiter: Waiter, rank: number): void {
  const { due } = waiter;
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
  const due = dueAt(0);
  if (due >= timerDue) return;
  clearTimeout(timer as number);
  timerDue = due;
  const delay = Math.min(Math.max(due - performance.now(), 0), 0x7fff_ffff);
  timer = setTimeout(expire, delay);
  refer(timer, false); // the timer in `_life.ts` keeps the process alive
}

function expire(): void {
  timerDue = Infinity;
  const now = performance.now();
  while (dueAt(0) <= now) resumeDue(heap[0]!);
  setTimer();
}
