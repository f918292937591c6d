/**
 * A barrier: a point that several agents pass together, again and again.
 *
 * @module
 */

import { BARRIER } from "./_layout.ts";
import type { WordsProblems } from "./_problems.ts";
import {
  allocate,
  assertBoolean,
  assertConfig,
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
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./_wait.ts";

export { type Handle, type Memory, Printable, Region } from "./_region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait.ts";

const STATE: typeof BARRIER.state = 3;

const ARRIVED_MASK = 0xfff;
const ONE_PARTY = 0x1000; // bit 12
const PARTIES_MASK = 0x00ff_f000; // bits 12-23
const WAITING_BIT = 0x0100_0000; // bit 24
const ONE_GENERATION = 0x0200_0000; // bit 25
const GENERATION_MASK = -0x0200_0000; // bits 25-31

/** The most parties a barrier can have. */
const MAX_PARTIES = 0xfff;

/** What an agent learns when it passes a barrier. */
export interface Passage {
  /** Whether it arrived last: true for one party of each generation. */
  readonly leader: boolean;
}

/**
 * How `inspect` reads a barrier.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: BARRIER,
  waiters: (words) => words[STATE]! & ARRIVED_MASK,
};

/**
 * The facts by which `inspect` finds problems.
 *
 * @ignore
 */
export const PROBLEMS: WordsProblems = {
  byteLength: (parties) => bytesFor(parties),
  problems: (words, tell) => {
    const arrived = words[STATE]! & ARRIVED_MASK;
    const left = (words[STATE]! & PARTIES_MASK) / ONE_PARTY;
    const most = words[BARRIER.parties]!;
    tell(left > most, STATE, "There are more parties than `parties`.");
    tell(
      arrived > 0 && arrived >= left,
      STATE,
      "All parties have arrived, but they do not go on.",
    );
  },
};

/**
 * A barrier: each of its parties waits until all parties have arrived. Then all
 * continue, and the next generation begins at once.
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
 * A party whose time is over, or whose wait is aborted, takes its arrival back:
 * the others wait until it arrives again, as if it had not come. If all parties
 * arrived at that very moment, the party has passed instead, and its result
 * says so. A party that will not come again calls `leave()`.
 *
 * Invariant: an agent that sleeps on `state` fell asleep on a value with WAITING
 * set, which stays set until the generation ends; arrived < parties.
 * Progress: arriving, taking the arrival back and `leave` are lock-free: they
 * try again only when another party did one of these. `arriveAndWait` waits. The
 * last arrival ends the generation in one step. So after a termination, the
 * other parties have either passed, at most a second later, or wait for the dead
 * party. If an agent was terminated before it arrived, `leave()` replaces it; if
 * it was terminated after it arrived, `leave({ arrived: true })` also takes that
 * arrival back. The words cannot tell the two cases apart: the agent that
 * reports the death must know.
 * The generation wraps: with no more agents than parties, no agent sleeps
 * through two generations. More agents may share the barrier, but none may
 * sleep through 128.
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
   * @throws {RangeError} If the barrier does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = attach("barrier", BARRIER, memory, byteOffset, bytesFor);
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
   * @throws {TypeError} If `parties` is not a number.
   * @throws {RangeError} If `parties` is out of range.
   */
  static create(parties: number): Barrier {
    bytesFor(parties);
    return Barrier.init(allocate(Barrier.byteLength()), 0, parties);
  }

  /**
   * Initializes unused memory as a barrier for `parties` agents.
   *
   * @throws {TypeError} If `memory` is not shared, or `parties` is not a
   * number.
   * @throws {RangeError} If the barrier does not fit there, or `parties` is out
   * of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    parties: number,
  ): Barrier {
    const bytes = bytesFor(parties);
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
   * Attaches to the barrier that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no barrier is
   * there.
   */
  static from(handle: Handle<"barrier">): Barrier {
    return new Barrier(...fromHandle("barrier", handle));
  }

  /** Parties that have not left. */
  get parties(): number {
    return (Atomics.load(this.#words, STATE) & PARTIES_MASK) / ONE_PARTY;
  }

  /** Parties that have arrived and wait. */
  get arrived(): number {
    return Atomics.load(this.#words, STATE) & ARRIVED_MASK;
  }

  /**
   * Arrives, and blocks until all parties have arrived.
   *
   * @throws {TypeError} If this agent may not block.
   */
  arriveAndWait(): Passage {
    assertMayBlock("arriveAndWait");
    return this.#arriveAndWait(Infinity)!;
  }

  /**
   * Arrives, and waits for the other parties at most `timeout` ms; without a
   * timeout it does not wait. Returns `undefined` if the time was over: then it
   * has taken its arrival back.
   *
   * @throws {TypeError} If it would wait and this agent may not block, or if
   * `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryArriveAndWait(timeout = 0): Passage | undefined {
    assertTimeout(timeout);
    if (timeout !== 0) assertMayBlock("tryArriveAndWait");
    return this.#arriveAndWait(timeout);
  }

  /**
   * As {@linkcode Barrier.arriveAndWait}, but awaits instead of blocking. An
   * abort takes the arrival back.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   */
  async arriveAndWaitAsync(options?: AsyncOptions): Promise<Passage> {
    const path = () => this.#waitSlow(this.#arrive());
    return (await blockAsync(path, options))!;
  }

  /**
   * As {@linkcode Barrier.tryArriveAndWait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN.
   */
  tryArriveAndWaitAsync(
    options?: TryAsyncOptions,
  ): Promise<Passage | undefined> {
    return tryBlockAsync(() => this.#waitSlow(this.#arrive()), options);
  }

  /**
   * Takes one party out for good: called by a party that will not come again, or
   * by an agent that knows that a party was terminated. `arrived` says that this
   * party was terminated while it waited, and takes its arrival back. Returns
   * true if this ended the generation, because all other parties had arrived:
   * that generation has no leader.
   *
   * @throws {TypeError} If `options` is not as described.
   * @throws {RangeError} If no party is left, or none that has arrived.
   */
  leave(options: { readonly arrived?: boolean } = {}): boolean {
    assertConfig("leave", options, ["arrived"]);
    const { arrived = false } = options;
    assertBoolean("arrived", arrived);
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

  /** Blocks at most `timeout` ms; 0 takes the arrival back at once. */
  #arriveAndWait(timeout: number): Passage | undefined {
    const words = this.#words;
    const state = this.#arrive();
    if (state === undefined) return { leader: true };
    const passed = () =>
      ((Atomics.load(words, STATE) ^ state) & GENERATION_MASK) !== 0;
    if (timeout > 0 && spin(passed)) return { leader: false };
    return block(this.#waitSlow(state), timeout);
  }

  /** Arrives: the state after that, or undefined if all have arrived. */
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

  /** Waits for the end of the generation in which `since` was the state. */
  *#waitSlow(since: number | undefined): Waiting<Passage | undefined> {
    if (since === undefined) return { leader: true };
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    let last = false;
    while (((state ^ since) & GENERATION_MASK) === 0) {
      const expected = state;
      // The generation did not end, so this arrival is still counted.
      state = last ? state - 1 : state | WAITING_BIT;
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          state = seen;
          continue;
        }
      }
      if (last) return undefined;
      // Every arrival changes the word, but only the last one wakes.
      const outcome = yield { words, index: STATE, value: state };
      state = Atomics.load(words, STATE);
      last = outcome === "timed-out";
    }
    return { leader: false };
  }
}

/** The state once all have arrived: the next generation, with no arrival. */
function nextGeneration(state: number): number {
  return (state & (GENERATION_MASK | PARTIES_MASK)) + ONE_GENERATION | 0;
}

/** The bytes of a barrier, once the number of its parties is checked. */
function bytesFor(parties: number): number {
  inRange("The number of parties", parties, 1, MAX_PARTIES);
  return BARRIER.length * 4;
}
