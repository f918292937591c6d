/**
 * A flag that agents wait for.
 *
 * @module
 */

import { keeps, told } from "./_memory/explored.ts";
import { EVENT } from "./_memory/layout.ts";
import {
  allocate,
  assertBoolean,
  assertConfig,
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
  assertMayTry,
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./_wait/wait.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

const STATE: typeof EVENT.state = 0;

const AUTO_BIT = 1; // EVENT_BITS.AUTO
// Manual reset:
const SET_BIT = 2; // EVENT_BITS.SET
const WAITING_BIT = 4; // EVENT_BITS.WAITING
const ONE_PULSE = 8; // EVENT_BITS.PULSE
const PULSE_MASK = -8; // EVENT_BITS.PULSE
// Automatic reset:
const ONE_SIGNAL = 2; // EVENT_BITS.SIGNALS
const SIGNALS_MASK = 0xfffe; // EVENT_BITS.SIGNALS
const ONE_WAITER = 0x0001_0000; // EVENT_BITS.WAITERS
const WAITERS_MASK = 0x7fff_0000; // EVENT_BITS.WAITERS

/** The configuration of an event. */
export interface EventConfig {
  /** Whether each `set` lets only one waiter through; `false` unless given. */
  readonly autoReset?: boolean | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: EVENT,
  waiters: (words) => {
    const state = words[STATE]!;
    if (state & AUTO_BIT) return (state & WAITERS_MASK) / ONE_WAITER;
    return state & WAITING_BIT ? 1 : 0;
  },
};

/**
 * An event that agents wait for. An event with manual reset lets all waiters
 * through once it is set, until it is reset. An event with automatic reset lets
 * one waiter through for each `set`. Zeroed memory is an event with manual
 * reset that is not set.
 *
 * Start together:
 *
 * ```ts
 * import { Event } from "@weft/sync";
 *
 * const start = Event.create(); // post start.handle to workers
 * setTimeout(() => start.set(), 1);
 * const inTime = await start.tryWaitAsync({ timeout: 5000 });
 * if (!inTime) throw new Error("too late");
 * ```
 *
 * Every agent that waits when `set` is called is let through, even if `reset`
 * follows at once. With automatic reset, `set` is remembered once if nobody
 * waits, and otherwise once for each waiter.
 *
 * Invariant: an agent that sleeps on `state` fell asleep on a value with
 * WAITING set, or on one that counts it; signals <= max(waiters, 1), except for
 * signals that a `waitAny` saw and nobody has taken yet.
 * Progress: `set`, `reset` and `tryWait()` are lock-free: they try again only
 * when another agent changed the event. `wait`, its async form, and both with a
 * timeout wait. An agent that is terminated while it waits delays the others by
 * at most a second, and lets one more `set` be remembered. A waiter that sleeps
 * while exactly 2^29 pulses pass, and looks just then, goes on waiting.
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * set the event may still be in `set`.
 * Fairness: with automatic reset a newcomer may pass sleepers.
 * C twin: `weft_event`. Source: the events of Windows; a counted signal for
 * each waiter, so that two sets in a row release two.
 *
 * Its words in memory:
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
 */
export class Event extends Region<"event"> {
  readonly #words: Int32Array<SharedArrayBuffer>;

  /**
   * Views the event at `byteOffset`, a multiple of 4; writes nothing. Zeroed
   * memory is an event with manual reset that is not set.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If the event does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
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
   * @throws {TypeError} If memory cannot be shared here (see `isSupported`), or
   * `config` is not as described.
   */
  static create(config?: EventConfig): Event {
    checked(config);
    return Event.init(allocate(Event.byteLength()), 0, config);
  }

  /**
   * Initializes unused memory as an event that is not set.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not as
   * described.
   * @throws {RangeError} If the event does not fit there.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config?: EventConfig,
  ): Event {
    const autoReset = checked(config);
    const event = new Event(memory, byteOffset);
    Atomics.store(event.#words, STATE, autoReset ? AUTO_BIT : 0);
    return event;
  }

  /**
   * Attaches to the event that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind.
   */
  static from(handle: Handle<"event">): Event {
    return new Event(...fromHandle("event", handle));
  }

  /** Whether each `set` lets only one waiter through. */
  get autoReset(): boolean {
    return (Atomics.load(this.#words, STATE) & AUTO_BIT) !== 0;
  }

  /** Whether `wait` would return at once. */
  get isSet(): boolean {
    return isSet(Atomics.load(this.#words, STATE));
  }

  /** Sets the event, and wakes the waiters that this lets through. */
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

  /** Takes back a `set`, unless a waiter has seen it already. */
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

  /**
   * Blocks until the event is set. With automatic reset, takes the signal.
   *
   * @throws {TypeError} If this agent may not block.
   */
  wait(): void {
    assertMayBlock("wait");
    this.#wait(Infinity);
  }

  /**
   * Waits at most `timeout` ms; without a timeout it does not wait. Returns
   * whether the event was set. With automatic reset, takes the signal.
   *
   * @throws {TypeError} If it would wait and this agent may not block, or if
   * `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryWait(timeout = 0): boolean {
    if (timeout === 0) return this.#tryWait();
    assertMayTry("tryWait", timeout);
    return this.#wait(timeout);
  }

  /**
   * As {@linkcode Event.wait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   */
  async waitAsync(options?: AsyncOptions): Promise<void> {
    await blockAsync(() => this.#path(), options);
  }

  /**
   * As {@linkcode Event.tryWait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN.
   */
  tryWaitAsync(options?: TryAsyncOptions): Promise<boolean> {
    return tryBlockAsync(() => this.#path(), options);
  }

  /**
   * Waits until the event is set, and takes no signal.
   *
   * @internal
   */
  readiness(): Waiting<boolean> {
    return this.#waitSlow(Atomics.load(this.#words, STATE), 0);
  }

  #tryWait(): boolean {
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

  /** Waits, blocking at most `timeout` ms. */
  #wait(timeout: number): boolean {
    const since = Atomics.load(this.#words, STATE);
    if (spinning.rounds > 0) {
      if (this.#tryWait() || spin(() => this.#tryWait())) return true;
    }
    return block(this.#waitSlow(since), timeout);
  }

  #path(): Waiting<boolean> {
    return this.#waitSlow(Atomics.load(this.#words, STATE));
  }

  #waitSlow(since: number, taken = ONE_SIGNAL): Waiting<boolean> {
    return since & AUTO_BIT
      ? this.#waitForSignal(taken)
      : this.#waitForPulse(since);
  }

  /** Waits until the event is set, or was set after its state was `since`. */
  *#waitForPulse(since: number): Waiting<boolean> {
    const words = this.#words;
    let state = Atomics.load(words, STATE);
    let last = false;
    for (;;) {
      if (told.explored) keeps("pulse", since & PULSE_MASK, state, last);
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
    let counted = 0; // ONE_WAITER once this waiter is counted
    let state = Atomics.load(words, STATE);
    let last = false;
    for (;;) {
      if (told.explored) keeps("signal", taken, counted, state, last);
      const expected = state;
      const served = (state & SIGNALS_MASK) !== 0;
      // One step takes a signal and the count of the waiter it lets through. So
      // there are never more signals than waiters, except for one remembered.
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
        // The wake that was used up belongs to the agent that takes the signal.
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

/** The state after `set`. */
function afterSet(state: number): number {
  if ((state & AUTO_BIT) === 0) {
    if (state & SET_BIT) return state;
    return ((state & ~WAITING_BIT) + ONE_PULSE | SET_BIT) | 0;
  }
  const signals = (state & SIGNALS_MASK) / ONE_SIGNAL;
  const waiters = (state & WAITERS_MASK) / ONE_WAITER;
  return signals < Math.max(waiters, 1) ? state + ONE_SIGNAL : state;
}

/** Checks a configuration: whether the event resets automatically. */
function checked(config: EventConfig = {}): boolean {
  assertConfig("event", config, ["autoReset"]);
  const { autoReset = false } = config;
  assertBoolean("autoReset", autoReset);
  return autoReset;
}
