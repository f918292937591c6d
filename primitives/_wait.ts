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

/** How to await. */
export interface AsyncOptions {
  /** Milliseconds to wait at most, 0 or more; 0 tries once. */
  readonly timeout?: number | undefined;
  /** Ends the wait: it rejects with `signal.reason`, and nothing is lost. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the wait keeps the process alive; `true` unless given. */
  readonly ref?: boolean | undefined;
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

/** The instant `timeout` ms from now; a RangeError if it is no duration. */
function deadlineAfter(timeout: number): number {
  if (timeout === Infinity) return Infinity;
  if (timeout >= 0) return performance.now() + timeout;
  throw new RangeError(
    `A timeout must be 0 ms or more: received ${timeout}`,
  );
}

/** A RangeError unless `timeout` is a duration in ms. */
export function assertTimeout(timeout: number): void {
  if (!(timeout >= 0)) deadlineAfter(timeout);
}

// ---- blocking ---------------------------------------------------------------

/** Runs `waiting`, blocking the agent in each sleep. */
export function block<T>(waiting: Waiting<T>, timeout: number): T {
  const deadline = deadlineAfter(timeout);
  try {
    let step = waiting.next();
    while (!step.done) step = waiting.next(sleep(step.value, deadline));
    return step.value;
  } finally {
    waiting.return(undefined as never); // if a sleep threw, unwind the path
  }
}

function sleep(sleep: Sleep, deadline: number): Woken {
  const { words, index, value, atMost = LOOK, patient } = sleep;
  let left = atMost;
  if (deadline !== Infinity && patient !== true) {
    left = deadline - performance.now();
    if (left <= 0) return "timed-out";
  }
  if (armed.size > 0) leaveQueues();
  const woken = Atomics.wait(words, index, value, Math.min(left, atMost));
  return woken === "timed-out" && left >= atMost ? "not-equal" : woken;
}

// ---- awaiting ---------------------------------------------------------------

/** One pending operation: a member of the queue behind its address. */
interface Waiter {
  readonly waiting: Waiting<unknown>;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly ref: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  sleep: Sleep;
  /** When to look again: the operation's deadline, or `atMost`. */
  due: number;
  /** Where it stands in {@linkcode heap}, or -1. */
  rank: number;
  aborted: boolean;
  queue: Queue | undefined;
  before: Waiter | undefined;
  behind: Waiter | undefined;
}

/**
 * The waits of this agent on one address. A native wait cannot be withdrawn,
 * and would take wakes from other agents after its operation ended; so there
 * is at most one, for whoever is first in line here.
 */
interface Queue {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly index: number;
  readonly address: number;
  first: Waiter | undefined;
  last: Waiter | undefined;
  /** Being served: a waiter that sleeps again here stays where it is. */
  serving: boolean;
  /** A native wait is pending; it may outlive the waiters. */
  armed: boolean;
  /** That native wait was woken by {@linkcode leaveQueues}. */
  left: boolean;
}

const queues = new WeakMap<SharedArrayBuffer, Map<number, Queue>>();
/** Queues with a waiter, for the look each second. */
const busy = new Set<Queue>();
/** Queues with a native wait pending. */
const armed = new Set<Queue>();

/**
 * Runs `waiting`, awaiting each sleep. Any number may be pending in an agent,
 * and the agent may block on the same words meanwhile.
 */
export function blockAsync<T>(
  start: () => Waiting<T>,
  options: AsyncOptions = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    begin(start, options, resolve, reject);
  });
}

