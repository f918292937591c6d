/**
 * The parts of a pool, and how they work together.
 *
 * @module
 */

import type { Slots } from "../../_calls/ring/slots.ts";
import { Collector, Rounds } from "../collector.ts";
import { Crew, type CrewEvents, type Member } from "../crew.ts";
import { QueueFullError } from "../errors.ts";
import { hand, Listeners, parcelOf, Talk } from "../events.ts";
import { type Job, type JobEnd, Jobs, type Spec } from "../jobs.ts";
import { Producers } from "../line.ts";
import { Maps } from "../map.ts";
import {
  type Checked,
  checkedHow,
  type How,
  type RunOptions,
} from "../options.ts";
import { Poster } from "../poster.ts";
import { Staff } from "../staff.ts";
import { Figures } from "../stats.ts";
import { assertSame, specOf } from "../task.ts";
import { clock, type Hello, type Place, Rooms, tagged } from "../wire.ts";
import { Ending, Losses } from "./ending.ts";

/** What a pool is made from. */
interface Given {
  readonly specs: Map<string, Spec>;
  readonly options: Checked;
  readonly maxQueue: number | undefined;
  /** What the modules of workers are given. */
  readonly init: unknown;
  readonly ring: { readonly handle: Place["ring"]; close(): void };
  /** Is set when there is something to collect. */
  readonly done: {
    readonly handle: Place["done"];
    set(): void;
    waitAsync(): Promise<unknown>;
  };
  /** How many tasks were posted; workers look at slots when it changes. */
  readonly posted: Int32Array<SharedArrayBuffer>;
  readonly slots: Slots;
  /** The end of the pool in its buffer; before it, requests are packed. */
  readonly end: number;
  readonly agent: number;
  /** Calls `ended` when an agent has ended, or `refused` if nobody can tell. */
  onExit: CrewEvents["onExit"];
}

/** All parts of one pool. */
export class Works {
  readonly jobs: Jobs;
  readonly poster: Poster;
  readonly crew: Crew;
  readonly staff: Staff;
  readonly listeners: Listeners = new Listeners();
  readonly figures: Figures;
  readonly ending: Ending;
  readonly rounds: Rounds;
  readonly producers: Producers;
  readonly maps: Maps;
  readonly #it: Given;
  readonly #collector: Collector;
  readonly #losses: Losses;
  /** Whether a task had to wait for room since the last `drain`. */
  #crowded = false;

