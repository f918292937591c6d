/**
 * A lock that one agent holds at a time.
 *
 * @module
 */

import { MUTEX } from "./_layout.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  type Memory,
  Region,
  viewPlain,
  type WordsInspection,
} from "./_region.ts";
import { spin, spinning } from "./_spin.ts";
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

const STATE = MUTEX.state;
const STARVING = MUTEX.starving;

const UNLOCKED = 0;
const OWNER_MASK = 0x0fff_ffff;
const ABANDONED_BIT = 1 << 28;
const HANDOFF_BIT = 1 << 29;
const CONTENDED_BIT = 1 << 30;

/** A sleeper passed over for this long, in ms, is handed the mutex. */
const PATIENCE = 1;

/** How {@linkcode Mutex.lock}'s slow path ended. @ignore */
export type LockOutcome = false | "locked" | "abandoned";

/**
 * A held {@linkcode Mutex}: unlocks it at the end of a `using` block, once.
 * Afterwards it holds nothing.
 *
 * @example Without `using`
 * ```ts
 * import { Mutex } from "@weft/sync";
 *
 * const mutex = Mutex.create();
 * const guard = mutex.lock();
 * try {
 *   if (guard.abandoned) console.log("put right what may be half changed");
 * } finally {
 *   guard.unlock();
 * }
 * if (mutex.owner !== 0) throw new Error("still locked");
 * ```
 */
export class MutexGuard implements Disposable {
  #mutex: Mutex | undefined;

  /**
   * The mutex's last owner was given up by `abandon` while it held the mutex:
   * what the mutex protects may be half changed.
   */
  readonly abandoned: boolean;

  /** Made by a {@linkcode Mutex} that was locked just now. */
  constructor(mutex: Mutex, abandoned: boolean) {
    this.#mutex = mutex;
    this.abandoned = abandoned;
  }

  /** The mutex, while this guard holds it. */
  get mutex(): Mutex | undefined {
    return this.#mutex;
  }

  /** Unlocks the mutex, if this guard still holds it. */
  unlock(): void {
    const mutex = this.#mutex;
    this.#mutex = undefined;
    mutex?.unlock();
  }

  /** As {@linkcode MutexGuard.unlock}. */
  [Symbol.dispose](): void {
    this.unlock();
  }
}

/**
 * What can be told of a mutex.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: MUTEX,
  owner: (words) => words[STATE]! & OWNER_MASK,
  waiters: (words) => words[STATE]! & CONTENDED_BIT ? 1 : 0,
};

/**
 * A lock: one agent holds it at a time, the others sleep.
 *
 * ```text
 * word 0  state     bits 0-27  the owner's agent id, or 0
 *                   bit 28     ABANDONED: free, because the dead owner was
 *                              recovered
 *                   bit 29     HANDOFF: no owner; it is kept for a woken
 *                              sleeper
 *                   bit 30     CONTENDED: somebody may sleep on this word
 *                   sleepers: agents that lock
 * word 1  starving  1 while a sleeper was passed over for a millisecond.
 * ```
 *
 * Invariant: an agent asleep on `state` went to sleep on a value with
 * CONTENDED set; whoever takes that bit away wakes one sleeper.
 * Progress: `tryLock` is wait-free but for collisions with other agents'
 * changes (lock-free); `lock` and `lockAsync` block; `unlock` is wait-free.
 * An agent terminated while it holds the mutex keeps it until `abandon(id)`;
 * one terminated while it waits costs the others at most a second.
 * Fairness: newcomers may pass sleepers; a sleeper that lost out for a
 * millisecond is handed the mutex by the next unlock.
 * C twin: `weft_mutex`. Source: Drepper, "Futexes are tricky", mutex 3; the
 * hand-off after a millisecond is that of Go's `sync.Mutex`.
 *
 * @example A section that one agent enters at a time
 * ```ts
 * import { Mutex } from "@weft/sync";
 *
 * const mutex = Mutex.create(); // post mutex.handle to workers
 * const total = new Float64Array(new SharedArrayBuffer(8));
 * {
 *   using _lock = mutex.lock();
 *   total[0]! += 0.5;
 * }
 * ```
 */
