/**
 * What a pool and its workers write to a slot, and say in messages.
 *
 * A request has two words of head: the number of the task (and a flag), and a
 * number that tells the pool's tasks apart. A reply has a head of 32 bytes:
 * what it is, the number of the worker, and three times in ms.
 * `wasm/weft/pool.h` writes the same; there the number is the negated id of the
 * thread, and the first time is 0.
 *
 * @module
 */

import type { Slots } from "../_calls/ring/slots.ts";
import {
  CALLER,
  FREE,
  POSTED,
  REPLY_LENGTH,
  REQUEST,
  REQUEST_LENGTH,
} from "../_calls/ring/words.ts";
import { values } from "../_value/codec.ts";
import { wake } from "../_wait/event_count.ts";
import type { CALL_RING } from "../_memory/layout.ts";
import { DamagedError } from "../_memory/damaged.ts";
import {
  type Codec,
  encoded,
  encodeWhole,
  type SizedCodec,
} from "../_message/message.ts";
import { ClosedError } from "../_queue/queue.ts";
import type { Field } from "../_message/record_fields.ts";
import type { Handle } from "../_memory/region.ts";

const SERVE_EPOCH: typeof CALL_RING.serve_epoch = 32;
const SLOTS: typeof CALL_RING.length = 96;

/** Bytes before the message of a request. */
export const REQUEST_HEAD = 8;
/** Bytes before the message of a reply. */
export const REPLY_HEAD = 32;

/** A flag beside the number of a task: the request is undefined. */
export const NO_REQUEST = 0x10000;
/**
 * A flag beside it: the worker need not tell that the task is done before it
 * tells of another one, or sleeps.
 */
export const LAZY = 0x20000;
/** In place of the number of a task: the worker must end. */
export const RETIRE = 0xffff;
/** A flag beside {@linkcode RETIRE}: a thread of C must end, and no worker. */
export const GUEST = 0x40000;
/** A flag beside the number of a task: the pool takes reports, and may send. */
export const TALKS = 0x80000;
/** A flag beside it: the request comes in a message. */
export const MOVES = 0x100000;
/**
 * A flag beside that one: the message has the request's bytes, because they are
 * too many for the slot, or a text. Without it, the request itself is moved.
 */
export const LONG = 0x200000;
/** The most tasks by name. */
export const MOST_TASKS = 0xffff;

/** The result is undefined. */
export const NOTHING = 1;
/** The result follows. */
export const VALUE = 2;
/** The text of an error follows. */
export const ERROR = 3;
/** A value follows that was thrown, and is not an error. */
export const THROWN = 4;
/** The reply comes in a message, because it is too long for the slot. */
export const ELSEWHERE = 5;
/** The worker ends. */
export const RETIRED = 6;
/**
 * The worker does not end, because the order is not for workers of its kind.
 */
export const STAYS = 7;
/** Of a message: it has the result itself, which was moved. */
export const MOVED = 8;

/** A codec with any values. */
// deno-lint-ignore no-explicit-any
export type AnyCodec = Codec<any>;

/** The two messages of a task, by their codecs. */
export interface Sides {
  readonly request: AnyCodec;
  readonly reply: AnyCodec;
}

/** The field of a codec whose messages all have one size. */
export const fieldOf = (codec: AnyCodec): Field | undefined =>
  (codec as Partial<SizedCodec<unknown>>).field;

/**
 * Both codecs of a task as text. A worker with another text cannot serve it.
 */
export function signatureOf({ request, reply }: Sides): string {
  const name = (codec: AnyCodec) => {
    const { shape } = codec as Partial<SizedCodec<unknown>>;
    return shape ? `${codec.name}#${shape >>> 0}` : codec.name;
  };
  return `${name(request)} -> ${name(reply)}`;
}

/** The name of the messages between a pool and its workers. */
const TAG = "@weft/sync/pool";

