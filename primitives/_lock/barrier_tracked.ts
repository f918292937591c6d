/**
 * The algorithm of a tracked `Barrier`: each party notes in a row that it
 * arrives, and the last one looks at all rows.
 *
 * C twin: the functions of `barrier.h` with `tracked` in their names.
 *
 * @module
 */

import { ROW, Rows } from "../_memory/tracked.ts";
import type { Waiting } from "../_wait/wait.ts";
import {
  GENERATION_MASK,
  ONE_GENERATION,
  type Parties,
  type Passage,
  STATE,
  TRACKED,
  WAITING_BIT,
} from "./barrier.ts";

/** Where the rows of a tracked barrier begin, and a word of each. */
export const ROWS = 40, ARRIVED = 1;
/** The agent of a row whose party has left. */
const LEFT = -1;

const GENERATION_SHIFT = 25; // BARRIER_BITS.GENERATION
/** In the state of a tracked barrier. */
const CHANGES_MASK = 0x00ff_ffff; // BARRIER_BITS.CHANGES

/** What a party that has arrived notes in a tracked barrier with this state. */
const markIn = (state: number): number => state >>> GENERATION_SHIFT << 1 | 1;

/** Parties that note in rows that they arrive. */
export class Noted implements Parties {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly #rows: Rows;

  /** The parties of a barrier of these words, for agent `id`. */
  constructor(words: Int32Array<SharedArrayBuffer>, id: number) {
    this.words = words;
    this.#rows = new Rows(words, ROWS, words[TRACKED]!, id);
  }

  get tracked(): number {
    return this.#rows.agents;
  }

  get parties(): number {
    return this.#count(0).parties;
  }

  get arrived(): number {
    return this.#count(markIn(Atomics.load(this.words, STATE))).arrived;
  }

  leave(arrived: boolean): boolean {
    if (arrived) {
      throw new TypeError("Cannot leave for another party: call abandon(id)");
    }
    const words = this.words;
    Atomics.store(words, this.#rows.own(), LEFT);
    return this.#tryEnd(Atomics.load(words, STATE));
  }

  abandon(id: number): number {
    const words = this.words;
    let count = 0;
    for (let at = ROWS; at < words.length; at += ROW) {
      // (H) One of the agents that abandon `id` takes the party out.
      if (Atomics.compareExchange(words, at, id, LEFT) === id) count++;
    }
    if (count > 0) this.#tryEnd(Atomics.load(words, STATE));
    return count;
  }

  arrive(): number | undefined {
    const words = this.words;
    const at = this.#rows.own() + ARRIVED;
    const state = Atomics.load(words, STATE);
    const mark = markIn(state);
    if (words[at] === mark) {
      throw new TypeError("Cannot arrive twice: this agent has arrived");
    }
    // (R) Note it, then look at the others: the last one sees all.
    Atomics.store(words, at, mark);
    return this.#tryEnd(state) ? undefined : state;
  }

  /**
   * Ends the generation of `since` if all parties have arrived: whether it did.
   */
  #tryEnd(since: number): boolean {
    const words = this.words;
    for (;;) {
      const state = Atomics.load(words, STATE);
      if ((state ^ since) & GENERATION_MASK) return false;
      const { parties, arrived } = this.#count(markIn(state));
      if (arrived === 0 || arrived < parties) return false;
      // (E) Whoever takes an arrival back changes the word.
      const next = (state & GENERATION_MASK) + ONE_GENERATION | 0;
      const seen = Atomics.compareExchange(words, STATE, state, next);
      if (seen !== state) continue;
      if (state & WAITING_BIT) Atomics.notify(words, STATE);
      return true;
    }
  }

  /** How many parties have not left, and have arrived with this mark. */
  #count(mark: number): { parties: number; arrived: number } {
    const words = this.words;
    let { agents: parties } = this.#rows;
    let arrived = 0;
    for (let at = ROWS; at < words.length; at += ROW) {
      if (Atomics.load(words, at) === LEFT) parties--;
      else if (Atomics.load(words, at + ARRIVED) === mark) arrived++;
    }
    return { parties, arrived };
  }

  *waitSlow(since: number): Waiting<Passage | undefined> {
    const words = this.words;
    let late = false;
    for (;;) {
      const state = Atomics.load(words, STATE);
      if ((state ^ since) & GENERATION_MASK) return { leader: false };
      if (late) {
        // (Q) Take it back, then change the word: whoever had counted it looks
        // again. The generation may end before.
        const at = this.#rows.find(this.#rows.id);
        if (at < 0) return undefined; // its party has left meanwhile
        Atomics.store(words, at + ARRIVED, 0);
        const next = state & ~CHANGES_MASK | state + 1 & CHANGES_MASK;
        const seen = Atomics.compareExchange(words, STATE, state, next);
        if (seen !== state) continue;
        Atomics.notify(words, STATE); // others sleep on the word that it was
        return undefined;
      }
      const value = state | WAITING_BIT;
      if (state !== value) {
        const seen = Atomics.compareExchange(words, STATE, state, value);
        if (seen !== state) continue;
      }
      late = (yield { words, index: STATE, value }) === "timed-out";
      // The last one may have been terminated before it ended the generation.
      if (this.#tryEnd(since)) return { leader: true };
    }
  }
}
