/**
 * Tasks of a pool from their submission to their result, and those among them
 * that wait for a worker.
 *
 * @module
 */

import type { AnyCodec } from "./_pool_wire.ts";
import type { Field } from "./_record.ts";

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

/** A task that was submitted. */
export class Job {
  /** What a field has made of the request. */
  value: unknown = undefined;
  /** Where another request lies before it is posted, and if it may be repeated. */
  bytes: Uint8Array | undefined = undefined;
  from = 0;
  length = 0;
  /** Whether the request is undefined. */
  empty = false;
  /** Its slot; 0 if it has none. */
  at = 0;
  /** Whether it waits in its slot. */
  parked = false;
  /** Whether its worker may tell of its result later. */
  lazy = false;
  /** Whether its result is known, or nobody wants it. */
  over = false;
  /** The job behind it in line. */
  next: Job | undefined = undefined;
  /** How often a worker died of it. */
  deaths = 0;
  terminate = false;
  signal: AbortSignal | undefined = undefined;
  timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** For the run of `map` that has submitted it: how it has ended. */
  failed = false;
  result: unknown = undefined;

  /** If it is an order: whether it is for threads of C. */
  guest = false;

  /** `spec` is undefined for an order: the worker that takes it must end. */
  constructor(
    readonly spec: Spec | undefined,
    readonly token: number,
    readonly priority: number,
    /** When it was submitted, by the clock of all threads. */
    readonly since: number,
    /** Is told of its end. */
    readonly end: JobEnd,
  ) {}
}

/** Bytes of a chunk. */
const CHUNK = 0x10000;
/** Messages that are longer have memory of their own. */
const MOST = 0x1000;

/** Memory for the requests of jobs that wait, many of them in one chunk. */
export class Chunks {
  #chunk: Uint8Array | undefined;
  #next = 0;

  /** Copies the first `length` bytes of `bytes` for a job. */
  keep(job: Job, bytes: Uint8Array, length: number): void {
    job.length = length;
    if (length > MOST) {
      job.bytes = bytes.slice(0, length);
      job.from = 0;
      return;
    }
    if (this.#chunk === undefined || this.#next + length > CHUNK) {
      this.#chunk = new Uint8Array(CHUNK);
      this.#next = 0;
    }
    job.bytes = this.#chunk;
    job.from = this.#next;
    this.#next += length;
    copy(bytes, 0, this.#chunk, job.from, length);
  }
}

/** Up to so many bytes, a loop is faster than making views. */
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

/** Jobs of one priority: each names the next one, and the first is the oldest. */
interface Lane {
  readonly priority: number;
  first: Job | undefined;
  last: Job | undefined;
}

/** The jobs that wait: those of the highest priority first, then the oldest. */
export class JobQueue {
  /** The highest priority first. */
  readonly #lanes: Lane[] = [];
  /** How many wait. */
  size = 0;

  /** Puts a job in line; with `first`, before all others of its priority. */
  put(job: Job, first = false): void {
    const lane = this.#laneOf(job.priority);
    job.next = first ? lane.first : undefined;
    if (lane.first === undefined) lane.first = lane.last = job;
    else if (first) lane.first = job;
    else lane.last = lane.last!.next = job;
    this.size++;
  }

  #laneOf(priority: number): Lane {
    const lanes = this.#lanes;
    let i = 0;
    while (i < lanes.length && lanes[i]!.priority > priority) i++;
    const found = lanes[i];
    if (found?.priority === priority) return found;
    const lane: Lane = { priority, first: undefined, last: undefined };
    lanes.splice(i, 0, lane);
    return lane;
  }

  /** Takes the next job that is not over. */
  take(): Job | undefined {
    for (let lane; (lane = this.#lanes[0]) !== undefined;) {
      for (let job; (job = lane.first) !== undefined;) {
        lane.first = job.next;
        job.next = undefined;
        if (job.over) continue;
        this.size--;
        return job;
      }
      this.#lanes.shift();
    }
  }

  /** All jobs that wait, and some that are over. */
  *[Symbol.iterator](): Generator<Job, void, void> {
    for (const { first } of this.#lanes) {
      for (let job = first; job !== undefined; job = job.next) yield job;
    }
  }

  /** Notes that a job that waits is over. */
  drop(): void {
    this.size--;
  }
}
