/**
 * The words of `RwLock`, and its readers if its state counts them;
 * `rw_lock_tracked.ts` is where they have rows.
 *
 * C twin: `_rw_lock_counted.h`, function by function.
 *
 * @module
 */

import { keeps, told } from "../_memory/explored.ts";
import type { RW_LOCK } from "../_memory/layout.ts";

export const STATE: typeof RW_LOCK.state = 0;
export const GATE: typeof RW_LOCK.gate = 1;
export const WRITER: typeof RW_LOCK.writer = 2;
export const TRACKED: typeof RW_LOCK.tracked = 4;

/** In `state`. */
const READING_MASK = 0x1fff; // RW_LOCK_BITS.READING
const ONE_PENDING = 0x2000; // RW_LOCK_BITS.PENDING
const PENDING_MASK = 0x03ff_e000; // RW_LOCK_BITS.PENDING
export const WRITING_BIT = 0x0400_0000; // RW_LOCK_BITS.WRITING
export const WANTED_BIT = 0x0800_0000; // RW_LOCK_BITS.WANTED
export const ASLEEP_BIT = 0x1000_0000; // RW_LOCK_BITS.ASLEEP
export const ABANDONED_BIT = 0x2000_0000; // RW_LOCK_BITS.ABANDONED
const ONE_PHASE = 0x4000_0000; // RW_LOCK_BITS.PHASE
export const PHASE_MASK = -0x4000_0000; // RW_LOCK_BITS.PHASE
/** Set while an agent writes, or waits until nobody reads. */
export const BUSY_BITS = 0x0c00_0000; // RW_LOCK_BITS.WRITING | WANTED

/** In `gate`: readers may sleep on it. */
export const WAITING_BIT = 1; // RW_LOCK_BITS.WAITING
const ONE_OPENING = 2; // RW_LOCK_BITS.OPENING

/** The most agents that read or wait to read. */
const MAX_READERS = 0x1fff; // RW_LOCK_BITS.READING

/** How an attempt to lock ended. */
export type Outcome = false | "locked" | "abandoned";

/** What a reader saw when it began to wait. */
export interface Ticket {
  /** The state at which it was counted as pending. */
  readonly state: number;
  /** The gate after that. */
  readonly gate: number;
}

/** Whether an agent writes, or waits until nobody reads. */
export const isBusy = (state: number): boolean => (state & BUSY_BITS) !== 0;

/** Whether one more agent may read. */
const isReadLockable = (state: number): boolean =>
  !isBusy(state) && readingIn(state) < MAX_READERS;

/** How many agents read. */
const readingIn = (state: number): number => state & READING_MASK;

/** How many agents will read after this writer. */
export const pendingIn = (state: number): number =>
  (state & PENDING_MASK) / ONE_PENDING;

/** Whether the last reader leaves, and has to wake a writer. */
const isLastOfAwaited = (state: number): boolean =>
  (state & (READING_MASK | WANTED_BIT | ASLEEP_BIT)) ===
    (1 | WANTED_BIT | ASLEEP_BIT);

/** How locking ends in this state. */
export const heldIn = (state: number): Outcome =>
  state & ABANDONED_BIT ? "abandoned" : "locked";

/**
 * Whether an agent that waits with `ticket` was let in by that many openings of
 * the gate, or by a phase that it can see. After four phases the phase looks
 * the same again; but by then the gate has moved by two, even if one opening
 * was due before the ticket. If the lock is tracked, the gate alone has the
 * phase, and one opening is enough.
 */
export function isIn(
  ticket: Ticket,
  state: number,
  gate: number,
  openings: number,
): boolean {
  if ((state ^ ticket.state) & PHASE_MASK) return true;
  const moved = (gate & ~WAITING_BIT) - (ticket.gate & ~WAITING_BIT) | 0;
  return moved >= openings * ONE_OPENING;
}

/**
 * Wakes the agents that were let in. `within` says that the caller keeps more
 * than the race tester would be told here.
 */
export function open(
  words: Int32Array<SharedArrayBuffer>,
  within = true,
): void {
  let gate = Atomics.load(words, GATE);
  for (;;) {
    if (told.explored && !within) keeps("open", gate);
    const expected = gate;
    const next = (gate & ~WAITING_BIT) + ONE_OPENING | 0;
    gate = Atomics.compareExchange(words, GATE, expected, next);
    if (gate !== expected) continue;
    if (gate & WAITING_BIT) Atomics.notify(words, GATE);
    return;
  }
}

