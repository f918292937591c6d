/**
 * The workers of a pool: starts them, tries again if one cannot start, lets
 * them end, and notices when one has ended.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { ClosedError } from "../_queue/queue.ts";
import type { Death } from "./errors.ts";
import {
  type Begun,
  clock,
  type Hello,
  isTagged,
  type Long,
  tagged,
} from "./wire.ts";
import { refer } from "../_wait/times.ts";

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
  ref?(): void;
  unref?(): void;
}

/**
 * A seat is given up after this many workers in a row that ended before they
 * did a task. Before each further one the pool waits, for longer each time.
 */
const MOST_FAILURES = 3;
const pauseAfter = (failures: number): number => 25 * 4 ** failures;
/**
 * A worker has not failed once it has waited for a task for this time, in ms.
 */
const LONG_LIFE_MS = 10_000;
/**
 * How long, in ms, a worker may take to end by itself: then its output arrives,
 * and what stands behind `servePool` is done.
 */
const GRACE = 1000;
/** How long, in ms, a message of a worker may take that was terminated. */
const LAST_MESSAGE = 100;

/** One worker. */
export interface Member extends Death {
  readonly number: number;
  worker: Eventful | undefined;
  /** Its agent's id, once it is ready. */
  id: number;
  state: "starting" | "ready" | "leaving" | "gone";
  /** Whether nobody can tell when it ends. */
  untold: boolean;
  /** Whether it was told that it is ready, and not that it has ended. */
  serves: boolean;
  /** How many workers in its place ended in a row before they did a task. */
  failures: number;
  /** When it became ready. */
  since: number;
  /** Tasks that it did, and the ms it spent in them. */
  tasks: number;
  busy: number;
  error: unknown;
  code: number | undefined;
  /** Called once it is ready, or cannot start. */
  readonly started: (error?: unknown) => void;
  /** Called once it has ended, or has nothing left to do. */
  left: () => void;
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
  /** A worker has begun a task that talks, or whose request is moved. */
  begun(begun: Begun, member: Member): void;
  /** A task reports something. */
  report(token: number, value: unknown): void;
  /** A worker does no more tasks; `died` if nobody had told it to end. */
  ended(member: Member, died: boolean): void;
  /** A worker is ready. */
  started(worker: PoolWorker, id: number): void;
  /** A worker that was ready has ended; `died` if nobody had told it to. */
  over(worker: PoolWorker, id: number, died: boolean, why: Death): void;
  /** A worker could not start; `isLast` if nothing takes its place. */
  failed(member: Member, isLast: boolean): void;
  /** No message of the worker of that number will come any more. */
  silent(number: number, dead?: Member): void;
  /** Calls back when an agent has ended, or that nobody can tell. */
  onExit(
    id: number,
    callback: () => void,
    worker: object,
    refused: () => void,
  ): () => void;
}

