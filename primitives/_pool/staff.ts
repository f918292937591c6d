/**
 * How many workers a pool is to have, and the orders by which some of them end.
 *
 * @module
 */

import { isTooMany } from "./crew.ts";
import type { Job, JobEnd, Jobs } from "./jobs.ts";
import type { Poster } from "./poster.ts";
import { clock } from "./wire.ts";

/** What a staff has to know, and to have done. */
export interface Staffing {
  readonly jobs: Jobs;
  readonly poster: Poster;
  /** How many workers are ready, or start. */
  size(): number;
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
  /** Orders to workers to end that no worker has answered. */
  readonly orders: Set<Job> = new Set();

  /** Makes a staff of nobody. */
  constructor(staffing: Staffing) {
    this.#it = staffing;
  }

  /**
   * Starts workers, or orders some to end, until there are as many as there are
   * to be; returns when each of them is ready, or has taken its order. An order
   * that no worker has taken is taken back if a worker has ended otherwise: else
   * the last worker might take it. `failures` workers in a row ended before they
   * did a task; if these are too many, none is started.
   */
  balance(failures = 0): Promise<unknown>[] {
    const { poster } = this.#it;
    const orders = [...this.orders].filter(({ guest }) => !guest);
    let staying = this.#it.size() - orders.length;
    while (staying < this.workers && orders.length > 0) {
      if (poster.takeBack(orders.pop()!)) staying++;
    }
    if (isTooMany(failures)) this.workers = Math.min(this.workers, staying);
    const ends: Promise<unknown>[] = [];
    for (; staying < this.workers; staying++) {
      ends.push(this.#it.start(failures));
    }
    for (; staying > this.workers; staying--) ends.push(this.order(false));
    for (const end of ends) end.catch(() => {}); // the tasks tell, too
    return ends;
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
