/**
 * A lock that many agents hold for reading, or one for writing.
 *
 * @module
 */

import { LockGuard } from "./_memory/guard.ts";
import { RW_LOCK } from "./_layout.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import {
  MAX_READS,
  ONE_PENDING as ONE_WAIT,
  Readers,
  readingOf,
  READS,
  settled,
} from "./_memory/readers.ts";
import {
  allocate,
  assertConfig,
  assertFunction,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  viewPlain,
  type WordsInspection,
} from "./_memory/region.ts";
import { relax, spinning } from "./_wait/spin.ts";
import { markOf, MAX_ROWS, ROW, rowsLength } from "./_memory/tracked.ts";
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
import {
  CONTENDED_BIT,
  HANDOFF_BIT,
  inherit,
  KEPT,
  lockSlow,
  OWNER_MASK,
  tryLock,
  unlock,
  UNLOCKED,
} from "./_lock/mutex.ts";
import { tellOfLock } from "./mutex.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export { LockGuard } from "./_memory/guard.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

const STATE: typeof RW_LOCK.state = 0;
const GATE: typeof RW_LOCK.gate = 1;
const WRITER: typeof RW_LOCK.writer = 2;
const STARVING: typeof RW_LOCK.writer_starving = 3;
const TRACKED: typeof RW_LOCK.tracked = 4;
const TURNS: typeof RW_LOCK.turns = 5;

/** Where the rows of a tracked lock begin. */
const ROWS = 40;

/** In `state`. */
const READING_MASK = 0x1fff; // RW_LOCK_BITS.READING
const ONE_PENDING = 0x2000; // RW_LOCK_BITS.PENDING
const PENDING_MASK = 0x03ff_e000; // RW_LOCK_BITS.PENDING
const WRITING_BIT = 0x0400_0000; // RW_LOCK_BITS.WRITING
const WANTED_BIT = 0x0800_0000; // RW_LOCK_BITS.WANTED
const ASLEEP_BIT = 0x1000_0000; // RW_LOCK_BITS.ASLEEP
const ABANDONED_BIT = 0x2000_0000; // RW_LOCK_BITS.ABANDONED
const ONE_PHASE = 0x4000_0000; // RW_LOCK_BITS.PHASE
const PHASE_MASK = -0x4000_0000; // RW_LOCK_BITS.PHASE

/** In `gate`: readers may sleep on it. */
const WAITING_BIT = 1; // RW_LOCK_BITS.WAITING
const ONE_OPENING = 2; // RW_LOCK_BITS.OPENING

/** The most agents that read or wait to read. */
const MAX_READERS = 0x1fff; // RW_LOCK_BITS.READING

/**
 * An agent goes on reading for WINDOW ms while a writer that was handed the lock
 * has not run yet. Then it sleeps for PAUSE ms, to give the writer a core.
 */
const WINDOW = 0.5, PAUSE = 2;

/** While readers wait, at most this many + 1 writers follow one another. */
const TURNS_MASK = 7; // RW_LOCK_BITS.TURNS

/**
 * How long, in ms, a reader waits for a lock that is passed on before it looks
 * again: the next writer may have been terminated, or its agent may be busy.
 */
const LOOK = 100;

/** Set while an agent writes, or waits until nobody reads. */
const BUSY_BITS = 0x0c00_0000; // RW_LOCK_BITS.WRITING | WANTED

/** How an attempt to lock ended. */
type Outcome = false | "locked" | "abandoned";

/** What a reader saw when it began to wait. */
interface Ticket {
  /** The state at which it was counted as pending. */
  readonly state: number;
  /** The gate after that. */
  readonly gate: number;
}