/** Starts workers, and ends them. */
export class Crew {
  readonly #events: CrewEvents;
  readonly #patience: number;
  /** Those that are ready, or start. */
  readonly members: Set<Member> = new Set();
  /** Those that were told to end, and have not ended. */
  readonly #leaving = new Map<Member, Promise<void>>();
  /** Those that are not gone, by their numbers. */
  readonly #all = new Map<number, Member>();
  #started = 0;

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
    return this.#all.get(number);
  }

  #remove(member: Member): void {
    this.members.delete(member);
    this.#all.delete(member.number);
  }

  /**
   * Starts a worker; resolves once it is ready, and rejects if it cannot.
   * `failures` workers in its place ended in a row before they did a task.
   */
  start(failures = 0): Promise<void> {
    return new Promise((resolve, reject) => {
      const member: Member = {
        number: this.#started++,
        worker: undefined,
        id: 0,
        state: "starting",
        untold: false,
        serves: false,
        failures,
        since: 0,
        tasks: 0,
        busy: 0,
        error: undefined,
        code: undefined,
        started: (error) => error === undefined ? resolve() : reject(error),
        left: () => {},
        unlisten: () => {},
      };
      this.members.add(member);
      this.#all.set(member.number, member);
      this.#begin(member);
    });
  }

  /** Makes the worker of a member, after a pause if one was lost. */
  #begin(member: Member): void {
    if (member.failures === 0) return this.#make(member);
    const begin = () => this.#make(member);
    const pause = setTimeout(begin, pauseAfter(member.failures));
    member.unlisten = () => clearTimeout(pause);
  }

  /** Makes a worker; tries again if that is of use. */
  #make(member: Member): void {
    try {
      const worker = this.#made();
      if (member.state === "starting") this.#listen(member, worker);
      else void end(worker); // `make` itself has ended the pool
    } catch (error) {
      queueMicrotask(() => this.#fail(member, error));
    }
  }

  /** Ends a worker at once. */
  stop(member: Member): Promise<void> {
    member.unlisten();
    const { state } = member;
    member.state = "gone";
    this.#remove(member);
    this.#over(member, false);
    member.left();
    if (state === "starting") {
      member.started(
        new ClosedError("The pool was closed before the worker started"),
      );
    }
    return end(member.worker);
  }

  /** Ends all workers at once. */
  stopAll(): Promise<unknown> {
    const all = [...this.members, ...this.#leaving.keys()];
    return Promise.all(all.map((member) => this.stop(member)));
  }

  /** Lets all workers end, which do no more tasks. */
  leaveAll(): Promise<unknown> {
    for (const member of [...this.members]) {
      if (member.state === "starting") void this.stop(member);
      else void this.leave(member);
    }
    return this.left();
  }

  /** Lets a worker end that does no more tasks. */
  leave(member: Member): Promise<void> {
    if (member.state === "starting") {
      // It has taken an order; the message that it is ready is on its way.
      member.started();
    } else if (member.state !== "ready") {
      return this.#leaving.get(member) ?? Promise.resolve();
    }
    this.members.delete(member); // its last messages may come
    member.state = "leaving";
    const leaving = this.#leave(member);
    this.#leaving.set(member, leaving);
    return leaving;
  }

  async #leave(member: Member): Promise<void> {
    let timer;
    await new Promise<void>((resolve) => {
      member.left = resolve;
      member.worker!.ref?.(); // until it ends, its output may come
      timer = setTimeout(resolve, GRACE);
    });
    clearTimeout(timer);
    await this.stop(member);
    this.#leaving.delete(member);
    this.#events.silent(member.number, member);
  }

  /** Waits for all workers that were told to end. */
  left(): Promise<unknown> {
    return Promise.all(this.#leaving.values());
  }

  /** Ends a worker that does a task; `ended` tells when it is over. */
  dismiss(member: Member): void {
    member.state = "gone";
    this.#remove(member);
    this.#over(member, true);
    void end(member.worker);
    this.#silence(member.number, member);
  }

  /** A message of that worker is on its way, unless it is gone. */
  expectFrom(number: number): void {
    if (!this.#all.has(number)) this.#silence(number);
  }

  /** Waits for messages of a worker that is gone, which may be on their way. */
  #silence(number: number, dead?: Member): void {
    setTimeout(() => {
      // Those that came while this thread was busy go first.
      setTimeout(() => this.#events.silent(number, dead));
    }, LAST_MESSAGE);
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
    this.#limit(member);
    const isOurs = () => member.worker === worker; // and no later attempt
    const message = (data: unknown) => this.#hear(member, worker, data);
    const failed = (error: unknown) => {
      if (!isOurs()) return;
      member.error = error;
      if (member.state === "starting") this.#fail(member, error);
    };
    const exited = (code?: unknown) => {
      if (!isOurs()) return;
      if (typeof code === "number") member.code = code;
      member.left();
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
      void end(worker);
      if (isOurs() && member.untold) this.#end(member);
    });
  }

  /**
   * Gives a worker up that does not serve in time. If this thread stood still
   * meanwhile, what the worker said has not been heard, and in a page that was
   * frozen, the worker stood still, too: it has as much time again.
   */
  #limit(member: Member): void {
    const patience = Math.min(this.#patience, 0x7fff_ffff);
    const due = clock() + patience;
    const fail = () => {
      const what =
        `A worker did not call servePool within ${this.#patience} ms`;
      this.#fail(member, new Error(what), true);
    };
    const wait = (then: () => void, ms: number) => {
      const timer = setTimeout(then, ms);
      refer(timer, false);
      member.unlisten = () => clearTimeout(timer);
    };
    wait(() => wait(fail, Math.min(clock() - due, patience)), patience);
  }

  /** A worker says something. */
  #hear(member: Member, worker: Eventful, data: unknown): void {
    if (!isTagged(data)) return;
    const starts = member.worker === worker && member.state === "starting";
    if (data.what === "long") this.#events.long(data);
    else if (data.what === "begun") this.#events.begun(data, member);
    else if (data.what === "report") {
      this.#events.report(data.token, data.value);
    } else if (data.what === "bye") this.#bye(member, worker);
    else if (data.what === "hello" && starts) {
      this.#greet(member, worker, data);
    } else if (data.what === "ready" && starts && member.id !== 0) {
      this.#welcome(member, worker);
    }
  }

  /** A worker says that it serves, once it has made its functions. */
  #greet(member: Member, worker: Eventful, hello: Hello): void {
    try {
      this.#events.hello(member, hello);
    } catch (error) {
      const why = (error as Error).message;
      worker.postMessage(tagged({ what: "refused", why }));
      return this.#fail(member, error, true);
    }
    member.id = hello.id;
    if (hello.makes) return; // within its patience
    this.#welcome(member, worker);
  }

  /** A worker is ready. */
  #welcome(member: Member, worker: Eventful): void {
    member.unlisten(); // no timer runs any more
    member.since = clock();
    member.state = "ready";
    member.serves = true;
    // An idle pool does not keep the process alive; its tasks do.
    worker.unref?.();
    try {
      const ended = () => this.#end(member);
      const refused = () => {
        member.untold = true;
      };
      const { onExit } = this.#events;
      member.unlisten = onExit(member.id, ended, worker, refused);
    } catch {
      // This platform cannot tell: tasks of a dead worker end by their timeout.
    }
    member.started();
    this.#events.started(worker, member.id);
  }

  /** A worker says that it does no more tasks. */
  #bye(member: Member, worker: Eventful): void {
    if (member.state === "ready") {
      void this.leave(member);
      this.#events.ended(member, false);
    }
    // A thread of Node ends by itself, once all that it began is over.
    if (worker.on === undefined) member.left();
  }

  #end(member: Member): void {
    this.#remove(member);
    const { state } = member;
    if (state === "ready") member.state = "gone";
    this.#over(member, state === "ready");
    this.#events.ended(member, state === "ready");
    member.left();
    if (state === "ready") this.#silence(member.number, member);
  }

  /** Tells once that a worker which was ready has ended. */
  #over(member: Member, died: boolean): void {
    if (!member.serves) return;
    member.serves = false;
    this.#events.over(member.worker!, member.id, died, member);
  }

  #fail(member: Member, thrown: unknown, isFinal = false): void {
    if (member.state !== "starting") return;
    const error = thrown ?? new Error("A worker could not start");
    member.unlisten();
    const { worker } = member;
    member.worker = undefined;
    void end(worker);
    member.failures++;
    const isLast = isFinal || member.failures >= MOST_FAILURES;
    if (!isLast) {
      this.#events.failed(member, false);
      return this.#begin(member);
    }
    member.error = error;
    member.state = "gone";
    this.#remove(member);
    member.started(error);
    this.#events.failed(member, true);
  }
}

/** Ends a worker. One that cannot be ended counts as gone as well. */
async function end(worker: PoolWorker | undefined): Promise<void> {
  try {
    await worker?.terminate();
  } catch {
    // Nobody can do more.
  }
}

/**
 * Whether nothing takes the place of a worker after this number of failures.
 */
export const isTooMany = (failures: number): boolean =>
  failures >= MOST_FAILURES;

/**
 * How many workers in a row ended in the place of this one before they did a
 * task; `wasOfUse` if this one did a task when it ended.
 */
export function failuresAfter(member: Member, wasOfUse: boolean): number {
  const lived = clock() - member.since;
  const isFine = wasOfUse || member.tasks > 0 || lived > LONG_LIFE_MS;
  return isFine ? 0 : member.failures + 1;
}

/** What an `error` event of a web worker tells. */
function errorOf({ error, message, filename, lineno }: ErrorEvent): unknown {
  if (error !== undefined && error !== null) return error;
  const where = filename ? ` (${filename}:${lineno})` : "";
  return new Error((message || "A worker did not load") + where);
}