/** Begins a path: its waiter, unless it ends without a sleep. */
function begin<T>(
  start: () => Waiting<T>,
  { timeout = Infinity, signal, ref = true }: AsyncOptions,
  resolve: (value: T) => void,
  reject: (reason: unknown) => void,
): Waiter | undefined {
  const deadline = deadlineAfter(timeout);
  if (signal !== undefined) assertSignal(signal);
  if (signal?.aborted) throw signal.reason;
  const waiting = start();
  const step = waiting.next();
  if (step.done) return void resolve(step.value);
  const waiter: Waiter = {
    waiting,
    deadline,
    signal,
    ref,
    resolve: resolve as (value: unknown) => void,
    reject,
    sleep: step.value,
    due: Infinity,
    rank: -1,
    aborted: false,
    queue: undefined,
    before: undefined,
    behind: undefined,
  };
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
  options: AsyncOptions = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
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
          options,
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

/** Checked before a path announces anything, as it could not be unwound. */
function assertSignal(signal: AbortSignal): void {
  if (typeof signal?.addEventListener === "function") return;
  throw new TypeError(`A signal must be an AbortSignal: received ${signal}`);
}

let served = 0; // waiters resumed, for the pace of polling

/** Sends `woken` to a waiter's path: it ends, or sleeps again. */
function resume(waiter: Waiter, woken: Woken): void {
  served++;
  let step;
  try {
    step = waiter.waiting.next(woken);
  } catch (error) {
    leave(waiter);
    finish(waiter);
    return waiter.reject(error);
  }
  if (step.done) {
    leave(waiter);
    finish(waiter);
    const failed = step.value === false || step.value === undefined;
    if (waiter.aborted && failed) return waiter.reject(waiter.signal!.reason);
    return waiter.resolve(step.value);
  }
  waiter.sleep = step.value;
  const { words, index } = step.value;
  const { queue } = waiter;
  if (
    queue?.serving && queue.address === addressOf(words, index) &&
    queue.words.buffer === words.buffer
  ) {
    return schedule(waiter); // keeps its place in line
  }
  leave(waiter);
  park(waiter);
}

/** Puts a waiter in line at the address it sleeps on. */
function park(waiter: Waiter): void {
  const { words, index, value } = waiter.sleep;
  // Behind an armed native wait: any wake after this look reaches that wait.
  if (Atomics.load(words, index) !== value) return resume(waiter, "not-equal");
  const queue = waiter.queue = queueAt(words, index);
  waiter.before = queue.last;
  if (queue.last === undefined) queue.first = waiter;
  else queue.last.behind = waiter;
  queue.last = waiter;
  busy.add(queue);
  schedule(waiter);
  if (waiter.queue === queue && !queue.serving && !queue.armed) {
    serve(queue, "not-equal");
  }
}

/** Takes a waiter out of its line, wherever it stands. */
function leave(waiter: Waiter): void {
  const { queue, before, behind } = waiter;
  if (queue === undefined) return;
  if (before === undefined) queue.first = behind;
  else before.behind = behind;
  if (behind === undefined) queue.last = before;
  else behind.before = before;
  waiter.queue = waiter.before = waiter.behind = undefined;
  if (queue.first !== undefined) return;
  busy.delete(queue);
  if (!queue.armed) forget(queue);
}

const addressOf = (words: Int32Array, index: number): number =>
  words.byteOffset + index * 4;

function queueAt(words: Int32Array<SharedArrayBuffer>, index: number): Queue {
  let places = queues.get(words.buffer);
  if (places === undefined) queues.set(words.buffer, places = new Map());
  const address = addressOf(words, index);
  let queue = places.get(address);
  if (queue === undefined) {
    queue = {
      words,
      index,
      address,
      first: undefined,
      last: undefined,
      serving: false,
      armed: false,
      left: false,
    };
    places.set(address, queue);
  }
  return queue;
}

function forget({ words, address }: Queue): void {
  queues.get(words.buffer)?.delete(address);
}

/**
 * Wakes whoever is first in line, and goes on for as long as the word is not
 * what the first in line sleeps on; then arms a native wait for it. One wake
 * of the agent may stand for several of its waiters, and only the look at the
 * word tells: a wake always changes the word. With `anyway` the first one looks
 * for itself whatever the word is.
 */
function serve(queue: Queue, woken: Woken, anyway = woken === "ok"): void {
  const { words, index } = queue;
  queue.serving = true;
  for (let waiter = queue.first; waiter !== undefined;) {
    const { behind } = waiter;
    const { all, value } = waiter.sleep;
    if (
      !anyway && Atomics.load(words, index) === value &&
      (queue.armed || arm(queue, value))
    ) {
      if (!all) break;
      waiter = behind;
      continue;
    }
    resume(waiter, woken);
    woken = "not-equal";
    anyway = false;
    if (waiter.queue === queue) continue; // sleeps again: on the same value?
    waiter = behind?.queue === queue ? behind : queue.first;
  }
  queue.serving = false;
}

/** Begins a native wait; false if the word is no longer `value`. */
function arm(queue: Queue, value: number): boolean {
  if (typeof Atomics.waitAsync !== "function") return poll();
  const wait = Atomics.waitAsync(queue.words, queue.index, value);
  if (!wait.async) return false;
  queue.armed = true;
  armed.add(queue);
  wait.value.then(() => woke(queue));
  return true;
}

function woke(queue: Queue): void {
  const { left } = queue;
  queue.armed = queue.left = false;
  armed.delete(queue);
  if (queue.first !== undefined) return serve(queue, left ? "not-equal" : "ok");
  forget(queue);
  // Everybody here gave up meanwhile: the wake belongs to another agent.
  if (!left) Atomics.notify(queue.words, queue.index, 1);
}

/**
 * Before this agent blocks: takes its native waits out of all lists, as it
 * could not answer their wakes and they would be lost for the time. Other
 * agents woken by this look again and sleep on.
 */
function leaveQueues(): void {
  for (const queue of armed) {
    if (queue.left) continue;
    queue.left = true;
    Atomics.notify(queue.words, queue.index);
  }
}

// ---- the end of an operation, and the process's life --------------------------

let holds = 0; // operations that keep the process alive
let pending = 0; // all operations
let watch: unknown; // looks each second, and is what keeps the process alive

function hold(ref: boolean, change: 1 | -1): void {
  pending += change;
  if (watch === undefined) {
    watch = setInterval(watchOver, LOOK);
    if (!ref) refer(watch, false);
  }
  if (!ref) return;
  holds += change;
  if (holds === 0 || (holds === 1 && change === 1)) refer(watch, holds > 0);
}

/** Native waits keep neither Deno nor Node alive; a referenced timer does. */
function refer(timer: unknown, ref: boolean): void {
  if (typeof timer === "object" && timer !== null && "ref" in timer) {
    const node = timer as { ref(): void; unref(): void };
    return ref ? node.ref() : node.unref();
  }
  const { Deno } = globalThis as {
    Deno?: { refTimer(id: unknown): void; unrefTimer(id: unknown): void };
  };
  if (ref) Deno?.refTimer(timer);
  else Deno?.unrefTimer(timer);
}

/**
 * The look that no wait goes without for more than a second: an agent may have
 * been terminated after its step, and before the wake that changes the word.
 */
function watchOver(): void {
  if (pending > 0) return look(true);
  clearInterval(watch as number);
  watch = undefined;
}

/** Looks at the words slept on, or has the first in each line look. */
function look(anyway: boolean): void {
  for (const queue of busy) {
    if (!queue.serving) serve(queue, "not-equal", anyway);
  }
}

function finish(waiter: Waiter): void {
  unschedule(waiter);
  hold(waiter.ref, -1);
  if (waiter.signal !== undefined) unlisten(waiter.signal, waiter);
}

// ---- timeouts: one timer, and the waits in a heap by time ---------------------

const heap: Waiter[] = [];
let timer: unknown;
let timerDue = Infinity;

/** Notes when a waiter must be looked after, having slept anew. */
function schedule(waiter: Waiter): void {
  const { atMost, patient } = waiter.sleep;
  let due = patient === true ? Infinity : waiter.deadline;
  if (atMost !== undefined) due = Math.min(due, performance.now() + atMost);
  if (due === waiter.due) return;
  unschedule(waiter);
  if (due === Infinity) return;
  waiter.due = due;
  if (due <= performance.now()) return resume(waiter, outcome(waiter));
  rise(waiter, heap.push(waiter) - 1);
  setTimer();
}

const outcome = ({ sleep, due, deadline }: Waiter): Woken =>
  due < deadline || sleep.patient === true ? "not-equal" : "timed-out";

function unschedule(waiter: Waiter): void {
  const { rank } = waiter;
  waiter.due = Infinity;
  if (rank < 0) return;
  waiter.rank = -1;
  const last = heap.pop()!;
  if (last === waiter) return;
  if (rank > 0 && last.due < heap[rank - 1 >> 1]!.due) rise(last, rank);
  else sink(last, rank);
}

function rise(waiter: Waiter, rank: number): void {
  while (rank > 0) {
    const parent = heap[rank - 1 >> 1]!;
    if (parent.due <= waiter.due) break;
    (heap[rank] = parent).rank = rank;
    rank = rank - 1 >> 1;
  }
  (heap[rank] = waiter).rank = rank;
}

function sink(waiter: Waiter, rank: number): void {
  for (;;) {
    let child = 2 * rank + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.due < heap[child]!.due) {
      child++;
    }
    if (waiter.due <= heap[child]!.due) break;
    (heap[rank] = heap[child]!).rank = rank;
    rank = child;
  }
  (heap[rank] = waiter).rank = rank;
}

