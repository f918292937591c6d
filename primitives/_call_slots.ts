/**
 * The slots of a `CallRing`: how a call gets from hand to hand.
 *
 * @module
 */

import { CALL_RING } from "./_layout.ts";
import { describe } from "./_describe.ts";
import { byteLengthOf, bytesOf, Copier, type Elements } from "./_elements.ts";
import { type Awaited, waitersOf, wake } from "./_event_count.ts";
import { ClosedError } from "./_queue.ts";
import { assertConfig, inRange, type WordsInspection } from "./_region.ts";
import type { Waiting } from "./_wait.ts";

const SHAPE = CALL_RING.shape;
const REPLY = CALL_RING.reply;
const CLOSED = CALL_RING.closed;
const SERVE_EPOCH = CALL_RING.serve_epoch;
const SLOT_EPOCH = CALL_RING.slot_epoch;
const SLOTS = CALL_RING.length;

/** In a slot: its words, of which the first is its state, and its bytes. */
const CALLER = 1;
const REQUEST_LENGTH = 2;
const REPLY_LENGTH = 3;
const REQUEST = 4;

/** In a state: the agent that it is about, what it is, and a sleeper. */
const ID_MASK = 0x0fff_ffff;
const PHASE_MASK = 7 << 28;
const WAITING_BIT = 1 << 31;
/** The phases of a call, and who is the agent. */
const FREE = 0;
const CLAIMED = 1 << 28; // the caller, which writes its request
const POSTED = 2 << 28; // the caller
const SERVING = 3 << 28; // the server
const DROPPED = 4 << 28; // the server; nobody waits for the reply
const REPLIED = 5 << 28; // the caller, for this one and those behind it
const FAILED = 6 << 28;
const LOST = 7 << 28;
/** In `caller`: that agent was abandoned. */
const DEAD_BIT = 1 << 28;

/** In `shape`: slots less 1, above the words of a request. */
const SLOTS_SHIFT = 22;
const WORDS_MASK = (1 << SLOTS_SHIFT) - 1;
/** The most calls that may be under way at a time. */
export const MAX_SLOTS = 1024;
const MAX_REQUEST = WORDS_MASK * 4;
const MAX_BYTES = 2 ** 30;

/** How a ring is made. */
export interface CallRingConfig {
  /** Calls that may be under way at a time, 1 to 1024; 16 unless given. */
  readonly slots?: number;
  /** The most bytes of a request, 0 to 2^24 - 4; rounded up to words. */
  readonly request: number;
  /** The most bytes of a reply, 0 to 2^30; rounded up to words. */
  readonly reply: number;
}

/**
 * What can be told of a ring.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: CALL_RING,
  waiters: (words) =>
    waitersOf(words, SERVE_EPOCH) + waitersOf(words, SLOT_EPOCH),
};

/**
 * What a server's function answers: the bytes of the reply, or how many it
 * wrote in place; nothing is a reply of no bytes.
 */
export type Reply = Elements | number | void;

/**
 * Serves a call: `request` is the ring's own memory, and so is `reply`, of
 * `maxReply` bytes to write in place. Both are valid until the reply is given.
 */
export type CallHandler<T = Reply> = (
  request: Uint8Array,
  reply: Uint8Array,
) => T;

/**
 * Thrown where a call was made: the server could not answer it.
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
  /** Whether the server was abandoned, and did not fail (C: `EOWNERDEAD`). */
  readonly abandoned: boolean;

  /** Says what the server said. */
  constructor(message: string, abandoned = false) {
    super(message);
    this.abandoned = abandoned;
  }
}

/** The slots of a ring, as one agent sees them; a slot is named by its word. */
export class Slots {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly count: number;
  readonly maxRequest: number;
  readonly maxReply: number;
  readonly #id: number;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  readonly #copier: Copier;
  readonly #stride: number;
  readonly #end: number;
  /** Where this view looks first for a free slot, and for a call. */
  #next: number = SLOTS;
  #look: number = SLOTS;
  /** Views of the requests and replies that were served last. */
  readonly #requests: Uint8Array[] = [];
  readonly #replies: Uint8Array[] = [];
  /** A server's wait for a call, which is -1 at the end. */
  readonly coming: Awaited<number>;

  constructor(words: Int32Array<SharedArrayBuffer>, id: number) {
    const { buffer, byteOffset, byteLength } = words;
    const shape = words[SHAPE]!;
    this.words = words;
    this.#id = id;
    this.count = slotsOf(shape);
    this.maxRequest = requestOf(shape);
    this.maxReply = words[REPLY]!;
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
    this.#copier = new Copier(words);
    this.#stride = strideFor(this.maxRequest, this.maxReply);
    this.#end = SLOTS + this.count * this.#stride;
    this.coming = {
      words,
      epoch: SERVE_EPOCH,
      attempt: () => this.takeOrEnd() || undefined,
      pass: () => {
        if (this.find(POSTED)) wake(words, SERVE_EPOCH, 1);
      },
    };
  }

