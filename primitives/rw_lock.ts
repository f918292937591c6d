/**
 * A lock that many agents hold for reading, or one for writing.
 *
 * @module
 */

import { LockGuard } from "./_memory/guard.ts";
import { RW_LOCK } from "./_memory/layout.ts";
import {
  allocate,
  assertFunction,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  viewPlain,
} from "./_memory/region.ts";
import { markOf, MAX_ROWS } from "./_memory/tracked.ts";
import {
  assertMayBlock,
  assertMayTry,
  type AsyncOptions,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";
import { OWNER_MASK } from "./_lock/mutex.ts";
import { Lock } from "./_lock/rw_lock.ts";
import { Counted, type Outcome, TRACKED } from "./_lock/rw_lock_counted.ts";
import { Noted } from "./_lock/rw_lock_tracked.ts";
import {
  INSPECTION,
  lengthFor,
  type RwLockConfig,
  trackedOf,
} from "./_lock/rw_lock_config.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { RwLockConfig } from "./_lock/rw_lock_config.ts";
export { LockGuard } from "./_memory/guard.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/**
 * A {@linkcode RwLock} that is held for reading. A `using` block unlocks it at
 * its end, and `unlock` does so earlier. After that the guard holds nothing,
 * and unlocking it again does nothing.
 *
 * @example Two readers at once
 * ```ts
 * import { RwLock } from "@weft/sync";
 *
 * const lock = RwLock.create();
 * {
 *   using _mine = lock.read();
 *   if (lock.tryWrite()) throw new Error("written while it is read");
 * }
 * if (lock.readers !== 0) throw new Error("still read");
 * ```
 */
export class RwReadGuard extends LockGuard {
  #lock: RwLock | undefined;

  /**
   * True if `abandon` ended the writing of a dead agent, and no writer has
   * unlocked since: the data may be half changed.
   */
  readonly abandoned: boolean;

  /** For {@linkcode RwLock}, which makes a guard when it was locked. */
  constructor(lock: RwLock, abandoned: boolean) {
    super();
    this.#lock = lock;
    this.abandoned = abandoned;
  }

  /** Unlocks the lock, if this guard still holds it. */
  unlock(): void {
    const lock = this.#lock;
    this.#lock = undefined;
    lock?.unlockRead();
  }
}

/**
 * A {@linkcode RwLock} that is held for writing. A `using` block unlocks it at
 * its end, and `unlock` does so earlier. After that the guard holds nothing,
 * and unlocking it again does nothing.
 *
 * @example Write, then go on reading
 * ```ts
 * import { RwLock } from "@weft/sync";
 *
 * const lock = RwLock.create();
 * const writing = lock.write();
 * using _reading = writing.downgrade(); // no other writer came between
 * if (lock.readers !== 1) throw new Error("not read");
 * ```
 */
export class RwWriteGuard extends LockGuard {
  #lock: RwLock | undefined;

  /**
   * True if `abandon` ended the writing of a dead agent: the data that the lock
   * protects may be half changed. Repair it before unlocking: later guards have
   * `abandoned` false.
   */
  readonly abandoned: boolean;

  /** For {@linkcode RwLock}, which makes a guard when it was locked. */
  constructor(lock: RwLock, abandoned: boolean) {
    super();
    this.#lock = lock;
    this.abandoned = abandoned;
  }

  /**
   * Ends the writing, but goes on reading: no writer comes between. This guard
   * then holds nothing.
   *
   * @throws {TypeError} If this guard holds nothing already.
   * @throws {RangeError} If the lock is tracked, and other agents have all its
   * rows, or this one has 1023 reads already: it still writes.
   */
  downgrade(): RwReadGuard {
    const lock = this.#lock;
    if (lock === undefined) {
      throw new TypeError("Cannot downgrade a guard that holds nothing");
    }
    const reading = lock.downgrade(); // if it throws, this guard still holds it
    this.#lock = undefined;
    return reading;
  }

  /** Unlocks the lock, if this guard still holds it. */
  unlock(): void {
    const lock = this.#lock;
    this.#lock = undefined;
    lock?.unlockWrite();
  }
}

/**
 * A lock that any number of agents hold for reading, or one for writing.
 *
 * Many read, one writes:
 *
 * ```ts
 * import { RwLock } from "@weft/sync";
 *
 * const lock = RwLock.create(); // post lock.handle to workers
 * const total = new Float64Array(new SharedArrayBuffer(8));
 * {
 *   using _guard = lock.write();
 *   total[0]! += 0.5;
 * }
 * const seen = lock.reading(() => total[0]);
 * if (seen !== 0.5) throw new Error("not written");
 * ```
 *
 * An agent that wants to read while a writer holds the lock, or waits for it,
 * is pending. When the writer unlocks, it lets all pending agents in, before
 * the next writer. So a writer waits for the agents that read when it comes,
 * and a reader waits for one writer. If a writer in line has waited for a
 * millisecond, the writers pass the lock on: then a reader waits for eight
 * writers at most.
 *
 * Invariant: only the owner of `writer` changes WRITING, WANTED and the phase.
 * Agents are pending only while WRITING or WANTED is set. A pending agent that
 * finds another phase is counted as reading. If WANTED is set and `writer`
 * names nobody, then `writer` is kept for a woken writer, or an agent that
 * found it free is about to let readers in.
 * Progress: `tryRead()`, `unlockRead` and `tryWrite()` are lock-free. Locking
 * with a timeout, or without `try`, waits. `abandon(id)` ends the writing, or
 * the waiting, of a terminated writer. Readers leave no name: a reader that is
 * terminated while it reads, or waits to read, keeps writers out for ever. With
 * `tracked`, each agent notes in a row that it reads, and `abandon(id)` ends
 * exactly that. Then no reader changes `state`, and a writer looks at all rows.
 * So `tryRead()` and `tryWrite()` may both fail where they meet.
 * Freed when: every operation of every agent has returned, `unlock` included,
 * and none will begin. A writer lets readers in before its last step. But an
 * agent that writes after others read, and unlocks, need not know that their
 * `unlockRead` has returned, unless the lock is tracked.
 * Fairness: phase-fair, with up to eight writers in a phase; neither side can
 * keep the other out. Among writers, as {@linkcode Mutex} says. An agent must
 * not read twice at once: between the two, a writer may wait for the first. At
 * most 8191 agents read or wait to.
 * C twin: `weft_rw_lock`. Source: Brandenburg and Anderson 2010, phase-fair
 * locks, here in one word, in which both sides can stop waiting.
 *
 * Its words in memory:
 *
 * ```text
 * word 0  state            bits 0-12   agents that read, unless they are
 *                                      tracked
 *                          bits 13-25  pending: agents that will read after
 *                                      this writer, unless they are tracked
 *                          bit 26      WRITING
 *                          bit 27      WANTED: a writer waits until nobody
 *                                      reads, or the lock was passed on to a
 *                                      writer that does not run yet
 *                          bit 28      ASLEEP: that writer may sleep on this
 *                                      word
 *                          bit 29      ABANDONED: a dead writer was recovered
 *                          bits 30-31  the phase: how often pending agents were
 *                                      let in, modulo 4; unless agents are
 *                                      tracked
 *                          sleepers: the writer that waits until nobody reads;
 *                                    if agents are tracked, it sleeps in a row
 * word 1  gate             bit 0      WAITING: pending agents may sleep on this
 *                                     word
 *                          bits 1-31  change after each phase; if agents are
 *                                     tracked, they are the phase
 *                          sleepers: pending agents
 * word 2  writer           The `state` of a mutex among writers. Its owner
 *                          writes, or waits until nobody reads.
 *                          sleepers: writers
 * word 3  writer_starving  The `starving` of that mutex.
 * word 4  tracked          0, or if agents note that they read:
 *                          bits 0-7    how many agents, 1 to 255
 *                          bits 8-15   the same, inverted
 *                          bits 16-31  0x5765
 * word 5  turns            How often the lock was passed on from a writer to
 *                          the next one, modulo 8. When it is 0 again, waiting
 *                          readers come first.
 * word 6  From word 40 on, if agents are tracked, rows of 32 words. A row has
 *         the id of its agent, or 0; and what it reads: bits 0-9: how often;
 *         bits 10-19: how often it waits to read; bits 20-31: the gate's bits
 *         1-12 when it began to wait. A row's agent reads, too, if it waits and
 *         the gate has moved since.
 * ```
 */
export class RwLock extends Region<"rw_lock"> {
  readonly #lock: Lock;

  /**
   * Views the lock at `byteOffset`, a multiple of 4; writes nothing. Zeroed
   * memory is an unlocked lock.
   *
   * @throws {TypeError} If `memory` is not shared, or its word `tracked` is
   * damaged.
   * @throws {RangeError} If the lock does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const plain = viewPlain("rw_lock", RW_LOCK, memory, byteOffset);
    const tracked = plain[TRACKED]! & MAX_ROWS;
    if (plain[TRACKED] !== markOf(tracked)) {
      throw new TypeError(
        `Cannot view a rw_lock: its word \`tracked\` is ${plain[TRACKED]}`,
      );
    }
    const length = lengthFor(tracked);
    const words = viewPlain("rw_lock", { length }, memory, byteOffset);
    super("rw_lock", words, INSPECTION);
    const id = agentId();
    this.#lock = new Lock(
      tracked > 0 ? new Noted(words, tracked, id) : new Counted(words),
      id,
    );
  }

  /**
   * The bytes a lock occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `tracked` is out of range.
   */
  static byteLength(config?: RwLockConfig): number {
    return lengthFor(trackedOf(config)) * 4;
  }

  /**
   * Allocates an unlocked lock.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `tracked` is out of range.
   */
  static create(config?: RwLockConfig): RwLock {
    return RwLock.init(allocate(RwLock.byteLength(config)), 0, config);
  }

  /**
   * Initializes unused memory as an unlocked lock.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not as
   * described.
   * @throws {RangeError} If the lock does not fit there, or `tracked` is out of
   * range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config?: RwLockConfig,
  ): RwLock {
    const tracked = trackedOf(config);
    const length = lengthFor(tracked);
    const words = viewPlain("rw_lock", { length }, memory, byteOffset);
    words.fill(0)[TRACKED] = markOf(tracked);
    return new RwLock(memory, byteOffset);
  }

  /**
   * Attaches to the lock that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind.
   */
  static from(handle: Handle<"rw_lock">): RwLock {
    return new RwLock(...fromHandle("rw_lock", handle));
  }

  /** How many agents read. */
  get readers(): number {
    return this.#lock.readers;
  }

  /** How many agents note that they read: what `tracked` was, or 0. */
  get tracked(): number {
    return this.#lock.tracked;
  }

  /** The id of the agent that writes, or waits for the readers, or 0. */
  get writer(): number {
    return this.#lock.writer;
  }

  /**
   * Locks for reading, and blocks until that is done.
   *
   * @throws {TypeError} If this agent may not block, or holds the lock for
   * writing.
   * @throws {RangeError} If 8191 agents read or wait to; of a tracked lock, also
   * if this agent does so 1023 times, or other agents have all its rows.
   */
  read(): RwReadGuard {
    assertMayBlock("read");
    return this.#readGuard(this.#lock.read(Infinity))!;
  }

  /**
   * Locks for reading if that is possible within `timeout` ms. Without a
   * timeout it does not wait: it locks if no writer holds the lock or waits for
   * it. Returns `undefined` if it did not lock.
   *
   * @throws {TypeError} If it would wait, and this agent may not block or holds
   * the lock for writing; or if `timeout` is not a number.
   * @throws {RangeError} As `read`, or if `timeout` is negative or NaN.
   */
  tryRead(timeout = 0): RwReadGuard | undefined {
    if (timeout === 0) return this.#readGuard(this.#lock.tryRead());
    assertMayTry("tryRead", timeout);
    return this.#readGuard(this.#lock.read(timeout));
  }

  /**
   * As {@linkcode RwLock.read}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} As `read`.
   */
  async readAsync(options?: AsyncOptions): Promise<RwReadGuard> {
    const start = () => this.#lock.reading();
    return this.#readGuard(await blockAsync(start, options))!;
  }

  /**
   * As {@linkcode RwLock.tryRead}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} As `read`, or if the timeout is negative or NaN.
   */
  async tryReadAsync(
    options?: TryAsyncOptions,
  ): Promise<RwReadGuard | undefined> {
    const start = () => this.#lock.reading();
    return this.#readGuard(await tryBlockAsync(start, options));
  }

  /**
   * Calls `fn` with the lock held for reading, and unlocks it when `fn` returns
   * or throws. Returns what `fn` returned. For a function that returns a
   * promise, use `readingAsync`: `reading` unlocks before the promise is
   * settled.
   *
   * @throws {TypeError} As {@linkcode RwLock.read}, or if `fn` is not a
   * function.
   * @throws {RangeError} As `read`.
   */
  reading<T>(fn: (guard: RwReadGuard) => T): T {
    assertFunction(fn);
    const guard = this.read();
    try {
      return fn(guard);
    } finally {
      guard.unlock();
    }
  }

  /**
   * As {@linkcode RwLock.reading}, but awaits the lock, and then what `fn`
   * returns.
   *
   * @throws {TypeError} If `fn` is not a function, or an option is unknown or
   * of a wrong type.
   * @throws {RangeError} As `read`.
   */
  async readingAsync<T>(
    fn: (guard: RwReadGuard) => T | PromiseLike<T>,
    options?: AsyncOptions,
  ): Promise<T> {
    assertFunction(fn);
    const guard = await this.readAsync(options);
    try {
      return await fn(guard);
    } finally {
      guard.unlock();
    }
  }

  /**
   * Locks for writing, and blocks until that is done. Agents that want to read
   * meanwhile wait until it is unlocked.
   *
   * @throws {TypeError} If this agent may not block, or holds the lock for
   * writing, or a `writeAsync` of its own is next in line.
   */
  write(): RwWriteGuard {
    assertMayBlock("write");
    return this.#writeGuard(this.#lock.write(Infinity))!;
  }

  /**
   * Locks for writing if that is possible within `timeout` ms. Without a
   * timeout it does not wait: it locks if no agent holds the lock. Returns
   * `undefined` if it did not lock.
   *
   * @throws {TypeError} If it would wait, and this agent may not block or holds
   * the lock for writing; or if `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryWrite(timeout = 0): RwWriteGuard | undefined {
    if (timeout === 0) return this.#writeGuard(this.#lock.tryWrite());
    assertMayTry("tryWrite", timeout);
    return this.#writeGuard(this.#lock.write(timeout));
  }

  /**
   * As {@linkcode RwLock.write}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   */
  async writeAsync(options?: AsyncOptions): Promise<RwWriteGuard> {
    const start = () => this.#lock.writing();
    return this.#writeGuard(await blockAsync(start, options))!;
  }

  /**
   * As {@linkcode RwLock.tryWrite}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN.
   */
  async tryWriteAsync(
    options?: TryAsyncOptions,
  ): Promise<RwWriteGuard | undefined> {
    const start = () => this.#lock.writing();
    return this.#writeGuard(await tryBlockAsync(start, options));
  }

  /**
   * Calls `fn` with the lock held for writing, and unlocks it when `fn` returns
   * or throws. Returns what `fn` returned. For a function that returns a
   * promise, use `writingAsync`: `writing` unlocks before the promise is
   * settled.
   *
   * @throws {TypeError} As {@linkcode RwLock.write}, or if `fn` is not a
   * function.
   */
  writing<T>(fn: (guard: RwWriteGuard) => T): T {
    assertFunction(fn);
    const guard = this.write();
    try {
      return fn(guard);
    } finally {
      guard.unlock();
    }
  }

  /**
   * As {@linkcode RwLock.writing}, but awaits the lock, and then what `fn`
   * returns.
   *
   * @throws {TypeError} If `fn` is not a function, or an option is unknown or
   * of a wrong type.
   */
  async writingAsync<T>(
    fn: (guard: RwWriteGuard) => T | PromiseLike<T>,
    options?: AsyncOptions,
  ): Promise<T> {
    assertFunction(fn);
    const guard = await this.writeAsync(options);
    try {
      return await fn(guard);
    } finally {
      guard.unlock();
    }
  }

  /**
   * Ends the reading of one agent. The last reader wakes the writer that waits.
   *
   * @throws {TypeError} If no agent reads; if the lock is tracked, if this
   * agent does not.
   */
  unlockRead(): void {
    this.#lock.unlockRead();
  }

  /**
   * Ends the writing, and lets the agents in that wait to read.
   *
   * @throws {TypeError} If this agent does not hold the lock for writing.
   */
  unlockWrite(): void {
    this.#lock.unlockWrite();
  }

  /**
   * Ends the writing, but goes on reading, and lets the agents in that wait to
   * read. No writer comes between.
   *
   * @throws {TypeError} If this agent does not hold the lock for writing.
   * @throws {RangeError} If the lock is tracked, and other agents have all its
   * rows, or this one has 1023 reads already: it still writes.
   */
  downgrade(): RwReadGuard {
    this.#lock.downgrade();
    return new RwReadGuard(this, false);
  }

  /**
   * Ends the writing of agent `id`, or its waiting for the readers; if the lock
   * is tracked, also its reading. Call it only when that agent will never run
   * again. If it wrote, guards have `abandoned` set until a writer has
   * unlocked. Returns how many of these there were.
   *
   * C twin: `weft_rw_lock_abandon`; locking gives `EOWNERDEAD`.
   *
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    return this.#lock.abandon(id);
  }

  /**
   * Ends the reading of agent `id`, and its waiting to read, and nothing else.
   * Call it only when that agent will never run again. Returns how often it
   * read; 0 if the lock is not tracked.
   *
   * C twin: `weft_rw_lock_abandon_reading`.
   *
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandonReading(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    return this.#lock.abandonReading(id);
  }

  #readGuard(outcome: Outcome): RwReadGuard | undefined {
    return outcome === false
      ? undefined
      : new RwReadGuard(this, outcome === "abandoned");
  }

  #writeGuard(outcome: Outcome): RwWriteGuard | undefined {
    return outcome === false
      ? undefined
      : new RwWriteGuard(this, outcome === "abandoned");
  }
}
