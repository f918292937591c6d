/**
 * One way to start threads in Deno, Bun and browsers (web workers) and in Node
 * (worker threads).
 *
 * ```ts ignore
 * const url = new URL("./_echo.ts", import.meta.url);
 * const thread = await spawn(url, { memory });
 * const answer = await thread.next<number>();
 * thread.stop();
 * ```
 *
 * The module at `url` receives its data, and sends messages, through {@linkcode
 * hello}.
 *
 * @module
 */

import type {
  MessagePort as NodePort,
  Worker as NodeWorker,
} from "node:worker_threads";

/** A thread, as the thread that started it sees it. */
export interface Thread {
  /** Sends a message, which may be a `WebAssembly.Memory`. */
  post(message: unknown): void;
  /** The next message; rejects once the thread has failed or stopped. */
  next<T = unknown>(): Promise<T>;
  /** The platform's `Worker`. */
  readonly worker: object;
  /**
   * Ends the thread. Deno's goes on until it returns to its event loop, so a
   * test ends by `process.exit`.
   */
  stop(): void;
}

/** A thread, as it sees itself. */
export interface Self<T> {
  /** What `spawn` was given. */
  data: T;
  /** Sends a message to the thread that started this one. */
  post(message: unknown): void;
  /** The next message of the thread that started this one. */
  next<M = unknown>(): Promise<M>;
}

// Kept now, because Emscripten's modules replace the global one by Node's.
const WebWorker = globalThis.Worker;

const isNode = !("Deno" in globalThis || "Bun" in globalThis) &&
  "process" in globalThis;
const nodeThreads = isNode ? await import("node:worker_threads") : undefined;

/** Messages that wait for readers, or readers that wait for messages. */
class Inbox {
  readonly #messages: unknown[] = [];
  readonly #readers: PromiseWithResolvers<unknown>[] = [];
  #end: Error | undefined;

  put(message: unknown) {
    const reader = this.#readers.shift();
    if (reader) reader.resolve(message);
    else this.#messages.push(message);
  }

  /** Makes `next` reject when it has returned what came before. */
  close(error: Error) {
    this.#end ??= error;
    for (const reader of this.#readers.splice(0)) reader.reject(this.#end);
  }

  next<T>(): Promise<T> {
    if (this.#messages.length > 0) {
      return Promise.resolve(this.#messages.shift() as T);
    }
    if (this.#end) return Promise.reject(this.#end);
    const reader = withResolvers<unknown>();
    this.#readers.push(reader);
    return reader.promise as Promise<T>;
  }
}

// Promise.withResolvers is missing in Node 20.
function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve!: PromiseWithResolvers<T>["resolve"];
  let reject!: PromiseWithResolvers<T>["reject"];
  const promise = new Promise<T>((yes, no) => (resolve = yes, reject = no));
  return { promise, resolve, reject };
}

/**
 * Starts the module at `url` as a thread and sends it `data`, in which it gets
 * the `ports` for its own.
 */
export function spawn(
  url: URL,
  data?: unknown,
  ports: MessagePort[] = [],
): Promise<Thread> {
  const inbox = new Inbox();
  const worker = nodeThreads
    ? nodeWorker(new nodeThreads.Worker(url), inbox)
    : webWorker(new WebWorker(url, { type: "module" }), inbox);
  // Node's type of a port is another, for the same object.
  worker.postMessage(data, ports as unknown as (MessagePort & NodePort)[]);
  return Promise.resolve({
    worker,
    post: (message) => worker.postMessage(message),
    next: () => inbox.next(),
    stop: () => {
      inbox.close(new Error("the thread was stopped"));
      worker.terminate();
    },
  });
}

/**
 * Threads of a module that does one job after the other. To start a thread
 * takes longer than most jobs.
 */
export class Crew {
  readonly #url: URL;
  readonly #idle: Thread[] = [];

  constructor(url: URL) {
    this.#url = url;
  }

  /** A thread that is given a job. */
  async begin(job: unknown): Promise<Thread> {
    const thread = this.#idle.pop();
    if (thread === undefined) return await spawn(this.#url, job);
    thread.post(job);
    return thread;
  }

  /** Takes back a thread that has done its job. */
  end(thread: Thread): void {
    this.#idle.push(thread);
  }
}

/** Starts the module at `url`, and sends it `data`: returns the `Worker`. */
export function start(url: URL, data?: unknown): NodeWorker | Worker {
  const worker = nodeThreads
    ? new nodeThreads.Worker(url)
    : new WebWorker(url, { type: "module" });
  worker.postMessage(data);
  return worker;
}

function nodeWorker(worker: NodeWorker, inbox: Inbox): NodeWorker {
  worker.on("message", (message) => inbox.put(message));
  worker.on("messageerror", (error) => inbox.close(error));
  worker.on("error", (error) => inbox.close(asError(error)));
  worker.on("exit", () => inbox.close(new Error("the thread ended")));
  return worker;
}

function webWorker(worker: Worker, inbox: Inbox): Worker {
  worker.onmessage = (event) => inbox.put(event.data);
  worker.onmessageerror = () => inbox.close(new Error("unreadable message"));
  worker.onerror = (event) => {
    event.preventDefault(); // else Deno ends this thread too
    inbox.close(new Error(event.message || "the thread did not load"));
  };
  // Bun alone tells that a thread ended without an error.
  worker.addEventListener("close", () => {
    inbox.close(new Error("the thread ended"));
  });
  return worker;
}

// Listening starts when this module loads: a message that arrives while the
// thread's own module still awaits something would be lost.
const ours = new Inbox();
const scope = globalThis as unknown as {
  WorkerGlobalScope?: unknown;
  /** Bun, whose workers have no scope by name. */
  Bun?: { isMainThread: boolean };
  addEventListener(type: "message", take: (event: MessageEvent) => void): void;
  postMessage(message: unknown): void;
};
if (nodeThreads) {
  nodeThreads.parentPort?.on("message", (message) => ours.put(message));
} else if (scope.WorkerGlobalScope || scope.Bun?.isMainThread === false) {
  scope.addEventListener("message", (event) => ours.put(event.data));
}

/** In a thread: what `spawn` was given, and the way to talk to its caller. */
export async function hello<T = unknown>(): Promise<Self<T>> {
  const post = nodeThreads
    ? (message: unknown) => nodeThreads.parentPort!.postMessage(message)
    : (message: unknown) => scope.postMessage(message);
  return { data: await ours.next<T>(), post, next: () => ours.next() };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
