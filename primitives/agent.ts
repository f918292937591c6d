/**
 * The identity of an agent, and its end.
 *
 * @module
 */

import { agentId } from "./_memory/agent_id.ts";
import {
  type ExitingWorker,
  isRefused,
  lockOf,
  type Locks,
  onExit,
  webLocks,
} from "./_worker/exits.ts";

export { agentId, setAgentId } from "./_memory/agent_id.ts";
export type { ExitingWorker } from "./_worker/exits.ts";

/**
 * Lets {@linkcode onAgentExit} in other agents tell when this agent ends. It
 * takes a Web Lock, which the platform releases when the agent ends in any way.
 * Once the lock is held, the promise resolves with the id of this agent, which
 * is then sent to the supervisor. Where Web Locks are missing (Node 20), or
 * refused (in a sandboxed frame, or where the site may store nothing), it only
 * returns the id. In Node, the supervisor then needs the `Worker`.
 *
 * The lock keeps the agent alive until it is closed or terminated. After
 * `setAgentId`, call this again to announce the new id.
 *
 * Firefox keeps no page in its back/forward cache that holds a Web Lock, or
 * that has a worker that holds one; such a page begins anew when the visitor
 * comes back. It decides so before `pagehide`, so giving the lock back there
 * would be too late. Chromium keeps the page, its workers and their locks.
 *
 * If all agents announce themselves, this also notices two agents that drew the
 * same id.
 *
 * C twin: none; a thread of C announces itself by the JavaScript it runs in.
 *
 * @example In a worker, for its supervisor
 * ```ts
 * import { announceAgent } from "@weft/sync";
 *
 * const id = await announceAgent();
 * console.log(`post ${id}: onAgentExit(${id}, …) calls back when this ends`);
 * ```
 *
 * @throws {Error} If another live agent has announced the same id.
 */
export async function announceAgent(): Promise<number> {
  const id = agentId();
  const locks = webLocks();
  if (locks === undefined || announced.has(id)) {
    return await announced.get(id) ?? id;
  }
  const announcing = announce(locks, id).catch((error) => {
    announced.delete(id);
    if (isRefused(error)) return id;
    throw error;
  });
  announced.set(id, announcing);
  return await announcing;
}

async function announce(locks: Locks, id: number): Promise<number> {
  const name = lockOf(id);
  // Not by query(): in Node it tells only of the locks of its own thread.
  while (!await holdForEver(locks, name)) {
    // In the way stood a live agent, or a listener, which is called now.
    if (!await isGranted(locks, name)) {
      throw new Error(
        `Cannot announce agent ${id}: a live agent has announced this id, and ` +
          "locks cannot tell the two apart: give one of them another id " +
          "(setAgentId) before it makes any view",
      );
    }
  }
  return id;
}

/** Takes the lock `name` and never gives it back; false if it is not free. */
function holdForEver(locks: Locks, name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { mode: "exclusive", ifAvailable: true } as const;
    locks.request(name, options, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise<void>(() => {});
    }).catch(reject);
  });
}

/** Whether a shared lock `name` is granted now: then no agent holds it. */
function isGranted(locks: Locks, name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { mode: "shared", ifAvailable: true } as const;
    locks.request(name, options, (lock) => resolve(lock !== null))
      .catch(reject);
  });
}

const announced = /* @__PURE__ */ new Map<number, Promise<number>>();

/**
 * Calls `callback` once when agent `id` has ended. That is the moment to call
 * `recover` with the primitives that the agent may have held. Until the
 * function that this returns is called, the process stays alive; that function
 * stops listening.
 *
 * If the agent's `worker` is given and tells of its exit (`node:worker_threads`
 * in Node, Deno and Bun, and Bun's own `Worker`), that exit is used. Otherwise
 * Web Locks are used (browsers, Deno, Node >= 24.5): `id` must be what
 * {@linkcode announceAgent} returned in the agent, and an agent that never
 * announced itself counts as ended. Node passes an ended worker's lock on only
 * when somebody asks for another one: give the worker there. In both cases the
 * thread does not run any more, not even to the end of a blocking call; in Deno
 * it may be in its last step, for some microseconds.
 *
 * @example A worker that ends with the lock
 * ```ts
 * import { Mutex, onAgentExit, recover } from "@weft/sync";
 *
 * const mutex = Mutex.create();
 * const id = 7; // what the worker's announceAgent() said
 * const stop = onAgentExit(id, (id) => console.log(recover(id, [mutex])));
 * stop();
 * ```
 *
 * @throws {RangeError} If `id` is not an integer from 1 to 2^28 - 1.
 * @throws {TypeError} If `id` is not a number or `callback` no function, or if
 * this platform cannot tell when an agent ends. Then the code that ends an
 * agent must call `abandon`. Where Web Locks are refused, nobody knows at once:
 * a promise that nobody has rejects, with a `SecurityError`.
 */
export function onAgentExit(
  id: number,
  callback: (id: number) => void,
  worker?: ExitingWorker | object,
): () => void {
  return onExit(id, callback, worker, (error) => {
    throw error;
  });
}
