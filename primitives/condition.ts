/**
 * A condition variable: waits until what a mutex protects has changed.
 *
 * @module
 */

import { describeAny } from "./_memory/describe.ts";
import { DamagedError, MOST_TRIES } from "./_memory/damaged.ts";
import { keeps, keepsAsleep, told } from "./_memory/explored.ts";
import { CONDITION } from "./_memory/layout.ts";
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
import { agentId } from "./agent.ts";
import { relock } from "./_lock/mutex.ts";
import type { Mutex } from "./mutex.ts";

export { DamagedError } from "./_memory/damaged.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

const TURN: typeof CONDITION.turn = 0;
const EVEN: typeof CONDITION.even = 1;
const ODD: typeof CONDITION.odd = 2;

const CALLED_MASK = 0x7fff; // CONDITION_BITS.CALLED
const ONE_CALLED = 1; // CONDITION_BITS.CALLED
const ONE_WAITING = 0x8000; // CONDITION_BITS.WAITING
const WAITING_MASK = 0x3fff_8000; // CONDITION_BITS.WAITING
const GATHERS_BIT = 0x4000_0000; // CONDITION_BITS.GATHERS

/**
 * An agent whose group gathers looks this often, in ms, while agents of the
 * group before it are called.
 */
const LOOK = 1000;

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: CONDITION,
  waiters: (words) => waitingIn(words[EVEN]!) + waitingIn(words[ODD]!),
};

/**
 * A condition variable: `wait` unlocks a mutex, sleeps until it is notified,
 * and locks the mutex again.
 *
 * Wait until it is full:
 *
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
 *
 * An agent that waits joins the group that gathers. A `notify` calls agents of
 * the group whose turn it is. Only when all of that group are called, the turn
 * passes to the group that gathers. So no agent takes a call that came before
 * it waited. Within a group, any agent may take any call.
 *
 * However many agents are called, `notify` wakes one. That agent wakes the next
 * one when it has the mutex again. So the agents of a `notifyAll` come one by
 * one, and do not all wait for the mutex at once.
 *
 * Bits 30 and 31 give a word four phases, so an exchange that expects another
 * phase fails:
 *
 * ```text
 * the turn is t       bit 31 of its word says t; the waiting agents are of t
 * t + 1 gathers       bit 31 of its word still says t - 1; bit 30 is set as
 *                     soon as an agent waits
 * the turn passes on  one exchange makes bit 31 of that word say t + 1, clears
 *                     the calls that no agent of t - 1 took, and calls; `turn`
 *                     follows
 * ```
 *
 * Invariant: an agent is counted as waiting before it unlocks the mutex, so an
 * agent that then locks the mutex and notifies finds it. The sum of called and
 * waiting is never less than the live agents of the group whose turn it is or
 * will be. `turn` is at most one group behind the words, and any agent that
 * sees this moves it on.
 *
 * (P) The phases repeat with every fourth turn. An agent that expects a phase
 * therefore reads `turn` after the word: if the group is still within one of
 * it, the phase cannot have repeated. An exchange errs only if four turns pass
 * between it and that look, and leave both counts as they were. A call needs no
 * such look: where bit 30 is not set, the waiting agents have the turn.
 * Progress: `notify` and `notifyAll` are lock-free: they try again only when
 * another agent waits, goes or notifies. `wait` and its other forms wait, at
 * the end for the mutex. An agent that is terminated while it waits leaves its
 * count behind: the call it would have taken wakes another agent after a second
 * or two. `wait` may then end without a notify; it may also do so if the agents
 * that were called before it did not get the mutex for a second. So wait in a
 * loop, and look at the data each time. At most 2^15 - 1 agents wait in a
 * group.
 * Freed when: every `wait` and `notify` of every agent has returned, and none
 * will begin. An agent whose wait has returned has the mutex: so it knows that
 * each `notify` which was made with the mutex locked has returned, too.
 * Fairness: groups go in order; within a group, the platform wakes in order.
 * C twin: `weft_condition`. Source: the two groups are those of glibc's
 * `pthread_cond_t` (Riegel 2016). The chain of wakes is that of "wait
 * morphing", without the requeue that Atomics lack.
 *
 * Its words in memory:
 *
 * ```text
 * word 0  turn  The number of the group that is called, modulo 2^32; the group
 *               after it gathers.
 * word 1  even  The state of the groups with an even number:
 *               bits 0-14   called: agents that may go on, but did not yet
 *               bits 15-29  waiting: agents that are not called yet
 *               bit 30      GATHERS: agents that wait belong to the group two
 *                           after the called one
 *               bit 31      bit 1 of the number of the called group, plus 1
 *               sleepers: agents of even groups
 * word 2  odd   The same for the groups with an odd number.
 *               sleepers: agents of odd groups
 * ```
 */
