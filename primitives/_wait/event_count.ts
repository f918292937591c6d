/**
 * Sleeping by event counts. An event count has two words: an epoch, which
 * changes when sleepers must look again, and the number of agents that sleep on
 * the epoch or are about to.
 *
 * The number may stay too high for ever if an agent was terminated, but it is
 * never too low.
 *
 * An odd epoch says that a wake is on its way. Until the waiter that it reaches
 * runs, further wakes for one are left out: that waiter looks after all that
 * was published before, and wakes the next one if there is more to be had. So
 * an agent that publishes a hundred times in a row wakes once. Where a waiter
 * awaits, none is left out, as its agent may be busy for long.
 *
 * Progress: if the waiter that a wake reached is terminated before it runs, the
 * epoch stays odd, and wakes for one are left out until another agent announces
 * itself, or a sleeper looks, as each does once a second. That one makes the
 * epoch even, looks, and passes the wake on if there is more to be had. So the
 * death delays the other sleepers by a second at most.
 * Wrap: a wake and the look after it, or a wake for all, add 2, and epochs are
 * compared for equality. An agent oversleeps only if exactly a multiple of 2^31
 * such pairs come between its announcement and its sleep, and then by a second
 * at most.
 *
 * @module
 */

import type { EVENT_COUNT } from "../_layout.ts";
import { strike } from "./gong.ts";
import { spin } from "./spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type Sleep,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./wait.ts";

const WAITERS: typeof EVENT_COUNT.waiters = 1;
/** Where the end of a queue has its gong. */
const GONG: typeof EVENT_COUNT.gong = 2;
/** In the count: one of the waiters awaits, or did. */
const AWAITED_BIT = -0x8000_0000; // WAITERS_BITS.AWAITED

/** How many waiters an epoch has. */
export function waitersOf(words: Int32Array, epoch: number): number {
  return Atomics.load(words, epoch + WAITERS) & ~AWAITED_BIT;
}

/**
 * Wakes up to `n` sleepers of an epoch, if there are any. False if it was left
 * to a wake that is on its way.
 */
export function wake(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
  n: number,
): boolean {
  // Pairs with (W): we see the waiter, or it sees what we published.
  const waiters = Atomics.load(words, epoch + WAITERS);
  return waiters === 0 || wakeSlow(words, epoch, n, waiters);
}

/** As {@linkcode wake}, for the end of a queue, which has a gong. */
export function wakeEnd(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
  n: number,
): void {
  // Pairs with (W), as in `wake`.
  const waiters = Atomics.load(words, epoch + WAITERS);
  if (waiters !== 0 && wakeSlow(words, epoch, n, waiters)) {
    strike(words, epoch + GONG);
  }
}

function wakeSlow(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
  n: number,
  waiters: number,
): boolean {
  if (n === Infinity || waiters < 0) Atomics.add(words, epoch, 2);
  else {
    const even = Atomics.load(words, epoch);
    if (even & 1) return false; // whoever makes it even looks after that: (L)
    // If it changed just now, somebody looks after that, too.
    const seen = Atomics.compareExchange(words, epoch, even, even + 1 | 0);
    if (seen !== even) return false;
  }
  Atomics.notify(words, epoch, n);
  return true;
}

/**
 * Counts this agent as a waiter, and returns how to sleep. The caller must look
 * once more before it sleeps.
 */
export function announce(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
  awaits: boolean,
): Sleep {
  // (W) announce, then look again
  const before = Atomics.add(words, epoch + WAITERS, 1);
  if (awaits && before >= 0) Atomics.or(words, epoch + WAITERS, AWAITED_BIT);
  let value = Atomics.load(words, epoch);
  while (value & 1) { // (L) the wakes that are left out end before the look
    const even = value + 1 | 0;
    const seen = Atomics.compareExchange(words, epoch, value, even);
    value = seen === value ? even : seen;
  }
  return { words, index: epoch, value };
}

/** Stops counting this agent as a waiter. */
export function withdraw(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
): void {
  const before = Atomics.sub(words, epoch + WAITERS, 1);
  if (before - 1 !== AWAITED_BIT) return;
  Atomics.compareExchange(words, epoch + WAITERS, AWAITED_BIT, 0);
}

/** A result to wait for, and the epoch that changes when it may have come. */
export interface PendingResult<T> {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly epoch: number;
  /** Looks once, without waiting; undefined if the result has not come. */
  attempt(): T | undefined;
  /** Wakes another waiter if there is more for it to take. */
  pass(): void;
  /** Wakes another waiter that may have what this one cannot, if there is one. */
  handOn?(): void;
  /** An agent that is woken looks for all of its waiters. */
  readonly all?: boolean;
  /**
   * Whether more waiting follows. Then no result is taken once the time is over,
   * or the wait was aborted, because it would have to be given up at once.
   */
  readonly isStage?: boolean;
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
  assertTimeout(timeout);
  assertMayBlock(operation);
  return it.attempt() ?? spinOrBlock(it, timeout);
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
  return blockAsync(() => waitOn(it), options) as Promise<T>;
}

/** As {@linkcode tryBlockOn}, awaiting instead of blocking. */
export function tryAwaitOn<T>(
  it: PendingResult<T>,
  options: TryAsyncOptions | undefined,
): Promise<T | undefined> {
  return tryBlockAsync(() => waitOn(it), options);
}

/**
 * The slow path that waits for the result. It may do so by awaiting unless
 * told.
 */
export function* waitOn<T>(
  it: PendingResult<T>,
  awaits = true,
): Waiting<T | undefined> {
  const { words, epoch } = it;
  let result = it.attempt();
  if (result !== undefined) return result;
  try {
    for (let outcome;;) {
      const sleep = announce(words, epoch, awaits);
      try {
        result = it.attempt();
        if (result !== undefined) return result;
        if (outcome !== undefined) it.handOn?.();
        outcome = yield it.all === true ? { ...sleep, all: true } : sleep;
      } finally {
        withdraw(words, epoch);
      }
      if (outcome === "timed-out") return it.isStage ? undefined : it.attempt();
    }
  } finally {
    it.pass();
  }
}
