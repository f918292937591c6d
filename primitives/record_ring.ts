/**
 * Byte records of any length, from many producers to one consumer.
 *
 * @module
 */

import { disposedBy, type Disposer, iterated } from "./_memory/dispose.ts";
import { Copier, type CopyingClass, type Elements } from "./_queue/elements.ts";
import {
  awaitOn,
  blockOn,
  type PendingResult,
  tryAwaitOn,
  tryBlockOn,
} from "./_wait/pending.ts";
import { iterate } from "./_wait/iterate.ts";
import { ClosedError } from "./_queue/queue.ts";
import {
  formatRecords,
  MAX_CAPACITY,
  recordBytes,
  type RecordRingConfig,
} from "./_queue/record/config.ts";
import {
  bytesFor,
  CAPACITY,
  CLAIMANT,
  CONSUMER,
  DATA,
  HEAD,
  MANY_CONSUMERS,
  ONE_PRODUCER,
  OWNER_MASK,
  POSITION_MASK,
  RECORDS,
  ROLES,
  spaceFor,
  TAIL,
} from "./_queue/record/words.ts";
import { RecordEnds } from "./_queue/record/ends.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import {
  allocate,
  assertFunction,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  type WordsInspection,
} from "./_memory/region.ts";
import {
  assertMayBlock,
  type AsyncOptions,
  type TryAsyncOptions,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export type { Copying, CopyingClass, Elements } from "./_queue/elements.ts";
export { DamagedError } from "./_memory/damaged.ts";
export { ClosedError } from "./_queue/queue.ts";
export type { RecordRingConfig } from "./_queue/record/config.ts";
export { RecordClaim } from "./_queue/record/claim.ts";
export { RecordCore } from "./_queue/record/core.ts";
export { RecordEnds } from "./_queue/record/ends.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/** The most records that `inspect` looks at. */
const MOST_RECORDS = 4096;

/** @ignore */
export const INSPECTION: WordsInspection = RECORDS;

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (capacity, roles) => bytesFor(capacity, roles),
  behind: (region, tell) => {
    const roles = region[ROLES]!;
    const claimant = Atomics.load(region, CLAIMANT);
    if ((claimant & OWNER_MASK) !== 0 && (roles & ONE_PRODUCER) === 0) {
      const text = "This agent makes room for a record, and has not ended.";
      tell(CLAIMANT, "claimant", claimant, text, "claimed");
    }
    const consumer = Atomics.load(region, CONSUMER);
    if ((consumer & OWNER_MASK) !== 0 && (roles & MANY_CONSUMERS) !== 0) {
      const text = "This agent reads a record, and has not ended.";
      tell(CONSUMER, "consumer", consumer, text, "claimed");
    }
    const capacity = region[CAPACITY]!;
    let at = Atomics.load(region, HEAD);
    const tail = Atomics.load(region, TAIL) & POSITION_MASK;
    for (let i = 0; i < MOST_RECORDS; i++) {
      const used = tail - at | 0;
      if (used <= 0 || used > capacity || (at & 7) !== 0) return;
      const place = at & capacity - 1;
      const first = Atomics.load(region, DATA + (place >> 2));
      const space = spaceFor(first >>> 2);
      if ((first & 3) === 0 || space > Math.min(used, capacity - place)) {
        const text = "This length or this state is impossible.";
        return tell(DATA + (place >> 2), `record at ${place}`, first, text);
      }
      at = at + space | 0;
    }
  },
};

/**
 * A ring and what waits at its ends, together with `Symbol.dispose`.
 *
 * @ignore
 */
export const RecordRingBase: abstract new (
  memory: Memory,
  byteOffset: number | bigint | undefined,
  Copier: CopyingClass,
  id: number,
) =>
  & RecordEnds
  & Disposer
  & AsyncIterable<Uint8Array<ArrayBuffer>, void, void> =
    /* @__PURE__ */ iterated(/* @__PURE__ */ disposedBy(RecordEnds, "close"));

