/**
 * All waiting, written once. A slow path is a generator: it yields each sleep
 * it needs and is sent how the sleep ended. One driver blocks the agent, the
 * other awaits, so an algorithm has one text and one proof.
 *
 * What the drivers promise a slow path, and what it must do in return:
 *
 * - A sleep may end without a reason ("not-equal"): look again. None lasts
 *   longer than a second unwatched, as a wake given to an agent that was
 *   terminated is lost.
 * - "ok" means a wake was used up. A path that then gives up passes it on.
 * - "timed-out" means the operation's time is over, or its signal aborted:
 *   undo what was announced and return `false` or `undefined`. A path that
 *   finds itself served in that moment returns its success instead, and the
 *   caller gets it: nothing is lost by a timeout or an abort.
 *
 * @module
 */

import {
  assertTimeout,
  type AsyncOptions,
  readOptions,
  TRY_ASYNC,
  type TryAsyncOptions,
} from "./_options.ts";

export {
  assertOptions,
  assertTimeout,
  ASYNC,
  type AsyncOptions,
  TRY_ASYNC,
  type TryAsyncOptions,
} from "./_options.ts";

/** A sleep on `words[index]`, begun only while that word equals `value`. */
export interface Sleep {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly index: number;
  readonly value: number;
  /** Look again after this many ms, even if nothing happened. */
  readonly atMost?: number;
  /** Wakes here are for all: whoever is behind in line looks for itself. */
  readonly all?: boolean;
  /** Sleep past the operation's end, as a relock after a timeout must. */
  readonly patient?: boolean;
}

/** How a sleep ended. */
export type Woken = "ok" | "not-equal" | "timed-out";

/** A slow path: yields sleeps, is sent their outcomes, returns its result. */
export type Waiting<T> = Generator<Sleep, T, Woken>;

/** What `waitAny` can wait for. */
export interface Waitable {
  /**
   * The path by which `waitAny` waits: true once it is ready. It takes nothing,
   * and passes on the wakes that it used up. A plain name, as no bundler drops
   * an unused class that has a method under a symbol of ours.
   *
   * @internal
   */
  readiness(): Waiting<boolean | undefined>;
}

/** No sleep lasts longer without a look, in ms. */
const LOOK = 1000;

/** Whether `Atomics.wait` is allowed in this agent. */
const MAY_BLOCK = /* @__PURE__ */ probe();

function probe(): boolean {
  try {
    // The word is not 1, so this returns at once or throws.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
}

/** A TypeError naming the async form, where this agent may not block. */
export function assertMayBlock(operation: string): void {
  if (MAY_BLOCK) return;
  throw new TypeError(
    `Cannot block in this agent (a browser's main thread, or an audio ` +
      `worklet): use ${operation}Async`,
  );
}

/** The instant `timeout` ms from now. */
function deadlineAfter(timeout: number): number {
  return timeout === Infinity ? timeout : performance.now() + timeout;
}

// ---- blocking ---------------------------------------------------------------

/**
 * Runs `waiting`, blocking the agent in each sleep, for `timeout` ms at most.
 */
export function block<T>(waiting: Waiting<T>, timeout = Infinity): T {
  assertTimeout(timeout); // for callers that announce nothing before this
  const deadline = deadlineAfter(timeout);
  try {
    let step = waiting.next();
    while (!step.done) step = waiting.next(sleep(step.value, deadline));
    return step.value;
  } finally {
    waiting.return(undefined as never); // if a sleep threw, unwind the path
  }
}

function sleep(
  { words, index, value, atMost = LOOK, patient }: Sleep,
  deadline: number,
): Woken {
  let left = atMost;
  if (deadline !== Infinity && !patient) {
    left = deadline - performance.now();
    if (left <= 0) return "timed-out";
  }
  leaveQueues();
  const woken = Atomics.wait(words, index, value, Math.min(left, atMost));
  return woken === "timed-out" && left >= atMost ? "not-equal" : woken;
}

// ---- awaiting ---------------------------------------------------------------

/** One pending operation: a member of the queue behind its address. */
interface Waiter {
  readonly waiting: Waiting<unknown>;
  readonly deadline: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly ref: boolean;
  readonly signal: AbortSignal | undefined;
  aborted: boolean;
  sleep: Sleep;
  /** When to look again: the operation's deadline, or `atMost`. */
  due: number;
  /** Where it stands in {@linkcode heap}, while it has a time. */
  rank: number;
  queue: Queue | undefined;
  before: Waiter;
  behind: Waiter;
}

/**
 * The waits of this agent on one address. A native wait cannot be withdrawn,
 * and would take wakes from other agents after its operation ended; so there
 * is at most one, for whoever is first in line here.
 */
interface Queue {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly index: number;
  /** Nobody: stands behind the last and before the first. */
  readonly end: Waiter;
  /** Being served: a waiter that sleeps again here stays where it is. */
  serving: boolean;
  /** A native wait is pending; it may outlive the waiters. */
  armed: boolean;
  /** That native wait was woken by {@linkcode leaveQueues}. */
  left: boolean;
}

/** By the bytes from the beginning of a buffer. */
const places = new WeakMap<SharedArrayBuffer, Map<number, Queue>>();
/** Those in {@linkcode places}: with a waiter, or a native wait. */
const queues = new Set<Queue>();

/**
 * Runs the path that `start` gives, awaiting each sleep, until it is done. Any
 * number of paths may be pending in an agent, and the agent may block on the
 * same words meanwhile. The options are checked before `start` is called.
 */
export function blockAsync<T>(
  start: () => Waiting<T>,
  options?: AsyncOptions,
): Promise<T> {
  // Until every caller has moved to `tryBlockAsync`, `timeout` is known here.
  return run(start, options, TRY_ASYNC, Infinity);
}

/** The same, for `timeout` ms at most, which is 0 unless given. */
export function tryBlockAsync<T>(
  start: () => Waiting<T>,
  options?: TryAsyncOptions,
): Promise<T> {
  return run(start, options, TRY_ASYNC, 0);
}

function run<T>(
  start: () => Waiting<T>,
  options: TryAsyncOptions | undefined,
  known: readonly string[],
  timeout: number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    begin(start, readOptions(options, known, timeout), resolve, reject);
  });
}

