/**
 * A lock that one agent holds at a time.
 *
 * @module
 */

import { MUTEX } from "./_memory/layout.ts";
import {
  abandon,
  CONTENDED_BIT,
  lock,
  type LockOutcome,
  lockSlow,
  OWNER_MASK,
  ownerOf,
  STATE,
  tryLock,
  unlock,
  UNLOCKED,
  untilUnlocked,
} from "./_lock/mutex.ts";
import { LockGuard } from "./_memory/guard.ts";
import { inRange } from "./_memory/memory.ts";
import {
  cancelled,
  type TryTurnOptions,
  type TurnOptions,
} from "./_memory/options.ts";
import {
  allocate,
  assertFunction,
  fromHandle,
  type Handle,
  type Memory,
  Region,
  viewPlain,
  type WordsInspection,
} from "./_memory/region.ts";
import {
  awaitingAt,
  blockInTurn,
  cancelAt,
  tryBlockInTurn,
} from "./_wait/turns.ts";
import { assertMayBlock, assertMayTry } from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export { LockGuard } from "./_memory/guard.ts";
export type { Disposer } from "./_memory/dispose.ts";
export type {
  AsyncOptions,
  TryAsyncOptions,
  TryTurnOptions,
  TurnOptions,
} from "./_memory/options.ts";

/**
 * A {@linkcode Mutex} that is held. A `using` block unlocks it at its end, and
 * `unlock` does so earlier. After that the guard holds nothing, and unlocking
 * it again does nothing.
 *
 * @example Without `using`
 * ```ts
 * import { Mutex } from "@weft/sync";
 *
 * const mutex = Mutex.create();
 * const guard = mutex.lock();
 * try {
 *   if (guard.abandoned) console.log("repair the data, half changed");
 * } finally {
 *   guard.unlock();
 * }
 * if (mutex.owner !== 0) throw new Error("still locked");
 * ```
 */
export class MutexGuard extends LockGuard {
  #mutex: Mutex | undefined;

  /**
   * True if `abandon` freed the mutex because its owner had died: the data that
   * the mutex protects may be half changed.
   */
  readonly abandoned: boolean;

  /** For {@linkcode Mutex}, which makes a guard when it was locked. */
  constructor(mutex: Mutex, abandoned: boolean) {
    super();
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
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: MUTEX,
  owner: (words) => words[STATE]! & OWNER_MASK,
  waiters: (words) => words[STATE]! & CONTENDED_BIT ? 1 : 0,
};

/**
 * A lock that one agent holds at a time; the others sleep until it is free.
 *
 * A section that one agent enters at a time:
 *
 * ```ts
 * import { Mutex } from "@weft/sync";
 *
 * const mutex = Mutex.create(); // post mutex.handle to workers
 * const total = new Float64Array(new SharedArrayBuffer(8));
 * {
 *   using _lock = mutex.lock();
 *   total[0]! += 0.5;
 * }
 * mutex.run(() => total[0]! += 0.5); // the same, without `using`
 * ```
 *
 * Invariant: an agent that sleeps on `state` fell asleep on a value with
 * CONTENDED set. An agent that clears this bit wakes one sleeper.
 * Progress: `tryLock()` is lock-free: it tries again only if another agent
 * changed the word meanwhile. `unlock` is wait-free. `lock`, `lockAsync` and a
 * `tryLock` with a timeout wait. A terminated owner keeps the mutex until
 * `abandon(id)`. An agent that is terminated while it waits delays the others
 * by at most a second.
 * Freed when: no agent waits, and none will begin an operation. The owner
 * before may still be in `unlock`.
 * Fairness: a newcomer may pass sleepers. A sleeper that was passed for a
 * millisecond is handed the mutex by the next unlock.
 * C twin: `weft_mutex`. Source: Drepper, "Futexes are tricky", mutex 3; the
 * hand-off after a millisecond comes from Go's `sync.Mutex`.
 *
 * Its words in memory:
 *
 * ```text
 * word 0  state     bits 0-27  the owner's agent id, or 0
 *                   bit 28     ABANDONED: free, because the dead owner was
 *                              recovered
 *                   bit 29     HANDOFF: it is kept for a woken sleeper; with an
 *                              owner, offered to one
 *                   bit 30     CONTENDED: somebody may sleep on this word
 *                   sleepers: agents that lock
 * word 1  starving  1 while there is a sleeper that newcomers passed for a
 *                   millisecond.
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
   * @throws {RangeError} If the mutex does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
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
   * Initializes unused memory as an unlocked mutex.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If the mutex does not fit there.
   */
  static init(memory: Memory, byteOffset: number | bigint): Mutex {
    const mutex = new Mutex(memory, byteOffset);
    mutex.#words.fill(0);
    return mutex;
  }

