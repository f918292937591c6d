/**
 * A pool of workers, which do typed tasks.
 *
 * @module
 */

import {
  bytesFor,
  ID_MASK,
  PHASE_MASK,
  REPLIED,
  SERVING,
  Slots,
} from "./_call_slots.ts";
import { json, type JsonValue } from "./_codec.ts";
import { describe } from "./_describe.ts";
import { asyncDisposedBy, disposedBy } from "./_dispose.ts";
import { CALL_RING } from "./_layout.ts";
import type { Codec } from "./_message.ts";
import { assertOptions, assertSignal, assertTimeout } from "./_options.ts";
import { Crew, type Member, type PoolWorker } from "./_pool_crew.ts";
import {
  Chunks,
  copy,
  Job,
  type JobEnd,
  JobQueue,
  type Spec,
} from "./_pool_jobs.ts";
import { inPlace, inPlaceResult } from "./_pool_in_place.ts";
import { assertIterable, type Doer, mapped, MapRun } from "./_pool_map.ts";
import { Histogram, type Times } from "./_pool_times.ts";
import {
  clock,
  ELSEWHERE,
  ERROR,
  fieldOf,
  GUEST,
  type Hello,
  isTagged,
  LAZY,
  type Long,
  MOST_TASKS,
  NO_REQUEST,
  NOTHING,
  type Place,
  POSTED_BYTES,
  postedAt,
  REPLY_HEAD,
  REQUEST_HEAD,
  RETIRE,
  RETIRED,
  Rooms,
  signatureOf,
  STAYS,
  tagged,
  THROWN,
  VALUE,
} from "./_pool_wire.ts";
import { PoolServer, type Served, type TaskContext } from "./_pool_worker.ts";
import { ClosedError } from "./_queue.ts";
import {
  allocate,
  assertBoolean,
  assertConfig,
  attach,
  bufferOf,
  inRange,
  type Memory,
  wordsAt,
} from "./_region.ts";
import { spin } from "./_spin.ts";
import { errorOf } from "./_thrown.ts";
import { nextTurn } from "./_turn.ts";
import { readUtf8 } from "./_utf8.ts";
import { MAY_BLOCK } from "./_waiter.ts";
import { agentId, announceAgent, onAgentExit } from "./agent.ts";
import { CallRing } from "./call_ring.ts";
import { Event } from "./event.ts";

export * as codec from "./_codec.ts";
export type { JsonValue } from "./_codec.ts";
export type { Codec } from "./_message.ts";
export type { PoolWorker } from "./_pool_crew.ts";
export { inPlace } from "./_pool_in_place.ts";
export type { Times } from "./_pool_times.ts";
export type { TaskContext } from "./_pool_worker.ts";
export { ClosedError } from "./_queue.ts";
export type { Memory } from "./_region.ts";

// ---- tasks --------------------------------------------------------------------

/** A kind of task: what goes to the worker, and what comes back. */
export interface Task<Request, Reply> {
  /** Carries the request; `codec.json` unless given. */
  readonly request: Codec<Request>;
  /** Carries the result; `codec.json` unless given. */
  readonly reply: Codec<Reply>;
  /**
   * Whether it may be done again if its worker dies; `false` unless given.
   */
  readonly idempotent?: boolean;
}

/** A kind of task, whatever goes there and comes back. */
// deno-lint-ignore no-explicit-any
export type AnyTask = Task<any, any>;

/** The tasks of a pool by their names. */
export interface Tasks {
  /** A task, which `task` made. */
  readonly [name: string]: AnyTask;
}

/** The request of a task. */
export type RequestOf<T extends AnyTask> = T extends
  { readonly request: Codec<infer Request> } ? Request : never;

/** The result of a task. */
export type ReplyOf<T extends AnyTask> = T extends
  { readonly reply: Codec<infer Reply> } ? Reply : never;

/**
 * Declares a kind of task. The program that has the pool and its workers import
 * the same declarations.
 *
 * @example Bytes to bytes, and values of types of yours
 * ```ts
 * import { codec, task } from "@weft/sync/pool";
 *
 * interface Job {
 *   width: number;
 *   name: string;
 * }
 * const tasks = {
 *   compress: task({ request: codec.binary, reply: codec.binary }),
 *   draw: task<Job, string[]>({ idempotent: true }), // as JSON
 * };
 * console.log(Object.keys(tasks)); // compress, draw
 * ```
 *
 * @throws {TypeError} If a name is unknown, a codec is none, or `idempotent` is
 * no boolean.
 */
export function task<Request = JsonValue, Reply = JsonValue>(
  config: Partial<Task<Request, Reply>> = {},
): Task<Request, Reply> {
  assertConfig("task", config, ["request", "reply", "idempotent"]);
  const { request = json, reply = json, idempotent = false } = config;
  assertBoolean("idempotent", idempotent);
  return {
    request: codecOf<Request>("request", request),
    reply: codecOf<Reply>("reply", reply),
    idempotent,
  };
}

function codecOf<T>(of: string, codec: unknown): Codec<T> {
  const it = codec as Codec<T> | null;
  if (
    typeof it?.name === "string" && typeof it.encode === "function" &&
    typeof it.decode === "function"
  ) return it;
  throw new TypeError(
    `The codec of a ${of} must be codec.json or another of codec, or your ` +
      `own { name, encode, decode }: received ${describe(codec)}`,
  );
}

function specsOf(tasks: Tasks): Map<string, Spec> {
  if (typeof tasks !== "object" || tasks === null) {
    throw new TypeError(
      `Tasks must be an object of tasks by name: received ${describe(tasks)}`,
    );
  }
  const specs = new Map<string, Spec>();
  for (const [name, declared] of Object.entries(tasks)) {
    if (typeof declared !== "object" || declared === null) {
      throw new TypeError(
        `Task ${name} must be made by task(): received ${describe(declared)}`,
      );
    }
    const { idempotent = false, ...it } = declared;
    const request = codecOf(`request of task ${name}`, it.request);
    const given = codecOf(`reply of task ${name}`, it.reply);
    const reply = given === inPlace ? inPlaceResult : given;
    specs.set(name, {
      name,
      index: specs.size,
      request,
      reply,
      requestField: fieldOf(request),
      replyField: fieldOf(reply),
      idempotent,
    });
  }
  if (specs.size > 0 && specs.size < MOST_TASKS) return specs;
  throw new TypeError(
    `A pool has 1 to ${MOST_TASKS - 1} tasks: received ${specs.size}`,
  );
}

