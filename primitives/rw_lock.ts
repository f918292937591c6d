/**
 * A lock that many may hold for reading, or one for writing.
 *
 * @module
 */

import { RW_LOCK } from "./_layout.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  type Memory,
  Region,
  viewPlain,
  type WordsInspection,
} from "./_region.ts";
import { relax, spinning } from "./_spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type Waiting,
} from "./_wait.ts";
import { agentId } from "./agent.ts";
import { inherit, locking, tryLocking, unlocking } from "./mutex.ts";

export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

const STATE = RW_LOCK.state;
const GATE = RW_LOCK.gate;
const WRITER = RW_LOCK.writer;

const READING_MASK = 0x1fff;
const ONE_PENDING = 1 << 13;
const PENDING_MASK = 0x1fff << 13;
const WRITING_BIT = 1 << 26;
const WANTED_BIT = 1 << 27;
const ASLEEP_BIT = 1 << 28;
const ABANDONED_BIT = 1 << 29;
const ONE_PHASE = 1 << 30;
const PHASE_MASK = 3 << 30;

/** In `writer`. */
const UNLOCKED = 0, OWNER_MASK = 0x0fff_ffff, CONTENDED_BIT = 1 << 30;
/** In `gate`: readers may sleep there. */
const WAITING_BIT = 1;
const ONE_OPENING = 2;

/** The most agents that read or wait for it. */
const MAX_READERS = 0x1fff;

/** How the way to a lock ended. */
type Outcome = false | "locked" | "abandoned";

/** Where a reader stood when it began to wait. */
interface Ticket {
  /** The state at which it was counted as pending. */
  readonly state: number;
  /** The gate after that. */
  readonly gate: number;
}

/**
 * A {@linkcode RwLock} held for reading: unlocks it at the end of a `using`
 * block, once.
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
export class RwReadGuard implements Disposable {
  #lock: RwLock | undefined;

  /** A writer was given up by `abandon`, and none has unlocked since. */
  readonly abandoned: boolean;

  /** Made by an {@linkcode RwLock} that was locked just now. */
  constructor(lock: RwLock, abandoned: boolean) {
    this.#lock = lock;
    this.abandoned = abandoned;
  }

  /** Unlocks the lock, if this guard still holds it. */
  unlock(): void {
    const lock = this.#lock;
    this.#lock = undefined;
    lock?.unlockRead();
  }

  /** As {@linkcode RwReadGuard.unlock}. */
  [Symbol.dispose](): void {
    this.unlock();
  }
}

/**
 * A {@linkcode RwLock} held for writing: unlocks it at the end of a `using`
 * block, once.
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
export class RwWriteGuard implements Disposable {
  #lock: RwLock | undefined;

  /**
   * The last writer was given up by `abandon`: what the lock protects may be
   * half changed. Unlocking says that it is no longer.
   */
  readonly abandoned: boolean;

  /** Made by an {@linkcode RwLock} that was locked just now. */
  constructor(lock: RwLock, abandoned: boolean) {
    this.#lock = lock;
    this.abandoned = abandoned;
  }

  /**
   * Goes on reading: no writer comes between. This guard holds nothing then.
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

  /** As {@linkcode RwWriteGuard.unlock}. */
  [Symbol.dispose](): void {
    this.unlock();
  }
}

