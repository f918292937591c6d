/**
 * Plain workers, the same in Deno and Node. So the messages are measured, and
 * not a helper that handles them.
 *
 * @module
 */

import process from "node:process";
import type { PoolWorker } from "../../primitives/pool.ts";

/** A worker, as its starter sees it. */
export interface Hand {
  post(message: unknown): void;
  stop(): void;
  /** The worker itself. */
  readonly worker: PoolWorker;
}

const isNode = !("Deno" in globalThis);
const threads = isNode ? await import("node:worker_threads") : undefined;

// Kept now, because Emscripten's modules replace the global one by Node's.
const WebWorker = globalThis.Worker;

/** Starts the module at `url`, and hears what it posts. */
export function hire(url: URL, hear: (message: never) => void): Hand {
  if (threads) {
    const worker = new threads.Worker(url);
    worker.on("message", (message) => hear(message as never));
    worker.on("error", fail);
    return {
      post: (message) => worker.postMessage(message),
      stop: () => void worker.terminate(),
      worker,
    };
  }
  const worker = new WebWorker(url, { type: "module" });
  worker.onmessage = ({ data }) => hear(data as never);
  worker.onerror = fail;
  return {
    post: (message) => worker.postMessage(message),
    stop: () => worker.terminate(),
    worker,
  };
}

function fail(error: unknown): never {
  console.error(error instanceof Error ? error.stack : error);
  process.exit(1);
}

interface Scope {
  onmessage: (event: MessageEvent) => void;
  postMessage(message: unknown): void;
}

const scope = globalThis as unknown as Scope;

/** In a worker: hears what its starter posts. */
export function listen(hear: (message: never) => void): void {
  if (threads) {
    threads.parentPort!.on("message", (message) => hear(message as never));
  } else scope.onmessage = ({ data }) => hear(data as never);
}

/** In a worker: posts to its starter. */
export const post: (message: unknown) => void = threads?.parentPort
  ? (message) => threads.parentPort!.postMessage(message)
  : (message) => scope.postMessage(message);
