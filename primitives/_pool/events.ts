/**
 * What a pool tells those who listen.
 *
 * @module
 */

import { assertFunction } from "../_memory/region.ts";
import { describe } from "../_memory/describe.ts";
import type { PoolWorker } from "./crew.ts";
import type { Death } from "./errors.ts";

/** A worker of a pool that serves. */
export interface WorkerStarted {
  /** What `make` has returned. */
  readonly worker: PoolWorker;
  /** The id of its agent. */
  readonly id: number;
}

/** A worker that served, and does no more. */
export interface WorkerEnded extends WorkerStarted {
  /** Whether nobody had told it to end. */
  readonly died: boolean;
  /** What it threw outside of all tasks, as far as that is known. */
  readonly error: unknown;
  /** With which code it exited, as far as that is known. */
  readonly code: number | undefined;
}

/** What a pool tells, by its name. */
export interface PoolEvents {
  /** A worker is ready to do tasks. */
  readonly "worker:start": WorkerStarted;
  /** A worker that was ready has ended. */
  readonly "worker:end": WorkerEnded;
  /** Tasks waited for room in shared memory, and none does any more. */
  readonly drain: undefined;
}

type Listener = (event: never) => void;

/** Those who listen. */
export class Listeners {
  readonly #all: Readonly<Record<keyof PoolEvents, Set<Listener>>> = {
    "worker:start": new Set(),
    "worker:end": new Set(),
    drain: new Set(),
  };

  /** Calls `listener` at each event, until the function it returns is called. */
  on(event: keyof PoolEvents, listener: Listener): () => void {
    if (!Object.hasOwn(this.#all, event)) {
      const names = Object.keys(this.#all).join(", ");
      throw new TypeError(
        `A pool has the events ${names}: received ${describe(event)}`,
      );
    }
    assertFunction(listener);
    const heard: Listener = (it) => listener(it); // one may listen twice
    this.#all[event].add(heard);
    return () => void this.#all[event].delete(heard);
  }

  /** Tells of an event; what a listener throws is not the pool's. */
  tell<Name extends keyof PoolEvents>(name: Name, it: PoolEvents[Name]): void {
    for (const listener of [...this.#all[name]]) {
      try {
        listener(it as never);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** A worker serves. */
  started(worker: PoolWorker, id: number): void {
    this.tell("worker:start", { worker, id });
  }

  /** A worker that served has ended. */
  ended(worker: PoolWorker, id: number, died: boolean, why: Death): void {
    const { error, code } = why;
    this.tell("worker:end", { worker, id, died, error, code });
  }
}
