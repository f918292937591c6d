/**
 * The slots of a `CallRing`, and the steps by which a call passes from caller
 * to server and back.
 *
 * @module
 */

import { CALL_RING } from "../_memory/layout.ts";
import { describe } from "../_memory/describe.ts";
import {
  byteLengthOf,
  bytesOf,
  Copier,
  type Elements,
} from "../_queue/elements.ts";
import { atEpoch, waitersOf, wake } from "../_wait/event_count.ts";
import { type PendingResult, waitOn } from "../_wait/pending.ts";
import { DamagedError } from "../_memory/damaged.ts";
import { ClosedError } from "../_queue/queue.ts";
import type { WordsProblems } from "../_memory/problems.ts";
import {
  assertConfig,
  inRange,
  type WordsInspection,
} from "../_memory/region.ts";
import { spin, spinPatiently } from "../_wait/spin.ts";
import { nextTurn } from "../_wait/turn.ts";
import { block, type Waiting } from "../_wait/wait.ts";

const SHAPE: typeof CALL_RING.shape = 1;
const REPLY: typeof CALL_RING.reply = 2;
const CLOSED: typeof CALL_RING.closed = 4;
const SERVE_EPOCH: typeof CALL_RING.serve_epoch = 32;
const SLOT_EPOCH: typeof CALL_RING.slot_epoch = 64;
const PAUSES: typeof CALL_RING.pauses = 66;
const SLOTS: typeof CALL_RING.length = 96;

/** The words of a slot, of which the first is its state; its bytes follow. */
export const CALLER = 1;
export const REQUEST_LENGTH = 2;
export const REPLY_LENGTH = 3;
export const REQUEST = 4;

/**
 * The parts of a state: an agent's id, the phase, and whether the caller
 * sleeps.
 */
export const ID_MASK = 0x0fff_ffff; // CALL_RING_BITS.ID
export const PHASE_MASK = 0x7000_0000; // CALL_RING_BITS.PHASE
const WAITING_BIT = -0x8000_0000; // CALL_RING_BITS.WAITING
/** The phases of a call. A comment says which agent the state names. */
export const FREE = 0;
const CLAIMED = 0x1000_0000; // the caller, which writes its request
export const POSTED = 0x2000_0000; // the caller
export const SERVING = 0x3000_0000; // the server
export const DROPPED = 0x4000_0000; // the server; nobody waits for the reply
export const REPLIED = 0x5000_0000; // the caller, for this and the next ones
const FAILED = 0x6000_0000;
const LOST = 0x7000_0000;
/** A bit of `caller`: that agent was abandoned. */
const DEAD_BIT = 0x1000_0000; // CALL_RING_BITS.DEAD

/**
 * Where the number of slots, less 1, begins in `shape`; below are the words of
 * a request.
 */
const SLOTS_SHIFT = 22; // CALL_RING_BITS.SLOTS
const WORDS_MASK = 0x003f_ffff; // CALL_RING_BITS.WORDS
/** The most calls that a ring can have under way at a time. */
export const MAX_SLOTS = 1024;
const MAX_REQUEST = 0x00ff_fffc; // 4 bytes a word
const MAX_BYTES = 0x4000_0000; // 2^30

/**
 * The time in ms after which a caller lets others go first, and the length of
 * its pause: an agent takes that long to wake up on a busy machine.
 */
const TURN = 50, PAUSE = 2;
/** The pauses that are due after a caller was woken and found no free slot. */
const MOST_PAUSES = 32;

/** The configuration of a ring. */
export interface CallRingConfig {
  /** How many calls may be under way at a time: 1 to 1024; 16 unless given. */
  readonly slots?: number;
  /** The most bytes of a request, 0 to 2^24 - 4; rounded up to words. */
  readonly request: number;
  /** The most bytes of a reply, 0 to 2^30; rounded up to words. */
  readonly reply: number;
}

/**
 * The facts that `inspect` shows of a ring.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: CALL_RING,
  waiters: (words) =>
    waitersOf(words, SERVE_EPOCH) + waitersOf(words, SLOT_EPOCH),
};

/**
 * The facts by which `inspect` finds problems.
 *
 * @ignore
 */
