/**
 * A lock that one agent holds at a time.
 *
 * @module
 */

import { LockGuard } from "./_memory/guard.ts";
import { MUTEX } from "./_layout.ts";
import { inRange } from "./_memory/memory.ts";
import { NO_FLAG, type Tell, type WordsProblems } from "./_memory/problems.ts";
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
import { spin, spinning } from "./_wait/spin.ts";
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
export { LockGuard } from "./_memory/guard.ts";
export type { Disposer } from "./_memory/dispose.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

const STATE: typeof MUTEX.state = 0;
const STARVING: typeof MUTEX.starving = 1;

const UNLOCKED = 0;
const OWNER_MASK = 0x0fff_ffff; // MUTEX_BITS.OWNER
const ABANDONED_BIT = 0x1000_0000; // MUTEX_BITS.ABANDONED
const HANDOFF_BIT = 0x2000_0000; // MUTEX_BITS.HANDOFF
const CONTENDED_BIT = 0x4000_0000; // MUTEX_BITS.CONTENDED
/** HANDOFF and CONTENDED: the mutex is kept for a sleeper. */
const KEPT = 0x6000_0000; // MUTEX_BITS.HANDOFF | CONTENDED

/** A sleeper that newcomers passed for this long, in ms, is handed the mutex. */
const PATIENCE = 1;

/** The same for a hand-off among sleepers served in line: see `locking`. */
const LINE_PATIENCE = 100;

/** How the slow path of {@linkcode Mutex.lock} ended. @ignore */
export type LockOutcome = false | "locked" | "abandoned";

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
 *   if (guard.abandoned) console.log("repair the data: it may be half changed");
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

/**
 * How `inspect` reads a mutex.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: MUTEX,
  owner: (words) => words[STATE]! & OWNER_MASK,
  waiters: (words) => words[STATE]! & CONTENDED_BIT ? 1 : 0,
};

/**
 * The facts by which `inspect` finds problems.
 *
 * @ignore
 */
export const PROBLEMS: WordsProblems = {
  problems: (words, tell) => tellOfLock(words, STATE, tell),
};

/**
 * Tells what is wrong with the two words of a mutex at `index`.
 *
 * @ignore
 */
export function tellOfLock(
  words: Int32Array,
  index: number,
  tell: Tell,
): void {
  const state = words[index]!;
  const free = (state & ABANDONED_BIT) !== 0 ||
    (state & KEPT) === HANDOFF_BIT; // what is offered is contended
  tell(state < 0, index, "Bit 31 is never set.");
  tell(
    (state & OWNER_MASK) !== 0 && free,
    index,
    "It names an owner, but also says that there is none.",
  );
  tell((words[index + STARVING]! & ~1) !== 0, index + STARVING, NO_FLAG);
}

