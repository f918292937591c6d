/**
 * Messages of bytes that are written and read where they lie in a channel.
 *
 * @module
 */

import { copyBytes, faster } from "../../_message/bytes.ts";
import { assertFits, placeOf, RecordPort } from "../byte_ports.ts";
import type { ByteRing } from "../carrier.ts";
import { disposedBy, type Disposer } from "../../_memory/dispose.ts";
import { PermitGuard } from "../../_memory/guard.ts";
import { inRange } from "../../_memory/memory.ts";
import type { Codec } from "../../_message/message.ts";

/**
 * A message that is read where it lies in the channel. It stays there until
 * `release`, which a `using` block calls at its end. It is made by `peek`.
 *
 * @example A message that is read without a copy
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * const frames = Channel.create({ codec: codec.binary, capacity: 4 });
 * frames.send(Uint8Array.of(1, 2, 3));
 * const frame = frames.peek(); // or: using frame = frames.peek();
 * if (frame.bytes[2] !== 3) throw new Error("another frame");
 * frame.release();
 * ```
 */
export class PeekedMessage extends PermitGuard {
  readonly #bytes: Uint8Array;
  #port: BytesPort | undefined;

  /** For a channel, which shows `bytes` until the message is released. */
  constructor(port: BytesPort, bytes: Uint8Array) {
    super();
    this.#port = port;
    this.#bytes = bytes;
  }

  /**
   * Its bytes, in shared memory. Do not use them after `release`: they are
   * overwritten then.
   *
   * @throws {TypeError} If the message was released.
   */
  get bytes(): Uint8Array {
    if (this.#port !== undefined) return this.#bytes;
    throw new TypeError("The message was released");
  }

  /** Removes the message from the channel, if that is not done yet. */
  release(): void {
    const port = this.#port;
    this.#port = undefined;
    port?.release();
  }
}

/**
 * The base of {@linkcode ReservedMessage}: disposing cancels it.
 *
 * @ignore
 */
export const ReservedBase: abstract new () => Disposer =
  /* @__PURE__ */ disposedBy(Object, "cancel");

/**
 * Room for a message, which is written where it is to lie in the channel. After
 * `commit` it can be received. At the end of a `using` block without a
 * `commit`, it is given up. It is made by `reserve`.
 *
 * @example A message that is written without a copy
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * const frames = Channel.create({ codec: codec.binary, capacity: 4 });
 * const frame = frames.reserve(100);
 * frame.bytes.fill(7, 0, 60);
 * frame.commit(60); // 60 of the 100 bytes
 * if (frames.receive().length !== 60) throw new Error("another frame");
 * ```
 */
export class ReservedMessage extends ReservedBase {
  readonly #bytes: Uint8Array;
  #ring: ByteRing | undefined;

  /** For a channel, which has reserved `bytes` in its ring. */
  constructor(ring: ByteRing, bytes: Uint8Array) {
    super();
    this.#ring = ring;
    this.#bytes = bytes;
  }

  /**
   * Its bytes, in shared memory. They are not cleared. Do not use them after
   * `commit` or `cancel`.
   *
   * @throws {TypeError} If the message was committed or cancelled.
   */
  get bytes(): Uint8Array {
    this.#held();
    return this.#bytes;
  }

  /**
   * Sends the message, or its first `length` bytes.
   *
   * @throws {ClosedError} If the channel has one sender, and was closed
   * meanwhile.
   * @throws {RangeError} If `length` is more than was reserved; the message
   * stays reserved.
   * @throws {TypeError} If the message was committed or cancelled; or if
   * `length` is not a number, and then it stays reserved, too.
   */
  commit(length: number = this.#bytes.length): void {
    const ring = this.#held();
    inRange("A message's length", length, 0, this.#bytes.length);
    this.#ring = undefined;
    ring.commitRecord(length);
  }

  /** Gives the message up, if it was neither committed nor cancelled. */
  cancel(): void {
    const ring = this.#ring;
    this.#ring = undefined;
    ring?.cancelRecord();
  }

  #held(): ByteRing {
    if (this.#ring !== undefined) return this.#ring;
    throw new TypeError("The message was committed or cancelled");
  }
}

const NO_ROOM = /* @__PURE__ */ new Uint8Array(0);

/** Sends bytes as records of a ring: each is copied once. */
export class BytesPort extends RecordPort<Uint8Array> {
  readonly #codec: Codec<Uint8Array>;
  /** Whether a message is peeked at. */
  #lent = false;

  constructor(ring: ByteRing, codec: Codec<Uint8Array>) {
    super(ring, codec);
    this.#codec = codec;
  }

  override trySend(value: Uint8Array): boolean {
    this.#assertFits(value);
    return this.#push(value);
  }

  override pack(value: Uint8Array, waits = true): () => boolean {
    this.#assertFits(value);
    // An agent that blocks cannot change the value. `slice` of Node's `Buffer`
    // makes no copy.
    const message = waits ? new Uint8Array(value) : value;
    return () => this.#push(message);
  }

  #push(value: Uint8Array): boolean {
    const ring = this.queue;
    const { length } = value;
    if (faster(length) === undefined) return ring.tryPush(value);
    const record = ring.reserveRecord(length);
    if (record === 0) return false;
    copyBytes(value, ring.bytes, placeOf(record));
    ring.commitRecord(length);
    return true;
  }

  /** Throws if `value` is not a Uint8Array, or is too long. */
  #assertFits(value: Uint8Array): void {
    assertFits(this.#codec.encode(value, NO_ROOM), this.maxLength);
  }

  override tryTake(): ReturnType<RecordPort<Uint8Array>["tryTake"]> {
    this.#assertReleased();
    return super.tryTake();
  }

  /** Moves a message into `dst`; returns its length. */
  tryTakeInto(dst: Uint8Array): number | undefined {
    this.#assertReleased();
    const ring = this.queue;
    const record = ring.peekRecord();
    if (record === 0) return undefined;
    const length = ring.lengthOfRecord(record);
    if (length > dst.length) {
      ring.unpeek(); // another receiver may take it
      throw new RangeError(
        `A message of ${length} bytes does not fit an array of ${dst.length} ` +
          "bytes",
      );
    }
    if (faster(length) === undefined) return ring.tryPopInto(dst);
    copyBytes(bytesOf(ring, record, length), dst, 0);
    ring.consumeRecord();
    return length;
  }

  /** Shows the oldest message; undefined if there is none. */
  tryPeek(): PeekedMessage | undefined {
    this.#assertReleased();
    const ring = this.queue;
    const record = ring.peekRecord();
    if (record === 0) return undefined;
    this.#lent = true;
    return new PeekedMessage(
      this,
      bytesOf(ring, record, ring.lengthOfRecord(record)),
    );
  }

  /** Removes the message that is peeked at. */
  release(): void {
    this.#lent = false;
    this.queue.consumeRecord();
  }

  /** Reserves room for a message; undefined if there is none. */
  tryReserve(length: number): ReservedMessage | undefined {
    const ring = this.queue;
    inRange("A message's length", length, 0, this.maxLength);
    const record = ring.reserveRecord(length);
    if (record === 0) return undefined;
    return new ReservedMessage(ring, bytesOf(ring, record, length));
  }

  #assertReleased(): void {
    if (!this.#lent) return;
    throw new TypeError("A message is peeked at: release it first");
  }
}

/** The bytes of a record. */
function bytesOf(ring: ByteRing, record: number, length: number): Uint8Array {
  const at = placeOf(record);
  return ring.bytes.subarray(at, at + length);
}
