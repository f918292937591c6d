/**
 * Sleeping by event counts. An event count has two words: an epoch, which
 * changes when sleepers must look again, and the number of agents that sleep on
 * the epoch or are about to.
 *
 * The number may stay too high for ever if an agent was terminated, but it is
 * never too low.
 *
 * @module
 */

import type { EVENT_COUNT } from "./_layout.ts";
import { spin } from "./_spin.ts";
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
} from "./_wait.ts";

const WAITERS: typeof EVENT_COUNT.waiters = 1;

/** Wakes up to `n` sleepers of an epoch, if there are any. */
export function wake(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
  n: number,
): void {
  // Pairs with (W): we see the waiter, or it sees what we published.
  if (Atomics.load(words, epoch + WAITERS) === 0) return;
  Atomics.add(words, epoch, 1);
  Atomics.notify(words, epoch, n);
}

/**
 * Counts this agent as a waiter, and returns how to sleep. The caller must look
 * once more before it sleeps.
 */
export function announce(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
): Sleep {
  Atomics.add(words, epoch + WAITERS, 1); // (W) announce, then look again
  return { words, index: epoch, value: Atomics.load(words, epoch) };
}

/** Stops counting this agent as a waiter. */
export function withdraw(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
): void {
  Atomics.sub(words, epoch + WAITERS, 1);
}

/** A result to wait for, and the epoch that changes when it may have come. */
export interface Awaited<T> {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly epoch: number;
  /** Looks once, without waiting; undefined if the result has not come. */
  attempt(): T | undefined;
  /** Wakes another waiter if there is more for it to take. */
  pass(): void;
}

/** Spins for a while, then blocks until the result has come. */
export function blockOn<T>(it: Awaited<T>): T {
  return spinOrBlock(it, undefined)!;
}

/**
 * As {@linkcode blockOn}, but waits at most `timeout` ms; undefined if the
 * result has not come by then. An error message names `operation`.
 */
export function tryBlockOn<T>(
  it: Awaited<T>,
  operation: string,
  timeout: number,
): T | undefined {
  assertTimeout(timeout);
  assertMayBlock(operation);
  return it.attempt() ?? spinOrBlock(it, timeout);
}

function spinOrBlock<T>(
  it: Awaited<T>,
  timeout: number | undefined,
): T | undefined {
  return spin(() => it.attempt()) ?? block(waitOn(it), timeout);
}

/** As {@linkcode blockOn}, awaiting instead of blocking. */
export function awaitOn<T>(
  it: Awaited<T>,
  options: AsyncOptions | undefined,
): Promise<T> {
  return blockAsync(() => waitOn(it), options) as Promise<T>;
}

/** As {@linkcode tryBlockOn}, awaiting instead of blocking. */
export function tryAwaitOn<T>(
  it: Awaited<T>,
  options: TryAsyncOptions | undefined,
): Promise<T | undefined> {
  return tryBlockAsync(() => waitOn(it), options);
}

/** The slow path that waits for the result. */
export function* waitOn<T>(it: Awaited<T>): Waiting<T | undefined> {
  const { words, epoch } = it;
  let result = it.attempt();
  if (result !== undefined) return result;
  try {
    for (;;) {
      const sleep = announce(words, epoch);
      let outcome;
      try {
        result = it.attempt();
        if (result !== undefined) return result;
        outcome = yield sleep;
      } finally {
        withdraw(words, epoch);
      }
      if (outcome === "timed-out") return it.attempt();
    }
  } finally {
    it.pass();
  }
}
