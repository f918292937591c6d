/**
 * The identity of an agent, and its end.
 *
 * @module
 */

import { inRange } from "./_memory.ts";

/** The largest agent id: ids share a word with a lock's flags. */
const MAX_ID = 0x0fff_ffff;

let current = 0;

function randomId(): number {
  const bits = typeof crypto === "undefined" // an AudioWorklet has none
    ? Math.random() * (MAX_ID + 1) | 0
    : crypto.getRandomValues(new Uint32Array(1))[0]! & MAX_ID;
  return bits === 0 ? randomId() : bits;
}

/**
 * The id of this agent, 1 to 2^28 - 1: what a lock word calls its owner. Drawn
 * at random when first asked for; a thread of C draws its own in the same way.
 * Among 100 agents two share an id with a chance of 1 in 50,000.
 *
 * C twin: `weft_agent_id`.
 *
 * @example Who holds the lock
 * ```ts
 * import { agentId, Mutex } from "@weft/sync";
 *
 * const mutex = Mutex.create();
 * using _lock = mutex.lock();
 * if (mutex.owner !== agentId()) throw new Error("somebody else's lock");
 * ```
 */
export function agentId(): number {
  return current === 0 ? current = randomId() : current;
}

/**
 * Gives this agent the id `id`, 1 to 2^28 - 1. A thread that runs both
 * JavaScript and C calls this once with the C side's id, before it makes any
 * view: a view keeps the id it was made under.
 *
 * C twin: `weft_agent_set_id`.
 *
 * @example One id for both languages of a thread
 * ```ts
 * import { agentId, setAgentId } from "@weft/sync";
 *
 * const idOfC = 7; // what the module's weft_agent_id() returned
 * setAgentId(idOfC);
 * if (agentId() !== 7) throw new Error("not taken over");
 * ```
 *
 * @throws {RangeError} If `id` is not an integer from 1 to 2^28 - 1.
 */
export function setAgentId(id: number): void {
  current = inRange("An agent id", id, 1, MAX_ID);
}

/** What this module uses of the Web Locks API. */
interface Locks {
  request(
    name: string,
    options: { readonly mode: "exclusive" | "shared"; signal?: AbortSignal },
    held: () => void | Promise<void>,
  ): Promise<unknown>;
}

const webLocks = (): Locks | undefined =>
  (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks;

/** An agent that announced itself holds the lock of this name while it lives. */
const lockOf = (id: number): string => `weft:agent:${id}`;

/**
 * Lets {@linkcode onAgentExit} in other agents tell when this one ends: takes a
 * Web Lock, which the platform gives back at its end, whatever that is. Its id,
 * to be sent to the supervisor, once that is so. Where there are no Web Locks
 * (Node 20) it is only the id, and the supervisor needs the `Worker`.
 *
 * An agent that announced itself is kept alive by that until it is closed or
 * terminated. What `setAgentId` changes afterwards is announced by another call.
 *
 * Firefox keeps no page with a held Web Lock in its back/forward cache. Giving
 * the lock back for that time would tell others that the agent has ended.
 * So announce the agents of workers, and the page itself only if it holds locks.
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
 */
export async function announceAgent(): Promise<number> {
  const id = agentId();
  const locks = webLocks();
  if (locks === undefined || announced.has(id)) {
    return await announced.get(id) ?? id;
  }
  const announcing = new Promise<number>((resolve, reject) => {
    locks.request(lockOf(id), { mode: "exclusive" }, () => {
      resolve(id);
      return new Promise<void>(() => {}); // never given back
    }).catch(reject);
  });
  announced.set(id, announcing);
  return await announcing;
}

const announced = /* @__PURE__ */ new Map<number, Promise<number>>();

/** A `Worker` of Node or Bun, which tells when its thread has ended. */
export type ExitingWorker =
  & {
    /** -1 once the thread has ended. */
    readonly threadId: number;
  }
  & ({
    /** Node's: calls `listener` when that happens. */
    once(event: "exit", listener: () => void): unknown;
    /** Does not call it any more. */
    off(event: "exit", listener: () => void): unknown;
  } | {
    /** Bun's: calls `listener` when that happens. */
    addEventListener(event: "close", listener: () => void): unknown;
    /** Does not call it any more. */
    removeEventListener(event: "close", listener: () => void): unknown;
  });

/**
 * Calls `callback` once when agent `id` has ended: the moment to call `abandon`
 * on what it may have held. The function that it returns stops listening, and
 * until then the process stays alive.
 *
 * With the agent's `worker`, where that tells of its exit (`node:worker_threads`
 * in Node, Deno and Bun, and Bun's own `Worker`), it is that. Else it is by Web
 * Locks (browsers, Deno, Node >= 24.5): `id` must be what
 * {@linkcode announceAgent} answered there, and an agent that never announced
 * itself counts as ended. Either way the thread does not run any more, not even
 * to the end of a blocking call.
 *
 * @example A worker that ends with the lock
 * ```ts
 * import { Mutex, onAgentExit } from "@weft/sync";
 *
 * const mutex = Mutex.create();
 * const id = 7; // what the worker's announceAgent() said
 * const stop = onAgentExit(id, (id) => mutex.abandon(id));
 * stop();
 * ```
 *
 * @throws {RangeError} If `id` is not an integer from 1 to 2^28 - 1.
 * @throws {TypeError} If `callback` is no function, or this platform cannot
 * tell: then whoever ends an agent has to say so.
 */
export function onAgentExit(
  id: number,
  callback: (id: number) => void,
  worker?: ExitingWorker | object,
): () => void {
  inRange("An agent id", id, 1, MAX_ID);
  if (typeof callback !== "function") {
    throw new TypeError(`A callback must be a function: received ${callback}`);
  }
  let listening = true;
  const exited = () => {
    if (!listening) return;
    listening = false;
    callback(id);
  };
  if (worker !== undefined && "threadId" in worker) {
    const exiting = worker as ExitingWorker;
    if (exiting.threadId < 0) queueMicrotask(exited); // it will not say so again
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
        "worker with an exit event was given: call abandon(id) on what it may " +
        "have held when it has ended",
    );
  }
  const control = new AbortController();
  // Shared, so that any number may listen.
  const options = { mode: "shared", signal: control.signal } as const;
  locks.request(lockOf(id), options, () => {}).then(exited, (error) => {
    if (listening) throw error;
  });
  return () => {
    listening = false;
    control.abort();
  };
}