/** Begins a path: its waiter, unless it ends without a sleep. */
function begin<T>(
  start: () => Waiting<T>,
  { timeout, signal, ref }: ReturnType<typeof readOptions>,
  resolve: (value: T) => void,
  reject: (reason: unknown) => void,
): Waiter | undefined {
  const deadline = deadlineAfter(timeout);
  if (signal?.aborted) throw signal.reason;
  const waiting = start();
  const { done, value } = waiting.next();
  if (done) return void resolve(value);
  const waiter = {
    waiting,
    deadline,
    resolve: resolve as (value: unknown) => void,
    reject,
    ref,
    signal,
    aborted: false,
    sleep: value,
    due: Infinity,
    rank: 0,
    queue: undefined,
  } as unknown as Waiter;
  if (signal !== undefined) listen(signal, waiter);
  hold(ref, 1);
  park(waiter);
  return waiter;
}

/**
 * Runs `paths` side by side until the first of them ends with true, and ends
 * the others: its index, or undefined if all time out.
 */
export function blockAnyAsync(
  paths: readonly (() => Waiting<boolean | undefined>)[],
  options?: TryAsyncOptions,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const checked = readOptions(options, TRY_ASYNC, Infinity);
    const pending = new Map<number, Waiter>();
    let first: number | undefined;
    let left = 0;
    // In a turn of its own: `resume` must not be called within `resume`.
    const settle = (failed?: { reason: unknown }) => {
      if (first !== undefined) resolve(first);
      else if (failed !== undefined) reject(failed.reason);
      else if (--left === 0) return resolve(undefined);
      else return;
      for (const [i, waiter] of pending) {
        pending.delete(i);
        resume(waiter, "timed-out");
      }
    };
    for (let i = 0; i < paths.length && first === undefined; i++) {
      left++;
      new Promise<void>((ended, failed) => {
        const waiter = begin(
          paths[i]!,
          checked,
          (ready) => {
            pending.delete(i);
            if (ready) first ??= i;
            ended();
          },
          (reason) => {
            pending.delete(i);
            failed(reason);
          },
        );
        // It may have ended in `park`.
        if (waiter?.queue !== undefined) pending.set(i, waiter);
      }).then(() => settle(), (reason) => settle({ reason }));
    }
  });
}

let served = 0; // waiters resumed, for the pace of polling

/** Sends `woken` to a waiter's path: it ends, or sleeps again. */
function resume(waiter: Waiter, woken: Woken): void {
  const { waiting, queue, signal, sleep } = waiter;
  served++;
  let step;
  try {
    step = waiting.next(woken);
  } catch (error) {
    finish(waiter);
    return waiter.reject(error);
  }
  const { done, value } = step;
  if (done) {
    finish(waiter);
    if (!waiter.aborted || (value ?? false) !== false) waiter.resolve(value);
    else waiter.reject(signal!.reason);
    return;
  }
  waiter.sleep = value;
  const { words, index } = value;
  if (queue?.serving && words === sleep.words && index === sleep.index) {
    return schedule(waiter); // keeps its place in line
  }
  leave(waiter);
  park(waiter);
}

