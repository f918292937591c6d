/**
 * Rows in which agents note what they hold of a word that counts, so that a
 * survivor can take back exactly what a dead agent held.
 *
 * ```text
 * counted word  bits 0-11   the sequence of the last change, modulo 4096
 *               bits 12-19  the row of the agent that made it
 *               bits 20-31  how many are free, signed
 * row, word 0   agent     The id of the agent that has the row, or 0.
 * row, word 1   sequence  The last change of this agent that it, or another
 *                         agent, has confirmed; modulo 2^32.
 * row, word 2   held      What the agent holds after its changes with an even
 *                         sequence.
 * row, word 3   held      The same for its changes with an odd sequence.
 * ```
 *
 * An agent changes the count in three steps: it writes what it will hold into
 * the half of its row that does not count yet; it exchanges the counted word,
 * which from then on names the row and the sequence; and it confirms the
 * sequence in its row, so that the other half counts. If it is terminated after
 * the second step, the counted word still says that the change was made.
 * Whoever replaces that word confirms the change first (C). So a row tells
 * exactly what its agent holds, whatever the step at which that agent was
 * terminated.
 *
 * Only the agent of a row changes what is in it, except for the confirmation. A
 * survivor becomes the agent of the row of a dead one, then gives back what the
 * row holds like any agent, and then frees the row. If the survivor is
 * terminated meanwhile, another recovers it the same way.
 *
 * Progress: lock-free. An exchange fails only if another agent changed the
 * count. The sequence in the counted word wraps. A count is wrong only if one
 * agent stands still between its look and its exchange, while another one makes
 * an exact multiple of 4096 changes, is terminated before it confirms the last
 * of them, and nobody else comes between.
 * C twin: `_tracked.h`. Source: recoverable compare-and-swap (Attiya,
 * Ben-Baruch and Hendler 2018), here with a sequence in place of distinct
 * values.
 *
 * @module
 */

import { DamagedError } from "./damaged.ts";

/** The words of a row, behind the id of its agent. */
const SEQUENCE = 1, HELD = 2;
/** Words from one row to the next. */
export const ROW = 32;

/** In the counted word. */
const SEQUENCE_MASK = 0xfff; // TRACKED_BITS.SEQUENCE
const ROW_SHIFT = 12; // TRACKED_BITS.ROW
const ROW_MASK = 0xff; // TRACKED_BITS.ROW, shifted

/** How far the count is shifted in the counted word. */
export const COUNT_SHIFT = 20; // TRACKED_BITS.COUNT
/** The most that can be counted. */
export const MAX_COUNT = 2047;
/** The most agents that can have a row. */
export const MAX_ROWS = 255;

/** An unsealed word `tracked` for `agents` agents. */
export const markOf = (agents: number): number =>
  agents && (agents | (agents ^ 0xff) << 8 | 0x5765_0000);

/** The words that `agents` rows occupy. */
export const rowsLength = (agents: number): number => agents * ROW;

/** Rows that agents take, as one agent uses them. */
export class Rows {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly first: number;
  readonly agents: number;
  readonly id: number;

  /**
   * The rows of `agents` agents that begin at the word `first`; used by the
   * agent `id`.
   */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    first: number,
    agents: number,
    id: number,
  ) {
    this.words = words;
    this.first = first;
    this.agents = agents;
    this.id = id;
  }

  /** Where the row of the agent `id` begins, or -1. */
  find(id: number): number {
    const agents = this.agents;
    for (let i = 0, row = this.id % agents; i < agents; i++) {
      const at = this.first + row * ROW;
      // A hint: only this agent writes its id, and an exchange checks a 0.
      if (this.words[at] === id) return at;
      if (++row === agents) row = 0;
    }
    return -1;
  }

  /**
   * Where this agent's row begins; takes one if it has none.
   *
   * @throws {RangeError} If all are taken.
   */
  own(): number {
    const id = this.id;
    const found = this.find(id);
    if (found >= 0) return found;
    for (let at; (at = this.find(0)) >= 0;) {
      if (Atomics.compareExchange(this.words, at, 0, id) === 0) return at;
    }
    throw new RangeError(
      `Cannot track agent ${id}: ${this.agents} agents have a row already`,
    );
  }
}

/** The rows of one counted word, as one agent uses them. */
export class Tracked extends Rows {
  readonly #what: string;
  readonly #counted: number;

  /**
   * The rows of `agents` agents that begin at the word `first`, for the counted
   * word of the `what` with the index `counted`; used by the agent `id`.
   */
  constructor(
    what: string,
    words: Int32Array<SharedArrayBuffer>,
    counted: number,
    first: number,
    agents: number,
    id: number,
  ) {
    super(words, first, agents, id);
    this.#what = what;
    this.#counted = counted;
  }

  /** What this agent holds. */
  get held(): number {
    const at = this.find(this.id);
    return at < 0 ? 0 : this.#held(at);
  }

