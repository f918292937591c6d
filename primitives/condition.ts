/**
 * Waiting, with a mutex unlocked, for something it guards to change.
 *
 * @module
 */

import { CONDITION } from "./_layout.ts";
import {
  allocate,
  type Handle,
  inRange,
  type Memory,
  opened,
  Region,
  type Shown,
  viewPlain,
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
import { type Mutex, relocking } from "./mutex.ts";

export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

const TURN = CONDITION.turn;
const EVEN = CONDITION.even;
const ODD = CONDITION.odd;

const CALLED_MASK = 0x7fff;
const ONE_CALLED = 1;
const ONE_WAITING = 1 << 15;
const WAITING_MASK = 0x7fff << 15;

/** Who gathers while agents of the group before are called looks that often. */
const LOOK = 1000;

/**
 * What can be told of a condition.
 *
 * @ignore
 */
export const SHOWN: Shown = {
  row: CONDITION,
  waiters: (words) => waitingIn(words[EVEN]!) + waitingIn(words[ODD]!),
};

/**
 * A condition variable: `wait` unlocks a mutex and sleeps until it is notified,
 * with the mutex locked again.
 *
 * ```text
 * word 0  turn  the group that is called, modulo 2^32; the one after gathers
 * word 1  even  of the groups with an even number, and
 * word 2  odd   of those with an odd one; their agents sleep here
 *               bits 0-14   called: who may go, but did not yet
 *               bits 15-29  waiting: who is not called yet
 * ```
 *
 * Whoever waits joins the group that gathers. A `notify` calls agents of the
 * group whose turn it is, and only when all of them are called, the group that
 * gathers has its turn: so nobody takes a call that came before it waited. Any
 * agent of a group may take a call for it.
 *
 * However many are called, one is woken, and wakes the next when it has the
 * mutex again: `notifyAll` lets them come one by one, and not all at once to
 * wait for the mutex.
 *
 * Invariant: an agent is counted as waiting before it unlocks the mutex, so a
 * `notify` by whoever locks it then finds it; called + waiting is never less
 * than the live agents of the group whose turn it is or will be.
 * Progress: `notify` and `notifyAll` are lock-free: they try again only when
 * another agent waits, goes or notifies; `wait` and `waitAsync` block, in the
 * end for the mutex. An agent terminated while it waits leaves its count: a
 * call it would have taken wakes another one after a second or two. So may one
 * that two notifications without the mutex overtake while it begins to wait.
 * `wait` may end without a notify then, and seldom else: look at what was
 * waited for in a loop. At most 2^15 - 1 agents wait in a group.
 * Fairness: groups in order; within one, as the platform wakes: in order.
 * C twin: `weft_condition`. Source: the two groups are those of glibc's
 * `pthread_cond_t` (Riegel 2016); the chain of wakes is that of "wait
 * morphing", without a requeue, which Atomics lack.
 *
 * @example Wait until it is full
 * ```ts
 * import { Condition, Mutex } from "@weft/sync";
 *
 * const mutex = Mutex.create(); // post both handles to workers
 * const filled = Condition.create();
 * let full = false;
 * setTimeout(() => {
 *   using _lock = mutex.lock();
 *   full = true;
 *   filled.notifyAll();
 * }, 1);
 * using _lock = mutex.lock();
 * while (!full) await filled.waitAsync(mutex);
 * ```
 */
export class Condition extends Region<"condition"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** The mutex waited with last, and its words. */
  #mutex: Mutex | undefined;
  #mutexWords: Int32Array<SharedArrayBuffer> | undefined;

  /**
   * Views the condition at `byteOffset`, a multiple of 4; writes nothing.
   * Zeroed memory is a condition that nobody waits for.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = viewPlain("condition", CONDITION, memory, byteOffset);
    super("condition", words, SHOWN);
    this.#words = words;
    this.#id = agentId();
  }

  /** The bytes a condition occupies. */
  static byteLength(): number {
    return CONDITION.length * 4;
  }

  /** Allocates a condition that nobody waits for. */
  static create(): Condition {
    return new Condition(allocate(Condition.byteLength()));
  }

  /**
   * Makes a region that nobody uses yet a condition.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  static init(memory: Memory, byteOffset: number): Condition {
    const condition = new Condition(memory, byteOffset);
    condition.#words.fill(0);
    return condition;
  }

  /**
   * Attaches to the condition a message brought.
   *
   * @throws {TypeError} If it is of another kind.
   */
  static from(handle: Handle): Condition {
    return new Condition(...opened("condition", handle));
  }

  /**
   * Unlocks `mutex`, blocks until it is notified, up to `timeout` ms, and locks
   * `mutex` again, however long that takes. False if the time passed. The guard
   * that was held is valid afterwards, too.
   *
   * @throws {TypeError} If this agent may not block, or does not hold `mutex`.
   * @throws {RangeError} If `timeout` is negative or NaN, or too many wait.
   */
  wait(mutex: Mutex, timeout = Infinity): boolean {
    assertMayBlock("wait");
    if (timeout !== Infinity) assertTimeout(timeout);
    const words = this.#words;
    const group = this.#join(mutex);
    const place = placeOf(group);
    const seen = Atomics.load(words, place);
    mutex.unlock();
    for (let i = timeout > 0 ? spinning.rounds : 0; i > 0; i--) {
      relax();
      if (Atomics.load(words, place) !== seen) break;
    }
    return block(this.#waitSlow(group), timeout);
  }

  /**
   * As {@linkcode wait}, awaiting instead of blocking. However it ends, by an
   * abort, too, this agent holds `mutex`.
   */
  waitAsync(mutex: Mutex, options?: AsyncOptions): Promise<boolean> {
    return blockAsync(() => {
      const group = this.#join(mutex);
      mutex.unlock();
      return this.#waitSlow(group);
    }, options);
  }

  /**
   * Lets `n` of the agents that wait now go on, or all if they are fewer.
   * Whatever they wait for was changed with the mutex locked; here, it need
   * not be.
   *
   * @throws {RangeError} If `n` is not an integer from 1 to 2^31 - 1.
   */
  notify(n = 1): void {
    this.#call(inRange("Agents to notify", n, 1, 2 ** 31 - 1));
  }

  /** Lets all agents that wait now go on. */
  notifyAll(): void {
    this.#call(Infinity);
  }

  /** Joins the group that gathers, and answers its number. */
  #join(mutex: Mutex): number {
    if (mutex.owner !== this.#id) {
      throw new TypeError(
        `Cannot wait with a mutex that agent ${this.#id} does not hold`,
      );
    }
    if (mutex !== this.#mutex) {
      const { buffer, byteOffset, byteLength } = this.#mutex = mutex;
      this.#mutexWords = new Int32Array(buffer, byteOffset, byteLength / 4);
    }
    const words = this.#words;
    for (;;) {
      const turn = Atomics.load(words, TURN);
      const group = turn + 1 | 0;
      const place = placeOf(group);
      const state = Atomics.load(words, place);
      if ((state & WAITING_MASK) === WAITING_MASK) {
        throw new RangeError("Cannot wait: 32767 agents wait already");
      }
      const joined = state + ONE_WAITING;
      if (Atomics.compareExchange(words, place, state, joined) !== state) {
        continue;
      }
      const ahead = group - Atomics.load(words, TURN) | 0;
      // Notified without the mutex, twice in this moment: the count went to
      // a group that gathers in our place. Ours is called, which we shall see.
      if (ahead < 0) this.#withdraw(place);
      return group;
    }
  }

  /** Takes a count of waiting back. */
  #withdraw(place: number): void {
    const words = this.#words;
    let state = Atomics.load(words, place);
    while (state & WAITING_MASK) {
      const expected = state;
      const left = state - ONE_WAITING;
      state = Atomics.compareExchange(words, place, expected, left);
      if (state === expected) return;
    }
  }

  /** Waits to be called, and locks the mutex. */
  *#waitSlow(group: number): Waiting<boolean> {
    const words = this.#words;
    const mutexWords = this.#mutexWords!;
    const place = placeOf(group);
    const before = placeOf(group - 1);
    let called = true;
    let outcome;
    let passed: number | undefined; // the state at which a wake was passed on
    let unheard = 0; // calls before us that nobody took, and since when
    let since = 0;
    for (;;) {
      const state = Atomics.load(words, place);
      const ahead = group - Atomics.load(words, TURN) | 0;
      if (ahead < -1) break; // long ago
      if (ahead < 1) {
        if (state & CALLED_MASK) {
          const taken = state - ONE_CALLED;
          if (Atomics.compareExchange(words, place, state, taken) !== state) {
            continue;
          }
          break;
        }
        // All are called, us included.
        if (ahead < 0 || (state & WAITING_MASK) === 0) break;
      }
      if (outcome === "timed-out") {
        const left = state & WAITING_MASK ? state - ONE_WAITING : state;
        if (Atomics.compareExchange(words, place, state, left) !== state) {
          continue;
        }
        called = false;
        break;
      }
      let atMost;
      if (ahead === 1) {
        // Agents two groups before us may sleep here, too: a wake for them.
        if (outcome === "ok" && state & CALLED_MASK && state !== passed) {
          passed = state;
          Atomics.notify(words, place, 1);
        }
        // An agent that was terminated may keep the group before us from
        // ending. A call that it does not take for a second is ours, too.
        const others = Atomics.load(words, before);
        if (others & (CALLED_MASK | WAITING_MASK)) atMost = LOOK;
        if (others & CALLED_MASK && others !== unheard) {
          unheard = others;
          since = performance.now();
        } else if (others & CALLED_MASK && performance.now() - since > LOOK) {
          this.#withdraw(place);
          break;
        }
      }
      outcome = yield atMost === undefined
        ? { words, index: place, value: state }
        : { words, index: place, value: state, atMost };
    }
    yield* relocking(mutexWords, this.#id);
    // The next one that is called comes now that we have the mutex.
    if (called && Atomics.load(words, place) & CALLED_MASK) {
      Atomics.notify(words, place, 1);
    }
    return called;
  }

  /** Calls up to `n` of those who wait, and wakes one. */
  #call(n: number): void {
    const words = this.#words;
    const first = Atomics.load(words, TURN);
    let turn = first;
    for (;;) {
      const place = placeOf(turn);
      const state = Atomics.load(words, place);
      const waiting = waitingIn(state);
      if (waiting > 0) {
        // (T) The word is another group's once the turn has passed on.
        const now = Atomics.load(words, TURN);
        if (now !== turn) {
          turn = now;
          continue;
        }
        const k = Math.min(n, waiting);
        const called = state - k * (ONE_WAITING - ONE_CALLED);
        if (Atomics.compareExchange(words, place, state, called) !== state) {
          turn = Atomics.load(words, TURN);
          continue;
        }
        Atomics.notify(words, place, 1);
        n -= k;
        if (n === 0) return;
      }
      // Who gathers once we have passed on the turn did not wait for us.
      if (turn !== first) return;
      const after = placeOf(turn + 1);
      const gathered = Atomics.load(words, after);
      if ((gathered & WAITING_MASK) === 0) return;
      if (gathered & CALLED_MASK) {
        // (T) These calls are valid once it is that group's turn.
        const now = Atomics.load(words, TURN);
        if (now !== turn) {
          turn = now;
          continue;
        }
        // Of the group two before it, some are not awake yet: now they must.
        const cleared = gathered & ~CALLED_MASK;
        const seen = Atomics.compareExchange(words, after, gathered, cleared);
        if (seen === gathered) Atomics.notify(words, after);
        continue;
      }
      const seen = Atomics.compareExchange(words, TURN, turn, turn + 1 | 0);
      turn = seen === turn ? turn + 1 | 0 : seen;
    }
  }
}

/** Where the agents of a group are counted, and sleep. */
function placeOf(group: number): number {
  return EVEN + (group & 1);
}

/** How many of a group are not called yet. */
const waitingIn = (state: number): number =>
  (state & WAITING_MASK) / ONE_WAITING;
