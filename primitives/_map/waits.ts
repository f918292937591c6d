/**
 * Agents that wait for keys, and agents that make values for others.
 *
 * An agent that waits for a key sleeps on one of 32 event counts, which the
 * hash of the key chooses. Whoever adds a key with such a hash wakes all that
 * sleep there.
 *
 * A flight says that an agent makes a value for keys with a certain hash. It
 * has two words: the id of the agent, or 0; and the hash, or 0. Whoever begins
 * a flight holds the bucket of the key, so two agents never begin flights with
 * the same hash. It may end the flight without the bucket. Who waits for the
 * flight looks whether the hash is still there; a key that happens to have the
 * same hash only waits longer.
 *
 * @module
 */

import { wake } from "../_wait/event_count.ts";
import { epochFor, type Plan } from "./plan.ts";

/** A key to wait for, as words. */
export interface Wanted {
  readonly hash: number;
  readonly words: Int32Array;
  readonly count: number;
}

/** Word 0 of a flight is its owner; the other words, and how many there are. */
const HASH = 1, FLIGHT = 2;
const NOBODY = 0;
/** What `begin` returns if there is no room: nobody waits for this agent. */
const ALONE = 0;

/** The waits of one map, as one view of it sees them. */
export class Waits {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #plan: Plan;
  readonly #id: number;

  /** `id` is the agent that uses the view. */
  constructor(words: Int32Array<SharedArrayBuffer>, plan: Plan, id: number) {
    this.#words = words;
    this.#plan = plan;
    this.#id = id;
  }

  /** Wakes all agents that wait for a key with this hash. */
  wake(hash: number): void {
    wake(this.#words, epochFor(this.#plan, hash), Infinity);
  }

  /**
   * Begins a flight, for an agent that holds the bucket of the key. Returns
   * where it is; `ALONE` if there is no room; or `undefined` if another flight
   * has this hash.
   */
  begin(hash: number): number | undefined {
    const words = this.#words;
    const { flights, flightCount } = this.#plan;
    const name = nameOf(hash);
    const end = flights + flightCount * FLIGHT;
    let free = ALONE;
    for (let at = end - FLIGHT; at >= flights; at -= FLIGHT) {
      const found = Atomics.load(words, at + HASH);
      if (found === name) return undefined;
      if (found === 0 && Atomics.load(words, at) === NOBODY) free = at;
    }
    for (let at = free; at !== ALONE && at < end; at += FLIGHT) {
      const owner = Atomics.compareExchange(words, at, NOBODY, this.#id);
      if (owner !== NOBODY) continue;
      Atomics.store(words, at + HASH, name);
      return at;
    }
    return ALONE;
  }

  /** Ends a flight of this agent, and wakes those that wait for it. */
  end(flight: number, hash: number): void {
    if (flight === ALONE) return;
    const words = this.#words;
    Atomics.store(words, flight + HASH, 0); // (E) then wake
    Atomics.store(words, flight, NOBODY);
    this.wake(hash);
  }

  /** Ends the flights of agent `id`, which is dead; returns how many. */
  release(id: number): number {
    const words = this.#words;
    const { flights, flightCount } = this.#plan;
    let count = 0;
    for (let i = 0; i < flightCount; i++) {
      const at = flights + i * FLIGHT;
      if (Atomics.load(words, at) !== id) continue;
      // One agent does it: then nobody else's flight is ended.
      if (Atomics.compareExchange(words, at, id, this.#id) !== id) continue;
      this.end(at, Atomics.load(words, at + HASH));
      count++;
    }
    return count;
  }
}

/** A hash as a flight has it: 0 says that there is none. */
const nameOf = (hash: number): number => hash === 0 ? 1 : hash;
