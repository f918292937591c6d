/**
 * A point that several agents pass together, again and again.
 *
 * @module
 */

import { BARRIER } from "./_layout.ts";
import {
  allocate,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_region.ts";
import { spin } from "./_spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type Waiting,
} from "./_wait.ts";

export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

const STATE = BARRIER.state;

const ARRIVED_MASK = 0xfff;
const ONE_PARTY = 1 << 12;
const PARTIES_MASK = 0xfff << 12;
const WAITING_BIT = 1 << 24;
const ONE_GENERATION = 1 << 25;
const GENERATION_MASK = -ONE_GENERATION;

/** The most parties a barrier can have. */
const MAX_PARTIES = 0xfff;

/** How an agent passed a barrier. */
export interface Passage {
  /** It was the last to arrive: true for one party of each generation. */
  readonly leader: boolean;
}

/**
 * What can be told of a barrier.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: BARRIER,
  waiters: (words) => words[STATE]! & ARRIVED_MASK,
};

/**
 * A barrier: each of its parties waits until all have arrived; then all go on,
 * and the next generation begins at once.
 *
 * ```text
 * word 0  magic    Kind and layout version.
 * word 1  parties  How many parties it was made for, 1 to 4095.
 * word 2  seal     Check word over the configuration.
 * word 3  state    bits 0-11   parties that have arrived
 *                  bits 12-23  parties that have not left
 *                  bit 24      WAITING: somebody may sleep on this word
 *                  bits 25-31  the generation, modulo 128
 *                  sleepers: parties that have arrived
 * ```
 *
 * A party that gives up, by a timeout or an abort, takes its arrival back: the
 * others wait for its next one, as if it had not come. If all arrived in just
 * that moment, it passed, and says so. For good, a party goes by `leave()`.
 *
 * Invariant: an agent asleep on `state` went to sleep on a value with WAITING
 * set, which stays until the generation ends; arrived < parties.
 * Progress: arriving, giving up and `leave` are lock-free: they try again only
 * when another party did one of these; `arriveAndWait` blocks. The last
 * arrival ends the generation in one step, so whoever is terminated leaves the
 * others either passed, a second later at most, or waiting for it. An agent
 * terminated before it arrived is replaced by `leave()`; of one terminated
 * behind its arrival, `leave({ arrived: true })` takes that back, too. The
 * words cannot tell the two apart: whoever reports the death must know.
 * The generation wraps: with no more agents than parties, none sleeps through
 * two. More agents may share it, but none may sleep through 128.
 * Fairness: all pass at once.
 * C twin: `weft_barrier`. Source: the sense-reversing barrier (Mellor-Crummey
 * and Scott 1991), with the sense counted; `phaser.arriveAndDeregister`.
 *
 * @example Two phases of two parties
 * ```ts
 * import { Barrier } from "@weft/sync";
 *
 * const barrier = Barrier.create(2); // post barrier.handle to a worker
 * const [first, second] = await Promise.all([
 *   barrier.arriveAndWaitAsync(),
 *   barrier.arriveAndWaitAsync(),
 * ]);
 * if (first.leader === second.leader) throw new Error("not one leader");
 * ```
 */
export class Barrier extends Region<"barrier"> {
  readonly #words: Int32Array<SharedArrayBuffer>;

  /**
   * Attaches to the barrier at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no barrier of this
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const bytes = Barrier.byteLength();
    const words = attach("barrier", BARRIER, memory, byteOffset, () => bytes);
    super("barrier", words, INSPECTION);
    this.#words = words;
  }

  /** The bytes a barrier occupies. */
  static byteLength(): number {
    return BARRIER.length * 4;
  }

  /**
   * Allocates a barrier for `parties` agents, 1 to 4095.
   *
   * @throws {RangeError} If `parties` is out of range.
   */
  static create(parties: number): Barrier {
    return Barrier.init(allocate(Barrier.byteLength()), 0, parties);
  }

  /**
   * Makes a region that nobody uses yet a barrier for `parties` agents.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `parties` is out of
   * range.
   */
  static init(memory: Memory, byteOffset: number, parties: number): Barrier {
    inRange("The number of parties", parties, 1, MAX_PARTIES);
    const bytes = Barrier.byteLength();
    format(
      "barrier",
      BARRIER,
      memory,
      byteOffset,
      bytes,
      [parties],
      (words) => {
        words[STATE] = parties * ONE_PARTY;
      },
    );
    return new Barrier(memory, byteOffset);
  }

