/**
 * A counting semaphore for several permits at once.
 *
 * @module
 */

import { SEMAPHORE } from "./_memory/layout.ts";
import {
  FREE_SHIFT,
  MAX,
  MAX_ID,
  MAX_PERMITS,
  PERMITS,
  Permits,
  ROWS,
  TRACKED,
  WAITERS,
} from "./_lock/semaphore.ts";
import { PermitGuard } from "./_memory/guard.ts";
import {
  cancelled,
  type TryTurnOptions,
  type TurnOptions,
} from "./_memory/options.ts";
import type { WordsProblems } from "./_memory/problems.ts";
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
} from "./_memory/region.ts";
import {
  COUNT_SHIFT,
  MAX_COUNT,
  MAX_ROWS,
  rowsLength,
} from "./_memory/tracked.ts";
import {
  awaitingAt,
  blockInTurn,
  cancelAt,
  tryBlockInTurn,
} from "./_wait/turns.ts";
import { assertMayBlock, assertMayTry, type Waiting } from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export { PermitGuard } from "./_memory/guard.ts";
export type {
  AsyncOptions,
  TryAsyncOptions,
  TryTurnOptions,
  TurnOptions,
} from "./_memory/options.ts";

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
  readonly tracked?: number | undefined;
  /**
   * The most permits there can ever be: to acquire more, or to release beyond
   * it, is a RangeError. 1 to 2^30 - 1, which is also what it is unless given;
   * if agents are tracked, 1 to 2047.
   */
  readonly max?: number | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: SEMAPHORE,
  waiters: (words) => words[WAITERS]!,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: bytesFor,
};

/**
 * A counting semaphore: `acquire(n)` takes `n` permits at once and sleeps while
 * there are fewer; `release(n)` returns permits, and any agent may call it.
 *
 * At most two agents in a section:
 *
 * ```ts
 * import { Semaphore } from "@weft/sync";
 *
 * const semaphore = Semaphore.create(2); // post semaphore.handle to workers
 * semaphore.run(() => console.log("at most two agents are here"));
 * if (!semaphore.tryAcquire(1, 50)) throw new Error("no permit within 50 ms");
 * semaphore.release();
 * ```
 *
 * A waiter that was passed too often claims: it takes its permits in advance,
 * as a debt that the next releases pay. A later agent finds no permits and
 * waits behind it.
 *
 * Invariant: a sleeper is counted in `waiters`, and in `bulk` if it wants
 * several permits. Both may be too high (an agent was terminated), but never
 * too low. If agents are not tracked, a sleeper fell asleep on a state that
 * says so; an agent that clears this wakes all.
 * Progress: `tryAcquire()`, `drain` and `release` are lock-free. `acquire`, its
 * async form, and both with a timeout wait. An agent that is terminated while
 * it waits holds up no other, unless it was the claimant: then its claim is
 * lost until `abandon(id)`. If it waited for several permits, later releases
 * wake all. With `tracked`, each agent notes in a row what it holds, so that
 * `abandon(id)` returns exactly that.
 * Fairness: a newcomer may pass sleepers, but not the claimant. A waiter claims
 * once others passed it 8 times; agents that waited before it do not count.
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * released may still be in `release`, unless agents are tracked.
 * C twin: `weft_semaphore`. Source: Dijkstra, EWD 74; giving as musl's
 * `sem_post`.
 *
 * Its words in memory:
 *
 * ```text
 * word 0  magic     Kind and layout version.
 * word 1  tracked   How many agents note what they hold, up to 255; 0 if none
 *                   does.
 * word 2  max       The most permits there can be, up to 2^30 - 1; if agents
 *                   are tracked, 2047.
 * word 3  seal      Check word over the configuration.
 * word 4  permits   bits 0-1    who may sleep here: 0 nobody; 1 agents that
 *                               want one permit; 2 also agents that want
 *                               several; 3 as 2, and there is a debt
 *                   bits 2-31   free permits; with a debt, what the claimant
 *                               still lacks. If agents are tracked:
 *                   bits 0-11   the sequence of the last change, modulo 4096
 *                   bits 12-19  the row of the agent that made it
 *                   bits 20-31  free permits; below 0, what the claimant still
 *                               lacks
 *                   sleepers: agents that want permits
 * word 5  waiters   Operations in the slow path of `acquire`.
 * word 6  bulk      Those of them that want several permits, and the claimant.
 * word 7  claimant  The agent that took its permits in advance, or 0.
 * word 8  claim     How many permits it took.
 * word 9  From word 40 on, if agents are tracked, rows of 32 words. A row has
 *         the id of its agent, or 0; the sequence of the last confirmed change
 *         of that agent; what it holds after its changes with an even sequence;
 *         and the same for an odd one.
 * ```
 */
