/**
 * All waiting, written once. A slow path is a generator: it yields each sleep
 * that it needs, and is sent how the sleep ended. One driver blocks the agent,
 * the other awaits. So each algorithm is written and proved once.
 *
 * The drivers promise a slow path the following, and it must do its part:
 *
 * - A sleep may end without a reason ("not-equal", "looked"): look again. No
 *   sleep lasts longer than a second, because a wake that was given to a
 *   terminated agent is lost.
 * - "ok" means that a wake was used up. If the path then gives up, it must pass
 *   the wake on.
 * - "timed-out" means that the operation's time is over, or that its signal was
 *   aborted: withdraw the announcement and return `false` or `undefined`. If
 *   the path finds at that moment that it was served, it returns its success
 *   instead, and the caller gets it. So a timeout or an abort loses nothing. If
 *   it sleeps again, that sleep ends at once in the same way, unless it is
 *   patient. So a path of several stages ends in whichever stage it is.
 *
 * @module
 */

import { explorer } from "../_memory/explored.ts";
import { offAbort, onAbort } from "./aborts.ts";
import { countPending } from "./life.ts";
import { leave, park, stay, withdrawAll } from "./line.ts";
import {
  assertTimeout,
  ASYNC,
  type AsyncOptions,
  readOptions,
  TRY_ASYNC,
  type TryAsyncOptions,
} from "../_memory/options.ts";
import { deadlineAfter, unschedule } from "./times.ts";
import { deliver, nextTurn } from "./turn.ts";
import {
  cannotBlock,
  looking,
  MAY_BLOCK,
  PLAYS,
  type Sleep,
  type Waiter,
  type Waiting,
  type Woken,
} from "./waiter.ts";

export {
  assertOptions,
  assertTimeout,
  ASYNC,
  type AsyncOptions,
  TRY_ASYNC,
  type TryAsyncOptions,
} from "../_memory/options.ts";
export type { Sleep, Waiting, Woken } from "./waiter.ts";

/** A source that `waitAny` can wait for. */
export interface Waitable {
  /**
   * The path by which `waitAny` waits; it returns true once the source is
   * ready. It takes nothing, and passes on the wakes that it used up. Its name
   * is not a symbol, because no bundler drops an unused class that has a method
   * under a symbol.
   *
   * @internal
   */
  readiness(awaits?: boolean): Waiting<boolean | undefined>;
}

/** A source at whose ends `select` takes and adds. */
export interface Selectable extends Waitable {
  /**
   * The path that waits at an end until `attempt`, an operation there, returns
   * a result.
   *
   * @internal
   */
  waitAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    awaits?: boolean,
  ): Waiting<T | undefined>;
  /**
   * The gong of an end, in words from the beginning of the buffer; undefined if
   * it has none.
   *
   * @internal
   */
  gongAt?(end: "push" | "pop"): number | undefined;
}

/** Whether this agent may block. */
export const mayBlock = (): boolean => MAY_BLOCK || explorer() !== undefined;

/**
 * Throws a TypeError that names the async form, if this agent may not block.
 */
export function assertMayBlock(operation: string): void {
  if (MAY_BLOCK || explorer() !== undefined) return;
  throw cannotBlock(`${operation}Async`);
}

/** As `assertMayBlock`, for an operation that waits at most `timeout` ms. */
export function assertMayTry(operation: string, timeout: number): void {
  assertTimeout(timeout);
  assertMayBlock(operation);
}

// ---- blocking ---------------------------------------------------------------

/** Runs `waiting`, blocking the agent in each sleep, at most `timeout` ms. */
export function block<T>(waiting: Waiting<T>, timeout = Infinity): T {
  assertTimeout(timeout); // for callers that announce nothing before this
  const deadline = deadlineAfter(timeout);
  try {
    let step = waiting.next();
    while (!step.done) step = waiting.next(sleepUntil(step.value, deadline));
    return step.value;
  } finally {
    waiting.return(undefined as never); // if a sleep threw, unwind the path
  }
}

/** Blocks the agent in one sleep, which ends at `deadline` at the latest. */
export function sleepUntil(
  { words, index, value, atMost = looking.every, patient }: Sleep,
  deadline: number,
): Woken {
  let left = atMost;
  if (deadline !== Infinity && !patient) {
    left = deadline - performance.now();
    if (left <= 0) return "timed-out";
  }
  looking.note?.(words, index);
  withdrawAll();
  const woken = Atomics.wait(words, index, value, Math.min(left, atMost));
  looking.note?.(words);
  return woken === "timed-out" && left >= atMost ? "looked" : woken;
}

// ---- awaiting ---------------------------------------------------------------

/**
 * Runs the path that `start` returns, and awaits each of its sleeps. Any number
 * of paths may be pending in an agent, and the agent may block on the same
 * words meanwhile. The options are checked before `start` is called.
 */
export function blockAsync<T>(
  start: () => Waiting<T>,
  options?: AsyncOptions,
  known = ASYNC,
): Promise<T> {
  return run(start, options, known, Infinity);
}

/** The same, at most `timeout` ms, which is 0 unless given. */
export function tryBlockAsync<T>(
  start: () => Waiting<T>,
  options?: TryAsyncOptions,
  known = TRY_ASYNC,
): Promise<T> {
  return run(start, options, known, 0);
}

type Limits = ReturnType<typeof readOptions>;
type Settle = (value: unknown) => void;