// ---- the worker -----------------------------------------------------------------

/** The functions of a worker: one for each task, or for some of them. */
export type TaskFunctions<T extends Tasks> = {
  readonly [Name in keyof T]?: (
    request: RequestOf<T[Name]>,
    context: TaskContext,
  ) => ReplyOf<T[Name]> | Promise<ReplyOf<T[Name]>>;
};

/** How to serve a pool. */
export interface ServePoolOptions {
  /**
   * Whether to block while there are no tasks, so that a task begins sooner;
   * `false` unless given. Then the functions must not be async, and the worker
   * has no timers, messages or debugger until the pool is closed.
   */
  readonly blocking?: boolean | undefined;
  /**
   * How many tasks may run at a time; 1 unless given. More are of use only if
   * functions await something.
   */
  readonly limit?: number | undefined;
}

/** The worker's end of the messages. */
interface Parent {
  postMessage(message: unknown): void;
  on?(event: "message", listener: (data: unknown) => void): void;
  off?(event: "message", listener: (data: unknown) => void): void;
  addEventListener?(
    event: "message",
    listener: (event: MessageEvent) => void,
  ): void;
  removeEventListener?(
    event: "message",
    listener: (event: MessageEvent) => void,
  ): void;
}

function parent(): Parent {
  const scope = globalThis as unknown as Parent & {
    process?: {
      getBuiltinModule?(name: string): { parentPort?: Parent | null };
    };
    document?: unknown;
    Bun?: { isMainThread: boolean };
    WorkerGlobalScope?: unknown;
  };
  const threads = scope.process?.getBuiltinModule?.("node:worker_threads");
  const port = threads?.parentPort;
  if (typeof port?.on === "function") return port;
  if (scope.WorkerGlobalScope || scope.Bun?.isMainThread === false) {
    return scope;
  }
  throw new TypeError(
    "servePool must be called in a worker, which the pool's make has made " +
      "(in Node: 20.16 or newer)",
  );
}

/** Says hello to the pool, and returns where to serve. */
function placeFrom(parent: Parent, tasks: Record<string, string>, id: number) {
  return new Promise<Place>((resolve, reject) => {
    const take = (data: unknown) => {
      if (!isTagged(data)) return;
      if (data.what === "place") resolve(data);
      else if (data.what === "refused") reject(new TypeError(data.why));
      else return;
      if (parent.off !== undefined) parent.off("message", take);
      else parent.removeEventListener?.("message", heard);
    };
    const heard = ({ data }: MessageEvent) => take(data);
    if (parent.on !== undefined) parent.on("message", take);
    else parent.addEventListener?.("message", heard);
    parent.postMessage(tagged({ what: "hello", id, tasks }));
  });
}

/**
 * Does the tasks of the {@linkcode Pool} that has made this worker, until the
 * pool is closed or needs fewer workers; resolves with how many it did.
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
 * @throws {TypeError} If this is no worker, `functions` has one that is of no
 * task, an option is unknown or of a wrong type, or the pool has declared a
 * task differently.
 * @throws {RangeError} If `limit` is not an integer from 1 to 1024.
 */
export async function servePool<T extends Tasks>(
  tasks: T,
  functions: TaskFunctions<T>,
  options?: ServePoolOptions,
): Promise<number> {
  assertOptions(options, ["blocking", "limit"]);
  const { blocking = false, limit = 1 } = options ?? {};
  assertBoolean("blocking", blocking);
  inRange("limit", limit, 1, 1024);
  const served = servedBy(specsOf(tasks), functions);
  const signatures: Record<string, string> = {};
  for (const [name, it] of served) signatures[name] = signatureOf(it);
  const to = parent();
  const place = await placeFrom(to, signatures, await announceAgent());
  const done = Event.from(place.done);
  const server = new PoolServer({
    slots: slotsAt(place.ring.buffer, place.ring.byteOffset),
    tasks: place.names.map((name) => served.get(name)),
    names: place.names,
    number: place.number,
    posted: place.posted,
    done: () => done.set(),
    post: (message) => to.postMessage(message),
  });
  return blocking && MAY_BLOCK
    ? server.serve()
    : await server.serveAsync(limit);
}

function servedBy(
  specs: Map<string, Spec>,
  functions: Readonly<Record<string, unknown>>,
): Map<string, Served> {
  if (typeof functions !== "object" || functions === null) {
    throw new TypeError(
      `servePool needs an object of functions: received ${describe(functions)}`,
    );
  }
  const served = new Map<string, Served>();
  for (const [name, run] of Object.entries(functions)) {
    if (run === undefined) continue;
    const spec = specs.get(name);
    if (spec === undefined) {
      throw new TypeError(
        `There is no task ${JSON.stringify(name)}: there are ${
          [...specs.keys()].join(", ")
        }`,
      );
    }
    if (typeof run !== "function") {
      throw new TypeError(
        `Task ${name} needs a function: received ${describe(run)}`,
      );
    }
    served.set(name, { ...spec, run: run as Served["run"] });
  }
  if (served.size > 0) return served;
  throw new TypeError("servePool needs an object of functions: it has none");
}

const slotsAt = (memory: Memory, byteOffset: number): Slots =>
  new Slots(
    attach("call_ring", CALL_RING, memory, byteOffset, bytesFor),
    agentId(),
  );

// ---- the pool -------------------------------------------------------------------