/**
 * A {@linkcode RwLock} that is held for reading. A `using` block unlocks it at
 * its end, and `unlock` does so earlier. After that the guard holds nothing, and
 * unlocking it again does nothing.
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
 * its end, and `unlock` does so earlier. After that the guard holds nothing, and
 * unlocking it again does nothing.
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
   */
  downgrade(): RwReadGuard {
    const lock = this.#lock;
    if (lock === undefined) {
      throw new TypeError("Cannot downgrade a guard that holds nothing");
    }
    this.#lock = undefined;
    return lock.downgrade();
  }

  /** Unlocks the lock, if this guard still holds it. */
  unlock(): void {
    const lock = this.#lock;
    this.#lock = undefined;
    lock?.unlockWrite();
  }
}

/** The configuration of a lock. */
export interface RwLockConfig {
  /**
   * How many agents note that they read, 1 to 255; 0, unless given, if none
   * does. Each has a row of 128 bytes. Then `abandon` ends exactly what a dead
   * agent read.
   */
  readonly tracked?: number;
}

/**
 * How `inspect` reads a lock.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: RW_LOCK,
  owner: (words) => words[WRITER]! & OWNER_MASK,
  waiters: (words) => {
    const state = words[STATE]!;
    const pending = words[TRACKED] === 0
      ? (state & PENDING_MASK) / ONE_PENDING
      : words[GATE]! & WAITING_BIT; // somebody
    const asleep = state & ASLEEP_BIT ? 1 : 0; // the writer, until readers end
    return pending + asleep + (words[WRITER]! & CONTENDED_BIT ? 1 : 0);
  },
};

/**
 * The facts by which `inspect` finds problems.
 *
 * @ignore
 */
export const PROBLEMS: WordsProblems = {
  problems: (words, tell) => {
    const state = words[STATE]!;
    const writes = (state & WRITING_BIT) !== 0;
    const owned = (words[WRITER]! & OWNER_MASK) !== 0;
    tell(
      writes && (state & READING_MASK) !== 0,
      STATE,
      "An agent writes while others read.",
    );
    tell(writes && !owned, STATE, "An agent writes, but `writer` names none.");
    tellOfLock(words, WRITER, tell);
    const tracked = words[TRACKED]!;
    const wrong = tracked !== markOf(tracked & MAX_ROWS);
    tell(
      wrong,
      TRACKED,
      "It must be 0, or agents with their complement.",
    );
    tell(
      tracked !== 0 && (state & (READING_MASK | PENDING_MASK)) !== 0,
      STATE,
      "It counts readers, which are tracked.",
    );
  },
};

/**
 * A lock that any number of agents hold for reading, or one for writing.
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
 *
 * An agent that wants to read while a writer holds the lock, or waits for it, is
 * pending. When the writer unlocks, it lets all pending agents in, before the
 * next writer. So a writer waits for the agents that read when it comes, and a
 * reader waits for one writer. If a writer in line has waited for a millisecond,
 * the writers pass the lock on: then a reader waits for eight writers at most.
 *
 * Invariant: only the owner of `writer` changes WRITING, WANTED and the phase.
 * Agents are pending only while WRITING or WANTED is set. A pending agent that
 * finds another phase is counted as reading. If WANTED is set and `writer` names
 * nobody, then `writer` is kept for a woken writer, or an agent that found it
 * free is about to let readers in.
 * Progress: `tryRead()`, `unlockRead` and `tryWrite()` are lock-free. Locking
 * with a timeout, or without `try`, waits. `abandon(id)` ends the writing, or
 * the waiting, of a terminated writer. Readers leave no name: a reader that is
 * terminated while it reads, or waits to read, keeps writers out for ever. With
 * `tracked`, each agent notes in a row that it reads, and `abandon(id)` ends
 * exactly that. Then no reader changes `state`, and a writer looks at all rows.
 * So `tryRead()` and `tryWrite()` may both fail where they meet.
 * Freed when: every operation of every agent has returned, `unlock` included,
 * and none will begin. A writer lets readers in before its last step.
 * Fairness: phase-fair, with up to eight writers in a phase; neither side can
 * keep the other out. Among writers, as {@linkcode Mutex} says. An agent must
 * not read twice at once: between the two, a writer may wait for the first. At
 * most 8191 agents read or wait to.
 * C twin: `weft_rw_lock`. Source: Brandenburg and Anderson 2010, phase-fair
 * locks, here in one word, in which both sides can stop waiting.
 *
 * @example Many read, one writes
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
 */
