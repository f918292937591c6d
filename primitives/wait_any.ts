/**
 * Waiting for the first of several.
 *
 * @module
 */

import { type AsyncOptions, blockAnyAsync, type Waitable } from "./_wait.ts";

export type { AsyncOptions, Waitable } from "./_wait.ts";

/**
 * Waits until one of `sources` is ready: its index, or undefined if `timeout`
 * passed. Nothing is taken from any of them. So what was ready may be gone by
 * the time the caller tries to take it, if others take from it, too: then it
 * waits again.
 *
 * ```text
 * queues, RecordRing, Channel, Subscription  a pop or receive would end at
 *                          once: with an element, or as it was closed
 * Semaphore                a permit is free
 * Event                    it is set, or, reset manually, was set meanwhile
 * Latch, WorkCounter       it is open, all is done
 * ```
 *
 * Locks are none of these: that one is free is worth nothing until it is held.
 * A queue of one consumer is waited for by that consumer.
 *
 * Ready at the call, the first in the list comes first: put what matters most
 * in front, or turn the list around from call to call where all matter as much.
 * While it waits, the first to become ready does.
 *
 * Invariant: a wait that ends, in whichever way, is counted nowhere any more,
 * and a wake that it used up is passed on where there is something left.
 * Progress: awaits; it never blocks the agent. An agent terminated while it
 * waits costs others at most a second for a wake it was given.
 * Fairness: that of each source; waiting here is no place in line to take.
 * C twin: none; C waits for one at a time. Source: Go's `select`, with the
 * order of poll(2).
 *
 * @example Work, until told to stop
 * ```ts
 * import { Event, MpmcQueue, waitAny } from "@weft/sync";
 *
 * const stop = Event.create();
 * const jobs = MpmcQueue.create({ capacity: 8 });
 * for (const job of [1, 2, 3]) jobs.tryPushInt(job);
 * let sum = 0;
 * for (;;) {
 *   if ((await waitAny([stop, jobs])) === 0) break;
 *   sum += jobs.tryPopInt() ?? 0; // another consumer may have been faster
 *   if (sum === 6) stop.set();
 * }
 * ```
 *
 * @throws {TypeError} If a source cannot be waited for.
 * @throws {RangeError} If there is none, or `timeout` is negative or NaN.
 */
export async function waitAny(
  sources: readonly Waitable[],
  options?: AsyncOptions,
): Promise<number | undefined> {
  if (sources.length === 0) {
    throw new RangeError("waitAny needs a source: received none");
  }
  const paths = sources.map((source, i) => {
    if (typeof source?.readiness === "function") {
      return () => source.readiness();
    }
    throw new TypeError(
      `Cannot wait for source ${i}: expected a queue, ring, channel, ` +
        "subscription, semaphore, event, latch or work counter: received " +
        `${Object.prototype.toString.call(source)}`,
    );
  });
  return await blockAnyAsync(paths, options);
}
