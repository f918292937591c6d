/**
 * A counting semaphore for several permits at once.
 *
 * @module
 */

import { PermitGuard } from "./_guard.ts";
import { SEMAPHORE } from "./_layout.ts";
import { NO_AGENT, type WordsProblems } from "./_problems.ts";
import {
  allocate,
  assertConfig,
  assertFunction,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_region.ts";
import { spin, spinning } from "./_spin.ts";
import {
  COUNT_SHIFT,
  MAX_COUNT,
  MAX_ROWS,
  rowsLength,
  Tracked,
} from "./_tracked.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./_wait.ts";
import { agentId } from "./agent.ts";

export { type Handle, type Memory, Printable, Region } from "./_region.ts";
export { PermitGuard } from "./_guard.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait.ts";

const TRACKED: typeof SEMAPHORE.tracked = 1;
const PERMITS: typeof SEMAPHORE.permits = 3;
const WAITERS: typeof SEMAPHORE.waiters = 4;
const TURN: typeof SEMAPHORE.turn = 5;
const BULK: typeof SEMAPHORE.bulk = 6;
const CLAIMANT: typeof SEMAPHORE.claimant = 7;
const CLAIM: typeof SEMAPHORE.claim = 8;

/** Where the rows of a tracked semaphore begin. */
const ROWS = 40;

/** The most permits there can be. */
const MAX_PERMITS = 0x3fff_ffff;
/** The largest agent id. */
const MAX_ID = 0x0fff_ffff;

/**
 * Permits that were taken from a {@linkcode Semaphore}. A `using` block returns
 * them at its end, and `release` does so earlier. After that the guard holds
 * nothing, and releasing it again does nothing.
 *
 * @example One permit for one block
 * ```ts
 * import { Semaphore } from "@weft/sync";
 *
 * const semaphore = Semaphore.create(2);
 * {
 *   using _permit = semaphore.permit();
 *   console.log(semaphore.available); // 1
 * }
 * console.log(semaphore.available); // 2
 * ```
 */
export class SemaphorePermit extends PermitGuard {
  #semaphore: Semaphore | undefined;
  readonly #n: number;

  /** For {@linkcode Semaphore}, which makes a guard of `n` taken permits. */
  constructor(semaphore: Semaphore, n: number) {
    super();
    this.#semaphore = semaphore;
    this.#n = n;
  }

  /** How many permits this guard holds. */
  get permits(): number {
    return this.#semaphore === undefined ? 0 : this.#n;
  }

  /** Returns the permits, if this guard still holds them. */
  release(): void {
    const semaphore = this.#semaphore;
    this.#semaphore = undefined;
    semaphore?.release(this.#n);
  }
}

/** What a semaphore is made with, besides its permits. */
export interface SemaphoreConfig {
  /**
   * How many agents note what they hold, 1 to 255; 0, unless given, if none
   * does. Each has a row of 128 bytes. Then `abandon` returns exactly what a
   * dead agent held, and an agent can release only what it holds.
   */
  readonly tracked?: number;
}

/**
 * How `inspect` reads a semaphore.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: SEMAPHORE,
  waiters: (words) => words[WAITERS]!,
};

/**
 * The facts by which `inspect` finds problems.
 *
 * @ignore
 */
export const PROBLEMS: WordsProblems = {
  byteLength: (tracked) => bytesFor(tracked),
  problems: (words, tell) => {
    const claim = words[CLAIM]!;
    const claimant = words[CLAIMANT]!;
    const none = "There are never so many permits.";
    const tracked = words[TRACKED] !== 0; // then `permits` has other parts
    tell(!tracked && words[PERMITS]! > MAX_PERMITS, PERMITS, none);
    tell(words[BULK]! < 0, BULK, "There are fewer than 0 waiters.");
    tell((claimant & ~MAX_ID) !== 0, CLAIMANT, NO_AGENT);
    tell(claim < 0 || claim > MAX_PERMITS, CLAIM, none);
    tell(
      !tracked && claim > 0 && claimant === 0,
      CLAIM,
      "`claimant` names nobody.",
    );
  },
};

/**
 * A counting semaphore: `acquire(n)` takes `n` permits at once and sleeps while
 * there are fewer; `release(n)` returns permits, and any agent may call it.
 *
 * ```text
 * word 0  magic     Kind and layout version.
 * word 1  tracked   How many agents note what they hold, up to 255; 0 if none
 *                   does.
 * word 2  seal      Check word over the configuration.
 * word 3  permits   Free permits, up to 2^30 - 1. Below 0: what the claimant
 *                   still lacks. If agents are tracked:
 *                   bits 0-11   the sequence of the last change, modulo 4096
 *                   bits 12-19  the row of the agent that made it
 *                   bits 20-31  the permits
 *                   sleepers: agents that want one permit
 * word 4  waiters   Operations in the slow path of `acquire`.
 * word 5  turn      Changes when agents that want several permits must look
 *                   again.
 *                   sleepers: agents that want several permits
 * word 6  bulk      Operations that sleep on `turn`, or are about to.
 * word 7  claimant  The agent that took its permits in advance, or 0.
 * word 8  claim     How many permits it took.
 * word 9  From word 40 on, if agents are tracked, rows of 32 words. A row has
 *         the id of its agent, or 0; the sequence of the last confirmed change
 *         of that agent; what it holds after its changes with an even sequence;
 *         and the same for an odd one.
 * ```
 *
 * A waiter that was passed too often claims: it takes its permits in advance, as
 * a debt that the next releases pay. A later agent finds no permits and waits
 * behind it.
 *
 * Invariant: a sleeper is counted in `waiters`, and in `bulk` if it sleeps on
 * `turn`. Both may be too high (an agent was terminated), but never too low.
 * Progress: `tryAcquire()` and `release` are lock-free. `acquire`, its async
 * form, and both with a timeout wait. An agent that is terminated while it waits
 * costs the others nothing, unless it was the claimant: then its claim is lost
 * until `abandon(id)`. With `tracked`, each agent notes in a row what it holds,
 * so that `abandon(id)` returns exactly that.
 * Fairness: a newcomer may pass sleepers, but not the claimant. A waiter claims
 * once others passed it 8 times; agents that waited before it do not count.
 * C twin: `weft_semaphore`. Source: Dijkstra, EWD 74; waiter count, glibc.
 *
 * @example At most two agents in a section
 * ```ts
 * import { Semaphore } from "@weft/sync";
 *
 * const semaphore = Semaphore.create(2); // post semaphore.handle to workers
 * semaphore.run(() => console.log("at most two agents are here"));
 * if (!semaphore.tryAcquire(1, 50)) throw new Error("no permit within 50 ms");
 * semaphore.release();
 * ```
 */
export class Semaphore extends Region<"semaphore"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** The rows of agents that note what they hold. */
  readonly #rows: Tracked | undefined;
  /** How far the permits are shifted in their word. */
  readonly #shift: number = 0;
  /** The most permits there can be. */
  readonly #most: number = MAX_PERMITS;

  /**
   * Attaches to the semaphore at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no semaphore of this
   * layout version was initialized there.
   * @throws {RangeError} If the semaphore does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = attach(
      "semaphore",
      SEMAPHORE,
      memory,
      byteOffset,
      bytesFor,
    );
    super("semaphore", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
    const tracked = words[TRACKED]!;
    if (tracked === 0) return;
    const what = "The semaphore";
    this.#rows = new Tracked(what, words, PERMITS, ROWS, tracked, this.#id);
    this.#shift = COUNT_SHIFT;
    this.#most = MAX_COUNT;
  }

  /**
   * The bytes a semaphore occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `tracked` is out of range.
   */
  static byteLength(_permits = 0, config: SemaphoreConfig = {}): number {
    return bytesFor(trackedOf(config));
  }

  /**
   * Allocates a semaphore with `permits` free permits, 0 to 2^30 - 1; tracked, 0
   * to 2047.
   *
   * @throws {TypeError} If `permits` is not a number, or `config` is not as
   * described.
   * @throws {RangeError} If `permits` or `tracked` is out of range.
   */
  static create(permits = 0, config?: SemaphoreConfig): Semaphore {
    assertFree(permits, trackedOf(config));
    const memory = allocate(Semaphore.byteLength(permits, config));
    return Semaphore.init(memory, 0, permits, config);
  }

  /**
   * Initializes unused memory as a semaphore with `permits` free permits.
   *
   * @throws {TypeError} If `memory` is not shared, `permits` is not a number, or
   * `config` is not as described.
   * @throws {RangeError} If the semaphore does not fit there, or `permits` or
   * `tracked` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    permits = 0,
    config?: SemaphoreConfig,
  ): Semaphore {
    const tracked = trackedOf(config);
    assertFree(permits, tracked);
    const bytes = bytesFor(tracked);
    format(
      "semaphore",
      SEMAPHORE,
      memory,
      byteOffset,
      bytes,
      [tracked],
      (words) => {
        words[PERMITS] = tracked > 0 ? permits << COUNT_SHIFT : permits;
      },
    );
    return new Semaphore(memory, byteOffset);
  }

  /**
   * Attaches to the semaphore that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no semaphore is
   * there.
   */
  static from(handle: Handle<"semaphore">): Semaphore {
    return new Semaphore(...fromHandle("semaphore", handle));
  }

  /** Free permits, 0 or more. */
  get available(): number {
    return Math.max(Atomics.load(this.#words, PERMITS) >> this.#shift, 0);
  }

  /** How many agents note what they hold: what `tracked` was, or 0. */
  get tracked(): number {
    return this.#words[TRACKED]!;
  }

  /**
   * Permits that this agent holds or, in a wait, claimed in advance; 0 if the
   * semaphore is not tracked.
   */
  get held(): number {
    return this.#rows?.held ?? 0;
  }

  /**
   * Takes `n` permits, and blocks until that is done.
   *
   * @throws {TypeError} If this agent may not block, or `n` is not a number.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1.
   */
  acquire(n = 1): void {
    assertMayBlock("acquire");
    this.#assertPermits(n);
    if (!this.#take(n)) this.#acquireWaiting(n, Infinity);
  }

  /**
   * Takes `n` permits if that many come free within `timeout` ms. Without a
   * timeout it does not wait. Returns whether it took them. Permits that a
   * claimant waits for are not free.
   *
   * @throws {TypeError} If it would wait and this agent may not block, or if
   * `n` or `timeout` is not a number.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1, or
   * `timeout` is negative or NaN.
   */
  tryAcquire(n = 1, timeout = 0): boolean {
    this.#assertPermits(n);
    if (timeout !== 0) {
      assertTimeout(timeout);
      assertMayBlock("tryAcquire");
    }
    if (this.#take(n)) return true;
    return timeout > 0 && this.#acquireWaiting(n, timeout);
  }

  /**
   * As {@linkcode Semaphore.acquire}, but awaits instead of blocking.
   *
   * @throws {TypeError} If `n` is not a number, or an option is unknown or of a
   * wrong type.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1.
   */
  async acquireAsync(n = 1, options?: AsyncOptions): Promise<void> {
    this.#assertPermits(n);
    await blockAsync(() => this.#acquireSlow(n), options);
  }

  /**
   * As {@linkcode Semaphore.tryAcquire}, but awaits instead of blocking.
   *
   * @throws {TypeError} If `n` is not a number, or an option is unknown or of a
   * wrong type.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1, or the
   * timeout is negative or NaN.
   */
  async tryAcquireAsync(n = 1, options?: TryAsyncOptions): Promise<boolean> {
    this.#assertPermits(n);
    return await tryBlockAsync(() => this.#acquireSlow(n), options);
  }

  /**
   * As {@linkcode Semaphore.acquire}, but returns a guard, which a `using` block
   * releases at its end.
   *
   * @throws {TypeError} As `acquire`.
   * @throws {RangeError} As `acquire`.
   */
  permit(n = 1): SemaphorePermit {
    this.acquire(n);
    return new SemaphorePermit(this, n);
  }

  /**
   * As {@linkcode Semaphore.tryAcquire}, but returns a guard, or `undefined` if
   * it took no permits.
   *
   * @throws {TypeError} As `tryAcquire`.
   * @throws {RangeError} As `tryAcquire`.
   */
  tryPermit(n = 1, timeout = 0): SemaphorePermit | undefined {
    return this.tryAcquire(n, timeout)
      ? new SemaphorePermit(this, n)
      : undefined;
  }

  /**
   * As {@linkcode Semaphore.permit}, but awaits instead of blocking.
   *
   * @throws {TypeError} As `acquireAsync`.
   * @throws {RangeError} As `acquireAsync`.
   */
  async permitAsync(n = 1, options?: AsyncOptions): Promise<SemaphorePermit> {
    await this.acquireAsync(n, options);
    return new SemaphorePermit(this, n);
  }

  /**
   * As {@linkcode Semaphore.tryPermit}, but awaits instead of blocking.
   *
   * @throws {TypeError} As `tryAcquireAsync`.
   * @throws {RangeError} As `tryAcquireAsync`.
   */
  async tryPermitAsync(
    n = 1,
    options?: TryAsyncOptions,
  ): Promise<SemaphorePermit | undefined> {
    return await this.tryAcquireAsync(n, options)
      ? new SemaphorePermit(this, n)
      : undefined;
  }

  /**
   * Calls `fn` while it holds `n` permits, and returns them when `fn` returns or
   * throws. Returns what `fn` returned. For a function that returns a promise,
   * use `runAsync`: `run` releases before the promise is settled.
   *
   * @throws {TypeError} As {@linkcode Semaphore.acquire}, or if `fn` is not a
   * function.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1.
   */
  run<T>(fn: () => T, n = 1): T {
    assertFunction(fn);
    this.acquire(n);
    try {
      return fn();
    } finally {
      this.release(n);
    }
  }

  /**
   * As {@linkcode Semaphore.run}, but awaits the permits, and then what `fn`
   * returns.
   *
   * @throws {TypeError} If `fn` is not a function, `n` is not a number, or an
   * option is unknown or of a wrong type.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1.
   */
  async runAsync<T>(
    fn: () => T | PromiseLike<T>,
    n = 1,
    options?: AsyncOptions,
  ): Promise<T> {
    assertFunction(fn);
    await this.acquireAsync(n, options);
    try {
      return await fn();
    } finally {
      this.release(n);
    }
  }

  /**
   * Returns `n` permits, and wakes the waiters that can take them.
   *
   * @throws {TypeError} If `n` is not a number, or the semaphore is tracked and
   * this agent holds fewer.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1, or there
   * would be more than 2^30 - 1 permits.
   */
  release(n = 1): void {
    inRange("The number of permits to release", n, 1, this.#most);
    if (this.#rows !== undefined) return this.#releaseTracked(this.#rows, n);
    const words = this.#words;
    let permits = words[PERMITS]!; // a hint: the exchange below checks it
    if (permits + n > MAX_PERMITS) permits = Atomics.load(words, PERMITS);
    for (;;) {
      if (permits + n > MAX_PERMITS) {
        throw new RangeError(
          `Cannot release ${n} permits: there are ${permits}, and at most ` +
            `${MAX_PERMITS} are possible`,
        );
      }
      const sum = permits + n;
      const seen = Atomics.compareExchange(words, PERMITS, permits, sum);
      if (seen === permits) break;
      permits = seen;
    }
    // Pairs with (W): we see the waiter, or the waiter sees our permits.
    if (Atomics.load(words, WAITERS) > 0) this.#wake(n, permits + n);
  }

  /**
   * Returns the permits that agent `id` held, if the semaphore is tracked;
   * otherwise only those that it claimed in advance, and what it had acquired
   * stays taken. Call it only when that agent will never run again. Returns how
   * many permits came back.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not in the range of agent ids.
   * @throws {DamagedError} If the semaphore is tracked, and its words do not fit
   * together.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, MAX_ID);
    const words = this.#words;
    if (id === 0) return 0;
    // (H) One of the agents that abandon `id` inherits its claim: a later
    // claimant must not lose its own.
    const seen = Atomics.compareExchange(words, CLAIMANT, id, this.#id);
    const rows = this.#rows;
    if (rows !== undefined) return this.#abandonTracked(rows, id, seen === id);
    if (seen !== id) return 0;
    const n = Atomics.exchange(words, CLAIM, 0);
    if (n > 0) this.#giveBack(n);
    this.#endClaim();
    return n;
  }

  /** Returns what the rows of agent `id` hold: also what it claimed. */
  #abandonTracked(rows: Tracked, id: number, claimed: boolean): number {
    const words = this.#words;
    const n = rows.abandon(id);
    if (n > 0) this.#wake(n, Atomics.load(words, PERMITS) >> COUNT_SHIFT);
    if (claimed) {
      Atomics.store(words, CLAIM, 0);
      this.#endClaim();
    }
    return n;
  }

  #releaseTracked(rows: Tracked, n: number): void {
    const permits = rows.give(n);
    // Pairs with (W), as in `release`.
    if (Atomics.load(this.#words, WAITERS) > 0) this.#wake(n, permits);
  }

  /**
   * Waits until a permit is free.
   *
   * @internal
   */
  *readiness(): Waiting<boolean> {
    const words = this.#words;
    if (this.available > 0) return true;
    Atomics.add(words, WAITERS, 1); // (W) announce, then look again
    try {
      for (;;) {
        const permits = Atomics.load(words, PERMITS);
        if (permits >> this.#shift > 0) return true;
        const outcome = yield { words, index: PERMITS, value: permits };
        if (outcome === "timed-out") return this.available > 0;
      }
    } finally {
      // The wake that was used up belongs to the agent that takes the permit.
      const others = Atomics.sub(words, WAITERS, 1) > 1;
      if (others && this.available > 0) Atomics.notify(words, PERMITS, 1);
    }
  }

  #take(n: number): boolean {
    if (this.#rows !== undefined) return this.#rows.take(n);
    const words = this.#words;
    let permits = words[PERMITS]!; // a hint: too few is looked at again
    if (permits < n) permits = Atomics.load(words, PERMITS);
    while (permits >= n) {
      const expected = permits;
      permits = Atomics.compareExchange(words, PERMITS, expected, expected - n);
      if (permits === expected) return true;
    }
    return false;
  }

  // Not part of the fast path, which would pay for the closure.
  #acquireWaiting(n: number, timeout: number): boolean {
    if (spin(() => this.#take(n))) return true;
    return block(this.#acquireSlow(n), timeout);
  }

  *#acquireSlow(n: number): Waiting<boolean> {
    const words = this.#words;
    if (this.#take(n)) return true;
    // (W) announce, then look again. Agents that wait already come first: their
    // turns do not count as passing this one.
    const patience = spinning.patience + Atomics.add(words, WAITERS, 1);
    if (n > 1) Atomics.add(words, BULK, 1);
    try {
      for (let passed = 0;;) {
        const turn = Atomics.load(words, TURN); // before the look at permits
        if (this.#take(n)) return true;
        if (
          passed >= patience &&
          Atomics.compareExchange(words, CLAIMANT, 0, this.#id) === 0
        ) return yield* this.#claim(n);
        const permits = Atomics.load(words, PERMITS);
        if (permits >> this.#shift >= n) continue;
        const outcome = yield n > 1
          ? { words, index: TURN, value: turn, all: true }
          : { words, index: PERMITS, value: permits };
        if (outcome === "timed-out") return this.#take(n);
        // The turns of a claimant do not count, nor looks without a release.
        const released = n > 1
          ? Atomics.load(words, TURN) !== turn
          : outcome === "ok";
        if (released && Atomics.load(words, CLAIMANT) === 0) passed++;
      }
    } finally {
      if (n > 1) Atomics.sub(words, BULK, 1);
      Atomics.sub(words, WAITERS, 1);
    }
  }

  /** Takes the permits in advance, and waits until releases paid for them. */
  *#claim(n: number): Waiting<boolean> {
    const words = this.#words;
    const rows = this.#rows;
    Atomics.add(words, BULK, 1);
    try {
      if (rows !== undefined) rows.owe(n);
      else Atomics.sub(words, PERMITS, n);
      // In this order: an agent that is terminated between the two loses its
      // permits, but `abandon` never returns permits that were not taken.
      Atomics.store(words, CLAIM, n);
      for (;;) {
        const turn = Atomics.load(words, TURN);
        if (Atomics.load(words, PERMITS) >= 0) break;
        const outcome = yield { words, index: TURN, value: turn, all: true };
        if (outcome !== "timed-out") continue;
        if (Atomics.load(words, PERMITS) >= 0) break;
        Atomics.store(words, CLAIM, 0);
        this.#giveBack(n);
        this.#endClaim();
        return false;
      }
      Atomics.store(words, CLAIM, 0);
      this.#endClaim();
      return true;
    } catch (error) { // the words are damaged
      Atomics.store(words, CLAIM, 0);
      this.#endClaim();
      throw error;
    } finally {
      Atomics.sub(words, BULK, 1);
    }
  }

  /** Lets the next agent claim. */
  #endClaim(): void {
    Atomics.store(this.#words, CLAIMANT, 0);
    this.#wakeBulk();
  }

  /** Returns permits that a claim had taken, which cannot be too many. */
  #giveBack(n: number): void {
    const permits = this.#rows?.give(n) ??
      Atomics.add(this.#words, PERMITS, n) + n;
    this.#wake(n, permits);
  }

  #assertPermits(n: number): void {
    inRange("The number of permits to acquire", n, 1, this.#most);
  }

  /** Wakes waiters for `n` more permits, now that `permits` are free. */
  #wake(n: number, permits: number): void {
    const words = this.#words;
    if (permits > 0) Atomics.notify(words, PERMITS, Math.min(n, permits));
    this.#wakeBulk();
  }

  #wakeBulk(): void {
    const words = this.#words;
    if (Atomics.load(words, BULK) === 0) return;
    Atomics.add(words, TURN, 1);
    Atomics.notify(words, TURN);
  }
}

function assertFree(permits: number, tracked: number): void {
  inRange("Permits", permits, 0, tracked > 0 ? MAX_COUNT : MAX_PERMITS);
}

/** The bytes of a semaphore with rows for `tracked` agents. */
function bytesFor(tracked: number): number {
  inRange("The number of tracked agents", tracked, 0, MAX_ROWS);
  const length = tracked > 0 ? ROWS + rowsLength(tracked) : SEMAPHORE.length;
  return length * 4;
}

function trackedOf(config: SemaphoreConfig = {}): number {
  assertConfig("semaphore", config, ["tracked"]);
  const { tracked = 0 } = config;
  bytesFor(tracked);
  return tracked;
}