  /**
   * Attaches to the barrier a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): Barrier {
    return new Barrier(...fromHandle("barrier", handle));
  }

  /** Parties that have not left. */
  get parties(): number {
    return (Atomics.load(this.#words, STATE) & PARTIES_MASK) / ONE_PARTY;
  }

  /** Parties that have arrived, and wait. */
  get arrived(): number {
    return Atomics.load(this.#words, STATE) & ARRIVED_MASK;
  }

  /**
   * Arrives, and blocks until all parties have, up to `timeout` ms; undefined
   * if that time passed, and the arrival was taken back.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  arriveAndWait(): Passage;
  /** As above, for at most `timeout` ms. */
  arriveAndWait(timeout: number): Passage | undefined;
  arriveAndWait(timeout = Infinity): Passage | undefined {
    assertMayBlock("arriveAndWait");
    if (timeout !== Infinity) assertTimeout(timeout);
    const words = this.#words;
    const state = this.#arrive();
    if (state === undefined) return { leader: true };
    const passed = () =>
      ((Atomics.load(words, STATE) ^ state) & GENERATION_MASK) !== 0;
    if (timeout > 0 && spin(passed)) return { leader: false };
    return block(this.#waitSlow(state), timeout);
  }

  /** As {@linkcode arriveAndWait}, awaiting instead of blocking. */
  arriveAndWaitAsync(): Promise<Passage>;
  /** As above; `undefined` if `timeout` ms passed. */
  arriveAndWaitAsync(options: AsyncOptions): Promise<Passage | undefined>;
  arriveAndWaitAsync(options?: AsyncOptions): Promise<Passage | undefined> {
    return blockAsync(() => this.#waitSlow(this.#arrive()), options);
  }

  /**
   * Takes one party out for good: a party that will not come again calls it,
   * or whoever knows that a party was terminated. `arrived` says that it was
   * terminated while it waited, and takes that arrival back. True if this
   * ended the generation, as all others had arrived: then it has no leader.
   *
   * @throws {RangeError} If no party is left, or none that has arrived.
   */
  leave({ arrived = false }: { arrived?: boolean } = {}): boolean {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    for (;;) {
      const expected = state;
      const all = state & PARTIES_MASK;
      if (all === 0 || (arrived && (state & ARRIVED_MASK) === 0)) {
        throw new RangeError(
          `Cannot leave a barrier: no party ${all ? "has arrived" : "is left"}`,
        );
      }
      const left = state - ONE_PARTY - (arrived ? 1 : 0);
      const waiting = left & ARRIVED_MASK;
      const ends = waiting > 0 && waiting * ONE_PARTY >= (left & PARTIES_MASK);
      const next = ends ? nextGeneration(left) : left | 0;
      state = Atomics.compareExchange(words, STATE, expected, next);
      if (state !== expected) continue;
      if (ends && state & WAITING_BIT) Atomics.notify(words, STATE);
      return ends;
    }
  }

  /** Arrives; the state after that, or undefined if it was the last to. */
  #arrive(): number | undefined {
    const words = this.#words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      const expected = state;
      const arrived = (state & ARRIVED_MASK) + 1;
      const last = arrived * ONE_PARTY >= (state & PARTIES_MASK);
      const next = last ? nextGeneration(state) : state + 1;
      state = Atomics.compareExchange(words, STATE, expected, next);
      if (state !== expected) continue;
      if (!last) return next;
      if (state & WAITING_BIT) Atomics.notify(words, STATE);
      return undefined;
    }
  }

  /** Waits for the end of the generation that we arrived in at `since`. */
  *#waitSlow(since: number | undefined): Waiting<Passage | undefined> {
    if (since === undefined) return { leader: true };
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    let last = false;
    while (((state ^ since) & GENERATION_MASK) === 0) {
      const expected = state;
      // Our arrival is still counted: the generation did not end.
      state = last ? state - 1 : state | WAITING_BIT;
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          state = seen;
          continue;
        }
      }
      if (last) return undefined;
      // Arrivals change the word, too, but only the last one wakes.
      const outcome = yield { words, index: STATE, value: state };
      state = Atomics.load(words, STATE);
      last = outcome === "timed-out";
    }
    return { leader: false };
  }
}

/** The state when all have arrived: nobody has, in the generation after. */
function nextGeneration(state: number): number {
  return (state & (GENERATION_MASK | PARTIES_MASK)) + ONE_GENERATION | 0;
}