/** A worker says that it serves. */
export interface Hello {
  readonly weft: typeof TAG;
  readonly what: "hello";
  readonly id: number;
  /** The signature of each task by its name. */
  readonly tasks: Readonly<Record<string, string>>;
  /** How many tasks it does at a time. */
  readonly limit: number;
  /** Whether it makes its functions when it knows where to serve. */
  readonly makes: boolean;
}

/** A worker has made its functions. */
interface Ready {
  readonly weft: typeof TAG;
  readonly what: "ready";
}

/** When a worker ends so that another one takes its place. */
export interface Recycle {
  /** After this many tasks. */
  readonly tasks: number;
  /** When its heap has more than this many bytes. */
  readonly memory: number;
}

/** The pool says where. */
export interface Place {
  readonly weft: typeof TAG;
  readonly what: "place";
  readonly ring: Handle<"call_ring">;
  readonly done: Handle<"event">;
  /**
   * The byte of the ring's buffer where the word lies that counts the tasks
   * that were posted. It is no view: V8 cannot post a view of 4 GiB or more.
   */
  readonly posted: number;
  /** The number of the worker. */
  readonly number: number;
  /** The names of the pool's tasks, by their numbers. */
  readonly names: readonly string[];
  readonly recycle: Recycle;
  /** The pool's option `init`. */
  readonly init: unknown;
}

/** What goes in a message: its bytes, or the text that it is. */
export type Sent = ArrayBuffer | string;

/** A reply that is too long for its slot. */
export interface Long {
  readonly weft: typeof TAG;
  readonly what: "long";
  readonly token: number;
  readonly kind: number;
  readonly bytes: Sent;
  /** The result, if it was moved. */
  readonly moved?: unknown;
}

/** A worker has begun a task, and takes messages for it. */
export interface Begun {
  readonly weft: typeof TAG;
  readonly what: "begun";
  readonly token: number;
  /** Whether it waits for a request that comes in a message. */
  readonly moves: boolean;
}

/**
 * A request that was moved, or a long one as it is sent; `values` is empty if
 * nobody wants its task.
 */
export interface Moved {
  readonly weft: typeof TAG;
  readonly what: "moved";
  readonly token: number;
  readonly values: readonly unknown[];
}

/**
 * The bytes as a buffer of their own, which is moved in a message. A view is
 * not posted: Deno's workers of `node:worker_threads` look at each byte of it.
 */
export const bufferOf = (bytes: Uint8Array<ArrayBuffer>): ArrayBuffer =>
  bytes.length < bytes.buffer.byteLength ? bytes.slice().buffer : bytes.buffer;

/**
 * Whether that is a text that has no room in a slot. In a message, the platform
 * copies it in less time than the codec and the platform one after the other.
 */
export const isLongText = (
  value: unknown,
  codec: unknown,
  room: number,
): boolean =>
  typeof value === "string" && value.length > room && codec === values;

/** What was sent to an agent that has `codec`. */
export function received(codec: AnyCodec, sent: Sent): unknown {
  if (typeof sent !== "string") return codec.decode(new Uint8Array(sent));
  if (codec === values) return sent;
  // It has the same name, and a `decode` of its own.
  const encode = (into: Uint8Array) => encoded(values, sent, into);
  return codec.decode(encodeWhole(values.name, sent.length, encode));
}

/** What a task tells while it runs (`report`), or is told (`message`). */
interface Word {
  readonly weft: typeof TAG;
  readonly what: "report" | "message";
  readonly token: number;
  readonly value: unknown;
}

/** A worker does no more tasks; it has sent all that it had to send. */
interface Bye {
  readonly weft: typeof TAG;
  readonly what: "bye";
}

/** The pool has no use for the worker, and says why. */
interface Refusal {
  readonly weft: typeof TAG;
  readonly what: "refused";
  readonly why: string;
}

