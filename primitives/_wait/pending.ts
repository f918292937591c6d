/**
 * The wait for what another agent does, in four forms, and the loop under them:
 * look, announce, look again, sleep. All that several agents may wait for is
 * waited for by this loop. C has it in `_event_count.h`.
 *
 * @module
 */

import { keeps, keepsAsleep, told } from "../_memory/explored.ts";
import { isAwaited } from "./line.ts";
import { spin } from "./spin.ts";
import {
  assertMayTry,
  type AsyncOptions,
  block,
  blockAsync,
  type Sleep,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./wait.ts";
import type { Woken } from "./waiter.ts";

/**
 * A result to wait for, and what this agent owes to others that wait for it.
 */
export interface PendingResult<T> {
  /** Looks once, without waiting; false or undefined if it has not come. */
  attempt(): T | false | undefined;
  /**
   * Announces that this agent is about to sleep, and returns how to sleep;
   * undefined if it need not sleep. The caller must look once more before it
   * sleeps.
   */
  announce(awaits: boolean): Sleep | undefined;
  /** Withdraws the announcement. */
  withdraw(): void;
  /** Wakes another waiter if there is more for it to take. */
  pass(): void;
  /**
   * Wakes another waiter that may have what this one cannot, if there is one.
   */
  handOn?(): void;
  /**
   * Called about once a second while an agent waits. Returns the ticket that
   * another agent has claimed and not handed on, or undefined, and throws if
   * that is `last`, the answer of the call before.
   */
  stuckAt?(last: number | undefined): number | undefined;
  /**
   * Whether more waiting follows. Then no result is taken once the time is
   * over, or the wait was aborted, because it would have to be given up at
   * once.
   */
  readonly isStage?: boolean;
  /**
   * The address of a line. If it is given, and waits of this agent stand there,
   * this one awaits its turn behind them.
   */
  readonly place?: Place;
}

/** An address at which agents await. */
interface Place {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly index: number;
}

/** Spins for a while, then blocks until the result has come. */
export function blockOn<T>(it: PendingResult<T>): T {
  return spinOrBlock(it, undefined)!;
}

/**
 * As {@linkcode blockOn}, but waits at most `timeout` ms; undefined if the
 * result has not come by then. An error message names `operation`.
 */
export function tryBlockOn<T>(
  it: PendingResult<T>,
  operation: string,
  timeout: number,
): T | undefined {
  assertMayTry(operation, timeout);
  const result = it.attempt();
  if (result !== false && result !== undefined) return result;
  return spinOrBlock(it, timeout);
}

function spinOrBlock<T>(
  it: PendingResult<T>,
  timeout: number | undefined,
): T | undefined {
  return spin(() => it.attempt()) ?? block(waitOn(it, false), timeout);
}

/** As {@linkcode blockOn}, awaiting instead of blocking. */
export function awaitOn<T>(
  it: PendingResult<T>,
  options: AsyncOptions | undefined,
): Promise<T> {
  return blockAsync(() => inTurn(it), options) as Promise<T>;
}

/** As {@linkcode tryBlockOn}, awaiting instead of blocking. */
export function tryAwaitOn<T>(
  it: PendingResult<T>,
  options: TryAsyncOptions | undefined,
): Promise<T | undefined> {
  // Who does not wait looks at once.
  const path = (options?.timeout ?? 0) > 0 ? inTurn : waitOn;
  return tryBlockAsync(() => path(it), options);
}

/** As `waitOn`, behind the waits of this agent that began before it. */
export function inTurn<T>(it: PendingResult<T>): Waiting<T | undefined> {
  const { place } = it;
  const isBehind = place !== undefined && isAwaited(place.words, place.index);
  return isBehind ? behindOthers(it, place) : waitOn(it);
}

function* behindOthers<T>(
  it: PendingResult<T>,
  place: Place,
): Waiting<T | undefined> {
  const sleep: Sleep = { ...place, value: 0, turn: true };
  // It counts as a waiter: who gives up before it passes on what there is.
  it.announce(true);
  try {
    for (let outcome: Woken = "ok"; outcome !== "not-equal";) {
      outcome = yield sleep;
      if (outcome === "timed-out") return undefined;
    }
  } finally {
    it.withdraw();
  }
  return yield* waitOn(it); // it stands first
}

/**
 * The slow path that waits for the result. It may do so by awaiting unless
 * told.
 */
export function* waitOn<T>(
  it: PendingResult<T>,
  awaits = true,
): Waiting<T | undefined> {
  let result = it.attempt();
  if (result !== false && result !== undefined) return result;
  let stuck: number | undefined;
  try {
    for (let outcome;;) {
      if (told.explored) keeps("pending", !outcome, stuck);
      const sleep = it.announce(awaits);
      if (told.explored) keeps("waiter", !outcome, stuck, sleep?.value);
      try {
        result = it.attempt();
        if (result !== false && result !== undefined) {
          if (told.explored) keeps("taken", result);
          return result;
        }
        if (outcome !== undefined) it.handOn?.();
        if (told.explored && sleep) keepsAsleep("pending", stuck);
        outcome = sleep && (yield sleep);
      } finally {
        it.withdraw();
      }
      if (outcome === "looked") stuck = it.stuckAt?.(stuck);
      if (outcome !== "timed-out") continue;
      result = it.isStage ? undefined : it.attempt();
      return result === false ? undefined : result;
    }
  } finally {
    it.pass();
  }
}