  /**
   * Attaches to the mutex that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind.
   */
  static from(handle: Handle<"mutex">): Mutex {
    return new Mutex(...fromHandle("mutex", handle));
  }

  /** The id of the agent that holds the mutex, or 0. */
  get owner(): number {
    return ownerOf(this.#words);
  }

  /**
   * Locks the mutex, and blocks until that is done.
   *
   * @throws {TypeError} If this agent may not block, or holds the mutex.
   */
  lock(): MutexGuard {
    assertMayBlock("lock");
    return this.#guard(lock(this.#words, this.#id, Infinity))!;
  }

  /**
   * Locks the mutex if it comes free within `timeout` ms. Without a timeout it
   * does not wait. Returns `undefined` if the mutex was not locked.
   *
   * @throws {TypeError} If it would wait, and this agent may not block or holds
   * the mutex; or if `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryLock(timeout = 0): MutexGuard | undefined {
    if (timeout === 0) return this.#guard(tryLock(this.#words, this.#id));
    assertMayTry("tryLock", timeout);
    return this.#guard(lock(this.#words, this.#id, timeout));
  }

  /**
   * As {@linkcode Mutex.lock}, but awaits instead of blocking. It also waits
   * for another task of the agent that holds the mutex.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If `priority` is NaN.
   */
  async lockAsync(options?: TurnOptions): Promise<MutexGuard> {
    const start = () => lockSlow(this.#words, this.#id, UNLOCKED);
    return this.#guard(await blockInTurn(this.#place, start, options))!;
  }

  /**
   * As {@linkcode Mutex.tryLock}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN, or `priority` is
   * NaN.
   */
  async tryLockAsync(
    options?: TryTurnOptions,
  ): Promise<MutexGuard | undefined> {
    const start = () => lockSlow(this.#words, this.#id, UNLOCKED);
    return this.#guard(await tryBlockInTurn(this.#place, start, options));
  }

  /**
   * Awaits that nobody holds the mutex, and leaves it unlocked; another agent
   * may have locked it again when the promise settles. It waits for its turn as
   * `lockAsync` does, and holds the mutex for a moment, unless nobody holds it
   * at the call.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If `priority` is NaN.
   */
  async waitForUnlockAsync(options?: TurnOptions): Promise<void> {
    const start = () => untilUnlocked(this.#words, this.#id);
    await blockInTurn(this.#place, start, options);
  }

  /**
   * How many operations of this agent await the mutex, and would end by
   * `cancel`. What other agents await is not known.
   */
  get awaiting(): number {
    return awaitingAt(this.#place).length;
  }

  /**
   * Ends what this agent awaits of the mutex: see `awaiting`. Each of those
   * promises rejects with `reason`, an `AbortError` unless given. Other agents
   * wait on. Returns how many those were.
   */
  cancel(reason: unknown = cancelled()): number {
    return cancelAt(this.#place, reason);
  }

  /**
   * Calls `fn` with the mutex locked, and unlocks it when `fn` returns or
   * throws. Returns what `fn` returned. For a function that returns a promise,
   * use `runAsync`: `run` unlocks before the promise is settled.
   *
   * @throws {TypeError} As {@linkcode Mutex.lock}, or if `fn` is not a
   * function.
   */
  run<T>(fn: (guard: MutexGuard) => T): T {
    assertFunction(fn);
    const guard = this.lock();
    try {
      return fn(guard);
    } finally {
      guard.unlock();
    }
  }

  /**
   * As {@linkcode Mutex.run}, but awaits the mutex, and then what `fn` returns.
   *
   * @throws {TypeError} If `fn` is not a function, or an option is unknown or
   * of a wrong type.
   * @throws {RangeError} If `priority` is NaN.
   */
  async runAsync<T>(
    fn: (guard: MutexGuard) => T | PromiseLike<T>,
    options?: TurnOptions,
  ): Promise<T> {
    assertFunction(fn);
    const guard = await this.lockAsync(options);
    try {
      return await fn(guard);
    } finally {
      guard.unlock();
    }
  }

  /**
   * Unlocks the mutex, and wakes a sleeper if there may be one.
   *
   * @throws {TypeError} If this agent does not hold the mutex.
   */
  unlock(): void {
    unlock(this.#words, this.#id);
  }

  /**
   * Frees the mutex if agent `id` holds it. Call it only when that agent will
   * never run again. The next guard has `abandoned` set. Returns how many locks
   * it freed: 1, or 0 if `id` did not hold the mutex.
   *
   * C twin: `weft_mutex_abandon`; the next lock gives `EOWNERDEAD`.
   *
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    return abandon(this.#words, id);
  }

  /** Where its operations await. */
  get #place() {
    return { words: this.#words, index: STATE };
  }

  #guard(outcome: LockOutcome): MutexGuard | undefined {
    return outcome === false
      ? undefined
      : new MutexGuard(this, outcome === "abandoned");
  }
}
