/**
 * The algorithm of `RwLock`: what writers do to its words, and how readers
 * wait. The readers are `rw_lock_counted.ts`, or `rw_lock_tracked.ts` if they
 * have rows.
 *
 * C twin: `rw_lock.h`, function by function.
 *
 * @module
 */

import { keeps, keepsAsleep, told } from "../_memory/explored.ts";
import type { RW_LOCK } from "../_memory/layout.ts";
import { relax, spinning } from "../_wait/spin.ts";
import { block, type Waiting } from "../_wait/wait.ts";
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
} from "./mutex.ts";
import {
  ABANDONED_BIT,
  BUSY_BITS,
  GATE,
  heldIn,
  isBusy,
  open,
  type Outcome,
  PHASE_MASK,
  type Sharers,
  STATE,
  type Ticket,
  WAITING_BIT,
  WANTED_BIT,
  WRITER,
  WRITING_BIT,
} from "./rw_lock_counted.ts";

const STARVING: typeof RW_LOCK.writer_starving = 3;
const TURNS: typeof RW_LOCK.turns = 5;

/**
 * An agent goes on reading for WINDOW ms while a writer that was handed the
 * lock has not run yet. Then it sleeps for PAUSE ms, to give the writer a core.
 */
const WINDOW = 0.5, PAUSE = 2;

/** While readers wait, at most this many + 1 writers follow one another. */
const TURNS_MASK = 7; // RW_LOCK_BITS.TURNS

/**
 * How long, in ms, a reader waits for a lock that is passed on before it looks
 * again: the next writer may have been terminated, or its agent may be busy.
 */
const LOOK = 100;

/** The words of a lock, as one agent uses them. */
export class Lock {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** The mutex of the agents that want to write. */
  readonly #writer: Int32Array<SharedArrayBuffer>;
  readonly #readers: Sharers;
  /** The gate when a hand-off to a writer was first seen. */
  #gateSeen = 0;
  /** When that was. */
  #since = 0;

  /** The lock of these readers, for agent `id`. */
  constructor(readers: Sharers, id: number) {
    this.#words = readers.words;
    this.#id = id;
    this.#writer = readers.words.subarray(WRITER);
    this.#readers = readers;
  }

  /** How many agents read. */
  get readers(): number {
    return this.#readers.readers;
  }

  /** How many agents note that they read, or 0. */
  get tracked(): number {
    return this.#readers.tracked;
  }

