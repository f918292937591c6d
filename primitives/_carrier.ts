/**
 * How a channel's messages get into a queue or ring, and out again.
 *
 * @module
 */

import type { Elements } from "./_elements.ts";
import type { ConfiguredStem } from "./_layout.ts";
import type { Memory } from "./_memory.ts";
import type { Codec, SizedCodec } from "./_message.ts";
import type { Field } from "./_record.ts";
import type { AsyncOptions, TryAsyncOptions, Waitable } from "./_wait.ts";

/** The end of a queue that waits. */
type End = "push" | "pop";

/** What every carrier has: it waits for others to make room, or to send. */
export interface Waits extends Waitable {
  readonly byteLength: number;
  readonly closed: boolean;
  close(): void;
  /** Blocks until `attempt` gives something, for `timeout` ms at most. */
  blockAt<T>(
    end: End,
    attempt: () => T | false | undefined,
    timeout?: number,
  ): T | undefined;
  /** As `blockAt`, awaiting until it does. */
  asyncAt<T>(
    end: End,
    attempt: () => T | false | undefined,
    options?: AsyncOptions,
  ): Promise<T>;
  /** As `asyncAt`, for a limited time. */
  tryAsyncAt<T>(
    end: End,
    attempt: () => T | false | undefined,
    options?: TryAsyncOptions,
  ): Promise<T | undefined>;
}

/** What is needed of a queue of elements. */
export interface ElementQueue extends Waits {
  readonly capacity: number;
  readonly elementSize: number;
  readonly size: number;
  tryPush(src: Elements): boolean;
  tryPopInto(dst: Elements): boolean;
  tryPushInt(value: number): boolean;
  tryPopInt(): number | undefined;
}

/** What is needed of a ring of records. */
export interface ByteRing extends Waits {
  readonly capacity: number;
  readonly maxLength: number;
  readonly singleProducer: boolean;
  readonly size: number;
  tryPush(src: Elements): boolean;
  reserve(length: number): Uint8Array | undefined;
  commit(length?: number): unknown;
  cancel(): void;
  peek(): Uint8Array | undefined;
  consume(): void;
  abandon(id: number): number;
}

/** One kind of queue or ring, as a carrier needs it. */
export interface Kind<Way> {
  readonly stem: ConfiguredStem;
  byteLength(capacity: number, size: number): number;
  init(memory: Memory, at: number, capacity: number, size: number): void;
  attach(memory: Memory, at: number): Way;
}

/**
 * What carries the messages of a channel, and so how many agents may send and
 * receive. Without one, any number of agents may send, and one receives.
 */
export interface Carrier {
  /** Its name. */
  readonly name: string;
  /**
   * For messages of one size.
   *
   * @internal
   */
  readonly elements: Kind<ElementQueue>;
  /**
   * For messages that differ in length: in the slots of `elements`, unless
   * there is a ring.
   *
   * @internal
   */
  readonly records?: Kind<ByteRing>;
}

/** Says that there is no message. */
export const NONE: unique symbol = /* @__PURE__ */ Symbol("none");

/** A channel's way in and out. */
export interface Port<T> {
  readonly queue: Waits;
  /** Messages that fit, when each is as long as was reckoned with. */
  readonly capacity: number;
  /** Messages in the queue. */
  readonly size: number;
  /** The most bytes of a message. */
  readonly maxLength: number;
  /** Sends a value; false if there is no room. */
  trySend(value: T): boolean;
  /** Takes a value. */
  tryTake(): T | typeof NONE;
  /** Encodes a value now, to be sent when there is room. */
  pack(value: T): () => boolean;
  /** See `Channel.abandon`. */
  abandon(id: number): number;
}

// ---- messages of one size ---------------------------------------------------

/** Integers: elements of 4 bytes. */
export class IntPort implements Port<number> {
  readonly queue: ElementQueue;
  readonly #field: Field;

  constructor(queue: ElementQueue, field: Field) {
    this.queue = queue;
    this.#field = field;
  }

