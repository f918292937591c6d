/**
 * How a pool ends: it is closed, or has lost all its workers; and how workers
 * that have ended are replaced.
 *
 * @module
 */

import { assertOptions, assertTimeout } from "../../_memory/options.ts";
import { assertBoolean } from "../../_memory/region.ts";
import { ClosedError } from "../../_queue/queue.ts";
import type { Slots } from "../../_calls/ring/slots.ts";
import type { Collector } from "../collector.ts";
import { type Crew, failuresAfter, type Member } from "../crew.ts";
import { deathOf } from "../errors.ts";
import type { Jobs } from "../jobs.ts";
import type { CloseOptions } from "../options.ts";
import type { Poster } from "../poster.ts";
import type { Staff } from "../staff.ts";
import type { Figures } from "../stats.ts";

/** What ends with a pool. */
interface Mortal {
  readonly jobs: Jobs;
  readonly poster: Poster;
  readonly staff: Staff;
  readonly crew: Crew;
  /** Lets the collector look: there may be no task left. */
  wake(): void;
  /** Lets producers, and runs of `map`, see that the pool has failed. */
  tell(): void;
  /** No task is posted or taken any more. */
  closeRing(): void;
}

/** Whether a pool has ended, or is about to. */
export class Ending {
  readonly #it: Mortal;
  /** Why it cannot do any task: it was closed, or all workers are lost. */
  failure: unknown;
  #closing: Promise<void> | undefined;
  /** Whether it is closed without the tasks that no worker has begun. */
  forced = false;
  #settled: (() => void)[] = [];

  constructor(it: Mortal) {
    this.#it = it;
  }

  /** Whether tasks can be submitted. */
  get isOpen(): boolean {
    return this.failure === undefined && this.#closing === undefined;
  }

  /** Closes it: see {@linkcode Pool.close}. */
  async close(options?: CloseOptions): Promise<void> {
    assertOptions(options, ["force", "timeout"]);
    const { force = false, timeout = Infinity } = options ?? {};
    assertBoolean("force", force);
    assertTimeout(timeout);
    const closing = this.#closing ??= this.#close();
    if (force) this.#refuseWaiting();
    else this.starve();
    if (timeout === Infinity) return await closing;
    const late = () => this.terminate();
    const timer = setTimeout(late, Math.min(timeout, 0x7fff_ffff));
    try {
      await closing;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes it at once: see {@linkcode Pool.terminate}. */
  terminate(): void {
    this.fail(new ClosedError("The pool is closed"));
    this.#it.closeRing();
    void this.#it.crew.stopAll();
  }

  async #close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settled.push(resolve);
      this.tellSettled();
    });
    this.failure ??= new ClosedError("The pool is closed");
    this.#it.staff.end();
    this.#it.tell();
    this.#it.closeRing();
    await this.#it.crew.leaveAll();
  }

  /** Ends the tasks that no worker has begun. */
  #refuseWaiting(): void {
    this.forced = true;
    const error = new ClosedError("The pool is closed");
    for (const job of this.#it.jobs.all()) {
      if (job.spec !== undefined) this.#it.poster.refuse(job, error);
    }
    this.#it.wake(); // there may be no task left
    this.tellSettled();
  }

  /**
   * Ends the tasks of a pool that is being closed if it has no worker, and gets
   * none: nobody will ever do them.
   */
  starve(): void {
    if (this.#closing === undefined) return;
    const { crew, staff } = this.#it;
    // Who has an order to end may do some of them before.
    const most = crew.size + staff.max + staff.guests + staff.orders.size;
    if (most === 0) this.#refuseWaiting();
  }

  /** Throws why no task can be submitted. */
  assertOpen(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.#closing === undefined) return;
    throw new ClosedError("The pool is closed");
  }

  /** From now on, all tasks fail. */
  fail(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.#it.staff.end();
    for (const job of [...this.#it.jobs.all(), ...this.#it.staff.orders]) {
      this.#it.poster.drop(job, error);
    }
    this.#it.wake(); // there is no task left
    this.tellSettled();
    this.#it.tell();
  }

  /** Tells a pool that is being closed when no task is left. */
  tellSettled(): void {
    if (this.#it.jobs.open > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }
}

/** What a pool has of workers that end. */
interface Employer {
  readonly slots: Slots;
  readonly collector: Collector;
  readonly figures: Figures;
  readonly staff: Staff;
  readonly crew: Crew;
  /** Lets the collector look what is left. */
  wake(): void;
}

/** Replaces workers that have ended; without any, the pool ends. */
export class Losses {
  readonly #it: Employer;
  readonly #ending: Ending;

  constructor(it: Employer, ending: Ending) {
    this.#it = it;
    this.#ending = ending;
  }

  /**
   * Sees to it that there are as many workers as there are to be; the pool
   * fails if it has lost its last one. `failures` ended in a row in one place.
   */
  #replace(failures = 0, why?: () => unknown): void {
    if (this.#ending.failure !== undefined) return;
    const { staff, crew } = this.#it;
    const before = staff.workers;
    staff.balance(failures);
    if (staff.workers < before && crew.size + staff.guests === 0) {
      this.#ending.fail(why!());
    }
    this.#ending.starve();
  }

  /** A worker does no more tasks that was ready. */
  bury(member: Member, died: boolean): void {
    const lost = this.#it.slots.abandon(member.id);
    this.#it.collector.sweep(member);
    this.#it.wake(); // the collector looks what is left
    if (died) this.#it.figures.died++;
    const failures = died ? failuresAfter(member, lost > 0) : 0;
    const why = () => deathOf("A worker ended without a task", member);
    this.#replace(failures, why);
  }

  /** A worker could not start. */
  miss(member: Member, isLast: boolean): void {
    this.#it.figures.died++;
    if (isLast) this.#replace(Infinity, () => member.error);
  }

  /** Ends a worker that does a task which nobody wants. */
  terminate(id: number): void {
    for (const member of this.#it.crew.members) {
      // Deno's worker may go on for long, so another one begins at once.
      if (member.id !== id) continue;
      this.#it.figures.died++;
      this.#it.crew.dismiss(member);
      this.#replace();
    }
  }

  /** The worker of that number has taken an order to end. */
  dismissed(number: number): void {
    this.#it.figures.forget(number);
    const { crew, slots } = this.#it;
    const member = crew.member(number);
    // It may have left tasks that were given up.
    const gone = ({ id }: Member) => void slots.abandon(id);
    if (member !== undefined) void crew.leave(member).then(() => gone(member));
    this.#replace();
  }
}