  /** Makes the parts, and starts no worker yet. */
  constructor(it: Given) {
    this.#it = it;
    const { slots, posted, done, options } = it;
    const { workers, make, ahead, guests, patience } = options;
    const rooms = new Rooms(slots, posted, it.agent);
    const { room } = rooms;
    const scratch = new Uint8Array(posted.buffer, it.end - room, room);
    const jobs = this.jobs = new Jobs(
      (job, reason) => this.#drop(job, reason),
      (job) => this.#look(job),
    );
    this.producers = new Producers(() =>
      this.ending.failure === undefined &&
      (jobs.line.size >= slots.count || this.#isFull)
    );
    this.maps = new Maps({
      jobs,
      limit: slots.count,
      isOpen: () => this.ending.isOpen,
      // Where nothing is accepted any more, a run is to be told so.
      hasRoom: () =>
        this.ending.failure !== undefined ||
        this.poster.hasRoom && !this.#isFull,
      specOf: (name) => specOf(it.specs, name),
      submit: (...job) => this.#submit(...job),
      fill: () => this.#fill(),
      drop: (job, reason) => this.#drop(job, reason),
    });
    const agents = () => this.#agents;
    const places = () => this.crew.size * this.staff.limit + this.staff.guests;
    const assertOpen = () => this.ending.assertOpen();
    const poster = this.poster = new Poster({
      slots,
      rooms,
      jobs,
      scratch,
      ahead,
      agents,
      places,
      assertOpen,
    });
    this.#collector = new Collector({
      slots,
      rooms,
      jobs,
      poster,
      measure: (job, at) => poster.learn(this.figures.measure(job, at)),
      promised: (job) => this.crew.expectFrom(job.worker),
      retires: (number) => this.#losses.dismissed(number),
      rest: (order) => jobs.rest(order, () => done.set()),
      isForced: () => this.ending.forced,
    });
    this.rounds = new Rounds({
      jobs,
      poster,
      done,
      sweep: () => this.#collector.sweep(),
      fill: () => this.#fill(),
      settled: () => this.ending.tellSettled(),
    });
    const size = () => this.crew.size;
    const start = (failures: number) => this.crew.start(failures);
    const ordered = () => this.rounds.begin();
    const hanging = () => poster.hanging;
    this.staff = new Staff({ jobs, poster, size, hanging, start, ordered });
    this.staff.guests = guests;
    this.staff.idle = options.idleTimeout;
    this.staff.range(workers.min, workers.max);
    this.crew = new Crew({
      make: make!,
      hello: (member, hello) => this.#greet(member, hello),
      long: (message) => {
        this.#collector.arrive(message);
        done.set(); // there may be no task left
      },
      ended: (member, died) => this.#losses.bury(member, died),
      begun: ({ token, moves }, member) => {
        const job = jobs.talking.get(token);
        job?.talk?.begin(token, member.worker!);
        if (moves) hand(job, token, member, slots);
      },
      report: (token, value) => jobs.talking.get(token)?.talk?.report(value),
      started: (worker, id) =>
        this.listeners.tell("worker:start", { worker, id }),
      over: (worker, id, died, { error, code }) =>
        this.listeners.tell("worker:end", { worker, id, died, error, code }),
      failed: (member, isLast) => this.#losses.miss(member, isLast),
      silent: (number, dead) => {
        // In Deno, it may have taken a task in its last step, after its exit.
        if (dead !== undefined && slots.abandon(dead.id) > 0) {
          this.#collector.sweep(dead);
        }
        this.#collector.forget(number, dead);
        if (this.staff.scales) this.staff.grow(); // some are done again
        done.set();
      },
      onExit: it.onExit,
    }, patience);
    this.ending = new Ending({
      jobs,
      poster,
      staff: this.staff,
      crew: this.crew,
      wake: () => done.set(),
      tell: () => {
        this.maps.feed();
        this.producers.tell();
      },
      closeRing: () => it.ring.close(),
    });
    this.figures = new Figures({
      slots,
      rooms,
      jobs,
      crew: this.crew,
      staff: this.staff,
    });
    this.#losses = new Losses({
      slots,
      collector: this.#collector,
      figures: this.figures,
      staff: this.staff,
      crew: this.crew,
      wake: () => done.set(),
    }, this.ending);
  }

  /** Submits a task, unless too many wait. */
  enter(
    name: string,
    request: unknown,
    options: RunOptions | undefined,
    end: JobEnd,
    talks: boolean,
  ): Job {
    const { specs, maxQueue } = this.#it;
    const spec = specOf(specs, name);
    const how = options === undefined ? undefined : checkedHow(options);
    if (this.#isFull) {
      this.ending.assertOpen();
      throw new QueueFullError(maxQueue!);
    }
    return this.#submit(spec, request, how, end, talks);
  }

  /** Whether `maxQueue` tasks wait besides those that workers may do. */
  get #isFull(): boolean {
    const most = this.#it.maxQueue;
    return most !== undefined &&
      this.jobs.open - this.staff.orders.size >= this.#places + most;
  }

  /** How many workers there are, or start. */
  get #agents(): number {
    return this.crew.size + this.staff.guests;
  }

  /**
   * How many tasks the workers do at a time that there are, start, or may be
   * started.
   */
  get #places(): number {
    const { max, limit, guests } = this.staff;
    return Math.max(this.crew.size, max) * limit + guests;
  }

  #greet(member: Member, { tasks, limit }: Hello): void {
    const { specs, ring, done, posted, options, init } = this.#it;
    assertSame(specs, tasks);
    this.staff.limit = limit;
    member.worker!.postMessage(tagged({
      what: "place",
      ring: ring.handle,
      done: done.handle,
      posted: posted.byteOffset,
      number: member.number,
      names: [...specs.keys()],
      recycle: options.recycle,
      init,
    }));
    this.#fill();
  }

  #submit(
    spec: Spec,
    request: unknown,
    how: How | undefined,
    end: JobEnd,
    talks = false,
  ): Job {
    this.ending.assertOpen();
    const priority = how === undefined ? 0 : how.priority;
    const job = this.jobs.make(spec, priority, clock(), end);
    if (talks || how?.report !== undefined) job.talk = new Talk(how?.report);
    job.parcel = parcelOf(spec.name, request);
    job.moves = job.parcel !== undefined;
    // First: it may refuse the request.
    this.poster.submit(job, spec, job.moves ? undefined : request);
    if (job.talk !== undefined || job.moves) {
      this.jobs.talking.set(job.token, job);
    }
    if (how !== undefined) this.jobs.heed(job, how);
    if (this.jobs.line.size > 0) this.#crowded = true;
    if (this.staff.scales) this.staff.grow();
    this.rounds.begin();
    return job;
  }

  /** Takes the result of a job, if it was answered. */
  #look(job: Job): void {
    if (this.#collector.take(job)) this.#it.done.set(); // as below
  }

  /** Ends a job before its result is there. */
  #drop(job: Job, reason: unknown): void {
    const doer = this.poster.drop(job, reason);
    if (job.terminate && doer !== 0) this.#losses.terminate(doer);
    this.#it.done.set(); // there may be no task left, or room for another
  }

  /** Posts what waits, as far as there is room. */
  #fill(): void {
    const maps = this.maps;
    this.poster.fill(maps.any ? maps.feed : undefined);
    this.producers.tell();
    if (this.staff.scales) this.staff.rest();
    if (!this.#crowded || this.jobs.line.size > 0) return;
    this.#crowded = false;
    this.listeners.tell("drain", undefined);
  }
}
