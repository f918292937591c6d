/**
 * A pool of workers, which do typed tasks.
 *
 * @module
 */

// First, for what mod.ts says of zip.
export * as codec from "./_queue/channel/codecs.ts";
import { close } from "./_calls/ring/call.ts";
import { Slots } from "./_calls/ring/slots.ts";
import { bytesFor, checked as ringOf } from "./_calls/ring/words.ts";
import { parent } from "./_worker/parent.ts";
import { CALL_RING } from "./_memory/layout.ts";
import {
  asyncDisposedBy,
  type AsyncDisposer,
  disposedBy,
  type Disposer,
} from "./_memory/dispose.ts";
import { assertOptions } from "./_memory/options.ts";
import {
  assertBoolean,
  attach,
  bufferOf,
  format,
  inNewMemory,
  inRange,
  type Memory,
  wordsAt,
} from "./_memory/region.ts";
import type { PoolEvents } from "./_pool/events.ts";
import { type Job, keep, kept } from "./_pool/jobs.ts";
import type { RoomOptions } from "./_pool/line.ts";
import { mapped, settled } from "./_pool/map.ts";
import {
  checkedOptions,
  type CloseOptions,
  configOf,
  type MapOptions,
  type PoolOptions,
  rangeOf,
  type RunArgs,
  type RunOptions,
  type TaskHandle,
  type WorkerRange,
} from "./_pool/options.ts";
import {
  hear,
  type MakeFunctions,
  placeFrom,
  sayBye,
  servedBy,
  type ServePoolOptions,
  type TaskFunctions,
} from "./_pool/worker/serve.ts";
import type { PoolStats } from "./_pool/stats.ts";
import {
  type ReplyOf,
  type RequestOf,
  specsOf,
  type Tasks,
} from "./_pool/task.ts";
import {
  POSTED_BYTES,
  postedAt,
  REQUEST_HEAD,
  signatureOf,
  tagged,
} from "./_pool/wire.ts";
import { PoolServer, type Served } from "./_pool/worker/server.ts";
import { Works } from "./_pool/whole/works.ts";
import { MAY_BLOCK } from "./_wait/waiter.ts";
import { onExit } from "./_worker/exits.ts";
import { agentId, announceAgent } from "./agent.ts";
import { Event } from "./event.ts";

export { transfer } from "./_calls/beside.ts";
export type {
  CodecOf,
  IsStructured,
  JsonCodec,
  JsonValue,
  ValueCodec,
} from "./_message/codec.ts";
export { inPlace } from "./_message/in_place.ts";
export type { Codec } from "./_message/message.ts";
export type { PoolWorker } from "./_pool/crew.ts";
export type { PoolEvents, WorkerEnded, WorkerStarted } from "./_pool/events.ts";
export { QueueFullError, WorkerError } from "./_pool/errors.ts";
export type {
  CloseOptions,
  MapOptions,
  PoolOptions,
  RecycleOptions,
  RunArgs,
  RunOptions,
  TaskHandle,
  WorkerRange,
} from "./_pool/options.ts";
export type { RoomOptions } from "./_pool/line.ts";
export type {
  MakeFunctions,
  OnlyTask,
  ServePoolOptions,
  TaskFunction,
  TaskFunctions,
} from "./_pool/worker/serve.ts";
export { task } from "./_pool/task.ts";
export type {
  AnyCodec,
  AnyTask,
  ReplyOf,
  RequestOf,
  Task,
  TaskCodec,
  TaskConfig,
  Tasks,
  ValueOf,
} from "./_pool/task.ts";
export type { PoolStats, Times, WorkerStats } from "./_pool/stats.ts";
export type { TaskContext } from "./_pool/worker/context.ts";
export { ClosedError } from "./_queue/queue.ts";
export type { Memory } from "./_memory/region.ts";

// ---- the worker -------------------------------------------------------------

/**
 * Does the tasks of the {@linkcode Pool} that has made this worker, until the
 * pool is closed or needs fewer workers; resolves with how many it did.
 *
 * In place of the functions, a function may stand that makes them of the pool's
 * option `init`; it may be async. A module may stand there, too: if there is
 * only one task, its function may be the module's `default` export.
 *
 * A function gets the request, and a context with an AbortSignal. What it
 * returns or throws goes to where the task was submitted: an error with its
 * name, message, stack, code and cause. What a codec's `decode` leaves in the
 * pool's memory stays there until the function is done.
 *
 * C twin: `weft_pool_serve`.
 *
 * @example A worker
 * ```ts ignore
 * import { servePool } from "@weft/sync/pool";
 * import { createHash } from "node:crypto";
 * import { tasks } from "./tasks.ts";
 *
 * await servePool(tasks, {
 *   hash: (bytes) => createHash("sha256").update(bytes).digest(),
 * });
 * ```
 *
 * @throws {TypeError} If this is not a worker, one of `functions` belongs to no
 * task, an option is unknown or of a wrong type, or the pool has declared a
 * task differently.
 * @throws {RangeError} If `limit` is not an integer from 1 to 1024.
 */
