/**
 * The errors of a pool.
 *
 * @module
 */

/**
 * The worker of a task has died, or a worker could not start. The message names
 * its exit code, and `cause` is what it threw, as far as these are known.
 *
 * @example A task that ends its worker
 * ```ts ignore
 * import { WorkerError } from "@weft/sync/pool";
 *
 * const error = await pool.run("crash", 1).catch((error) => error);
 * if (error instanceof WorkerError) console.log(error.message, error.cause);
 * ```
 */
export class WorkerError extends Error {
  /** `"WorkerError"`. */
  override readonly name = "WorkerError";
}

/** How a worker has died, as far as it is known. */
export interface Death {
  /** What it threw outside of all tasks. */
  readonly error: unknown;
  /** With which code it exited. */
  readonly code: number | undefined;
}

/** The error that tells of a death. */
export function deathOf(what: string, dead: Death | undefined): WorkerError {
  const { error: cause, code } = dead ?? { error: undefined, code: undefined };
  const how = code === undefined ? "" : ` (exit code ${code})`;
  const options = cause === undefined ? undefined : { cause };
  return new WorkerError(what + how, options);
}

/**
 * A pool has as many tasks that wait as its option `maxQueue` allows. The
 * request was not sent.
 *
 * @example A server that refuses what it cannot do soon
 * ```ts ignore
 * import { QueueFullError } from "@weft/sync/pool";
 *
 * const reply = await pool.run("hash", bytes).catch((error) => error);
 * if (reply instanceof QueueFullError) {
 *   return new Response(null, { status: 503 });
 * }
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

/** The error of a task that had no result in time. */
export const timeoutError = (timeout: number): DOMException =>
  new DOMException(
    `The task had no result within ${timeout} ms`,
    "TimeoutError",
  );
