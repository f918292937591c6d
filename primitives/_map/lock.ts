/**
 * The lock of a bucket: its first two words are those of a mutex.
 *
 * @module
 */

import { inherit, lockSlow, unlock } from "../_lock/mutex.ts";
import { spin, spinning } from "../_wait/spin.ts";
import { block, mayBlock } from "../_wait/wait.ts";

const UNLOCKED = 0;
const OWNER_MASK = 0x0fff_ffff; // MUTEX_BITS.OWNER
const HANDOFF_BIT = 0x2000_0000; // MUTEX_BITS.HANDOFF

type Words = Int32Array<SharedArrayBuffer>;

const lockAt = (words: Words, bucket: number): Words =>
  words.subarray(bucket, bucket + 2);

/**
 * Locks a bucket for agent `id`.
 *
 * @throws {TypeError} If the agent holds it, or it stays locked and this agent
 * may not block.
 */
export function lockBucket(words: Words, bucket: number, id: number): void {
  const state = Atomics.compareExchange(words, bucket, UNLOCKED, id);
  if (state !== UNLOCKED) lockBucketSlow(words, bucket, id, state);
}

/** Locks a bucket in whose lock `state` was seen. */
function lockBucketSlow(
  words: Words,
  bucket: number,
  id: number,
  state: number,
): void {
  if ((state & OWNER_MASK) === id) {
    throw new TypeError(
      `Cannot write to a map within its own update: agent ${id} holds the ` +
        "bucket",
    );
  }
  // As a Mutex spins: see there.
  const isLocked = spinning.rounds > 0 && spin(() => {
    const state = Atomics.load(words, bucket);
    if (state & HANDOFF_BIT) return null;
    return state === UNLOCKED &&
      Atomics.compareExchange(words, bucket, state, id) === state;
  });
  if (isLocked) return;
  if (!mayBlock()) {
    throw new TypeError(
      `Cannot write while agent ${state & OWNER_MASK} writes to the same ` +
        "bucket: this agent may not block (a browser's main thread, or an " +
        "audio worklet). Write later, or in a worker",
    );
  }
  block(lockSlow(lockAt(words, bucket), id, state));
}

/**
 * Locks a bucket if nobody holds it or waits for it; returns whether it did.
 */
export function tryLockBucket(
  words: Words,
  bucket: number,
  id: number,
): boolean {
  return Atomics.compareExchange(words, bucket, UNLOCKED, id) === UNLOCKED;
}

/** Unlocks a bucket that agent `id` holds. */
export function unlockBucket(words: Words, bucket: number, id: number): void {
  const state = Atomics.compareExchange(words, bucket, id, UNLOCKED);
  if (state !== id) unlock(lockAt(words, bucket), id);
}

/** Gives a bucket that agent `from` holds to `to`; false if it holds none. */
export function inheritBucket(
  words: Words,
  bucket: number,
  from: number,
  to: number,
): boolean {
  return inherit(lockAt(words, bucket), from, to);
}
