/**
 * Puts a channel's messages into a queue or a ring, and takes them out.
 *
 * @module
 */

import type { Elements } from "./elements.ts";
import type { ConfiguredStem } from "../_memory/layout.ts";
import type { Memory } from "../_memory/memory.ts";
import {
  type Codec,
  encodeWhole,
  type PlacedCodec,
  type SizedCodec,
} from "../_message/message.ts";
import { copyBytes } from "../_message/bytes.ts";
import type { Field } from "../_message/record_fields.ts";
import type { Selectable } from "../_wait/wait.ts";
import type { Queue } from "./queue.ts";

/**
 * The methods of every carrier: it can wait until there is room or a message.
 */
export interface Waits
  extends
    Selectable,
    Pick<Queue, "closed" | "close" | "blockAt" | "asyncAt" | "tryAsyncAt"> {
  readonly byteLength: number;
}

/** The methods of a queue that a channel needs. */
export interface ElementQueue extends Waits {
  readonly capacity: number;
  readonly elementSize: number;
  readonly size: number;
  tryPush(src: Elements): boolean;
  tryPopInto(dst: Elements): boolean;
  tryPushInt(value: number): boolean;
  tryPopInt(): number | undefined;
  /** Of a queue with roles: ends those of an agent. */
  abandonRoles?(id: number): number;
  /** Of a place: ends what an agent did there; see `Channel.abandon`. */
  abandonSend?(id: number): number;
}

/** The methods of a ring of records that a channel needs. */
export interface ByteRing extends Waits {
  readonly capacity: number;
  readonly maxLength: number;
  readonly singleProducer: boolean;
  readonly manyConsumers: boolean;
  /** The most records that may be in it. */
  readonly most: number;
  readonly size: number;
  /** The bytes of a record begin at byte `4 * record + 8` of these. */
  readonly bytes: Uint8Array;
  tryPush(src: Elements): boolean;
  pushRecord(src: Int32Array, byteLength: number): boolean;
  tryPopInto(dst: Elements): number | undefined;
  copyRecord(dst: Int32Array, length: number): void;
  reserveRecord(length: number): number;
  commitRecord(length?: number): unknown;
  cancelRecord(): void;
  peekRecord(): number;
  lengthOfRecord(record: number): number;
  consumeRecord(): void;
  abandon(id: number): number;
  abandonRoles(id: number): number;
}

/** One kind of queue or ring. */
export interface Kind<Way> {
  readonly stem: ConfiguredStem;
  byteLength(capacity: number, size: number): number;
  init(memory: Memory, at: number, capacity: number, size: number): void;
  attach(memory: Memory, at: number): Way;
}

/**
 * The kind of queue that carries the messages of a channel. It determines how
 * many agents may send and receive. Without a carrier, any number of agents may
 * do both.
 */
export interface Carrier {
  /** Its name. */
  readonly name: string;
  /**
   * The queue for messages that all have the same size.
   *
   * @internal
   */
  readonly elements: Kind<ElementQueue>;
  /**
   * The ring for messages that differ in length. If there is none, they lie in
   * the elements of `elements`.
   *
   * @internal
   */
  readonly records?: Kind<ByteRing>;
  /**
   * How they lie in those elements. The carrier says so, because the bundle of
   * a channel that names none need not contain it.
   *
   * @internal
   */
  readonly slots?: new <T>(queue: ElementQueue, codec: Codec<T>) => Port<T>;
  /**
   * The same for messages that all have the same size; `FieldPort` unless
   * given.
   *
   * @internal
   */
  readonly fields?: new <T>(queue: never, field: Field) => Port<T>;
}

/** The answer "there is no message". */
export const NONE: unique symbol = /* @__PURE__ */ Symbol("none");

/** Sends and takes the values of a channel. */
export interface Port<T> {
  readonly queue: Waits;
  /** How many messages may be in the queue. */
  readonly capacity: number;
  /** Messages in the queue. */
  readonly size: number;
  /** The most bytes of a message. */
  readonly maxLength: number;
  /** Sends a value; false if there is no room. */
  trySend(value: T): boolean;
  /** Takes a value. */
  tryTake(): T | typeof NONE;
  /**
   * Encodes a value now. The function that it returns sends it when there is
   * room. With `waits` false, the caller blocks until then.
   */
  pack(value: T, waits?: boolean): () => boolean;
  /** See `Channel.abandon`. */
  abandon(id: number): number;
  /** Ends the roles of agent `id`; returns how many those were. */
  abandonRoles(id: number): number;
}

