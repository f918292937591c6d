/**
 * Lets producers of tasks wait until there is room for another one.
 *
 * @module
 */

import {
  assertOptions,
  assertSignal,
  assertTimeout,
} from "../_memory/options.ts";

/**
 * A pool has as many tasks that wait as its option `maxQueue` allows. The
 * request was not sent.
 *
 * @example A server that refuses what it cannot do soon
 * ```ts ignore
 * import { QueueFullError } from "@weft/sync/pool";
 *
 * const reply = await pool.run("hash", bytes).catch((error) => error);
 * if (reply instanceof QueueFullError) return new Response(null, { status: 503 });
 * ```
 */
export class QueueFullError extends Error {
  /** `"QueueFullError"`. */
  override readonly name = "QueueFullError";

  /** `most` tasks may wait. */
  constructor(most: number) {
    super(`The queue is full: maxQueue is ${most}`);
  }
}

/** How to wait for room. */
export interface RoomOptions {
  /** Ends the wait: it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest wait in ms, `Infinity` unless given. Then it rejects with a
   * DOMException named `TimeoutError`.
   */
  readonly timeout?: number | undefined;
}

/** Producers that wait. */
export class Producers {
  readonly #isFull: () => boolean;
  /** Wakes each producer that sleeps. */
  readonly #wakes = new Set<() => void>();

  /** Makes a room in which nobody waits. */
  constructor(isFull: () => boolean) {
    this.#isFull = isFull;
  }

  /** Resolves once there is room. */
  async wait(options: RoomOptions | undefined): Promise<void> {
    assertOptions(options, ["signal", "timeout"]);
    const { signal, timeout = Infinity } = options ?? {};
    assertTimeout(timeout);
    assertSignal(signal);
    if (signal?.aborted) throw signal.reason;
    if (!this.#isFull()) return;
    /** Why this producer has given up, if it has. */
    let end: { readonly reason: unknown } | undefined;
    let wake = () => {};
    const giveUp = (reason: unknown) => {
      end ??= { reason };
      wake();
    };
    const abort = () => giveUp(signal!.reason);
    const late = () => giveUp(timeoutError(timeout));
    const timer = timeout === Infinity
      ? undefined
      : setTimeout(late, Math.min(timeout, 0x7fff_ffff));
    signal?.addEventListener("abort", abort);
    try {
      do {
        await new Promise<void>((resolve) => {
          wake = resolve;
          this.#wakes.add(wake);
        });
        this.#wakes.delete(wake);
        // It may have given up when it had been woken, but did not run yet.
        if (end !== undefined) throw end.reason;
      } while (this.#isFull()); // others were first
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Wakes all that wait, if there is room. */
  tell(): void {
    if (this.#wakes.size === 0 || this.#isFull()) return;
    for (const wake of this.#wakes) wake();
    this.#wakes.clear();
  }
}

const timeoutError = (timeout: number): DOMException =>
  new DOMException(
    `There was no room for a task within ${timeout} ms`,
    "TimeoutError",
  );
