/**
 * Puts a channel's messages that differ in length into a ring of records, or
 * into a queue of slots, and takes them out.
 *
 * @module
 */

import { copyBytes } from "../_message/bytes.ts";
import {
  type Codec,
  encoded,
  encodeWhole,
  lengthOf,
  type PlacedCodec,
} from "../_message/message.ts";
import {
  type ByteRing,
  ElementPort,
  type ElementQueue,
  NONE,
  type Port,
} from "./carrier.ts";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

/** Throws if a codec uses the channel whose message it reads or writes. */
function assertOutside(isInside: boolean): void {
  if (!isInside) return;
  throw new TypeError(
    "A codec cannot send to, or receive from, the channel that it works for",
  );
}

/** Encodes values into private memory, which grows if a message needs more. */
class Scratch<T> {
  readonly #codec: Codec<T>;
  readonly #most: number;
  #bytes: Uint8Array<ArrayBuffer>;
  /** The words that hold the message. */
  words: Int32Array<ArrayBuffer>;

  constructor(codec: Codec<T>, most: number) {
    this.#codec = codec;
    this.#most = most;
    this.words = new Int32Array(wordsFor(Math.min(256, most)));
    this.#bytes = new Uint8Array(this.words.buffer);
  }

  /** Encodes `value`. The bytes are valid until the next call. */
  encode(value: T): Uint8Array<ArrayBuffer> {
    const length = this.fill(value);
    return this.#bytes.subarray(0, length);
  }

  /** Encodes `value` into the words; returns how many bytes it has. */
  fill(value: T): number {
    const codec = this.#codec;
    const { words } = this;
    const bytes = this.#bytes;
    let length: number;
    this.#bytes = NO_BYTES; // a value that is sent meanwhile lies elsewhere
    try {
      length = encoded(codec, value, bytes);
    } finally {
      this.words = words;
      this.#bytes = bytes;
    }
    if (length <= bytes.length) return length;
    // The first answer may be too high; the second one is exact.
    if (length > 2 ** 24) assertFits(Math.ceil(length / 3), this.#most);
    const encode = (into: Uint8Array) => encoded(codec, value, into);
    const message = encodeWhole(codec.name, length, encode);
    this.words = new Int32Array(wordsFor(message.length));
    this.#bytes = new Uint8Array(this.words.buffer);
    this.#bytes.set(message);
    return message.length;
  }
}

const wordsFor = (bytes: number): number => bytes + 3 >>> 2;

/** Throws if a message of `length` bytes is too long. */
export function assertFits(length: number, most: number): void {
  if (length <= most) return;
  throw new RangeError(
    `A message of ${length} bytes does not fit this channel: the most is ` +
      `${most} bytes, by its messageSize`,
  );
}

/** A codec that works anywhere in memory; one of a user is given views. */
function placedOf<T>(codec: Codec<T>): PlacedCodec<T> {
  if ("encodeAt" in codec) return codec as PlacedCodec<T>;
  return {
    name: codec.name,
    encode: (value, into) => codec.encode(value, into),
    decode: (bytes) => codec.decode(bytes),
    encodeAt: (value, memory, at, room) =>
      codec.encode(value, memory.subarray(at, at + room)),
    decodeAt: (memory, at, length) =>
      codec.decode(memory.subarray(at, at + length)),
  };
}

/** Up to this many bytes, a loop over words is faster than a native copy. */
const SHORT = 512;

/** Sends messages as records of a ring. */
export class RecordPort<T> implements Port<T> {
  readonly queue: ByteRing;
  readonly #codec: PlacedCodec<T>;
  readonly #memory: Uint8Array;
  /**
   * Messages are decoded here where others wait to receive, and `undefined`
   * where nobody does: then they are decoded in the ring.
   */
  #apart: Uint8Array<ArrayBuffer> | undefined;
  /** The same memory as words, which short messages are copied by. */
  #apartWords: Int32Array<ArrayBuffer> | undefined;
  readonly #scratch: Scratch<T>;
  /** How many bytes to reserve next, estimated from the last message. */
  #guess = 256;
  /** Whether the codec reads a message in the ring. */
  #inside = false;

  constructor(ring: ByteRing, codec: Codec<T>) {
    this.queue = ring;
    const apart = ring.manyConsumers && codec.name !== "binary";
    if (apart) this.#keep(Math.min(256, ring.maxLength));
    this.#codec = placedOf(codec);
    this.#memory = ring.bytes;
    this.#scratch = new Scratch(codec, ring.maxLength);
  }

  get capacity(): number {
    return this.queue.most;
  }

  get size(): number {
    return this.queue.size;
  }

  get maxLength(): number {
    return this.queue.maxLength;
  }

  trySend(value: T): boolean {
    // A single sender writes in place. With several senders, a reserved record
    // would make the others wait until its codec is done.
    if (this.queue.singleProducer) {
      const sent = this.#sendInPlace(value);
      if (sent) return true;
    }
    const scratch = this.#scratch;
    const length = scratch.fill(value);
    assertFits(length, this.maxLength);
    return this.queue.pushRecord(scratch.words, length);
  }

