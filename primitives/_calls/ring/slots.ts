/**
 * The slots of a `CallRing`, as one agent sees them: it looks for free ones and
 * for calls, and copies requests and replies. What happens to one call is in
 * `call.ts`.
 *
 * @module
 */

import { describe } from "../../_memory/describe.ts";
import {
  byteLengthOf,
  bytesOf,
  Copier,
  type Elements,
  getBytes,
} from "../../_queue/elements.ts";
import { atEpoch, wake } from "../../_wait/event_count.ts";
import { type PendingResult, waitOn } from "../../_wait/pending.ts";
import { DamagedError } from "../../_memory/damaged.ts";
import { ClosedError } from "../../_queue/queue.ts";
import { spinPatiently } from "../../_wait/spin.ts";
import { block } from "../../_wait/wait.ts";
import { CallError, type CallHandler, type Reply } from "./answers.ts";
import {
  abandon,
  answer,
  claim,
  free,
  isClosed,
  noteDeath,
  publish,
  take,
} from "./call.ts";
import {
  CALLER,
  DEAD_BIT,
  FAILED,
  FREE,
  ID_MASK,
  LOST,
  PAUSES,
  PHASE_MASK,
  POSTED,
  REPLIED,
  REPLY,
  REPLY_LENGTH,
  REQUEST,
  REQUEST_LENGTH,
  requestOf,
  SERVE_EPOCH,
  SERVING,
  SHAPE,
  SLOT_EPOCH,
  SLOTS,
  slotsOf,
  strideFor,
} from "./words.ts";

