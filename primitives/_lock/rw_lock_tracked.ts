/**
 * The algorithm of the readers of a tracked `RwLock`: each notes in a row that
 * it reads, and a writer looks at all rows.
 *
 * C twin: `_rw_lock_tracked.h`, function by function.
 *
 * @module
 */

import {
  MAX_READS,
  ONE_PENDING,
  Readers,
  readingOf,
  READS,
  settled,
} from "./readers.ts";
import { ROW } from "../_memory/tracked.ts";
import {
  ABANDONED_BIT,
  ASLEEP_BIT,
  GATE,
  heldIn,
  isBusy,
  isIn,
  open,
  type Outcome,
  type Sharers,
  STATE,
  type Ticket,
  WAITING_BIT,
  WANTED_BIT,
  WRITING_BIT,
} from "./rw_lock_counted.ts";

/** Where the rows of a tracked lock begin. */
export const ROWS = 40;

/** Readers that note in rows that they read. */
export class Noted implements Sharers {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  readonly #rows: Readers;

  /**
   * The readers of a lock of these words with `tracked` rows, for agent `id`.
   */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    tracked: number,
    id: number,
  ) {
    this.words = words;
    this.#id = id;
    this.#rows = new Readers(words, ROWS, tracked, id);
  }

  get tracked(): number {
    return this.#rows.agents;
  }

  get readers(): number {
    return this.#rows.count(Atomics.load(this.words, GATE));
  }

  /** Wakes the writer that may sleep at `at`, as somebody reads there. */
  #wakeWriter(at: number): void {
    const words = this.words;
    if (Atomics.load(words, STATE) & ASLEEP_BIT) Atomics.notify(words, at);
  }

  /** Changes the word in which this agent notes what it reads. */
  #addReads(at: number, n: number): void {
    const words = this.words;
    Atomics.store(words, at, words[at]! + n);
    if (n < 0) this.#wakeWriter(at);
  }

  /** Notes that what was pending reads, if it was let in. */
  #settle(at: number, gate: number): void {
    const words = this.words;
    const reads = words[at]!; // this agent wrote it
    const next = settled(reads, gate);
    if (next !== reads) Atomics.store(words, at, next);
  }

  tryRead(): Outcome {
    const words = this.words;
    // A hint, unless it says no: it is looked at again below.
    if (isBusy(words[STATE]!) && isBusy(Atomics.load(words, STATE))) {
      return false;
    }
    const at = this.#rows.room();
    // (R) Note it, then look again. Pairs with (V).
    Atomics.store(words, at, words[at]! + 1);
    const state = Atomics.load(words, STATE);
    if (!isBusy(state)) return heldIn(state);
    this.#addReads(at, -1);
    return false;
  }

  pend(bits: number): Ticket | undefined {
    const words = this.words;
    const at = this.#rows.room();
    for (;;) {
      const gate = Atomics.load(words, GATE);
      this.#settle(at, gate);
      this.#addReads(at, ONE_PENDING);
      const state = Atomics.load(words, STATE);
      if (state & bits) {
        // (P) The writer that was seen has yet to end this phase. If the phase
        // is over, another writer may not have seen this agent.
        if (((Atomics.load(words, GATE) ^ gate) & ~WAITING_BIT) === 0) {
          return { state, gate };
        }
        this.#addReads(at, -ONE_PENDING);
        continue;
      }
      Atomics.store(words, at, words[at]! - ONE_PENDING + 1); // (R)
      if ((Atomics.load(words, STATE) & bits) === 0) return undefined;
      this.#addReads(at, -1);
    }
  }

  isIn(ticket: Ticket, state: number, gate: number): boolean {
    if (!isIn(ticket, state, gate, 1)) return false;
    // Two awaits of this agent may be let in at once.
    this.#settle(this.#rows.mine, gate);
    return true;
  }

  giveUp(): boolean {
    this.#addReads(this.#rows.mine, -ONE_PENDING);
    return true;
  }

  leave(_more: number, abandoned: number): void {
    const words = this.words;
    const state = words[STATE]!; // only the owner of `writer` changes it
    const kept = state & WRITING_BIT ? 0 : state & ABANDONED_BIT;
    // In this order: whoever still sees the writer sees the old phase, too.
    Atomics.store(words, STATE, kept | abandoned);
    open(words);
  }

  unlockRead(): void {
    const at = this.#rows.mine;
    // Plainly: this agent wrote it.
    if (at < 0 || (this.words[at]! & MAX_READS) === 0) {
      throw new TypeError("Cannot unlock: this agent does not read");
    }
    this.#addReads(at, -1);
  }

  hold(): Outcome {
    return this.#hold(WANTED_BIT);
  }

  holdOrSleep(): Outcome {
    return this.#hold(WANTED_BIT | ASLEEP_BIT);
  }

  /** As `hold`; if agents read, `bits` say that this agent waits. */
  #hold(bits: number): Outcome {
    const words = this.words;
    const state = words[STATE]!; // only the owner of `writer` changes it
    // (V) Announce, then look at the readers. Pairs with (R).
    if ((state & bits) !== bits) Atomics.store(words, STATE, state | bits);
    if (this.#rows.blocking(words[GATE]!) >= 0) return false;
    Atomics.store(words, STATE, state & ABANDONED_BIT | WRITING_BIT);
    return heldIn(state);
  }

  tryHold(): Outcome {
    // If somebody reads, others may go on reading.
    if (this.#rows.blocking(Atomics.load(this.words, GATE)) >= 0) return false;
    const outcome = this.hold();
    if (outcome === false) this.leave(0, 0);
    return outcome;
  }

  blocker(): { index: number; value: number } | undefined {
    const words = this.words;
    const gate = words[GATE]!; // only this agent changes the phase now
    const index = this.#rows.blocking(gate);
    if (index < 0) return undefined;
    const value = Atomics.load(words, index);
    return readingOf(value, gate) > 0 ? { index, value } : undefined;
  }

  keep(): void {
    this.#addReads(this.#rows.room(), 1);
  }

  abandon(id: number): number {
    const words = this.words;
    const gate = Atomics.load(words, GATE);
    let sum = 0;
    for (let at = ROWS; at < words.length; at += ROW) {
      // (H) From here on, this agent alone changes the row.
      if (Atomics.compareExchange(words, at, id, this.#id) !== id) continue;
      sum += readingOf(Atomics.exchange(words, at + READS, 0), gate);
      this.#wakeWriter(at + READS);
      Atomics.store(words, at, 0);
    }
    return sum;
  }
}
