/**
 * Tasks of a pool from their submission to their result, and those among them
 * that wait for a worker.
 *
 * @module
 */

import type { AnyCodec } from "./_pool_wire.ts";

/** A task as a pool knows it. */
export interface Spec {
  readonly name: string;
  readonly index: number;
  readonly request: AnyCodec;
  readonly reply: AnyCodec;
  readonly idempotent: boolean;
}

/** A task that was submitted. */
export interface Job {
  /** Undefined: the worker that takes it must end. */
  readonly spec: Spec | undefined;
  readonly token: number;
  /** What to post; undefined if it was posted and will not be repeated. */
  message: Uint8Array | undefined;
  readonly priority: number;
  /** When it was submitted, by the clock of all threads. */
  readonly since: number;
  /** Its slot; 0 if it has none. */
  at: number;
  /** Whether its result is known, or nobody wants it. */
  over: boolean;
  /** How often a worker died of it. */
  deaths: number;
  readonly terminate: boolean;
  readonly signal: AbortSignal | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Jobs of one priority, the oldest first. */
interface Lane {
  readonly priority: number;
  jobs: Job[];
  /** The first that was not taken. */
  head: number;
}

/** The jobs that wait: those of the highest priority first, then the oldest. */
export class JobQueue {
  /** The highest priority first. */
  readonly #lanes: Lane[] = [];
  /** How many wait. */
  size = 0;

  /** Puts a job in line; with `first`, before all others of its priority. */
  put(job: Job, first = false): void {
    const { priority } = job;
    let i = 0;
    while (i < this.#lanes.length && this.#lanes[i]!.priority > priority) i++;
    if (this.#lanes[i]?.priority !== priority) {
      this.#lanes.splice(i, 0, { priority, jobs: [], head: 0 });
    }
    const lane = this.#lanes[i]!;
    if (!first) lane.jobs.push(job);
    else if (lane.head > 0) lane.jobs[--lane.head] = job;
    else lane.jobs.unshift(job);
    this.size++;
  }

  /** Takes the next job that is not over. */
  take(): Job | undefined {
    while (this.#lanes.length > 0) {
      const lane = this.#lanes[0]!;
      while (lane.head < lane.jobs.length) {
        const job = lane.jobs[lane.head]!;
        lane.jobs[lane.head++] = undefined!;
        if (lane.head > 1024 && lane.head * 2 > lane.jobs.length) {
          lane.jobs = lane.jobs.slice(lane.head);
          lane.head = 0;
        }
        if (job.over) continue;
        this.size--;
        return job;
      }
      this.#lanes.shift();
    }
  }

  /** Notes that a job that waits is over. */
  drop(): void {
    this.size--;
  }
}
