/**
 * A flag to wait for.
 *
 * @module
 */

import { EVENT } from "./_layout.ts";
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

export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

const STATE = EVENT.state;

const AUTO_BIT = 1;
// Manual reset:
const SET_BIT = 1 << 1;
const WAITING_BIT = 1 << 2;
const ONE_PULSE = 1 << 3;
const PULSE_MASK = -ONE_PULSE;
// Automatic reset:
const ONE_SIGNAL = 1 << 1;
const SIGNALS_MASK = 0x7fff << 1;
const ONE_WAITER = 1 << 16;
const WAITERS_MASK = 0x7fff << 16;

/** How an event is made. */
export interface EventConfig {
  /** Each `set` lets one waiter through; `false` unless given. */
  readonly autoReset?: boolean;
}

/**
 * What can be told of an event.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: EVENT,
  waiters: (words) => {
    const state = words[STATE]!;
    if (state & AUTO_BIT) return (state & WAITERS_MASK) / ONE_WAITER;
    return state & WAITING_BIT ? 1 : 0;
  },
};

/**
 * An event. Reset manually, which is what zeroed memory is: `set` lets all
 * waiters through until `reset`. Reset automatically: each `set` lets one
 * waiter through.
 *
 * ```text
 * word 0  state  bit 0       AUTO: it resets automatically. Without AUTO:
 *                bit 1       SET
 *                bit 2       WAITING: somebody may sleep on this word
 *                bits 3-31   how often it was set, modulo 2^29. With AUTO:
 *                bits 1-15   signals: sets that no waiter has taken yet
 *                bits 16-30  waiters, 2^15 - 1 at most; more are not counted
 *                sleepers: agents that wait
 * ```
 *
 * A `set` that is followed by `reset` at once is missed by nobody who waited
 * when it came. With automatic reset, `set` is remembered once if nobody
 * waits, and else once for each waiter.
 *
 * Invariant: an agent asleep on `state` went to sleep on a value with WAITING
 * set, or one that counts it; signals <= max(waiters, 1), but for signals that
 * a `waitAny` saw and nobody has taken yet.
 * Progress: `set`, `reset` and `tryWait` are lock-free: they try again only
 * when another agent changed the event; `wait` and `waitAsync` block. An agent
 * terminated while it waits costs the others at most a second, and lets one
 * more `set` be remembered. A waiter that sleeps while 2^29 pulses pass, and
 * looks just then, goes on waiting.
 * Fairness: with automatic reset a newcomer may pass sleepers.
 * C twin: `weft_event`. Source: the events of Windows; a counted signal for
 * each waiter, so that two sets in a row release two.
 *
 * @example Start together
 * ```ts
 * import { Event } from "@weft/sync";
 *
 * const start = Event.create(); // post start.handle to workers
 * setTimeout(() => start.set(), 1);
 * if (!(await start.waitAsync({ timeout: 5000 }))) throw new Error("too late");
 * ```
 */
export class Event extends Region<"event"> {
  readonly #words: Int32Array<SharedArrayBuffer>;

  /**
   * Views the event at `byteOffset`, a multiple of 4; writes nothing. Zeroed
   * memory is an event that is reset manually, and not set.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = viewPlain("event", EVENT, memory, byteOffset);
    super("event", words, INSPECTION);
    this.#words = words;
  }

  /** The bytes an event occupies. */
  static byteLength(): number {
    return EVENT.length * 4;
  }

  /**
   * Allocates an event that is not set.
   *
   * @throws {TypeError} If memory cannot be shared here: see `isSupported`.
   */
  static create(config?: EventConfig): Event {
    return Event.init(allocate(Event.byteLength()), 0, config);
  }

