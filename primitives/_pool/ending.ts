/**
 * How a pool ends: it is closed, or has lost all its workers.
 *
 * @module
 */

import { assertOptions, assertTimeout } from "../_memory/options.ts";
import { assertBoolean } from "../_memory/region.ts";
import { ClosedError } from "../_queue/queue.ts";
import type { Crew } from "./crew.ts";
import type { Jobs } from "./jobs.ts";
import type { CloseOptions } from "./options.ts";
import type { Poster } from "./poster.ts";
import type { Staff } from "./staff.ts";

/** What ends with a pool. */
export interface Mortal {
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
