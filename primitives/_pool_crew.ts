/**
 * The workers of a pool: starts them, and notices when one ends.
 *
 * @module
 */

import { describe } from "./_describe.ts";
import { type Hello, isTagged, type Long, tagged } from "./_pool_wire.ts";
import { refer } from "./_times.ts";

/** A `Worker` of the web, of Node or of Bun. */
export interface PoolWorker {
  /** Sends it a message. */
  postMessage(message: unknown): void;
  /** Ends it. */
  terminate(): unknown;
}

/** The events of any kind of worker. */
interface Eventful extends PoolWorker {
  on?(event: string, listener: (value: never) => void): unknown;
  addEventListener?(event: string, listener: (event: never) => void): unknown;
  unref?(): void;
}

/** One worker. */
export interface Member {
  readonly number: number;
  worker: Eventful | undefined;
  /** Its agent's id, once it is ready. */
  id: number;
  state: "starting" | "ready" | "gone";
  /** When it became ready. */
  since: number;
  /** Tasks that it did, and the ms it spent in them. */
  tasks: number;
  busy: number;
  /** What it threw outside of all tasks. */
  error: unknown;
  /** Called once it is ready, or cannot start. */
  readonly started: (error?: unknown) => void;
  /** Stops listening for its end. */
  unlisten(): void;
}

/** What a pool has to do with its workers. */
export interface CrewEvents {
  /** Makes a worker. */
  make(): PoolWorker;
  /** A worker says that it serves; throws if its tasks are others. */
  hello(member: Member, hello: Hello): void;
  /** A reply that was too long for its slot. */
  long(message: Long): void;
  /** A worker has ended that was ready. */
  ended(member: Member): void;
  /** A worker could not start. */
  failed(member: Member, error: unknown): void;
  /** Calls back when an agent has ended. */
  onExit(id: number, callback: () => void, worker: object): () => void;
}

/** Starts workers, and ends them. */
export class Crew {
  readonly #events: CrewEvents;
  readonly #patience: number;
  readonly members: Set<Member> = new Set();
  /** Those that were made so far, by their numbers. */
  readonly #all: (Member | undefined)[] = [];

  /** A worker must say that it serves within `patience` ms. */
  constructor(events: CrewEvents, patience: number) {
    this.#events = events;
    this.#patience = patience;
  }

  /** How many workers are ready, or start. */
  get size(): number {
    return this.members.size;
  }

  /** The worker of that number, if it is not gone. */
  member(number: number): Member | undefined {
    return this.#all[number];
  }

  #remove(member: Member): void {
    this.members.delete(member);
    this.#all[member.number] = undefined;
  }

  /** Starts a worker; resolves once it is ready, and rejects if it cannot. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const member: Member = {
        number: this.#all.length,
        worker: undefined,
        id: 0,
        state: "starting",
        since: 0,
        tasks: 0,
        busy: 0,
        error: undefined,
        started: (error) => error === undefined ? resolve() : reject(error),
        unlisten: () => {},
      };
      this.members.add(member);
      this.#all.push(member);
      try {
        this.#listen(member, this.#made());
      } catch (error) {
        queueMicrotask(() => this.#fail(member, error));
      }
    });
  }

  /** Ends a worker. */
  stop(member: Member): unknown {
    member.unlisten();
    member.state = "gone";
    this.#remove(member);
    member.started(new Error("The pool was closed before the worker started"));
    return member.worker?.terminate();
  }

  /** Ends a worker that does a task; `ended` tells when it is over. */
  dismiss(member: Member): void {
    member.state = "gone";
    this.#remove(member);
    member.worker!.terminate();
  }

  #made(): Eventful {
    const worker = this.#events.make() as Eventful;
    const eventful = typeof worker?.on === "function" ||
      typeof worker?.addEventListener === "function";
    if (
      eventful && typeof worker.postMessage === "function" &&
      typeof worker.terminate === "function"
    ) return worker;
    throw new TypeError(
      `make must return a Worker: received ${describe(worker)}`,
    );
  }

  #listen(member: Member, worker: Eventful): void {
    member.worker = worker;
    const late = setTimeout(() => {
      this.#fail(
        member,
        new Error(
          `A worker did not call servePool within ${this.#patience} ms`,
        ),
      );
    }, Math.min(this.#patience, 0x7fff_ffff));
    refer(late, false);
    member.unlisten = () => clearTimeout(late);
    const message = (data: unknown) => {
      if (!isTagged(data)) return;
      if (data.what === "long") this.#events.long(data);
      else if (data.what === "hello" && member.state === "starting") {
        clearTimeout(late);
        this.#greet(member, worker, data);
      }
    };
    const failed = (error: unknown) => {
      member.error = error;
      if (member.state === "starting") this.#fail(member, error);
    };
    const exited = (code?: unknown) => {
      if (member.state !== "starting") return;
      const how = typeof code === "number" ? ` with exit code ${code}` : "";
      this.#fail(
        member,
        new Error(`A worker ended${how} before it called servePool`),
      );
    };
    if (typeof worker.on === "function") {
      worker.on("message", message);
      worker.on("messageerror", failed);
      worker.on("error", failed);
      worker.on("exit", exited);
      return;
    }
    const on = (event: string, listener: (event: never) => void) =>
      worker.addEventListener!(event, listener);
    on("message", ({ data }: MessageEvent) => message(data));
    on("messageerror", () => failed(new Error("A message cannot be read")));
    on("close", () => exited()); // of Bun
    on("error", (event: ErrorEvent) => {
      event.preventDefault?.(); // or Deno ends this thread, too
      failed(errorOf(event));
      // A page's worker would go on. In other runtimes it has ended.
      worker.terminate();
    });
  }

  #greet(member: Member, worker: Eventful, hello: Hello): void {
    try {
      this.#events.hello(member, hello);
    } catch (error) {
      const why = (error as Error).message;
      worker.postMessage(tagged({ what: "refused", why }));
      return this.#fail(member, error);
    }
    member.id = hello.id;
    member.state = "ready";
    // An idle pool does not keep the process alive; its tasks do.
    worker.unref?.();
    try {
      const ended = () => this.#end(member);
      member.unlisten = this.#events.onExit(hello.id, ended, worker);
    } catch {
      // This platform cannot tell: tasks of a dead worker end by their timeout.
    }
    member.started();
  }

  #end(member: Member): void {
    this.#remove(member);
    this.#events.ended(member);
    member.state = "gone";
  }

  #fail(member: Member, thrown: unknown): void {
    if (member.state !== "starting") return;
    const error = thrown ?? new Error("A worker could not start");
    member.unlisten();
    member.state = "gone";
    this.#remove(member);
    try {
      member.worker?.terminate();
    } catch {
      // It is of no use anyway.
    }
    member.started(error);
    this.#events.failed(member, error);
  }
}

/** What an `error` event of a web worker tells. */
function errorOf({ error, message, filename, lineno }: ErrorEvent): unknown {
  if (error !== undefined && error !== null) return error;
  const where = filename ? ` (${filename}:${lineno})` : "";
  return new Error((message || "A worker did not load") + where);
}