/** The pauses that are due after a caller was woken and found no free slot. */
export const MOST_PAUSES = 32;

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

  get closed(): boolean {
    return isClosed(this.words);
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

  #after(at: number): number {
    const next = at + this.#stride;
    return next < this.#end ? next : SLOTS;
  }

  /** Posts a request. Returns its slot, or 0 if no slot is free. */
  post(request: Elements): number {
    const byteLength = byteLengthOf(request);
    if (byteLength > this.maxRequest) {
      throw new RangeError(
        `A request of ${byteLength} bytes does not fit this ring, whose ` +
          `\`request\` is ${this.maxRequest} bytes`,
      );
    }
    const at = this.begin();
    if (at === 0) return 0;
    this.#write(request, at);
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

  /** Copies a request to a claimed slot, or frees that if the array throws. */
  #write(request: Elements, at: number): void {
    try {
      this.#put(request, at + REQUEST);
    } catch (error) { // a getter of a subclass
      free(this.words, at);
      throw error;
    }
  }

  /** Claims a slot for a request; 0 if none is free. Then `publish` it. */
  begin(): number {
    if (this.closed) throw new ClosedError("The ring is closed");
    return this.claim();
  }

  /** Posts the `byteLength` bytes that were written to a claimed slot. */
  publish(at: number, byteLength: number): void {
    if (publish(this.words, at, this.id, byteLength)) return;
    throw new ClosedError("The ring is closed");
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
    for (let i = 2 * this.count; i > 0; i--) {
      const at = this.#next;
      // The first round reads hints, which the exchange checks; the second
      // round makes sure.
      const state = i > this.count ? words[at]! : Atomics.load(words, at);
      if (state === FREE && claim(words, at, this.id)) return at;
      this.#next = this.#after(at);
    }
    return 0;
  }

  /**
   * Lets the next claim begin behind the slot that was claimed last. So
   * servers, which look there next, find its call at once.
   */
  turn(): void {
    this.#next = this.#after(this.#next);
  }

  /** Copies all of `src` to the words from `at` on. */
  #put(src: Elements, at: number): void {
    const { byteLength } = src;
    this.#copier.put(src, 0, at, byteLength >> 2);
    for (let i = byteLength & ~3; i < byteLength; i++) {
      this.#bytes[at * 4 + i] = bytesOf(src)[i]!;
    }
  }

  // ---- callers ------------------------------------------------------------

  /** The length of a reply. If it is damaged, the call is over. */
  replyLength(at: number): number {
    const length = this.words[at + REPLY_LENGTH]! >>> 0; // published by (R)
    if (length <= this.maxReply) return length;
    free(this.words, at);
    throw new DamagedError("The ring");
  }

  /** Takes the answer of a call that has one, as a copy. */
  receive(at: number): Uint8Array<ArrayBuffer> {
    const { words } = this;
    const phase = Atomics.load(words, at) & PHASE_MASK;
    if (phase === LOST) {
      free(this.words, at);
      throw new CallError("The server of the call was abandoned", true);
    }
    const length = this.replyLength(at);
    const from = this.#replyAt(at);
    const reply = this.#bytes.slice(from, from + length);
    free(this.words, at);
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
      try { // a getter of a subclass may throw
        const most = Math.min(length, dst.byteLength);
        getBytes(this.#copier, this.#bytes, dst, this.#replyAt(at), most);
      } finally {
        free(this.words, at);
      }
      return length;
    };
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
    for (let i = 2 * this.count; i > 0; i--) {
      const at = this.#look;
      this.#look = this.#after(at);
      // The first round reads hints, which the exchange checks; the second
      // round makes sure.
      const state = i > this.count ? words[at]! : Atomics.load(words, at);
      if (take(words, at, this.id, state)) return at;
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

  /** How many slots have calls like this that were posted, and are not over. */
  underWay(isLike: (at: number) => boolean): number {
    let count = 0;
    for (let at = SLOTS; at < this.#end; at += this.#stride) {
      const phase = Atomics.load(this.words, at) & PHASE_MASK;
      const isUnderWay = phase === POSTED || phase === SERVING ||
        phase === REPLIED;
      if (isUnderWay && isLike(at)) count++;
    }
    return count;
  }

  /** Whether a slot says that this agent was abandoned. */
  isDead(caller: number): boolean {
    const dead = caller | DEAD_BIT;
    for (let at = SLOTS; at < this.#end; at += this.#stride) {
      if (Atomics.load(this.words, at + CALLER) === dead) return true;
    }
    return false;
  }

  /**
   * Whether this agent still serves a slot; a hint. In Deno, a worker that was
   * terminated goes on for a while, and its slot may have another call by then.
   */
  serves(at: number): boolean {
    return (this.words[at]! & ID_MASK) === this.id;
  }

  /** Replies; false if the caller does not wait any more. */
  reply(at: number, reply: Reply): boolean {
    const length = this.#lengthOf(reply);
    if (!this.serves(at)) return false;
    if (typeof reply === "object") this.#put(reply, this.#replyAt(at) / 4);
    this.words[at + REPLY_LENGTH] = length; // published by (R)
    return answer(this.words, at, REPLIED);
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
      `A reply of ${length} bytes does not fit this ring, whose \`reply\` is ` +
        `${this.maxReply} bytes`,
    );
  }

  /** Answers with an error; false if the caller does not wait any more. */
  fail(at: number, error: unknown): boolean {
    if (!this.serves(at)) return false;
    const message = messageOf(error);
    const bytes = new Uint8Array(Math.min(message.length * 3, this.maxReply));
    const { written } = new TextEncoder().encodeInto(message, bytes);
    this.#bytes.set(bytes, this.#replyAt(at));
    this.words[at + REPLY_LENGTH] = written; // published by (R)
    return answer(this.words, at, FAILED);
  }

  /** Serves a call. If something goes wrong, the caller is told. */
  handle(at: number, fn: CallHandler): void {
    try {
      this.reply(at, fn(this.request(at), this.space(at)));
    } catch (error) {
      this.fail(at, error);
    }
  }

  // ---- the end ------------------------------------------------------------

  abandon(id: number): number {
    const { words } = this;
    let count = 0;
    if (id === 0) return 0;
    for (let at = SLOTS; at < this.#end; at += this.#stride) {
      if (abandon(words, at, id)) count++;
    }
    noteDeath(words, id);
    // The dead agent may have used up a wake, so wake the others.
    wake(words, SERVE_EPOCH, Infinity);
    wake(words, SLOT_EPOCH, Infinity);
    return count;
  }
}

function messageOf(error: unknown): string {
  try {
    return String((error as Error)?.message ?? error);
  } catch {
    return "The server's function threw a value that has no text";
  }
}
