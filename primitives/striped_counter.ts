/**
 * A sum that many agents add to at once.
 *
 * @module
 */

import { STRIPED_COUNTER } from "./_layout.ts";
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

export { type Handle, type Memory, Region } from "./_region.ts";

const STRIPES = STRIPED_COUNTER.stripes;
const CLAIMS = STRIPED_COUNTER.claims;

/** Words from stripe to stripe. */
const STRIDE = 32;
/** In a stripe. */
const LOW = 0, HIGH = 1;

const MAX_STRIPES = 1024;

/** `high` counts these; the top 4 bits of `low` are its lowest ones. */
const SECTOR_BITS = 28;
const SECTOR = 2 ** SECTOR_BITS;

/** How a counter is made. */
export interface CounterConfig {
  /** How many agents add without meeting, 1 to 1024; 8 unless given. */
  readonly stripes?: number;
}

/**
 * What can be told of a counter.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = { row: STRIPED_COUNTER };

/**
 * A sum of numbers that any number of agents add, for statistics: each view
 * adds to a stripe of its own, as far as there are stripes, so that agents do
 * not wait for each other's cache lines. Make one view an agent, and keep it.
 *
 * ```text
 * word 0   magic    Kind and layout version.
 * word 1   stripes  How many stripes there are, 1 to 1024.
 * word 2   seal     Check word over the configuration.
 * word 3   claims   Views, or threads of C, that took a stripe, modulo 2^32.
 * word 32  Stripes of 32 words each. A stripe has `low`, the sum of what was
 *          added there modulo 2^32, and `high`, that sum divided by 2^28; a
 *          carry may be late.
 * ```
 *
 * Invariant: bits 28 to 31 of `low` are the low bits of the true `high`, which
 * is less than 8 from the word: so `sum` knows it however late a carry is.
 * Every `add` looks whether one is, and does it for whoever was terminated.
 * Progress: `add` is wait-free, `sum` lock-free: it goes round only as others
 * added another 2^28. An agent terminated in `add` has added, or has not; of
 * more than 2^28 at a time perhaps a part.
 * Range: `sum` is exact up to 2^53 in either direction, and each stripe counts
 * on to 2^59, where it wraps.
 * `sum` is not a snapshot: it reads one stripe after the other. If all add
 * what is not negative, it lies between the true sums at its begin and end.
 * Fairness: none needed, nobody waits.
 * C twin: `weft_striped_counter`. Source: `LongAdder` of java.util.concurrent.
 *
 * @example Count from many agents
 * ```ts
 * import { StripedCounter } from "@weft/sync";
 *
 * const bytes = StripedCounter.create(); // post bytes.handle to workers
 * for (let i = 0; i < 3; i++) bytes.add(2 ** 31 - 1);
 * if (bytes.sum() !== 3 * (2 ** 31 - 1)) throw new Error(`${bytes.sum()}`);
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
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
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
   * The bytes such a counter occupies.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config?: CounterConfig): number {
    return bytesFor(stripesOf(config));
  }

  /**
   * Allocates a counter with a sum of 0.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static create(config?: CounterConfig): StripedCounter {
    const memory = allocate(StripedCounter.byteLength(config));
    return StripedCounter.init(memory, 0, config);
  }

  /**
   * Makes a region that nobody uses yet a counter with a sum of 0.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number,
    config?: CounterConfig,
  ): StripedCounter {
    const stripes = stripesOf(config);
    format(
      "striped_counter",
      STRIPED_COUNTER,
      memory,
      byteOffset,
      bytesFor(stripes),
      [
        stripes,
      ],
    );
    return new StripedCounter(memory, byteOffset);
  }

  /**
   * Attaches to the counter a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): StripedCounter {
    return new StripedCounter(...fromHandle("striped_counter", handle));
  }

  /** How many agents add without meeting. */
  get stripes(): number {
    return this.#words[STRIPES]!;
  }

  /**
   * Adds `n`, which may be negative. More than 2^28 at a time, in either
   * direction, is added in up to eight steps.
   *
   * @throws {RangeError} If `n` is not an integer from -2^31 to 2^31 - 1.
   */
  add(n = 1): void {
    if (n !== (n | 0)) inRange("What is added", n, -(2 ** 31), 2 ** 31 - 1);
    if (this.#at === 0) this.#at = this.#claim();
    for (; n > SECTOR; n -= SECTOR) this.#step(SECTOR);
    for (; n < -SECTOR; n += SECTOR) this.#step(-SECTOR);
    this.#step(n);
  }

  /** The sum of all that was added. */
  sum(): number {
    const words = this.#words;
    let sum = 0;
    for (let at = STRIPED_COUNTER.length; at < words.length; at += STRIDE) {
      let high = Atomics.load(words, at + HIGH);
      for (;;) {
        const low = Atomics.load(words, at + LOW);
        const seen = Atomics.load(words, at + HIGH);
        if (seen === high) {
          sum += (high + lag(high, low)) * SECTOR + (low & SECTOR - 1);
          break;
        }
        high = seen; // by now, low may be far ahead of what it was
      }
    }
    return sum;
  }

  #claim(): number {
    const words = this.#words;
    const claims = Atomics.add(words, CLAIMS, 1) >>> 0;
    return STRIPED_COUNTER.length + claims % words[STRIPES]! * STRIDE;
  }

  #step(n: number): void {
    const words = this.#words;
    const at = this.#at;
    const low = Atomics.add(words, at + LOW, n) + n | 0;
    // The plain look may be old: then a later one, or `sum`, makes it good.
    if (lag(words[at + HIGH]!, low) !== 0) this.#carry();
  }

  /** Brings `high` up to date; if another agent is faster, it did that. */
  #carry(): void {
    const words = this.#words;
    const at = this.#at;
    const high = Atomics.load(words, at + HIGH);
    const late = lag(high, Atomics.load(words, at + LOW));
    Atomics.compareExchange(words, at + HIGH, high, high + late | 0);
  }
}

/** By how much `high` is late, -8 to 7. */
function lag(high: number, low: number): number {
  return ((low >>> SECTOR_BITS) - high) << SECTOR_BITS >> SECTOR_BITS;
}

function stripesOf({ stripes = 8 }: CounterConfig = {}): number {
  return inRange("The number of stripes", stripes, 1, MAX_STRIPES);
}

function bytesFor(stripes: number): number {
  return (STRIPED_COUNTER.length + stripes * STRIDE) * 4;
}
