/**
 * How many workers a pool is to have, and the orders by which some of them end.
 *
 * @module
 */

import { refer } from "../_wait/times.ts";
import { isTooMany } from "./crew.ts";
import type { Job, JobEnd, Jobs } from "./jobs.ts";
import type { Poster } from "./poster.ts";
import { clock } from "./wire.ts";

/** What a staff has to know, and to have done. */
interface Staffing {
  readonly jobs: Jobs;
  readonly poster: Poster;
  /** How many workers are ready, or start. */
  size(): number;
  /** How many tasks that were given up workers still do. */
  hanging(): number;
  /**
   * Starts a worker; `failures` in its place ended in a row before they did a
   * task.
   */
  start(failures: number): Promise<void>;
  /** An order was posted, or waits. */
  ordered(): void;
}

/** How many workers there are to be. */
export class Staff {
  readonly #it: Staffing;
  /** Workers that `make` makes, and threads of C. */
  workers = 0;
  guests = 0;
  /** The fewest and the most workers that `make` is to make. */
  min = 0;
  max = 0;
  /** After this many ms in which a worker was not needed, one ends. */
  idle = Infinity;
  /** How many tasks a worker does at a time. */
  limit = 1;
  /** Orders to workers to end that no worker has answered. */
  readonly orders: Set<Job> = new Set();

  /** The most workers that were needed since the timer was set. */
  #peak = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether more workers start in a microtask. */
  #growing = false;
  #over = false;

  /** Makes a staff of nobody. */
  constructor(staffing: Staffing) {
    this.#it = staffing;
  }

  /**
   * Starts workers, or orders some to end, until there are as many as there are
   * to be; returns when each of them is ready, or has taken its order. An order
   * that no worker has taken is taken back if a worker has ended otherwise:
   * else the last worker might take it. `failures` workers in a row ended
   * before they did a task; if these are too many, none is started.
   */
  balance(failures = 0): Promise<unknown>[] {
    const { poster } = this.#it;
    const orders = [...this.orders].filter(({ guest }) => !guest);
    let staying = this.#it.size() - orders.length;
    while (staying < this.workers && orders.length > 0) {
      if (poster.takeBack(orders.pop()!)) staying++;
    }
    if (isTooMany(failures) && staying < this.workers) {
      this.max -= this.workers - staying; // these places are given up
      this.min = Math.min(this.min, this.max);
      this.workers = staying;
    }
    const ends: Promise<unknown>[] = [];
    for (; staying < this.workers; staying++) {
      ends.push(this.#it.start(failures));
    }
    for (; staying > this.workers; staying--) ends.push(this.order(false));
    for (const end of ends) end.catch(() => {}); // the tasks tell, too
    return ends;
  }

  // ---- as many workers as there is work for

  /**
   * Sets the fewest and the most workers; {@linkcode balance} does the rest.
   */
  range(min: number, max: number): void {
    this.min = min;
    this.max = max;
    this.workers = Math.min(Math.max(this.workers, min), max);
  }

  /**
   * Sets how many workers and threads of C there are to be; returns when each
   * new worker is ready, and each that is to end has taken its order.
   */
  resize(min: number, max: number, guests: number): Promise<unknown>[] {
    const spare = this.guests - guests;
    this.guests = guests;
    this.range(min, max);
    const ends: Promise<unknown>[] = [];
    for (let i = 0; i < spare; i++) ends.push(this.order(true));
    return [...ends, ...this.balance()];
  }

  /** Whether the number of workers depends on the tasks. */
  get scales(): boolean {
    return this.min < this.max;
  }

  /**
   * How many workers the tasks need that are not over, besides some that
   * workers still do, though they were given up.
   */
  #neededFor(hanging: number): number {
    const { open, count } = this.#it.jobs;
    const tasks = open - count.promised - this.orders.size - this.guests;
    return Math.min(Math.ceil((tasks + hanging) / this.limit), this.max);
  }

  get #needed(): number {
    return this.#neededFor(this.#it.hanging());
  }

  /** A task was submitted: starts workers if it waits for none. */
  grow(): void {
    const needed = this.#needed;
    if (needed > this.#peak) this.#peak = needed;
    if (needed <= this.workers || this.#growing) return;
    this.#growing = true;
    queueMicrotask(() => {
      this.#growing = false;
      if (!this.#over) this.#become(Math.max(this.workers, this.#needed));
    });
  }

  /** Tasks may have ended: workers that are not needed end after a while. */
  rest(): void {
    if (this.#timer !== undefined || this.#over) return;
    // Nobody tells when a worker ends what was given up: it looks again.
    if (this.workers <= Math.max(this.#neededFor(0), this.min)) return;
    if (this.idle === Infinity) return;
    this.#peak = this.#needed;
    const due = () => {
      this.#timer = undefined;
      this.#become(Math.max(this.#peak, this.min));
      this.rest();
    };
    this.#timer = setTimeout(due, Math.min(this.idle, 0x7fff_ffff));
    refer(this.#timer, false);
  }

  #become(workers: number): void {
    if (workers === this.workers) return;
    this.workers = workers;
    this.balance();
  }

  /** The pool has ended: nobody starts or ends any more. */
  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  /** Orders a worker, or a thread of C, to end when it has done its task. */
  order(guest: boolean): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const end: JobEnd = {
        resolve: (_, job) => resolve(this.orders.delete(job)),
        reject: (reason, job) => reject((this.orders.delete(job), reason)),
      };
      const { jobs, poster } = this.#it;
      // Others do what waits. The last worker does it before it ends.
      const isLast = this.workers + this.guests === 0;
      const priority = isLast ? jobs.line.lowest : Infinity;
      const order = jobs.make(undefined, priority, clock(), end);
      order.guest = guest;
      this.orders.add(order);
      poster.order(order);
      this.#it.ordered();
    });
  }
}
