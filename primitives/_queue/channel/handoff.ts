/**
 * What carries the messages of a channel of capacity 0: a place for one message
 * that goes from a sender to a receiver.
 *
 * A receiver that waits makes an offer. A sender that finds one takes it, writes
 * its message, and is done: that receiver will come for the message. A sender
 * that finds none, and may wait, posts its message and waits until a receiver
 * has taken it; if it gives up, it takes the message back. So a sender that
 * waits can be seen by a receiver that does not wait, and the other way round.
 *
 * ```text
 * phase      who leaves it, and how
 * EMPTY      a sender: PROMISED for an offer, WRITING without one
 * WRITING    its sender: HANDED for an offer, else POSTED, or EMPTY
 * POSTED     a receiver: READING; or its sender, who gives up: EMPTY
 * PROMISED   its sender: HANDED; or a receiver that gives up: WRITING
 * HANDED     a receiver: READING; or one that gives up: POSTED
 * READING    its receiver: EMPTY
 * ```
 *
 * Invariant: the receivers that wait and have made an offer are as many as the
 * offers, and one more while the phase is PROMISED or HANDED. So none of them
 * has made one while a message is POSTED. A receiver that was terminated leaves
 * its offer. Then a message may be handed to nobody, and lies in the place until
 * the next receiver comes.
 * Wrap: a sender takes the message of another one for its own only if exactly a
 * multiple of 2^22 messages come between two of its looks.
 * C twin: `_handoff.h`. Source: Go's unbuffered channels, and the synchronous
 * queues of Scherer, Lea and Scott, whose two lists are a place and a count here.
 *
 * @module
 */

