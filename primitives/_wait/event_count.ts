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

import type { EVENT_COUNT } from "../_memory/layout.ts";
import { strike } from "./gong.ts";
import type { PendingResult } from "./pending.ts";
import type { Sleep } from "./waiter.ts";

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
): boolean {
  // Pairs with (W), as in `wake`.
  const waiters = Atomics.load(words, epoch + WAITERS);
  if (waiters === 0) return true;
  if (!wakeSlow(words, epoch, n, waiters)) return false;
  strike(words, epoch + GONG);
  return true;
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
 * How agents announce themselves at an epoch, where a wake is for one of them
 * or for `all` that an agent has.
 */
export function atEpoch(
  words: Int32Array<SharedArrayBuffer>,
  epoch: number,
  all = false,
): Pick<PendingResult<unknown>, "announce" | "withdraw"> {
  const waiters = epoch + WAITERS;
  return {
    /** Counts this agent as a waiter. */
    announce(awaits: boolean): Sleep {
      // (W) announce, then look again
      const before = Atomics.add(words, waiters, 1);
      if (awaits && before >= 0) Atomics.or(words, waiters, AWAITED_BIT);
      let value = Atomics.load(words, epoch);
      while (value & 1) { // (L) the wakes that are left out end before the look
        const even = value + 1 | 0;
        const seen = Atomics.compareExchange(words, epoch, value, even);
        value = seen === value ? even : seen;
      }
      return { words, index: epoch, value, all };
    },
    /** Stops counting this agent as a waiter. */
    withdraw() {
      const before = Atomics.sub(words, waiters, 1);
      if (before - 1 !== AWAITED_BIT) return;
      Atomics.compareExchange(words, waiters, AWAITED_BIT, 0);
    },
  };
}
