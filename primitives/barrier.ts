/**
 * A barrier: a point that several agents pass together, again and again.
 *
 * @module
 */

import { BARRIER } from "./_layout.ts";
import type { WordsProblems } from "./_memory/problems.ts";
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
} from "./_memory/region.ts";
import { spin } from "./_wait/spin.ts";
import { MAX_ROWS, ROW, Rows, rowsLength } from "./_memory/tracked.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

const TRACKED: typeof BARRIER.tracked = 2;
const STATE: typeof BARRIER.state = 4;

/** Where the rows of a tracked barrier begin, and a word of each. */
const ROWS = 40, ARRIVED = 1;
/** The agent of a row whose party has left. */
const LEFT = -1;

const ARRIVED_MASK = 0xfff; // BARRIER_BITS.ARRIVED
const ONE_PARTY = 0x1000; // BARRIER_BITS.PARTIES
const PARTIES_MASK = 0x00ff_f000; // BARRIER_BITS.PARTIES
const WAITING_BIT = 0x0100_0000; // BARRIER_BITS.WAITING
const ONE_GENERATION = 0x0200_0000; // BARRIER_BITS.GENERATION
const GENERATION_MASK = -0x0200_0000; // BARRIER_BITS.GENERATION

const GENERATION_SHIFT = 25; // BARRIER_BITS.GENERATION
/** In the state of a tracked barrier. */
const CHANGES_MASK = 0x00ff_ffff; // BARRIER_BITS.CHANGES

/** The most parties a barrier can have. */
const MAX_PARTIES = 0xfff; // BARRIER_BITS.PARTIES
/** The largest agent id. */
const MAX_ID = 0x0fff_ffff;

/** What a barrier is made with, besides its parties. */
export interface BarrierConfig {
  /**
   * The number of parties, up to 255, if each notes that it arrives; 0, unless
   * given, if none does. Each has a row of 128 bytes. Then `abandon` takes out
   * exactly the parties that dead agents were.
   */
  readonly tracked?: number;
}

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
  waiters: (words) =>
    words[TRACKED] === 0
      ? words[STATE]! & ARRIVED_MASK
      : words[STATE]! & WAITING_BIT
      ? 1
      : 0,
};

/**
 * The facts by which `inspect` finds problems.
 *
 * @ignore
 */
