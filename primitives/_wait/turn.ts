/**
 * Keeps the event loop free. A promise that is resolved at once continues in a
 * microtask. So a loop of awaits that are all ready would not let any timer,
 * abort, click or frame run. Therefore results are delivered in microtasks only
 * for some milliseconds of each turn of the event loop; after that, a macrotask
 * delivers the next ones.
 *
 * @module
 */

import { setting } from "../_memory/explored.ts";
import { MAY_BLOCK, PLAYS } from "./waiter.ts";

type Task = () => void;
type Result = [settle: (value: unknown) => void, value: unknown];

/**
 * How results share the event loop. In explored code there are no macrotasks
 * between them: those would be the platform's own.
 */
export const turn = /* @__PURE__ */ setting(
  {
    /**
     * After this many ms of ready results, a macrotask is posted. If it has not
     * run after as many ms again, results wait for it. A page draws 60 frames a
     * second or more, so on its main thread, which may not block, the period is
     * shorter. An audio worklet has nothing that could post one.
     */
    period: PLAYS ? Infinity : MAY_BLOCK ? 4 : 1,
    /** Posts a macrotask, in line with timers, aborts, input and frames. */
    post: postTask,
  },
  { period: Infinity },
);

/** The most results between two looks at the clock, which takes 50 ns. */
const MOST_UNTIMED = 16;

/**
 * The platform's clock. If somebody replaces `Date`, its time cannot be
 * trusted.
 */
const HostDate = Date;

let since = 0; // when the period began, by the clock
let results = 0; // results until the next look at the clock
let step = 1; // from one look at the clock to the next
let looked = 0; // when it was last looked at
let posted = false; // a macrotask is on its way
let next: Promise<void> | undefined; // resolves when it runs
let begin: Task | undefined; // resolves it

/**
 * Counts a result that is ready. Returns undefined if it may be delivered at
 * once, and otherwise a promise that resolves in the next turn of the event
 * loop.
 */
export function nextTurn(): Promise<void> | undefined {
  if (next === undefined && (--results > 0 || isInTime())) return undefined;
  return next ??= new Promise((resolve) => begin = resolve);
}

/**
 * Settles a promise: at once, or, if the period of this turn is over, in the
 * next turn.
 */
export function deliver<T>(settle: (value: T) => void, value: T): void {
  const next = nextTurn();
  if (next === undefined) settle(value);
  else next.then(() => settle(value));
}

function isInTime(): boolean {
  const { period, post } = turn;
  if (period === Infinity || Date !== HostDate) return true;
  const now = Date.now();
  // If results take long, look at the clock again soon; if not, look rarely.
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

/** The event loop has turned: the results that waited for it are delivered. */
function onTurn(): void {
  posted = false;
  next = undefined;
  begin?.();
}

/**
 * The platform's macrotask. Tests may replace the global one by one of a clock
 * that stands still.
 */
const hostImmediate =
  /* @__PURE__ */ (() =>
    (globalThis as { setImmediate?: (task: Task) => unknown }).setImmediate)();

/** What a page has on its main thread. */
interface Page {
  readonly document: { readonly hidden: boolean };
  requestAnimationFrame(draw: Task): void;
}

/** The ms of turns between two frames, and the most that a frame may take. */
const BUSY_MS = 12, FRAME_MS = 20;

let drew = 0; // when a task last waited for a frame, by the clock

/**
 * Posts a task behind the next frame if one is due, and returns whether it did.
 * Firefox skips several frames of a page while messages come in.
 */
function postBehindFrame(task: Task): boolean {
  if (!("mozInnerScreenX" in globalThis)) return false; // no page of Firefox
  const page = globalThis as unknown as Page;
  // A page that is hidden has no frames, and its timers take a second.
  if (page.document.hidden) return false;
  if (Math.abs(HostDate.now() - drew) < BUSY_MS) return false;
  let waits = true;
  const once = () => {
    if (!waits) return;
    waits = false;
    drew = HostDate.now();
    task();
  };
  page.requestAnimationFrame(once);
  setTimeout(once, FRAME_MS);
  return true;
}

let port: MessagePort | undefined;
let tasks: Task[] = [];

function postTask(task: Task): void {
  if (hostImmediate !== undefined) hostImmediate(task);
  else if (postBehindFrame(task)) return;
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
