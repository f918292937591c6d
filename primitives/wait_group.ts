/**
 * A count that rises and falls, and agents that wait until it is 0.
 *
 * @module
 */

import { describe } from "./_memory/describe.ts";
import { keeps, told } from "./_memory/explored.ts";
import { WAIT_GROUP } from "./_memory/layout.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  viewPlain,
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

const STATE: typeof WAIT_GROUP.state = 0;

const WAITING_BIT = 1; // WAIT_GROUP_BITS.WAITING
const ONE = 2; // WAIT_GROUP_BITS.COUNT
const COUNT_MASK = 0x0007_fffe; // WAIT_GROUP_BITS.COUNT
const ONE_ROUND = 0x0008_0000; // WAIT_GROUP_BITS.ROUND
const ROUND_MASK = -0x0008_0000; // WAIT_GROUP_BITS.ROUND

/** The highest count of a wait group. */
const MAX_COUNT = 0x0003_ffff; // WAIT_GROUP_BITS.COUNT

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: WAIT_GROUP,
  waiters: (words) => words[STATE]! & WAITING_BIT,
};

/**
 * A wait group: `add` raises a count, `done` lowers it, and `wait` returns when
 * it is 0. Then the group may be used again. Zeroed memory is a wait group
 * whose count is 0.
 *
 * Wait for work that starts more work:
 *
 * ```ts
 * import { WaitGroup } from "@weft/sync";
 *
 * const tasks = WaitGroup.create(); // post tasks.handle to workers
 * tasks.add(2); // before they are given away
 * tasks.done();
 * tasks.done();
 * if (!tasks.tryWait(50)) throw new Error(`${tasks.count} tasks are not done`);
 * ```
 *
 * Call `add` before the work is given away: an agent that calls `wait` before
 * the first `add` returns at once. A wait that sleeps when the count falls to 0
 * ends, even if the count rises again before the sleeper looks.
 *
 * Invariant: an agent that sleeps on `state` fell asleep on a value with
 * WAITING set; that bit stays set until the count is 0, and the same step that
 * clears it changes the round.
 * Progress: `add` and `done` are lock-free: they try again only when another
 * agent changed the group. `tryWait()` is wait-free. `wait`, its async form,
 * and both with a timeout wait. An agent that is terminated before its `done`
 * keeps the count up; another agent that knows this calls `done` in its place.
 * An agent that is terminated in the last `done` delays the waiters by at most
 * a second. A waiter that sleeps while exactly 2^13 rounds pass that others
 * waited for, and looks just then, goes on waiting for the next one.
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * lowered the count to 0 may still be in `done`, and others in their `add`.
 * Fairness: all waiters are let through at once.
 * C twin: `weft_wait_group`. Source: Go's `sync.WaitGroup`; the rounds are
 * ours.
 *
 * Its words in memory:
 *
 * ```text
 * word 0  state  bit 0       WAITING: somebody may sleep on this word, and the
 *                            count is not 0
 *                bits 1-18   the count, 0 to 2^18 - 1
 *                bits 19-31  how often it fell to 0 while somebody waited,
 *                            modulo 2^13
 *                sleepers: agents that wait
 * ```
 */
export class WaitGroup extends Region<"wait_group"> {
  readonly #words: Int32Array<SharedArrayBuffer>;

  /**
   * Views the wait group at `byteOffset`, a multiple of 4; writes nothing.
   * Zeroed memory is a wait group whose count is 0.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If the wait group does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = viewPlain("wait_group", WAIT_GROUP, memory, byteOffset);
    super("wait_group", words, INSPECTION);
    this.#words = words;
  }

  /** The bytes a wait group occupies. */
  static byteLength(): number {
    return WAIT_GROUP.length * 4;
  }

  /**
   * Allocates a wait group whose count is 0.
   *
   * @throws {TypeError} If memory cannot be shared here (see `isSupported`), or
   * it is given a count, as a latch is.
   */
  static create(): WaitGroup {
    if (arguments.length > 0) {
      throw new TypeError(
        `A new wait group counts 0: received ${describe(arguments[0])}: call ` +
          "add(n)",
      );
    }
    return new WaitGroup(allocate(WaitGroup.byteLength()));
  }