function finish(waiter: Waiter): void {
  const { ref, signal } = waiter;
  leave(waiter);
  unschedule(waiter);
  hold(ref, -1);
  if (signal !== undefined) unlisten(signal, waiter);
}

/** Puts a waiter in line at the address it sleeps on. */
function park(waiter: Waiter): void {
  const { words, index, value } = waiter.sleep;
  // Behind an armed native wait: any wake after this look reaches that wait.
  if (Atomics.load(words, index) !== value) return resume(waiter, "not-equal");
  const queue = waiter.queue = queueAt(words, index);
  const { end } = queue;
  waiter.before = end.before;
  waiter.behind = end;
  end.before = end.before.behind = waiter;
  schedule(waiter);
  if (!queue.serving && !queue.armed) serve(queue, "not-equal");
}

/** Takes a waiter out of its line, wherever it stands. */
function leave(waiter: Waiter): void {
  const { queue, before, behind } = waiter;
  if (queue === undefined) return;
  before.behind = behind;
  behind.before = before;
  waiter.queue = undefined;
  forget(queue);
}

const addressOf = (words: Int32Array, index: number): number =>
  words.byteOffset + index * 4;

function queueAt(words: Int32Array<SharedArrayBuffer>, index: number): Queue {
  let there = places.get(words.buffer);
  if (there === undefined) places.set(words.buffer, there = new Map());
  const address = addressOf(words, index);
  let queue = there.get(address);
  if (queue === undefined) {
    const end = {} as Waiter;
    queue = { words, index, end, serving: false, armed: false, left: false };
    end.before = end.behind = end;
    end.queue = queue;
    there.set(address, queue);
    queues.add(queue);
  }
  return queue;
}

/** Whether nobody waits there. */
const isEmpty = ({ end }: Queue): boolean => end.behind === end;

/** Unless somebody waits there, or the native wait is pending still. */
function forget(queue: Queue): void {
  const { words, index, armed } = queue;
  if (armed || !isEmpty(queue)) return;
  queues.delete(queue);
  places.get(words.buffer)!.delete(addressOf(words, index));
}

/**
 * Wakes whoever is first in line, and goes on for as long as the word is not
 * what the first in line sleeps on; then arms a native wait for it. One wake
 * of the agent may stand for several of its waiters, and only the look at the
 * word tells: a wake always changes the word. With `anyway` the first one looks
 * for itself whatever the word is.
 */
function serve(queue: Queue, woken: Woken, anyway = woken === "ok"): void {
  queue.serving = true;
  const { end } = queue;
  for (let waiter = end.behind; waiter !== end;) {
    const { behind } = waiter;
    // One that sleeps again here stays: on the same value?
    while (waiter.queue === queue && (anyway || !sleeps(queue, waiter))) {
      resume(waiter, woken);
      woken = "not-equal";
      anyway = false;
    }
    if (waiter.queue === queue && !waiter.sleep.all) break;
    waiter = behind.queue === queue ? behind : end.behind;
  }
  queue.serving = false;
}

/** Whether a waiter's word is as it was, and a wake will come. */
function sleeps(queue: Queue, { sleep: { value } }: Waiter): boolean {
  const { words, index, armed } = queue;
  if (Atomics.load(words, index) !== value) return false;
  if (armed) return true;
  if (typeof Atomics.waitAsync !== "function") return poll();
  const wait = Atomics.waitAsync(words, index, value);
  if (!wait.async) return false;
  queue.armed = true;
  wait.value.then(() => woke(queue));
  return true;
}

function woke(queue: Queue): void {
  const { words, index, left } = queue;
  queue.armed = queue.left = false;
  if (!isEmpty(queue)) return serve(queue, left ? "not-equal" : "ok");
  forget(queue);
  // Everybody here gave up meanwhile: the wake belongs to another agent.
  if (!left) Atomics.notify(words, index, 1);
}

/**
 * Before this agent blocks: takes its native waits out of all lists, as it
 * could not answer their wakes and they would be lost for the time. Other
 * agents woken by this look again and sleep on.
 */
function leaveQueues(): void {
  for (const queue of queues) {
    if (!queue.armed || queue.left) continue;
    queue.left = true;
    Atomics.notify(queue.words, queue.index);
  }
}

// ---- the process's life -------------------------------------------------------

let holds = 0; // operations that keep the process alive
let watch: unknown; // looks each second, and is what keeps the process alive

function hold(ref: boolean, change: 1 | -1): void {
  if (watch === undefined) {
    watch = setInterval(watchOver, LOOK);
    refer(watch, false);
  }
  if (!ref) return;
  holds += change;
  if (holds === 0 || holds === change) refer(watch, holds > 0);
}

