/**
 * Waiting, with a mutex unlocked, for something it guards to change.
 *
 * @module
 */

import { CONDITION } from "./_layout.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  viewPlain,
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
const GATHERS_BIT = 1 << 30;

/** Who gathers while agents of the group before are called looks that often. */
const LOOK = 1000;

/**
 * What can be told of a condition.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: CONDITION,
  waiters: (words) => waitingIn(words[EVEN]!) + waitingIn(words[ODD]!),
};

/**
 * A condition variable: `wait` unlocks a mutex and sleeps until it is notified,
 * with the mutex locked again.
 *
 * ```text
 * word 0  turn  The number of the group that is called, modulo 2^32; the group
 *               after it gathers.
 * word 1  even  Of the groups with an even number:
 *               bits 0-14   called: agents that may go on, but did not yet
 *               bits 15-29  waiting: agents that are not called yet
 *               bit 30      GATHERS: agents that wait belong to the group two
 *                           after the called one
 *               bit 31      bit 1 of the number of the called group, plus 1
 *               sleepers: agents of even groups
 * word 2  odd   The same of the groups with an odd number.
 *               sleepers: agents of odd groups
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
 * A word so has four phases, by bits 30 and 31, and an exchange that expects
 * another one fails:
 *
 * ```text
 * the turn is t       bit 31 of its word says t; who waits is of t, too
 * t + 1 gathers       bit 31 of its word says t - 1 still; bit 30 is set as
 *                     soon as somebody waits
 * the turn passes on  one exchange makes bit 31 of that word say t + 1, clears
 *                     calls that nobody of t - 1 took, and calls; `turn` follows
 * ```
 *
 * Invariant: an agent is counted as waiting before it unlocks the mutex, so a
 * `notify` by whoever locks it then finds it; called + waiting is never less
 * than the live agents of the group whose turn it is or will be. `turn` is
 * behind the words by one group at most, and who sees that moves it on.
 *
 * (P) The phases come round with every fourth turn. Who expects one looks at
 * `turn` after the word: if the group is still within one of it, the phase
 * could not come round. An exchange errs only where four turns pass between it
 * and that look, and leave both counts as they were. To call needs no look: who
 * waits where bit 30 is not set has the turn, whichever it is.
 * Progress: `notify` and `notifyAll` are lock-free: they try again only when
 * another agent waits, goes or notifies; `wait` and `waitAsync` block, in the
 * end for the mutex. An agent terminated while it waits leaves its count: a
 * call it would have taken wakes another one after a second or two. `wait` may
 * end without a notify then, and where agents called before it did not get the
 * mutex for a second: look at what was waited for in a loop. At most 2^15 - 1
 * agents wait in a group.
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
    super("condition", words, INSPECTION);
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
    return new Condition(...fromHandle("condition", handle));
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
    if (timeout > 0) spin(() => Atomics.load(words, place) !== seen);
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
      if (callsAre(state, group)) {
        // The turn has passed to it, or will.
        Atomics.compareExchange(words, TURN, turn, group);
        continue;
      }
      if (Atomics.load(words, TURN) !== turn) continue; // (P)
      if ((state & WAITING_MASK) === WAITING_MASK) {
        throw new RangeError("Cannot wait: 32767 agents wait already");
      }
      const joined = (state | GATHERS_BIT) + ONE_WAITING;
      // (J) Fails where the turn has passed to the group meanwhile.
      if (Atomics.compareExchange(words, place, state, joined) === state) {
        return group;
      }
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
    let inherits = false; // one of these
    for (;;) {
      const state = Atomics.load(words, place);
      // (P) If that was long ago, the phase is not known.
      if ((group - Atomics.load(words, TURN) | 0) < -1) break;
      const ours = callsAre(state, group);
      if (ours && state & CALLED_MASK) {
        const taken = state - ONE_CALLED;
        if (Atomics.compareExchange(words, place, state, taken) !== state) {
          continue;
        }
        break;
      }
      // Unless it counts us as waiting, all are called, us included.
      const counts = ours === ((state & GATHERS_BIT) === 0);
      if (!counts || (state & WAITING_MASK) === 0) break;
      if (inherits || outcome === "timed-out") {
        const left = state - ONE_WAITING;
        if (Atomics.compareExchange(words, place, state, left) !== state) {
          continue;
        }
        called = inherits;
        break;
      }
      let atMost;
      if (!ours) {
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
          inherits = true;
          continue;
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
    let turn = Atomics.load(words, TURN);
    for (;;) {
      const place = placeOf(turn);
      const state = Atomics.load(words, place);
      if (state & GATHERS_BIT) {
        // The turn has passed on.
        turn = Atomics.load(words, TURN);
        continue;
      }
      const waiting = waitingIn(state);
      if (waiting > 0) {
        const k = Math.min(n, waiting);
        const called = state - k * (ONE_WAITING - ONE_CALLED);
        if (Atomics.compareExchange(words, place, state, called) !== state) {
          continue;
        }
        Atomics.notify(words, place, 1);
        n -= k;
        if (n === 0) return;
      }
      const next = turn + 1 | 0;
      const after = placeOf(next);
      const gathered = Atomics.load(words, after);
      if (callsAre(gathered, next)) {
        // The turn has passed, or will.
        const seen = Atomics.compareExchange(words, TURN, turn, next);
        turn = seen === turn ? next : seen;
        continue;
      }
      const gathering = waitingIn(gathered);
      if (gathering === 0) return;
      const now = Atomics.load(words, TURN); // (P)
      if (now !== turn) {
        turn = now;
        continue;
      }
      const k = Math.min(n, gathering);
      const called = markOf(next) | (gathering - k) * ONE_WAITING | k;
      if (
        Atomics.compareExchange(words, after, gathered, called) !== gathered
      ) {
        continue;
      }
      Atomics.compareExchange(words, TURN, turn, next);
      // If one wakes that is two groups older, it passes this on.
      Atomics.notify(words, after, 1);
      return;
    }
  }
}

/** Where the agents of a group are counted, and sleep. */
function placeOf(group: number): number {
  return EVEN + (group & 1);
}

/** How many agents in a word are not called yet. */
function waitingIn(state: number): number {
  return (state & WAITING_MASK) / ONE_WAITING;
}

/** Bit 31 of a word whose called are of a group. */
function markOf(group: number): number {
  return (group + 1 & 2) << 30;
}

/** Whether those who are called in a word are of a group. */
function callsAre(state: number, group: number): boolean {
  return (state ^ markOf(group)) >= 0;
}
