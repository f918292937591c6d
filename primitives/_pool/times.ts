/**
 * How long things took: a histogram with four buckets for each power of two.
 *
 * @module
 */

/** How long some of the tasks took, in ms. */
export interface Times {
  /** How many were measured. */
  readonly count: number;
  /** Their mean; 0 if there are none. */
  readonly mean: number;
  /** The longest. */
  readonly max: number;
  /** Half of them took at most this long, or up to a quarter less. */
  readonly p50: number;
  /** Nine of ten did. */
  readonly p90: number;
  /** 99 of 100 did. */
  readonly p99: number;
  /**
   * The histogram: `count` of them took less than `below` ms, and not less than
   * the bucket before. Empty buckets are left out.
   */
  readonly buckets: readonly {
    readonly below: number;
    readonly count: number;
  }[];
}

/** Measured from 2^-20 ms, a nanosecond, to 2^44 ms. */
const LOWEST = 107; // the exponent of 2^-20, as a float has it
const BUCKETS = 256;

/** Collects durations. */
export class Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);
  #count = 0;
  #sum = 0;
  #max = 0;

  /** Counts a duration of `ms`; one below 0 counts as 0. */
  add(ms: number): void {
    const it = ms > 0 ? ms : 0;
    this.#float[0] = it;
    // The exponent and the two highest bits behind it.
    const bucket = (this.#bits[0]! >>> 21) - LOWEST * 4;
    this.#counts[Math.min(Math.max(bucket, 0), BUCKETS - 1)]!++;
    this.#count++;
    this.#sum += it;
    if (it > this.#max) this.#max = it;
  }

  /** What was counted so far. */
  get times(): Times {
    const buckets: { below: number; count: number }[] = [];
    for (const [bucket, count] of this.#counts.entries()) {
      if (count > 0) buckets.push({ below: this.#endOf(bucket), count });
    }
    const within = (share: number) => {
      let left = this.#count * share;
      const found = buckets.find(({ count }) => (left -= count) <= 0);
      return Math.min(found?.below ?? 0, this.#max);
    };
    return {
      count: this.#count,
      mean: this.#count === 0 ? 0 : this.#sum / this.#count,
      max: this.#max,
      p50: within(0.5),
      p90: within(0.9),
      p99: within(0.99),
      buckets,
    };
  }

  #endOf(bucket: number): number {
    this.#bits[0] = bucket + 1 + LOWEST * 4 << 21;
    return this.#float[0]!;
  }
}
