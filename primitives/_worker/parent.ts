/**
 * The end of a worker's messages to the thread that has made it.
 *
 * @module
 */

/** A message, or one that cannot be read in this thread. */
export type ParentEvent = "message" | "messageerror";

/** The worker's end of the messages. */
export interface Parent {
  postMessage(message: unknown, list?: readonly object[]): void;
  unref?(): void;
  on?(event: ParentEvent, listener: (data: unknown) => void): void;
  off?(event: ParentEvent, listener: (data: unknown) => void): void;
  addEventListener?(
    event: ParentEvent,
    listener: (event: MessageEvent) => void,
  ): void;
  removeEventListener?(
    event: ParentEvent,
    listener: (event: MessageEvent) => void,
  ): void;
}

/**
 * The end of a worker's messages to the thread that has made it. An error names
 * `caller`, and says who makes the worker.
 */
export function parent(caller: string, maker: string): Parent {
  const scope = globalThis as unknown as Parent & {
    process?: {
      getBuiltinModule?(name: string): { parentPort?: Parent | null };
    };
    document?: unknown;
    Bun?: { isMainThread: boolean };
    WorkerGlobalScope?: unknown;
  };
  const threads = scope.process?.getBuiltinModule?.("node:worker_threads");
  const port = threads?.parentPort;
  if (typeof port?.on === "function") return port;
  if (scope.WorkerGlobalScope || scope.Bun?.isMainThread === false) {
    return scope;
  }
  throw new TypeError(
    `${caller} must be called in a worker, which ${maker} has made ` +
      "(in Node: 20.16 or newer)",
  );
}
