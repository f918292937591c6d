/**
 * A barrier: a point that several agents pass together, again and again.
 *
 * @module
 */

import { BARRIER } from "./_memory/layout.ts";
import {
  arriveAndWait,
  ARRIVED_MASK,
  arriving,
  Counted,
  MAX_ID,
  MAX_PARTIES,
  ONE_PARTY,
  type Parties,
  type Passage,
  STATE,
  TRACKED,
  WAITING_BIT,
} from "./_lock/barrier.ts";
import { Noted, ROWS } from "./_lock/barrier_tracked.ts";
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
import { MAX_ROWS, rowsLength } from "./_memory/tracked.ts";
import {
  assertMayBlock,
  assertMayTry,
  type AsyncOptions,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { Passage } from "./_lock/barrier.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/** What a barrier is made with, besides its parties. */
export interface BarrierConfig {
  /**
   * The number of parties, up to 255, if each notes that it arrives; 0, unless
   * given, if none does. Each has a row of 128 bytes. Then `abandon` takes out
   * exactly the parties that dead agents were.
   */
  readonly tracked?: number | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: BARRIER,
  waiters: (words) =>
    words[TRACKED] === 0
      ? words[STATE]! & ARRIVED_MASK
      : words[STATE]! & WAITING_BIT
      ? 1
      : 0,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (parties, tracked) => bytesFor(parties, tracked),
};

/**
 * A barrier: each of its parties waits until all parties have arrived. Then all
 * continue, and the next generation begins at once.
 *
 * Two phases of two parties:
 *
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
 *
 * A party whose time is over, or whose wait is aborted, takes its arrival back:
 * the others wait until it arrives again, as if it had not come. If all parties
 * arrived at that very moment, the party has passed instead, and its result
 * says so. A party that will not come again calls `leave()`.
 *
 * Invariant: an agent that sleeps on `state` fell asleep on a value with
 * WAITING set, which stays set until the generation ends; arrived < parties.
 * Progress: arriving, taking the arrival back and `leave` are lock-free: they
 * try again only when another party did one of these. `arriveAndWait` waits.
 * The last arrival ends the generation in one step. So after a termination, the
 * other parties have either passed, at most a second later, or wait for the
 * dead party. If an agent was terminated before it arrived, `leave()` replaces
 * it; if it was terminated after it arrived, `leave({ arrived: true })` also
 * takes that arrival back. The words cannot tell the two cases apart: the agent
 * that reports the death must know. With `tracked`, each party notes in a row
 * that it arrives, and `abandon(id)` does the right one. Then an arrival looks
 * at all rows.
 * The generation wraps: with no more agents than parties, no agent sleeps
 * through two generations. More agents may share the barrier, but none may
 * sleep through 128.
 * Freed when: no agent waits, and none will begin an operation. The leader may
 * still be in its arrival.
 * Fairness: all pass at once.
 * C twin: `weft_barrier`. Source: the sense-reversing barrier (Mellor-Crummey
 * and Scott 1991), with the sense counted; `phaser.arriveAndDeregister`.
 *
 * Its words in memory:
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
 */
export class Barrier extends Region<"barrier"> {
  readonly #parties: Parties;

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
    this.#parties = words[TRACKED]! > 0
      ? new Noted(words, agentId())
      : new Counted(words);
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
   * @throws {TypeError} If `memory` is not shared, `parties` is not a number,
   * or `config` is not as described.
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
    return this.#parties.parties;
  }

  /** Parties that have arrived and wait. */
  get arrived(): number {
    return this.#parties.arrived;
  }

  /** How many parties note that they arrive: what `tracked` was, or 0. */
  get tracked(): number {
    return this.#parties.tracked;
  }

  /**
   * Arrives, and blocks until all parties have arrived.
   *
   * @throws {TypeError} If this agent may not block; or if the barrier is
   * tracked, and an arrival of this agent waits already.
   * @throws {RangeError} If no party is left; or if the barrier is tracked, and
   * other agents have all its rows.
   */
  arriveAndWait(): Passage {
    assertMayBlock("arriveAndWait");
    return arriveAndWait(this.#parties, Infinity)!;
  }

  /**
   * Arrives, and waits for the other parties at most `timeout` ms; without a
   * timeout it does not wait. Returns `undefined` if the time was over: then it
   * has taken its arrival back.
   *
   * @throws {TypeError} As `arriveAndWait`, if it would wait; or if `timeout` is
   * not a number.
   * @throws {RangeError} As `arriveAndWait`, or if `timeout` is negative or NaN.
   */
  tryArriveAndWait(timeout = 0): Passage | undefined {
    if (timeout !== 0) assertMayTry("tryArriveAndWait", timeout);
    return arriveAndWait(this.#parties, timeout);
  }

  /**
   * As {@linkcode Barrier.arriveAndWait}, but awaits instead of blocking. An
   * abort takes the arrival back.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type; or if the
   * barrier is tracked, and an arrival of this agent waits already.
   * @throws {RangeError} As `arriveAndWait`.
   */
  async arriveAndWaitAsync(options?: AsyncOptions): Promise<Passage> {
    return (await blockAsync(() => arriving(this.#parties), options))!;
  }

  /**
   * As {@linkcode Barrier.tryArriveAndWait}, but awaits instead of blocking.
   *
   * @throws {TypeError} As `arriveAndWaitAsync`.
   * @throws {RangeError} As `arriveAndWait`, or if the timeout is negative or
   * NaN.
   */
  tryArriveAndWaitAsync(
    options?: TryAsyncOptions,
  ): Promise<Passage | undefined> {
    return tryBlockAsync(() => arriving(this.#parties), options);
  }

  /**
   * Takes one party out for good: called by a party that will not come again,
   * or by an agent that knows that a party was terminated. `arrived` says that
   * this party was terminated while it waited, and takes its arrival back.
   * Returns true if this ended the generation, because all other parties had
   * arrived: that generation has no leader.
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
    return this.#parties.leave(arrived);
  }

  /**
   * Takes the party that agent `id` was out for good, if the barrier is
   * tracked. Call it only when that agent will never run again. If all other
   * parties have arrived, they go on. Returns how many parties left: 1, or 0 if
   * the agent was none, or had never arrived.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, MAX_ID);
    return id === 0 ? 0 : this.#parties.abandon(id);
  }
}

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
  const { tracked = 0 } = config;
  return tracked;
}
