/**
 * Sleeping by event counts: an epoch that changes when sleepers shall look
 * again, and behind it a count of those who sleep on it, or are about to.
 *
 * The count may be high for ever (an agent was terminated), never low.
 *
 * @module
 */

import type { Sleep } from "./_wait.ts";

/** The waiters of an epoch are counted in the word behind it. */
const WAITERS = 1;

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
