/**
 * The algorithm of `Barrier`: what each operation does to its words. Here its
 * state counts the parties; `barrier_tracked.ts` is where they have rows.
 *
 * C twin: `barrier.h`, function by function.
 *
 * @module
 */

import type { BARRIER } from "../_memory/layout.ts";
import { keeps, told } from "../_memory/explored.ts";
import { spin } from "../_wait/spin.ts";
import { block, type Waiting } from "../_wait/wait.ts";

export const TRACKED: typeof BARRIER.tracked = 2;
export const STATE: typeof BARRIER.state = 4;

export const ARRIVED_MASK = 0xfff; // BARRIER_BITS.ARRIVED
export const ONE_PARTY = 0x1000; // BARRIER_BITS.PARTIES
const PARTIES_MASK = 0x00ff_f000; // BARRIER_BITS.PARTIES
export const WAITING_BIT = 0x0100_0000; // BARRIER_BITS.WAITING
export const ONE_GENERATION = 0x0200_0000; // BARRIER_BITS.GENERATION
export const GENERATION_MASK = -0x0200_0000; // BARRIER_BITS.GENERATION

/** The most parties a barrier can have. */
export const MAX_PARTIES = 0xfff; // BARRIER_BITS.PARTIES
/** The largest agent id. */
export const MAX_ID = 0x0fff_ffff;

/** What an agent learns when it passes a barrier. */
export interface Passage {
  /** Whether it arrived last: true for one party of each generation. */
  readonly leader: boolean;
}

/** The parties of a barrier, counted or tracked. */
export interface Parties {
  readonly words: Int32Array<SharedArrayBuffer>;
  /** How many parties note that they arrive, or 0. */
  readonly tracked: number;
  /** Parties that have not left. */
  readonly parties: number;
  /** Parties that have arrived and wait. */
  readonly arrived: number;
  /** Takes one party out; true if this ended the generation. */
  leave(arrived: boolean): boolean;
  /** Takes out the party that agent `id` was; how many parties that were. */
  abandon(id: number): number;
  /** Arrives: the state after that, or undefined if all have arrived. */
  arrive(): number | undefined;
  /** Waits for the end of the generation in which `since` was the state. */
  waitSlow(since: number): Waiting<Passage | undefined>;
}

/** Parties that only the state of a barrier counts. */
export class Counted implements Parties {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly tracked = 0;

  /** The parties of a barrier of these words. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    this.words = words;
  }

  get parties(): number {
    return (Atomics.load(this.words, STATE) & PARTIES_MASK) / ONE_PARTY;
  }

  get arrived(): number {
    return Atomics.load(this.words, STATE) & ARRIVED_MASK;
  }

  leave(arrived: boolean): boolean {
    const words = this.words;
    let state = Atomics.load(words, STATE);
    for (;;) {
      const expected = state;
      const all = state & PARTIES_MASK;
      if (all === 0 || (arrived && (state & ARRIVED_MASK) === 0)) {
        throw noParty("leave", all !== 0);
      }
      const left = state - ONE_PARTY - (arrived ? 1 : 0);
      const waiting = left & ARRIVED_MASK;
      const ends = waiting > 0 && waiting * ONE_PARTY >= (left & PARTIES_MASK);
      const next = ends ? nextGeneration(left) : left | 0;
      state = Atomics.compareExchange(words, STATE, expected, next);
      if (state !== expected) continue;
      if (ends && state & WAITING_BIT) Atomics.notify(words, STATE);
      return ends;
    }
  }

  /** Nobody knows which party an agent was. */
  abandon(): number {
    return 0;
  }

  arrive(): number | undefined {
    const words = this.words;
    let state = words[STATE]!; // a hint: the exchange below checks it
    for (;;) {
      const expected = state;
      const arrived = (state & ARRIVED_MASK) + 1;
      const last = arrived * ONE_PARTY >= (state & PARTIES_MASK);
      // None comes back, so an old state cannot be wrong about this.
      if (last && (state & PARTIES_MASK) === 0) throw noParty("arrive at");
      const next = last ? nextGeneration(state) : state + 1;
      state = Atomics.compareExchange(words, STATE, expected, next);
      if (state !== expected) continue;
      if (!last) return next;
      if (state & WAITING_BIT) Atomics.notify(words, STATE);
      return undefined;
    }
  }

  *waitSlow(since: number): Waiting<Passage | undefined> {
    const words = this.words;
    let state = Atomics.load(words, STATE);
    let last = false;
    while (((state ^ since) & GENERATION_MASK) === 0) {
      // The generation of `since` is that of `state` here.
      if (told.explored) keeps("wait", state, last);
      const expected = state;
      // The generation did not end, so this arrival is still counted.
      state = last ? state - 1 : state | WAITING_BIT;
      if (state !== expected) {
        const seen = Atomics.compareExchange(words, STATE, expected, state);
        if (seen !== expected) {
          state = seen;
          continue;
        }
      }
      if (last) return undefined;
      // Every arrival changes the word, but only the last one wakes.
      const outcome = yield { words, index: STATE, value: state };
      state = Atomics.load(words, STATE);
      last = outcome === "timed-out";
    }
    return { leader: false };
  }
}

const noParty = (what: string, arrived = false): RangeError =>
  new RangeError(
    `Cannot ${what} a barrier: no party ${arrived ? "has arrived" : "is left"}`,
  );

/** The state once all have arrived: the next generation, with no arrival. */
function nextGeneration(state: number): number {
  return (state & (GENERATION_MASK | PARTIES_MASK)) + ONE_GENERATION | 0;
}

/**
 * Arrives, and blocks at most `timeout` ms; 0 takes the arrival back at once.
 */
export function arriveAndWait(
  parties: Parties,
  timeout: number,
): Passage | undefined {
  const { words } = parties;
  const state = parties.arrive();
  if (state === undefined) return { leader: true };
  const passed = () =>
    ((Atomics.load(words, STATE) ^ state) & GENERATION_MASK) !== 0;
  if (timeout > 0 && spin(passed)) return { leader: false };
  return block(parties.waitSlow(state), timeout);
}

/** Arrives, and waits for the end of the generation. */
export function* arriving(parties: Parties): Waiting<Passage | undefined> {
  const state = parties.arrive();
  if (state === undefined) return { leader: true };
  return yield* parties.waitSlow(state);
}