  /** A caller's wait for a slot, in which its request is posted. */
  room(request: Elements): Awaited<number> {
    const { words } = this;
    return {
      words,
      epoch: SLOT_EPOCH,
      attempt: () => this.post(request) || undefined,
      pass: () => {
        if (this.find(FREE)) wake(words, SLOT_EPOCH, 1);
      },
    };
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

  /** Whether there is a slot of this phase. */
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

  /** Posts a request: its slot, or 0 if none is free. */
  post(request: Elements): number {
    const { words } = this;
    const byteLength = byteLengthOf(request);
    if (byteLength > this.maxRequest) {
      throw new RangeError(
        `A request of ${byteLength} bytes does not fit a ring for requests ` +
          `of up to ${this.maxRequest} bytes`,
      );
    }
    if (this.closed) throw new ClosedError("The ring is closed");
    const at = this.#claim();
    if (at === 0) return 0;
    Atomics.store(words, at + CALLER, this.#id);
    words[at + REQUEST_LENGTH] = byteLength; // published by (P)
    this.#put(request, at + REQUEST);
    const posted = POSTED | this.#id;
    Atomics.store(words, at, posted); // (P)
    // (C) Pairs with (E): we see the end, or servers see our call before it.
    if (
      this.closed &&
      Atomics.compareExchange(words, at, posted, FREE) === posted
    ) throw new ClosedError("The ring is closed");
    wake(words, SERVE_EPOCH, 1);
    return at;
  }

  /** Claims a free slot; 0 if there is none. */
  #claim(): number {
    const { words } = this;
    const claimed = CLAIMED | this.#id;
    for (let i = 2 * this.count; i > 0; i--) {
      const at = this.#next;
      // First by hints, which the exchange checks; then to be sure.
      const state = i > this.count ? words[at]! : Atomics.load(words, at);
      if (
        state === FREE &&
        Atomics.compareExchange(words, at, FREE, claimed) === FREE
      ) return at;
      this.#next = this.#after(at);
    }
    return 0;
  }

  /** Gives a slot back that is this agent's alone. */
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
   * Waits for the answer; false if the time is over. If the call is over by
   * then, the slot is another's, and not looked at.
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

  /** Takes the answer of a call that has one, as a copy. */
  receive(at: number): Uint8Array<ArrayBuffer> {
    const { words } = this;
    const phase = Atomics.load(words, at) & PHASE_MASK;
    if (phase === LOST) {
      this.#free(at);
      throw new CallError("The server of the call was abandoned", true);
    }
    const length = words[at + REPLY_LENGTH]!; // published by (R)
    const from = this.#replyAt(at);
    const reply = this.#bytes.slice(from, from + length);
    this.#free(at);
    if (phase === REPLIED) return reply;
    throw new CallError(new TextDecoder().decode(reply));
  }

  /** The same to `dst`, as much as it can hold: answers the reply's length. */
  into(dst: Elements): (at: number) => number {
    byteLengthOf(dst); // checks that it is a view
    return (at) => {
      const { words } = this;
      const phase = Atomics.load(words, at) & PHASE_MASK;
      if (phase !== REPLIED) return this.receive(at).length; // throws
      const length = words[at + REPLY_LENGTH]!; // published by (R)
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
      // A server has it: the slot is the server's to give back.
      const next = phase === SERVING ? DROPPED | state & ID_MASK : FREE;
      if (Atomics.compareExchange(words, at, state, next) !== state) continue;
      if (next === FREE) wake(words, SLOT_EPOCH, 1);
      return true;
    }
  }

  /** Ends a call, whatever became of it. */
  cancel(at: number): void {
    if (!this.giveUp(at)) this.#free(at);
  }

  // ---- servers ------------------------------------------------------------

  /** Takes a call: its slot; 0 if there is none, -1 if never again. */
  takeOrEnd(): number {
    const closed = this.closed; // (E) before the look
    return this.#take() || (closed ? -1 : 0);
  }

  #take(): number {
    const { words } = this;
    const serving = SERVING | this.#id;
    for (let i = 2 * this.count; i > 0; i--) {
      const at = this.#look;
      this.#look = this.#after(at);
      // First by hints, which the exchange checks; then to be sure.
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
    const found = this.words[at + REQUEST_LENGTH]! >>> 0; // published by (P)
    const length = found <= this.maxRequest ? found : 0; // damaged otherwise
    return this.#view(this.#requests, at, (at + REQUEST) * 4, length);
  }

  /** Room for the reply in a slot. */
  space(at: number): Uint8Array {
    return this.#view(this.#replies, at, this.#replyAt(at), this.maxReply);
  }

  #replyAt(at: number): number {
    return (at + REQUEST) * 4 + this.maxRequest;
  }