  /** The id of the agent that writes, or waits for the readers, or 0. */
  get writer(): number {
    return Atomics.load(this.#words, WRITER) & OWNER_MASK;
  }

  /** Locks for reading if no writer has the lock or waits for it. */
  tryRead(): Outcome {
    return this.#readers.tryRead();
  }

  /** Whether this agent writes. Plain reads see what this agent wrote. */
  #isWriting(): boolean {
    const words = this.#words;
    return (words[WRITER]! & OWNER_MASK) === this.#id &&
      (words[STATE]! & WRITING_BIT) !== 0;
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
   * Lets readers in if the lock was passed on to a writer that did not come.
   */
  #takeBack(): void {
    if (!isBusy(Atomics.load(this.#words, STATE)) || this.writer !== 0) return;
    if (tryLock(this.#writer, this.#id) === false) return;
    this.#readers.leave(0, 0, true);
    this.#unlockWriter();
  }

  /** Begins to wait to read, and waits until a writer lets this agent in. */
  reading(): Waiting<Outcome> {
    return this.#readSlow(this.#readers.pend(BUSY_BITS));
  }

  /** Waits until a writer lets this agent in. */
  *#readSlow(ticket: Ticket | undefined): Waiting<Outcome> {
    const words = this.#words;
    const readers = this.#readers;
    let last = false;
    while (ticket !== undefined) {
      const phase = ticket.state & PHASE_MASK,
        seen = ticket.gate & ~WAITING_BIT;
      if (told.explored) {
        keeps("read", phase, seen, last);
      }
      const gate = Atomics.load(words, GATE); // before the look at the phase
      const state = Atomics.load(words, STATE);
      if (readers.isIn(ticket, state, gate)) break;
      if (last) {
        if (readers.giveUp(state)) return false;
        continue;
      }
      const waiting = gate | WAITING_BIT;
      if (
        gate !== waiting &&
        Atomics.compareExchange(words, GATE, gate, waiting) !== gate
      ) continue;
      const patient = words[STARVING] === 0;
      if (told.explored) keepsAsleep("reads", phase, seen);
      const outcome = yield patient
        ? { words, index: GATE, value: waiting }
        : { words, index: GATE, value: waiting, atMost: LOOK };
      if (outcome === "looked") this.#takeBack();
      last = outcome === "timed-out";
    }
    if (told.explored) keeps("in");
    return heldIn(Atomics.load(words, STATE));
  }

  /** Locks for reading, and blocks at most `timeout` ms for that. */
  read(timeout: number): Outcome {
    const words = this.#words;
    if (spinning.rounds > 0 && words[WRITER]! & HANDOFF_BIT) this.#giveWay();
    const outcome = this.#readers.tryRead();
    if (outcome !== false) return outcome;
    if (told.explored) keeps("busy");
    const own = this.writer === this.#id;
    if (own && this.#isWriting()) throw this.#twice();
    // If a `writeAsync` of this agent waits, it must not wait for itself.
    const ticket = this.#readers.pend(own ? WRITING_BIT : BUSY_BITS);
    if (ticket === undefined) return heldIn(words[STATE]!);
    for (let i = spinning.rounds; i > 0 && this.tracked === 0; i--) {
      relax();
      const state = Atomics.load(words, STATE);
      if ((state ^ ticket.state) & PHASE_MASK) return heldIn(state);
    }
    return block(this.#readSlow(ticket), timeout);
  }

  /** Ends the reading of one agent. */
  unlockRead(): void {
    this.#readers.unlockRead();
  }

  /** Locks for writing if no agent has the lock. */
  tryWrite(): Outcome {
    if (tryLock(this.#writer, this.#id) === false) return false;
    const outcome = this.#readers.tryHold();
    if (outcome === false) this.#unlockWriter();
    return outcome;
  }

  /** Waits for other writers, and then for the readers. */
  writing(): Waiting<Outcome> {
    return this.#writeSlow(false, UNLOCKED);
  }

  /** The same; `owned`: this agent owns `writer`, which was `seen` before. */
  *#writeSlow(owned: boolean, seen: number): Waiting<Outcome> {
    const words = this.#words;
    const readers = this.#readers;
    if (!owned) {
      const outcome = yield* lockSlow(this.#writer, this.#id, seen, true);
      if (outcome === false) {
        this.#takeBack(); // the lock may have been passed on to this writer
        return false;
      }
    }
    for (let last = false;;) {
      if (told.explored) keeps("write", last);
      const outcome = readers.holdOrSleep(last);
      if (outcome !== false) return outcome;
      if (last) break;
      const sleep = readers.blocker();
      if (sleep === undefined) continue;
      if (told.explored) keepsAsleep("writes");
      last = (yield { words, ...sleep }) === "timed-out";
    }
    readers.leave(0, 0);
    this.#unlockWriter();
    return false;
  }

  /** Locks for writing, and blocks at most `timeout` ms for that. */
  write(timeout: number): Outcome {
    const words = this.#words;
    const state = Atomics.compareExchange(words, WRITER, UNLOCKED, this.#id);
    if ((state & OWNER_MASK) === this.#id) throw this.#twice();
    if (state === UNLOCKED) {
      let outcome = this.#readers.hold();
      if (outcome === false) {
        if (this.tracked === 0) Atomics.or(words, STATE, WANTED_BIT);
        for (let i = spinning.rounds; i > 0 && outcome === false; i--) {
          relax();
          outcome = this.#readers.hold();
        }
      }
      if (outcome !== false) return outcome;
    }
    return block(this.#writeSlow(state === UNLOCKED, state), timeout);
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

  #unlockWriter(): void {
    unlock(this.#writer, this.#id);
  }

  /** Ends the writing, and lets the agents in that wait to read. */
  unlockWrite(): void {
    this.#assertWriting("unlock");
    // A hint: a writer that begins to starve may be seen later.
    if (this.#words[STARVING] !== 0 && this.#passOn()) return;
    if (told.explored) keeps("leave");
    this.#readers.leave(0, 0);
    if (told.explored) keeps("unlock");
    this.#unlockWriter();
  }

  /** Ends the writing, but goes on reading, together with those that wait. */
  downgrade(): void {
    this.#assertWriting("downgrade");
    this.#readers.keep();
    this.#readers.leave(1, 0);
    this.#unlockWriter();
  }

  /** Ends what agent `id` reads; how often it read. */
  abandonReading(id: number): number {
    return id === 0 ? 0 : this.#readers.abandon(id);
  }

  /** The same, and ends its writing, or its waiting for the readers. */
  abandon(id: number): number {
    const reads = this.abandonReading(id);
    if (!inherit(this.#writer, id, this.#id)) {
      this.#takeBack(); // the lock may have been passed on to the dead agent
      return reads;
    }
    const writing = Atomics.load(this.#words, STATE) & WRITING_BIT;
    this.#readers.leave(0, writing ? ABANDONED_BIT : 0);
    // The dead agent may have let agents in without opening the gate.
    open(this.#words);
    this.#unlockWriter();
    return reads + 1;
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
}
