/**
 * Keeps the event loop free. A promise that is resolved at once continues in a
 * microtask, so a loop of awaits that are all ready would let no timer, abort,
 * click or frame in. Results are therefore delivered in microtasks only for
 * some milliseconds of each turn of the event loop; after that the next ones
 * are delivered by a macrotask.
 *
 * @module
 */

import { MAY_BLOCK } from "./_waiter.ts";

type Task = () => void;
type Result = [settle: (value: unknown) => void, value: unknown];

/**
 * How results share the event loop. The race tester replaces both, as its time
 * is not the platform's.
 */
export const turn = {
  /**
   * After this many ms of ready results a macrotask is posted, and after as
   * many again, if it has not run, results wait for it. A page draws 60 frames
   * a second or more, so its main thread, which may not block, gets less.
   */
  period: MAY_BLOCK ? 4 : 1,
  /** Posts a macrotask, in line with timers, aborts, input and frames. */
  post: postTask,
};

/** The most results between two looks at the clock, which takes 50 ns. */
const MOST_UNTIMED = 16;

/** The clock, unless somebody replaced it: then time is not what it seems. */
const HostDate = Date;

let since = 0; // when the period began, by the clock
let results = 0; // until the next look at the clock
let step = 1; // from one look at the clock to the next
let looked = 0; // when it was last looked at
let posted = false; // a macrotask is on its way
let next: Promise<void> | undefined; // resolves when it runs
let begin: Task | undefined; // resolves it

/**
 * Counts a result that is ready. Undefined if it may be delivered at once;
 * else a promise that resolves in the next turn of the event loop.
 */
export function nextTurn(): Promise<void> | undefined {
  if (next === undefined && (--results > 0 || isInTime())) return undefined;
  return next ??= new Promise((resolve) => begin = resolve);
}

/** Settles a promise: at once, or where its turn is over, in the next one. */
export function deliver<T>(settle: (value: T) => void, value: T): void {
  const next = nextTurn();
  if (next === undefined) settle(value);
  else next.then(() => settle(value));
}

function isInTime(): boolean {
  const { period, post } = turn;
  if (period === Infinity || Date !== HostDate) return true;
  const now = Date.now();
  // Look again soon where results take long, and rarely where they do not.
  step = now === looked ? Math.min(2 * step, MOST_UNTIMED) : 1;
  results = step;
  looked = now;
  if (Math.abs(now - since) < period) return true;
  if (posted) return false;
  posted = true;
  since = now;
  post(onTurn);
  return true;
}

/** The event loop has turned: what waited for it goes on. */
function onTurn(): void {
  posted = false;
  next = undefined;
  begin?.();
}

declare const setImmediate: ((task: Task) => unknown) | undefined;

let port: MessagePort | undefined;
let tasks: Task[] = [];

function postTask(task: Task): void {
  if (typeof setImmediate === "function") setImmediate(task);
  else if (typeof MessageChannel === "function") {
    // Timers of a page are clamped to 4 ms; messages are not.
    if (port === undefined) {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const due = tasks;
        tasks = [];
        for (const task of due) task();
      };
      port = port2;
    }
    tasks.push(task);
    port.postMessage(0);
  } else setTimeout(task);
}