export async function servePool<T extends Tasks>(
  tasks: T,
  functions: TaskFunctions<T> | MakeFunctions<T>,
  options?: ServePoolOptions,
): Promise<number> {
  assertOptions(options, ["blocking", "limit"]);
  const { blocking = false, limit: most = 1 } = options ?? {};
  assertBoolean("blocking", blocking);
  inRange("limit", most, 1, 1024);
  const blocks = blocking && MAY_BLOCK;
  const limit = blocks ? 1 : most;
  const specs = specsOf(tasks);
  const makes = typeof functions === "function";
  let served = makes ? new Map<string, Served>() : servedBy(specs, functions);
  const signatures: Record<string, string> = {};
  for (const [name, it] of makes ? specs : served) {
    signatures[name] = signatureOf(it);
  }
  const to = parent("servePool", "the pool's make");
  const id = await announceAgent();
  const place = await placeFrom(to, { id, tasks: signatures, limit, makes });
  if (makes) {
    served = servedBy(specs, await functions(place.init as never));
    to.postMessage(tagged({ what: "ready" }));
  }
  const done = Event.from(place.done);
  const { buffer } = done;
  let stop = () => {};
  const server = new PoolServer({
    slots: slotsAt(buffer, place.ring.byteOffset),
    tasks: place.names.map((name) => served.get(name)),
    names: place.names,
    number: place.number,
    posted: new Int32Array(buffer, place.posted, 1),
    recycle: place.recycle,
    done: () => done.set(),
    post: (message, list) => to.postMessage(message, list),
    hear: (take) => {
      stop = hear(to, take);
    },
  });
  const count = blocks ? server.serve() : await server.serveAsync(limit);
  stop();
  sayBye(to);
  return count;
}

/** The slots of a ring, as this agent uses them. */
const slotsAt = (memory: Memory, byteOffset: number): Slots =>
  new Slots(
    attach("call_ring", CALL_RING, memory, byteOffset, bytesFor),
    agentId(),
  );

// ---- the pool ---------------------------------------------------------------

/** The bytes that a pool occupies, whose ring has that configuration. */
const lengthOf = (config: ReturnType<typeof configOf>): number =>
  bytesFor(...ringOf(config)) + Event.byteLength() + POSTED_BYTES +
  config.request - REQUEST_HEAD;

/**
 * The base of {@linkcode Pool}: disposing ends its workers.
 *
 * @ignore
 */
export const PoolBase: abstract new () => Disposer & AsyncDisposer =
  /* @__PURE__ */ asyncDisposedBy(
    /* @__PURE__ */ disposedBy(Object, "terminate"),
    "close",
  );

/**
 * A pool of workers, which do typed tasks. It starts no worker itself: `make`
 * does.
 *
 * The requests lie in shared memory, where any worker that is free takes them,
 * several at a wake, and where it writes the results; one wake of this thread
 * brings many of them. Requests for which there is no room wait in this thread,
 * in the order of their priority.
 *
 * It changes shared memory only by steps that `CallRing` and {@linkcode Event}
 * take, too, except for a count of the tasks that were posted: a worker looks
 * for a task only if the count has changed since it found none. Race scenarios
 * prove all of them. So a worker may be terminated anywhere. Its task then
 * fails with a {@linkcode WorkerError}, or is done by another worker if it is
 * `idempotent`, and `make` makes another worker.
 *
 * An idle pool does not keep Node or Bun alive; a task does. In Deno a worker
 * of the web does in any case, until the pool is closed.
 *
 * @example Hashes by four workers
 * ```ts ignore
 * import { codec, Pool, task } from "@weft/sync/pool";
 * import { Worker } from "node:worker_threads";
 *
 * const tasks = { hash: task({ request: codec.binary, reply: codec.binary }) };
 * await using pool = new Pool({
 *   tasks,
 *   workers: 4,
 *   make: () => new Worker(new URL("./worker.js", import.meta.url)),
 * });
 * console.log(await pool.run("hash", Uint8Array.of(1, 2, 3)));
 * ```
 */