export class RwLock extends Region<"rw_lock"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** The mutex of the agents that want to write. */
  readonly #writer: Int32Array<SharedArrayBuffer>;
  /** The rows of agents that note that they read. */
  readonly #rows: Readers | undefined;
  /** The gate when a hand-off to a writer was first seen. */
  #gateSeen = 0;
  /** When that was. */
  #since = 0;

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
    this.#words = words;
    this.#id = id;
    this.#writer = words.subarray(WRITER);
    if (tracked !== 0) this.#rows = new Readers(words, ROWS, tracked, id);
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
    const words = this.#words;
    return this.#rows?.count(Atomics.load(words, GATE)) ??
      Atomics.load(words, STATE) & READING_MASK;
  }

  /** How many agents note that they read: what `tracked` was, or 0. */
  get tracked(): number {
    return this.#rows?.agents ?? 0;
  }

  /** The id of the agent that writes, or waits for the readers, or 0. */
  get writer(): number {
    return Atomics.load(this.#words, WRITER) & OWNER_MASK;
  }

  /**
   * Locks for reading, and blocks until that is done.
   *
   * @throws {TypeError} If this agent may not block, or holds the lock for
   * writing.
   * @throws {RangeError} If 8191 agents read or wait to.
   */
  read(): RwReadGuard {
    assertMayBlock("read");
    return this.#read(Infinity)!;
  }

  /**
   * Locks for reading if that is possible within `timeout` ms. Without a timeout
   * it does not wait: it locks if no writer holds the lock or waits for it.
   * Returns `undefined` if it did not lock.
   *
   * @throws {TypeError} If it would wait, and this agent may not block or holds
   * the lock for writing; or if `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN, or 8191 agents read or
   * wait to.
   */
  tryRead(timeout = 0): RwReadGuard | undefined {
    if (timeout === 0) return this.#tryRead();
    assertTimeout(timeout);
    assertMayBlock("tryRead");
    return this.#read(timeout);
  }

  /**
   * As {@linkcode RwLock.read}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If 8191 agents read or wait to.
   */
  async readAsync(options?: AsyncOptions): Promise<RwReadGuard> {
    const start = () => this.#readSlow(this.#pend(BUSY_BITS));
    return this.#readGuardOf(await blockAsync(start, options))!;
  }

  /**
   * As {@linkcode RwLock.tryRead}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN, or 8191 agents read
   * or wait to.
   */
  async tryReadAsync(
    options?: TryAsyncOptions,
  ): Promise<RwReadGuard | undefined> {
    const start = () => this.#readSlow(this.#pend(BUSY_BITS));
    return this.#readGuardOf(await tryBlockAsync(start, options));
  }

  /**
   * Calls `fn` with the lock held for reading, and unlocks it when `fn` returns
   * or throws. Returns what `fn` returned. For a function that returns a
   * promise, use `readingAsync`: `reading` unlocks before the promise is
   * settled.
   *
   * @throws {TypeError} As {@linkcode RwLock.read}, or if `fn` is not a
   * function.
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
    return this.#write(Infinity)!;
  }

  /**
   * Locks for writing if that is possible within `timeout` ms. Without a timeout
   * it does not wait: it locks if no agent holds the lock. Returns `undefined`
   * if it did not lock.
   *
   * @throws {TypeError} If it would wait, and this agent may not block or holds
   * the lock for writing; or if `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryWrite(timeout = 0): RwWriteGuard | undefined {
    if (timeout !== 0) {
      assertTimeout(timeout);
      assertMayBlock("tryWrite");
      return this.#write(timeout);
    }
    if (tryLock(this.#writer, this.#id) === false) return undefined;
    const outcome = this.#rows === undefined
      ? this.#hold()
      : this.#tryHoldTracked(this.#rows);
    if (outcome === false) this.#unlockWriter();
    return this.#writeGuardOf(outcome);
  }

  /**
   * As {@linkcode RwLock.write}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   */
  async writeAsync(options?: AsyncOptions): Promise<RwWriteGuard> {
    const start = () => this.#writeSlow(false, UNLOCKED);
    return this.#writeGuardOf(await blockAsync(start, options))!;
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
    const start = () => this.#writeSlow(false, UNLOCKED);
    return this.#writeGuardOf(await tryBlockAsync(start, options));
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
   * @throws {TypeError} If no agent reads; if the lock is tracked, if this agent
   * does not.
   */
  unlockRead(): void {
    const words = this.#words;
    if (this.#rows !== undefined) return this.#unlockTracked(this.#rows);
    // An agent that reads sees at least its own reading.
    if ((words[STATE]! & READING_MASK) === 0) {
      throw new TypeError("Cannot unlock: no agent reads");
    }
    const state = Atomics.sub(words, STATE, 1);
    const last = 1 | WANTED_BIT | ASLEEP_BIT;
    if ((state & (READING_MASK | WANTED_BIT | ASLEEP_BIT)) === last) {
      Atomics.notify(words, STATE, 1);
    }
  }

  /**
   * Ends the writing, and lets the agents in that wait to read.
   *
   * @throws {TypeError} If this agent does not hold the lock for writing.
   */
  unlockWrite(): void {
    this.#assertWriting("unlock");
    // A hint: a writer that begins to starve may be seen later.
    if (this.#words[STARVING] !== 0 && this.#passOn()) return;
    this.#leave(0, 0);
    this.#unlockWriter();
  }

  /**
   * Ends the writing, but goes on reading, and lets the agents in that wait to
   * read. No writer comes between.
   *
   * @throws {TypeError} If this agent does not hold the lock for writing.
   */
  downgrade(): RwReadGuard {
    this.#assertWriting("downgrade");
    const rows = this.#rows;
    if (rows !== undefined) this.#addReads(rows.room(), 1);
    this.#leave(1, 0);
    this.#unlockWriter();
    return new RwReadGuard(this, false);
  }

  /**
   * Ends the writing of agent `id`, or its waiting for the readers; if the lock
   * is tracked, also its reading. Call it only when that agent will never run
   * again. If it wrote, guards have `abandoned` set until a writer has unlocked.
   * Returns how many of these there were.
   *
   * C twin: `weft_rw_lock_abandon`; locking gives `EOWNERDEAD`.
   *
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number): number {
    const reads = this.abandonReading(id);
    if (!inherit(this.#writer, id, this.#id)) {
      this.#takeBack(); // the lock may have been passed on to the dead agent
      return reads;
    }
    const writing = Atomics.load(this.#words, STATE) & WRITING_BIT;
    this.#leave(0, writing ? ABANDONED_BIT : 0);
    // The dead agent may have let agents in without opening the gate.
    this.#open();
    this.#unlockWriter();
    return reads + 1;
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
    const rows = this.#rows;
    if (rows === undefined || id === 0) return 0;
    const words = this.#words;
    const gate = Atomics.load(words, GATE);
    let sum = 0;
    for (let at = ROWS; at < words.length; at += ROW) {
      // (H) From here on, this agent alone changes the row.
      if (Atomics.compareExchange(words, at, id, this.#id) !== id) continue;
      sum += readingOf(Atomics.exchange(words, at + READS, 0), gate);
      this.#wakeWriter(at + READS);
      Atomics.store(words, at, 0);
    }
    return sum;
  }

  #tryRead(): RwReadGuard | undefined {
    const words = this.#words;
    if (this.#rows !== undefined) return this.#tryReadTracked(this.#rows);
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      const expected = state;
      if (state & BUSY_BITS) {
        state = Atomics.load(words, STATE);
        if (state & BUSY_BITS) return undefined;
        continue;
      }
      if ((state & READING_MASK) === MAX_READERS) {
        state = Atomics.load(words, STATE);
        if (state === expected) throw tooMany();
        continue;
      }
      state = Atomics.compareExchange(words, STATE, expected, state + 1);
      if (state === expected) return this.#readGuard(state);
    }
  }

  /** Locks for reading, blocking at most `timeout` ms. */
  #read(timeout: number): RwReadGuard | undefined {
    const words = this.#words;
    if (words[WRITER]! & HANDOFF_BIT && spinning.rounds > 0) this.#giveWay();
    const guard = this.#tryRead();
    if (guard !== undefined) return guard;
    const own = this.writer === this.#id;
    if (own && this.#isWriting()) throw this.#twice();
    // If a `writeAsync` of this agent waits, it must not wait for itself.
    const ticket = this.#pend(own ? WRITING_BIT : BUSY_BITS);
    if (ticket === undefined) return this.#readGuard(this.#words[STATE]!);
    for (let i = spinning.rounds; i > 0 && this.#rows === undefined; i--) {
      relax();
      const state = Atomics.load(this.#words, STATE);
      if ((state ^ ticket.state) & PHASE_MASK) return this.#readGuard(state);
    }
    return this.#readGuardOf(block(this.#readSlow(ticket), timeout));
  }

  /** Locks for writing, blocking at most `timeout` ms. */
  #write(timeout: number): RwWriteGuard | undefined {
    const words = this.#words;
    const state = Atomics.compareExchange(words, WRITER, UNLOCKED, this.#id);
    if ((state & OWNER_MASK) === this.#id) throw this.#twice();
    if (state === UNLOCKED) {
      let outcome = this.#hold();
      if (outcome === false) {
        if (this.#rows === undefined) Atomics.or(words, STATE, WANTED_BIT);
        for (let i = spinning.rounds; i > 0 && outcome === false; i--) {
          relax();
          outcome = this.#hold();
        }
      }
      if (outcome !== false) return this.#writeGuardOf(outcome);
    }
    const path = this.#writeSlow(state === UNLOCKED, state);
    return this.#writeGuardOf(block(path, timeout));
  }

  #unlockWriter(): void {
    unlock(this.#writer, this.#id);
  }

  #readGuard(state: number): RwReadGuard {
    return new RwReadGuard(this, (state & ABANDONED_BIT) !== 0);
  }

  #readGuardOf(outcome: Outcome): RwReadGuard | undefined {
    return outcome === false
      ? undefined
      : new RwReadGuard(this, outcome === "abandoned");
  }

  #writeGuardOf(outcome: Outcome): RwWriteGuard | undefined {
    return outcome === false
      ? undefined
      : new RwWriteGuard(this, outcome === "abandoned");
  }

  /** Whether this agent writes. Plain reads see what this agent wrote. */
  #isWriting(): boolean {
    const words = this.#words;
    return (words[WRITER]! & OWNER_MASK) === this.#id &&
      (words[STATE]! & WRITING_BIT) !== 0;
  }

  #twice(): TypeError {
    return new TypeError(
      `Cannot lock twice: agent ${this.#id} holds the lock for writing, or ` +
        `awaits it`,
    );
  }

  #assertWriting(what: string): void {
    if (this.#isWriting()) return;
    throw new TypeError(
      `Cannot ${what}: agent ${this.#id} does not hold the lock for writing`,
    );
  }

  /**
   * Gives way to a writer that was handed the lock and waits for a core. Where
   * 64 agents share two cores, the readers would keep that writer from running.
   */
  #giveWay(): void {
    const words = this.#words;
    const gate = words[GATE]!; // a hint: it only tells one hand-off from another
    const now = performance.now();
    if (gate !== this.#gateSeen) {
      this.#gateSeen = gate;
      this.#since = now;
    } else if (now - this.#since > WINDOW) {
      Atomics.wait(words, GATE, gate, PAUSE);
    }
  }

  /**
   * Counts this agent as pending if one of `bits` is set. Else it reads at once,
   * and there is no ticket.
   */
  #pend(bits: number): Ticket | undefined {
    const words = this.#words;
    if (this.#rows !== undefined) return this.#pendTracked(this.#rows, bits);
    let state = Atomics.load(words, STATE);
    for (;;) {
      const expected = state;
      const waits = (state & bits) !== 0;
      const pending = (state & PENDING_MASK) / ONE_PENDING;
      // A downgrade may add one more reader.
      const most = waits ? MAX_READERS - 1 : MAX_READERS;
      if ((state & READING_MASK) + pending >= most) throw tooMany();
      const next = state + (waits ? ONE_PENDING : 1);
      state = Atomics.compareExchange(words, STATE, expected, next | 0);
      if (state !== expected) continue;
      return waits ? { state, gate: Atomics.load(words, GATE) } : undefined;
    }
  }

  /** Waits until a writer lets this agent in. */
  *#readSlow(ticket: Ticket | undefined): Waiting<Outcome> {
    const words = this.#words;
    const rows = this.#rows;
    let last = false;
    while (ticket !== undefined) {
      const gate = Atomics.load(words, GATE); // before the look at the phase
      const state = Atomics.load(words, STATE);
      if (isIn(ticket, state, gate, rows === undefined ? 2 : 1)) {
        // Two awaits of this agent may be let in at once.
        if (rows !== undefined) this.#settle(rows.mine, gate);
        break;
      }
      if (last && rows !== undefined) {
        this.#addReads(rows.mine, -ONE_WAIT);
        return false;
      }
      if (last) {
        const left = state - ONE_PENDING | 0;
        const seen = Atomics.compareExchange(words, STATE, state, left);
        if (seen === state) return false;
        continue;
      }
      const waiting = gate | WAITING_BIT;
      if (
        gate !== waiting &&
        Atomics.compareExchange(words, GATE, gate, waiting) !== gate
      ) continue;
      const outcome = yield words[STARVING] === 0
        ? { words, index: GATE, value: waiting }
        : { words, index: GATE, value: waiting, atMost: LOOK };
      if (outcome === "looked") this.#takeBack();
      last = outcome === "timed-out";
    }
    const abandoned = Atomics.load(words, STATE) & ABANDONED_BIT;
    return abandoned ? "abandoned" : "locked";
  }

  /** Takes the lock for the owner of `writer`, if no agent reads. */
  #hold(): Outcome {
    const words = this.#words;
    if (this.#rows !== undefined) {
      return this.#holdTracked(this.#rows, WANTED_BIT);
    }
    let state = words[STATE]!; // a hint: the exchange below checks it
    if (state & READING_MASK) state = Atomics.load(words, STATE);
    while ((state & READING_MASK) === 0) {
      const expected = state;
      const held = state & ~(WANTED_BIT | ASLEEP_BIT) | WRITING_BIT;
      state = Atomics.compareExchange(words, STATE, expected, held);
      if (state !== expected) continue;
      return state & ABANDONED_BIT ? "abandoned" : "locked";
    }
    return false;
  }

  /** Waits for other writers, and then for the readers. */
  *#writeSlow(owned: boolean, seen: number): Waiting<Outcome> {
    const words = this.#words;
    if (!owned) {
      const outcome = yield* lockSlow(this.#writer, this.#id, seen, true);
      if (outcome === false) {
        this.#takeBack(); // the lock may have been passed on to this writer
        return false;
      }
    }
    let last = false;
    const rows = this.#rows;
    const bits = WANTED_BIT | ASLEEP_BIT;
    for (;;) {
      const outcome = rows === undefined
        ? this.#hold()
        : this.#holdTracked(rows, bits);
      if (outcome !== false) return outcome;
      if (last) break;
      let index: number = STATE, value;
      if (rows === undefined) {
        value = Atomics.or(words, STATE, bits) | bits;
        if ((value & READING_MASK) === 0) continue;
      } else {
        const gate = words[GATE]!; // only this agent changes the phase now
        index = rows.blocking(gate);
        if (index < 0) continue;
        value = Atomics.load(words, index);
        if (readingOf(value, gate) === 0) continue;
      }
      last = (yield { words, index, value }) === "timed-out";
    }
    this.#leave(0, 0);
    this.#unlockWriter();
    return false;
  }

  /**
   * Passes the lock on to the next writer in line, and keeps readers waiting.
   * Where many agents share few cores, the readers between two writers may
   * need 100 ms, so a writer behind seven others would wait for a second.
   * Returns false if this agent still owns `writer`.
   */
  #passOn(): boolean {
    const words = this.#words;
    // If CONTENDED is set, only the owner changes the word now.
    if ((words[WRITER]! & CONTENDED_BIT) === 0) return false;
    const turns = words[TURNS]! + 1 & TURNS_MASK;
    words[TURNS] = turns; // published by (K)
    if (turns === 0) return false;
    const abandoned = words[STATE]! & ABANDONED_BIT;
    Atomics.add(words, STATE, WANTED_BIT - WRITING_BIT - abandoned);
    Atomics.store(words, WRITER, KEPT); // (K)
    if (Atomics.notify(words, WRITER, 1) > 0) return true;
    // Nobody slept: the starving writer gave up, or was terminated.
    return tryLock(this.#writer, this.#id) === false;
  }

  /** Lets readers in if the lock was passed on to a writer that did not come. */
  #takeBack(): void {
    const state = Atomics.load(this.#words, STATE);
    if ((state & BUSY_BITS) === 0 || this.writer !== 0) return;
    if (tryLock(this.#writer, this.#id) === false) return;
    this.#leave(0, 0);
    this.#unlockWriter();
  }

  /**
   * Ends the phase of the owner of `writer`, whether it wrote or only waited:
   * all pending agents read now, and `more` agents besides.
   */
  #leave(more: number, abandoned: number): void {
    const words = this.#words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    if (this.#rows !== undefined) {
      const kept = state & WRITING_BIT ? 0 : state & ABANDONED_BIT;
      // In this order: whoever still sees the writer sees the old phase, too.
      Atomics.store(words, STATE, kept | abandoned);
      return this.#open();
    }
    for (;;) {
      const expected = state;
      const pending = (state & PENDING_MASK) / ONE_PENDING;
      const kept = READING_MASK | PHASE_MASK |
        (state & WRITING_BIT ? 0 : ABANDONED_BIT);
      const next = (state & kept | abandoned) + more + pending +
        (pending > 0 ? ONE_PHASE : 0);
      state = Atomics.compareExchange(words, STATE, expected, next | 0);
      if (state !== expected) continue;
      if (pending > 0) this.#open();
      return;
    }
  }

  /** Reads, as the row of this agent says, unless a writer is there. */
  #tryReadTracked(rows: Readers): RwReadGuard | undefined {
    const words = this.#words;
    // A hint, unless it says no: it is looked at again below.
    if (words[STATE]! & BUSY_BITS && Atomics.load(words, STATE) & BUSY_BITS) {
      return undefined;
    }
    const at = rows.room();
    // (R) Note it, then look again. Pairs with (V).
    Atomics.store(words, at, words[at]! + 1);
    const state = Atomics.load(words, STATE);
    if ((state & BUSY_BITS) === 0) return this.#readGuard(state);
    this.#addReads(at, -1);
  }

  /** As `#pend`, in the row of this agent. */
  #pendTracked(rows: Readers, bits: number): Ticket | undefined {
    const words = this.#words;
    const at = rows.room();
    for (;;) {
      const gate = Atomics.load(words, GATE);
      this.#settle(at, gate);
      this.#addReads(at, ONE_WAIT);
      const state = Atomics.load(words, STATE);
      if (state & bits) {
        // (P) The writer that was seen has yet to end this phase. If the phase
        // is over, another writer may not have seen this agent.
        if (((Atomics.load(words, GATE) ^ gate) & ~WAITING_BIT) === 0) {
          return { state, gate };
        }
        this.#addReads(at, -ONE_WAIT);
        continue;
      }
      Atomics.store(words, at, words[at]! - ONE_WAIT + 1); // (R)
      if ((Atomics.load(words, STATE) & bits) === 0) return undefined;
      this.#addReads(at, -1);
    }
  }

  #unlockTracked(rows: Readers): void {
    const at = rows.mine;
    // Plainly: this agent wrote it.
    if (at < 0 || (this.#words[at]! & MAX_READS) === 0) {
      throw new TypeError("Cannot unlock: this agent does not read");
    }
    this.#addReads(at, -1);
  }

  /** Changes the word in which this agent notes what it reads. */
  #addReads(at: number, n: number): void {
    const words = this.#words;
    Atomics.store(words, at, words[at]! + n);
    if (n < 0) this.#wakeWriter(at);
  }

  /** Notes that what was pending reads, if it was let in. */
  #settle(at: number, gate: number): void {
    const words = this.#words;
    const reads = words[at]!; // this agent wrote it
    const next = settled(reads, gate);
    if (next !== reads) Atomics.store(words, at, next);
  }

  /** Wakes the writer that may sleep at `at`, as somebody reads there. */
  #wakeWriter(at: number): void {
    const words = this.#words;
    if (Atomics.load(words, STATE) & ASLEEP_BIT) Atomics.notify(words, at);
  }

  /** As `#hold`; if agents read, `bits` say that this agent waits. */
  #holdTracked(rows: Readers, bits: number): Outcome {
    const words = this.#words;
    const state = words[STATE]!; // only the owner of `writer` changes it
    // (V) Announce, then look at the readers. Pairs with (R).
    if ((state & bits) !== bits) Atomics.store(words, STATE, state | bits);
    if (rows.blocking(words[GATE]!) >= 0) return false;
    const abandoned = state & ABANDONED_BIT;
    Atomics.store(words, STATE, abandoned | WRITING_BIT);
    return abandoned ? "abandoned" : "locked";
  }

  /** As `#hold`, for `tryWrite()`. */
  #tryHoldTracked(rows: Readers): Outcome {
    // If somebody reads, others may go on reading.
    if (rows.blocking(Atomics.load(this.#words, GATE)) >= 0) return false;
    const outcome = this.#holdTracked(rows, WANTED_BIT);
    if (outcome === false) this.#leave(0, 0);
    return outcome;
  }

  /** Wakes the agents that were let in. */
  #open(): void {
    const words = this.#words;
    let gate = Atomics.load(words, GATE);
    for (;;) {
      const expected = gate;
      const next = (gate & ~WAITING_BIT) + ONE_OPENING | 0;
      gate = Atomics.compareExchange(words, GATE, expected, next);
      if (gate !== expected) continue;
      if (gate & WAITING_BIT) Atomics.notify(words, GATE);
      return;
    }
  }
}

/**
 * Whether the agent that waits with `ticket` was let in. After four phases the
 * phase looks the same again; but by then the gate has moved by two, even if
 * one opening was due before the ticket. If the lock is tracked, the gate alone
 * has the phase, and one opening is enough.
 */
function isIn(
  ticket: Ticket,
  state: number,
  gate: number,
  openings: number,
): boolean {
  if ((state ^ ticket.state) & PHASE_MASK) return true;
  const moved = (gate & ~WAITING_BIT) - (ticket.gate & ~WAITING_BIT) | 0;
  return moved >= openings * ONE_OPENING;
}

/** The words of a lock with rows for `tracked` agents. */
function lengthFor(tracked: number): number {
  inRange("The number of tracked agents", tracked, 0, MAX_ROWS);
  return tracked > 0 ? ROWS + rowsLength(tracked) : RW_LOCK.length;
}

function trackedOf(config: RwLockConfig = {}): number {
  assertConfig("rw_lock", config, ["tracked"]);
  return config.tracked ?? 0;
}

function tooMany(): RangeError {
  return new RangeError(
    `Cannot read: ${MAX_READERS} agents already read or wait to read`,
  );
}
