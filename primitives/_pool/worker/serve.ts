/**
 * How a worker of a pool and the thread that has made it find each other.
 *
 * @module
 */

import type { Parent, ParentEvent } from "../../_worker/parent.ts";
import { brief, describe } from "../../_memory/describe.ts";
import type { Spec } from "../jobs.ts";
import type { AnyTask, ReplyOf, RequestOf, Tasks } from "../task.ts";
import {
  type Hello,
  isTagged,
  type Place,
  type PoolMessage,
  tagged,
} from "../wire.ts";
import type { TaskContext } from "./context.ts";
import type { Served } from "./server.ts";

/** The function of a task. */
export type TaskFunction<T extends AnyTask> = (
  request: RequestOf<T>,
  context: TaskContext,
) => ReplyOf<T> | Promise<ReplyOf<T>>;

/**
 * The functions of a worker: one for each task, or for some of them. The only
 * task may be named `default`, so a module with a default export fits.
 */
export type TaskFunctions<T extends Tasks> =
  & { readonly [Name in keyof T]?: TaskFunction<T[Name]> }
  & ("default" extends keyof T ? unknown
    : { readonly default?: TaskFunction<OnlyTask<T>> });

/** The task, if there is one; `never`, if there are several. */
export type OnlyTask<T extends Tasks, Name extends keyof T = keyof T> =
  Name extends keyof T ? [keyof T] extends [Name] ? T[Name] : never : never;

/**
 * Makes the functions of a worker, of what the pool has as its option `init`.
 * The worker is ready once it has.
 */
export type MakeFunctions<T extends Tasks> = (
  init: never,
) => TaskFunctions<T> | Promise<TaskFunctions<T>>;

/** How to serve a pool. */
export interface ServePoolOptions {
  /**
   * Whether to block while there are no tasks, so that a task begins sooner;
   * `false` unless given. Then the functions must not be async, and the worker
   * has no timers, messages or debugger until the pool is closed.
   */
  readonly blocking?: boolean | undefined;
  /**
   * How many tasks may run at a time; 1 unless given. More are of use only if
   * functions await something; a worker that blocks does one at a time.
   */
  readonly limit?: number | undefined;
}

/** Listens, until the function that it returns is called. */
function listen(
  parent: Parent,
  event: ParentEvent,
  listener: (data: unknown) => void,
): () => void {
  const heard = ({ data }: MessageEvent) => listener(data);
  if (parent.on !== undefined) parent.on(event, listener);
  else parent.addEventListener?.(event, heard);
  return () => {
    if (parent.off !== undefined) parent.off(event, listener);
    else parent.removeEventListener?.(event, heard);
  };
}

/** Takes messages of the pool, until the function that it returns is called. */
export const hear = (
  parent: Parent,
  take: (message: PoolMessage) => void,
): () => void =>
  listen(parent, "message", (data) => {
    if (isTagged(data)) take(data);
  });

/** Says hello to the pool, and returns where to serve. */
export function placeFrom(
  parent: Parent,
  hello: Omit<Hello, "weft" | "what">,
): Promise<Place> {
  const ends: (() => void)[] = [];
  const place = new Promise<Place>((resolve, reject) => {
    const hears = hear(parent, (message) => {
      if (message.what === "place") resolve(message);
      else if (message.what === "refused") reject(new TypeError(message.why));
    });
    // Otherwise the worker would wait for ever, and so would its tasks.
    const fails = listen(parent, "messageerror", () => {
      reject(new TypeError("The pool's option init cannot be read here"));
    });
    ends.push(hears, fails);
    parent.postMessage(tagged({ what: "hello", ...hello }));
  });
  return place.finally(() => ends.forEach((end) => end()));
}

/**
 * Tells the pool that this worker does no more tasks, as soon as what stands
 * behind `servePool` has begun. A thread of Node ends once that is over, also
 * if somebody listens for messages.
 */
export function sayBye(parent: Parent): void {
  setTimeout(() => parent.postMessage(tagged({ what: "bye" })));
  parent.unref?.();
}

/**
 * The tasks that a worker serves; throws if a function is of no task. A
 * module's `default` stands for the only task, whatever other names that
 * function has.
 */
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
  const isOnly = specs.size === 1 && !specs.has("default");
  const [only] = specs.keys();
  for (const [key, run] of Object.entries(functions)) {
    if (run === undefined) continue;
    const name = isOnly && run === functions.default ? only! : key;
    const spec = specs.get(name);
    if (spec === undefined) {
      throw new TypeError(
        `There is no task ${describe(name)}: there are ${
          brief([...specs.keys()].join(", "), 300)
        }`,
      );
    }
    if (typeof run !== "function") {
      throw new TypeError(
        `Task ${brief(name)} needs a function: received ${describe(run)}`,
      );
    }
    if ((served.get(name)?.run ?? run) !== run) {
      throw new TypeError(
        `Task ${brief(name)} has two functions: one is \`default\``,
      );
    }
    served.set(name, { ...spec, run: run as Served["run"] });
  }
  if (served.size > 0) return served;
  throw new TypeError("servePool needs an object of functions: it has none");
}