  /**
   * Takes `n` if at least `n` are free.
   *
   * @throws {RangeError} If this agent needs a row, and all are taken.
   */
  take(n: number): boolean {
    const at = this.own();
    let counted = this.#look(at);
    if (counted >> COUNT_SHIFT < n) counted = this.#load();
    while (counted >> COUNT_SHIFT >= n) {
      const seen = counted;
      if (this.#rowOf(seen) !== at) this.#confirm(seen);
      counted = this.#exchange(at, seen, -n);
      if (counted === seen) return true;
    }
    return false;
  }

  /**
   * Takes all that are free. Returns how many those were.
   *
   * @throws {RangeError} If this agent needs a row, and all are taken.
   */
  drain(): number {
    const at = this.own();
    let counted = this.#load();
    for (let free; (free = counted >> COUNT_SHIFT) > 0;) {
      const seen = counted;
      if (this.#rowOf(seen) !== at) this.#confirm(seen);
      counted = this.#exchange(at, seen, -free);
      if (counted === seen) return free;
    }
    return 0;
  }

  /**
   * Gives back `n` that this agent holds. Returns how many are free then.
   *
   * @throws {TypeError} If it holds fewer.
   */
  give(n: number): number {
    const at = this.find(this.id);
    const words = this.words;
    // Plainly: this agent wrote both.
    const held = at < 0 ? 0 : words[at + HELD + (words[at + SEQUENCE]! & 1)]!;
    if (held < n) {
      throw new TypeError(`Cannot release ${n}: this agent holds ${held}`);
    }
    return this.#add(at, n);
  }

  /** Takes `n`, as a debt if fewer are free. */
  owe(n: number): void {
    this.#add(this.own(), -n);
  }

  /**
   * Takes back what the agent `id` held. Only one of the agents that call this
   * does so; it inherits the row meanwhile. Returns how many there were.
   *
   * @throws {DamagedError} If a row says more than it can hold.
   */
  abandon(id: number): number {
    const words = this.words;
    let sum = 0;
    for (let row = 0; row < this.agents; row++) {
      const at = this.first + row * ROW;
      // (H) From here on, this agent alone changes the row.
      if (Atomics.compareExchange(words, at, id, this.id) !== id) continue;
      for (;;) {
        const seen = this.#load();
        this.#confirm(seen); // the last change of the dead agent, if need be
        const held = this.#held(at);
        if (held < 0 || held > MAX_COUNT - (seen >> COUNT_SHIFT)) {
          Atomics.store(words, at, id);
          throw new DamagedError(this.#what);
        }
        if (held > 0 && this.#exchange(at, seen, held) !== seen) continue;
        sum += held;
        break;
      }
      Atomics.store(words, at, 0);
    }
    return sum;
  }

  /** Gives back `n`, which may be below 0. Returns how many are free then. */
  #add(at: number, n: number): number {
    let counted = this.#look(at);
    for (;;) {
      const seen = counted;
      if (this.#rowOf(seen) !== at) this.#confirm(seen);
      counted = this.#exchange(at, seen, n);
      if (counted === seen) return (seen >> COUNT_SHIFT) + n;
    }
  }

  #load(): number {
    return Atomics.load(this.words, this.#counted);
  }

  /**
   * The counted word, which may be an old value if the row at `at` made the
   * last change: then there is nothing to confirm, and the exchange checks it.
   */
  #look(at: number): number {
    const hint = this.words[this.#counted]!;
    return this.#rowOf(hint) === at ? hint : this.#load();
  }

  /** Where the row begins that made the last change. */
  #rowOf(counted: number): number {
    return this.first + (counted >> ROW_SHIFT & ROW_MASK) * ROW;
  }

  /**
   * Adds `n` to the count, which the agent of the row at `at` then holds no
   * longer, if the counted word is still `seen`. Returns what it was.
   */
  #exchange(at: number, seen: number, n: number): number {
    const words = this.words;
    const last = words[at + SEQUENCE]!; // this agent wrote it
    const sequence = last + 1 | 0;
    // This half does not count until the exchange: no other agent reads it.
    words[at + HELD + (sequence & 1)] = words[at + HELD + (last & 1)]! - n;
    const count = (seen >> COUNT_SHIFT) + n;
    const row = (at - this.first) / ROW;
    const next = count << COUNT_SHIFT | row << ROW_SHIFT |
      sequence & SEQUENCE_MASK;
    const was = Atomics.compareExchange(words, this.#counted, seen, next);
    if (was === seen) Atomics.store(words, at + SEQUENCE, sequence);
    return was;
  }

  /**
   * (C) Confirms the change that `seen` names, before it is replaced: its agent
   * may have been terminated before it did so.
   */
  #confirm(seen: number): void {
    const words = this.words;
    const at = this.#rowOf(seen) + SEQUENCE;
    if (at >= words.length) throw new DamagedError(this.#what);
    const confirmed = Atomics.load(words, at);
    const next = confirmed + 1 | 0;
    if ((next ^ seen) & SEQUENCE_MASK) return; // it is confirmed
    // An old `seen` may name a change that is yet to come.
    if (this.#load() !== seen) return;
    // If this fails, another agent confirmed it.
    Atomics.compareExchange(words, at, confirmed, next);
  }

  /** What the agent of the row at `at` holds. */
  #held(at: number): number {
    const sequence = Atomics.load(this.words, at + SEQUENCE);
    return this.words[at + HELD + (sequence & 1)]!;
  }
}