/**
 * What can be told of a lock.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: RW_LOCK,
  owner: (words) => words[WRITER]! & OWNER_MASK,
  waiters: (words) => {
    const state = words[STATE]!;
    const pending = (state & PENDING_MASK) / ONE_PENDING;
    const asleep = state & ASLEEP_BIT ? 1 : 0; // the writer, for the readers
    return pending + asleep + (words[WRITER]! & CONTENDED_BIT ? 1 : 0);
  },
};

/**
 * A lock that any number of agents hold for reading, or one for writing.
 *
 * ```text
 * word 0  state            bits 0-12   agents that read
 *                          bits 13-25  pending: agents that will read after
 *                                      this writer
 *                          bit 26      WRITING
 *                          bit 27      WANTED: a writer waits until nobody
 *                                      reads
 *                          bit 28      ASLEEP: that writer may sleep on this
 *                                      word
 *                          bit 29      ABANDONED: a dead writer was recovered
 *                          bits 30-31  the phase: how often pending agents were
 *                                      let in, modulo 4
 *                          sleepers: the writer that waits until nobody reads
 * word 1  gate             bit 0      WAITING: pending agents may sleep on this
 *                                     word
 *                          bits 1-31  change after each phase
 *                          sleepers: pending agents
 * word 2  writer           The `state` of a mutex among writers. Its owner
 *                          writes, or waits until nobody reads.
 *                          sleepers: writers
 * word 3  writer_starving  The `starving` of that mutex.
 * ```
 *
 * Whoever comes to read while a writer has the lock, or waits for it, is
 * pending: the writer lets all of these in when it unlocks, before the next
 * writer. So a writer waits for those who read when it comes, and a reader for
 * one writer.
 *
 * Invariant: only the owner of `writer` changes WRITING, WANTED and the phase;
 * nobody is pending unless one of the two is set; a pending agent that finds
 * another phase is counted as reading.
 * Progress: `tryRead`, `unlockRead` and `tryWrite` are lock-free; the others
 * block. A writer that is terminated is given up by `abandon(id)`, whether it
 * wrote or waited. Readers leave no name: one that is terminated while it
 * reads, or waits to, keeps writers out until `abandonReader()`.
 * Fairness: phase-fair; neither side can keep the other out. Writers among
 * each other as {@linkcode Mutex} says. An agent must not read twice at once:
 * between the two, a writer may wait for the first. At most 8191 agents read
 * or wait to.
 * C twin: `weft_rw_lock`. Source: Brandenburg and Anderson 2010, phase-fair
 * locks, in one word that both sides can give up waiting in.
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
 * using _guard = lock.read();
 * if (total[0] !== 0.5) throw new Error("not written");
 * ```
 */
