/**
 * How agents tell that they live, and learn that another one has ended.
 *
 * @module
 */

import { MAX_ID } from "../_memory/agent_id.ts";
import { describe } from "../_memory/describe.ts";
import { inRange } from "../_memory/memory.ts";

/** The part of the Web Locks API that is used here. */
export interface Locks {
  request(
    name: string,
    options: {
      readonly mode: "exclusive" | "shared";
      readonly ifAvailable?: boolean;
      readonly signal?: AbortSignal;
    },
    held: (lock: object | null) => void | Promise<void>,
  ): Promise<unknown>;
}

/** The Web Locks, if the platform has them. */
export const webLocks = (): Locks | undefined =>
  (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks;

/**
 * Whether a lock was refused because this agent may use none: its origin is
 * opaque, as in a sandboxed frame, or may not store anything.
 */
export const isRefused = (error: unknown): boolean =>
  (error as Error | undefined)?.name === "SecurityError";

/** An announced agent holds the Web Lock of this name while it lives. */
export const lockOf = (id: number): string => `weft:agent:${id}`;

/** A `Worker` of Node or Bun, which tells when its thread has ended. */
export type ExitingWorker =
  & {
    /** -1 once the thread has ended. */
    readonly threadId: number;
  }
  & ({
    /** In Node: calls `listener` when the thread has ended. */
    once(event: "exit", listener: () => void): unknown;
    /** Stops that. */
    off(event: "exit", listener: () => void): unknown;
  } | {
    /** In Bun: calls `listener` when the thread has ended. */
    addEventListener(event: "close", listener: () => void): unknown;
    /** Stops that. */
    removeEventListener(event: "close", listener: () => void): unknown;
  });

/**
 * As `onAgentExit`; calls `refused` with the error if this agent may use no Web
 * Locks.
 */
export function onExit(
  id: number,
  callback: (id: number) => void,
  worker: ExitingWorker | object | undefined,
  refused: (error: unknown) => void,
): () => void {
  inRange("An agent id", id, 1, MAX_ID);
  if (typeof callback !== "function") {
    throw new TypeError(
      `A callback must be a function: received ${describe(callback)}`,
    );
  }
  let listening = true;
  const exited = () => {
    if (!listening) return;
    listening = false;
    callback(id);
  };
  if (worker !== undefined && (typeof worker !== "object" || worker === null)) {
    throw new TypeError(
      `A worker must be a Worker: received ${describe(worker)}`,
    );
  }
  if (worker !== undefined && "threadId" in worker) {
    const exiting = worker as ExitingWorker;
    if (exiting.threadId < 0) queueMicrotask(exited); // there is no further event
    else if ("once" in exiting) exiting.once("exit", exited);
    else exiting.addEventListener("close", exited);
    return () => {
      listening = false;
      if ("once" in exiting) exiting.off("exit", exited);
      else exiting.removeEventListener("close", exited);
    };
  }
  const locks = webLocks();
  if (locks === undefined) {
    throw new TypeError(
      `Cannot tell when agent ${id} ends: there are no Web Locks here, and no ` +
        "worker with an exit event was given: when the agent has ended, call " +
        "abandon(id) on the primitives that it may have held",
    );
  }
  const control = new AbortController();
  // Shared, so that any number may listen.
  const options = { mode: "shared", signal: control.signal } as const;
  locks.request(lockOf(id), options, () => {}).then(exited, (error) => {
    if (!listening) return;
    if (!isRefused(error)) throw error;
    refused(error);
  });
  return () => {
    listening = false;
    control.abort();
  };
}
