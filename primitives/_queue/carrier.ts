/**
 * What carries a channel's messages, and how those of one size are put into a
 * queue and taken out; those that differ in length: see `byte_ports.ts`.
 *
 * @module
 */

import type { Elements } from "./elements.ts";
import type { ConfiguredStem } from "../_memory/layout.ts";
import type { Memory } from "../_memory/memory.ts";
import type { Codec, SizedCodec } from "../_message/message.ts";
import type { Field } from "../_message/record_fields.ts";
import type { Selectable } from "../_wait/wait.ts";
import type { Queue } from "./queue.ts";

/**
 * The methods of every carrier: it can wait until there is room or a message.
 */
interface Waits
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
  /** Forgets that a record was peeked at; the record stays. */
  unpeek(): void;
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
   * The queue for messages that all have the same size; that of the codec
   * unless given.
   *
   * @internal
   */
  readonly elements?: Kind<ElementQueue>;
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
   * The same for values of a field; the port of the codec unless given.
   *
   * @internal
   */
  readonly fields?: new <T>(queue: never, field: Field) => Port<T>;
}

/**
 * A codec of one size. It names what carries its messages, because the bundle
 * of a channel with another codec need not contain it.
 */
export interface QueuedCodec<T> extends SizedCodec<T> {
  /** The queue of a channel that names no carrier. */
  readonly elements: Kind<ElementQueue>;
  /** How messages lie in a queue. */
  readonly port: new <T>(queue: ElementQueue, field: Field) => Port<T>;
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

/** Sends each message as an element of a queue. */
export abstract class ElementPort<T> implements Port<T> {
  readonly queue: ElementQueue;

  constructor(queue: ElementQueue) {
    this.queue = queue;
  }

  get capacity(): number {
    return this.queue.capacity;
  }

  get size(): number {
    return this.queue.size;
  }

  abstract get maxLength(): number;
  abstract trySend(value: T): boolean;
  abstract tryTake(): T | typeof NONE;
  abstract pack(value: T): () => boolean;

  abandon(id: number): number {
    this.abandonRoles(id);
    return this.queue.abandonSend?.(id) ?? 0;
  }

  abandonRoles(id: number): number {
    return this.queue.abandonRoles?.(id) ?? 0;
  }
}

// ---- messages of one size ---------------------------------------------------

/** Sends integers as elements of 4 bytes. */
export class IntPort extends ElementPort<number> {
  readonly #field: Field;

  constructor(queue: ElementQueue, field: Field) {
    super(queue);
    this.#field = field;
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
}

/** Sends the values of a field as elements of the field's size. */
export class FieldPort<T> extends ElementPort<T> {
  readonly #field: Field;
  /** The message that was encoded or taken last. */
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #data: DataView<ArrayBuffer>;

  constructor(queue: ElementQueue, field: Field) {
    super(queue);
    this.#field = field;
    this.#words = new Int32Array(queue.elementSize / 4);
    this.#data = new DataView(this.#words.buffer);
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
}

/** A queue whose elements can be written and read in place. */
interface PlacedQueue extends ElementQueue {
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

/** Whether all messages of a codec have the same size. */
export function isSized<T>(codec: Codec<T>): codec is QueuedCodec<T> {
  return "field" in codec;
}
