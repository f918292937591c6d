/**
 * A latch: it opens, once and for ever, when its count is 0.
 *
 * @module
 */

import { keeps, told } from "./_memory/explored.ts";
import { LATCH } from "./_memory/layout.ts";
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
} from "./_memory/region.ts";
import { spin } from "./_wait/spin.ts";
import {
  assertMayBlock,
  assertMayTry,
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./_wait/wait.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

const STATE: typeof LATCH.state = 2;

const OPEN = 0;
const WAITING_BIT = 1; // LATCH_BITS.WAITING
const ONE = 2; // LATCH_BITS.COUNT

/** The highest count a latch can start from. */
const MAX_COUNT = 0x3fff_ffff; // LATCH_BITS.COUNT

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: LATCH,
  waiters: (words) => words[STATE]! & WAITING_BIT,
};

/**
 * A latch: `wait` returns when `countDown` has brought the count to 0. From
 * then on the latch stays open.
 *
 * Wait until two parts are done:
 *
 * ```ts
 * import { Latch } from "@weft/sync";
 *
 * const parts = Latch.create(2); // post parts.handle to workers
 * parts.countDown();
 * parts.countDown();
 * if (!parts.tryWait(50)) throw new Error(`${parts.count} parts are missing`);
 * ```
 *
 * Invariant: an agent that sleeps on `state` fell asleep on a value with
 * WAITING set, which stays set until the latch opens; an open latch is 0.
 * Progress: `countDown` is lock-free: it tries again only when another agent
 * counted down. `tryWait()` is wait-free. `wait` and `arriveAndWait`, their
 * async forms, and all of them with a timeout wait. An agent that is terminated
 * before it counted down keeps the latch shut; another agent that knows this
 * counts down in its place. An agent that is terminated in the last `countDown`
 * delays the waiters by at most a second. Nothing wraps.
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * opened the latch may still be in its operation.
 * Fairness: all waiters are let through at once.
 * C twin: `weft_latch`. Source: Doug Lea's `CountDownLatch`.
 *
 * Its words in memory:
 *
 * ```text
 * word 0  magic  Kind and layout version.
 * word 1  seal   Check word over the configuration.
 * word 2  state  bit 0      WAITING: somebody may sleep on this word
 *                bits 1-30  the count, 2^30 - 1 to 0
 *                sleepers: agents that wait
 * ```
 */
export class Latch extends Region<"latch"> {
  readonly #words: Int32Array<SharedArrayBuffer>;

  /**
   * Attaches to the latch at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no latch of this layout
   * version was initialized there.
   * @throws {RangeError} If the latch does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
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
   * Allocates a latch that opens after `count` steps, 0 to 2^30 - 1.
   *
   * @throws {TypeError} If `count` is not a number.
   * @throws {RangeError} If `count` is out of range.
   */
  static create(count: number): Latch {
    inRange("A latch's count", count, 0, MAX_COUNT);
    return Latch.init(allocate(Latch.byteLength()), 0, count);
  }

  /**
   * Initializes unused memory as a latch that opens after `count` steps.
   *
   * @throws {TypeError} If `memory` is not shared, or `count` is not a number.
   * @throws {RangeError} If the latch does not fit there, or `count` is out of
   * range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    count: number,
  ): Latch {
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
   * Attaches to the latch that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no latch is
   * there.
   */
  static from(handle: Handle<"latch">): Latch {
    return new Latch(...fromHandle("latch", handle));
  }

