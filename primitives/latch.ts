/**
 * A count that goes down once, and opens at 0.
 *
 * @module
 */

import { LATCH } from "./_layout.ts";
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

const STATE = LATCH.state;

const OPEN = 0;
const WAITING_BIT = 1;
const ONE = 2;

/** The highest count a latch can start from. */
const MAX_COUNT = 2 ** 30 - 1;

/**
 * What can be told of a latch.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: LATCH,
  waiters: (words) => words[STATE]! & WAITING_BIT,
};

/**
 * A latch: `wait` ends when `countDown` has brought the count to 0. It stays
 * open from then on.
 *
 * ```text
 * word 0  magic  Kind and layout version.
 * word 1  seal   Check word over the configuration.
 * word 2  state  bit 0      WAITING: somebody may sleep on this word
 *                bits 1-30  the count, 2^30 - 1 to 0
 *                sleepers: agents that wait
 * ```
 *
 * Invariant: an agent asleep on `state` went to sleep on a value with WAITING
 * set, which stays until the latch opens; an open latch is 0.
 * Progress: `countDown` is lock-free: it tries again only when another agent
 * counted down. `tryWait` is wait-free; `wait` and `waitAsync` block. An agent
 * terminated before it counted down keeps the latch shut: whoever knows of it
 * counts in its place. One terminated in the last `countDown` costs those who
 * wait at most a second. Nothing wraps.
 * Fairness: all are let through at once.
 * C twin: `weft_latch`. Source: Doug Lea's `CountDownLatch`.
 *
 * @example Wait until two parts are done
 * ```ts
 * import { Latch } from "@weft/sync";
 *
 * const parts = Latch.create(2); // post parts.handle to workers
 * parts.countDown();
 * parts.countDown();
 * if (!parts.wait(50)) throw new Error(`${parts.count} parts are missing`);
 * ```
 */
export class Latch extends Region<"latch"> {
  readonly #words: Int32Array<SharedArrayBuffer>;

  /**
   * Attaches to the latch at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no latch of this layout
   * version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const bytes = Latch.byteLength();
    const words = attach("latch", LATCH, memory, byteOffset, () => bytes);
    super("latch", words, INSPECTION);
    this.#words = words;
  }

  /** The bytes a latch occupies. */
  static byteLength(): number {
    return LATCH.length * 4;
  }

  /**
   * Allocates a latch that opens after `count`, 0 to 2^30 - 1.
   *
   * @throws {RangeError} If `count` is out of range.
   */
  static create(count: number): Latch {
    return Latch.init(allocate(Latch.byteLength()), 0, count);
  }

  /**
   * Makes a region that nobody uses yet a latch that opens after `count`.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `count` is out of range.
   */
  static init(memory: Memory, byteOffset: number, count: number): Latch {
    inRange("A latch's count", count, 0, MAX_COUNT);
    format(
      "latch",
      LATCH,
      memory,
      byteOffset,
      Latch.byteLength(),
      [],
      (words) => {
        words[STATE] = count * ONE;
      },
    );
    return new Latch(memory, byteOffset);
  }

  /**
   * Attaches to the latch a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): Latch {
    return new Latch(...fromHandle("latch", handle));
  }

  /** What is left to count; 0 is open. */
  get count(): number {
    return Atomics.load(this.#words, STATE) >> 1;
  }

  /**
   * Counts down by `n`, and wakes who waits if that opens the latch.
   *
   * @throws {RangeError} If `n` is not an integer from 1 to the count.
   */
  countDown(n = 1): void {
    inRange("A step down", n, 1, MAX_COUNT);
    const words = this.#words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      const expected = state;
      if (state < n * ONE) {
        state = Atomics.load(words, STATE);
        if (state !== expected) continue;
        throw new RangeError(
          `Cannot count down by ${n}: the count is ${state >> 1}`,
        );
      }
      const left = state - n * ONE;
      const next = left < ONE ? OPEN : left;
      state = Atomics.compareExchange(words, STATE, expected, next);
      if (state !== expected) continue;
      if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, STATE);
      return;
    }
  }

  /** Whether the latch is open. */
  tryWait(): boolean {
    return Atomics.load(this.#words, STATE) === OPEN;
  }

  /**
   * Blocks until the latch is open, up to `timeout` ms; false if that time
   * passed.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  wait(timeout = Infinity): boolean {
    assertMayBlock("wait");
    if (timeout !== Infinity) assertTimeout(timeout);
    if (this.tryWait()) return true;
    if (timeout > 0 && spin(() => this.tryWait())) return true;
    return block(this.#waitSlow(), timeout);
  }

  /** As {@linkcode wait}, awaiting instead of blocking. */
  waitAsync(options?: AsyncOptions): Promise<boolean> {
    return blockAsync(() => this.#waitSlow(), options);
  }

  /**
   * Counts down by one and blocks until the latch is open, up to `timeout` ms;
   * false if that time passed. The step down stands nevertheless.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If the latch is open, or `timeout` is negative or NaN.
   */
  arriveAndWait(timeout = Infinity): boolean {
    assertMayBlock("arriveAndWait");
    assertTimeout(timeout);
    this.countDown();
    return this.wait(timeout);
  }

  /**
   * As {@linkcode arriveAndWait}, awaiting instead of blocking. An abort does
   * not take the step down back.
   */
  arriveAndWaitAsync(options?: AsyncOptions): Promise<boolean> {
    return blockAsync(() => {
      this.countDown();
      return this.#waitSlow();
    }, options);
  }

  /**
   * Waits as `wait` does.
   *
   * @internal
   */
  readiness(): Waiting<boolean> {
    return this.#waitSlow();
  }

  *#waitSlow(): Waiting<boolean> {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    while (state !== OPEN) {
      const expected = state;
      state |= WAITING_BIT;
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          state = seen;
          continue;
        }
      }
      // Steps down change the word, too, but only the last one wakes.
      const outcome = yield { words, index: STATE, value: state };
      state = Atomics.load(words, STATE);
      if (outcome === "timed-out") return state === OPEN;
    }
    return true;
  }
}
