/**
 * Waits until one of several primitives is ready.
 *
 * @module
 */

import { describe, describeAny } from "./_memory/describe.ts";
import { assertOptions } from "./_memory/options.ts";
import { assertTogether, blockAny, boutAt } from "./_wait/gong.ts";
import {
  assertTimeout,
  blockAnyAsync,
  type TryAsyncOptions,
  type Waitable,
} from "./_wait/wait.ts";

export type { AsyncOptions, TryAsyncOptions, Waitable } from "./_wait/wait.ts";

/**
 * Waits until one of `sources` is ready, and returns its index; `undefined` if
 * `timeout` ms passed first. Unless a timeout is given, it waits without a
 * limit. It takes nothing from any source. So another agent may take what was
 * ready before the caller does; then the caller waits again.
 *
 * ```text
 * queues, RecordRing, Channel, Subscription  a pop or receive would return at
 *                          once: with an element, or because it was closed
 * Semaphore                a permit is free
 * Event                    it is set; with manual reset, also if it was set
 *                          while this waited
 * Latch, WorkCounter       it is open; all tasks are done
 * WaitGroup                its count is 0, or was 0 while this waited
 * ```
 *
 * A channel of capacity 0 is ready if a sender waits in `send`. A sender that
 * waits in `select` does not count. It waits for a receiver; this only looks.
 *
 * Locks cannot be sources: a lock that is free now may be taken before the
 * caller locks it. Only the consumer of a queue with one consumer may wait for
 * it.
 *
 * If several sources are ready at the call, the first of the list wins: put the
 * most important one first, or rotate the list from call to call if all are
 * equally important. Otherwise, the source that is ready first wins.
 *
 * Invariant: when a wait ends, in any way, no source counts it any more. A wake
 * that it used up is passed on if there is something left to take.
 * Progress: it awaits, and never blocks the agent. An agent that is terminated
 * while it waits delays others by at most a second, for a wake it was given.
 * Fairness: that of each source. Waiting here gives no place in a source's
 * line.
 * C twin: `weft_wait_any` of `waitAny.blocking`. Source: Go's `select`, with
 * the order of poll(2).
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
 * @throws {TypeError} If `sources` is not an array, a source cannot be waited
 * for, or an option is unknown or of a wrong type.
 * @throws {RangeError} If there is no source, or the timeout is negative or
 * NaN.
 * @throws {DamagedError} As `waitAny.blocking`.
 */
export const waitAny: WaitAny = /* @__PURE__ */ Object.assign(
  waitAnyAsync,
  { blocking: waitAnyBlocking },
);

/** The type of {@linkcode waitAny}. */
export interface WaitAny {
  /** Awaits: see {@linkcode waitAny}. */
  (
    sources: readonly Waitable[],
    options?: TryAsyncOptions,
  ): Promise<number | undefined>;
  /**
   * As `waitAny`, blocking instead of awaiting. The sources are queues, rings
   * or channels, all in one SharedArrayBuffer, attached by the same object.
   * Others are a TypeError.
   *
   * @throws {TypeError} Also if this agent may not block, or if the queues lie
   * in several buffers.
   * @throws {DamagedError} If an agent died between claiming a slot of an
   * `MpmcQueue` and publishing it, or if words are damaged.
   */
  blocking(
    sources: readonly Waitable[],
    options?: BlockAnyOptions,
  ): number | undefined;
}

/** How `waitAny.blocking` and `select.blocking` wait. */
export interface BlockAnyOptions {
  /** The longest wait, in ms; `Infinity` unless given. */
  readonly timeout?: number | undefined;
}

function assertSources(sources: readonly Waitable[]): void {
  if (!Array.isArray(sources)) {
    throw new TypeError(
      `waitAny needs an array of sources: received ${describe(sources)}`,
    );
  }
  if (sources.length === 0) {
    throw new RangeError("waitAny needs a source: received none");
  }
  [...sources].forEach((source: Waitable, i) => {
    if (typeof source?.readiness === "function") return;
    throw new TypeError(
      `Cannot wait for source ${i}: expected a queue, ring, channel, ` +
        "subscription, semaphore, event, latch, wait group or work counter: " +
        "received " +
        describeAny(source),
    );
  });
}

async function waitAnyAsync(
  sources: readonly Waitable[],
  options?: TryAsyncOptions,
): Promise<number | undefined> {
  assertSources(sources);
  const paths = sources.map((source) => () => source.readiness());
  return await blockAnyAsync(paths, options);
}

function waitAnyBlocking(
  sources: readonly Waitable[],
  options?: BlockAnyOptions,
): number | undefined {
  assertSources(sources);
  assertOptions(options, ["timeout"]);
  const { timeout = Infinity } = options ?? {};
  assertTimeout(timeout);
  const bouts = sources.map((source, i) =>
    boutAt(source, "pop", `source ${i}`, () => source.readiness(false))
  );
  assertTogether(bouts, "waitAny");
  return blockAny(bouts, timeout);
}