/** How a pool is made. */
export interface PoolOptions<T extends Tasks> {
  /** The tasks that its workers do. */
  readonly tasks: T;
  /** How many workers it has; 0 if all workers are threads of C. */
  readonly workers: number;
  /**
   * Makes a worker, whose module calls `servePool`. The pool calls it for each
   * worker, and again when one has died.
   */
  readonly make?: () => PoolWorker;
  /**
   * The most bytes of a request, and of a result that is not sent in a message;
   * 4096 unless given, 2^24 - 64 at most.
   */
  readonly bytes?: number | undefined;
  /** How many tasks fit into shared memory: 1 to 1024; 128 unless given. */
  readonly slots?: number | undefined;
  /**
   * How many tasks a worker finds in shared memory besides the one that it
   * does. Unless given, as many as take about four milliseconds. With more, it
   * waits less for the thread that has the pool; with fewer, a task of a high
   * priority begins sooner.
   */
  readonly ahead?: number | undefined;
  /** How many threads of C serve it, too; 0 unless given. */
  readonly guests?: number | undefined;
  /** Ms in which a worker must call `servePool`; 30,000 unless given. */
  readonly patience?: number | undefined;
  /** Where the pool lies; memory of its own unless given. */
  readonly memory?: Memory | undefined;
  /** Where it begins there, a multiple of 8. */
  readonly byteOffset?: number | undefined;
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

/** The arguments of `run` after the name of the task. */
export type RunArgs<T extends AnyTask> = undefined extends RequestOf<T>
  ? [request?: RequestOf<T>, options?: RunOptions]
  : [request: RequestOf<T>, options?: RunOptions];

/** What one worker does. */
export interface WorkerStats {
  /** Whether it does a task now, waits for one, or has yet to start. */
  readonly state: "starting" | "busy" | "idle";
  /** Tasks that it has done. */
  readonly tasks: number;
  /** Ms in which it did at least one task. */
  readonly busy: number;
  /** Ms since it became ready in which it did none. */
  readonly idle: number;
  /** `busy` as a share of both, from 0 to 1. */
  readonly share: number;
}

/** What a pool has done, and does. */
export interface PoolStats {
  /** Tasks that wait: no worker has begun them. */
  readonly waiting: number;
  /** Tasks that a worker does now. */
  readonly running: number;
  /** Tasks that ended with a result. */
  readonly done: number;
  /** Tasks that ended with an error; those that were aborted are among them. */
  readonly failed: number;
  /** Workers that died, or could not start. */
  readonly died: number;
  /**
   * The workers that `make` has made, and that are not dead; behind them the
   * threads of C that have done a task. `busy` of such a thread has only the
   * tasks that it has ended.
   */
  readonly workers: readonly WorkerStats[];
  /** From the submission of a task until a worker begins it, in ms. */
  readonly wait: Times;
  /** From then until its result is there, in ms. */
  readonly run: Times;
}

/**
 * The worker of a task has died, or a worker could not start. `cause` is what
 * it threw, as far as it is known.
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

/** A task that ended this many workers is not done again. */
const MOST_DEATHS = 3;
/** A pool whose workers die so often without a task has no use for more. */
const MOST_LOSSES = 3;
/**
 * In shared memory lie tasks for so many ms, unless told otherwise. On a busy
 * machine, the thread that has the pool waits for a core for as long.
 */
const AHEAD = 4;
/** Requests of pools for more bytes wait in slots, as far as there are any. */
const LONG = 4096;
/** Workers may tell of results together that took so many ms. */
const TOGETHER = 1;
/** This agent looks for results that often, in ms, if workers tell of several. */
const LATEST = 2;
/**
 * A sweep that has found something ends behind so many tasks that have no
 * result.
 */
const MISSES = 8;

/**
 * The base of {@linkcode Pool}: disposing ends its workers.
 *
 * @ignore
 */
export const PoolBase: abstract new () => Disposable & AsyncDisposable =
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
 * It changes shared memory only by steps that {@linkcode CallRing} and
 * {@linkcode Event} take, too, except for a count of the tasks that were posted:
 * a worker looks for a task only if the count has changed since it found none.
 * Race scenarios prove all of them. So a worker may be terminated anywhere. Its
 * task then fails with a {@linkcode WorkerError}, or is done by another worker
 * if it is `idempotent`, and `make` makes another worker.
 *
 * An idle pool does not keep Node or Bun alive; a task does. In Deno a worker of
 * the web does in any case, until the pool is closed.
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

  readonly #specs: Map<string, Spec>;
  readonly #slots: Slots;
  readonly #ring: CallRing;
  readonly #done: Event;
  /** How many tasks were posted; workers look at slots when it changes. */
  readonly #posted: Int32Array<SharedArrayBuffer>;
  readonly #rooms: Rooms;
  readonly #crew: Crew;
  readonly #make: (() => PoolWorker) | undefined;
  /** How many threads of C there are to be. */
  #guests: number;
  /** Threads of C that have done a task, by their negated ids. */
  readonly #seen = new Map<number, Guest>();
  readonly #ahead: number | undefined;

  /** How many workers there are to be. */
  #workers = 0;
  /** Workers that died in a row before they took a task. */
  #losses = 0;
  #died = 0;
  /** Why it cannot do any task: it was closed, or all workers are lost. */
  #failure: unknown;
  #closing: Promise<void> | undefined;

  /**
   * Where a request is written that cannot be posted yet. It lies behind all
   * else, because a codec may look at whose memory it writes to.
   */
  readonly #scratch: Uint8Array;
  readonly #chunks = new Chunks();
  readonly #queue = new JobQueue();
  /** Jobs that have a slot; those that are over are taken out by a sweep. */
  #flying: Job[] = [];
  #slotted = 0;
  /** Jobs that wait and whose request lies in a slot. */
  #parked = 0;
  /** How many jobs may have a slot now. */
  #most = 0;
  /** Wakes since the last microtask, and jobs posted without one. */
  #wakes = 0;
  #quiet = 0;
  #filling = false;
  /** Jobs posted as lazy in a row, and those that have a slot. */
  #row = 0;
  #lazy = 0;
  /** Jobs whose reply comes in a message, and messages that came before. */
  readonly #late = new Map<number, Job>();
  readonly #early = new Map<number, Long>();
  /** The jobs of each signal: one listener serves all. */
  readonly #signals = new Map<AbortSignal, Set<Job>>();
  #collecting = false;
  #looking: ReturnType<typeof setTimeout> | undefined;
  #settled: (() => void)[] = [];
  #roomy: (() => void)[] = [];
  /** The runs of `map` that may take requests. */
  #mapRuns: readonly MapRun<Plan>[] = [];
  #tokens = 0;
  /** Half of the tasks take so many ms; 0 if nothing is known yet. */
  #typical = 0;

  #count = { done: 0, failed: 0 };
  readonly #waits = new Histogram();
  readonly #runs = new Histogram();