import type { CHANNEL } from "../../_memory/layout.ts";
import { DamagedError } from "../../_memory/damaged.ts";
import { type Memory, viewPlain } from "../../_memory/region.ts";
import { atEpoch, wake, wakeEnd } from "../../_wait/event_count.ts";
import { type PendingResult, waitOn } from "../../_wait/pending.ts";
import { spin, spinning } from "../../_wait/spin.ts";
import {
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "../../_wait/wait.ts";
import type { ElementQueue, Kind } from "../carrier.ts";
import { byteLengthOf, Copier, type Elements } from "../elements.ts";
import { ClosedError } from "../queue.ts";
import { refuseInt } from "../queue_core.ts";

const HANDOFF: typeof CHANNEL.handoff = 10;
const OFFER_EPOCH: typeof CHANNEL.offer_epoch = 11;
const OFFER_GONG: typeof CHANNEL.offer_gong = 13;
const MESSAGE_EPOCH: typeof CHANNEL.message_epoch = 14;
const MESSAGE_GONG: typeof CHANNEL.message_gong = 16;
const ROOM_EPOCH: typeof CHANNEL.room_epoch = 17;
const TAKEN_EPOCH: typeof CHANNEL.taken_epoch = 19;
/** The words of the head, and four that are 0 where others have a queue. */
const LENGTH = 36;
const HEAD: typeof CHANNEL.length = 32;

const PHASE_MASK = 7; // CHANNEL_BITS.PHASE
const STOPPED_BIT = 8; // CHANNEL_BITS.STOPPED
const OFFERS_MASK = 0x3f0; // CHANNEL_BITS.OFFERS
const NUMBER_MASK = -0x400; // CHANNEL_BITS.NUMBER
const ONE_OFFER = 0x10;
const ONE_MESSAGE = 0x400;

const EMPTY = 0, WRITING = 1, POSTED = 2, PROMISED = 3, HANDED = 4, READING = 5;

/** What carries messages if the capacity is 0. */
export const HANDOFFS: Pick<Kind<unknown>, "byteLength" | "init"> = {
  byteLength: (_capacity, size) => (LENGTH - HEAD) * 4 + size,
  init(memory, at) {
    viewPlain("channel", { length: LENGTH - HEAD }, memory, at).fill(0);
  },
};

/** A receiver that waits. */
interface Offering {
  /** Whether its offer, or what was promised for it, is still there. */
  offers: boolean;
}

/** A place for one message, as a queue that has room only for a receiver. */
export class Handoff implements ElementQueue {
  readonly capacity = 0;
  readonly size = 0;
  readonly elementSize: number;
  readonly byteLength: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #copier: Copier;
  /** Set while an attempt of a sender that may post its message runs. */
  #posts = false;
  /** The number of the message that it posted; undefined if it was handed. */
  #posted: number | undefined;
  /** The receiver that waits, and whose attempt runs. */
  #offering: Offering | undefined;

  /** The place, of `size` bytes, of the channel at `at`. */
  constructor(memory: Memory, at: number, size: number) {
    const words = viewPlain(
      "channel",
      { length: LENGTH + size / 4 },
      memory,
      at,
    );
    this.#words = words;
    this.#copier = new Copier(words);
    this.elementSize = size;
    this.byteLength = HANDOFFS.byteLength(0, size);
  }

  get closed(): boolean {
    return (Atomics.load(this.#words, HANDOFF) & STOPPED_BIT) !== 0;
  }

  close(): void {
    const words = this.#words;
    if (Atomics.or(words, HANDOFF, STOPPED_BIT) & STOPPED_BIT) return;
    wakeEnd(words, MESSAGE_EPOCH, Infinity);
    wakeEnd(words, OFFER_EPOCH, Infinity);
    wake(words, ROOM_EPOCH, Infinity);
    wake(words, TAKEN_EPOCH, Infinity);
  }

  // ---- senders --------------------------------------------------------------

  /** Sends the message in `src` to a receiver that waits; false if none does. */
  tryPush(src: Elements): boolean {
    const posts = this.#posts;
    if (byteLengthOf(src) !== this.elementSize) {
      throw new RangeError(`A message has ${this.elementSize} bytes`);
    }
    if (!this.#claim(posts)) return false;
    this.#copier.put(src, 0, LENGTH, this.elementSize >>> 2); // published by (P)
    return this.#publish(posts);
  }

  tryPushInt(value: number): boolean {
    if (value !== (value | 0)) refuseInt(value);
    const posts = this.#posts;
    if (!this.#claim(posts)) return false;
    this.#words[LENGTH] = value; // published by (P)
    return this.#publish(posts);
  }

  /** Begins to write a message; false if it is of no use now. */
  #claim(posts: boolean): boolean {
    const words = this.#words;
    for (let state = Atomics.load(words, HANDOFF);;) {
      if (state & STOPPED_BIT) throw new ClosedError();
      if ((state & PHASE_MASK) !== EMPTY) return false;
      const offered = (state & OFFERS_MASK) !== 0;
      if (!offered && !posts) return false;
      const next = state + ONE_MESSAGE +
          (offered ? PROMISED - ONE_OFFER : WRITING) | 0;
      const seen = Atomics.compareExchange(words, HANDOFF, state, next);
      if (seen === state) return true;
      state = seen;
    }
  }

  /** (P) Hands the message to a receiver that waits, posts it, or neither. */
  #publish(posts: boolean): boolean {
    const words = this.#words;
    for (let state = Atomics.load(words, HANDOFF);;) {
      const phase = state & PHASE_MASK;
      const offered = (state & OFFERS_MASK) !== 0;
      const closed = (state & STOPPED_BIT) !== 0;
      const change = phase === PROMISED
        ? HANDED - PROMISED
        : closed
        ? EMPTY - WRITING
        : offered
        ? HANDED - WRITING - ONE_OFFER
        : posts
        ? POSTED - WRITING
        : EMPTY - WRITING;
      const next = state + change | 0;
      const seen = Atomics.compareExchange(words, HANDOFF, state, next);
      if (seen !== state) {
        state = seen;
        continue;
      }
      const now = next & PHASE_MASK;
      if (now === EMPTY) {
        if (closed) throw new ClosedError();
        wake(words, ROOM_EPOCH, 1);
        return false;
      }
      if (posts) {
        this.#posted = now === POSTED ? next & NUMBER_MASK : undefined;
      }
      wakeEnd(words, MESSAGE_EPOCH, 1);
      return true;
    }
  }

  /** Whether message `number` is posted. */
  #isPosted(state: number, number: number): boolean {
    return (state & PHASE_MASK) === POSTED &&
      (state & NUMBER_MASK) === number;
  }

  /** Takes a posted message back; false if a receiver was faster. */
  #takeBack(number: number): boolean {
    const words = this.#words;
    for (let state = Atomics.load(words, HANDOFF);;) {
      if (!this.#isPosted(state, number)) return false;
      const next = state + EMPTY - POSTED | 0;
      const seen = Atomics.compareExchange(words, HANDOFF, state, next);
      if (seen === state) break;
      state = seen;
    }
    wake(words, ROOM_EPOCH, 1);
    return true;
  }

  /** Waits until `attempt` has posted its message, and that is taken. */
  *#sending(
    attempt: () => unknown,
    awaits: boolean,
  ): Waiting<true | undefined> {
    const words = this.#words;
    const posted = yield* waitOn<[number | undefined]>({
      ...atEpoch(words, ROOM_EPOCH),
      attempt: () => {
        this.#posts = true;
        try {
          return attempt() ? [this.#posted] : undefined;
        } finally {
          this.#posts = false;
        }
      },
      pass: () => {
        const state = Atomics.load(words, HANDOFF);
        if (state & STOPPED_BIT) wake(words, ROOM_EPOCH, Infinity);
        else if ((state & PHASE_MASK) === EMPTY) wake(words, ROOM_EPOCH, 1);
      },
      stuckAt: (last) => this.#stuckAt(last),
      isStage: true,
    }, awaits);
    if (posted === undefined) return undefined;
    const [number] = posted;
    if (number === undefined) return true; // a receiver comes for it
    const look = () => {
      const state = Atomics.load(words, HANDOFF);
      if (!this.#isPosted(state, number)) return true;
      if ((state & STOPPED_BIT) === 0) return undefined;
      if (!this.#takeBack(number)) return true;
      throw new ClosedError();
    };
    const all = atEpoch(words, TAKEN_EPOCH, true);
    const wait = { ...all, attempt: look, pass: () => {} };
    let taken = awaits ? undefined : spin(look);
    try {
      taken ??= yield* waitOn<true>(wait, awaits);
    } finally {
      if (taken === undefined && !this.#takeBack(number)) taken = true;
    }
    return taken;
  }

  // ---- receivers ------------------------------------------------------------

  /** Takes the message that is there; false if there is none. */
  tryPopInto(dst: Elements): boolean {
    if (byteLengthOf(dst) < this.elementSize) {
      throw new RangeError(`A message has ${this.elementSize} bytes`);
    }
    if (!this.#take()) return false;
    this.#copier.get(dst, 0, LENGTH, this.elementSize >>> 2); // published by (P)
    this.#free();
    return true;
  }

  tryPopInt(): number | undefined {
    if (!this.#take()) return undefined;
    const value = this.#words[LENGTH]!; // published by (P)
    this.#free();
    return value;
  }

  /** Begins to read a message; false if there is none. */
  #take(): boolean {
    const words = this.#words;
    const offering = this.#offering;
    for (let state = Atomics.load(words, HANDOFF);;) {
      const phase = state & PHASE_MASK;
      if (phase !== POSTED && phase !== HANDED) {
        if ((state & STOPPED_BIT) === 0) return false;
        // (C) Without the offer, its sender finds out that it is closed.
        if (offering?.offers && !this.#retract(offering, state)) {
          state = Atomics.load(words, HANDOFF);
          continue;
        }
        throw new ClosedError();
      }
      // Who takes what was handed to another one gives the offer back.
      const mine = phase === HANDED && offering?.offers === true;
      const back = phase === HANDED && !mine ? ONE_OFFER : 0;
      if (back !== 0 && (state & OFFERS_MASK) === OFFERS_MASK) return false;
      const next = state + READING - phase + back | 0;
      const seen = Atomics.compareExchange(words, HANDOFF, state, next);
      if (seen === state) {
        if (mine) offering!.offers = false;
        return true;
      }
      state = seen;
    }
  }

  /** Gives the place to the next sender. */
  #free(): void {
    const words = this.#words;
    const state = Atomics.sub(words, HANDOFF, READING - EMPTY);
    wake(words, TAKEN_EPOCH, Infinity);
    wake(words, ROOM_EPOCH, 1);
    if (state & OFFERS_MASK) wakeEnd(words, OFFER_EPOCH, 1);
  }

  /** Offers to take a message, unless there is one, or too many offer that. */
  #offer(offering: Offering): void {
    const words = this.#words;
    for (let state = Atomics.load(words, HANDOFF);;) {
      const full = (state & OFFERS_MASK) === OFFERS_MASK;
      if (full || (state & PHASE_MASK) === POSTED) return;
      if (state & STOPPED_BIT) return;
      const next = state + ONE_OFFER | 0;
      const seen = Atomics.compareExchange(words, HANDOFF, state, next);
      if (seen === state) break;
      state = seen;
    }
    offering.offers = true;
    wakeEnd(words, OFFER_EPOCH, 1);
  }

  /**
   * Takes an offer back, or what was promised for it, unless the state has
   * changed. Returns whether that is done.
   */
  #retract(offering: Offering, state: number): boolean {
    const phase = state & PHASE_MASK;
    const change = (state & OFFERS_MASK) !== 0
      ? -ONE_OFFER
      : phase === PROMISED
      ? WRITING - PROMISED
      : phase === HANDED
      ? POSTED - HANDED // for the next receiver
      : 0; // another agent was terminated
    const next = state + change | 0;
    const seen = Atomics.compareExchange(this.#words, HANDOFF, state, next);
    if (seen !== state) return false;
    offering.offers = false;
    return true;
  }

  /**
   * What a receiver waits for: what `attempt`, an operation here, returns. While
   * it returns nothing, this agent offers to take a message.
   */
  #message<T>(
    attempt: () => T | false | undefined,
    offering: Offering,
  ): PendingResult<T> {
    return {
      ...atEpoch(this.#words, MESSAGE_EPOCH),
      attempt: () => {
        const before = this.#offering; // of a codec that is used meanwhile
        this.#offering = offering;
        let result;
        try {
          result = attempt();
        } finally {
          this.#offering = before;
        }
        if ((result ?? false) === false && !offering.offers) {
          this.#offer(offering);
        }
        return result;
      },
      pass: () => {},
      stuckAt: (last) => this.#stuckAt(last),
    };
  }

  /** Waits until a receiver's attempt returns a result. */
  *#receiving<T>(
    it: PendingResult<T>,
    offering: Offering,
    awaits: boolean,
  ): Waiting<T | undefined> {
    const words = this.#words;
    try {
      const result = yield* waitOn(it, awaits);
      return result ?? this.#settle(it, offering);
    } finally {
      while (offering.offers) {
        this.#retract(offering, Atomics.load(words, HANDOFF));
      }
      if (this.#isReady()) wakeEnd(words, MESSAGE_EPOCH, this.#next());
    }
  }

  /** Takes the offer of a receiver that gives up back, or what it brought. */
  #settle<T>(it: PendingResult<T>, offering: Offering): T | undefined {
    while (offering.offers) {
      const state = Atomics.load(this.#words, HANDOFF);
      const isHanded = (state & PHASE_MASK) === HANDED;
      if (isHanded && (state & OFFERS_MASK) === 0) {
        const result = it.attempt();
        if (result !== false && result !== undefined) return result;
        // Another arm of a `select` was done, or another agent was faster.
      }
      this.#retract(offering, state);
    }
  }

  /** How many receivers to wake when one of them ends. */
  #next(): number {
    return this.closed ? Infinity : 1;
  }

  /** Whether a receiver would not wait. */
  #isReady(): boolean {
    const state = Atomics.load(this.#words, HANDOFF);
    const phase = state & PHASE_MASK;
    return phase === POSTED || phase === HANDED || (state & STOPPED_BIT) !== 0;
  }

  // ---- both -----------------------------------------------------------------

  /**
   * A message that another agent writes or reads. An agent that finds the same
   * one twice, a second apart, throws: the channel is blocked.
   */
  #stuckAt(last: number | undefined): number | undefined {
    if (!spinning.tells) return undefined;
    const state = Atomics.load(this.#words, HANDOFF);
    const phase = state & PHASE_MASK;
    if (phase === EMPTY || phase === POSTED || phase === HANDED) return;
    const at = (state & (NUMBER_MASK | PHASE_MASK)) >>> 0;
    if (at === last) throw new DamagedError("The channel");
    return at;
  }

  readiness(awaits = true): Waiting<boolean | undefined> {
    const words = this.#words;
    return waitOn({
      ...atEpoch(words, MESSAGE_EPOCH),
      attempt: () => this.#isReady(),
      pass: () => {
        if (this.#isReady()) wakeEnd(words, MESSAGE_EPOCH, this.#next());
      },
    }, awaits);
  }

  gongAt(end: "push" | "pop"): number {
    return this.#words.byteOffset / 4 +
      (end === "pop" ? MESSAGE_GONG : OFFER_GONG);
  }

  /** Waits at an end as `select` does: a sender posts nothing. */
  waitAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    awaits = true,
  ): Waiting<T | undefined> {
    if (end === "pop") {
      const offering: Offering = { offers: false };
      const it = this.#message(attempt, offering);
      return this.#receiving(it, offering, awaits);
    }
    const words = this.#words;
    return waitOn({
      ...atEpoch(words, OFFER_EPOCH),
      attempt,
      pass: () => {
        const state = Atomics.load(words, HANDOFF);
        if (state & STOPPED_BIT) wakeEnd(words, OFFER_EPOCH, Infinity);
        else if (
          (state & OFFERS_MASK) !== 0 && (state & PHASE_MASK) === EMPTY
        ) wakeEnd(words, OFFER_EPOCH, 1);
      },
      stuckAt: (last) => this.#stuckAt(last),
    }, awaits);
  }

  blockAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    timeout?: number,
  ): T | undefined {
    if (end === "push") {
      return block(this.#sending(attempt, false), timeout) as T | undefined;
    }
    const offering: Offering = { offers: false };
    const it = this.#message(attempt, offering);
    return spin(() => it.attempt()) ??
      block(this.#receiving(it, offering, false), timeout);
  }

  #path<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
  ): Waiting<T | undefined> {
    return end === "pop"
      ? this.waitAt(end, attempt)
      : this.#sending(attempt, true) as Waiting<T | undefined>;
  }

  asyncAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    options?: AsyncOptions,
  ): Promise<T> {
    return blockAsync(() => this.#path(end, attempt), options) as Promise<T>;
  }

  tryAsyncAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    options?: TryAsyncOptions,
  ): Promise<T | undefined> {
    return tryBlockAsync(() => this.#path(end, attempt), options);
  }
}