export const PROBLEMS: WordsProblems = {
  byteLength: (shape, reply) => bytesFor(shape, reply),
  behind: (region, tell) => {
    const shape = region[SHAPE]!;
    const most = { request: requestOf(shape), reply: region[REPLY]! };
    const stride = strideFor(most.request, most.reply);
    for (let slot = 0; slot < slotsOf(shape); slot++) {
      const at = SLOTS + slot * stride;
      const name = `slot ${slot}`;
      const state = Atomics.load(region, at);
      const phase = state & PHASE_MASK;
      if (phase !== FREE && (state & ID_MASK) === 0) {
        tell(at, name, state, "It is in use, but names no agent.");
      }
      const asked = phase === POSTED || phase === SERVING || phase === DROPPED;
      const request = Atomics.load(region, at + REQUEST_LENGTH);
      if (asked && request >>> 0 > most.request) {
        tell(
          at + REQUEST_LENGTH,
          name,
          request,
          "The request is too long for a slot.",
        );
      }
      const reply = Atomics.load(region, at + REPLY_LENGTH);
      const answered = phase === REPLIED || phase === FAILED;
      if (answered && reply >>> 0 > most.reply) {
        tell(
          at + REPLY_LENGTH,
          name,
          reply,
          "The reply is too long for a slot.",
        );
      }
    }
  },
};

/**
 * What a server's function returns: the bytes of the reply, or how many bytes
 * it wrote in place. If it returns nothing, the reply has no bytes.
 */
export type Reply = Elements | number | void;

/**
 * Serves a call. `request` is in the ring's own memory. So is `reply`, which
 * has `maxReply` bytes, so that the function can write its reply in place. Both
 * are valid until the call is answered.
 */
export type CallHandler<T = Reply> = (
  request: Uint8Array,
  reply: Uint8Array,
) => T;

/**
 * Thrown to the caller if the server could not answer the call.
 *
 * @example What the server threw
 * ```ts
 * import { CallError, CallRing } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 4, reply: 32 });
 * const call = ring.tryPost(new Uint8Array(4))!;
 * ring.tryServeOne(() => {
 *   throw new Error("not today");
 * });
 * try {
 *   call.tryReceive();
 * } catch (error) {
 *   if (!(error instanceof CallError) || error.abandoned) throw error;
 *   console.log(error.message); // not today
 * }
 * ```
 */
export class CallError extends Error {
  /** `"CallError"`. */
  override readonly name = "CallError";
  /** True if the server was abandoned (C: `EOWNERDEAD`), false if it failed. */
  readonly abandoned: boolean;

  /** `message` is the text that the server sent. */
  constructor(message: string, abandoned = false) {
    super(message);
    this.abandoned = abandoned;
  }
}

/**
 * The slots of a ring, as one agent sees them. The index of its first word
 * names a slot.
 */
export class Slots {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly count: number;
  readonly maxRequest: number;
  readonly maxReply: number;
  /** This agent. */
  readonly id: number;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  readonly #copier: Copier;
  readonly #stride: number;
  readonly #end: number;
  /** The slots where this view looks first for a free slot, and for a call. */
  #next: number = SLOTS;
  #look: number = SLOTS;
  /** Views of the requests and replies of the calls that were served last. */
  readonly #requests: Uint8Array[] = [];
  readonly #replies: Uint8Array[] = [];
  /** A server's wait for a call; its result is -1 at the end. */
  readonly coming: PendingResult<number>;
  /**
   * Called when a server waits, and finds no call: each second at least, and
   * after an agent was abandoned.
   */
  onIdle: (() => void) | undefined;
  /** When this agent last let others go first. */
  #gaveWay = -Infinity;

  constructor(words: Int32Array<SharedArrayBuffer>, id: number) {
    const { buffer, byteOffset, byteLength } = words;
    const shape = words[SHAPE]!;
    this.words = words;
    this.id = id;
    this.count = slotsOf(shape);
    this.maxRequest = requestOf(shape);
    this.maxReply = words[REPLY]!;
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
    this.#copier = new Copier(words);
    this.#stride = strideFor(this.maxRequest, this.maxReply);
    this.#end = SLOTS + this.count * this.#stride;
    this.coming = {
      ...atEpoch(words, SERVE_EPOCH),
      attempt: () => {
        const at = this.takeOrEnd();
        if (at === 0) this.onIdle?.();
        return at || undefined;
      },
      pass: () => {
        if (this.find(POSTED)) wake(words, SERVE_EPOCH, 1);
      },
    };
  }