/** Timers fire at the earliest time noted; woken waits leave theirs to pass. */
function setTimer(): void {
  const due = heap[0]?.due ?? Infinity;
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
  while (heap.length > 0 && heap[0]!.due <= now) {
    const waiter = heap[0]!;
    const woken = outcome(waiter);
    unschedule(waiter);
    resume(waiter, woken);
  }
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
  const waiters = listeners.get(signal);
  waiters?.delete(waiter);
  if (waiters?.size !== 0) return;
  listeners.delete(signal);
  signal.removeEventListener("abort", onAbort);
}

function onAbort(event: Event): void {
  const signal = event.currentTarget as AbortSignal;
  for (const waiter of [...listeners.get(signal) ?? []]) {
    waiter.aborted = true;
    resume(waiter, "timed-out");
  }
}

// ---- where waitAsync is missing ---------------------------------------------------

let polling = false;
let delay = 0;

/** Begins to look at the words from a timer. */
function poll(): true {
  if (!polling) {
    polling = true;
    delay = 1;
    refer(setTimeout(pollOnce, 0), false);
  }
  return true;
}

/**
 * Looks, ever more rarely while nothing happens, up to every 16 ms. Wakes
 * change the word, so none is missed for good.
 */
function pollOnce(): void {
  const before = served;
  look(false);
  polling = busy.size > 0;
  if (!polling) return;
  delay = served === before ? Math.min(delay * 2, 16) : 1;
  refer(setTimeout(pollOnce, delay), false);
}