/**
 * A bounded ring of byte records of any length, 0 included, from many producers
 * to one consumer.
 *
 * Log lines from any number of workers:
 *
 * ```ts
 * import { RecordRing } from "@weft/sync";
 *
 * const log = RecordRing.create({ capacity: 65536 }); // post log.handle
 * log.tryPush(new TextEncoder().encode("hello"));
 * const line = log.tryPop();
 * if (new TextDecoder().decode(line) !== "hello") throw new Error("lost");
 * ```
 *
 * A record lies in one piece. If it does not fit before the end of the ring, a
 * SKIPPED record fills the rest. So a record has at most `maxLength` bytes: an
 * empty ring has room for that many at every position.
 *
 * Invariant: the bytes from `head` to `tail` are whole records with their
 * heads.
 * Progress: the `try` forms never wait, but they are not lock-free. A producer
 * holds the claim for a few steps, from its look at `tail` until it has moved
 * `tail`. Another producer that finds the claim taken spins for a microsecond,
 * and then answers "full". The consumer never needs the claim. With
 * `manyConsumers`, one of them reads at a time, and another one that finds it
 * reading answers "empty" in the same way. A record that is
 * reserved and not yet committed holds back the records behind it, and `tryPop`
 * answers "empty". With `singleProducer`, every operation is wait-free, and a
 * record becomes visible when it is committed. An agent that is terminated
 * while it has the claim, or between `reserve` and `commit`, holds up the
 * others until `abandon(id)` skips its record. Terminated at any other step, it
 * does no harm. With `singleProducer` there is nothing to abandon. Wrap:
 * positions have 32 bits and are compared by their difference. Only one agent
 * at a time moves each, so none is mistaken for an older one.
 * Freed when: every operation of every agent has returned, `close` included,
 * and none will begin. That it is closed and empty does not say so.
 * Fairness: first in, first out, in the order of reserving.
 * C twin: `weft_record_ring`.
 * Source: records with skip marks are from Agrona's ring buffers. The claim has
 * an owner, instead of an addition to `tail`, so that a claim can be abandoned;
 * this is our own design.
 *
 * Its words in memory:
 *
 * ```text
 * word 0    magic         Kind and layout version.
 * word 1    capacity      Bytes, a power of two.
 * word 2    roles         bit 0  there is one producer
 *                         bit 1  there is any number of consumers
 * word 3    seal          Check word over the configuration.
 * word 4    most          The most records in the ring, or 0 if only their
 *                         bytes are limited.
 * word 32   tail          bit 0      CLOSED
 *                         bits 3-31  where the next record goes, in units of 8
 *                                    bytes
 * word 33   claimant      The agent that moves `tail` now, or 0. Bit 28 is
 *                         CONTENDED. If there is one producer, its id from its
 *                         first push on.
 * word 34   head_cache    The value of `head` that the producers saw last.
 * word 35   least         The fewest bytes, head included, for which a producer
 *                         waited; 0 if none did.
 * word 36   pushed        How many records were pushed, without the skipped
 *                         ones, modulo 2^32, if `most` is not 0.
 * word 37   popped_cache  The value of `popped` that the producers saw last.
 * word 64   head          Where the consumer reads next, in bytes.
 * word 65   tail_cache    The value of `tail` that the consumer saw last.
 * word 66   consumer      The agent that reads, or 0. If there is one consumer,
 *                         its id from its first pop on. Otherwise the agent
 *                         that moves `head` now; bit 28 is CONTENDED.
 * word 67   popped        How many records were popped, modulo 2^32, if `most`
 *                         is not 0.
 * word 96   pop_epoch     Changes when the sleeping consumer must look again.
 *                         sleepers: the consumer
 * word 97   pop_waiters   bits 0-30  waits of the consumer that sleep, or are
 *                                    about to
 *                         bit 31     one of them awaits, or did
 * word 98   pop_gong      A gong, for agents that wait for records here and for
 *                         others.
 *                         sleepers: agents that wait at several ends
 * word 128  push_epoch    Changes when sleeping producers must look again.
 *                         sleepers: producers
 * word 129  push_waiters  bits 0-30  producers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 130  push_gong     A gong, for agents that wait for room here and for
 *                         others.
 *                         sleepers: agents that wait at several ends
 * word 131  hand_ons      How often a producer without room may still hand its
 *                         wake on.
 * word 160  `capacity` bytes. Position `p` is at byte `p mod capacity`. A
 *           record begins at a multiple of 8 bytes with two words. The first is
 *           its length times 4 plus its state: 1 RESERVED, 2 COMMITTED or 3
 *           SKIPPED. The second is the id of the agent that reserved it. Its
 *           bytes follow, padded to a multiple of 8.
 * ```
 */
export class RecordRing extends RecordRingBase {
  /** Whether the function of `read` runs. */
  #reads = false;

