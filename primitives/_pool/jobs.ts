/**
 * Tasks of a pool from their submission to their end: where each of them is,
 * and where it may go from there.
 *
 * @module
 */

import type { Field } from "../_message/record_fields.ts";
import type { AnyCodec, Long } from "./wire.ts";
import type { Parcel, Talk } from "./events.ts";
import { timeoutError } from "./errors.ts";
import { Line } from "./line.ts";
import { offAbort, onAbort } from "../_wait/aborts.ts";

/** A task as a pool knows it. */
export interface Spec {
  readonly name: string;
  readonly index: number;
  readonly request: AnyCodec;
  readonly reply: AnyCodec;
  /** Set if all messages of that codec have one size. */
  readonly requestField: Field | undefined;
  readonly replyField: Field | undefined;
  readonly idempotent: boolean;
}

/** Is told how a job has ended. */
export interface JobEnd {
  /** It has a result. */
  resolve(value: unknown, job: Job): void;
  /** It has failed. */
  reject(reason: unknown, job: Job): void;
}

/** What ends a job before its result is there. */
interface Limits {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds, or `Infinity`. */
  readonly timeout: number;
  /** Whether the worker that does it ends then. */
  readonly terminate: boolean;
}

/** The pause, in ms, before an order that came back is posted again. */
const REST = 5;

/** The functions of the promise that was made last. */
let functions: Functions | undefined;

/** The functions that settle a promise. */
interface Functions {
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/**
 * Takes a promise's functions out of it, without a closure for each promise.
 */
export function keep(
  resolve: Functions["resolve"],
  reject: Functions["reject"],
): void {
  functions = { resolve, reject };
}

/** The functions that {@linkcode keep} took last, once. */
export function kept(): Functions {
  const end = functions!;
  functions = undefined;
  return end;
}

/**
 * Where a job is:
 *
 * - `new`: nobody knows of it yet;
 * - `waiting`: in line, and its request lies in this thread;
 * - `parked`: in line, and its request lies in a slot that is not posted;
 * - `posted`: in a slot, where a worker takes it, does it, and answers;
 * - `promised`: it was answered, and its result comes in a message;
 * - `resting`: an order that a worker of the wrong kind handed back;
 * - `over`: its result is known, or nobody wants it.
 */
type JobState =
  | "new"
  | "waiting"
  | "parked"
  | "posted"
  | "promised"
  | "resting"
  | "over";

/**
 * The states that may follow each state. `docs/primitives/pool.md` shows it.
 */
export const TRANSITIONS: Readonly<Record<JobState, readonly JobState[]>> = {
  new: ["waiting", "parked", "posted"],
  waiting: ["posted", "over"],
  parked: ["posted", "over"],
  posted: ["over", "promised", "waiting", "resting"],
  promised: ["over", "waiting"],
  resting: ["waiting", "over"],
  over: [],
};

/**
 * A task that was submitted, or an order: the worker that takes it must end.
 */
export class Job {
  state: JobState = "new";
  /** What a field has made of the request, until it is posted. */
  value: unknown = undefined;
  /**
   * Where another request lies before it is posted, and if it may be repeated.
   */
  bytes: Uint8Array | undefined = undefined;
  from = 0;
  length = 0;
  /** Whether the request is undefined. */
  empty = false;
  /** Its slot; 0 if it has none. */
  at = 0;
  /** Those of its priority that stand before and after it in line. */
  before: Job | undefined = undefined;
  after: Job | undefined = undefined;
  /** Whether its worker may tell of its result later. */
  lazy = false;
  /**
   * The message with its result, if that came before the slot was looked at.
   */
  early: Long | undefined = undefined;
  /** The number of the worker that has promised a message. */
  worker = 0;
  /** How many workers have died of it. */
  deaths = 0;
  terminate = false;
  /**
   * Whether its request goes in a message; and the request, until a worker has
   * it, or until the end if it may be repeated.
   */
  moves = false;
  parcel: Parcel | undefined = undefined;
  /** What is said beside it, if anything may be. */
  talk: Talk | undefined = undefined;
  signal: AbortSignal | undefined = undefined;
  timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** For the run of `map` that has submitted it: how it has ended. */
  failed = false;
  result: unknown = undefined;

  /** If it is an order: whether it is for threads of C. */
  guest = false;

  /** `spec` is undefined for an order. */
  constructor(
    readonly spec: Spec | undefined,
    readonly priority: number,
    /** How many jobs came before it. */
    readonly order: number,
    /** When it was submitted, by the clock of all threads. */
    readonly since: number,
    /** Is told of its end. */
    readonly end: JobEnd,
  ) {}

  /** Tells the pool's tasks apart in shared memory: 32 bits. */
  get token(): number {
    return this.order | 0;
  }

