/**
 * The options of a pool, of its tasks and of its end.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import {
  assertOptions,
  assertSignal,
  assertTimeout,
} from "../_memory/options.ts";
import { offsetOf } from "../_memory/memory.ts";
import {
  assertBoolean,
  assertConfig,
  assertFunction,
  inRange,
  type Memory,
} from "../_memory/region.ts";
import type { PoolWorker } from "./crew.ts";
import type { AnyTask, RequestOf, Tasks } from "./task.ts";
import { type Recycle, REPLY_HEAD, REQUEST_HEAD } from "./wire.ts";

/** How a pool is made. */
export interface PoolOptions<T extends Tasks> {
  /** The tasks that its workers do. */
  readonly tasks: T;
  /**
   * How many workers it has; 0 if all workers are threads of C. With `min` and
   * `max`, a worker starts when a task finds no free one, and ends when it
   * idles.
   */
  readonly workers: number | WorkerRange;
  /**
   * With `min` and `max`: after how many ms a worker ends that is not needed,
   * 10,000 unless given. It takes at most twice as long.
   */
  readonly idleTimeout?: number | undefined;
  /**
   * When a worker ends so that another one takes its place; never unless given.
   */
  readonly recycle?: RecycleOptions | undefined;
  /**
   * Makes a worker, whose module calls `servePool`. The pool calls it for each
   * worker, and again when one has died.
   */
  readonly make?: (() => PoolWorker) | undefined;
  /**
   * The most bytes of a request or a result that lies in shared memory; longer
   * ones are sent in messages. Unless given, 65600 in memory of its own, so that
   * 64 KiB and a little fit, and 4096 in `memory`; 2^24 - 64 at most.
   */
  readonly bytes?: number | undefined;
  /** How many tasks fit into shared memory: 1 to 1024; 128 unless given. */
  readonly slots?: number | undefined;
  /**
   * How many tasks a worker finds in shared memory besides those that it
   * does. Unless given, as many as take about four milliseconds. With more, it
   * waits less for the thread that has the pool; with fewer, a task of a high
   * priority begins sooner.
   */
  readonly ahead?: number | undefined;
  /**
   * How many tasks may wait, 0 to 2^30; without a limit unless given. Tasks do
   * not count as waiting as long as workers can do them at once: one task for
   * each worker that there is or may be. Once a worker is ready, it is as many
   * for each as the `limit` of `servePool`. `run` rejects one more with a
   * {@linkcode QueueFullError}; `map` and `room` wait.
   */
  readonly maxQueue?: number | undefined;
  /**
   * What `servePool` gives to the function that makes a worker's functions: any
   * value that a message carries.
   */
  readonly init?: unknown;
  /** How many threads of C serve it, too; 0 unless given. */
  readonly guests?: number | undefined;
  /** Ms in which a worker must call `servePool`; 30,000 unless given. */
  readonly patience?: number | undefined;
  /** Where the pool lies; memory of its own unless given. */
  readonly memory?: Memory | undefined;
  /** Where it begins there, a multiple of 8. */
  readonly byteOffset?: number | bigint | undefined;
}

/** How many workers a pool may have. */
export interface WorkerRange {
  /** The fewest; 0 unless given. */
  readonly min?: number | undefined;
  /** The most. */
  readonly max: number;
}

/**
 * When a worker has done enough. It ends after its task, and the pool makes
 * another one: that bounds what a function leaks.
 */
export interface RecycleOptions {
  /** After this many tasks. */
  readonly tasks?: number | undefined;
  /**
   * When its own heap has more than this many bytes. It looks after a task, at
   * most ten times a second. Only Node, Deno, Bun and Chromium tell it.
   */
  readonly memory?: number | undefined;
}

/** How a task is to be done. */
export interface RunOptions {
  /**
   * Ends the task: the promise rejects with `signal.reason`. A worker that does
   * it goes on until its function returns; the function's signal aborts.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The most ms from now to the result, `Infinity` unless given. Then the
   * promise rejects with a DOMException named `TimeoutError`.
   */
  readonly timeout?: number | undefined;
  /** Tasks with a higher priority begin before others; 0 unless given. */
  readonly priority?: number | undefined;
  /**
   * Whether to terminate the worker, and make another, if the task is aborted
   * while it runs; `false` unless given.
   */
  readonly terminate?: boolean | undefined;
  /**
   * Is called with each value that the function passes to `context.report`, in
   * order, before the promise settles, and as `AsyncLocalStorage` knows it, in
   * the context of this call. What it throws is an uncaught error.
   */
  // deno-lint-ignore no-explicit-any -- whatever the function reports
  readonly onReport?: ((value: any) => void) | undefined;
}

/** A task that runs, and that messages can be sent to. */
export interface TaskHandle<Reply> {
  /** How it ends, as `run` says. */
  readonly result: Promise<Reply>;
  /**
   * Sends a message to the function, which gets it by `context.listen`; false
   * if the task has ended.
   *
   * @throws {DOMException} If a message cannot carry the value.
   */
  send(value: unknown): boolean;
}

/** How to do many tasks. */
export interface MapOptions extends RunOptions {
  /**
   * Whether the results come in the order of the requests, which is so unless
   * given, or as soon as they are there.
   */
  readonly ordered?: boolean | undefined;
  /**
   * How many requests may be taken before their results are; as many as the
   * pool has slots unless given.
   */
  readonly limit?: number | undefined;
}

/** How to close a pool. */
export interface CloseOptions {
  /**
   * Whether tasks that no worker has begun fail with a {@linkcode ClosedError};
   * `false` unless given: then they are done.
   */
  readonly force?: boolean | undefined;
  /**
   * After this many ms the pool ends as by `terminate`; `Infinity` unless
   * given.
   */
  readonly timeout?: number | undefined;
}