  get capacity(): number {
    return this.queue.capacity;
  }

  get size(): number {
    return this.queue.size;
  }

  get maxLength(): number {
    return 4;
  }

  trySend(value: number): boolean {
    this.#field.check(value, "");
    return this.queue.tryPushInt(value);
  }

  tryTake(): number | typeof NONE {
    return this.queue.tryPopInt() ?? NONE;
  }

  pack(value: number): () => boolean {
    this.#field.check(value, "");
    return () => this.queue.tryPushInt(value);
  }

  abandon(): number {
    return 0;
  }
}

/** Values of a field: elements of its size. */
export class FieldPort<T> implements Port<T> {
  readonly queue: ElementQueue;
  readonly #field: Field;
  /** The message that was encoded, or taken, last. */
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #data: DataView<ArrayBuffer>;

  constructor(queue: ElementQueue, field: Field) {
    this.queue = queue;
    this.#field = field;
    this.#words = new Int32Array(queue.elementSize / 4);
    this.#data = new DataView(this.#words.buffer);
  }

  get capacity(): number {
    return this.queue.capacity;
  }

  get size(): number {
    return this.queue.size;
  }

  get maxLength(): number {
    return this.queue.elementSize;
  }

  trySend(value: T): boolean {
    const field = this.#field;
    field.set(this.#data, 0, field.check(value, "") as never);
    return this.queue.tryPush(this.#words);
  }

  tryTake(): T | typeof NONE {
    if (!this.queue.tryPopInto(this.#words)) return NONE;
    return this.#field.get(this.#data, 0) as T;
  }

  pack(value: T): () => boolean {
    const field = this.#field;
    const message = new Int32Array(this.#words.length);
    const data = new DataView(message.buffer);
    field.set(data, 0, field.check(value, "") as never);
    return () => this.queue.tryPush(message);
  }

  abandon(): number {
    return 0;
  }
}

// ---- messages that differ in length -----------------------------------------

/** Encodes into private memory, which grows when a message needs it. */
class Scratch<T> {
  readonly #codec: Codec<T>;
  readonly #most: number;
  #bytes: Uint8Array<ArrayBuffer>;

  constructor(codec: Codec<T>, most: number) {
    this.#codec = codec;
    this.#most = most;
    this.#bytes = new Uint8Array(Math.min(256, most));
  }

  /** `value` encoded; valid until the next is. */
  encode(value: T): Uint8Array<ArrayBuffer> {
    for (;;) {
      const length = encoded(this.#codec, value, this.#bytes);
      if (length <= this.#bytes.length) return this.#bytes.subarray(0, length);
      // A first answer may be too high: by the second time it is exact.
      if (length > 2 ** 24) assertFits(Math.ceil(length / 3), this.#most);
      this.#bytes = new Uint8Array(length);
    }
  }
}

/** Calls a codec, which may be a user's, and checks what it answers. */
function encoded<T>(codec: Codec<T>, value: T, into: Uint8Array): number {
  const length = codec.encode(value, into);
  if (Number.isSafeInteger(length) && length >= 0) return length;
  throw new TypeError(
    `The codec ${codec.name} must answer how many bytes it wrote: received ` +
      `${length}`,
  );
}

function assertFits(length: number, most: number): void {
  if (length <= most) return;
  throw new RangeError(
    `A message of ${length} bytes does not fit this channel: at most ${most} ` +
      "bytes do",
  );
}

/** Messages in a ring of records. */
export class RecordPort<T> implements Port<T> {
  readonly queue: ByteRing;
  readonly capacity: number;
  readonly #codec: Codec<T>;
  readonly #scratch: Scratch<T>;
  /** As many bytes are reserved as the last message suggests. */
  #guess = 256;

  constructor(ring: ByteRing, codec: Codec<T>, messageSize: number) {
    this.queue = ring;
    this.capacity = Math.floor(ring.capacity / spaceFor(messageSize)) - 1;
    this.#codec = codec;
    this.#scratch = new Scratch(codec, ring.maxLength);
  }

  get size(): number {
    return this.queue.size;
  }

  get maxLength(): number {
    return this.queue.maxLength;
  }

  trySend(value: T): boolean {
    // A sender that is alone writes in place. Others would have to wait for a
    // record that is reserved, until its codec is done.
    if (this.queue.singleProducer) {
      const sent = this.#sendInPlace(value);
      if (sent) return true;
    }
    const message = this.#scratch.encode(value);
    assertFits(message.length, this.maxLength);
    return this.queue.tryPush(message);
  }

  #sendInPlace(value: T): boolean {
    const ring = this.queue;
    const place = ring.reserve(Math.min(this.#guess, ring.maxLength));
    if (place === undefined) return false;
    let length = Infinity;
    try {
      length = encoded(this.#codec, value, place);
    } finally {
      if (length > place.length) ring.cancel();
    }
    this.#guess = Math.max(256, 2 * length);
    if (length > place.length) return false;
    ring.commit(length);
    return true;
  }

  tryTake(): T | typeof NONE {
    const ring = this.queue;
    const message = ring.peek();
    if (message === undefined) return NONE;
    try {
      return this.#codec.decode(message);
    } finally {
      ring.consume();
    }
  }

  pack(value: T): () => boolean {
    const message = this.#scratch.encode(value).slice();
    assertFits(message.length, this.maxLength);
    return () => this.queue.tryPush(message);
  }

  abandon(id: number): number {
    return this.queue.abandon(id);
  }
}

/** The bytes that a record of `length` bytes occupies in a ring. */
const spaceFor = (length: number): number => (length + 7 & ~7) + 8;

/** The bytes of a ring in which `capacity` such messages fit at any place. */
export function ringBytes(capacity: number, messageSize: number): number {
  const space = spaceFor(messageSize);
  // A message that would not lie in one piece leaves up to `space` unused.
  return Math.max((capacity + 1) * space, 2 * space);
}

/** Messages in slots of one size: a slot begins with the message's length. */
export class SlotPort<T> implements Port<T> {
  readonly queue: ElementQueue;
  readonly #codec: Codec<T>;
  readonly #scratch: Scratch<T>;
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #bytes: Uint8Array<ArrayBuffer>;

  constructor(queue: ElementQueue, codec: Codec<T>) {
    this.queue = queue;
    this.#codec = codec;
    this.#words = new Int32Array(queue.elementSize / 4);
    this.#bytes = new Uint8Array(this.#words.buffer, 4);
    this.#scratch = new Scratch(codec, this.maxLength);
  }

  get capacity(): number {
    return this.queue.capacity;
  }

  get size(): number {
    return this.queue.size;
  }

  get maxLength(): number {
    return this.queue.elementSize - 4;
  }

  trySend(value: T): boolean {
    const length = encoded(this.#codec, value, this.#bytes);
    if (length > this.maxLength) {
      // The answer may have been too high.
      const message = this.#scratch.encode(value);
      assertFits(message.length, this.maxLength);
      this.#bytes.set(message);
      this.#words[0] = message.length;
    } else this.#words[0] = length;
    return this.queue.tryPush(this.#words);
  }

  tryTake(): T | typeof NONE {
    if (!this.queue.tryPopInto(this.#words)) return NONE;
    const length = Math.min(this.#words[0]! >>> 0, this.maxLength);
    return this.#codec.decode(this.#bytes.subarray(0, length));
  }

  pack(value: T): () => boolean {
    const message = this.#scratch.encode(value);
    assertFits(message.length, this.maxLength);
    const slot = new Int32Array(this.#words.length);
    slot[0] = message.length;
    new Uint8Array(slot.buffer, 4).set(message);
    return () => this.queue.tryPush(slot);
  }

  abandon(): number {
    return 0;
  }
}

/** Whether all messages of a codec have one size. */
export function isSized<T>(codec: Codec<T>): codec is SizedCodec<T> {
  return "field" in codec;
}