  /** A view of `length` bytes, made anew only if the length has changed. */
  #view(
    views: Uint8Array[],
    at: number,
    from: number,
    length: number,
  ): Uint8Array {
    const slot = (at - SLOTS) / this.#stride;
    const view = views[slot];
    if (view?.length === length) return view;
    return views[slot] = this.#bytes.subarray(from, from + length);
  }

  /** Whether the caller still waits. */
  isWanted(at: number): boolean {
    return (Atomics.load(this.words, at) & PHASE_MASK) === SERVING &&
      (Atomics.load(this.words, at + CALLER) & DEAD_BIT) === 0;
  }

  /** Replies; false if nobody waits for it any more. */
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

  /** Answers with an error; false if nobody waits for it any more. */
  fail(at: number, error: unknown): boolean {
    const message = messageOf(error);
    const bytes = new Uint8Array(Math.min(message.length * 3, this.maxReply));
    const { written } = new TextEncoder().encodeInto(message, bytes);
    this.#bytes.set(bytes, this.#replyAt(at));
    this.words[at + REPLY_LENGTH] = written; // published by (R)
    return this.#answer(at, FAILED);
  }

  /** Gives a call that this agent serves its answer. */
  #answer(at: number, phase: number): boolean {
    const { words } = this;
    for (;;) {
      const state = Atomics.load(words, at);
      if ((state & PHASE_MASK) === DROPPED) {
        this.#free(at); // late: the slot is ours alone
        return false;
      }
      const next = phase | Atomics.load(words, at + CALLER) & ID_MASK;
      // (R) From here on the slot is the caller's.
      if (Atomics.compareExchange(words, at, state, next) !== state) continue;
      if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at);
      return !this.#reclaim(at, next);
    }
  }

  /** Takes an answer back that was given to a caller that is abandoned. */
  #reclaim(at: number, answer: number): boolean {
    const { words } = this;
    const caller = answer & ID_MASK;
    // Pairs with (D): we see the mark, or who made it sees the answer. That an
    // agent is dead stays true, so no later call can be meant by the exchange.
    if (
      Atomics.load(words, at + CALLER) !== (caller | DEAD_BIT) ||
      Atomics.compareExchange(words, at, answer, FREE) !== answer
    ) return false;
    wake(words, SLOT_EPOCH, 1);
    return true;
  }

  /** Serves a call; what goes wrong is answered. */
  handle(at: number, fn: CallHandler): void {
    try {
      this.reply(at, fn(this.request(at), this.space(at)));
    } catch (error) {
      this.fail(at, error);
    }
  }

  /** As `handle`; a promise if there is something to await. */
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
    // A wake that was given to the agent is passed on.
    wake(words, SERVE_EPOCH, Infinity);
    wake(words, SLOT_EPOCH, Infinity);
    return count;
  }

  #abandon(at: number, id: number): boolean {
    const { words } = this;
    const dead = id | DEAD_BIT;
    // (D) A server that answers later finds out, and gives the slot back.
    const caller = Atomics.compareExchange(words, at + CALLER, id, dead);
    for (;;) {
      const state = Atomics.load(words, at);
      const phase = state & PHASE_MASK;
      if ((state & ID_MASK) !== id) {
        // Who answered may have been terminated before it woke the caller.
        if (phase >= REPLIED) Atomics.notify(words, at);
        return phase === SERVING && caller === id;
      }
      // What is expected here names the dead agent: none of it can come again.
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

// Not by `instanceof`, which fails for another realm's promises.
const isPromise = (value: Reply | Promise<Reply>): value is Promise<Reply> =>
  typeof (value as Promise<Reply> | undefined)?.then === "function";

function messageOf(error: unknown): string {
  try {
    return String((error as Error)?.message ?? error);
  } catch {
    return "The server's function threw what has no text";
  }
}

const roundedUp = (bytes: number): number => Math.ceil(bytes / 4) * 4;

const slotsOf = (shape: number): number => (shape >>> SLOTS_SHIFT) + 1;

const requestOf = (shape: number): number => (shape & WORDS_MASK) * 4;

/** The words of a slot. */
const strideFor = (request: number, reply: number): number =>
  Math.ceil((REQUEST + request / 4 + reply / 4) / 32) * 32;

/** `config` checked and packed: `[shape, reply]`. */
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