export class Semaphore extends Region<"semaphore"> {
  readonly #permits: Permits;
  readonly #max: number;
  readonly #tracked: number;

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
    this.#permits = new Permits(words, agentId());
    this.#max = words[MAX]!;
    this.#tracked = words[TRACKED]!;
  }

  /**
   * The bytes a semaphore occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `tracked` or `max` is out of range.
   */
  static byteLength(_permits = 0, config: SemaphoreConfig = {}): number {
    return bytesFor(...configOf(config));
  }

  /**
   * Allocates a semaphore with `permits` free permits, 0 to `max`.
   *
   * @throws {TypeError} If `permits` is not a number, or `config` is not as
   * described.
   * @throws {RangeError} If `permits`, `tracked` or `max` is out of range.
   */
  static create(permits = 0, config?: SemaphoreConfig): Semaphore {
    inRange("Permits", permits, 0, configOf(config)[1]);
    const memory = allocate(Semaphore.byteLength(permits, config));
    return Semaphore.init(memory, 0, permits, config);
  }

  /**
   * Initializes unused memory as a semaphore with `permits` free permits.
   *
   * @throws {TypeError} If `memory` is not shared, `permits` is not a number,
   * or `config` is not as described.
   * @throws {RangeError} If the semaphore does not fit there, or `permits`,
   * `tracked` or `max` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    permits = 0,
    config?: SemaphoreConfig,
  ): Semaphore {
    const [tracked, max] = configOf(config);
    inRange("Permits", permits, 0, max);
    format(
      "semaphore",
      SEMAPHORE,
      memory,
      byteOffset,
      bytesFor(tracked, max),
      [tracked, max],
      (words) => {
        words[PERMITS] = permits << (tracked > 0 ? COUNT_SHIFT : FREE_SHIFT);
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
    return this.#permits.available;
  }

  /** The most permits there can be. */
  get max(): number {
    return this.#max;
  }

  /** How many agents note what they hold: what `tracked` was, or 0. */
  get tracked(): number {
    return this.#tracked;
  }

  /**
   * Permits that this agent holds or, in a wait, claimed in advance; 0 if the
   * semaphore is not tracked.
   */
  get held(): number {
    return this.#permits.held;
  }

  /**
   * Takes `n` permits, and blocks until that is done.
   *
   * @throws {TypeError} If this agent may not block, or `n` is not a number.
   * @throws {RangeError} If `n` is not an integer from 1 to `max`, or the
   * semaphore is tracked, and other agents have all its rows.
   */
  acquire(n = 1): void {
    this.#assertPermits(n);
    assertMayBlock("acquire");
    this.#permits.acquire(n, Infinity);
  }

  /**
   * Takes `n` permits if that many come free within `timeout` ms. Without a
   * timeout it does not wait. Returns whether it took them. Permits that a
   * claimant waits for are not free.
   *
   * @throws {TypeError} If it would wait and this agent may not block, or if
   * `n` or `timeout` is not a number.
   * @throws {RangeError} As `acquire`, or if `timeout` is negative or NaN.
   */
  tryAcquire(n = 1, timeout = 0): boolean {
    this.#assertPermits(n);
    if (timeout !== 0) assertMayTry("tryAcquire", timeout);
    return this.#permits.acquire(n, timeout);
  }

  /**
   * As {@linkcode Semaphore.acquire}, but awaits instead of blocking.
   *
   * @throws {TypeError} If `n` is not a number, or an option is unknown or of a
   * wrong type.
   * @throws {RangeError} As `acquire`, or if `priority` is NaN.
   */
  async acquireAsync(n = 1, options?: TurnOptions): Promise<void> {
    this.#assertPermits(n);
    const start = () => this.#permits.acquireSlow(n);
    await blockInTurn(this.#permits.place, start, options);
  }

  /**
   * As {@linkcode Semaphore.tryAcquire}, but awaits instead of blocking.
   *
   * @throws {TypeError} If `n` is not a number, or an option is unknown or of a
   * wrong type.
   * @throws {RangeError} As `acquire`, or if the timeout is negative or NaN,
   * or `priority` is NaN.
   */
  async tryAcquireAsync(n = 1, options?: TryTurnOptions): Promise<boolean> {
    this.#assertPermits(n);
    const start = () => this.#permits.acquireSlow(n);
    return await tryBlockInTurn(this.#permits.place, start, options);
  }

  /**
   * Operations of all agents that wait, blocking or awaiting. An agent that was
   * terminated while it waited stays counted.
   */
  get waiters(): number {
    return this.#permits.waiters;
  }

  /**
   * How many operations of this agent await permits, and would end by `cancel`.
   */
  get awaiting(): number {
    return awaitingAt(this.#permits.place).length;
  }

  /**
   * Ends what this agent awaits of the semaphore: see `awaiting`. Each of those
   * promises rejects with `reason`, an `AbortError` unless given. Other agents
   * wait on. Returns how many those were.
   */
  cancel(reason: unknown = cancelled()): number {
    return cancelAt(this.#permits.place, reason);
  }

  /**
   * As {@linkcode Semaphore.acquire}, but returns a guard, which a `using`
   * block releases at its end.
   *
   * @throws {TypeError} As `acquire`.
   * @throws {RangeError} As `acquire`.
   */
  permit(n = 1): SemaphorePermit {
    this.acquire(n);
    return new SemaphorePermit(this, n);
  }

  /**
   * Takes all permits that are free, in one step, and returns how many those
   * were: 0 if there were none. It does not wait, and leaves a claimant the
   * permits that it waits for. Return them by {@linkcode Semaphore.release}.
   *
   * Progress: lock-free.
   * C twin: `weft_semaphore_drain`. Source: `drainPermits` of
   * java.util.concurrent.
   *
   * @throws {RangeError} If the semaphore is tracked, and other agents have all
   * its rows.
   *
   * @example All that is ready, at once
   * ```ts
   * import { Semaphore } from "@weft/sync";
   *
   * const ready = Semaphore.create(3); // three tasks are ready
   * console.log(ready.drain(), ready.available); // 3 0
   * ```
   */
  drain(): number {
    return this.#permits.drain();
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
  async permitAsync(n = 1, options?: TurnOptions): Promise<SemaphorePermit> {
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
    options?: TryTurnOptions,
  ): Promise<SemaphorePermit | undefined> {
    return await this.tryAcquireAsync(n, options)
      ? new SemaphorePermit(this, n)
      : undefined;
  }

  /**
   * Calls `fn` while it holds `n` permits, and returns them when `fn` returns
   * or throws. Returns what `fn` returned. For a function that returns a
   * promise, use `runAsync`: `run` releases before the promise is settled.
   *
   * @throws {TypeError} As {@linkcode Semaphore.acquire}, or if `fn` is not a
   * function.
   * @throws {RangeError} As `acquire`.
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
   * @throws {RangeError} As `acquireAsync`.
   */
  async runAsync<T>(
    fn: () => T | PromiseLike<T>,
    n = 1,
    options?: TurnOptions,
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
   * @throws {RangeError} If `n` is not an integer from 1 to `max`, or there
   * would be more than `max` permits.
   */
  release(n = 1): void {
    const max = this.#max;
    inRange("The number of permits to release", n, 1, max);
    const free = this.#permits.release(n);
    if (free < 0) return;
    throw new RangeError(
      `Cannot release ${n} permits: there are ${free}, and at most ${max} are ` +
        `possible`,
    );
  }

  /**
   * Returns the permits that agent `id` held, if the semaphore is tracked;
   * otherwise only those that it claimed in advance, and what it had acquired
   * stays taken. Call it only when that agent will never run again. Returns how
   * many permits came back.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not in the range of agent ids.
   * @throws {DamagedError} If the semaphore is tracked, and its words do not
   * fit together.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, MAX_ID);
    return this.#permits.abandon(id);
  }

  /**
   * Waits until a permit is free.
   *
   * @internal
   */
  readiness(): Waiting<boolean> {
    return this.#permits.readiness();
  }

  #assertPermits(n: number): void {
    inRange("The number of permits to acquire", n, 1, this.#max);
  }
}

/** The bytes of a semaphore with rows for `tracked` agents. */
function bytesFor(tracked: number, max: number): number {
  inRange("The number of tracked agents", tracked, 0, MAX_ROWS);
  inRange("The most permits", max, 1, tracked > 0 ? MAX_COUNT : MAX_PERMITS);
  const length = tracked > 0 ? ROWS + rowsLength(tracked) : SEMAPHORE.length;
  return length * 4;
}

/** The words of a configuration. */
function configOf(
  config: SemaphoreConfig = {},
): [tracked: number, max: number] {
  assertConfig("semaphore", config, ["tracked", "max"]);
  const { tracked = 0 } = config;
  const { max = tracked === 0 ? MAX_PERMITS : MAX_COUNT } = config;
  bytesFor(tracked, max);
  return [tracked, max];
}