/**
 * A lock that one agent holds at a time; the others sleep until it is free.
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
 *
 * Invariant: an agent that sleeps on `state` fell asleep on a value with
 * CONTENDED set. An agent that clears this bit wakes one sleeper.
 * Progress: `tryLock()` is lock-free: it tries again only if another agent
 * changed the word meanwhile. `unlock` is wait-free. `lock`, `lockAsync` and a
 * `tryLock` with a timeout wait. A terminated owner keeps the mutex until
 * `abandon(id)`. An agent that is terminated while it waits delays the others
 * by at most a second.
 * Freed when: no agent waits, and none will begin an operation. The owner before
 * may still be in `unlock`.
 * Fairness: a newcomer may pass sleepers. A sleeper that was passed for a
 * millisecond is handed the mutex by the next unlock.
 * C twin: `weft_mutex`. Source: Drepper, "Futexes are tricky", mutex 3; the
 * hand-off after a millisecond comes from Go's `sync.Mutex`.
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
 * mutex.run(() => total[0]! += 0.5); // the same, without `using`
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
    return Atomics.load(this.#words, STATE) & OWNER_MASK;
  }

  /**
   * Locks the mutex, and blocks until that is done.
   *
   * @throws {TypeError} If this agent may not block, or holds the mutex.
   */
  lock(): MutexGuard {
    assertMayBlock("lock");
    const words = this.#words;
    const state = Atomics.compareExchange(words, STATE, UNLOCKED, this.#id);
    if (state === UNLOCKED) return new MutexGuard(this, false);
    return this.#lockSlow(state, Infinity)!;
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
    if (timeout === 0) return this.#guard(tryLocking(this.#words, this.#id));
    assertTimeout(timeout);
    assertMayBlock("tryLock");
    const outcome = tryLocking(this.#words, this.#id);
    if (outcome !== false) return this.#guard(outcome);
    return this.#lockSlow(Atomics.load(this.#words, STATE), timeout);
  }

  /**
   * As {@linkcode Mutex.lock}, but awaits instead of blocking. It also waits for
   * another task of the agent that holds the mutex.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   */
  async lockAsync(options?: AsyncOptions): Promise<MutexGuard> {
    const start = () => locking(this.#words, this.#id, UNLOCKED);
    return this.#guard(await blockAsync(start, options))!;
  }

  /**
   * As {@linkcode Mutex.tryLock}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN.
   */
  async tryLockAsync(
    options?: TryAsyncOptions,
  ): Promise<MutexGuard | undefined> {
    const start = () => locking(this.#words, this.#id, UNLOCKED);
    return this.#guard(await tryBlockAsync(start, options));
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
   */
  async runAsync<T>(
    fn: (guard: MutexGuard) => T | PromiseLike<T>,
    options?: AsyncOptions,
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
    unlocking(this.#words, this.#id);
  }

  /**
   * Frees the mutex if agent `id` holds it. Call it only when that agent will
   * never run again. The next guard has `abandoned` set. Returns how many locks it
   * freed: 1, or 0 if `id` did not hold the mutex.
   *
   * C twin: `weft_mutex_abandon`; the next lock gives `EOWNERDEAD`.
   *
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    while ((state & OWNER_MASK) === id && id !== 0) {
      const expected = state;
      state = Atomics.compareExchange(words, STATE, expected, ABANDONED_BIT);
      if (state !== expected) continue;
      if (state & CONTENDED_BIT) Atomics.notify(words, STATE, 1);
      return 1;
    }
    return 0;
  }

  /** Locks a mutex in which `state` was seen, blocking `timeout` ms at most. */
  #lockSlow(state: number, timeout: number): MutexGuard | undefined {
    if ((state & OWNER_MASK) === this.#id) {
      throw new TypeError(
        `Cannot lock a mutex twice: agent ${this.#id} holds it already`,
      );
    }
    if (spinning.rounds > 0 && this.#spin()) return new MutexGuard(this, false);
    return this.#guard(block(locking(this.#words, this.#id, state), timeout));
  }

  #guard(outcome: LockOutcome): MutexGuard | undefined {
    return outcome === false
      ? undefined
      : new MutexGuard(this, outcome === "abandoned");
  }

  /**
   * Spins for a short time until the mutex is free. It looks once in a
   * microsecond, because each look takes the cache line from the owner, which
   * needs it to unlock. If the mutex was handed to a sleeper, it stops: spinning
   * would take the sleeper's core.
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
 * Locks the mutex of `words` for agent `id` if nobody holds it. This function
 * and those below are also used by other primitives; `mod.ts` leaves them out.
 *
 * @ignore
 */
export function tryLocking(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
): LockOutcome {
  let state = Atomics.compareExchange(words, STATE, UNLOCKED, id);
  if (state === UNLOCKED) return "locked";
  // A mutex without an owner is ABANDONED, or reserved for a sleeper, or came
  // free just now. A sleeper that finds it taken sleeps again.
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

/** Unlocks a mutex in which `state` was seen, which may be old by now. */
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
  // CONTENDED is set, so only the owner changes the word now.
  if (Atomics.load(words, STARVING) === 0) { // before it is given: see (G)
    Atomics.store(words, STATE, UNLOCKED);
    Atomics.notify(words, STATE, 1);
    return;
  }
  // Offer it to a sleeper, and only then keep it for that one: whether there is
  // one cannot be looked at later, see (G).
  const offered = state | HANDOFF_BIT;
  Atomics.store(words, STATE, offered);
  let next = KEPT;
  if (Atomics.notify(words, STATE, 1) === 0) {
    // Nobody slept: the starving sleeper gave up, or was terminated.
    Atomics.store(words, STARVING, 0);
    next = UNLOCKED;
  }
  // (G) Whoever takes the mutex may free the memory at once: from here on, only
  // the address is used. A sleeper that leaves takes the offer back.
  if (Atomics.compareExchange(words, STATE, offered, next) !== offered) {
    Atomics.store(words, STATE, UNLOCKED);
  }
  Atomics.notify(words, STATE, 1);
}

/**
 * For a sleeper that leaves: frees a mutex that is kept for a sleeper, and wakes
 * another one; or takes back that it is offered.
 */
function decline(words: Int32Array<SharedArrayBuffer>): void {
  let state = Atomics.load(words, STATE);
  while (state & HANDOFF_BIT) {
    const expected = state;
    const next = state === KEPT ? UNLOCKED : state & ~HANDOFF_BIT;
    state = Atomics.compareExchange(words, STATE, expected, next);
    if (state !== expected) continue;
    if (next === UNLOCKED) Atomics.notify(words, STATE, 1);
    return;
  }
}

/**
 * Locks the mutex of `words` for agent `id`; `state` is what was seen last.
 *
 * With `inLine`, a sleeper that waited for a millisecond has the next sleeper
 * served in line, too. A newcomer then takes a hand-off only after 100 ms: where
 * 64 agents share two cores, a woken agent may need that long to run.
 *
 * @ignore
 */
export function* locking(
  words: Int32Array<SharedArrayBuffer>,
  id: number,
  state: number,
  inLine = false,
): Waiting<LockOutcome> {
  let woken = false; // by a notify: a hand-off may be meant for this agent
  let starved = false;
  let contended = 0; // CONTENDED_BIT once this agent slept: others may, too
  let since = 0;
  const patience = inLine ? LINE_PATIENCE : PATIENCE;
  for (;;) {
    const expected = state;
    if (
      (state & OWNER_MASK) === 0 &&
      ((state & HANDOFF_BIT) === 0 || woken || starved)
    ) {
      // (C) A woken sleeper cannot know whether others sleep, so it keeps
      // CONTENDED; its unlock wakes the next.
      const taken = id | (state & CONTENDED_BIT) | contended;
      state = Atomics.compareExchange(words, STATE, expected, taken);
      if (state !== expected) continue;
      if (
        inLine && contended !== 0 &&
        (starved || performance.now() - since > PATIENCE)
      ) Atomics.store(words, STARVING, 1);
      else if (state & HANDOFF_BIT && !starved) {
        Atomics.store(words, STARVING, 0);
      }
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
    // The sleeper it is reserved for may be dead: after a while, take it.
    const outcome = yield handoff
      ? { words, index: STATE, value: state, atMost: patience }
      : { words, index: STATE, value: state };
    if (outcome === "timed-out") {
      decline(words); // it may be meant for this sleeper, which leaves
      return false;
    }
    const before = state;
    state = Atomics.load(words, STATE);
    // Whoever was woken for an offer may take it once it is kept.
    woken = outcome === "ok" ||
      (handoff && (state === before || (woken && before !== KEPT)));
  }
}

/**
 * Locks the mutex of `words` again at the end of a condition's wait. No timeout
 * and no abort ends this.
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
 * Makes `heir` the owner of a mutex that agent `id` holds, which will never run
 * again. Returns false if `id` did not hold it.
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