  /**
   * Makes a pool, and its workers.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type, or memory
   * cannot be shared here.
   * @throws {RangeError} If a number is out of range.
   */
  constructor(options: PoolOptions<T>) {
    super();
    assertConfig("pool", options, OPTIONS);
    const { tasks, workers, make, ahead, guests = 0 } = options;
    const { patience = 30_000, byteOffset = 0 } = options;
    this.#specs = specsOf(tasks);
    inRange("workers", workers, 0, 1024);
    inRange("guests", guests, 0, 1024);
    if (ahead !== undefined) inRange("ahead", ahead, 0, 1024);
    assertTimeout(patience);
    if (workers > 0 && typeof make !== "function") {
      throw new TypeError(
        `make must be a function that makes a Worker: received ${
          describe(make)
        }`,
      );
    }
    const config = configOf(options);
    const length = CallRing.byteLength(config);
    const byteLength = Pool.byteLength(options);
    const memory = options.memory ?? allocate(byteLength);
    if (byteOffset % 8 !== 0) {
      throw new RangeError(
        `A pool begins at a multiple of 8 bytes: received ${byteOffset}`,
      );
    }
    // Checked first, so that a pool that does not fit changes nothing.
    wordsAt("pool", bufferOf(memory), byteOffset, byteLength);
    this.#ring = CallRing.init(memory, byteOffset, config);
    this.#done = Event.init(memory, byteOffset + length, { autoReset: true });
    this.#posted = postedAt(
      this.#done.buffer,
      byteOffset + length + Event.byteLength(),
    );
    Atomics.store(this.#posted, 0, 0);
    this.#slots = slotsAt(memory, byteOffset);
    this.#rooms = new Rooms(this.#slots, this.#posted, agentId());
    const { room } = this.#rooms;
    const scratchAt = byteOffset + byteLength - room;
    this.#scratch = new Uint8Array(this.#posted.buffer, scratchAt, room);
    this.#make = make;
    this.#guests = guests;
    this.#ahead = ahead;
    this.#crew = new Crew({
      make: () => this.#make!(),
      hello: (member, hello) => this.#greet(member, hello),
      long: (message) => this.#arrive(message),
      ended: (member) => this.#bury(member),
      failed: (_, error) => this.#miss(error),
      onExit: onAgentExit,
    }, patience);
    this.ready = this.#grow(workers);
    this.ready.catch(() => {}); // the tasks tell, too
  }

  /**
   * The bytes that a pool with these options occupies.
   *
   * @throws {RangeError} If a number is out of range.
   */
  static byteLength(
    options: Pick<PoolOptions<Tasks>, "bytes" | "slots">,
  ): number {
    const config = configOf(options);
    return CallRing.byteLength(config) + Event.byteLength() + POSTED_BYTES +
      config.request - REQUEST_HEAD;
  }

  /**
   * Has a worker do a task; resolves with its result. It rejects
   *
   * - with a TypeError with a path, if the codec cannot carry the request, or a
   *   RangeError if the request is too long; then nothing was sent;
   * - with a TypeError that lists the tasks, if there is none of that name;
   * - with what the function threw: an error whole, another value as JSON;
   * - with `signal.reason`, or a `TimeoutError`;
   * - with a {@linkcode WorkerError}, if the worker died;
   * - with a {@linkcode ClosedError}, if the pool was closed.
   *
   * Any number of tasks may wait. A program that makes them faster than they
   * are done awaits {@linkcode Pool.room} before each, or uses
   * {@linkcode Pool.map}.
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
    const end = kept!;
    try {
      const spec = this.#specs.get(name);
      if (spec === undefined) throw this.#unknown(name);
      const how = options && checkedHow(options);
      this.#submit(spec, request, how, end);
    } catch (error) {
      end.reject(error);
    }
    return promise;
  }

  /**
   * Resolves at once if a task would find room in shared memory or next to it;
   * otherwise when tasks have ended.
   */
  async room(): Promise<void> {
    while (
      this.#failure === undefined && this.#queue.size >= this.#slots.count
    ) {
      await new Promise<void>((resolve) => this.#roomy.push(resolve));
    }
  }

  /**
   * Does a task for each request, and yields the results. It takes requests
   * only while there is room. The first error ends it; what it had begun is
   * then aborted, and so it is if the loop is left.
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
    assertOptions(options, [...RUN, "ordered", "limit"]);
    const { ordered = true, limit = this.#slots.count, ...rest } = options ??
      {};
    inRange("limit", limit, 1, 2 ** 30);
    assertBoolean("ordered", ordered);
    assertIterable(requests);
    const { signal, ...how } = rest;
    assertSignal(signal);
    const config = { ordered, limit, signal };
    const plan = () => this.#planOf(name, how);
    return mapped(new MapRun(requests, config, this.#doer, plan));
  }

  /**
   * Changes how many workers there are, and how many threads of C, if `guests`
   * is given. Resolves when the new workers are ready, and those that are not
   * needed have ended their tasks: in a thread of C, `weft_pool_serve` returns
   * then. You start the new threads of C.
   *
   * @throws {TypeError} If there is no `make`.
   * @throws {RangeError} If `workers` or `guests` is not an integer from 0 to
   * 1024.
   */
  async resize(
    workers: number,
    guests: number = this.#guests,
  ): Promise<void> {
    inRange("workers", workers, 0, 1024);
    inRange("guests", guests, 0, 1024);
    if (this.#failure !== undefined) throw this.#failure;
    if (workers > this.#workers && this.#make === undefined) {
      throw new TypeError(
        "Cannot add workers: the pool was made without the option make",
      );
    }
    const ends: Promise<unknown>[] = [];
    while (this.#guests > guests) {
      this.#guests--;
      ends.push(this.#retire(true));
    }
    this.#guests = guests;
    if (workers > this.#workers) ends.push(this.#grow(workers - this.#workers));
    while (this.#workers > workers) {
      this.#workers--;
      ends.push(this.#retire());
    }
    await Promise.all(ends);
  }

  /** What the pool has done, and does. */
  stats(): PoolStats {
    const now = clock();
    const running = new Map<number, number>(); // the earliest, by worker
    let begun = 0;
    const guests = new Set<number>(); // those that do a task now
    for (const { at, over, since } of this.#flying) {
      if (over || !this.#isServed(at)) continue;
      begun++;
      guests.add(-(Atomics.load(this.#slots.words, at) & ID_MASK));
      const began = this.#rooms.time(at, 0);
      if (began === 0) continue; // its worker has not written it yet
      const number = this.#rooms.worker(at);
      const first = running.get(number) ?? Infinity;
      running.set(number, Math.min(Math.max(began, since), first));
    }
    const workers = [...this.#crew.members].map((member): WorkerStats => {
      const { state, number, tasks } = member;
      if (state === "starting") {
        return { state, tasks, busy: 0, idle: 0, share: 0 };
      }
      const since = running.get(number);
      const life = Math.max(now - member.since, 0);
      const current = since === undefined ? 0 : Math.max(now - since, 0);
      const busy = Math.min(member.busy + current, life);
      return {
        state: since === undefined ? "idle" : "busy",
        tasks,
        busy,
        idle: life - busy,
        share: life === 0 ? 0 : busy / life,
      };
    });
    for (const [number, { tasks, busy, since }] of this.#seen) {
      const state = guests.has(number) ? "busy" : "idle";
      const life = Math.max(now - since, busy);
      const share = life === 0 ? 0 : busy / life;
      workers.push({ state, tasks, busy, idle: life - busy, share });
    }
    return {
      waiting: this.#queue.size + this.#slotted - begun,
      running: begun,
      ...this.#count,
      died: this.#died,
      workers,
      wait: this.#waits.times,
      run: this.#runs.times,
    };
  }

  /**
   * Ends what agent `id` did, who is known never to run again. The pool does so
   * itself for workers that `make` has made; call this for a thread of C.
   *
   * @throws {RangeError} If `id` is not an integer from 1 to 2^28 - 1.
   */
  abandon(id: number): void {
    inRange("An agent id", id, 1, 2 ** 28 - 1);
    this.#seen.delete(-id);
    this.#slots.abandon(id);
    this.#done.set();
  }

  /**
   * Closes the pool: no task can be submitted from now on; when all tasks have
   * ended, it ends the workers.
   */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /**
   * Closes the pool at once: tasks that have not ended fail with a
   * {@linkcode ClosedError}, and the workers are terminated.
   */
  terminate(): void {
    this.#fail(new ClosedError("The pool is closed"));
    void this.#end();
  }

  async #close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settled.push(resolve);
      this.#tellSettled();
    });
    this.#failure ??= new ClosedError("The pool is closed");
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#ring.close();
    const members = [...this.#crew.members];
    await Promise.all(members.map((member) => this.#crew.stop(member)));
  }

  // ---- workers ------------------------------------------------------------------

  async #grow(workers: number): Promise<void> {
    this.#workers += workers;
    const starts = Array.from({ length: workers }, () => this.#crew.start());
    await Promise.all(starts);
  }

  #greet(member: Member, { tasks }: Hello): void {
    for (const [name, signature] of Object.entries(tasks)) {
      const spec = this.#specs.get(name);
      if (spec === undefined) continue; // for another pool
      const expected = signatureOf(spec);
      if (signature === expected) continue;
      throw new TypeError(
        `Task ${
          JSON.stringify(name)
        } is declared as ${expected} by the pool, ` +
          `and as ${signature} by its worker`,
      );
    }
    member.since = clock();
    member.worker!.postMessage(tagged({
      what: "place",
      ring: this.#ring.handle,
      done: this.#done.handle,
      posted: this.#posted,
      number: member.number,
      names: [...this.#specs.keys()],
    }));
    this.#fill();
  }

  /** A worker has ended that was ready. */
  #bury(member: Member): void {
    const lost = this.#slots.abandon(member.id);
    this.#sweep(member);
    this.#done.set(); // the collector looks what is left
    if (member.state === "gone") return;
    this.#died++;
    this.#losses = lost > 0 || member.tasks > 0 ? 0 : this.#losses + 1;
    if (this.#losses >= MOST_LOSSES) {
      this.#workers--;
      return this.#miss(deathOf("A worker ended without a task", member), 0);
    }
    this.#replace();
  }

  #replace(): void {
    if (this.#failure !== undefined) return;
    if (this.#crew.size >= this.#workers) return;
    this.#crew.start().catch(() => {}); // `#miss` is called, too
  }

  /** A worker could not start. */
  #miss(error: unknown, missing = 1): void {
    if (this.#failure !== undefined) return;
    this.#died += missing;
    this.#workers -= missing;
    if (this.#agents === 0) this.#fail(error);
  }

  /** From now on, all tasks fail. */
  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const job of this.#flying) this.#drop(job, error);
    for (const job of this.#late.values()) this.#drop(job, error);
    for (let job; (job = this.#queue.take()) !== undefined;) {
      this.#settle(job);
      this.#count.failed++;
      job.end.reject(error, job);
    }
    this.#tellSettled();
  }

  /** Ends a worker, or a thread of C, when it has done its task. */
  #retire(guest = false): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const token = this.#nextToken();
      const now = clock();
      const end = { resolve, reject };
      const job = new Job(undefined, token, Infinity, now, end);
      job.guest = guest;
      this.#begin(job);
    });
  }

  // ---- tasks --------------------------------------------------------------------

  #unknown(name: string): TypeError {
    return new TypeError(
      `There is no task ${describe(name)}: there are ${
        [...this.#specs.keys()].join(", ")
      }`,
    );
  }

  /** What `map` does with each request. */
  #planOf(name: string, options: RunOptions): Plan {
    const spec = this.#specs.get(name);
    if (spec === undefined) throw this.#unknown(name);
    const given = Object.values(options).some((it) => it !== undefined);
    return { spec, how: given ? checkedHow(options) : undefined };
  }

  /** Has the requests of `map` done. */
  readonly #doer: Doer<Plan> = {
    hasRoom: () =>
      this.#queue.size > 0
        ? this.#queue.size < this.#slots.count
        : this.#slotted < this.#most,
    submit: (request, run) => {
      const { spec, how } = run.plan;
      return this.#submit(spec, request, how, run);
    },
    join: (run) => {
      this.#mapRuns = [...this.#mapRuns, run];
      this.#fill();
    },
    fill: () => this.#fill(),
    drop: (run, reason) => {
      for (const jobs of [this.#flying, this.#late.values(), this.#queue]) {
        for (const job of jobs) if (job.end === run) this.#drop(job, reason);
      }
    },
    leave: (run) => {
      this.#mapRuns = this.#mapRuns.filter((it) => it !== run);
    },
  };

  #submit(
    spec: Spec,
    request: unknown,
    how: How | undefined,
    end: JobEnd,
  ): Job {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closing !== undefined) {
      throw new ClosedError("The pool is closed");
    }
    const job = new Job(
      spec,
      this.#nextToken(),
      how === undefined ? 0 : how.priority,
      clock(),
      end,
    );
    // First of all: it may refuse the request.
    if (!this.#postFirst(job, spec, request)) this.#enqueue(job, spec, request);
    if (how !== undefined) this.#heed(job, how);
    this.#startCollecting();
    return job;
  }

  /** Sees to it that a job ends as it was told. */
  #heed(job: Job, { signal, timeout, terminate }: How): void {
    job.terminate = terminate;
    if (timeout !== Infinity) {
      const late = () => this.#drop(job, timeoutError(timeout));
      job.timer = setTimeout(late, Math.min(timeout, 0x7fff_ffff));
    }
    if (signal !== undefined) this.#listen(job.signal = signal, job);
  }

  #nextToken(): number {
    return this.#tokens = this.#tokens + 1 | 0;
  }

  #startCollecting(): void {
    if (this.#collecting) return;
    this.#collecting = true;
    void this.#collect();
  }

  /** Posts an order, or puts it in line. */
  #begin(job: Job): void {
    if (this.#queue.size > 0 || !this.#post(job)) this.#queue.put(job);
    this.#startCollecting();
  }

  // ---- requests -----------------------------------------------------------

  /** Posts a job that was submitted just now; false if it must wait. */
  #postFirst(job: Job, spec: Spec, request: unknown): boolean {
    if (this.#queue.size > 0) return false;
    if (this.#slotted === 0) this.#measureRoom();
    const at = this.#claim();
    if (at === 0) return false;
    let length = 0;
    try {
      if (request === undefined) job.empty = true;
      else length = this.#write(at, job, spec, request);
    } catch (error) {
      this.#slots.cancel(at);
      throw error;
    }
    this.#send(job, at, length);
    return true;
  }

  /** Writes a request to its slot; returns how many bytes it has. */
  #write(at: number, job: Job, spec: Spec, request: unknown): number {
    const { requestField: field } = spec;
    const rooms = this.#rooms;
    if (field !== undefined && field.size <= rooms.room) {
      job.value = field.check(request, "");
      field.set(rooms.data, rooms.request(at), job.value as never);
      return field.size;
    }
    const bytes = rooms.requestBytes(at, rooms.room);
    const length = this.#encode(spec, request, bytes);
    if (spec.idempotent) this.#chunks.keep(job, bytes, length);
    return length;
  }

  /** Puts a job in line, and keeps its request. */
  #enqueue(job: Job, spec: Spec, request: unknown): void {
    const { requestField: field } = spec;
    if (request === undefined) job.empty = true;
    else if (field !== undefined && field.size <= this.#rooms.room) {
      job.value = field.check(request, "");
    } else if (!this.#park(job, spec, request)) {
      const bytes = this.#scratch;
      const length = this.#encode(spec, request, bytes);
      this.#chunks.keep(job, bytes, length);
    }
    this.#queue.put(job);
  }

  /**
   * Writes a long request to a slot, in which it waits; false if it is short, or
   * no slot can be spared. So it is copied only once.
   */
  #park(job: Job, spec: Spec, request: unknown): boolean {
    const slots = this.#slots;
    if (this.#rooms.room <= LONG || spec.idempotent) return false;
    if (this.#parked >= slots.count >> 1) return false;
    const at = this.#rooms.claim();
    if (at === 0) return false;
    try {
      job.length = this.#write(at, job, spec, request);
    } catch (error) {
      slots.cancel(at);
      throw error;
    }
    job.at = at;
    job.parked = true;
    this.#parked++;
    return true;
  }

  /** Writes a request to `bytes`; returns how many bytes it has. */
  #encode(
    { name, request: codec }: Spec,
    request: unknown,
    bytes: Uint8Array,
  ): number {
    const { room } = this.#rooms;
    const needed = codec.encode(request, bytes);
    if (needed <= room) return needed;
    // That is how many it may have at most; with so much room, it tells all.
    const whole = new Uint8Array(needed);
    const length = codec.encode(request, whole);
    if (length <= room) {
      bytes.set(whole.subarray(0, length));
      return length;
    }
    throw new RangeError(
      `The request of task ${name} has ${length} bytes: the pool was made ` +
        `for ${room}: give it the option bytes`,
    );
  }

  /** Posts a job whose request was kept; false if there is no room. */
  #post(job: Job): boolean {
    if (job.parked) {
      if (this.#slotted >= this.#most) return false;
      this.#unpark(job);
      this.#send(job, job.at, job.length);
      return true;
    }
    const at = this.#claim();
    if (at === 0) return false;
    const { spec } = job;
    const rooms = this.#rooms;
    let length = 0;
    if (spec === undefined || job.empty) {
      // It has no request.
    } else if (job.bytes !== undefined) {
      ({ length } = job);
      const target = rooms.requestBytes(at, rooms.room);
      copy(job.bytes, job.from, target, 0, length);
    } else {
      const field = spec.requestField!;
      field.set(rooms.data, rooms.request(at), job.value as never);
      length = field.size;
    }
    this.#send(job, at, length);
    return true;
  }

  #unpark(job: Job): void {
    job.parked = false;
    this.#parked--;
  }

  // ---- slots --------------------------------------------------------------

  /** Finds out how many jobs may have a slot. */
  #measureRoom(): void {
    const workers = this.#agents;
    let ahead = this.#ahead;
    if (ahead === undefined) {
      ahead = this.#typical === 0 ? 4 : Math.ceil(AHEAD / this.#typical);
    }
    this.#most = Math.min(
      Math.max(workers, 1) * (1 + ahead),
      this.#slots.count,
    );
  }

  /** A slot for another job, or 0. */
  #claim(): number {
    return this.#slotted < this.#most ? this.#rooms.claim() : 0;
  }

  /** Posts a job whose request of `length` bytes lies in its slot. */
  #send(job: Job, at: number, length: number): void {
    const { spec } = job;
    let what = job.guest ? RETIRE | GUEST : RETIRE;
    if (spec !== undefined) {
      what = spec.index | (job.empty ? NO_REQUEST : 0);
      if (this.#mayBeLate()) {
        what |= LAZY;
        job.lazy = true;
        this.#lazy++;
      }
      if (!spec.idempotent) job.value = job.bytes = undefined;
    }
    this.#rooms.post(at, what, job.token, length);
    job.at = at;
    this.#flying.push(job);
    this.#slotted++;
    this.#wake();
  }

  /**
   * Whether the worker may tell of the next job's result together with others:
   * half of the results at a time, or as many as take a millisecond.
   */
  #mayBeLate(): boolean {
    if (this.#typical === 0) return false;
    const together = Math.min(this.#slotted >> 1, TOGETHER / this.#typical);
    if (++this.#row < together) return true;
    this.#row = 0;
    return false;
  }

  /**
   * Wakes a worker for a job. If there were as many wakes as workers since the
   * last microtask, one wake behind this microtask is for all other jobs.
   */
  #wake(): void {
    if (this.#wakes + this.#quiet === 0) queueMicrotask(this.#wakeOthers);
    if (this.#wakes < this.#agents && !this.#filling) {
      this.#wakes++;
      this.#rooms.tell(1);
    } else this.#quiet++;
  }

  readonly #wakeOthers = (): void => {
    const jobs = Math.min(this.#quiet, this.#agents);
    this.#wakes = this.#quiet = 0;
    if (jobs > 0) this.#rooms.tell(jobs);
  };

  /** How many workers there are, or start. */
  get #agents(): number {
    return this.#crew.size + this.#guests;
  }

  /** Posts what waits, as far as there is room. */
  #fill(): void {
    this.#measureRoom();
    const queue = this.#queue;
    this.#filling = true; // one wake for all
    while (queue.size > 0 && this.#slotted < this.#most) {
      const job = queue.take()!;
      if (this.#post(job)) continue;
      queue.put(job, true);
      break;
    }
    if (this.#mapRuns.length > 0) this.#feed();
    this.#filling = false;
    this.#wakeOthers();
    if (this.#roomy.length === 0 || queue.size >= this.#slots.count) return;
    const roomy = this.#roomy;
    this.#roomy = [];
    for (const resolve of roomy) resolve();
  }

  /** Lets the runs of `map` take requests, each of them first in its turn. */
  #feed(): void {
    const runs = this.#mapRuns;
    if (runs.length > 1) this.#mapRuns = [...runs.slice(1), runs[0]!];
    for (const run of runs) run.feed();
  }

  /** Brings results until there is no task. */
  async #collect(): Promise<void> {
    const attempt = () => this.#sweep() || undefined;
    await undefined; // lets the program submit more tasks first
    for (;;) {
      const some = this.#sweep() || this.#lazy === 0 && spin(attempt);
      this.#fill();
      if (this.#slotted + this.#queue.size + this.#late.size === 0) break;
      if (this.#lazy > 0) {
        // Many results come together: there is no use in looking for one.
        this.#lookSoon();
        await this.#done.waitAsync();
      } else if (some) await (nextTurn() ?? undefined);
      else await this.#done.waitAsync();
    }
    this.#collecting = false;
    this.#tellSettled();
  }

  /**
   * Looks for results after a while, even if nobody tells. One timer runs at a
   * time: to set one for each wait, and to clear it, takes longer.
   */
  #lookSoon(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      if (this.#lazy > 0) this.#done.set();
    }, LATEST);
  }

  #tellSettled(): void {
    if (this.#slotted + this.#queue.size + this.#late.size > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }

  /**
   * Ends jobs that were answered, at least one if there is any; returns how
   * many.
   */
  #sweep(dead?: Member): number {
    const flying = this.#flying;
    const { length } = flying;
    let kept = 0;
    let count = 0;
    let misses = 0;
    let i = 0;
    for (; i < length; i++) {
      const job = flying[i]!;
      if (job.over) continue;
      if (!this.#slots.isAnswered(job.at)) {
        flying[kept++] = job;
        // Results come about in the order of the jobs.
        if (++misses < MISSES || count === 0 || dead !== undefined) continue;
        i++;
        break;
      }
      misses = 0;
      count++;
      this.#answer(job, dead);
    }
    if (kept < i) {
      for (; i < flying.length; i++) flying[kept++] = flying[i]!;
      flying.length = kept;
    }
    return count;
  }

  /** Notes that a job has no slot any more; returns which it was. */
  #unslot(job: Job): number {
    const { at } = job;
    job.at = 0;
    this.#slotted--;
    if (job.lazy) {
      job.lazy = false;
      this.#lazy--;
    }
    return at;
  }

  #answer(job: Job, dead: Member | undefined): void {
    const slots = this.#slots;
    const at = this.#unslot(job);
    const phase = Atomics.load(slots.words, at) & PHASE_MASK;
    if (phase !== REPLIED) {
      slots.cancel(at); // it is LOST, or an agent that is no worker took it
      return this.#lose(job, dead);
    }
    const rooms = this.#rooms;
    const what = rooms.answered(at);
    const { spec } = job;
    if (spec === undefined) {
      const number = rooms.worker(at);
      slots.cancel(at);
      return this.#retired(job, what, number);
    }
    this.#measure(job, at);
    rooms.forget(at);
    if (what === ELSEWHERE) {
      slots.cancel(at);
      this.#late.set(job.token, job);
      const early = this.#early.get(job.token);
      if (early !== undefined) this.#arrive(early);
      return;
    }
    const length = rooms.lengthAnswered(at);
    const field = spec.replyField;
    let value, error, failed = false;
    try {
      if (what === VALUE && length === field?.size) {
        value = field.get(rooms.data, rooms.reply(at));
      } else if (what === VALUE) {
        value = spec.reply.decode(rooms.replyBytes(at, length));
      } else if (what !== NOTHING) {
        failed = true;
        error = this.#errorOf(what, rooms.replyBytes(at, length));
      }
    } catch (reason) {
      failed = true;
      error = reason;
    }
    slots.cancel(at);
    if (failed) this.#fall(job, error);
    else this.#finish(job, value);
  }

  #errorOf(what: number, bytes: Uint8Array): unknown {
    switch (what) {
      case THROWN:
        return json.decode(bytes);
      case ERROR:
        if (bytes.length > 0) return errorOf(readUtf8(bytes));
        return new Error(
          "A thread of C threw an error: the pool's option bytes is too small " +
            "for it",
        );
    }
    return new TypeError("The worker does not use servePool()");
  }

  #finish(job: Job, value: unknown): void {
    if (job.over) return;
    this.#settle(job);
    this.#count.done++;
    job.end.resolve(value, job);
  }

  #fall(job: Job, error: unknown): void {
    if (job.over) return;
    this.#settle(job);
    this.#count.failed++;
    job.end.reject(error, job);
  }

  /** A reply that was too long for its slot. */
  #arrive(message: Long): void {
    const { token, kind, bytes } = message;
    const job = this.#late.get(token);
    if (job === undefined) {
      // Its slot was not looked at yet, or nobody wants it.
      const wanted = this.#flying.some((job) => job.token === token);
      if (wanted) this.#early.set(token, message);
      return;
    }
    this.#late.delete(token);
    this.#early.delete(token);
    try {
      if (kind !== VALUE) this.#fall(job, this.#errorOf(kind, bytes));
      else this.#finish(job, job.spec!.reply.decode(bytes));
    } catch (error) {
      this.#fall(job, error);
    }
    this.#done.set(); // there may be no task left
  }

  #measure(job: Job, at: number): void {
    const rooms = this.#rooms;
    const began = rooms.time(at, 0);
    const took = rooms.time(at, 1);
    if (began > 0) this.#waits.add(began - job.since); // C has another clock
    this.#runs.add(took);
    // Follows the median: a task whose thread had no core tells nothing.
    if (this.#typical === 0) this.#typical = took;
    else this.#typical *= took > this.#typical ? 1.1 : 0.9;
    if (this.#typical < 0.0005) this.#typical = 0.0005;
    const number = rooms.worker(at);
    const doer = number < 0
      ? this.#guest(number, took)
      : this.#crew.member(number);
    if (doer === undefined) return;
    doer.tasks++;
    doer.busy = rooms.time(at, 2);
  }

  /** What a thread of C has done; it has just done a task that `took` ms. */
  #guest(number: number, took: number): Guest {
    let guest = this.#seen.get(number);
    if (guest === undefined) {
      guest = { since: clock() - took, tasks: 0, busy: 0 };
      this.#seen.set(number, guest);
    }
    return guest;
  }

  /** The worker of a job has died. */
  #lose(job: Job, dead: Member | undefined): void {
    job.deaths++;
    const { spec } = job;
    if (spec === undefined) return job.end.resolve(undefined, job); // it was to end
    if (spec.idempotent && job.deaths < MOST_DEATHS) {
      return this.#queue.put(job, true);
    }
    const times = job.deaths > 1 ? `, ${job.deaths} times` : "";
    const error = deathOf(
      `The worker of task ${JSON.stringify(spec.name)} died${times}`,
      dead,
    );
    this.#fall(job, error);
  }

  #retired(job: Job, what: number, number: number): void {
    if (what === STAYS) return this.#retry(job);
    this.#seen.delete(number);
    const member = this.#crew.member(number);
    if (member !== undefined) this.#crew.stop(member);
    job.over = true;
    if (what === RETIRED) job.end.resolve(undefined, job);
  }

  /**
   * A worker has taken an order that is for threads of C, or the other way
   * round: soon others may see it.
   */
  #retry(job: Job): void {
    const { token } = job;
    this.#late.set(token, job);
    setTimeout(() => {
      if (!this.#late.delete(token)) return;
      this.#queue.put(job, true);
      this.#done.set();
    }, 5);
  }

  // ---- the end of a task ----------------------------------------------------------

  /** Ends a job before its result is there. */
  #drop(job: Job, reason: unknown): void {
    if (job.over) return;
    const { at, token } = job;
    if (job.parked) {
      this.#unpark(job);
      this.#slots.cancel(at);
      this.#queue.drop();
    } else if (at !== 0) {
      const slots = this.#slots;
      const state = Atomics.load(slots.words, at);
      if (!slots.giveUp(at)) slots.cancel(at); // it was just answered
      this.#unslot(job);
      if (job.terminate && (state & PHASE_MASK) === SERVING) {
        this.#terminate(state & ID_MASK);
      }
    } else if (!this.#late.delete(token)) this.#queue.drop();
    this.#settle(job);
    this.#count.failed++;
    job.end.reject(reason, job);
    this.#done.set(); // there may be no task left, or room for another
  }

  #terminate(id: number): void {
    for (const member of this.#crew.members) {
      // Deno's worker may go on for long, so another one begins at once.
      if (member.id !== id) continue;
      this.#died++;
      this.#crew.dismiss(member);
      this.#replace();
    }
  }

  #settle(job: Job): void {
    job.over = true;
    if (job.timer !== undefined) clearTimeout(job.timer);
    if (job.signal === undefined) return;
    const jobs = this.#signals.get(job.signal);
    if (jobs === undefined) return;
    jobs.delete(job);
    if (jobs.size > 0) return;
    this.#signals.delete(job.signal);
    job.signal.removeEventListener("abort", this.#onAbort);
  }

  #listen(signal: AbortSignal, job: Job): void {
    let jobs = this.#signals.get(signal);
    if (jobs === undefined) {
      this.#signals.set(signal, jobs = new Set());
      signal.addEventListener("abort", this.#onAbort);
    }
    jobs.add(job);
  }

  readonly #onAbort = ({ currentTarget }: { currentTarget: unknown }): void => {
    const signal = currentTarget as AbortSignal;
    for (const job of this.#signals.get(signal) ?? []) {
      this.#drop(job, signal.reason);
    }
  };

  /** Whether a worker does the job at `at`. */
  #isServed(at: number): boolean {
    return (Atomics.load(this.#slots.words, at) & PHASE_MASK) === SERVING;
  }
}