export class Mutex extends Region<"mutex"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;

  /**
   * Views the mutex at `byteOffset`, a multiple of 4; writes nothing. Zeroed
   * memory is an unlocked mutex.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = viewPlain("mutex", MUTEX, memory, byteOffset);
    super("mutex", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
  }

  /** The bytes a mutex occupies. */
  static byteLength(): number {
    return MUTEX.length * 4;
  }

  /** Allocates an unlocked mutex. */
  static create(): Mutex {
    return new Mutex(allocate(Mutex.byteLength()));
  }

  /**
   * Makes a region that nobody uses yet an unlocked mutex.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  static init(memory: Memory, byteOffset: number): Mutex {
    const mutex = new Mutex(memory, byteOffset);
    mutex.#words.fill(0);
    return mutex;
  }

  /**
   * Attaches to the mutex a message brought.
   *
   * @throws {TypeError} If it is of another kind.
   */
  static from(handle: Handle): Mutex {
    return new Mutex(...fromHandle("mutex", handle));
  }

  /** The id of the agent that holds the mutex, or 0. */
  get owner(): number {
    return Atomics.load(this.#words, STATE) & OWNER_MASK;
  }

  /** Locks the mutex if nobody holds it, without waiting. */
  tryLock(): MutexGuard | undefined {
    return this.#guard(tryLocking(this.#words, this.#id));
  }

  /**
   * Locks the mutex, blocking up to `timeout` ms; `undefined` if it did not
   * come free in that time.
   *
   * @throws {TypeError} If this agent may not block, or holds the mutex.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  lock(): MutexGuard;
  /** As above, for at most `timeout` ms. */
  lock(timeout: number): MutexGuard | undefined;
  lock(timeout = Infinity): MutexGuard | undefined {
    assertMayBlock("lock");
    const words = this.#words;
    if (timeout !== Infinity) assertTimeout(timeout);
    const state = Atomics.compareExchange(words, STATE, UNLOCKED, this.#id);
    if (state === UNLOCKED) return new MutexGuard(this, false);
    if ((state & OWNER_MASK) === this.#id) {
      throw new TypeError(
        `Cannot lock a mutex twice: agent ${this.#id} holds it already`,
      );
    }
    if (timeout > 0 && spinning.rounds > 0 && this.#spin()) {
      return new MutexGuard(this, false);
    }
    return this.#guard(block(locking(this.#words, this.#id, state), timeout));
  }

  /**
   * As {@linkcode lock}, awaiting instead of blocking. Another task of the
   * agent that holds the mutex may await it, too.
   */
  lockAsync(): Promise<MutexGuard>;
  /** As above; `undefined` if `timeout` ms passed. */
  lockAsync(options: AsyncOptions): Promise<MutexGuard | undefined>;
  async lockAsync(options?: AsyncOptions): Promise<MutexGuard | undefined> {
    const start = () => locking(this.#words, this.#id, UNLOCKED);
    return this.#guard(await blockAsync(start, options));
  }

  /**
   * Unlocks the mutex and wakes a sleeper, if there is one.
   *
   * @throws {TypeError} If this agent does not hold it.
   */
  unlock(): void {
    unlocking(this.#words, this.#id);
  }

  /**
   * Frees the mutex if agent `id` holds it, which is known never to run again;
   * the next guard says `abandoned`. False if `id` did not hold it.
   *
   * C twin: `weft_mutex_abandon`; the next lock gives `EOWNERDEAD`.
   */
  abandon(id: number): boolean {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    while ((state & OWNER_MASK) === id && id !== 0) {
      const expected = state;
      state = Atomics.compareExchange(words, STATE, expected, ABANDONED_BIT);
      if (state !== expected) continue;
      if (state & CONTENDED_BIT) Atomics.notify(words, STATE, 1);
      return true;
    }
    return false;
  }

  #guard(outcome: LockOutcome): MutexGuard | undefined {
    return outcome === false
      ? undefined
      : new MutexGuard(this, outcome === "abandoned");
  }

  /**
   * Looks for a short time whether the mutex comes free, a microsecond apart:
   * each look would take the word from the owner, who needs it to unlock. One
   * handed to a sleeper is not for us, who would only keep a core from it.
   */
  #spin(): boolean {
    const words = this.#words;
    return spin(() => {
      const state = Atomics.load(words, STATE);
      if (state & HANDOFF_BIT) return null;
      return state === UNLOCKED &&
        Atomics.compareExchange(words, STATE, state, this.#id) === state;
    }) === true;
  }
}

/**
 * Locks the mutex of `words` for agent `id` if nobody holds it: for what is
 * built on a mutex, too, and not part of `mod.ts`, as all below.
 *
 * @ignore
 */
export function tryLocking(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): LockOutcome {
  let state = Atomics.compareExchange(words, STATE, UNLOCKED, id);
  if (state === UNLOCKED) return "locked";
  // Without an owner it is ABANDONED, kept for a sleeper, which then looks
  // again and sleeps on, or came free just now.
  while ((state & OWNER_MASK) === 0) {
    const expected = state;
    const taken = id | (state & CONTENDED_BIT);
    state = Atomics.compareExchange(words, STATE, expected, taken);
    if (state === expected) {
      return state & ABANDONED_BIT ? "abandoned" : "locked";
    }
  }
  return false;
}

/**
 * Unlocks the mutex of `words` for agent `id`, and wakes a sleeper.
 *
 * @ignore
 */
export function unlocking(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): void {
  const state = Atomics.compareExchange(words, STATE, id, UNLOCKED);
  if (state !== id) unlockSlow(words, id, state);
}

/** Unlocks from when `state` was seen, which may be old. */
function unlockSlow(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  state: number,
): void {
  const owner = state & OWNER_MASK;
  if (owner !== id) {
    throw new TypeError(
      `Cannot unlock: agent ${id} does not hold the mutex, ` +
        (owner === 0 ? "nobody does" : `agent ${owner} does`),
    );
  }
  // CONTENDED is set, and nobody but the owner changes the word now.
  if (Atomics.load(words, STARVING) === 0) {
    Atomics.store(words, STATE, UNLOCKED);
    Atomics.notify(words, STATE, 1);
    return;
  }
  const kept = HANDOFF_BIT | CONTENDED_BIT;
  Atomics.store(words, STATE, kept);
  if (Atomics.notify(words, STATE, 1) > 0) return;
  // Nobody slept: the one that starved gave up, or was terminated.
  Atomics.store(words, STARVING, 0);
  if (Atomics.compareExchange(words, STATE, kept, UNLOCKED) === kept) {
    Atomics.notify(words, STATE, 1);
  }
}

/**
 * Locks the mutex of `words` for agent `id`, begun with the state just seen.
 *
 * @ignore
 */
export function* locking(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  state: number,
): Waiting<LockOutcome> {
  let woken = false; // by a notify, so that a hand-off may be meant for us
  let starved = false;
  let contended = 0; // CONTENDED_BIT once we slept: others may sleep, too
  let since = 0;
  for (;;) {
    const expected = state;
    if (
      (state & OWNER_MASK) === 0 &&
      ((state & HANDOFF_BIT) === 0 || woken || starved)
    ) {
      // (C) Who slept keeps CONTENDED: it knows of no one, yet one unlock
      // wakes only one sleeper, and the others must be woken by ours.
      const taken = id | (state & CONTENDED_BIT) | contended;
      state = Atomics.compareExchange(words, STATE, expected, taken);
      if (state !== expected) continue;
      if (state & HANDOFF_BIT && !starved) Atomics.store(words, STARVING, 0);
      return state & ABANDONED_BIT ? "abandoned" : "locked";
    }
    if ((state & CONTENDED_BIT) === 0) {
      state |= CONTENDED_BIT;
      const seen = Atomics.compareExchange(words, STATE, expected, state);
      if (seen !== expected) {
        state = seen;
        continue;
      }
    }
    if (contended === 0) {
      contended = CONTENDED_BIT;
      since = performance.now();
    } else if (!starved && performance.now() - since > PATIENCE) {
      starved = true;
      Atomics.store(words, STARVING, 1);
    }
    const handoff = (state & HANDOFF_BIT) !== 0;
    // Kept for a sleeper that may have been terminated: ours after a while.
    const outcome = yield handoff
      ? { words, index: STATE, value: state, atMost: PATIENCE }
      : { words, index: STATE, value: state };
    if (outcome === "timed-out") return false;
    const before = state;
    state = Atomics.load(words, STATE);
    woken = outcome === "ok" || (handoff && state === before);
  }
}

/**
 * Locks the mutex of `words` again at the end of a wait, however long that
 * takes: no timeout or abort ends it.
 *
 * @ignore
 */
export function* relocking(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): Waiting<LockOutcome> {
  const path = locking(words, id, UNLOCKED);
  let step = path.next();
  while (!step.done) {
    const outcome = yield { ...step.value, patient: true };
    step = path.next(outcome === "timed-out" ? "not-equal" : outcome);
  }
  return step.value;
}

/**
 * Makes a mutex that agent `id` holds, which is known never to run again, that
 * of `heir`; false if `id` did not hold it.
 *
 * @ignore
 */
export function inherit(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  heir: number,
): boolean {
  let state = Atomics.load(words, STATE);
  while ((state & OWNER_MASK) === id && id !== 0) {
    const expected = state;
    const next = state & ~OWNER_MASK | heir;
    state = Atomics.compareExchange(words, STATE, expected, next);
    if (state === expected) return true;
  }
  return false;
}