  /** Whether its result is known, or nobody wants it. */
  get over(): boolean {
    return this.state === "over";
  }
}

/** All jobs of a pool that are not over, each where its state says. */
export class Jobs {
  /** Those that are waiting or parked. */
  readonly line = new Line<Job>();
  /** Those that are posted, and some that were. */
  flying: Job[] = [];
  /** Those that are promised, by their tokens. */
  readonly promised = new Map<number, Job>();
  /** Those beside which something may be said, by their tokens. */
  readonly talking = new Map<number, Job>();
  /** How many are in each state, and how many have ended. */
  readonly count: Record<JobState, number> = {
    new: 0,
    waiting: 0,
    parked: 0,
    posted: 0,
    promised: 0,
    resting: 0,
    over: 0,
  };
  /** Tasks that have ended with a result, and with an error. */
  done = 0;
  failed = 0;
  #made = 0;
  readonly #drop: (job: Job, reason: unknown) => void;
  readonly #look: (job: Job) => void;

  /**
   * `drop` ends a job before its result is there; `look` takes the result if it
   * is.
   */
  constructor(
    drop: (job: Job, reason: unknown) => void,
    look: (job: Job) => void,
  ) {
    this.#drop = drop;
    this.#look = look;
  }

  readonly #abort = (job: Job): void => this.#drop(job, job.signal!.reason);

  /** Makes a job. */
  make(
    spec: Spec | undefined,
    priority: number,
    since: number,
    end: JobEnd,
  ): Job {
    return new Job(spec, priority, this.#made++, since, end);
  }

  /** How many are not over. */
  get open(): number {
    return this.line.size + this.count.posted + this.count.promised +
      this.count.resting;
  }

  /** All that are not over. */
  all(): Job[] {
    const posted = this.flying.filter((job) => job.state === "posted");
    return [...posted, ...this.promised.values(), ...this.line];
  }

  /**
   * Takes a job to another state, and to the place of that state; false if the
   * table does not allow it.
   */
  move(job: Job, to: JobState): boolean {
    const { state } = job;
    if (!TRANSITIONS[state].includes(to)) return false;
    const { count } = this;
    if (state !== "new") count[state]--;
    count[to]++;
    job.state = to;
    if (state === "waiting" || state === "parked") this.line.remove(job);
    else if (state === "promised") this.promised.delete(job.token);
    if (to === "posted") this.flying.push(job); // a sweep takes it out
    else if (to === "waiting" || to === "parked") this.line.put(job);
    else if (to === "promised") this.promised.set(job.token, job);
    return true;
  }

  /** Ends a job with a result. */
  resolve(job: Job, value: unknown): void {
    if (!this.move(job, "over")) return;
    if (job.spec !== undefined) this.done++;
    this.#release(job);
    job.end.resolve(value, job);
  }

  /** Ends a job with an error. */
  reject(job: Job, reason: unknown): void {
    if (!this.move(job, "over")) return;
    if (job.spec !== undefined) this.failed++;
    this.#release(job);
    job.end.reject(reason, job);
  }

  /**
   * A worker has taken an order that is for threads of C, or the other way
   * round. It waits again after a pause; then `back` is called.
   */
  rest(order: Job, back: () => void): void {
    setTimeout(() => {
      this.move(order, "waiting");
      back();
    }, REST);
  }

  /** Sees to it that a job ends as it was told. */
  heed(job: Job, { signal, timeout, terminate }: Limits): void {
    job.terminate = terminate;
    if (timeout !== Infinity) {
      const late = () => {
        // The result may have come in time, while this thread was busy, and a
        // message may still bring it.
        this.#look(job);
        if (job.over || job.state === "promised") return;
        this.#drop(job, timeoutError(timeout));
      };
      job.timer = setTimeout(late, Math.min(timeout, 0x7fff_ffff));
    }
    if (signal === undefined) return;
    job.signal = signal;
    onAbort(signal, job, this.#abort);
    // A getter of its request has aborted it.
    if (signal.aborted) this.#drop(job, signal.reason);
  }

  /** Lets go what a job needed that is over. */
  #release(job: Job): void {
    job.value =
      job.bytes =
      job.early =
      job.parcel =
        undefined;
    if (job.talk !== undefined || job.moves) this.talking.delete(job.token);
    if (job.timer !== undefined) clearTimeout(job.timer);
    const { signal } = job;
    if (signal !== undefined) offAbort(signal, job);
  }
}

/** Bytes of a chunk. */
const CHUNK_BYTES = 0x10000;
/** Messages that are longer have memory of their own. */
const MOST_BYTES = 0x1000;

/** Memory for the requests of jobs that wait, many of them in one chunk. */
export class Chunks {
  #chunk: Uint8Array | undefined;
  #next = 0;

  /** Copies the first `length` bytes of `bytes` for a job. */
  keep(job: Job, bytes: Uint8Array, length: number): void {
    job.length = length;
    if (length > MOST_BYTES) {
      job.bytes = bytes.slice(0, length);
      job.from = 0;
      return;
    }
    if (this.#chunk === undefined || this.#next + length > CHUNK_BYTES) {
      this.#chunk = new Uint8Array(CHUNK_BYTES);
      this.#next = 0;
    }
    job.bytes = this.#chunk;
    job.from = this.#next;
    this.#next += length;
    copy(bytes, 0, this.#chunk, job.from, length);
  }
}

/** The most bytes for which a loop is faster than making views. */
const SHORT = 64;

/** Copies `length` bytes. */
export function copy(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  at: number,
  length: number,
): void {
  if (length > SHORT) {
    target.set(source.subarray(from, from + length), at);
  } else {
    for (let i = 0; i < length; i++) target[at + i] = source[from + i]!;
  }
}
