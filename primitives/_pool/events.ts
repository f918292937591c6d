/**
 * What a pool and its tasks tell those who listen, and requests that are moved
 * instead of being copied as bytes. Such a request stays in the pool's thread
 * until a worker has begun the task and says so; then it goes to that worker,
 * in a message.
 *
 * @module
 */

import { contentOf, isTransfer } from "../_calls/beside.ts";
import type { Slots } from "../_calls/ring/slots.ts";
import { ID_MASK, PHASE_MASK, SERVING } from "../_calls/ring/words.ts";
import { assertFunction } from "../_memory/region.ts";
import { brief, describe } from "../_memory/describe.ts";
import type { Parent } from "../_worker/parent.ts";
import type { Member, PoolWorker } from "./crew.ts";
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

  /**
   * Calls `listener` at each event, until the function it returns is called.
   */
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

/** What goes to a worker by a message, and what of it is transferred. */
export interface Parcel {
  readonly value: unknown;
  readonly list: readonly object[];
  /** Whether the request has no room in a slot, and the value is its `Sent`. */
  readonly isLong?: boolean;
  /** Whether another worker may need it, if the first one dies. */
  readonly stays?: boolean;
}

/** A task whose request may have to go in a message. */
interface Moving {
  readonly state: string;
  /** Its slot. */
  readonly at: number;
  parcel: Parcel | undefined;
}

/**
 * What `transfer` has made of a request; undefined for any other request. From
 * now on, the caller does not have what is transferred.
 *
 * @throws {TypeError} If the platform cannot move it. Then nothing was moved,
 * but Deno detaches the buffers of the list all the same.
 */
export function parcelOf(name: string, request: unknown): Parcel | undefined {
  if (!isTransfer(request)) return undefined;
  const [value, list] = contentOf(request);
  try {
    // One clone of both: so its list has the objects that lie in its value.
    const transfer = [...list] as never[];
    return structuredClone({ value, list }, { transfer });
  } catch (cause) {
    throw new TypeError(
      `The request of task ${brief(name)} cannot be transferred: ` +
        (cause as Error).message,
      { cause },
    );
  }
}

/**
 * Sends the worker the request of the task that it has begun. If nobody
 * wants the task any more, the worker is told so. A worker that has died is one
 * that serves no slot: what it said before its death hands nothing over, so
 * that another worker can still do the task.
 */
export function hand(
  job: Moving | undefined,
  token: number,
  { worker, id }: Member,
  slots: Slots,
): void {
  const to = worker as Parent;
  const parcel = job?.parcel;
  if (parcel !== undefined && job!.state === "posted") {
    const word = Atomics.load(slots.words, job!.at);
    if ((word & PHASE_MASK) === SERVING && (word & ID_MASK) === id) {
      if (!parcel.stays) job!.parcel = undefined;
      const values = [parcel.value];
      const message = tagged({ what: "moved", token, values });
      return to.postMessage(message, parcel.list);
    }
  }
  to.postMessage(tagged({ what: "moved", token, values: [] }));
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
