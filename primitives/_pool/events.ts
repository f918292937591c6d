/**
 * What a pool and its tasks tell those who listen.
 *
 * @module
 */

import { assertFunction } from "../_memory/region.ts";
import { describe } from "../_memory/describe.ts";
import type { PoolWorker } from "./crew.ts";
import type { Death } from "./errors.ts";
import { tagged } from "./wire.ts";

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

/** Calls a listener; what it throws is an uncaught error. */
function call(listener: Listener, it: unknown): void {
  try {
    listener(it as never);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

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
    for (const listener of [...this.#all[name]]) call(listener, it);
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

/** The messages between a task that runs and its caller. */
export class Talk {
  readonly #report: ((value: never) => void) | undefined;
  #worker: PoolWorker | undefined;
  /** What is to be said once a worker has begun the task. */
  #kept: unknown[] = [];

  /** `report` is called with what the task reports, if anybody wants it. */
  constructor(report: ((value: never) => void) | undefined) {
    this.#report = report && boundHere(report);
  }

  /** The task reports something. */
  report(value: unknown): void {
    if (this.#report !== undefined) call(this.#report, value);
  }

  /** A worker has begun the task. */
  begin(token: number, worker: PoolWorker): void {
    this.#worker = worker;
    for (const value of this.#kept.splice(0)) this.send(token, value);
  }

  /** The worker that had begun the task has died; another one will. */
  rest(): void {
    this.#worker = undefined;
  }

  /** Says something to the task. */
  send(token: number, value: unknown): void {
    if (this.#worker === undefined) this.#kept.push(structuredClone(value));
    else this.#worker.postMessage(tagged({ what: "message", token, value }));
  }
}

/**
 * A function that runs in the context of the caller, as `AsyncLocalStorage`
 * knows it, where the platform has such contexts.
 */
export function boundHere<F extends (...args: never[]) => unknown>(fn: F): F {
  const scope = globalThis as unknown as {
    process?: {
      getBuiltinModule?(name: string): {
        AsyncLocalStorage?: { bind?(fn: F): F };
      } | undefined;
    };
  };
  const hooks = scope.process?.getBuiltinModule?.("node:async_hooks");
  return hooks?.AsyncLocalStorage?.bind?.(fn) ?? fn;
}
