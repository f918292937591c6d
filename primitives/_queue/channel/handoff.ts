/**
 * What carries the messages of a channel of capacity 0: a place for one message
 * that goes from a sender to a receiver.
 *
 * A receiver that waits makes an offer. A sender that finds one takes it, and
 * is done: that receiver will come for the message. A sender that finds none,
 * and may wait, posts its message and waits until a receiver has taken it; if
 * it gives up, it takes the message back. So a sender that waits can be seen by
 * a receiver that does not wait, and the other way round.
 *
 * ```text
 * phase      who leaves it, and how
 * EMPTY      the writer: HANDED for an offer, else POSTED
 * POSTED     a receiver, or its sender, who gives up: EMPTY
 * HANDED     a receiver: EMPTY; or one that gives up: POSTED
 * ```
 *
 * A sender becomes the writer before it writes into the place, and publishes
 * the message by one exchange. A receiver copies the message, and takes it by
 * one exchange, which fails if it is no longer the same one. So an agent that
 * is terminated leaves a message that is there, or not; it may also leave its
 * id in `writer`, or an offer, which nobody can count. `abandon` ends both: it
 * frees the place, and ends all offers (O). Receivers that are alive make
 * theirs again.
 *
 * Invariant: the receivers that wait and have made an offer since the last
 * `abandon` are as many as the offers, and one more while the phase is HANDED.
 * None of them has one while a message is POSTED.
 * Wrap: an agent takes another message for the one that it knows only if
 * exactly a multiple of 2^19 messages come between two of its looks; an offer
 * for its own only if a multiple of 16 agents are abandoned meanwhile.
 * C twin: `_handoff.h`. Source: Go's unbuffered channels, and the synchronous
 * queues of Scherer, Lea and Scott, whose two lists are a place and a count
 * here.
 *
 * @module
 */