  /**
   * Makes a region that nobody uses yet an event that is not set.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there.
   */
  static init(
    memory: Memory,
    byteOffset: number,
    { autoReset = false }: EventConfig = {},
  ): Event {
    const event = new Event(memory, byteOffset);
    Atomics.store(event.#words, STATE, autoReset ? AUTO_BIT : 0);
    return event;
  }

  /**
   * Attaches to the event a message brought.
   *
   * @throws {TypeError} If it is of another kind.
   */
  static from(handle: Handle): Event {
    return new Event(...fromHandle("event", handle));
  }

  /** Whether each `set` lets one waiter through. */
  get autoReset(): boolean {
    return (Atomics.load(this.#words, STATE) & AUTO_BIT) !== 0;
  }

  /** Whether a `wait` would end at once. */
  get isSet(): boolean {
    return isSet(Atomics.load(this.#words, STATE));
  }

  /** Sets the event and wakes whom it lets through. */
  set(): void {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    for (;;) {
      const expected = state;
      const next = afterSet(state);
      if (next === state) return;
      state = Atomics.compareExchange(words, STATE, expected, next);
      if (state !== expected) continue;
      if (state & AUTO_BIT) {
        if (state & WAITERS_MASK) Atomics.notify(words, STATE, 1);
      } else if (state & WAITING_BIT) {
        Atomics.notify(words, STATE);
      }
      return;
    }
  }

  /** Takes back a `set`, as far as no waiter has seen it. */
  reset(): void {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    while (isSet(state)) {
      const expected = state;
      const bits = state & AUTO_BIT ? SIGNALS_MASK : SET_BIT;
      state = Atomics.compareExchange(words, STATE, expected, state & ~bits);
      if (state === expected) return;
    }
  }

  /** Whether the event is set; with automatic reset, takes that. */
  tryWait(): boolean {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    while (isSet(state)) {
      if ((state & AUTO_BIT) === 0) return true;
      const expected = state;
      const taken = state - ONE_SIGNAL;
      state = Atomics.compareExchange(words, STATE, expected, taken);
      if (state === expected) return true;
    }
    return false;
  }

  /**
   * Blocks until the event is set, up to `timeout` ms; false if that time
   * passed.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  wait(timeout = Infinity): boolean {
    assertMayBlock("wait");
    if (timeout !== Infinity) assertTimeout(timeout);
    const since = Atomics.load(this.#words, STATE);
    if (timeout > 0 && spinning.rounds > 0) {
      if (this.tryWait() || spin(() => this.tryWait())) return true;
    }
    return block(this.#waitSlow(since), timeout);
  }

  /** As {@linkcode wait}, awaiting instead of blocking. */
  waitAsync(options?: AsyncOptions): Promise<boolean> {
    return blockAsync(
      () => this.#waitSlow(Atomics.load(this.#words, STATE)),
      options,
    );
  }

  /**
   * Waits until the event is set; with automatic reset, leaves it so.
   *
   * @internal
   */
  readiness(): Waiting<boolean> {
    return this.#waitSlow(Atomics.load(this.#words, STATE), 0);
  }

  #waitSlow(since: number, taken = ONE_SIGNAL): Waiting<boolean> {
    return since & AUTO_BIT
      ? this.#waitForSignal(taken)
      : this.#waitForPulse(since);
  }

  /** Waits until the event is set, or was set after it was `since`. */
  *#waitForPulse(since: number): Waiting<boolean> {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    let last = false;
    for (;;) {
      if (state & SET_BIT || (state ^ since) & PULSE_MASK) return true;
      if (last) return false;
      const expected = state;
      state |= WAITING_BIT;
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          state = seen;
          continue;
        }
      }
      const outcome = yield { words, index: STATE, value: state };
      state = Atomics.load(words, STATE);
      last = outcome === "timed-out";
    }
  }

  /** Waits for a signal, and takes it unless `taken` is 0. */
  *#waitForSignal(taken: number): Waiting<boolean> {
    const words = this.#words;
    let counted = 0; // ONE_WAITER once we are
    let state = Atomics.load(words, STATE);
    let last = false;
    for (;;) {
      const expected = state;
      const served = (state & SIGNALS_MASK) !== 0;
      // A signal, and the count of who waits for it, go in one step: there are
      // never more signals than waiters, but for the one that is remembered.
      if (served) state -= counted + taken;
      else if (last) state -= counted;
      else if (counted === 0 && (state & WAITERS_MASK) !== WAITERS_MASK) {
        state += counted = ONE_WAITER;
      }
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          if (!served && !last) counted = 0;
          state = seen;
          continue;
        }
      }
      if (served && taken === 0 && state & WAITERS_MASK) {
        // The wake that we used up belongs to whoever takes the signal.
        Atomics.notify(words, STATE, 1);
      }
      if (served || last) return served;
      const outcome = yield { words, index: STATE, value: state };
      state = Atomics.load(words, STATE);
      last = outcome === "timed-out";
    }
  }
}

function isSet(state: number): boolean {
  return (state & (state & AUTO_BIT ? SIGNALS_MASK : SET_BIT)) !== 0;
}

/** What `set` makes of `state`. */
function afterSet(state: number): number {
  if ((state & AUTO_BIT) === 0) {
    if (state & SET_BIT) return state;
    return ((state & ~WAITING_BIT) + ONE_PULSE | SET_BIT) | 0;
  }
  const signals = (state & SIGNALS_MASK) / ONE_SIGNAL;
  const waiters = (state & WAITERS_MASK) / ONE_WAITER;
  return signals < Math.max(waiters, 1) ? state + ONE_SIGNAL : state;
}