  /**
   * A caller's wait for a slot; the request is posted there. It is a stage if
   * the caller waits for the answer, too.
   */
  posting(request: Elements, isStage = false): PendingResult<number> {
    const { words } = this;
    return {
      isStage,
      ...atEpoch(words, SLOT_EPOCH),
      attempt: () => this.post(request) || undefined,
      pass: () => {
        if (this.find(FREE)) wake(words, SLOT_EPOCH, 1);
      },
      handOn: () => Atomics.store(words, PAUSES, MOST_PAUSES),
    };
  }

  /**
   * Pauses, now and then, if others were woken and found no free slot. An agent
   * that calls in a loop takes the slot that it has just freed again, before a
   * caller that it woke has a core; on a busy machine, it could keep that
   * caller out for seconds. Nobody wakes the word on which it sleeps. Each
   * pause counts, so that an agent that was terminated while it waited makes
   * the others pause a few times only. Returns false if the time is over.
   */
  *giveWay(): Waiting<boolean> {
    const { words } = this;
    const due = words[PAUSES]!; // a hint: the exchange checks it
    const now = performance.now();
    if (due <= 0 || now - this.#gaveWay < TURN) return true;
    this.#gaveWay = now;
    const left = Math.min(due, MOST_PAUSES) - 1;
    Atomics.compareExchange(words, PAUSES, due, left);
    const sleep = { words, index: REPLY, value: this.maxReply, atMost: PAUSE };
    return (yield sleep) !== "timed-out";
  }

  /** Whether other callers found no free slot, so that this one gives way. */
  get isAwaited(): boolean {
    return this.words[PAUSES]! > 0; // a hint
  }

  get closed(): boolean {
    return Atomics.load(this.words, CLOSED) !== 0;
  }

  /** How many slots are in use. */
  get pending(): number {
    let count = 0;
    for (let at = SLOTS; at < this.#end; at += this.#stride) {
      if (Atomics.load(this.words, at) !== FREE) count++;
    }
    return count;
  }

  /** Whether any slot is in this phase. */
  find(phase: number): boolean {
    for (let at = SLOTS; at < this.#end; at += this.#stride) {
      if ((Atomics.load(this.words, at) & PHASE_MASK) === phase) return true;
    }
    return false;
  }

  /** Whether the call was answered. */
  isAnswered(at: number): boolean {
    return (Atomics.load(this.words, at) & PHASE_MASK) >= REPLIED;
  }

  #after(at: number): number {
    const next = at + this.#stride;
    return next < this.#end ? next : SLOTS;
  }

  /** Posts a request. Returns its slot, or 0 if no slot is free. */
  post(request: Elements): number {
    const byteLength = byteLengthOf(request);
    if (byteLength > this.maxRequest) {
      throw new RangeError(
        `A request of ${byteLength} bytes does not fit a ring for requests ` +
          `of up to ${this.maxRequest} bytes`,
      );
    }
    const at = this.begin();
    if (at === 0) return 0;
    this.#put(request, at + REQUEST);
    this.publish(at, byteLength);
    return at;
  }

  /**
   * Posts a request in the slot whose answer this agent has read, and which it
   * has not given back. So no other caller takes the slot meanwhile.
   */
  postAgain(at: number, request: Uint8Array): void {
    this.#put(request, at + REQUEST);
    this.publish(at, request.length);
  }

  /** Claims a slot for a request; 0 if none is free. Then `publish` it. */
  begin(): number {
    if (this.closed) throw new ClosedError("The ring is closed");
    return this.claim();
  }

  /** Posts the `byteLength` bytes that were written to a claimed slot. */
  publish(at: number, byteLength: number): void {
    const { words } = this;
    Atomics.store(words, at + CALLER, this.id);
    words[at + REQUEST_LENGTH] = byteLength; // published by (P)
    const posted = POSTED | this.id;
    Atomics.store(words, at, posted); // (P)
    // (C) Pairs with (E): we see that the ring is closed, or the servers see
    // our call before they end.
    if (
      this.closed &&
      Atomics.compareExchange(words, at, posted, FREE) === posted
    ) throw new ClosedError("The ring is closed");
    wake(words, SERVE_EPOCH, 1);
  }

  /** The room for the request in a slot that this agent claimed. */
  room(at: number): Uint8Array {
    const from = (at + REQUEST) * 4;
    return this.#bytes.subarray(from, from + this.maxRequest);
  }