/** The readers of a lock, counted or tracked. */
export interface Sharers {
  readonly words: Int32Array<SharedArrayBuffer>;
  /** How many agents note that they read, or 0. */
  readonly tracked: number;
  /** How many agents read. */
  readonly readers: number;
  /** Reads, if no writer is there. */
  tryRead(): Outcome;
  /**
   * Notes that this agent is pending if `bits` are set. Else it reads at once,
   * and there is no ticket.
   */
  pend(bits: number): Ticket | undefined;
  /** Whether an agent that waits with `ticket` was let in. */
  isIn(ticket: Ticket, state: number, gate: number): boolean;
  /** Stops waiting to read; false if the state has changed. */
  giveUp(state: number): boolean;
  /**
   * Ends the phase of the owner of `writer`, whether it wrote or only waited:
   * all pending agents read now, and `more` agents besides. `within` is as that
   * of {@linkcode open}.
   */
  leave(more: number, abandoned: number, within?: boolean): void;
  /** Ends the reading of one agent. */
  unlockRead(): void;
  /** Takes the lock for the owner of `writer`, if no agent reads. */
  hold(): Outcome;
  /**
   * The same, for an agent that will sleep if others read; or, if this look is
   * its `last`, gives up.
   */
  holdOrSleep(last: boolean): Outcome;
  /** The same, for an agent that does not wait. */
  tryHold(): Outcome;
  /**
   * Where the owner of `writer` sleeps; undefined if no agent reads any more.
   */
  blocker(): { index: number; value: number } | undefined;
  /** Notes that this agent goes on reading after it wrote. */
  keep(): void;
  /** Ends what agent `id` reads; how often it read. */
  abandon(id: number): number;
}

/** Readers that only the state of a lock counts. */
export class Counted implements Sharers {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly tracked = 0;

  /** The readers of a lock of these words. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    this.words = words;
  }

  get readers(): number {
    return readingIn(Atomics.load(this.words, STATE));
  }

  tryRead(): Outcome {
    const words = this.words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      if (!isReadLockable(state)) {
        if (told.explored) keeps("look");
        state = Atomics.load(words, STATE);
        if (isBusy(state)) return false;
        if (readingIn(state) === MAX_READERS) throw tooMany();
      }
      if (told.explored) keeps("enter", state);
      const expected = state;
      state = Atomics.compareExchange(words, STATE, expected, expected + 1);
      if (state === expected) return heldIn(state);
    }
  }

  pend(bits: number): Ticket | undefined {
    const words = this.words;
    let state = Atomics.load(words, STATE);
    for (;;) {
      const expected = state;
      const waits = (state & bits) !== 0;
      if (told.explored) keeps("pend", state, bits);
      // A downgrade may add one more reader.
      const most = waits ? MAX_READERS - 1 : MAX_READERS;
      if (readingIn(state) + pendingIn(state) >= most) throw tooMany();
      const next = state + (waits ? ONE_PENDING : 1);
      state = Atomics.compareExchange(words, STATE, expected, next | 0);
      if (state !== expected) continue;
      return waits ? { state, gate: Atomics.load(words, GATE) } : undefined;
    }
  }

  isIn(ticket: Ticket, state: number, gate: number): boolean {
    return isIn(ticket, state, gate, 2);
  }

  giveUp(state: number): boolean {
    const left = state - ONE_PENDING | 0;
    return Atomics.compareExchange(this.words, STATE, state, left) === state;
  }

  leave(more: number, abandoned: number, within = false): void {
    const words = this.words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      const expected = state;
      if (told.explored && !within) keeps("leaves", state, more, abandoned);
      const pending = pendingIn(state);
      const kept = READING_MASK | PHASE_MASK |
        (state & WRITING_BIT ? 0 : ABANDONED_BIT);
      const next = (state & kept | abandoned) + more + pending +
        (pending > 0 ? ONE_PHASE : 0);
      state = Atomics.compareExchange(words, STATE, expected, next | 0);
      if (state !== expected) continue;
      if (pending > 0) open(words, within);
      return;
    }
  }

  unlockRead(): void {
    const words = this.words;
    // An agent that reads sees at least its own reading.
    if (readingIn(words[STATE]!) === 0) {
      throw new TypeError("Cannot unlock: no agent reads");
    }
    if (told.explored) keeps("sub");
    const state = Atomics.sub(words, STATE, 1);
    if (isLastOfAwaited(state)) Atomics.notify(words, STATE, 1);
  }

  /** `by` tells the race tester who holds it. */
  hold(by = "hold"): Outcome {
    const words = this.words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    if (readingIn(state) > 0) state = Atomics.load(words, STATE);
    while (readingIn(state) === 0) {
      if (told.explored) keeps("hold", state, by);
      const expected = state;
      const held = state & ~(WANTED_BIT | ASLEEP_BIT) | WRITING_BIT;
      state = Atomics.compareExchange(words, STATE, expected, held);
      if (state === expected) return heldIn(state);
    }
    return false;
  }

  holdOrSleep(last: boolean): Outcome {
    return this.hold(last ? "last" : "sleep");
  }

  tryHold(): Outcome {
    return this.hold("try");
  }

  blocker(): { index: number; value: number } | undefined {
    const bits = WANTED_BIT | ASLEEP_BIT;
    const value = Atomics.or(this.words, STATE, bits) | bits;
    return readingIn(value) > 0 ? { index: STATE, value } : undefined;
  }

  /** `leave` counts it. */
  keep(): void {}

  /** Nobody knows what an agent read. */
  abandon(): number {
    return 0;
  }
}

function tooMany(): RangeError {
  return new RangeError(
    `Cannot read: ${MAX_READERS} agents already read or wait to read`,
  );
}
