/**
 * The algorithm of `Semaphore`: what each operation does to its words. Agents
 * are tracked if there are rows: then `permits` and the rows change together,
 * as `_memory/tracked.ts` says.
 *
 * C twin: `semaphore.h`, function by function.
 *
 * @module
 */

import { keeps, keepsAsleep, told } from "../_memory/explored.ts";
import type { SEMAPHORE } from "../_memory/layout.ts";
import { COUNT_SHIFT, Tracked } from "../_memory/tracked.ts";
import { spin, spinning } from "../_wait/spin.ts";
import { block, type Waiting } from "../_wait/wait.ts";

export const TRACKED: typeof SEMAPHORE.tracked = 1;
export const MAX: typeof SEMAPHORE.max = 2;
export const PERMITS: typeof SEMAPHORE.permits = 4;
export const WAITERS: typeof SEMAPHORE.waiters = 5;
const BULK: typeof SEMAPHORE.bulk = 6;
const CLAIMANT: typeof SEMAPHORE.claimant = 7;
const CLAIM: typeof SEMAPHORE.claim = 8;

/** Who may sleep on the permits; there can be a debt only with the last. */
const WHO_MASK = 3; // SEMAPHORE_BITS.WHO
const NOBODY = 0, SINGLES = 1, SEVERALS = 2, DEBT = 3;
/** How far the permits are shifted beside it. */
export const FREE_SHIFT = 2; // SEMAPHORE_BITS.FREE

/** Where the rows of a tracked semaphore begin. */
export const ROWS = 40;

/** The most permits there can be. */
export const MAX_PERMITS = 0x3fff_ffff;
/** The largest agent id. */
export const MAX_ID = 0x0fff_ffff;

/** How many permits are free in a state; below 0, what a claimant lacks. */
const freeOf = (state: number): number =>
  (state & WHO_MASK) === DEBT ? -(state >>> FREE_SHIFT) : state >>> FREE_SHIFT;

/** The state in which that many are free, and those agents may sleep. */
const stateOf = (free: number, who: number): number =>
  free < 0 ? -free << FREE_SHIFT | DEBT : free << FREE_SHIFT | who;

/**
 * Gives `n` permits, and wakes the sleepers that they serve. Returns -1; or, if
 * there would be too many, how many there are.
 *
 * (G) The agent that gets them may free the memory at once. So this function
 * reads all that it must know before the exchange, and uses only the address
 * after it. The wake may reach a stranger that sleeps there by then: every wait
 * is a loop.
 */
function giving(words: Int32Array<SharedArrayBuffer>, n: number): number {
  const max = words[MAX]!;
  let state = words[PERMITS]!; // a hint: the exchange below checks it
  for (;;) {
    const expected = state;
    const free = freeOf(state) + n;
    if (free > max) {
      state = Atomics.load(words, PERMITS);
      if (state !== expected) continue;
      return free - n;
    }
    const who = state & WHO_MASK;
    const count = who === NOBODY ? 0 : woken(words, n, free, who);
    // Whoever is woken and must sleep again says so again. If only some are,
    // the others sleep on.
    const next = stateOf(free, count === Infinity ? NOBODY : who);
    state = Atomics.compareExchange(words, PERMITS, expected, next);
    if (state !== expected) continue;
    if (count > 0) Atomics.notify(words, PERMITS, count);
    return -1;
  }
}

/**
 * How many sleepers to wake for `n` more permits, when `free` are free. A
 * waiter for several permits may have to leave them to others, so while one may
 * sleep, all are woken. The count of waiters may be old: one that came since
 * then found the state from before, and sees that it changes.
 */
function woken(
  words: Int32Array<SharedArrayBuffer>,
  n: number,
  free: number,
  who: number,
): number {
  if (free < 0) return 0; // still a debt
  const some = who === SINGLES && Atomics.load(words, WAITERS) > 1;
  return some ? n : Infinity;
}

/** Takes `n` permits, as a debt if fewer are free. */
function owing(words: Int32Array<SharedArrayBuffer>, n: number): void {
  let state = Atomics.load(words, PERMITS);
  for (;;) {
    const expected = state;
    const next = stateOf(freeOf(state) - n, state & WHO_MASK);
    state = Atomics.compareExchange(words, PERMITS, expected, next);
    if (state === expected) return;
  }
}

/** The words of a semaphore, as one agent uses them. */
export class Permits {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** The rows of agents that note what they hold. */
  readonly #rows: Tracked | undefined;

