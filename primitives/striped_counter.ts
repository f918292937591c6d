/**
 * A sum that many agents add to at once.
 *
 * @module
 */

import { STRIPED_COUNTER } from "./_memory/layout.ts";
import { addTo, HIGH, isSum, SECTOR, sumAt } from "./_lock/stripes.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import {
  allocate,
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

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";

const STRIPES: typeof STRIPED_COUNTER.stripes = 1;
const CLAIMS: typeof STRIPED_COUNTER.claims = 3;

/** Words from stripe to stripe. */
const STRIDE = 32;

const MAX_STRIPES = 1024;

/** The configuration of a counter. */
export interface CounterConfig {
  /** How many agents add in places of their own, 1 to 1024; 8 unless given. */
  readonly stripes?: number | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: STRIPED_COUNTER,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (stripes) => bytesFor(stripes),
  behind: (region, tell) => {
    for (let i = 0; i < region[STRIPES]!; i++) {
      const at = STRIPED_COUNTER.length + i * STRIDE;
      if (isSum(region, at)) continue;
      const high = Atomics.load(region, at + HIGH);
      tell(at + HIGH, `stripe ${i}`, high, "It does not fit the sum in `low`.");
    }
  },
};

/**
 * A sum to which any number of agents add, for statistics. While there are
 * enough stripes, each view adds to a stripe of its own, so that agents do not
 * wait for each other's cache lines. Make one view for each agent, and keep it.
 *
 * Count from many agents:
 *
 * ```ts
 * import { StripedCounter } from "@weft/sync";
 *
 * const bytes = StripedCounter.create(); // post bytes.handle to workers
 * for (let i = 0; i < 3; i++) bytes.add(2 ** 31 - 1);
 * if (bytes.sum() !== 3 * (2 ** 31 - 1)) throw new Error(`${bytes.sum()}`);
 * ```
 *
 * Invariant: bits 28 to 31 of `low` are the low bits of the true `high`, which
 * differs from the word by less than 8. So `sum` knows it, however late a carry
 * is. Every `add` checks for a late carry, and does it even for an agent that
 * was terminated.
 * Progress: `add` is wait-free. `sum` is lock-free: it tries again only when
 * others added another 2^28. An agent that is terminated in `add` has added its
 * number or has not; of a number above 2^28, perhaps a part.
 * Range: `sum` is exact up to 2^53 in either direction, and each stripe counts
 * on to 2^59, where it wraps.
 * `sum` is not a snapshot: it reads one stripe after the other. If all agents
 * add numbers that are not negative, it lies between the true sums at its begin
 * and at its end.
 * Freed when: every operation of every agent has returned, and none will begin.
 * Fairness: none needed, nobody waits.
 * C twin: `weft_striped_counter`. Source: `LongAdder` of java.util.concurrent.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic    Kind and layout version.
 * word 1   stripes  How many stripes there are, 1 to 1024.
 * word 2   seal     Check word over the configuration.
 * word 3   claims   Views, or threads of C, that took a stripe, modulo 2^32.
 * word 32  Stripes of 32 words each. A stripe has `low`, the sum of the numbers
 *          added there, modulo 2^32, and `high`, that sum divided by 2^28. A
 *          carry into `high` may be late.
 * ```
 */
export class StripedCounter extends Region<"striped_counter"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** Where this view's stripe begins, or 0 before it adds. */
  #at = 0;

  /**
   * Attaches to the counter at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no counter of this
   * layout version was initialized there.
   * @throws {RangeError} If the counter does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = attach(
      "striped_counter",
      STRIPED_COUNTER,
      memory,
      byteOffset,
      bytesFor,
    );
    super("striped_counter", words, INSPECTION);
    this.#words = words;
  }

  /**
   * The bytes a counter of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `stripes` is out of range.
   */
  static byteLength(config?: CounterConfig): number {
    return bytesFor(stripesOf(config));
  }

  /**
   * Allocates a counter with a sum of 0.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `stripes` is out of range.
   */
  static create(config?: CounterConfig): StripedCounter {
    const memory = allocate(StripedCounter.byteLength(config));
    return StripedCounter.init(memory, 0, config);
  }

  /**
   * Initializes unused memory as a counter with a sum of 0.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not as
   * described.
   * @throws {RangeError} If the counter does not fit there, or `stripes` is out
   * of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config?: CounterConfig,
  ): StripedCounter {
    const stripes = stripesOf(config);
    format(
      "striped_counter",
      STRIPED_COUNTER,
      memory,
      byteOffset,
      bytesFor(stripes),
      [stripes],
    );
    return new StripedCounter(memory, byteOffset);
  }

  /**
   * Attaches to the counter that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no counter is
   * there.
   */
  static from(handle: Handle<"striped_counter">): StripedCounter {
    return new StripedCounter(...fromHandle("striped_counter", handle));
  }

  /** How many agents add in places of their own. */
  get stripes(): number {
    return this.#words[STRIPES]!;
  }

  /**
   * Adds `n`, which may be negative. A number beyond 2^28, in either direction,
   * is added in up to eight steps.
   *
   * @throws {TypeError} If `n` is not a number.
   * @throws {RangeError} If `n` is not an integer from -2^31 to 2^31 - 1.
   */
  add(n = 1): void {
    if (typeof n !== "number" || n !== (n | 0)) {
      inRange("The number to add", n, -(2 ** 31), 2 ** 31 - 1);
    }
    if (this.#at === 0) this.#at = this.#claim();
    const at = this.#at;
    for (; n > SECTOR; n -= SECTOR) addTo(this.#words, at, SECTOR);
    for (; n < -SECTOR; n += SECTOR) addTo(this.#words, at, -SECTOR);
    addTo(this.#words, at, n);
  }

  /** The sum of all numbers that were added. */
  sum(): number {
    const words = this.#words;
    let sum = 0;
    for (let at = STRIPED_COUNTER.length; at < words.length; at += STRIDE) {
      sum += sumAt(words, at);
    }
    return sum;
  }

  #claim(): number {
    const words = this.#words;
    const claims = Atomics.add(words, CLAIMS, 1) >>> 0;
    return STRIPED_COUNTER.length + claims % words[STRIPES]! * STRIDE;
  }
}

/** The number of stripes of a configuration, checked. */
function stripesOf(config: CounterConfig = {}): number {
  assertConfig("striped_counter", config, ["stripes"]);
  const { stripes = 8 } = config;
  bytesFor(stripes);
  return stripes;
}

/** The bytes of a counter, once its number of stripes is checked. */
function bytesFor(stripes: number): number {
  inRange("The number of stripes", stripes, 1, MAX_STRIPES);
  return (STRIPED_COUNTER.length + stripes * STRIDE) * 4;
}