/** A message between a pool and a worker. */
export type PoolMessage =
  | Hello
  | Ready
  | Place
  | Begun
  | Moved
  | Word
  | Long
  | Bye
  | Refusal;

type Untagged<T> = T extends PoolMessage ? Omit<T, "weft"> : never;

/** Makes a message. */
export function tagged(message: Untagged<PoolMessage>): PoolMessage {
  return { weft: TAG, ...message } as PoolMessage;
}

/** Whether a message is one of a pool or its worker. */
export const isTagged = (data: unknown): data is PoolMessage =>
  (data as PoolMessage | null)?.weft === TAG;

/** The requests and replies of all slots. */
export class Rooms {
  readonly #slots: Slots;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #times: Float64Array;
  readonly #bytes: Uint8Array;
  /** All of it, for codecs whose messages all have one size. */
  readonly data: DataView;
  /** From the first word of a slot to the head of its reply. */
  readonly #reply: number;
  /** The views that were made last. */
  readonly #requests: Uint8Array[] = [];
  readonly #replies: Uint8Array[] = [];
  /** The most bytes of a request and of a reply. */
  readonly room: number;
  /** How many tasks were posted, modulo 2^32. */
  readonly #posted: Int32Array<SharedArrayBuffer>;

  readonly #id: number;
  /** Words of a slot. */
  readonly #stride: number;

  /**
   * The rooms lie in these slots of the agent `id`; `posted` counts the tasks.
   */
  constructor(
    slots: Slots,
    posted: Int32Array<SharedArrayBuffer>,
    id: number,
  ) {
    const { buffer, byteOffset, byteLength } = slots.words;
    this.#slots = slots;
    this.#posted = posted;
    this.#id = id;
    this.#stride = (slots.words.length - SLOTS) / slots.count;
    this.#words = slots.words;
    this.#times = new Float64Array(buffer, byteOffset, byteLength >> 3);
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
    this.data = new DataView(buffer, byteOffset, byteLength);
    this.#reply = REQUEST + slots.maxRequest / 4;
    this.room = slots.maxRequest - REQUEST_HEAD;
  }

  // ---- requests

