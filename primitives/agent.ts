/**
 * The identity of an agent.
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