  /** The number of a slot. */
  numberOf(at: number): number {
    return (at - SLOTS) / this.#stride;
  }

  /** Claims a free slot; 0 if there is none. */
  claim(): number {
    const { words } = this;
    const claimed = CLAIMED | this.id;
    for (let i = 2 * this.count; i > 0; i--) {
      const at = this.#next;
      // The first round reads hints, which the exchange checks; the second
      // round makes sure.
      const state = i > this.count ? words[at]! : Atomics.load(words, at);
      if (
        state === FREE &&
        Atomics.compareExchange(words, at, FREE, claimed) === FREE
      ) return at;
      this.#next = this.#after(at);
    }
    return 0;
  }

  /**
   * Lets the next claim begin behind the slot that was claimed last. So servers,
   * which look there next, find its call at once.
   */
  turn(): void {
    this.#next = this.#after(this.#next);
  }

  /** Frees a slot that only this agent uses. */
  #free(at: number): void {
    Atomics.store(this.words, at, FREE);
    wake(this.words, SLOT_EPOCH, 1);
  }

  /** Copies all of `src` to the words from `at` on. */
  #put(src: Elements, at: number): void {
    const { byteLength } = src;
    this.#copier.put(src, 0, at, byteLength >> 2);
    for (let i = byteLength & ~3; i < byteLength; i++) {
      this.#bytes[at * 4 + i] = bytesOf(src)[i]!;
    }
  }

  /** Copies `length` bytes at byte `from` to the beginning of `dst`. */
  #get(dst: Elements, from: number, length: number): void {
    this.#copier.get(dst, 0, from >> 2, length >> 2);
    if ((length & 3) === 0) return;
    const bytes = bytesOf(dst);
    for (let i = length & ~3; i < length; i++) {
      bytes[i] = this.#bytes[from + i]!;
    }
  }

  // ---- callers ------------------------------------------------------------

  /**
   * Waits for the answer; false if the time is over. If the call ended
   * meanwhile, the slot may belong to another call, so it is not looked at.
   */
  *answered(at: number, isOver = () => false): Waiting<boolean> {
    const { words } = this;
    while (!isOver()) {
      const state = Atomics.load(words, at);
      if ((state & PHASE_MASK) >= REPLIED) return true;
      const value = state | WAITING_BIT;
      // (W) Pairs with (R): the server sees the bit, or we see its answer.
      if (
        state !== value &&
        Atomics.compareExchange(words, at, state, value) !== state
      ) continue;
      const outcome = yield { words, index: at, value, all: true };
      if (outcome === "timed-out") return false;
    }
    return true;
  }

  /** The length of a reply. If it is damaged, the call is over. */
  replyLength(at: number): number {
    const length = this.words[at + REPLY_LENGTH]! >>> 0; // published by (R)
    if (length <= this.maxReply) return length;
    this.#free(at);
    throw new DamagedError("The ring");
  }

  /** Takes the answer of a call that has one, as a copy. */
  receive(at: number): Uint8Array<ArrayBuffer> {
    const { words } = this;
    const phase = Atomics.load(words, at) & PHASE_MASK;
    if (phase === LOST) {
      this.#free(at);
      throw new CallError("The server of the call was abandoned", true);
    }
    const length = this.replyLength(at);
    const from = this.#replyAt(at);
    const reply = this.#bytes.slice(from, from + length);
    this.#free(at);
    if (phase === REPLIED) return reply;
    throw new CallError(new TextDecoder().decode(reply));
  }

  /**
   * The same, but copies to `dst` as much as fits, and returns the reply's
   * length.
   */
  into(dst: Elements): (at: number) => number {
    byteLengthOf(dst); // throws if it is not a view of bytes
    return (at) => {
      const { words } = this;
      const phase = Atomics.load(words, at) & PHASE_MASK;
      if (phase !== REPLIED) return this.receive(at).length; // throws
      const length = this.replyLength(at);
      this.#get(dst, this.#replyAt(at), Math.min(length, dst.byteLength));
      this.#free(at);
      return length;
    };
  }

  /** Ends a call that has no answer yet; false if it has one. */
  giveUp(at: number): boolean {
    const { words } = this;
    for (;;) {
      const state = Atomics.load(words, at);
      const phase = state & PHASE_MASK;
      if (phase >= REPLIED) return false;
      // A server has the call, so the server will free the slot.
      const next = phase === SERVING ? DROPPED | state & ID_MASK : FREE;
      if (Atomics.compareExchange(words, at, state, next) !== state) continue;
      if (next === FREE) wake(words, SLOT_EPOCH, 1);
      return true;
    }
  }

  /** Ends a call, whether it was answered or not. */
  cancel(at: number): void {
    if (!this.giveUp(at)) this.#free(at);
  }

  // ---- servers ------------------------------------------------------------

  /**
   * Takes a call. Returns its slot; 0 if there is none, -1 if there will never
   * be one.
   */
  takeOrEnd(): number {
    const closed = this.closed; // (E) look at this first
    return this.#take() || (closed ? -1 : 0);
  }

  /**
   * Takes a call, blocking until one comes, or for `timeout` ms; -1 if there
   * will never be one.
   */
  takeBlocking(timeout?: number): number | undefined {
    const attempt = () => this.takeOrEnd() || undefined;
    return attempt() ?? spinPatiently(attempt) ??
      block(waitOn(this.coming, false), timeout);
  }

  #take(): number {
    const { words } = this;
    const serving = SERVING | this.id;
    for (let i = 2 * this.count; i > 0; i--) {
      const at = this.#look;
      this.#look = this.#after(at);
      // The first round reads hints, which the exchange checks; the second
      // round makes sure.
      let state = i > this.count ? words[at]! : Atomics.load(words, at);
      while ((state & PHASE_MASK) === POSTED) {
        const expected = state;
        const next = serving | expected & WAITING_BIT;
        state = Atomics.compareExchange(words, at, expected, next);
        if (state === expected) return at;
      }
    }
    return 0;
  }

  /** The request in a slot, in place. */
  request(at: number): Uint8Array {
    const length = this.words[at + REQUEST_LENGTH]! >>> 0; // published by (P)
    if (length > this.maxRequest) throw new DamagedError("The ring");
    return this.#view(this.#requests, at, (at + REQUEST) * 4, length);
  }

  /** The room for the reply in a slot. */
  space(at: number): Uint8Array {
    return this.#view(this.#replies, at, this.#replyAt(at), this.maxReply);
  }

  #replyAt(at: number): number {
    return (at + REQUEST) * 4 + this.maxRequest;
  }

  /**
   * A view of `length` bytes. A new one is made only if the length has changed.
   */
  #view(
    views: Uint8Array[],
    at: number,
    from: number,
    length: number,
  ): Uint8Array {
    const slot = this.numberOf(at);
    const view = views[slot];
    if (view?.length === length) return view;
    return views[slot] = this.#bytes.subarray(from, from + length);
  }

  /** Whether the caller still waits. */
  isWanted(at: number): boolean {
    return (Atomics.load(this.words, at) & PHASE_MASK) === SERVING &&
      (Atomics.load(this.words, at + CALLER) & DEAD_BIT) === 0;
  }

  /** Whether a slot is the one of a call of this agent. */
  isOf(at: number, caller: number): boolean {
    const state = Atomics.load(this.words, at);
    const phase = state & PHASE_MASK;
    return phase === SERVING || phase === DROPPED
      ? Atomics.load(this.words, at + CALLER) === caller
      : phase !== FREE && (state & ID_MASK) === caller;
  }

  /** How many slots other servers have whose requests are like this. */
  servedElsewhere(isLike: (request: Uint8Array) => boolean): number {
    let count = 0;
    for (let at = SLOTS; at < this.#end; at += this.#stride) {
      const state = Atomics.load(this.words, at);
      const isTheirs = (state & PHASE_MASK) === SERVING &&
        (state & ID_MASK) !== this.id;
      if (isTheirs && isLike(this.room(at))) count++;
    }
    return count;
  }

  /** Whether this agent serves a slot. */
  isServed(at: number): boolean {
    const state = Atomics.load(this.words, at);
    const phase = state & PHASE_MASK;
    return (phase === SERVING || phase === DROPPED) &&
      (state & ID_MASK) === this.id;
  }

  /** Whether a slot says that this agent was abandoned. */
  isDead(caller: number): boolean {
    const dead = caller | DEAD_BIT;
    for (let at = SLOTS; at < this.#end; at += this.#stride) {
      if (Atomics.load(this.words, at + CALLER) === dead) return true;
    }
    return false;
  }

  /** Replies; false if the caller does not wait any more. */
  reply(at: number, reply: Reply): boolean {
    const length = this.#lengthOf(reply);
    if (typeof reply === "object") this.#put(reply, this.#replyAt(at) / 4);
    this.words[at + REPLY_LENGTH] = length; // published by (R)
    return this.#answer(at, REPLIED);
  }

  #lengthOf(reply: Reply): number {
    if (reply === undefined) return 0;
    const length = ArrayBuffer.isView(reply) ? reply.byteLength : reply;
    if (typeof length !== "number") {
      throw new TypeError(
        `A reply must be a typed array, a DataView, a number of bytes, or ` +
          `nothing: received ${describe(reply)}`,
      );
    }
    if (Number.isInteger(length) && length >= 0 && length <= this.maxReply) {
      return length;
    }
    throw new RangeError(
      `A reply of ${length} bytes does not fit a ring for replies of up to ` +
        `${this.maxReply} bytes`,
    );
  }

  /** Answers with an error; false if the caller does not wait any more. */
  fail(at: number, error: unknown): boolean {
    const message = messageOf(error);
    const bytes = new Uint8Array(Math.min(message.length * 3, this.maxReply));
    const { written } = new TextEncoder().encodeInto(message, bytes);
    this.#bytes.set(bytes, this.#replyAt(at));
    this.words[at + REPLY_LENGTH] = written; // published by (R)
    return this.#answer(at, FAILED);
  }

  /** Answers a call that this agent serves. */
  #answer(at: number, phase: number): boolean {
    const { words } = this;
    for (;;) {
      const state = Atomics.load(words, at);
      if ((state & PHASE_MASK) === DROPPED) {
        this.#free(at); // too late: the slot belongs to us alone
        return false;
      }
      const next = phase | Atomics.load(words, at + CALLER) & ID_MASK;
      // (R) From here on the slot belongs to the caller.
      if (Atomics.compareExchange(words, at, state, next) !== state) continue;
      if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at);
      return !this.#reclaim(at, next);
    }
  }

  /** Takes back an answer to a caller that was abandoned. */
  #reclaim(at: number, answer: number): boolean {
    const { words } = this;
    const caller = answer & ID_MASK;
    // Pairs with (D): we see the mark, or the agent that made it sees the
    // answer. A dead agent stays dead, so the exchange cannot hit a later call.
    if (
      Atomics.load(words, at + CALLER) !== (caller | DEAD_BIT) ||
      Atomics.compareExchange(words, at, answer, FREE) !== answer
    ) return false;
    wake(words, SLOT_EPOCH, 1);
    return true;
  }

  /** Serves a call. If something goes wrong, the caller is told. */
  handle(at: number, fn: CallHandler): void {
    try {
      this.reply(at, fn(this.request(at), this.space(at)));
    } catch (error) {
      this.fail(at, error);
    }
  }

  /** As `handle`, but returns a promise if `fn` returns one. */
  handleAsync(
    at: number,
    fn: CallHandler<Reply | Promise<Reply>>,
  ): Promise<unknown> | undefined {
    try {
      const reply = fn(this.request(at), this.space(at));
      if (!isPromise(reply)) return void this.reply(at, reply);
      return reply.then((reply) => this.reply(at, reply))
        .catch((error) => this.fail(at, error));
    } catch (error) {
      return void this.fail(at, error);
    }
  }

  // ---- the end ------------------------------------------------------------

  close(): void {
    const { words } = this;
    if (Atomics.exchange(words, CLOSED, 1) !== 0) return;
    wake(words, SERVE_EPOCH, Infinity);
    wake(words, SLOT_EPOCH, Infinity);
  }

  abandon(id: number): number {
    const { words } = this;
    let count = 0;
    if (id === 0) return 0;
    for (let at = SLOTS; at < this.#end; at += this.#stride) {
      if (this.#abandon(at, id)) count++;
    }
    // The dead agent may have used up a wake, so wake the others.
    wake(words, SERVE_EPOCH, Infinity);
    wake(words, SLOT_EPOCH, Infinity);
    return count;
  }

  #abandon(at: number, id: number): boolean {
    const { words } = this;
    const dead = id | DEAD_BIT;
    // (D) A server that answers later sees the mark, and frees the slot.
    const caller = Atomics.compareExchange(words, at + CALLER, id, dead);
    for (;;) {
      const state = Atomics.load(words, at);
      const phase = state & PHASE_MASK;
      if ((state & ID_MASK) !== id) {
        // The server may have been terminated after it answered and before it
        // woke the caller.
        if (phase >= REPLIED) Atomics.notify(words, at);
        return phase === SERVING && caller === id;
      }
      // The expected value names the dead agent, so it cannot come again.
      let next = FREE;
      if (phase === SERVING) {
        const waits = Atomics.load(words, at + CALLER);
        if ((waits & DEAD_BIT) === 0) next = LOST | waits;
      }
      if (Atomics.compareExchange(words, at, state, next) !== state) continue;
      if (next === FREE) return true;
      if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at);
      this.#reclaim(at, next);
      return true;
    }
  }
}

