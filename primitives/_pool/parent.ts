/**
 * How a worker of a pool and the thread that has made it find each other.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import type { Spec } from "./jobs.ts";
import { isTagged, type Place, tagged } from "./wire.ts";
import type { Served } from "./worker.ts";

/** The worker's end of the messages. */
export interface Parent {
  postMessage(message: unknown): void;
  unref?(): void;
  on?(event: "message", listener: (data: unknown) => void): void;
  off?(event: "message", listener: (data: unknown) => void): void;
  addEventListener?(
    event: "message",
    listener: (event: MessageEvent) => void,
  ): void;
  removeEventListener?(
    event: "message",
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

/** Says hello to the pool, and returns where to serve. */
export function placeFrom(
  parent: Parent,
  tasks: Record<string, string>,
  id: number,
): Promise<Place> {
  return new Promise<Place>((resolve, reject) => {
    const take = (data: unknown) => {
      if (!isTagged(data)) return;
      if (data.what === "place") resolve(data);
      else if (data.what === "refused") reject(new TypeError(data.why));
      else return;
      if (parent.off !== undefined) parent.off("message", take);
      else parent.removeEventListener?.("message", heard);
    };
    const heard = ({ data }: MessageEvent) => take(data);
    if (parent.on !== undefined) parent.on("message", take);
    else parent.addEventListener?.("message", heard);
    parent.postMessage(tagged({ what: "hello", id, tasks }));
  });
}

/**
 * Tells the pool that this worker does no more tasks, as soon as what stands
 * behind `servePool` has begun. A thread of Node ends once that is over, also if
 * somebody listens for messages.
 */
export function sayBye(parent: Parent): void {
  setTimeout(() => parent.postMessage(tagged({ what: "bye" })));
  parent.unref?.();
}

/** The tasks that a worker serves; throws if a function is of no task. */
export function servedBy(
  specs: Map<string, Spec>,
  functions: Readonly<Record<string, unknown>>,
): Map<string, Served> {
  if (typeof functions !== "object" || functions === null) {
    throw new TypeError(
      `servePool needs an object of functions: received ${describe(functions)}`,
    );
  }
  const served = new Map<string, Served>();
  for (const [name, run] of Object.entries(functions)) {
    if (run === undefined) continue;
    const spec = specs.get(name);
    if (spec === undefined) {
      throw new TypeError(
        `There is no task ${JSON.stringify(name)}: there are ${
          [...specs.keys()].join(", ")
        }`,
      );
    }
    if (typeof run !== "function") {
      throw new TypeError(
        `Task ${name} needs a function: received ${describe(run)}`,
      );
    }
    served.set(name, { ...spec, run: run as Served["run"] });
  }
  if (served.size > 0) return served;
  throw new TypeError("servePool needs an object of functions: it has none");
}