export class Pool<T extends Tasks> extends PoolBase {
  /**
   * Resolves when all workers are ready. Rejects with the error of the first
   * that cannot start; the others go on. If there is no other, all tasks fail
   * with that error.
   */
  readonly ready: Promise<void>;

  readonly #done: Event;
  readonly #slots: Slots;
  readonly #works: Works;
  readonly #canMake: boolean;

  /**
   * Makes a pool, and its workers.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type, or memory
   * cannot be shared here.
   * @throws {RangeError} If a number is out of range.
   */
  constructor(options: PoolOptions<T>) {
    super();
    const config = configOf(options, options?.memory === undefined);
    const checked = checkedOptions(options);
    const { byteOffset } = checked;
    const specs = specsOf(options.tasks);
    const ring = ringOf(config);
    const length = bytesFor(...ring);
    const byteLength = lengthOf(config);
    const init = (memory: Memory) => {
      // Checked first, so that a pool that does not fit changes nothing.
      wordsAt("pool", bufferOf(memory), byteOffset, byteLength);
      format("call_ring", CALL_RING, memory, byteOffset, length, ring);
      return memory;
    };
    const memory = options.memory === undefined
      ? inNewMemory(byteLength, init)
      : init(options.memory);
    const done = this.#done = Event.init(memory, byteOffset + length, {
      autoReset: true,
    });
    const postedOffset = byteOffset + length + Event.byteLength();
    const posted = postedAt(done.buffer, postedOffset);
    Atomics.store(posted, 0, 0);
    const slots = this.#slots = slotsAt(memory, byteOffset);
    const { buffer } = done;
    this.#works = new Works({
      specs,
      options: checked,
      maxQueue: options.maxQueue,
      init: options.init,
      ring: {
        handle: { kind: "call_ring", buffer, byteOffset },
        close: () => close(slots.words),
      },
      done,
      posted,
      slots,
      end: byteOffset + byteLength,
      agent: agentId(),
      onExit,
    });
    this.#canMake = typeof checked.make === "function";
    this.ready = Promise.all(this.#works.staff.balance()).then(() => {});
    this.ready.catch(() => {}); // the tasks tell, too
  }

  /**
   * The bytes that a pool with these options occupies in `memory`.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If a number is out of range.
   */
  static byteLength(
    options: Pick<PoolOptions<Tasks>, "bytes" | "slots">,
  ): number {
    return lengthOf(configOf(options, false));
  }

  /**
   * Has a worker do a task; resolves with its result. It rejects
   *
   * - with a TypeError with a path, if the codec cannot carry the request; then
   *   nothing was sent;
   * - with a TypeError that lists the tasks, if there is none of that name;
   * - with what the function threw: an error whole, another value as
   *   `valueCodec` carries it;
   * - with `signal.reason`, or a `TimeoutError`;
   * - with a {@linkcode WorkerError}, if the worker died;
   * - with a {@linkcode QueueFullError}, at once, if `maxQueue` tasks wait;
   * - with a {@linkcode ClosedError}, if the pool was closed.
   *
   * Any number of tasks may wait, unless `maxQueue` was given. A program that
   * makes them faster than they are done awaits {@linkcode Pool.room} before
   * each, or uses {@linkcode Pool.map}.
   */
  run<Name extends keyof T & string>(
    name: Name,
    ...args: RunArgs<T[Name]>
  ): Promise<ReplyOf<T[Name]>>;
  run(
    name: string,
    request?: unknown,
    options?: RunOptions,
  ): Promise<unknown> {
    const promise = new Promise(keep);
    const end = kept();
    try {
      this.#works.enter(name, request, options, end, false);
    } catch (error) {
      end.reject(error);
    }
    return promise;
  }

  /**
   * As {@linkcode Pool.run}, for a task that messages can be sent to while it
   * waits or runs.
   */
  start<Name extends keyof T & string>(
    name: Name,
    ...args: RunArgs<T[Name]>
  ): TaskHandle<ReplyOf<T[Name]>>;
  start(
    name: string,
    request?: unknown,
    options?: RunOptions,
  ): TaskHandle<unknown> {
    const result = new Promise(keep);
    const end = kept();
    let job: Job | undefined;
    try {
      job = this.#works.enter(name, request, options, end, true);
    } catch (error) {
      end.reject(error);
    }
    const send = (value: unknown) => {
      if (job === undefined || job.over) return false;
      job.talk!.send(job.token, value);
      return true;
    };
    return { result, send };
  }

  /**
   * Resolves at once if a task would find room in shared memory or next to it;
   * otherwise when tasks have ended, or the pool has failed. It rejects with
   * `signal.reason`, or a `TimeoutError`.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If `timeout` is NaN or negative.
   */
  room(options?: RoomOptions): Promise<void> {
    return this.#works.producers.wait(options);
  }

  /**
   * Does a task for each request, and yields the results. It takes requests
   * only while there is room. The first error ends it; what it had begun is
   * then aborted, and so it is if the loop is left or the iterator is garbage.
   *
   * @throws {TypeError} If `requests` cannot be iterated, or an option is
   * unknown or of a wrong type.
   * @throws {RangeError} If `limit` is not an integer from 1 to 2^30.
   */
  map<Name extends keyof T & string>(
    name: Name,
    requests: Iterable<RequestOf<T[Name]>> | AsyncIterable<RequestOf<T[Name]>>,
    options?: MapOptions,
  ): AsyncGenerator<ReplyOf<T[Name]>, void, void> {
    return mapped(this.#works.maps.run(name, requests, options, false));
  }

  /**
   * As {@linkcode Pool.map}, but a task that fails ends nothing: it yields for
   * each request `{ status: "fulfilled", value }`, or `{ status: "rejected",
   * reason }`, as `Promise.allSettled` does. An error of the requests
   * themselves, an abort, and the end of the pool end the loop.
   *
   * @throws {TypeError} As `map`.
   * @throws {RangeError} As `map`.
   */
  mapSettled<Name extends keyof T & string>(
    name: Name,
    requests: Iterable<RequestOf<T[Name]>> | AsyncIterable<RequestOf<T[Name]>>,
    options?: MapOptions,
  ): AsyncGenerator<PromiseSettledResult<ReplyOf<T[Name]>>, void, void> {
    return settled(this.#works.maps.run(name, requests, options, true));
  }

  /**
   * Changes how many workers there are, or may be, and how many threads of C,
   * if `guests` is given. Resolves when the new workers are ready, and those
   * that are not needed have ended: in a thread of C, `weft_pool_serve` returns
   * then. You start the new threads of C.
   *
   * @throws {TypeError} If there is no `make`.
   * @throws {RangeError} If a number is not an integer from 0 to 1024, or `min`
   * is more than `max`.
   * @throws {ClosedError} If the pool is closed.
   */
  resize(
    workers: number | WorkerRange,
    guests: number = this.#works.staff.guests,
  ): Promise<void> {
    let resized: Promise<void>;
    try {
      resized = this.#resized(workers, guests);
    } catch (error) {
      return Promise.reject(error);
    }
    resized.catch(() => {}); // the tasks tell, too
    return resized;
  }

  /** Begins to change the number of workers; returns when that is done. */
  #resized(workers: number | WorkerRange, guests: number): Promise<void> {
    const { min, max } = rangeOf(workers);
    inRange("guests", guests, 0, 1024);
    const { ending, staff, crew, rounds } = this.#works;
    ending.assertOpen();
    if (max > staff.max && !this.#canMake) {
      throw new TypeError(
        "Cannot add workers: the pool was made without the option make",
      );
    }
    const ends = staff.resize(min, max, guests);
    rounds.begin(); // there may be more room
    return Promise.all(ends).then(() => crew.left()).then(() => {});
  }

  /**
   * Calls `listener` at each event of that name; returns a function that ends
   * that. What a listener throws is an uncaught error.
   *
   * @throws {TypeError} If there is no such event, or `listener` is no
   * function.
   */
  on<Name extends keyof PoolEvents>(
    event: Name,
    listener: (event: PoolEvents[Name]) => void,
  ): () => void {
    return this.#works.listeners.on(event, listener);
  }

  /** What the pool has done, and does. */
  stats(): PoolStats {
    return this.#works.figures.stats;
  }

  /**
   * Ends what agent `id` did, who is known never to run again. The pool does so
   * itself for workers that `make` has made; call this for a thread of C.
   *
   * @throws {RangeError} If `id` is not an integer from 1 to 2^28 - 1.
   */
  abandon(id: number): void {
    inRange("An agent id", id, 1, 2 ** 28 - 1);
    this.#works.figures.forget(-id);
    this.#slots.abandon(id);
    this.#done.set();
  }

  /**
   * Closes the pool: no task can be submitted from now on; when all tasks have
   * ended, it ends the workers. It may be called again, to close it sooner.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If `timeout` is NaN or negative.
   */
  close(options?: CloseOptions): Promise<void> {
    return this.#works.ending.close(options);
  }

  /**
   * Closes the pool at once: tasks that have not ended fail with a
   * {@linkcode ClosedError}, and the workers are terminated.
   */
  terminate(): void {
    this.#works.ending.terminate();
  }
}