function run<T>(
  start: () => Waiting<T>,
  options: TryAsyncOptions | undefined,
  known: readonly string[],
  defaultTimeout: number,
): Promise<T> {
  let limits, waiting: Waiting<T>, step;
  try {
    limits = readOptions(options, known, defaultTimeout);
    if (limits.signal?.aborted) throw limits.signal.reason;
    if (PLAYS) throw cannotBlock("");
    waiting = start();
    step = waiting.next();
  } catch (error) {
    return new Promise((_, reject) => deliver(reject, error));
  }
  const { done, value } = step;
  if (done) {
    const next = nextTurn();
    return next === undefined ? Promise.resolve(value) : next.then(() => value);
  }
  return new Promise((resolve, reject) => {
    pend(waiting, value, limits, resolve as Settle, reject);
  });
}

/** Makes an operation pending that has begun its first sleep. */
function pend(
  waiting: Waiting<unknown>,
  sleep: Sleep,
  { timeout, signal, ref }: Limits,
  resolve: Settle,
  reject: Settle,
): Waiter {
  const waiter = {
    resume,
    waiting,
    deadline: deadlineAfter(timeout),
    resolve,
    reject,
    ref,
    signal,
    aborted: false,
    stepping: false,
    sleep,
    due: Infinity,
    rank: 0,
    line: undefined,
    run: undefined,
  } as unknown as Waiter;
  if (signal !== undefined) {
    onAbort(signal, waiter, abort);
    // The path's first step ran code of the user's, which aborted it.
    if (signal.aborted) end(waiter);
  }
  countPending(ref, 1);
  park(waiter);
  return waiter;
}

/** Ends the sleep that a waiter begins next, and all that follow. */
function end(waiter: Waiter): void {
  waiter.aborted = true;
  waiter.deadline = -Infinity;
}

/** Sends `woken` to a waiter's path: it ends, or sleeps again. */
function resume(waiter: Waiter, woken: Woken): void {
  // A path that gives up looks at the words after this. So it finds what a wake
  // before this was for, and a later wake reaches another agent.
  if (woken === "timed-out") leave(waiter);
  const { waiting, line, signal, sleep, resolve, reject } = waiter;
  let step;
  waiter.stepping = true;
  try {
    step = waiting.next(woken);
  } catch (error) {
    finish(waiter);
    return deliver(reject, error);
  }
  waiter.stepping = false;
  const { done, value } = step;
  if (done) {
    finish(waiter);
    const served = (value ?? false) !== false;
    if (!waiter.aborted || served) deliver(resolve, value);
    else deliver(reject, signal?.reason); // or by what `cancelAt` put there
    return;
  }
  waiter.sleep = value;
  const { words, index } = value;
  if (line !== undefined && words === sleep.words && index === sleep.index) {
    return stay(waiter, line);
  }
  leave(waiter);
  park(waiter);
}

function finish(waiter: Waiter): void {
  const { ref, signal } = waiter;
  leave(waiter);
  unschedule(waiter);
  countPending(ref, -1);
  if (signal !== undefined) offAbort(signal, waiter);
}

/**
 * Runs `paths` side by side until the first of them ends with true, and ends
 * the others. Resolves with its index, or with undefined if the time is over
 * for all of them. The timeout is `Infinity` unless given.
 */
export function blockAnyAsync(
  paths: readonly (() => Waiting<boolean | undefined>)[],
  options?: TryAsyncOptions,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const limits = readOptions(options, TRY_ASYNC, Infinity);
    const asleep: [Waiting<unknown>, Sleep][] = [];
    try {
      if (limits.signal?.aborted) throw limits.signal.reason;
      if (PLAYS) throw cannotBlock("");
      for (const start of paths) {
        const waiting = start();
        const { done, value } = waiting.next();
        if (!done) asleep.push([waiting, value]);
        else break; // this one is ready: no path needs to sleep
      }
    } catch (error) {
      giveUp(asleep); // what it returns came later
      return deliver(reject, error);
    }
    if (asleep.length < paths.length) {
      const failed = giveUp(asleep);
      if (failed !== undefined) return deliver(reject, failed.reason);
      return deliver(resolve, asleep.length);
    }
    const waiters: Waiter[] = [];
    let left = asleep.length;
    let first: number | undefined;
    // This runs in a microtask of its own, because `resume` must not be called
    // inside `resume`.
    const settle = (failed?: { reason: unknown }) => {
      if (first !== undefined) resolve(first);
      else if (failed !== undefined) reject(failed.reason);
      else if (--left === 0) return resolve(undefined);
      else return;
      for (const waiter of waiters) {
        if (waiter.line === undefined) continue;
        waiter.deadline = -Infinity; // a sleep that follows ends at once
        resume(waiter, "timed-out");
      }
    };
    for (const [i, [waiting, sleep]] of asleep.entries()) {
      new Promise((ended, failed) => {
        waiters.push(pend(waiting, sleep, limits, ended, failed));
      }).then((ready) => {
        if (ready) first ??= i;
        settle();
      }, (reason) => settle({ reason }));
    }
  });
}

/**
 * Ends all paths, which sleep, and each sleep that follows. Returns what the
 * first one threw that failed; undefined if none did.
 */
function giveUp(
  paths: readonly [Waiting<unknown>, Sleep][],
): { reason: unknown } | undefined {
  let failed;
  for (const [waiting] of paths) {
    try {
      while (!waiting.next("timed-out").done);
    } catch (reason) {
      failed ??= { reason };
    }
  }
  return failed;
}

/** Ends an operation, unless it is served already. */
export function abort(waiter: Waiter): void {
  end(waiter);
  // If the path itself has aborted it, it ends at its next sleep.
  if (!waiter.stepping) resume(waiter, "timed-out");
}