  /**
   * Attaches to the ring at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no ring of this kind and
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset, Copier, agentId());
  }

  /**
   * The bytes a ring of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not a ring's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config: RecordRingConfig): number {
    return recordBytes(config);
  }

  /**
   * Allocates an empty ring.
   *
   * @throws {TypeError} If `config` is not a ring's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create(config: RecordRingConfig): RecordRing {
    return RecordRing.init(allocate(recordBytes(config)), 0, config);
  }

  /**
   * Initializes an empty ring in unused memory.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not a ring's
   * configuration.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config: RecordRingConfig,
  ): RecordRing {
    formatRecords(memory, byteOffset, config);
    return new RecordRing(memory, byteOffset);
  }

  /**
   * Attaches to the ring whose handle came in a message.
   *
   * @throws {TypeError} If the handle names another kind, or no ring is there.
   */
  static from(handle: Handle<"record_ring">): RecordRing {
    return new RecordRing(...fromHandle("record_ring", handle));
  }

  /**
   * Appends the bytes of `src` as a record, blocking while there is no room.
   *
   * @throws {ClosedError} If the ring is closed.
   * @throws {RangeError} If `src` is longer than `maxLength`.
   * @throws {TypeError} If `src` is neither a typed array nor a DataView, this
   * view has a reservation, or this agent may not block.
   */
  push(src: Elements): void {
    assertMayBlock("push");
    if (!super.tryPush(src)) blockOn(this.#room(src));
  }

  /** As `push`, but waits at most `timeout` ms; false if no room came free. */
  override tryPush(src: Elements, timeout = 0): boolean {
    if (timeout === 0) return super.tryPush(src);
    return tryBlockOn(this.#room(src), "tryPush", timeout) === true;
  }

  /**
   * As `push`, awaiting instead of blocking. Do not change `src` before the
   * promise settles: it may be copied at any moment until then.
   */
  pushAsync(src: Elements, options?: AsyncOptions): Promise<void> {
    return awaitOn(this.#room(src), options).then(() => {});
  }

  /** As `tryPush`, awaiting instead of blocking: see `pushAsync`. */
  tryPushAsync(src: Elements, options?: TryAsyncOptions): Promise<boolean> {
    return tryAwaitOn(this.#room(src), options).then((done) => done === true);
  }

  /**
   * Reserves room for a record of `length` bytes, without waiting. Returns the
   * record's bytes, or undefined if there is no room. Write the bytes, then
   * call `commit` or `cancel`, and do not use them afterwards.
   *
   * @throws {ClosedError} If the ring is closed.
   * @throws {RangeError} If `length` is not an integer from 0 to `maxLength`.
   * @throws {TypeError} If this view has a reservation already.
   */
  reserve(length: number): Uint8Array | undefined {
    const record = this.reserveRecord(length);
    return record === 0 ? undefined : this.#bytesOf(record, length);
  }

  /**
   * Appends the reserved record, or its first `length` bytes.
   *
   * @throws {ClosedError} If the ring has a single producer and was closed
   * meanwhile.
   * @throws {RangeError} If `length` is more than was reserved.
   * @throws {TypeError} If nothing is reserved.
   */
  commit(length?: number): void {
    this.commitRecord(length);
  }

  /**
   * Gives the reserved record up.
   *
   * @throws {TypeError} If nothing is reserved.
   */
  cancel(): void {
    this.cancelRecord();
  }

  /**
   * Takes the oldest record, blocking while there is none. Returns a new array,
   * which the caller may keep.
   *
   * @throws {ClosedError} If the ring is closed and empty.
   * @throws {TypeError} If this agent may not block.
   */
  pop(): Uint8Array<ArrayBuffer> {
    assertMayBlock("pop");
    return this.#take() ?? blockOn(this.pendingPop(() => this.#take()));
  }

  /** As `pop`, but waits at most `timeout` ms; undefined if none came. */
  tryPop(timeout = 0): Uint8Array<ArrayBuffer> | undefined {
    if (timeout === 0) return this.#take();
    return tryBlockOn(this.pendingPop(() => this.#take()), "tryPop", timeout);
  }

  /** As `pop`, awaiting instead of blocking. */
  popAsync(options?: AsyncOptions): Promise<Uint8Array<ArrayBuffer>> {
    return awaitOn(this.pendingPop(() => this.#take()), options);
  }

  /** As `tryPop`, awaiting instead of blocking. */
  tryPopAsync(
    options?: TryAsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return tryAwaitOn(this.pendingPop(() => this.#take()), options);
  }

  /**
   * Moves the oldest record into the beginning of `dst`, blocking while there
   * is none; returns its length.
   *
   * @throws {ClosedError} If the ring is closed and empty.
   * @throws {RangeError} If the record is longer than `dst`; the record stays
   * in the ring.
   * @throws {TypeError} If `dst` is neither a typed array nor a DataView, or
   * this agent may not block.
   */
  popInto(dst: Elements): number {
    assertMayBlock("popInto");
    return super.tryPopInto(dst) ?? blockOn(this.#nextInto(dst));
  }

  /** As `popInto`, but waits at most `timeout` ms; undefined if none came. */
  override tryPopInto(dst: Elements, timeout = 0): number | undefined {
    if (timeout === 0) return super.tryPopInto(dst);
    return tryBlockOn(this.#nextInto(dst), "tryPopInto", timeout);
  }

  /** As `popInto`, awaiting instead of blocking. */
  popIntoAsync(dst: Elements, options?: AsyncOptions): Promise<number> {
    return awaitOn(this.#nextInto(dst), options);
  }

  /** As `tryPopInto`, awaiting instead of blocking. */
  tryPopIntoAsync(
    dst: Elements,
    options?: TryAsyncOptions,
  ): Promise<number | undefined> {
    return tryAwaitOn(this.#nextInto(dst), options);
  }

  /**
   * Calls `fn` with up to `limit` of the oldest records, one after the other,
   * without waiting. Each record is a view of the ring that is valid until `fn`
   * returns. Returns how many records were taken. If `fn` throws, that record
   * stays in the ring. `fn` may not take records by this object.
   *
   * @throws {ClosedError} If the ring is closed and empty.
   * @throws {TypeError} If `fn` is not a function, or is called at this moment.
   */
  read(fn: (record: Uint8Array) => void, limit = 1): number {
    assertFunction(fn);
    if (limit !== Infinity) inRange("limit", limit, 0, MAX_CAPACITY);
    let count = 0;
    for (; count < limit; count++) {
      const before = this.peekedRecord;
      let record = 0;
      try {
        record = this.peekRecord();
      } catch (error) { // closed or damaged: after some records, not yet told
        if (count === 0) throw error;
      }
      if (record === 0) break;
      this.#reads = true;
      try {
        fn(this.#bytesOf(record));
      } catch (error) {
        if (before === 0) this.unpeek(); // else the user still reads it
        throw error;
      } finally {
        this.#reads = false;
      }
      this.consumeRecord();
    }
    return count;
  }

  /**
   * As that of the core; refused within `read`.
   *
   * @internal
   */
  override peekRecord(): number {
    if (this.#reads) throw new TypeError("Cannot take records within read");
    return super.peekRecord();
  }

  /**
   * As that of the core; refused within `read`.
   *
   * @internal
   */
  override consumeRecord(): void {
    if (this.#reads) throw new TypeError("Cannot take records within read");
    super.consumeRecord();
  }

  /**
   * Shows the oldest record in place, without waiting. Returns the record's
   * bytes, or undefined if there is none. Read the bytes, then call `consume`,
   * and do not use them afterwards. A pop by this object after `peek`, also one
   * that awaits, takes that same record, and then there is nothing to consume.
   *
   * @throws {ClosedError} If the ring is closed and empty.
   */
  peek(): Uint8Array | undefined {
    const record = this.peekRecord();
    return record === 0 ? undefined : this.#bytesOf(record);
  }

  /**
   * Removes the record that `peek` returned.
   *
   * @throws {TypeError} If `peek` returned no record.
   */
  consume(): void {
    this.consumeRecord();
  }

  /**
   * Takes records as they come, until the ring is closed and empty. If `signal`
   * aborts, the iteration throws `signal.reason`.
   *
   * @throws {TypeError} If an option is unknown or of the wrong type.
   */
  values(
    options?: AsyncOptions,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
    const take = () => this.#take();
    return iterate({
      take,
      takeAsync: (options) => this.asyncAt("pop", take, options),
      isEnd: (error) => error instanceof ClosedError,
    }, options);
  }

  /** The bytes of a record that is reserved or peeked at. */
  #bytesOf(
    record: number,
    length = this.lengthOfRecord(record),
  ): Uint8Array<SharedArrayBuffer> {
    const at = (record + 2) * 4;
    return this.bytes.subarray(at, at + length);
  }

  #take(): Uint8Array<ArrayBuffer> | undefined {
    const record = this.peekRecord();
    if (record === 0) return undefined;
    const at = (record + 2) * 4;
    const copy = this.bytes.slice(at, at + this.lengthOfRecord(record));
    this.consumeRecord();
    return copy;
  }

  #room(src: Elements): PendingResult<true> {
    return this.pendingAt("push", () => super.tryPush(src));
  }

  #nextInto(dst: Elements): PendingResult<number> {
    return this.pendingPop(() => super.tryPopInto(dst));
  }
}