/** A call that was posted, and for whose answer nothing sleeps yet. */
interface Posted {
  readonly at: number;
}

/**
 * Looks for the answers of calls that this agent awaits. It spins for them once
 * the code that calls has made its calls: to sleep for each of them, and to be
 * woken for each, takes longer than to answer them.
 */
export class Lookout<T extends Posted> {
  readonly #slots: Slots;
  readonly #take: (call: T) => void;
  readonly #sleep: (call: T) => void;
  #posted: T[] = [];
  #looking = false;

  /** `take` takes the answer of a call; `sleep` awaits it. Neither throws. */
  constructor(
    slots: Slots,
    take: (call: T) => void,
    sleep: (call: T) => void,
  ) {
    this.#slots = slots;
    this.#take = take;
    this.#sleep = sleep;
  }

  /** Adds a call that was just posted. */
  add(call: T): void {
    this.#posted.push(call);
    if (!this.#looking) this.#lookSoon();
  }

  #lookSoon(): void {
    this.#looking = true;
    const next = nextTurn();
    if (next === undefined) queueMicrotask(this.#look);
    else next.then(this.#look);
  }

  readonly #look = (): void => {
    this.#looking = false;
    const some = this.#sweep() || spin(() => this.#sweep());
    if (some && this.#posted.length > 0) return this.#lookSoon();
    const late = this.#posted;
    this.#posted = [];
    for (const call of late) this.#sleep(call);
  };

  /** Takes the answers that came; false if there is none. */
  #sweep(): boolean {
    const posted = this.#posted;
    let kept = 0;
    for (const call of posted) {
      if (this.#slots.isAnswered(call.at)) this.#take(call);
      else posted[kept++] = call;
    }
    const some = kept < posted.length;
    posted.length = kept;
    return some;
  }
}

// `instanceof` would fail for a promise of another realm.
const isPromise = (value: Reply | Promise<Reply>): value is Promise<Reply> =>
  typeof (value as Promise<Reply> | undefined)?.then === "function";

function messageOf(error: unknown): string {
  try {
    return String((error as Error)?.message ?? error);
  } catch {
    return "The server's function threw a value that has no text";
  }
}

const roundedUp = (bytes: number): number => Math.ceil(bytes / 4) * 4;

const slotsOf = (shape: number): number => (shape >>> SLOTS_SHIFT) + 1;

const requestOf = (shape: number): number => (shape & WORDS_MASK) * 4;

/** The number of words of a slot. */
const strideFor = (request: number, reply: number): number =>
  Math.ceil((REQUEST + request / 4 + reply / 4) / 32) * 32;

/** Checks `config` and packs it: returns `[shape, reply]`. */
export function checked(
  config: CallRingConfig,
): [shape: number, reply: number] {
  assertConfig("call_ring", config, ["slots", "request", "reply"]);
  const { slots = 16, request, reply } = config;
  inRange("slots", slots, 1, MAX_SLOTS);
  inRange("The most bytes of a request", request, 0, MAX_REQUEST);
  inRange("The most bytes of a reply", reply, 0, MAX_BYTES);
  const shape = slots - 1 << SLOTS_SHIFT | roundedUp(request) / 4;
  const bytes = bytesFor(shape, roundedUp(reply));
  if (bytes > MAX_BYTES) {
    throw new RangeError(
      `A ring has at most 2^30 bytes: ${slots} slots for requests of ` +
        `${request} and replies of ${reply} bytes need ${bytes}`,
    );
  }
  return [shape, roundedUp(reply)];
}

export function bytesFor(shape: number, reply: number): number {
  inRange("The most bytes of a reply", reply, 0, MAX_BYTES);
  return (SLOTS + slotsOf(shape) * strideFor(requestOf(shape), reply)) * 4;
}
