/**
 * Sleeping by event counts: an epoch that changes when sleepers shall look
 * again, and behind it a count of those who sleep on it, or are about to.
 *
 * The count may be high for ever (an agent was terminated), never low.
 *
 * @module
 */

import { EVENT_COUNT } from "./_layout.ts";
import { spin } from "./_spin.ts";
import {
  type AsyncOptions,
  block,
  blockAsync,
  type Sleep,
  type Waiting,
} from "./_wait.ts";

const WAITERS = EVENT_COUNT.waiters;

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

/** Counts a waiter, which looks once more before it sleeps as told. */
export function announce(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
): Sleep {
  Atomics.add(words, epoch + WAITERS, 1); // (W) announce, then look again
  return { words, index: epoch, value: Atomics.load(words, epoch) };
}

/** Counts it no more. */
export function withdraw(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
): void {
  Atomics.sub(words, epoch + WAITERS, 1);
}

/** Something to wait for, and the epoch that changes when it may have come. */
export interface Awaited<T> {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly epoch: number;
  /** Looks without waiting; undefined if it has not come. */
  attempt(): T | undefined;
  /** Wakes another waiter, if there is more to be had. */
  pass(): void;
}

/** Looks for a while, then blocks up to `timeout` ms; undefined if in vain. */
export function blockOn<T>(it: Awaited<T>, timeout: number): T | undefined {
  const result = timeout > 0 ? spin(() => it.attempt()) : undefined;
  return result ?? block(waitOn(it), timeout);
}

/** As {@linkcode blockOn}, awaiting instead of blocking. */
export function awaitOn<T>(
  it: Awaited<T>,
  options: AsyncOptions | undefined,
): Promise<T | undefined> {
  return blockAsync(() => waitOn(it), options);
}

/** A slow path that waits for it. */
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