export const PROBLEMS: WordsProblems = {
  byteLength: (parties, tracked) => bytesFor(parties, tracked),
  problems: (words, tell) => {
    if (words[TRACKED] !== 0) return; // its state is another
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
 * word 2  tracked  The same if parties note that they arrive, up to 255; 0 if
 *                  not.
 * word 3  seal     Check word over the configuration.
 * word 4  state    bits 0-11   parties that have arrived
 *                  bits 12-23  parties that have not left; if they are tracked,
 *                              bits 0-23 change when one takes its arrival back
 *                  bit 24      WAITING: somebody may sleep on this word
 *                  bits 25-31  the generation, modulo 128
 *                  sleepers: parties that have arrived
 * word 5  From word 40 on, if parties are tracked, rows of 32 words. A row has
 *         the id of its agent, 0 if no party has it yet, or -1 if that party
 *         has left; and 0, or twice the generation in which the party arrived
 *         last, plus 1.
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
 * reports the death must know. With `tracked`, each party notes in a row that it
 * arrives, and `abandon(id)` does the right one. Then an arrival looks at all
 * rows.
 * The generation wraps: with no more agents than parties, no agent sleeps
 * through two generations. More agents may share the barrier, but none may
 * sleep through 128.
 * Freed when: no agent waits, and none will begin an operation. The leader may
 * still be in its arrival.
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
  /** The rows of parties that note that they arrive. */
  readonly #rows: Rows | undefined;

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
    const tracked = words[TRACKED]!;
    if (tracked > 0) this.#rows = new Rows(words, ROWS, tracked, agentId());
  }

  /**
   * The bytes a barrier occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `tracked` is out of range.
   */
  static byteLength(_parties = 1, config?: BarrierConfig): number {
    const tracked = trackedOf(config);
    return bytesFor(tracked || 1, tracked);
  }

  /**
   * Allocates a barrier for `parties` agents, 1 to 4095.
   *
   * @throws {TypeError} If `parties` is not a number, or `config` is not as
   * described.
   * @throws {RangeError} If `parties` or `tracked` is out of range.
   */
  static create(parties: number, config?: BarrierConfig): Barrier {
    const bytes = bytesFor(parties, trackedOf(config));
    return Barrier.init(allocate(bytes), 0, parties, config);
  }

  /**
   * Initializes unused memory as a barrier for `parties` agents.
   *
   * @throws {TypeError} If `memory` is not shared, `parties` is not a number, or
   * `config` is not as described.
   * @throws {RangeError} If the barrier does not fit there, or `parties` or
   * `tracked` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    parties: number,
    config?: BarrierConfig,
  ): Barrier {
    const tracked = trackedOf(config);
    const bytes = bytesFor(parties, tracked);
    format(
      "barrier",
      BARRIER,
      memory,
      byteOffset,
      bytes,
      [parties, tracked],
      (words) => {
        words[STATE] = tracked > 0 ? 0 : parties * ONE_PARTY;
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
    if (this.#rows !== undefined) return this.#count(this.#rows, 0).parties;
    return (Atomics.load(this.#words, STATE) & PARTIES_MASK) / ONE_PARTY;
  }

  /** Parties that have arrived and wait. */
  get arrived(): number {
    const state = Atomics.load(this.#words, STATE);
    return this.#rows === undefined
      ? state & ARRIVED_MASK
      : this.#count(this.#rows, markIn(state)).arrived;
  }

  /** How many parties note that they arrive: what `tracked` was, or 0. */
  get tracked(): number {
    return this.#rows?.agents ?? 0;
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
   * Of a tracked barrier, only this agent's own party can leave: see `abandon`.
   *
   * @throws {TypeError} If `options` is not as described, or the barrier is
   * tracked and `arrived` is true.
   * @throws {RangeError} If no party is left, or none that has arrived.
   */
  leave(options: { readonly arrived?: boolean } = {}): boolean {
    assertConfig("leave", options, ["arrived"]);
    const { arrived = false } = options;
    assertBoolean("arrived", arrived);
    if (this.#rows !== undefined) {
      return this.#leaveTracked(this.#rows, arrived);
    }
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

  /**
   * Takes the party that agent `id` was out for good, if the barrier is tracked.
   * Call it only when that agent will never run again. If all other parties have
   * arrived, they go on. Returns how many parties left: 1, or 0 if the agent was
   * none, or had never arrived.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, MAX_ID);
    const rows = this.#rows;
    if (rows === undefined || id === 0) return 0;
    const words = this.#words;
    let count = 0;
    for (let at = ROWS; at < words.length; at += ROW) {
      // (H) One of the agents that abandon `id` takes the party out.
      if (Atomics.compareExchange(words, at, id, LEFT) === id) count++;
    }
    if (count > 0) this.#tryEnd(rows, Atomics.load(words, STATE));
    return count;
  }

  #leaveTracked(rows: Rows, arrived: boolean): boolean {
    if (arrived) {
      throw new TypeError("Cannot leave for another party: call abandon(id)");
    }
    const words = this.#words;
    Atomics.store(words, rows.own(), LEFT);
    return this.#tryEnd(rows, Atomics.load(words, STATE));
  }

  /** Arrives in the row of this agent: as `#arrive`. */
  #arriveTracked(rows: Rows): number | undefined {
    const words = this.#words;
    const at = rows.own() + ARRIVED;
    const state = Atomics.load(words, STATE);
    const mark = markIn(state);
    if (words[at] === mark) {
      throw new TypeError("Cannot arrive twice: this agent has arrived");
    }
    // (R) Note it, then look at the others: the last one sees all.
    Atomics.store(words, at, mark);
    return this.#tryEnd(rows, state) ? undefined : state;
  }

  /** Ends the generation of `since` if all parties have arrived: whether it did. */
  #tryEnd(rows: Rows, since: number): boolean {
    const words = this.#words;
    for (;;) {
      const state = Atomics.load(words, STATE);
      if ((state ^ since) & GENERATION_MASK) return false;
      const { parties, arrived } = this.#count(rows, markIn(state));
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
  #count(rows: Rows, mark: number): { parties: number; arrived: number } {
    const words = this.#words;
    let { agents: parties } = rows;
    let arrived = 0;
    for (let at = ROWS; at < words.length; at += ROW) {
      if (Atomics.load(words, at) === LEFT) parties--;
      else if (Atomics.load(words, at + ARRIVED) === mark) arrived++;
    }
    return { parties, arrived };
  }

  /** As `#waitSlow`. */
  *#waitTracked(rows: Rows, since: number): Waiting<Passage | undefined> {
    const words = this.#words;
    let late = false;
    for (;;) {
      const state = Atomics.load(words, STATE);
      if ((state ^ since) & GENERATION_MASK) return { leader: false };
      if (late) {
        // (Q) Take it back, then change the word: whoever had counted it looks
        // again. The generation may end before.
        Atomics.store(words, rows.own() + ARRIVED, 0);
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
      if (this.#tryEnd(rows, since)) return { leader: true };
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
    if (this.#rows !== undefined) return this.#arriveTracked(this.#rows);
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
    if (this.#rows !== undefined) {
      return yield* this.#waitTracked(this.#rows, since);
    }
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

/** What a party that has arrived notes in a tracked barrier with this state. */
const markIn = (state: number): number => state >>> GENERATION_SHIFT << 1 | 1;

/** The bytes of a barrier, once its configuration is checked. */
function bytesFor(parties: number, tracked: number): number {
  inRange("The number of parties", parties, 1, MAX_PARTIES);
  if (tracked === 0) return BARRIER.length * 4;
  inRange("The number of tracked parties", tracked, 1, MAX_ROWS);
  if (tracked !== parties) {
    throw new RangeError(
      `A barrier tracks none of its parties or all ${parties}: received ` +
        tracked,
    );
  }
  return (ROWS + rowsLength(tracked)) * 4;
}

function trackedOf(config: BarrierConfig = {}): number {
  assertConfig("barrier", config, ["tracked"]);
  return config.tracked ?? 0;
}