/** What a thread of C has done. */
interface Guest {
  /** When its first task began, or a little later. */
  readonly since: number;
  tasks: number;
  busy: number;
}

/** The functions of the promise that was made last. */
let kept: Kept | undefined;

interface Kept {
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/** Takes a promise's functions out of it, without a closure for each promise. */
function keep(resolve: Kept["resolve"], reject: Kept["reject"]): void {
  kept = { resolve, reject };
}

const OPTIONS = [
  "tasks",
  "workers",
  "make",
  "bytes",
  "slots",
  "ahead",
  "guests",
  "patience",
  "memory",
  "byteOffset",
] as const;

const RUN = ["signal", "timeout", "priority", "terminate"] as const;

function configOf({ bytes = 4096, slots = 128 }: {
  readonly bytes?: number | undefined;
  readonly slots?: number | undefined;
}): { slots: number; request: number; reply: number } {
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

/** What `map` does with each request. */
interface Plan {
  readonly spec: Spec;
  readonly how: How | undefined;
}

/** How a task is to be done: all options. */
interface How {
  readonly signal: AbortSignal | undefined;
  readonly timeout: number;
  readonly priority: number;
  readonly terminate: boolean;
}

function checkedHow(options: RunOptions): How {
  assertOptions(options, RUN);
  const { signal, timeout = Infinity, priority = 0, terminate = false } =
    options;
  assertTimeout(timeout);
  assertPriority(priority);
  assertSignal(signal);
  assertBoolean("terminate", terminate);
  if (signal?.aborted) throw signal.reason;
  return { signal, timeout, priority, terminate };
}

const timeoutError = (timeout: number): DOMException =>
  new DOMException(
    `The task had no result within ${timeout} ms`,
    "TimeoutError",
  );

function deathOf(what: string, dead: Member | undefined): WorkerError {
  const cause = dead?.error;
  return new WorkerError(what, cause === undefined ? undefined : { cause });
}