/** The arguments of `run` after the name of the task. */
export type RunArgs<T extends AnyTask> = undefined extends RequestOf<T>
  ? [request?: RequestOf<T>, options?: RunOptions]
  : [request: RequestOf<T>, options?: RunOptions];

const OPTIONS = [
  "tasks",
  "workers",
  "idleTimeout",
  "recycle",
  "make",
  "bytes",
  "slots",
  "ahead",
  "maxQueue",
  "init",
  "guests",
  "patience",
  "memory",
  "byteOffset",
] as const;

/** The names of the options of `run`. */
export const RUN = [
  "signal",
  "timeout",
  "priority",
  "terminate",
  "onReport",
] as const;

/** The fewest and the most workers. */
interface Range {
  readonly min: number;
  readonly max: number;
}

/** Checked options of a pool. */
export interface Checked {
  readonly workers: Range;
  readonly idleTimeout: number;
  readonly recycle: Recycle;
  readonly make: (() => PoolWorker) | undefined;
  readonly ahead: number | undefined;
  readonly guests: number;
  readonly patience: number;
  readonly byteOffset: number;
}

/**
 * The options of a pool with their defaults; throws if it cannot follow them.
 */
export function checkedOptions<T extends Tasks>(
  options: PoolOptions<T>,
): Checked {
  const { make, ahead, guests = 0, maxQueue, idleTimeout = 10_000 } = options;
  const { patience = 30_000 } = options;
  const byteOffset = placeOf(options.byteOffset);
  const workers = rangeOf(options.workers);
  const recycle = recycleOf(options.recycle);
  assertTimeout(idleTimeout);
  inRange("guests", guests, 0, 1024);
  if (ahead !== undefined) inRange("ahead", ahead, 0, 1024);
  if (maxQueue !== undefined) inRange("maxQueue", maxQueue, 0, 2 ** 30);
  assertTimeout(patience);
  if (workers.max > 0 && typeof make !== "function") {
    throw new TypeError(
      `make must be a function that makes a Worker: received ${describe(make)}`,
    );
  }
  return {
    workers,
    idleTimeout,
    recycle,
    make,
    ahead,
    guests,
    patience,
    byteOffset,
  };
}

/** Where a pool begins: an address of wasm64 is a bigint. */
function placeOf(byteOffset: number | bigint = 0): number {
  const at = offsetOf(byteOffset);
  if (Number.isInteger(at) && at % 8 === 0) return at;
  const Failure = typeof at === "number" ? RangeError : TypeError;
  throw new Failure(
    `A pool begins at a multiple of 8 bytes: received ${describe(byteOffset)}`,
  );
}

/** The fewest and the most workers; throws if there is no such range. */
export function rangeOf(workers: number | WorkerRange): Range {
  if (typeof workers !== "object" || workers === null) {
    inRange("workers", workers, 0, 1024);
    return { min: workers, max: workers };
  }
  assertConfig("range of workers", workers, ["min", "max"]);
  const { min = 0, max } = workers;
  inRange("workers.max", max, 0, 1024);
  inRange("workers.min", min, 0, max);
  return { min, max };
}

function recycleOf(options: RecycleOptions | undefined): Recycle {
  assertOptions(options, ["tasks", "memory"]);
  const { tasks, memory } = options ?? {};
  if (tasks !== undefined) inRange("recycle.tasks", tasks, 1, 2 ** 31 - 1);
  if (memory !== undefined) {
    inRange("recycle.memory", memory, 1, Number.MAX_SAFE_INTEGER);
  }
  return { tasks: tasks ?? Infinity, memory: memory ?? Infinity };
}

/** The option `bytes` in given memory, of which nobody has too much. */
const BYTES = 4096;
/**
 * The option `bytes` in memory of its own, which costs nothing before it is
 * written to: a message takes ten times as long as such a slot.
 */
const OWN_BYTES = 2 ** 16 + 64;

/**
 * The ring of a pool with these options, in memory of its own or not; throws if
 * one is unknown, or a number is out of range.
 */
export function configOf(
  options: Pick<PoolOptions<Tasks>, "bytes" | "slots">,
  isOwn: boolean,
): { slots: number; request: number; reply: number } {
  assertConfig("pool", options, OPTIONS);
  const { bytes = isOwn ? OWN_BYTES : BYTES, slots = 128 } = options;
  inRange("bytes", bytes, 1, 2 ** 24 - 64);
  const room = Math.ceil(bytes / 8) * 8;
  return { slots, request: REQUEST_HEAD + room, reply: REPLY_HEAD + room };
}

function assertPriority(priority: number): void {
  if (Number.isFinite(priority)) return;
  const Failure = typeof priority === "number" ? RangeError : TypeError;
  throw new Failure(
    `A priority must be a finite number: received ${describe(priority)}`,
  );
}

/** How a task is to be done: all options. */
export interface How {
  readonly signal: AbortSignal | undefined;
  readonly timeout: number;
  readonly priority: number;
  readonly terminate: boolean;
  readonly report: ((value: never) => void) | undefined;
}

/** The options of a task with their defaults; throws if one is wrong. */
export function checkedHow(options: RunOptions): How {
  assertOptions(options, RUN);
  const { signal, timeout = Infinity, priority = 0, terminate = false } =
    options;
  const { onReport: report } = options;
  assertTimeout(timeout);
  assertPriority(priority);
  assertSignal(signal);
  assertBoolean("terminate", terminate);
  if (report !== undefined) assertFunction(report);
  if (signal?.aborted) throw signal.reason;
  return { signal, timeout, priority, terminate, report };
}