export class Condition extends Region<"condition"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** The mutex that the last wait used, and its words. */
  #mutex: Mutex | undefined;
  #mutexWords: Int32Array<SharedArrayBuffer> | undefined;

  /**
   * Views the condition at `byteOffset`, a multiple of 4; writes nothing.
   * Zeroed memory is a condition that nobody waits for.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If the condition does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
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
   * Initializes unused memory as a condition.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If the condition does not fit there.
   */
  static init(memory: Memory, byteOffset: number | bigint): Condition {
    const condition = new Condition(memory, byteOffset);
    condition.#words.fill(0);
    return condition;
  }

  /**
   * Attaches to the condition that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind.
   */
  static from(handle: Handle<"condition">): Condition {
    return new Condition(...fromHandle("condition", handle));
  }

  /**
   * Unlocks `mutex`, blocks until it is notified, and locks `mutex` again. The
   * guard that was held before is still valid afterwards.
   *
   * @throws {TypeError} If this agent may not block, or does not hold `mutex`.
   * @throws {RangeError} If too many agents wait.
   */
  wait(mutex: Mutex): void {
    assertMayBlock("wait");
    this.#wait(mutex, Infinity);
  }

  /**
   * As {@linkcode Condition.wait}, but waits at most `timeout` ms. Returns
   * whether it was notified. Then it locks `mutex` again, however long that
   * takes. Without a timeout, it gives other agents no time to notify it.
   *
   * @throws {TypeError} If this agent may not block, or does not hold `mutex`,
   * or if `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN, or too many agents
   * wait.
   */
  tryWait(mutex: Mutex, timeout = 0): boolean {
    assertMayTry("tryWait", timeout);
    return this.#wait(mutex, timeout);
  }

  /**
   * As {@linkcode Condition.wait}, but awaits instead of blocking. This agent
   * holds `mutex` again when the promise settles, also after an abort.
   *
   * @throws {TypeError} If this agent does not hold `mutex`, or an option is
   * unknown or of a wrong type.
   * @throws {RangeError} If too many agents wait.
   */
  async waitAsync(mutex: Mutex, options?: AsyncOptions): Promise<void> {
    await blockAsync(() => this.#path(mutex), options);
  }

  /**
   * As {@linkcode Condition.tryWait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If this agent does not hold `mutex`, or an option is
   * unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN, or too many agents
   * wait.
   */
  tryWaitAsync(mutex: Mutex, options?: TryAsyncOptions): Promise<boolean> {
    return tryBlockAsync(() => this.#path(mutex), options);
  }

  /**
   * Lets `n` of the agents that wait now go on, or all of them if they are
   * fewer. The data they wait for must have been changed with the mutex locked;
   * during `notify` the mutex need not be locked.
   *
   * @throws {TypeError} If `n` is not a number.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^31 - 1.
   * @throws {DamagedError} If the words of the condition are damaged.
   */
  notify(n = 1): void {
    this.#call(inRange("The number of agents to notify", n, 1, 2 ** 31 - 1));
  }

  /** Lets all agents that wait now go on. */
  notifyAll(): void {
    this.#call(Infinity);
  }

  #wait(mutex: Mutex, timeout: number): boolean {
    const words = this.#words;
    const group = this.#join(mutex);
    const place = placeOf(group);
    const seen = Atomics.load(words, place);
    if (told.explored) keeps("joined", group);
    mutex.unlock();
    if (timeout > 0) spin(() => Atomics.load(words, place) !== seen);
    return block(this.#waitSlow(group), timeout);
  }

  #path(mutex: Mutex): Waiting<boolean> {
    const group = this.#join(mutex);
    mutex.unlock();
    return this.#waitSlow(group);
  }

  /** Joins the group that gathers, and returns its number. */
  #join(mutex: Mutex): number {
    if (mutex?.kind !== "mutex") {
      throw new TypeError(`Expected a Mutex: received ${describeAny(mutex)}`);
    }
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
    for (let tries = MOST_TRIES; tries > 0; tries--) {
      const turn = Atomics.load(words, TURN);
      const group = turn + 1 | 0;
      const place = placeOf(group);
      const state = Atomics.load(words, place);
      if (callsAre(state, group)) {
        // The turn has passed to this group, or will.
        Atomics.compareExchange(words, TURN, turn, group);
        continue;
      }
      if (Atomics.load(words, TURN) !== turn) continue; // (P)
      if ((state & WAITING_MASK) === WAITING_MASK) {
        throw new RangeError("Cannot wait: 32767 agents wait already");
      }
      const joined = (state | GATHERS_BIT) + ONE_WAITING;
      // (J) Fails if the turn has passed to the group meanwhile.
      if (Atomics.compareExchange(words, place, state, joined) === state) {
        return group;
      }
    }
    throw new DamagedError("The condition");
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
    let unheard = 0; // calls of the group before that no agent took
    let since = 0; // and since when
    let inherits = false; // whether to take one of those calls
    for (;;) {
      if (told.explored) {
        keeps("wait", group, called, outcome, passed, unheard, since, inherits);
      }
      const state = Atomics.load(words, place);
      // (P) If the group's turn was long ago, the phase is not known.
      if ((group - Atomics.load(words, TURN) | 0) < -1) break;
      if (told.explored) {
        keeps("turn", group, outcome, passed, unheard, since, inherits, state);
      }
      const ours = callsAre(state, group);
      if (ours && state & CALLED_MASK) {
        const taken = state - ONE_CALLED;
        if (Atomics.compareExchange(words, place, state, taken) !== state) {
          continue;
        }
        break;
      }
      // If the word does not count this agent as waiting, all are called.
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
        // Agents of two groups before may sleep here: pass their wake on.
        if (outcome === "ok" && state & CALLED_MASK && state !== passed) {
          passed = state;
          Atomics.notify(words, place, 1);
        }
        // A terminated agent may keep the group before from ending. A call that
        // nobody takes for a second may be taken here, too.
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
      if (told.explored) {
        keepsAsleep("wait", group, passed, unheard, since, inherits);
      }
      outcome = yield atMost === undefined
        ? { words, index: place, value: state }
        : { words, index: place, value: state, atMost };
    }
    const kept = 2 * group + Number(called);
    yield* relock(mutexWords, this.#id, kept);
    // This agent has the mutex now: the next called one may come.
    if (called && Atomics.load(words, place) & CALLED_MASK) {
      Atomics.notify(words, place, 1);
    }
    return called;
  }

  /** Calls up to `n` of the waiting agents, and wakes one. */
  #call(n: number): void {
    const words = this.#words;
    let turn = Atomics.load(words, TURN);
    for (let tries = MOST_TRIES; tries > 0; tries--) {
      const place = placeOf(turn);
      if (told.explored) keeps("call", n, turn, tries);
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
      // If this wakes an agent of two groups before, it passes the wake on.
      Atomics.notify(words, after, 1);
      return;
    }
    throw new DamagedError("The condition");
  }
}

/** The word that counts the agents of a group, and on which they sleep. */
function placeOf(group: number): number {
  return EVEN + (group & 1);
}

/** How many agents of a word wait and are not called yet. */
function waitingIn(state: number): number {
  return (state & WAITING_MASK) / ONE_WAITING;
}

/** Bit 31 of a word whose called agents are of a group. */
function markOf(group: number): number {
  return (group + 1 & 2) << 30;
}

/** Whether the called agents of a word are of a group. */
function callsAre(state: number, group: number): boolean {
  return (state ^ markOf(group)) >= 0;
}