/** What Deno has for timers that are numbers. */
type Timers = Record<`${"ref" | "unref"}Timer`, (timer: unknown) => void>;

/** Native waits keep neither Deno nor Node alive; a referenced timer does. */
function refer(timer: unknown, ref: boolean): void {
  const verb = ref ? "ref" : "unref";
  const node = timer as { [verb in "ref" | "unref"]?: () => void };
  if (node[verb] !== undefined) return node[verb]();
  const { Deno } = globalThis as { Deno?: unknown };
  (Deno as Timers | undefined)?.[`${verb}Timer`](timer);
}

/**
 * The look that no wait goes without for more than a second: an agent may have
 * been terminated after its step, and before the wake that changes the word.
 */
function watchOver(): void {
  if (look(true)) return;
  clearInterval(watch as number);
  watch = undefined;
}

/**
 * Looks at the words slept on, or has the first in each line look; false if
 * nobody waits.
 */
function look(anyway: boolean): boolean {
  let waits = false;
  for (const queue of queues) {
    if (isEmpty(queue)) continue;
    waits = true;
    serve(queue, "not-equal", anyway);
  }
  return waits;
}

// ---- timeouts: one timer, and the waits in a heap by time ------------------------

const heap: Waiter[] = [];
let timer: unknown;
let timerDue = Infinity;

const dueAt = (rank: number): number => heap[rank]?.due ?? Infinity;

/** Notes when a waiter must be looked after, having slept anew. */
function schedule(waiter: Waiter): void {
  const { atMost, patient } = waiter.sleep;
  let due = patient ? Infinity : waiter.deadline;
  if (atMost !== undefined) due = Math.min(due, performance.now() + atMost);
  if (due === waiter.due) return;
  unschedule(waiter);
  if (due === Infinity) return;
  waiter.due = due;
  settle(waiter, heap.push(waiter) - 1);
  if (due <= performance.now()) lapse(waiter);
  else setTimer();
}

function unschedule(waiter: Waiter): void {
  if (waiter.due === Infinity) return;
  waiter.due = Infinity;
  const last = heap.pop()!;
  if (last !== waiter) settle(last, waiter.rank);
}

/** Puts a waiter where it belongs in the heap, from `rank` up or down. */
function settle(waiter: Waiter, rank: number): void {
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
function lapse(waiter: Waiter): void {
  const { due, deadline, sleep } = waiter;
  unschedule(waiter);
  resume(waiter, due < deadline || sleep.patient ? "not-equal" : "timed-out");
}

/** Timers fire at the earliest time noted; woken waits leave theirs to pass. */
function setTimer(): void {
  const due = dueAt(0);
  if (due >= timerDue) return;
  clearTimeout(timer as number);
  timerDue = due;
  const delay = Math.min(Math.max(due - performance.now(), 0), 0x7fff_ffff);
  timer = setTimeout(expire, delay);
  refer(timer, false); // the watch keeps the process alive
}

function expire(): void {
  timerDue = Infinity;
  const now = performance.now();
  while (dueAt(0) <= now) lapse(heap[0]!);
  setTimer();
}

// ---- aborts: one listener a signal ----------------------------------------------

const listeners = new WeakMap<AbortSignal, Set<Waiter>>();

function listen(signal: AbortSignal, waiter: Waiter): void {
  let waiters = listeners.get(signal);
  if (waiters === undefined) {
    listeners.set(signal, waiters = new Set());
    signal.addEventListener("abort", onAbort);
  }
  waiters.add(waiter);
}

function unlisten(signal: AbortSignal, waiter: Waiter): void {
  const waiters = listeners.get(signal)!;
  waiters.delete(waiter);
  if (waiters.size > 0) return;
  listeners.delete(signal);
  signal.removeEventListener("abort", onAbort);
}

function onAbort({ currentTarget }: Event): void {
  for (const waiter of listeners.get(currentTarget as AbortSignal)!) {
    waiter.aborted = true;
    resume(waiter, "timed-out");
  }
}

// ---- where waitAsync is missing --------------------------------------------------

let pace = 0; // ms to the next look at the words; 0 if there is to be none

/** Begins to look at the words from a timer. */
function poll(): true {
  if (pace === 0) pollAfter(1);
  return true;
}

function pollAfter(ms: number): void {
  pace = ms;
  refer(setTimeout(pollOnce, ms), false);
}

/**
 * Looks, ever more rarely while nothing happens, up to every 16 ms. Wakes
 * change the word, so none is missed for good.
 */
function pollOnce(): void {
  const before = served;
  if (!look(false)) pace = 0;
  else pollAfter(served === before ? Math.min(pace * 2, 16) : 1);
}
