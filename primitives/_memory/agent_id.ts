/**
 * The identity of an agent.
 *
 * @module
 */

import { explorer } from "./explored.ts";
import { inRange } from "./memory.ts";

/** The largest agent id: ids share a word with a lock's flags. */
export const MAX_ID = 0x0fff_ffff;

const own = { id: 0 };

/** The identity of this agent; the race tester has many agents in one. */
const identity = () => explorer()?.identity() ?? own;

function randomId(): number {
  const bits = typeof crypto === "undefined" // an AudioWorklet has no `crypto`
    ? Math.random() * (MAX_ID + 1) | 0
    : crypto.getRandomValues(new Uint32Array(1))[0]! & MAX_ID;
  return bits === 0 ? randomId() : bits;
}

/**
 * The id of this agent, 1 to 2^28 - 1. A lock word names its owner by this id.
 * It is drawn at random at the first call; a thread of C draws its own id in
 * the same way. Among 100 agents, the chance that two share an id is 1 in
 * 50,000.
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
  const me = identity();
  return me.id === 0 ? me.id = randomId() : me.id;
}

/**
 * Gives this agent the id `id`, 1 to 2^28 - 1. A thread that runs both
 * JavaScript and C calls this once with the id of the C side, before it makes
 * any view: a view keeps the id under which it was made.
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
 * @throws {TypeError} If `id` is not a number.
 * @throws {RangeError} If `id` is not an integer from 1 to 2^28 - 1.
 */
export function setAgentId(id: number): void {
  identity().id = inRange("An agent id", id, 1, MAX_ID);
}