  #sendInPlace(value: T): boolean {
    const ring = this.queue;
    const room = Math.min(this.#guess, ring.maxLength);
    const record = ring.reserveRecord(room);
    if (record === 0) return false;
    let length = Infinity;
    try {
      const codec = this.#codec;
      const at = placeOf(record);
      length = lengthOf(codec, codec.encodeAt(value, this.#memory, at, room));
    } finally {
      if (length > room) ring.cancelRecord();
    }
    this.#guess = Math.max(256, 2 * length);
    if (length > room) return false;
    ring.commitRecord(length);
    return true;
  }

  tryTake(): T | typeof NONE {
    assertOutside(this.#inside);
    const ring = this.queue;
    const record = ring.peekRecord();
    if (record === 0) return NONE;
    const length = ring.lengthOfRecord(record);
    const at = placeOf(record);
    if (this.#apart !== undefined) return this.#decodeApart(record, length);
    this.#inside = true;
    try {
      return this.#codec.decodeAt(this.#memory, at, length);
    } finally {
      this.#inside = false;
      ring.consumeRecord();
    }
  }

  /** Decodes a copy, so that the next receiver need not wait meanwhile. */
  #decodeApart(record: number, length: number): T {
    if (this.#apart!.length < length) this.#keep(length);
    const apart = this.#apart!;
    const words = this.#apartWords!;
    if (length <= SHORT) {
      this.queue.copyRecord(words, length);
    } else {
      const at = placeOf(record);
      copyBytes(this.#memory.subarray(at, at + length), apart, 0);
    }
    this.queue.consumeRecord();
    this.#apart = NO_BYTES; // what its codec receives meanwhile lies elsewhere
    try {
      return this.#codec.decodeAt(apart, 0, length);
    } finally {
      this.#apart = apart;
      this.#apartWords = words;
    }
  }

  #keep(bytes: number): void {
    this.#apartWords = new Int32Array(wordsFor(bytes));
    this.#apart = new Uint8Array(this.#apartWords.buffer);
  }

  pack(value: T, _waits?: boolean): () => boolean {
    const message = this.#scratch.encode(value).slice();
    assertFits(message.length, this.maxLength);
    return () => this.queue.tryPush(message);
  }

  abandon(id: number): number {
    return this.queue.abandon(id);
  }

  abandonRoles(id: number): number {
    return this.queue.abandonRoles(id);
  }
}

/** Where the bytes of a record begin. */
export const placeOf = (record: number): number => 4 * record + 8;

/** How many bytes of a ring a record of `length` bytes occupies. */
const spaceFor = (length: number): number => (length + 7 & ~7) + 8;

/**
 * The size of a ring in which `capacity` such messages fit at every position.
 */
export function ringBytes(capacity: number, messageSize: number): number {
  const space = spaceFor(messageSize);
  // A message lies in one piece, so up to `space` bytes stay unused at the end.
  return Math.max((capacity + 1) * space, 2 * space);
}

/**
 * Sends messages as elements of one size. An element begins with the message's
 * length.
 */
export class SlotPort<T> extends ElementPort<T> {
  readonly #codec: Codec<T>;
  readonly #scratch: Scratch<T>;
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  /** Whether the codec reads or writes a message. */
  #inside = false;

  constructor(queue: ElementQueue, codec: Codec<T>) {
    super(queue);
    this.#codec = codec;
    this.#words = new Int32Array(queue.elementSize / 4);
    this.#bytes = new Uint8Array(this.#words.buffer, 4);
    this.#scratch = new Scratch(codec, this.maxLength);
  }

  get maxLength(): number {
    return this.queue.elementSize - 4;
  }

  trySend(value: T): boolean {
    assertOutside(this.#inside);
    let length: number;
    this.#inside = true;
    try {
      length = encoded(this.#codec, value, this.#bytes);
    } finally {
      this.#inside = false;
    }
    if (length > this.maxLength) {
      // The answer may have been too high, so encode it elsewhere first.
      const message = this.#scratch.encode(value);
      assertFits(message.length, this.maxLength);
      this.#bytes.set(message);
      this.#words[0] = message.length;
    } else this.#words[0] = length;
    return this.queue.tryPush(this.#words);
  }

  tryTake(): T | typeof NONE {
    assertOutside(this.#inside);
    if (!this.queue.tryPopInto(this.#words)) return NONE;
    const length = Math.min(this.#words[0]! >>> 0, this.maxLength);
    this.#inside = true;
    try {
      return this.#codec.decode(this.#bytes.subarray(0, length));
    } finally {
      this.#inside = false;
    }
  }

  /** Moves a message of bytes into `dst`; returns its length. */
  tryTakeInto(dst: Uint8Array): number | undefined {
    // It cannot be put back if it does not fit.
    if (dst.length < this.maxLength) {
      throw new RangeError(
        `A message of this channel may have ${this.maxLength} bytes: the ` +
          `array has ${dst.length}`,
      );
    }
    if (!this.queue.tryPopInto(this.#words)) return undefined;
    const length = Math.min(this.#words[0]! >>> 0, this.maxLength);
    dst.set(this.#bytes.subarray(0, length));
    return length;
  }

  pack(value: T): () => boolean {
    const message = this.#scratch.encode(value);
    assertFits(message.length, this.maxLength);
    const slot = new Int32Array(this.#words.length);
    slot[0] = message.length;
    new Uint8Array(slot.buffer, 4).set(message);
    return () => this.queue.tryPush(slot);
  }
}
