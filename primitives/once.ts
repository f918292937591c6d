/**
 * Runs a function once, in one of many agents.
 *
 * @module
 */

import { ONCE } from "./_memory/layout.ts";
import {
  allocate,
  assertFunction,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  viewPlain,
  type WordsInspection,
} from "./_memory/region.ts";
import { relax, spinning } from "./_wait/spin.ts";
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

const STATE: typeof ONCE.state = 0;

const NEW = 0;
const RUNNER_MASK = 0x0fff_ffff; // ONCE_BITS.RUNNER
const DONE_BIT = 0x1000_0000; // ONCE_BITS.DONE
const WAITING_BIT = 0x4000_0000; // ONCE_BITS.WAITING

/** How the slow path ended: "ours" if this agent is to run the function. */
type Outcome = false | "done" | "ours";

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: ONCE,
  owner: (words) => words[STATE]! & RUNNER_MASK,
  waiters: (words) => words[STATE]! & WAITING_BIT ? 1 : 0,
};

/**
 * Runs a function once: the first agent runs it, and the others wait until it
 * is done. If it throws, the next agent tries.
 *
 * A table that is built once:
 *
 * ```ts
 * import { Once } from "@weft/sync";
 *
 * const once = Once.create(); // post once.handle to workers
 * const table = new Float64Array(new SharedArrayBuffer(8 * 256));
 * once.run(() => table.forEach((_, i) => table[i] = Math.sqrt(i)));
 * if (!once.done || table[4] !== 2) throw new Error("not built");
 * ```
 *
 * Invariant: an agent that sleeps on `state` fell asleep on a value with
 * WAITING set. The bit stays set until the function is done, which wakes all
 * sleepers; a failure before that wakes one.
 * Progress: `run`, `runAsync` and their `try` forms wait while another agent
 * runs its function; `done` is wait-free. All agents that return see what the
 * function wrote. If an agent is terminated while it runs the function, the
 * others wait until `abandon(id)`; if it is terminated while it waits, this
 * delays them by at most a second. Nothing wraps.
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * ran the function may still be in its operation.
 * Fairness: none among the agents that wait to try next.
 * C twin: `weft_once`. Source: `pthread_once`; the retry is that of C++'s
 * `std::call_once`.
 *
 * Its words in memory:
 *
 * ```text
 * word 0  state  bits 0-27  the id of the agent that runs the function, or 0
 *                bit 28     DONE
 *                bit 30     WAITING: somebody may sleep on this word
 *                sleepers: agents that wait for the result
 * ```
 */
export class Once extends Region<"once"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** Once this view has seen that it is done, it stays done. */
  #done = false;

  /**
   * Views the once at `byteOffset`, a multiple of 4; writes nothing. Zeroed
   * memory is a once whose function was not run.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If the once does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = viewPlain("once", ONCE, memory, byteOffset);
    super("once", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
  }

  /** The bytes a once occupies. */
  static byteLength(): number {
    return ONCE.length * 4;
  }

  /** Allocates a once whose function was not run. */
  static create(): Once {
    return new Once(allocate(Once.byteLength()));
  }

  /**
   * Initializes unused memory as a once whose function was not run.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If the once does not fit there.
   */
  static init(memory: Memory, byteOffset: number | bigint): Once {
    const once = new Once(memory, byteOffset);
    once.#words.fill(0);
    return once;
  }

  /**
   * Attaches to the once that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind.
   */
  static from(handle: Handle<"once">): Once {
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
   * Runs `fn`, unless the function was run already or another agent runs it; in
   * that case it blocks until the function is done. If `fn` throws, `run`
   * throws the same, and the next agent tries. For a function that returns a
   * promise, use `runAsync`: `run` does not wait for the promise.
   *
   * @throws {TypeError} If `fn` is not a function, or this agent may not block,
   * or it runs a function of this once already: it would wait for itself.
   */
  run(fn: () => void): void {
    if (typeof fn === "function" && this.#done) return;
    assertFunction(fn);
    assertMayBlock("run");
    this.#run(fn, Infinity);
  }

  /**
   * As {@linkcode Once.run}, but waits for another agent at most `timeout` ms;
   * without a timeout it does not wait. Returns whether the function was run to
   * its end, here or elsewhere.
   *
   * @throws {TypeError} If `fn` is not a function, or `timeout` is not a
   * number; or if it would wait and this agent may not block, or runs a
   * function of this once already.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryRun(fn: () => void, timeout = 0): boolean {
    assertFunction(fn);
    assertTimeout(timeout);
    if (this.#done) return true;
    if (timeout !== 0) assertMayBlock("tryRun");
    return this.#run(fn, timeout);
  }

  /**
   * As {@linkcode Once.run}, but awaits other agents, and what `fn` returns,
   * instead of blocking. Another task of the agent that runs the function may
   * await it, too, but not the function itself: it would wait for ever.
   *
   * @throws {TypeError} If `fn` is not a function, or an option is unknown or
   * of a wrong type.
   */
  async runAsync(
    fn: () => void | PromiseLike<void>,
    options?: AsyncOptions,
  ): Promise<void> {
    assertFunction(fn);
    await this.#finish(fn, await blockAsync(() => this.#runSlow(), options));
  }

  /**
   * As {@linkcode Once.tryRun}, but awaits instead of blocking. The timeout
   * limits the wait for another agent, not `fn`.
   *
   * @throws {TypeError} If `fn` is not a function, or an option is unknown or
   * of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN.
   */
  async tryRunAsync(
    fn: () => void | PromiseLike<void>,
    options?: TryAsyncOptions,
  ): Promise<boolean> {
    assertFunction(fn);
    const outcome = await tryBlockAsync(() => this.#runSlow(), options);
    return await this.#finish(fn, outcome);
  }

  /**
   * Lets the next agent try if agent `id` was running the function. Call it
   * only when that agent will never run again. Returns 1, or 0 if it was not
   * running the function.
   *
   * C twin: `weft_once_abandon`.
   *
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, RUNNER_MASK);
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    while ((state & RUNNER_MASK) === id && id !== 0) {
      const expected = state;
      const kept = state & WAITING_BIT;
      state = Atomics.compareExchange(words, STATE, expected, kept);
      if (state !== expected) continue;
      if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);
      return 1;
    }
    return 0;
  }

  #run(fn: () => void, timeout: number): boolean {
    const words = this.#words;
    for (let i = timeout > 0 ? spinning.rounds : 0;; i--) {
      const state = Atomics.compareExchange(words, STATE, NEW, this.#id);
      if (state === NEW) return this.#call(fn);
      if (state & DONE_BIT) return this.#done = true;
      if ((state & RUNNER_MASK) === this.#id && timeout > 0) {
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

  /** Awaits the function if this agent is to run it. */
  async #finish(
    fn: () => void | PromiseLike<void>,
    outcome: Outcome,
  ): Promise<boolean> {
    if (outcome !== "ours") return outcome !== false;
    try {
      await fn();
    } catch (error) {
      this.#fail();
      throw error;
    }
    return this.#end();
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

  /** (E) Publishes what the function wrote, and wakes all waiters. */
  #end(): true {
    const words = this.#words;
    const state = Atomics.exchange(words, STATE, DONE_BIT);
    if (state & WAITING_BIT) Atomics.notify(words, STATE);
    return this.#done = true;
  }

  /** Lets the next agent try. */
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