  /** The semaphore of `words`, for agent `id`. */
  constructor(words: Int32Array<SharedArrayBuffer>, id: number) {
    this.#words = words;
    this.#id = id;
    const tracked = words[TRACKED]!;
    if (tracked === 0) return;
    const what = "The semaphore";
    this.#rows = new Tracked(what, words, PERMITS, ROWS, tracked, id);
  }

  /** How many permits are free in a state; below 0, what a claimant lacks. */
  #freeOf(state: number): number {
    return this.#rows === undefined ? freeOf(state) : state >> COUNT_SHIFT;
  }

  /** Free permits, 0 or more. */
  get available(): number {
    return Math.max(this.#freeOf(Atomics.load(this.#words, PERMITS)), 0);
  }

  /** What this agent holds, if it is tracked. */
  get held(): number {
    return this.#rows?.held ?? 0;
  }

  /** Operations of all agents in the slow path. */
  get waiters(): number {
    return Atomics.load(this.#words, WAITERS);
  }

  /** Where operations await. */
  get place(): { words: Int32Array<SharedArrayBuffer>; index: number } {
    return { words: this.#words, index: PERMITS };
  }

  /** Takes `n` permits if they are free. */
  take(n: number): boolean {
    if (this.#rows !== undefined) return this.#rows.take(n);
    const words = this.#words;
    let state = words[PERMITS]!; // a hint: too few is looked at again
    if (freeOf(state) < n) state = Atomics.load(words, PERMITS);
    while (freeOf(state) >= n) {
      const expected = state;
      const left = expected - (n << FREE_SHIFT) | 0; // the same may sleep
      state = Atomics.compareExchange(words, PERMITS, expected, left);
      if (state === expected) return true;
    }
    return false;
  }

  /** Takes all permits that are free. Returns how many those were. */
  drain(): number {
    if (this.#rows !== undefined) return this.#rows.drain();
    const words = this.#words;
    let state = Atomics.load(words, PERMITS);
    for (let free; (free = freeOf(state)) > 0;) { // not of a debt
      const expected = state;
      const none = expected & WHO_MASK; // the same may sleep
      state = Atomics.compareExchange(words, PERMITS, expected, none);
      if (state === expected) return free;
    }
    return 0;
  }

  /**
   * Wakes waiters for `n` more permits of a tracked semaphore, now that `free`
   * are free. A sleeper counted itself before its look at the permits: this
   * agent sees it, or it sees the permits.
   */
  #wake(n: number, free: number): void {
    const words = this.#words;
    if (free < 0 || Atomics.load(words, WAITERS) === 0) return;
    const all = Atomics.load(words, BULK) > 0;
    Atomics.notify(words, PERMITS, all ? Infinity : n);
  }

  /**
   * (W) Announces that an agent which wants `n` permits sleeps, and looks
   * again. Returns the word to sleep on, or `undefined` if that many are free.
   */
  #announced(n: number): number | undefined {
    const words = this.#words;
    let state = Atomics.load(words, PERMITS);
    while (this.#freeOf(state) < n) {
      if (this.#rows !== undefined) return state; // releases look at the counts
      // Others of this agent that want several may stand in line behind this.
      const who = Atomics.load(words, BULK) > 0 ? SEVERALS : SINGLES;
      if ((state & WHO_MASK) >= who) return state;
      const expected = state;
      const next = state & ~WHO_MASK | who;
      state = Atomics.compareExchange(words, PERMITS, expected, next);
      if (state === expected) return next;
    }
    return undefined;
  }

  /** Takes the permits in advance, and waits until releases paid for them. */
  *#claim(n: number): Waiting<boolean> {
    const words = this.#words;
    const rows = this.#rows;
    Atomics.add(words, BULK, 1);
    try {
      if (rows !== undefined) rows.owe(n);
      else owing(words, n);
      // In this order: an agent that is terminated between the two loses its
      // permits, but `abandon` never returns permits that were not taken.
      Atomics.store(words, CLAIM, n);
      for (;;) {
        if (told.explored) keeps("claim", n);
        const value = Atomics.load(words, PERMITS);
        if (this.#freeOf(value) >= 0) break;
        if (told.explored) keepsAsleep("claimed", n);
        const outcome = yield { words, index: PERMITS, value, all: true };
        if (outcome !== "timed-out") continue;
        if (this.#freeOf(Atomics.load(words, PERMITS)) >= 0) break;
        Atomics.store(words, CLAIM, 0);
        if (rows !== undefined) this.#wake(n, rows.give(n));
        else giving(words, n);
        return false;
      }
      Atomics.store(words, CLAIM, 0);
      return true;
    } catch (error) { // the words are damaged
      Atomics.store(words, CLAIM, 0);
      throw error;
    } finally {
      Atomics.store(words, CLAIMANT, 0); // lets the next agent claim
      Atomics.sub(words, BULK, 1);
    }
  }

  /** Waits until `n` permits are free, and takes them. */
  *acquireSlow(n: number): Waiting<boolean> {
    const words = this.#words;
    if (this.take(n)) return true;
    // Agents that wait already come first: their turns do not count as passing
    // this one.
    const patience = spinning.patience + Atomics.add(words, WAITERS, 1);
    if (n > 1) Atomics.add(words, BULK, 1);
    try {
      for (let passed = 0;;) {
        if (told.explored) keeps("acquire", n, patience, passed);
        if (this.take(n)) return true;
        if (
          passed >= patience &&
          Atomics.compareExchange(words, CLAIMANT, 0, this.#id) === 0
        ) return yield* this.#claim(n);
        const value = this.#announced(n);
        if (value === undefined) continue;
        // Whoever stands behind this may have what this one cannot: one that
        // claimed, if this one has a higher priority.
        const all = n > 1 || Atomics.load(words, BULK) > 0;
        if (told.explored) keepsAsleep("asleep", n, patience, passed);
        const outcome = yield { words, index: PERMITS, value, all };
        if (outcome === "timed-out") return this.take(n);
        // The turns of a claimant do not count, nor looks without a release.
        if (outcome === "ok" && Atomics.load(words, CLAIMANT) === 0) passed++;
      }
    } finally {
      if (n > 1) Atomics.sub(words, BULK, 1);
      Atomics.sub(words, WAITERS, 1);
    }
  }

  // Not part of the fast path, which would pay for the closure.
  #acquireWaiting(n: number, timeout: number): boolean {
    if (spin(() => this.take(n))) return true;
    return block(this.acquireSlow(n), timeout);
  }

  /** Takes `n` permits if that many come free within `timeout` ms. */
  acquire(n: number, timeout: number): boolean {
    return this.take(n) || timeout > 0 && this.#acquireWaiting(n, timeout);
  }

  /** Returns `n` permits; the result is as that of {@linkcode giving}. */
  release(n: number): number {
    if (this.#rows === undefined) return giving(this.#words, n);
    this.#wake(n, this.#rows.give(n));
    return -1;
  }

  /** Returns what the rows of agent `id` hold: also what it claimed. */
  #abandonTracked(rows: Tracked, id: number, claimed: boolean): number {
    const words = this.#words;
    const n = rows.abandon(id);
    if (n > 0) this.#wake(n, this.#freeOf(Atomics.load(words, PERMITS)));
    if (claimed) {
      Atomics.store(words, CLAIM, 0);
      Atomics.store(words, CLAIMANT, 0);
    }
    return n;
  }

  /** Returns what agent `id` claimed, and what its rows hold. */
  abandon(id: number): number {
    const words = this.#words;
    if (id === 0) return 0;
    // (H) One of the agents that abandon `id` inherits its claim: a later
    // claimant must not lose its own.
    const seen = Atomics.compareExchange(words, CLAIMANT, id, this.#id);
    const rows = this.#rows;
    if (rows !== undefined) return this.#abandonTracked(rows, id, seen === id);
    if (seen !== id) return 0;
    const n = Atomics.exchange(words, CLAIM, 0);
    if (n > 0) giving(words, n);
    Atomics.store(words, CLAIMANT, 0);
    return n;
  }

  /**
   * Waits until a permit is free.
   */
  *readiness(): Waiting<boolean> {
    const words = this.#words;
    if (this.available > 0) return true;
    Atomics.add(words, WAITERS, 1); // (W) announce, then look again
    try {
      for (;;) {
        const value = this.#announced(1);
        if (value === undefined) return true;
        const outcome = yield { words, index: PERMITS, value };
        if (outcome === "timed-out") return this.available > 0;
      }
    } finally {
      // The wake that was used up belongs to the agent that takes the permit.
      const others = Atomics.sub(words, WAITERS, 1) > 1;
      if (others && this.available > 0) Atomics.notify(words, PERMITS, 1);
    }
  }
}
