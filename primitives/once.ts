/**
 * Something that is done once.
 *
 * @module
 */

import { ONCE } from "./_layout.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  type Memory,
  Region,
  viewPlain,
  type WordsInspection,
} from "./_region.ts";
import { relax, spinning } from "./_spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type Waiting,
} from "./_wait.ts";
import { agentId } from "./agent.ts";

export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

const STATE = ONCE.state;

const NEW = 0;
const RUNNER_MASK = 0x0fff_ffff;
const DONE_BIT = 1 << 28;
const WAITING_BIT = 1 << 30;

/** How the slow path ended. */
type Outcome = false | "done" | "ours";

/**
 * What can be told of a once.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: ONCE,
  owner: (words) => words[STATE]! & RUNNER_MASK,
  waiters: (words) => words[STATE]! & WAITING_BIT ? 1 : 0,
};

/**
 * Runs a function once, whichever agent comes first; the others wait for it.
 * If it throws, the next one tries.
 *
 * ```text
 * word 0  state  bits 0-27  the id of the agent that runs the function, or 0
 *                bit 28     DONE
 *                bit 30     WAITING: somebody may sleep on this word
 *                sleepers: agents that wait for the result
 * ```
 *
 * Invariant: an agent asleep on `state` went to sleep on a value with WAITING
 * set, which stays until it is done: then all are woken, and one at each
 * failure before.
 * Progress: `run` and `runAsync` block while another agent runs its function;
 * `done` is wait-free. What the function wrote is seen by all who return. An
 * agent terminated while it runs makes the others wait until `abandon(id)`;
 * one terminated while it waits costs them at most a second. Nothing wraps.
 * Fairness: none among those who wait to try next.
 * C twin: `weft_once`. Source: `pthread_once`; the retry is that of C++'s
 * `std::call_once`.
 *
 * @example A table that is built once
 * ```ts
 * import { Once } from "@weft/sync";
 *
 * const once = Once.create(); // post once.handle to workers
 * const table = new Float64Array(new SharedArrayBuffer(8 * 256));
 * once.run(() => table.forEach((_, i) => table[i] = Math.sqrt(i)));
 * if (!once.done || table[4] !== 2) throw new Error("not built");
 * ```
 */
export class Once extends Region<"once"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** Seen to be done, which it then is for ever. */
  #done = false;

  /**
   * Views the once at `byteOffset`, a multiple of 4; writes nothing. Zeroed
   * memory is one that was not run.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = viewPlain("once", ONCE, memory, byteOffset);
    super("once", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
  }

  /** The bytes a once occupies. */
  static byteLength(): number {
    return ONCE.length * 4;
  }

  /** Allocates a once that was not run. */
  static create(): Once {
    return new Once(allocate(Once.byteLength()));
  }

  /**
   * Makes a region that nobody uses yet a once that was not run.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  static init(memory: Memory, byteOffset: number): Once {
    const once = new Once(memory, byteOffset);
    once.#words.fill(0);
    return once;
  }

  /**
   * Attaches to the once a message brought.
   *
   * @throws {TypeError} If it is of another kind.
   */
  static from(handle: Handle): Once {
    return new Once(...fromHandle("once", handle));
  }

  /** Whether the function was run to its end. */
  get done(): boolean {
    return this.#done ||= (Atomics.load(this.#words, STATE) & DONE_BIT) !== 0;
  }

  /** The id of the agent that runs the function, or 0. */
  get runner(): number {
    return Atomics.load(this.#words, STATE) & RUNNER_MASK;
  }

  /**
   * Runs `fn` unless it was, or is being, run; then blocks until that is done,
   * up to `timeout` ms. True: it was run to its end, here or elsewhere; false:
   * the time passed. What `fn` throws is thrown here, and the next one tries.
   *
   * @throws {TypeError} If this agent may not block, or runs a function of
   * this once: it would wait for itself.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  run(fn: () => void, timeout = Infinity): boolean {
    if (this.#done) return true;
    assertMayBlock("run");
    if (timeout !== Infinity) assertTimeout(timeout);
    const words = this.#words;
    for (let i = timeout > 0 ? spinning.rounds : 0;; i--) {
      const state = Atomics.compareExchange(words, STATE, NEW, this.#id);
      if (state === NEW) return this.#call(fn);
      if (state & DONE_BIT) return this.#done = true;
      if ((state & RUNNER_MASK) === this.#id) {
        throw new TypeError(
          `Cannot run a once within itself: agent ${this.#id} runs it already`,
        );
      }
      if (i === 0 || (state & RUNNER_MASK) === 0) break;
      relax();
    }
    const outcome = block(this.#runSlow(), timeout);
    if (outcome === "ours") return this.#call(fn);
    return outcome !== false;
  }

  /**
   * As {@linkcode run}, awaiting `fn` and other agents instead of blocking.
   * Another task of the agent that runs the function may await it, but not
   * the function itself: that is never done.
   */
  async runAsync(
    fn: () => void | Promise<void>,
    options?: AsyncOptions,
  ): Promise<boolean> {
    if (this.#done) return true;
    const outcome = await blockAsync(() => this.#runSlow(), options);
    if (outcome !== "ours") return outcome !== false;
    try {
      await fn();
    } catch (error) {
      this.#fail();
      throw error;
    }
    return this.#end();
  }

  /**
   * Lets the next one try if agent `id`, which is known never to run again,
   * was running the function; false if it was not.
   *
   * C twin: `weft_once_abandon`.
   */
  abandon(id: number): boolean {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    while ((state & RUNNER_MASK) === id && id !== 0) {
      const expected = state;
      const kept = state & WAITING_BIT;
      state = Atomics.compareExchange(words, STATE, expected, kept);
      if (state !== expected) continue;
      if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);
      return true;
    }
    return false;
  }

  #call(fn: () => void): true {
    try {
      fn();
    } catch (error) {
      this.#fail();
      throw error;
    }
    return this.#end();
  }

  /** (E) Publishes what the function wrote, and wakes who waits for it. */
  #end(): true {
    const words = this.#words;
    const state = Atomics.exchange(words, STATE, DONE_BIT);
    if (state & WAITING_BIT) Atomics.notify(words, STATE);
    return this.#done = true;
  }

  /** Lets the next one try. */
  #fail(): void {
    const words = this.#words;
    const state = Atomics.and(words, STATE, WAITING_BIT);
    if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);
  }

  *#runSlow(): Waiting<Outcome> {
    const words = this.#words;
    let state = Atomics.load(words, STATE); // pairs with (E)
    let last = false;
    for (;;) {
      const expected = state;
      if (state & DONE_BIT) {
        this.#done = true;
        return "done";
      }
      const free = (state & RUNNER_MASK) === 0;
      if (!free && last) return false;
      state = free ? state | this.#id : state | WAITING_BIT;
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          state = seen;
          continue;
        }
      }
      if (free) return "ours";
      const outcome = yield { words, index: STATE, value: state };
      state = Atomics.load(words, STATE);
      last = outcome === "timed-out";
    }
  }
}