export class RwLock extends Region<"rw_lock"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** The mutex of those who want to write. */
  readonly #writer: Int32Array<SharedArrayBuffer>;

  /**
   * Views the lock at `byteOffset`, a multiple of 4; writes nothing. Zeroed
   * memory is an unlocked lock.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = viewPlain("rw_lock", RW_LOCK, memory, byteOffset);
    super("rw_lock", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
    this.#writer = words.subarray(WRITER);
  }

  /** The bytes a lock occupies. */
  static byteLength(): number {
    return RW_LOCK.length * 4;
  }

  /** Allocates an unlocked lock. */
  static create(): RwLock {
    return new RwLock(allocate(RwLock.byteLength()));
  }

  /**
   * Makes a region that nobody uses yet an unlocked lock.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  static init(memory: Memory, byteOffset: number): RwLock {
    const lock = new RwLock(memory, byteOffset);
    lock.#words.fill(0);
    return lock;
  }

  /**
   * Attaches to the lock a message brought.
   *
   * @throws {TypeError} If it is of another kind.
   */
  static from(handle: Handle): RwLock {
    return new RwLock(...fromHandle("rw_lock", handle));
  }

  /** How many agents read. */
  get readers(): number {
    return Atomics.load(this.#words, STATE) & READING_MASK;
  }

  /** The id of the agent that writes, or waits for those who read, or 0. */
  get writer(): number {
    return Atomics.load(this.#words, WRITER) & OWNER_MASK;
  }

  /**
   * Locks for reading if no writer has the lock or waits for it, without
   * waiting.
   *
   * @throws {RangeError} If 8191 agents read.
   */
  tryRead(): RwReadGuard | undefined {
    const words = this.#words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      const expected = state;
      if (state & (WRITING_BIT | WANTED_BIT)) {
        state = Atomics.load(words, STATE);
        if (state & (WRITING_BIT | WANTED_BIT)) return undefined;
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

  /**
   * Locks for reading, blocking up to `timeout` ms; `undefined` if that time
   * passed.
   *
   * @throws {TypeError} If this agent may not block, or has the lock for
   * writing.
   * @throws {RangeError} If `timeout` is negative or NaN, or 8191 agents read.
   */
  read(): RwReadGuard;
  /** As above, for at most `timeout` ms. */
  read(timeout: number): RwReadGuard | undefined;
  read(timeout = Infinity): RwReadGuard | undefined {
    assertMayBlock("read");
    if (timeout !== Infinity) assertTimeout(timeout);
    const guard = this.tryRead();
    if (guard !== undefined) return guard;
    const own = this.writer === this.#id;
    if (own && this.#isWriting()) throw this.#twice();
    // A `writeAsync` of this agent that waits must not make it wait for itself.
    const ticket = this.#pend(own ? WRITING_BIT : WRITING_BIT | WANTED_BIT);
    if (ticket === undefined) return this.#readGuard(this.#words[STATE]!);
    for (let i = timeout > 0 ? spinning.rounds : 0; i > 0; i--) {
      relax();
      const state = Atomics.load(this.#words, STATE);
      if ((state ^ ticket.state) & PHASE_MASK) return this.#readGuard(state);
    }
    return this.#readGuardOf(block(this.#readSlow(ticket), timeout));
  }

  /** As {@linkcode read}, awaiting instead of blocking. */
  readAsync(): Promise<RwReadGuard>;
  /** As above; `undefined` if `timeout` ms passed. */
  readAsync(options: AsyncOptions): Promise<RwReadGuard | undefined>;
  async readAsync(options?: AsyncOptions): Promise<RwReadGuard | undefined> {
    const start = () => this.#readSlow(this.#pend(WRITING_BIT | WANTED_BIT));
    return this.#readGuardOf(await blockAsync(start, options));
  }

  /** Locks for writing if nobody has the lock, without waiting. */
  tryWrite(): RwWriteGuard | undefined {
    if (tryLocking(this.#writer, this.#id) === false) return undefined;
    const outcome = this.#hold();
    if (outcome === false) this.#unlockWriter();
    return this.#writeGuardOf(outcome);
  }

  /**
   * Locks for writing, blocking up to `timeout` ms; `undefined` if that time
   * passed. Those who come to read meanwhile wait until it is unlocked.
   *
   * @throws {TypeError} If this agent may not block, or has the lock for
   * writing, or a `writeAsync` of its own is next in line.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  write(): RwWriteGuard;
  /** As above, for at most `timeout` ms. */
  write(timeout: number): RwWriteGuard | undefined;
  write(timeout = Infinity): RwWriteGuard | undefined {
    assertMayBlock("write");
    if (timeout !== Infinity) assertTimeout(timeout);
    const words = this.#words;
    const state = Atomics.compareExchange(words, WRITER, UNLOCKED, this.#id);
    if ((state & OWNER_MASK) === this.#id) throw this.#twice();
    if (state === UNLOCKED) {
      let outcome = this.#hold();
      if (outcome === false && timeout > 0) {
        Atomics.or(words, STATE, WANTED_BIT);
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

  /** As {@linkcode write}, awaiting instead of blocking. */
  writeAsync(): Promise<RwWriteGuard>;
  /** As above; `undefined` if `timeout` ms passed. */
  writeAsync(options: AsyncOptions): Promise<RwWriteGuard | undefined>;
  async writeAsync(options?: AsyncOptions): Promise<RwWriteGuard | undefined> {
    const start = () => this.#writeSlow(false, UNLOCKED);
    return this.#writeGuardOf(await blockAsync(start, options));
  }

  /**
   * Ends one agent's reading, and wakes the writer that waits for the last.
   *
   * @throws {TypeError} If nobody reads.
   */
  unlockRead(): void {
    const words = this.#words;
    // Whoever reads sees at least itself.
    if ((words[STATE]! & READING_MASK) === 0) {
      throw new TypeError("Cannot unlock: nobody reads");
    }
    const state = Atomics.sub(words, STATE, 1);
    const last = 1 | WANTED_BIT | ASLEEP_BIT;
    if ((state & (READING_MASK | WANTED_BIT | ASLEEP_BIT)) === last) {
      Atomics.notify(words, STATE, 1);
    }
  }

  /**
   * Ends the writing, and lets those in who wait to read.
   *
   * @throws {TypeError} If this agent does not have the lock for writing.
   */
  unlockWrite(): void {
    this.#assertWriting("unlock");
    this.#leave(0, 0);
    this.#unlockWriter();
  }

  /**
   * Ends the writing, but goes on reading, with those who wait to.
   *
   * @throws {TypeError} If this agent does not have the lock for writing.
   */
  downgrade(): RwReadGuard {
    this.#assertWriting("downgrade");
    this.#leave(1, 0);
    this.#unlockWriter();
    return new RwReadGuard(this, false);
  }

  /**
   * Gives up agent `id`, which is known never to run again, if it writes or
   * waits for those who read; false if it does not. If it wrote, guards say
   * `abandoned` until a writer has unlocked.
   *
   * C twin: `weft_rw_lock_abandon`; locking gives `EOWNERDEAD`.
   */
  abandon(id: number): boolean {
    if (!inherit(this.#writer, id, this.#id)) return false;
    const writing = Atomics.load(this.#words, STATE) & WRITING_BIT;
    this.#leave(0, writing ? ABANDONED_BIT : 0);
    // It may have let agents in, and not opened the gate.
    this.#open();
    this.#unlockWriter();
    return true;
  }

  /**
   * Ends the reading of an agent that is known never to run again. Nobody else
   * knows that it read: the caller must. One that waited to read counts as
   * reading once the writer it waited for has unlocked; before, this would end
   * another one's reading.
   *
   * @throws {TypeError} If nobody reads.
   */
  abandonReader(): void {
    this.unlockRead();
  }

  #unlockWriter(): void {
    unlocking(this.#writer, this.#id);
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

  /** Whether this agent writes; what it wrote there itself, it sees plainly. */
  #isWriting(): boolean {
    const words = this.#words;
    return (words[WRITER]! & OWNER_MASK) === this.#id &&
      (words[STATE]! & WRITING_BIT) !== 0;
  }

  #twice(): TypeError {
    return new TypeError(
      `Cannot lock twice: agent ${this.#id} has the lock for writing, or ` +
        `awaits that`,
    );
  }

  #assertWriting(what: string): void {
    if (this.#isWriting()) return;
    throw new TypeError(
      `Cannot ${what}: agent ${this.#id} does not have the lock for writing`,
    );
  }

  /** Begins to wait to read if one of `bits` is set; undefined if it reads. */
  #pend(bits: number): Ticket | undefined {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    for (;;) {
      const expected = state;
      const waits = (state & bits) !== 0;
      const pending = (state & PENDING_MASK) / ONE_PENDING;
      // One more may come by a downgrade.
      const most = waits ? MAX_READERS - 1 : MAX_READERS;
      if ((state & READING_MASK) + pending >= most) throw tooMany();
      const next = state + (waits ? ONE_PENDING : 1);
      state = Atomics.compareExchange(words, STATE, expected, next | 0);
      if (state !== expected) continue;
      return waits ? { state, gate: Atomics.load(words, GATE) } : undefined;
    }
  }

  /** Waits until a writer lets us in. */
  *#readSlow(ticket: Ticket | undefined): Waiting<Outcome> {
    const words = this.#words;
    let last = false;
    while (ticket !== undefined) {
      const gate = Atomics.load(words, GATE); // before the look at the phase
      const state = Atomics.load(words, STATE);
      if (isIn(ticket, state, gate)) break;
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
      const outcome = yield { words, index: GATE, value: waiting };
      last = outcome === "timed-out";
    }
    const abandoned = Atomics.load(words, STATE) & ABANDONED_BIT;
    return abandoned ? "abandoned" : "locked";
  }

  /** Takes the lock for the owner of `writer`, if nobody reads. */
  #hold(): Outcome {
    const words = this.#words;
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

  /** Waits for other writers, and then for those who read. */
  *#writeSlow(owned: boolean, seen: number): Waiting<Outcome> {
    const words = this.#words;
    if (!owned) {
      const outcome = yield* locking(this.#writer, this.#id, seen);
      if (outcome === false) return false;
    }
    let last = false;
    for (;;) {
      const outcome = this.#hold();
      if (outcome !== false) return outcome;
      if (last) break;
      const bits = WANTED_BIT | ASLEEP_BIT;
      const state = Atomics.or(words, STATE, bits) | bits;
      if ((state & READING_MASK) === 0) continue;
      last = (yield { words, index: STATE, value: state }) === "timed-out";
    }
    this.#leave(0, 0);
    this.#unlockWriter();
    return false;
  }

  /**
   * Ends the phase of the owner of `writer`, whether it wrote or only waited:
   * all who are pending read now, and `more` besides.
   */
  #leave(more: number, abandoned: number): void {
    const words = this.#words;
    let state = words[STATE]!; // a hint: the exchange below checks it
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

  /** Wakes those who were let in. */
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
 * Whether who waits with `ticket` was let in. The phase alone would look the
 * same after four; but then the gate, of which one opening may have been due
 * from before the ticket, has moved by two.
 */
function isIn(ticket: Ticket, state: number, gate: number): boolean {
  if ((state ^ ticket.state) & PHASE_MASK) return true;
  const moved = (gate & ~WAITING_BIT) - (ticket.gate & ~WAITING_BIT) | 0;
  return moved >= 2 * ONE_OPENING;
}

function tooMany(): RangeError {
  return new RangeError(
    `Cannot read: ${MAX_READERS} agents read, or wait to, already`,
  );
}