import type { CHANNEL } from "../../_memory/layout.ts";
import { inRange, type Memory, viewPlain } from "../../_memory/region.ts";
import { atEpoch, wake, wakeEnd } from "../../_wait/event_count.ts";
import { inTurn, type PendingResult, waitOn } from "../../_wait/pending.ts";
import { spin } from "../../_wait/spin.ts";
import {
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "../../_wait/wait.ts";
import type { ElementQueue, Kind } from "../carrier.ts";
import { Copier, type Elements } from "../elements.ts";
import { ClosedError } from "../queue.ts";

const HANDOFF: typeof CHANNEL.handoff = 10;
const OFFER_EPOCH: typeof CHANNEL.offer_epoch = 11;
const OFFER_GONG: typeof CHANNEL.offer_gong = 13;
const MESSAGE_EPOCH: typeof CHANNEL.message_epoch = 14;
const MESSAGE_GONG: typeof CHANNEL.message_gong = 16;
const ROOM_EPOCH: typeof CHANNEL.room_epoch = 17;
const TAKEN_EPOCH: typeof CHANNEL.taken_epoch = 19;
const WRITER: typeof CHANNEL.writer = 21;
/** The words of the head, and four that are 0 where others have a queue. */
const LENGTH = 36;
const HEAD: typeof CHANNEL.length = 32;

const PHASE_MASK = 3; // CHANNEL_BITS.PHASE
const STOPPED_BIT = 4; // CHANNEL_BITS.STOPPED
const OFFERS_MASK = 0x1f8; // CHANNEL_BITS.OFFERS
const ENDED_MASK = 0x1e00; // CHANNEL_BITS.ENDED
const NUMBER_MASK = -0x2000; // CHANNEL_BITS.NUMBER
const ONE_OFFER = 8;
const ONE_ENDED = 0x200;
const ONE_MESSAGE = 0x2000;

const EMPTY = 0, POSTED = 1, HANDED = 2;

/** The largest agent id. */
const MAX_ID = 0x0fff_ffff;

/** What carries messages if the capacity is 0. */
export const HANDOFFS: Pick<Kind<unknown>, "byteLength" | "init"> = {
  byteLength: (_capacity, size) => (LENGTH - HEAD) * 4 + size,
  init(memory, at) {
    viewPlain("channel", { length: LENGTH - HEAD }, memory, at).fill(0);
  },
};

const ended = () => new ClosedError("The channel is closed");

/** A receiver that waits. */
interface Offering {
  /** The bits ENDED when it made its offer; -1 if it has none. */
  since: number;
}

/** A place for one message, as a queue that has room only for a receiver. */
export class Handoff implements ElementQueue {
  readonly capacity = 0;
  readonly size = 0;
  readonly elementSize: number;
  readonly byteLength: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #copier: Copier;
  readonly #id: number;
  /** Set while an attempt of a sender that may post its message runs. */
  #posts = false;
  /** The number of the message that it posted; undefined if it was handed. */
  #posted: number | undefined;
  /** The receiver that waits, and whose attempt runs. */
  #offering: Offering | undefined;

  /** The place, of `size` bytes, of the channel at `at`, for the agent `id`. */
  constructor(memory: Memory, at: number, size: number, id: number) {
    const words = viewPlain(
      "channel",
      { length: LENGTH + size / 4 },
      memory,
      at,
    );
    this.#words = words;
    this.#copier = new Copier(words);
    this.#id = id;
    this.elementSize = size;
    this.byteLength = HANDOFFS.byteLength(0, size);
  }

  get closed(): boolean {
    return (Atomics.load(this.#words, HANDOFF) & STOPPED_BIT) !== 0;
  }

  close(): void {
    const words = this.#words;
    if (Atomics.or(words, HANDOFF, STOPPED_BIT) & STOPPED_BIT) return;
    this.#wakeAll();
  }

  #wakeAll(): void {
    const words = this.#words;
    wakeEnd(words, MESSAGE_EPOCH, Infinity);
    wakeEnd(words, OFFER_EPOCH, Infinity);
    wake(words, ROOM_EPOCH, Infinity);
    wake(words, TAKEN_EPOCH, Infinity);
  }

  /**
   * Ends what the agent `id`, known never to run again, did here. Returns how
   * many messages it had begun to send.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   */
  abandonSend(id: number): number {
    inRange("An agent id", id, 0, MAX_ID);
    if (id === 0) return 0;
    const words = this.#words;
    for (let state = Atomics.load(words, HANDOFF);;) {
      const handed = (state & PHASE_MASK) === HANDED;
      if (!handed && (state & OFFERS_MASK) === 0) break;
      // (O) Whose offers these are, no word tells. A message that was handed to
      // one of them is for the next receiver.
      const next = state & ~(OFFERS_MASK | ENDED_MASK) |
        state + ONE_ENDED & ENDED_MASK;
      const seen = Atomics.compareExchange(
        words,
        HANDOFF,
        state,
        handed ? next + POSTED - HANDED : next,
      );
      if (seen === state) break;
      state = seen;
    }
    const wrote = Atomics.compareExchange(words, WRITER, id, 0) === id;
    this.#wakeAll();
    return wrote ? 1 : 0;
  }

  // ---- senders --------------------------------------------------------------

  /**
   * Sends the message in `src` to a receiver that waits; false if none does.
   */
  tryPush(src: Elements): boolean {
    const posts = this.#posts;
    if (!this.#claim(posts)) return false;
    this.#copier.put(src, 0, LENGTH, this.elementSize >>> 2); // published by (P)
    return this.#publish(posts);
  }

  tryPushInt(value: number): boolean {
    const posts = this.#posts;
    if (!this.#claim(posts)) return false;
    this.#words[LENGTH] = value; // published by (P)
    return this.#publish(posts);
  }

  /** Becomes the writer; false if that is of no use now. */
  #claim(posts: boolean): boolean {
    const words = this.#words;
    const state = Atomics.load(words, HANDOFF);
    if (state & STOPPED_BIT) throw ended();
    if (state & PHASE_MASK) return false;
    if (!posts && (state & OFFERS_MASK) === 0) return false;
    if (Atomics.compareExchange(words, WRITER, 0, this.#id) !== 0) return false;
    // From here on, only this agent can fill the place. It may be full already.
    if ((Atomics.load(words, HANDOFF) & PHASE_MASK) === EMPTY) return true;
    this.#leave();
    return false;
  }

  /** Lets other agents write into the place. */
  #leave(): void {
    Atomics.store(this.#words, WRITER, 0);
    this.#pass(); // to one that found a writer
  }

  /** (P) Hands the message to a receiver that waits, posts it, or neither. */
  #publish(posts: boolean): boolean {
    const words = this.#words;
    for (let state = Atomics.load(words, HANDOFF);;) {
      const offered = (state & OFFERS_MASK) !== 0;
      const closed = (state & STOPPED_BIT) !== 0;
      if (closed || !offered && !posts) {
        this.#leave();
        if (closed) throw ended();
        return false;
      }
      const next = state + ONE_MESSAGE +
          (offered ? HANDED - ONE_OFFER : POSTED) | 0;
      const seen = Atomics.compareExchange(words, HANDOFF, state, next);
      if (seen === state) {
        if (posts) this.#posted = offered ? undefined : next & NUMBER_MASK;
        this.#leave();
        wakeEnd(words, MESSAGE_EPOCH, 1);
        return true;
      }
      state = seen;
    }
  }

  /** Wakes a sender if it may have the place; all of them after the end. */
  #pass(): void {
    const words = this.#words;
    const state = Atomics.load(words, HANDOFF);
    const closed = (state & STOPPED_BIT) !== 0;
    if (!closed && (state & PHASE_MASK)) return;
    const n = closed ? Infinity : 1;
    wake(words, ROOM_EPOCH, n);
    if (closed || (state & OFFERS_MASK)) wakeEnd(words, OFFER_EPOCH, n);
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
    this.#pass();
    return true;
  }

  /**
   * Waits until `attempt` has posted its message, and that is taken; behind
   * those of this agent that wait for the place, if it shall await its turn.
   */
  *#sending(
    attempt: () => unknown,
    awaits: boolean,
    turn = false,
  ): Waiting<true | undefined> {
    const words = this.#words;
    const place: PendingResult<[number | undefined]> = {
      ...atEpoch(words, ROOM_EPOCH),
      place: { words, index: ROOM_EPOCH },
      attempt: () => {
        this.#posts = true;
        try {
          return attempt() ? [this.#posted] : undefined;
        } finally {
          this.#posts = false;
        }
      },
      pass: () => this.#pass(),
      isStage: true,
    };
    const posted = yield* turn ? inTurn(place) : waitOn(place, awaits);
    if (posted === undefined) return undefined;
    const [number] = posted;
    if (number === undefined) return true; // a receiver comes for it
    const look = () => {
      const state = Atomics.load(words, HANDOFF);
      if (!this.#isPosted(state, number)) return true;
      if ((state & STOPPED_BIT) === 0) return undefined;
      if (!this.#takeBack(number)) return true;
      throw ended();
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
    for (let state; (state = this.#look()) !== undefined;) {
      // A sender may write meanwhile; then (T) fails. Published by (P).
      this.#copier.get(dst, 0, LENGTH, this.elementSize >>> 2);
      if (this.#take(state)) return true;
    }
    return false;
  }

  tryPopInt(): number | undefined {
    for (let state; (state = this.#look()) !== undefined;) {
      const value = this.#words[LENGTH]!; // as in `tryPopInto`
      if (this.#take(state)) return value;
    }
    return undefined;
  }

  /** The state if there is a message that this agent may take. */
  #look(): number | undefined {
    const state = Atomics.load(this.#words, HANDOFF);
    if (state & PHASE_MASK) {
      return this.#taken(state) === undefined ? undefined : state;
    }
    if (state & STOPPED_BIT) throw ended();
    return undefined;
  }

  /** The state without its message; undefined if nobody else may have it. */
  #taken(state: number): number | undefined {
    if ((state & PHASE_MASK) === POSTED) return state - POSTED;
    const next = state - HANDED;
    if (this.#offering?.since === (state & ENDED_MASK)) return next;
    // Who takes what was handed to another one gives the offer back.
    if ((state & OFFERS_MASK) === OFFERS_MASK) return undefined;
    return next + ONE_OFFER;
  }

  /** (T) Takes the message that `state` tells of; false if it is gone. */
  #take(state: number): boolean {
    const words = this.#words;
    const number = state & NUMBER_MASK;
    for (let next; (next = this.#taken(state)) !== undefined;) {
      const seen = Atomics.compareExchange(words, HANDOFF, state, next);
      if (seen === state) {
        if (next === state - HANDED) this.#offering!.since = -1; // it was mine
        if ((state & PHASE_MASK) === POSTED) wake(words, TAKEN_EPOCH, Infinity);
        this.#pass();
        return true;
      }
      state = seen;
      if ((state & NUMBER_MASK) !== number || (state & PHASE_MASK) === EMPTY) {
        return false;
      }
    }
    return false;
  }

  /** Offers to take a message, unless there is one, or too many offer that. */
  #offer(offering: Offering): void {
    const words = this.#words;
    for (let state = Atomics.load(words, HANDOFF);;) {
      if (offering.since === (state & ENDED_MASK)) return;
      const full = (state & OFFERS_MASK) === OFFERS_MASK;
      if (full || (state & PHASE_MASK) === POSTED) return;
      if (state & STOPPED_BIT) return;
      const next = state + ONE_OFFER | 0;
      const seen = Atomics.compareExchange(words, HANDOFF, state, next);
      if (seen === state) {
        offering.since = state & ENDED_MASK;
        break;
      }
      state = seen;
    }
    wakeEnd(words, OFFER_EPOCH, 1);
  }

  /**
   * Takes an offer back, or what was handed to it, unless the state has
   * changed.
   */
  #retract(offering: Offering, state: number): void {
    const change = offering.since !== (state & ENDED_MASK)
      ? 0 // it was ended
      : (state & OFFERS_MASK) !== 0
      ? -ONE_OFFER
      : (state & PHASE_MASK) === HANDED
      ? POSTED - HANDED // for the next receiver
      : 0;
    const next = state + change | 0;
    const seen = Atomics.compareExchange(this.#words, HANDOFF, state, next);
    if (seen === state) offering.since = -1;
  }

  /**
   * What a receiver waits for: what `attempt`, an operation here, returns.
   * While it returns nothing, this agent offers to take a message.
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
        if ((result ?? false) === false) this.#offer(offering);
        return result;
      },
      pass: () => {},
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
      while (offering.since >= 0) {
        this.#retract(offering, Atomics.load(words, HANDOFF));
      }
      if (this.#isReady()) wakeEnd(words, MESSAGE_EPOCH, this.#next());
    }
  }

  /** Takes the offer of a receiver that gives up back, or what it brought. */
  #settle<T>(it: PendingResult<T>, offering: Offering): T | undefined {
    while (offering.since >= 0) {
      const state = Atomics.load(this.#words, HANDOFF);
      if ((state & PHASE_MASK) !== EMPTY && (state & OFFERS_MASK) === 0) {
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
    return (state & (PHASE_MASK | STOPPED_BIT)) !== 0;
  }

  // ---- both -----------------------------------------------------------------

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
      const offering: Offering = { since: -1 };
      const it = this.#message(attempt, offering);
      return this.#receiving(it, offering, awaits);
    }
    return waitOn({
      ...atEpoch(this.#words, OFFER_EPOCH),
      attempt,
      pass: () => this.#pass(),
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
    const offering: Offering = { since: -1 };
    const it = this.#message(attempt, offering);
    return spin(() => it.attempt()) ??
      block(this.#receiving(it, offering, false), timeout);
  }

  #path<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    turn: boolean,
  ): Waiting<T | undefined> {
    return end === "pop"
      ? this.waitAt(end, attempt)
      : this.#sending(attempt, true, turn) as Waiting<T | undefined>;
  }

  asyncAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    options?: AsyncOptions,
  ): Promise<T> {
    const start = () => this.#path(end, attempt, true);
    return blockAsync(start, options) as Promise<T>;
  }

  tryAsyncAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    options?: TryAsyncOptions,
  ): Promise<T | undefined> {
    const turn = (options?.timeout ?? 0) > 0;
    return tryBlockAsync(() => this.#path(end, attempt, turn), options);
  }
}