// ---- messages of one size ---------------------------------------------------

/** Sends integers as elements of 4 bytes. */
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

  abandon(id: number): number {
    this.abandonRoles(id);
    return this.queue.abandonSend?.(id) ?? 0;
  }

  abandonRoles(id: number): number {
    return this.queue.abandonRoles?.(id) ?? 0;
  }
}

/** Sends the values of a field as elements of the field's size. */
export class FieldPort<T> implements Port<T> {
  readonly queue: ElementQueue;
  readonly #field: Field;
  /** The message that was encoded or taken last. */
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

  abandon(id: number): number {
    this.abandonRoles(id);
    return this.queue.abandonSend?.(id) ?? 0;
  }

  abandonRoles(id: number): number {
    return this.queue.abandonRoles?.(id) ?? 0;
  }
}

/** A queue whose elements can be written and read in place. */
export interface PlacedQueue extends ElementQueue {
  readonly buffer: SharedArrayBuffer;
  readonly byteOffset: number;
  placeToPush(): number;
  pushPlaced(): boolean;
  placeToPop(): number;
  popPlaced(): void;
}

/** The same in place, for a queue with one producer and one consumer. */
export class PlacedPort<T> extends FieldPort<T> {
  declare readonly queue: PlacedQueue;
  readonly #field: Field;
  readonly #data: DataView<SharedArrayBuffer>;

  constructor(queue: PlacedQueue, field: Field) {
    super(queue, field);
    this.#field = field;
    const { buffer, byteOffset, byteLength } = queue;
    this.#data = new DataView(buffer, byteOffset, byteLength);
  }

  override trySend(value: T): boolean {
    const { queue } = this;
    const field = this.#field;
    const checked = field.check(value, "");
    const place = queue.placeToPush();
    if (place < 0) return false;
    field.set(this.#data, place, checked as never);
    return queue.pushPlaced();
  }

  override tryTake(): T | typeof NONE {
    const { queue } = this;
    const place = queue.placeToPop();
    if (place < 0) return NONE;
    const value = this.#field.get(this.#data, place) as T;
    queue.popPlaced();
    return value;
  }
}

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

/** Throws if a codec uses the channel whose message it reads or writes. */
function assertOutside(isInside: boolean): void {
  if (!isInside) return;
  throw new TypeError(
    "A codec cannot send to, or receive from, the channel that it works for",
  );
}

// ---- messages that differ in length -----------------------------------------

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

/** Calls a codec, which a user may have written, and checks its answer. */
function encoded<T>(codec: Codec<T>, value: T, into: Uint8Array): number {
  return checked(codec, codec.encode(value, into));
}

function checked<T>(codec: Codec<T>, length: number): number {
  if (Number.isSafeInteger(length) && length >= 0) return length;
  throw new TypeError(
    `The codec ${codec.name} must return how many bytes it wrote: received ` +
      `${length}`,
  );
}

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
      const at = 4 * record + 8;
      length = checked(codec, codec.encodeAt(value, this.#memory, at, room));
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
    const at = 4 * record + 8;
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
      const at = 4 * record + 8;
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
export class SlotPort<T> implements Port<T> {
  readonly queue: ElementQueue;
  readonly #codec: Codec<T>;
  readonly #scratch: Scratch<T>;
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  /** Whether the codec reads or writes a message. */
  #inside = false;

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

  abandon(id: number): number {
    this.abandonRoles(id);
    return this.queue.abandonSend?.(id) ?? 0;
  }

  abandonRoles(id: number): number {
    return this.queue.abandonRoles?.(id) ?? 0;
  }
}

/** Whether all messages of a codec have the same size. */
export function isSized<T>(codec: Codec<T>): codec is SizedCodec<T> {
  return "field" in codec;
}