  /**
   * Claims a free slot, in which the caller writes its request; 0 if there is
   * none. {@linkcode post} posts it, and `cancel` frees the slot.
   *
   * @throws {ClosedError} If the ring is closed.
   */
  claim(): number {
    if (this.#slots.closed) throw new ClosedError("The ring is closed");
    const at = this.#slots.claim();
    if (at === 0) return 0;
    this.#slots.turn();
    Atomics.store(this.#words, at + CALLER, this.#id);
    return at;
  }

  /**
   * Posts a task, of whose request `length` bytes lie in its slot. The caller
   * wakes workers after that. Only the agent that posts closes the ring, so no
   * task can be left behind in a closed ring.
   */
  post(at: number, what: number, token: number, length: number): void {
    const words = this.#words;
    words[at + REQUEST] = what;
    words[at + REQUEST + 1] = token;
    words[at + REQUEST_LENGTH] = REQUEST_HEAD + length; // published by (P)
    Atomics.store(words, at, POSTED | this.#id); // (P)
    // (N) Behind the task. Pairs with (S): a worker that has not seen the task
    // sees another count.
    Atomics.add(this.#posted, 0, 1);
  }

  /** Wakes up to `n` workers. */
  tell(n: number): void {
    wake(this.#words, SERVE_EPOCH, n);
  }

  /** Takes back what was posted; false if a worker has taken it. */
  withdraw(at: number): boolean {
    const posted = POSTED | this.#id;
    return Atomics.compareExchange(this.#words, at, posted, FREE) === posted;
  }

  /** How many tasks were posted; workers look at slots when it changes. */
  get posted(): number {
    return Atomics.load(this.#posted, 0);
  }

  /** The number of the task, and its flags. */
  what(at: number): number {
    return this.#words[at + REQUEST]!;
  }

  /** The number that tells the pool's tasks apart. */
  token(at: number): number {
    return this.#words[at + REQUEST + 1]!;
  }

  /** The request behind its head; no bytes if its length is damaged. */
  asked(at: number): Uint8Array {
    const length = this.#words[at + REQUEST_LENGTH]! - REQUEST_HEAD;
    const whole = length >= 0 && length <= this.room ? length : 0;
    return this.#view(this.#requests, at, this.request(at), whole);
  }

  /** The byte of {@linkcode data} at which the request begins. */
  request(at: number): number {
    return (at + REQUEST) * 4 + REQUEST_HEAD;
  }

  /** The first `length` bytes for the request. */
  requestBytes(at: number, length: number): Uint8Array {
    return this.#view(this.#requests, at, this.request(at), length);
  }

  // ---- replies

  /** What the reply is. */
  answered(at: number): number {
    return this.#words[at + this.#reply]!;
  }

  /** Notes which worker does the task, and since when. */
  begin(at: number, number: number, now: number): void {
    const reply = at + this.#reply;
    this.#words[reply + 1] = number;
    this.#times[(reply >> 1) + 1] = now;
  }

  /**
   * Writes the head of a reply: what it is, how long the task ran, and all time
   * in tasks so far.
   */
  end(at: number, what: number, now: number, busy: number): void {
    const reply = at + this.#reply;
    const time = (reply >> 1) + 1;
    this.#words[reply] = what;
    this.#times[time + 1] = now - this.#times[time]!;
    this.#times[time + 2] = busy;
  }

  /** The number of the worker; below 0 if it is a thread of C. */
  worker(at: number): number {
    return this.#words[at + this.#reply + 1]!;
  }

  /** When the task began (0), how long it ran (1), all time in tasks (2). */
  time(at: number, which: 0 | 1 | 2): number {
    return this.#times[(at + this.#reply >> 1) + 1 + which]!;
  }

  /** Forgets when the task began. */
  forget(at: number): void {
    this.#times[(at + this.#reply >> 1) + 1] = 0;
  }

  /**
   * The length of the reply behind its head.
   *
   * @throws {DamagedError} If no reply has that length.
   */
  lengthAnswered(at: number): number {
    const length = this.#words[at + REPLY_LENGTH]! - REPLY_HEAD;
    if (length >= 0 && length <= this.room) return length;
    throw new DamagedError("The pool");
  }

  /** The byte of {@linkcode data} at which the reply begins. */
  reply(at: number): number {
    return (at + this.#reply) * 4 + REPLY_HEAD;
  }

  /** The first `length` bytes for the reply. */
  replyBytes(at: number, length: number): Uint8Array {
    return this.#view(this.#replies, at, this.reply(at), length);
  }

  /** The value, or a copy if it is a view of slots. */
  outside(value: unknown): unknown {
    const { buffer, byteOffset, byteLength } = this.#bytes;
    return value instanceof Uint8Array && value.buffer === buffer &&
        value.byteOffset >= byteOffset &&
        value.byteOffset < byteOffset + byteLength
      ? new Uint8Array(value)
      : value;
  }

  /** A view; a new one is made only if the length has changed. */
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
}

/** Bytes behind the event: the count of posted tasks, on a line of its own. */
export const POSTED_BYTES = 256;
const POSTED_AT = 128;

/** The count of posted tasks, if these bytes lie at `byteOffset`. */
export const postedAt = (
  buffer: SharedArrayBuffer,
  byteOffset: number,
): Int32Array<SharedArrayBuffer> =>
  new Int32Array(buffer, byteOffset + POSTED_AT, 1);

let origin = 0;

/** The time of day in ms, by a clock that all threads share. */
export function clock(): number {
  // In Node, reading `timeOrigin` takes longer than reading the clock.
  if (origin === 0) origin = performance.timeOrigin;
  return origin + performance.now();
}