  /**
   * Initializes unused memory as a wait group whose count is 0.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If the wait group does not fit there.
   */
  static init(memory: Memory, byteOffset: number | bigint): WaitGroup {
    const group = new WaitGroup(memory, byteOffset);
    Atomics.store(group.#words, STATE, 0);
    return group;
  }

  /**
   * Attaches to the wait group that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind.
   */
  static from(handle: Handle<"wait_group">): WaitGroup {
    return new WaitGroup(...fromHandle("wait_group", handle));
  }

  /** How many `done` are missing; 0 if `wait` would return at once. */
  get count(): number {
    return countIn(Atomics.load(this.#words, STATE));
  }

  /**
   * Raises the count by `n`, 0 or more.
   *
   * (G) Another agent may call `done` in this agent's place, and a waiter may
   * then free the memory: after the exchange, nothing is used.
   *
   * @throws {TypeError} If `n` is not a number.
   * @throws {RangeError} If `n` is not an integer from 0 to 2^18 - 1, or the
   * count would be higher than that.
   */
  add(n = 1): void {
    inRange("The number to add", n, 0, MAX_COUNT);
    if (n === 0) return;
    const words = this.#words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      const expected = state;
      if (countIn(state) + n > MAX_COUNT) {
        state = Atomics.load(words, STATE);
        if (state !== expected) continue;
        throw new RangeError(
          `Cannot add ${n}: the count is ${countIn(state)}, and ` +
            `${MAX_COUNT} is the most`,
        );
      }
      const next = state + n * ONE;
      state = Atomics.compareExchange(words, STATE, expected, next);
      if (state === expected) return;
    }
  }

  /**
   * Lowers the count by `n`, and wakes all waiters if it is then 0.
   *
   * (G) Whoever is let through may free the memory at once: after the exchange,
   * only the address is used.
   *
   * @throws {TypeError} If `n` is not a number.
   * @throws {RangeError} If `n` is not an integer from 1 to the count.
   */
  done(n = 1): void {
    inRange("The number to count down by", n, 1, MAX_COUNT);
    const words = this.#words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      const expected = state;
      if (countIn(state) < n) {
        state = Atomics.load(words, STATE);
        if (state !== expected) continue;
        throw new RangeError(
          `Cannot count down by ${n}: the count is ${countIn(state)}`,
        );
      }
      const next = lowered(state, n);
      state = Atomics.compareExchange(words, STATE, expected, next);
      if (state !== expected) continue;
      if ((state ^ next) & ROUND_MASK) Atomics.notify(words, STATE);
      return;
    }
  }

  /**
   * Blocks until the count is 0.
   *
   * @throws {TypeError} If this agent may not block.
   */
  wait(): void {
    assertMayBlock("wait");
    this.#wait(Infinity);
  }

  /**
   * Waits at most `timeout` ms; without a timeout it does not wait. Returns
   * whether the count was 0.
   *
   * @throws {TypeError} If it would wait and this agent may not block, or if
   * `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryWait(timeout = 0): boolean {
    if (timeout === 0) return this.#isDone();
    assertMayTry("tryWait", timeout);
    return this.#wait(timeout);
  }

  /**
   * As {@linkcode WaitGroup.wait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   */
  async waitAsync(options?: AsyncOptions): Promise<void> {
    await blockAsync(() => this.#waitSlow(), options);
  }

  /**
   * As {@linkcode WaitGroup.tryWait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN.
   */
  tryWaitAsync(options?: TryAsyncOptions): Promise<boolean> {
    return tryBlockAsync(() => this.#waitSlow(), options);
  }

  /** @internal */
  readiness(): Waiting<boolean> {
    return this.#waitSlow();
  }

  #isDone(): boolean {
    return (Atomics.load(this.#words, STATE) & COUNT_MASK) === 0;
  }

  /** Waits, blocking at most `timeout` ms. */
  #wait(timeout: number): boolean {
    if (this.#isDone() || spin(() => this.#isDone())) return true;
    return block(this.#waitSlow(), timeout);
  }

  *#waitSlow(): Waiting<boolean> {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    let last = false;
    while (state & COUNT_MASK) {
      if (told.explored) keeps("wait", state, last);
      if (last) return false;
      const expected = state;
      state |= WAITING_BIT;
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          state = seen;
          continue;
        }
      }
      // Every step changes the word, but only the one to 0 wakes.
      const asleep = state;
      last = (yield { words, index: STATE, value: state }) === "timed-out";
      state = Atomics.load(words, STATE);
      // The count was 0 meanwhile, even if it has risen again.
      if ((state ^ asleep) & ROUND_MASK) return true;
    }
    return true;
  }
}

function countIn(state: number): number {
  return (state & COUNT_MASK) / ONE;
}

/** The state after `done(n)`: with the count 0, a new round if anyone waits. */
function lowered(state: number, n: number): number {
  const left = state - n * ONE;
  if (left & COUNT_MASK || !(left & WAITING_BIT)) return left;
  return (left - WAITING_BIT + ONE_ROUND) | 0;
}