  /** The steps that are left; 0 if the latch is open. */
  get count(): number {
    return Atomics.load(this.#words, STATE) >> 1;
  }

  /**
   * Counts down by `n`, and wakes all waiters if that opens the latch.
   *
   * @throws {TypeError} If `n` is not a number.
   * @throws {RangeError} If `n` is not an integer from 1 to the count.
   */
  countDown(n = 1): void {
    inRange("The number to count down by", n, 1, MAX_COUNT);
    this.#step(n);
  }

  /**
   * Counts down by `n`. Returns whether that opened the latch.
   *
   * (G) Whoever is let through may free the memory at once: after the exchange,
   * only the address is used.
   */
  #step(n: number): boolean {
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
      return next === OPEN;
    }
  }

  /**
   * Blocks until the latch is open.
   *
   * @throws {TypeError} If this agent may not block.
   */
  wait(): void {
    assertMayBlock("wait");
    this.#wait(Infinity);
  }

  /**
   * Waits at most `timeout` ms; without a timeout it does not wait. Returns
   * whether the latch is open.
   *
   * @throws {TypeError} If it would wait and this agent may not block, or if
   * `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryWait(timeout = 0): boolean {
    if (timeout === 0) return this.#isOpen();
    assertMayTry("tryWait", timeout);
    return this.#wait(timeout);
  }

  /**
   * As {@linkcode Latch.wait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   */
  async waitAsync(options?: AsyncOptions): Promise<void> {
    await blockAsync(() => this.#waitSlow(), options);
  }

  /**
   * As {@linkcode Latch.tryWait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN.
   */
  tryWaitAsync(options?: TryAsyncOptions): Promise<boolean> {
    return tryBlockAsync(() => this.#waitSlow(), options);
  }

  /**
   * Counts down by one, and blocks until the latch is open.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If the latch is open.
   */
  arriveAndWait(): void {
    assertMayBlock("arriveAndWait");
    if (!this.#step(1)) this.#wait(Infinity);
  }

  /**
   * Counts down by one, and waits at most `timeout` ms; without a timeout it
   * does not wait. Returns whether the latch is open. The step is counted in
   * either case.
   *
   * @throws {TypeError} If it would wait and this agent may not block, or if
   * `timeout` is not a number.
   * @throws {RangeError} If the latch is open, or `timeout` is negative or NaN.
   */
  tryArriveAndWait(timeout = 0): boolean {
    if (timeout !== 0) assertMayTry("tryArriveAndWait", timeout);
    if (this.#step(1)) return true;
    return timeout === 0 ? this.#isOpen() : this.#wait(timeout);
  }

  /**
   * As {@linkcode Latch.arriveAndWait}, but awaits instead of blocking. An
   * abort ends the waiting, but the step stays counted. If the signal was
   * aborted before the call, nothing is counted.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the latch is open.
   */
  async arriveAndWaitAsync(options?: AsyncOptions): Promise<void> {
    await blockAsync(() => this.#arrivePath(), options);
  }

  /**
   * As {@linkcode Latch.tryArriveAndWait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the latch is open, or the timeout is negative or
   * NaN.
   */
  tryArriveAndWaitAsync(options?: TryAsyncOptions): Promise<boolean> {
    return tryBlockAsync(() => this.#arrivePath(), options);
  }

  /** @internal */
  readiness(): Waiting<boolean> {
    return this.#waitSlow();
  }

  #isOpen(): boolean {
    return Atomics.load(this.#words, STATE) === OPEN;
  }

  /** Waits, blocking at most `timeout` ms. */
  #wait(timeout: number): boolean {
    if (this.#isOpen() || spin(() => this.#isOpen())) return true;
    return block(this.#waitSlow(), timeout);
  }

  *#arrivePath(): Waiting<boolean> {
    return this.#step(1) || (yield* this.#waitSlow());
  }

  *#waitSlow(): Waiting<boolean> {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    while (state !== OPEN) {
      if (told.explored) keeps("wait", state);
      const expected = state;
      state |= WAITING_BIT;
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          state = seen;
          continue;
        }
      }
      // Every step changes the word, but only the last one wakes.
      const outcome = yield { words, index: STATE, value: state };
      state = Atomics.load(words, STATE);
      if (outcome === "timed-out") return state === OPEN;
    }
    return true;
  }
}
