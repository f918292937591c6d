/**
 * What a pool has done, and how long that took.
 *
 * @module
 */

import type { Slots } from "../_calls/ring/slots.ts";
import { ID_MASK, PHASE_MASK, SERVING } from "../_calls/ring/words.ts";
import type { Crew } from "./crew.ts";
import type { Job, Jobs } from "./jobs.ts";
import type { Staff } from "./staff.ts";
import { clock, type Rooms } from "./wire.ts";

/** How long some of the tasks took, in ms. */
export interface Times {
  /** How many were measured. */
  readonly count: number;
  /** Their mean; 0 if there are none. */
  readonly mean: number;
  /** The longest. */
  readonly max: number;
  /** Half of them took at most this long, or up to a quarter less. */
  readonly p50: number;
  /** Nine of ten did. */
  readonly p90: number;
  /** 99 of 100 did. */
  readonly p99: number;
  /**
   * The histogram: `count` of them took less than `below` ms, and not less than
   * the bucket before. Empty buckets are left out.
   */
  readonly buckets: readonly {
    readonly below: number;
    readonly count: number;
  }[];
}

/** Measured from 2^-20 ms, a nanosecond, to 2^44 ms. */
const LOWEST = 107; // the exponent of 2^-20, as a float has it
const BUCKETS = 256;

/** Collects durations, in four buckets for each power of two. */
class Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);
  /** The first and the last bucket that is not empty. */
  #first = BUCKETS;
  #last = -1;
  #count = 0;
  #sum = 0;
  #max = 0;

  /** Counts a duration of `ms`; one below 0 counts as 0. */
  add(ms: number): void {
    const it = ms > 0 ? ms : 0;
    this.#float[0] = it;
    // The exponent and the two highest bits behind it.
    const exact = (this.#bits[0]! >>> 21) - LOWEST * 4;
    const bucket = Math.min(Math.max(exact, 0), BUCKETS - 1);
    this.#counts[bucket]!++;
    if (bucket < this.#first) this.#first = bucket;
    if (bucket > this.#last) this.#last = bucket;
    this.#count++;
    this.#sum += it;
    if (it > this.#max) this.#max = it;
  }

  /** What was counted so far. */
  get times(): Times {
    const buckets: { below: number; count: number }[] = [];
    const total = this.#count;
    let [p50, p90, p99] = [0, 0, 0];
    let sum = 0;
    for (let bucket = this.#first; bucket <= this.#last; bucket++) {
      const count = this.#counts[bucket]!;
      if (count === 0) continue;
      const below = this.#endOf(bucket);
      buckets.push({ below, count });
      // It has those that the counts before did not reach.
      if (sum < total * 0.5) p50 = below;
      if (sum < total * 0.9) p90 = below;
      if (sum < total * 0.99) p99 = below;
      sum += count;
    }
    const max = this.#max;
    return {
      count: total,
      mean: total === 0 ? 0 : this.#sum / total,
      max,
      p50: Math.min(p50, max),
      p90: Math.min(p90, max),
      p99: Math.min(p99, max),
      buckets,
    };
  }

  #endOf(bucket: number): number {
    this.#bits[0] = bucket + 1 + LOWEST * 4 << 21;
    return this.#float[0]!;
  }
}

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

/** What a thread of C has done. */
interface Guest {
  /** When its first task began, or a little later. */
  readonly since: number;
  tasks: number;
  busy: number;
}

/** What figures are made of. */
interface Figured {
  readonly slots: Slots;
  readonly rooms: Rooms;
  readonly jobs: Jobs;
  readonly crew: Crew;
  readonly staff: Staff;
}

/** Counts what a pool does. */
export class Figures {
  readonly #it: Figured;
  /** Threads of C that have done a task, by their negated ids. */
  readonly #guests = new Map<number, Guest>();
  readonly #waits = new Histogram();
  readonly #runs = new Histogram();
  /** Workers that died, or could not start. */
  died = 0;

  /** Makes figures of a pool that has done nothing. */
  constructor(figured: Figured) {
    this.#it = figured;
  }

  /** Counts a task that was answered at `at`; returns the ms that it took. */
  measure(job: Job, at: number): number {
    const { rooms, crew } = this.#it;
    const began = rooms.time(at, 0);
    const took = rooms.time(at, 1);
    if (began > 0) this.#waits.add(began - job.since); // C has another clock
    this.#runs.add(took);
    const number = rooms.worker(at);
    const doer = number < 0 ? this.#guest(number, took) : crew.member(number);
    if (doer !== undefined) {
      doer.tasks++;
      doer.busy = rooms.time(at, 2);
    }
    return took;
  }

  /** What a thread of C has done; it has just done a task that `took` ms. */
  #guest(number: number, took: number): Guest {
    let guest = this.#guests.get(number);
    if (guest === undefined) {
      guest = { since: clock() - took, tasks: 0, busy: 0 };
      this.#guests.set(number, guest);
    }
    return guest;
  }

  /** Forgets a thread of C, by its negated id. */
  forget(number: number): void {
    this.#guests.delete(number);
  }

  /** What the pool has done, and does. */
  get stats(): PoolStats {
    const { slots, rooms, jobs, crew, staff } = this.#it;
    const now = clock();
    const running = new Map<number, number>(); // the earliest, by worker
    const guests = new Set<number>(); // those that do a task now
    let begun = 0;
    for (const { state, at, since, spec } of jobs.flying) {
      if (state !== "posted" || spec === undefined) continue;
      const word = Atomics.load(slots.words, at);
      if ((word & PHASE_MASK) !== SERVING) continue;
      begun++;
      guests.add(-(word & ID_MASK));
      const began = rooms.time(at, 0);
      if (began === 0) continue; // its worker has not written it yet
      const number = rooms.worker(at);
      const first = running.get(number) ?? Infinity;
      running.set(number, Math.min(Math.max(began, since), first));
    }
    let orders = 0; // that are in line or in a slot: these are no tasks
    for (const { state } of staff.orders) if (state !== "resting") orders++;
    const workers: WorkerStats[] = [];
    for (const { state, number, tasks, since, busy } of crew.members) {
      if (state === "starting") {
        workers.push({ state, tasks, busy: 0, idle: 0, share: 0 });
        continue;
      }
      const current = running.get(number);
      const life = Math.max(now - since, 0);
      const more = current === undefined ? 0 : Math.max(now - current, 0);
      const all = Math.min(busy + more, life);
      workers.push(shared(current !== undefined, tasks, all, life));
    }
    for (const [number, { tasks, busy, since }] of this.#guests) {
      const life = Math.max(now - since, busy);
      workers.push(shared(guests.has(number), tasks, busy, life));
    }
    return {
      waiting: jobs.line.size + jobs.count.posted - begun - orders,
      running: begun,
      done: jobs.done,
      failed: jobs.failed,
      died: this.died,
      workers,
      wait: this.#waits.times,
      run: this.#runs.times,
    };
  }
}

/** What one worker does that has spent `busy` ms of its `life` in tasks. */
const shared = (
  isBusy: boolean,
  tasks: number,
  busy: number,
  life: number,
): WorkerStats => ({
  state: isBusy ? "busy" : "idle",
  tasks,
  busy,
  idle: life - busy,
  share: life === 0 ? 0 : busy / life,
});
