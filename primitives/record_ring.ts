/**
 * Byte records of any length, from many producers to one consumer.
 *
 * @module
 */

import { RECORD_RING } from "./_layout.ts";
import { Copier, type Elements } from "./_elements.ts";
import {
  type Awaited,
  awaitOn,
  blockOn,
  waitOn,
  wake,
} from "./_event_count.ts";
import { ClosedError } from "./_queue.ts";
import {
  allocate,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_region.ts";
import { relaxBriefly, spinning } from "./_spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  type Waiting,
} from "./_wait.ts";
import { agentId } from "./agent.ts";

export type { Elements } from "./_elements.ts";
export { ClosedError } from "./_queue.ts";
export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

const CAPACITY = RECORD_RING.capacity;
const SINGLE_PRODUCER = RECORD_RING.single_producer;
const TAIL = RECORD_RING.tail;
const CLAIMANT = RECORD_RING.claimant;
const HEAD_CACHE = RECORD_RING.head_cache;
const HEAD = RECORD_RING.head;
const TAIL_CACHE = RECORD_RING.tail_cache;
const POP_EPOCH = RECORD_RING.pop_epoch;
const PUSH_EPOCH = RECORD_RING.push_epoch;
const DATA = RECORD_RING.length;

/** In `tail`: nothing is appended any more. */
const CLOSED_BIT = 1;
const POSITION_MASK = ~7;
/** In `claimant`: somebody waits for the claim to end. */
const CONTENDED_BIT = 1 << 28;
const OWNER_MASK = CONTENDED_BIT - 1;
/** The states of a record, in the low bits of its first word. */
const RESERVED = 1;
const COMMITTED = 2;
const SKIPPED = 3;
/** Bytes of a record's head. */
const HEADER = 8;
/** Longer records are copied after the claim has ended. */
const SHORT = 1024;

const MAX_CAPACITY = 2 ** 30;

/** How a ring is made. */
export interface RecordRingConfig {
  /** Bytes it has, 16 to 2^30; rounded up to a power of two. */
  readonly capacity: number;
  /** Whether only one agent pushes, which is faster; false unless given. */
  readonly single?: boolean;
}

/**
 * What can be told of a ring.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: RECORD_RING,
  waiters: (words) => words[POP_EPOCH + 1]! + words[PUSH_EPOCH + 1]!,
};

/**
 * A bounded ring of byte records of any length, 0 included, from many producers
 * to one consumer.
 *
 * ```text
 * word 0    magic            Kind and layout version.
 * word 1    capacity         Bytes, a power of two.
 * word 2    single_producer  1 if there is one producer.
 * word 3    seal             Check word over the configuration.
 * word 32   tail             bit 0      CLOSED
 *                            bits 1-31  where the next record goes, in bytes
 * word 33   claimant         The agent that moves `tail` now, or 0. Bit 28 is
 *                            CONTENDED.
 * word 34   head_cache       What the producers last saw of `head`.
 * word 64   head             Where the consumer reads next, in bytes.
 * word 65   tail_cache       What the consumer last saw of `tail`.
 * word 96   pop_epoch        Changes when the sleeping consumer must look
 *                            again.
 *                            sleepers: the consumer
 * word 97   pop_waiters      Waits of the consumer that sleep, or are about to.
 * word 128  push_epoch       Changes when sleeping producers must look again.
 *                            sleepers: producers
 * word 129  push_waiters     Producers that sleep, or are about to.
 * word 160  `capacity` bytes. Position `p` is at byte `p mod capacity`. A
 *           record begins at a multiple of 8 bytes with two words. The first is
 *           its length times 4 plus its state: 1 RESERVED, 2 COMMITTED or 3
 *           SKIPPED. The second is the id of the agent that reserved it. Its
 *           bytes follow, padded to a multiple of 8.
 * ```
 *
 * A record lies in one piece: where it would not before the end of the ring, a
 * SKIPPED one fills the rest. So a record has at most `maxLength` bytes, for
 * which there is room in an empty ring wherever that begins.
 *
 * Invariant: from `head` to `tail` lie whole records with their heads.
 * Progress: the `try` forms never wait, but are not lock-free. A producer has
 * the claim for the few steps from its look at `tail` to its new value, and
 * another that meets it looks for a microsecond, and then answers "full". The
 * consumer never needs the claim; but a record reserved and not yet committed
 * holds back those behind it, and `tryPop` answers "empty". With `single`, all
 * is wait-free and a record is seen when it is committed.
 * An agent terminated with the claim, or between `reserve` and `commit`, holds
 * up the others until `abandon(id)`, which skips its record. Terminated at any
 * other step it costs nothing. With `single` there is nothing to abandon.
 * Wrap: positions have 32 bits and are compared by their difference; one agent
 * at a time moves each, so none can be mistaken for an older one.
 * Fairness: first in, first out, in the order of reserving.
 * C twin: `weft_record_ring`.
 * Source: records with skip marks, Agrona's ring buffers; the claim with an
 * owner instead of an addition, so that a claim can be abandoned, own design.
 *
 * @example Log lines from any number of workers
 * ```ts
 * import { RecordRing } from "@weft/sync";
 *
 * const log = RecordRing.create({ capacity: 65536 }); // post log.handle
 * log.tryPush(new TextEncoder().encode("hello"));
 * const line = log.tryPop();
 * if (new TextDecoder().decode(line) !== "hello") throw new Error("lost");
 * ```
 */
export class RecordRing extends Region<"record_ring"> {
  /** Bytes it has. */
  readonly capacity: number;
  /** The most bytes of a record. */
  readonly maxLength: number;
  /** Whether only one agent may push. */
  readonly single: boolean;
  /** The bytes that `reserve` and `peek` point into. */
  readonly bytes: Uint8Array;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /**
   * Copies records in and out.
   *
   * @internal
   */
  protected readonly copier: Copier;
  readonly #mask: number;
  readonly #id: number;
  /** The word of the record reserved by this view, or 0; and its length. */
  #reserved = 0;
  #length = 0;
  /** The word of the record peeked at by this view, or 0. */
  #peeked = 0;

  /**
   * Attaches to the ring at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no ring of this kind and
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = attach(
      "record_ring",
      RECORD_RING,
      memory,
      byteOffset,
      bytesFor,
    );
    super("record_ring", words, INSPECTION);
    this.#words = words;
    this.copier = new Copier(words);
    this.#id = agentId();
    this.capacity = words[CAPACITY]!;
    this.maxLength = this.capacity / 2 - HEADER;
    this.single = words[SINGLE_PRODUCER] === 1;
    this.#mask = this.capacity - 1;
    this.bytes = new Uint8Array(this.buffer, this.byteOffset, this.byteLength);
  }

  /**
   * The bytes a ring of this configuration occupies.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config: RecordRingConfig): number {
    return bytesFor(checked(config));
  }

  /**
   * Allocates an empty ring.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static create(config: RecordRingConfig): RecordRing {
    return RecordRing.init(allocate(RecordRing.byteLength(config)), 0, config);
  }

  /**
   * Makes a region that nobody uses yet an empty ring.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number,
    config: RecordRingConfig,
  ): RecordRing {
    const capacity = checked(config);
    const single = config.single === true ? 1 : 0;
    const bytes = bytesFor(capacity);
    format("record_ring", RECORD_RING, memory, byteOffset, bytes, [
      capacity,
      single,
    ]);
    return new RecordRing(memory, byteOffset);
  }

  /**
   * Attaches to the ring a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): RecordRing {
    return new RecordRing(...fromHandle("record_ring", handle));
  }

  /** Bytes in use, heads included; a moment later it may be another number. */
  get used(): number {
    const head = Atomics.load(this.#words, HEAD);
    const tail = Atomics.load(this.#words, TAIL) & POSITION_MASK;
    return Math.min(tail - head >>> 0, this.capacity);
  }

  /** Whether `close` was called; records may still be in the ring. */
  get closed(): boolean {
    return (Atomics.load(this.#words, TAIL) & CLOSED_BIT) !== 0;
  }

  /** The agent that has the claim just now, or 0. */
  get claimant(): number {
    return Atomics.load(this.#words, CLAIMANT) & OWNER_MASK;
  }

  /**
   * Appends the bytes of `src` as a record, without waiting; false if there is
   * no room for it.
   *
   * @throws {ClosedError} If the ring was closed.
   * @throws {RangeError} If `src` is longer than `maxLength`.
   * @throws {TypeError} If this view has a reservation.
   */
  tryPush(src: Elements): boolean {
    this.#assertFits(src.byteLength);
    const { byteLength } = src;
    if (byteLength > SHORT && !this.single) {
      if (this.reserve(byteLength) < 0) return false;
      this.#put(src, this.#reserved + 2);
      this.commit();
      return true;
    }
    if (this.#reserved !== 0) {
      throw new TypeError("A record is reserved already");
    }
    const record = this.#claim(byteLength);
    if (record === 0) return false;
    this.#words[record] = byteLength << 2 | COMMITTED; // published by (P)
    this.#put(src, record + 2);
    this.#publish(record, byteLength);
    wake(this.#words, POP_EPOCH, 1);
    return true;
  }

  /**
   * As `tryPush`, blocking up to `timeout` ms; false if no room came free.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  push(src: Elements, timeout = Infinity): boolean {
    assertMayBlock("push");
    if (timeout !== Infinity) assertTimeout(timeout);
    return this.tryPush(src) || blockOn(this.#room(src), timeout) === true;
  }

  /**
   * As `push`, awaiting instead of blocking: `src` must not change until it is
   * pushed.
   */
  pushAsync(src: Elements, options?: AsyncOptions): Promise<boolean> {
    return awaitOn(this.#room(src), options).then((done) => done === true);
  }

  /**
   * Begins to append a record of `length` bytes in place: where they go in
   * `bytes`, or -1 if there is no room. Write them there, then `commit`, or
   * `cancel`.
   *
   * @throws {ClosedError} If the ring was closed.
   * @throws {RangeError} If `length` is not an integer from 0 to `maxLength`.
   * @throws {TypeError} If this view has a reservation already.
   */
  reserve(length: number): number {
    if (this.#reserved !== 0) {
      throw new TypeError("A record is reserved already");
    }
    inRange("A record's length", length, 0, this.maxLength);
    const record = this.#claim(length);
    if (record === 0) return -1;
    if (!this.single) {
      this.#words[record] = length << 2 | RESERVED; // published by (P)
      this.#words[record + 1] = this.#id;
      this.#publish(record, length);
    }
    this.#reserved = record;
    this.#length = length;
    return (record + 2) * 4;
  }

  /**
   * Appends the reserved record, or as many of its bytes as `length` says.
   *
   * @throws {ClosedError} If the ring is `single` and was closed meanwhile.
   * @throws {RangeError} If `length` is more than was reserved.
   * @throws {TypeError} If nothing is reserved.
   */
  commit(length: number = this.#length): void {
    this.#assertReserved();
    inRange("A record's length", length, 0, this.#length);
    const words = this.#words;
    const record = this.#reserved;
    this.#reserved = 0;
    const rest = spaceFor(this.#length) - spaceFor(length);
    if (this.single) {
      words[record] = length << 2 | COMMITTED; // published by (P)
      this.#publish(record, length);
    } else {
      if (rest > 0) { // published by (C)
        const behind = record + spaceFor(length) / 4;
        words[behind] = rest - HEADER << 2 | SKIPPED;
      }
      Atomics.store(words, record, length << 2 | COMMITTED); // (C)
    }
    wake(words, POP_EPOCH, 1);
  }

  /**
   * Gives the reserved record up.
   *
   * @throws {TypeError} If nothing is reserved.
   */
  cancel(): void {
    this.#assertReserved();
    const record = this.#reserved;
    this.#reserved = 0;
    if (this.single) return; // nobody has seen it
    Atomics.store(this.#words, record, this.#length << 2 | SKIPPED);
    wake(this.#words, POP_EPOCH, 1); // for what it held back
  }

  /**
   * Takes the oldest record, as a copy; undefined if there is none.
   *
   * @throws {ClosedError} If the ring was closed and is empty.
   */
  tryPop(): Uint8Array<ArrayBuffer> | undefined {
    const at = this.peek();
    if (at < 0) return undefined;
    const copy = this.bytes.slice(at, at + this.peekedLength);
    this.consume();
    return copy;
  }

  /**
   * Moves the oldest record into the beginning of `dst`; answers its length, or
   * -1 if there is none.
   *
   * @throws {ClosedError} If the ring was closed and is empty.
   * @throws {RangeError} If the record is longer than `dst`; it stays.
   */
  tryPopInto(dst: Elements): number {
    const at = this.peek();
    if (at < 0) return -1;
    const length = this.peekedLength;
    if (length > dst.byteLength) {
      this.#peeked = 0;
      throw new RangeError(
        `A record of ${length} bytes does not fit an array of ` +
          `${dst.byteLength} bytes`,
      );
    }
    this.#get(dst, at, length);
    this.consume();
    return length;
  }

  /**
   * As `tryPop`, blocking up to `timeout` ms; undefined if nothing came.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  pop(timeout = Infinity): Uint8Array<ArrayBuffer> | undefined {
    assertMayBlock("pop");
    if (timeout !== Infinity) assertTimeout(timeout);
    return this.tryPop() ?? blockOn(this.#next(() => this.tryPop()), timeout);
  }

  /** As `pop`, awaiting instead of blocking. */
  popAsync(
    options?: AsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return awaitOn(this.#next(() => this.tryPop()), options);
  }

  /**
   * As `tryPopInto`, blocking up to `timeout` ms; -1 if nothing came.
   */
  popInto(dst: Elements, timeout = Infinity): number {
    assertMayBlock("popInto");
    if (timeout !== Infinity) assertTimeout(timeout);
    const length = this.tryPopInto(dst);
    if (length >= 0) return length;
    return blockOn(this.#nextInto(dst), timeout) ?? -1;
  }

  /** As `popInto`, awaiting instead of blocking. */
  popIntoAsync(dst: Elements, options?: AsyncOptions): Promise<number> {
    return awaitOn(this.#nextInto(dst), options)
      .then((length) => length ?? -1);
  }

  /**
   * Calls `fn` with up to `limit` of the oldest records, one after the other,
   * each a view of the ring that is valid until `fn` returns. Answers how many
   * there were. If `fn` throws, that record is the oldest still.
   *
   * @throws {ClosedError} If the ring was closed and is empty.
   */
  read(fn: (record: Uint8Array) => void, limit = 1): number {
    let count = 0;
    for (; count < limit; count++) {
      if (count > 0 && !this.#hasNext()) break;
      const at = this.peek();
      if (at < 0) break;
      try {
        fn(this.bytes.subarray(at, at + this.peekedLength));
      } catch (error) {
        this.#peeked = 0;
        throw error;
      }
      this.consume();
    }
    return count;
  }

  /**
   * Begins to take the oldest record in place: where it lies in `bytes`, or -1
   * if there is none; `peekedLength` is its length. Read it there, then
   * `consume`.
   *
   * @throws {ClosedError} If the ring was closed and is empty.
   */
  peek(): number {
    if (this.#peeked === 0) {
      this.#peeked = this.#oldest();
      if (this.#peeked < 0) {
        this.#peeked = 0;
        throw new ClosedError("The ring is closed");
      }
    }
    return this.#peeked === 0 ? -1 : (this.#peeked + 2) * 4;
  }

  /** The length of the record that was peeked at; 0 if none was. */
  get peekedLength(): number {
    return this.#peeked === 0 ? 0 : this.#words[this.#peeked]! >>> 2;
  }

  /**
   * Takes the record that was peeked at.
   *
   * @throws {TypeError} If none was.
   */
  consume(): void {
    const record = this.#peeked;
    if (record === 0) throw new TypeError("No record was peeked at");
    this.#peeked = 0;
    const words = this.#words;
    const space = spaceFor(words[record]! >>> 2);
    Atomics.store(words, HEAD, words[HEAD]! + space | 0); // (F)
    wake(words, PUSH_EPOCH, Infinity);
  }

  /** Takes records as they come, until the ring is closed and empty. */
  async *[Symbol.asyncIterator](): AsyncGenerator<
    Uint8Array<ArrayBuffer>,
    void,
    void
  > {
    try {
      for (;;) yield (await this.popAsync())!;
    } catch (error) {
      if (!(error instanceof ClosedError)) throw error;
    }
  }

  /**
   * Closes the ring for good: pushes fail from now on, pops take what is there
   * and what is reserved, and then fail, and every sleeper wakes.
   */
  close(): void {
    const words = this.#words;
    if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;
    wake(words, POP_EPOCH, Infinity);
    wake(words, PUSH_EPOCH, Infinity);
  }

  /**
   * Ends the claim of agent `id`, known never to run again, and skips what it
   * had reserved; answers how many records that were. -1 if another agent has
   * the claim just now: then again later, or abandon that `claimant` first.
   */
  abandon(id: number): number {
    const words = this.#words;
    if (id === 0 || this.single) return 0;
    // While the claim is ours, nothing is written over what we read.
    if (!this.#takeOver(id)) return -1;
    let count = 0;
    const tail = Atomics.load(words, TAIL) & POSITION_MASK;
    for (let at = Atomics.load(words, HEAD); (tail - at | 0) > 0;) {
      const record = this.#at(at);
      const head = Atomics.load(words, record);
      if ((head & 3) === RESERVED && words[record + 1] === id) {
        Atomics.store(words, record, head | SKIPPED);
        count++;
      }
      at = at + spaceFor(head >>> 2) | 0;
    }
    this.#endClaim();
    if (count > 0) wake(words, POP_EPOCH, Infinity);
    return count;
  }

  #assertFits(length: number): void {
    if (length <= this.maxLength) return;
    throw new RangeError(
      `A record of ${length} bytes does not fit a ring of ${this.capacity} ` +
        `bytes: at most ${this.maxLength} do`,
    );
  }

  #assertReserved(): void {
    if (this.#reserved === 0) throw new TypeError("No record is reserved");
  }

  /** The word of the record at a position. */
  #at(position: number): number {
    return DATA + ((position & this.#mask) >> 2);
  }

  /** Copies all of `src` to the words from `at` on. */
  #put(src: Elements, at: number): void {
    const { byteLength } = src;
    this.copier.put(src, 0, at, byteLength >> 2);
    for (let i = byteLength & ~3; i < byteLength; i++) {
      this.bytes[at * 4 + i] = byteAt(src, i);
    }
  }

  /** Copies the record of `length` bytes at byte `at` to `dst`. */
  #get(dst: Elements, at: number, length: number): void {
    this.copier.get(dst, 0, at >> 2, length >> 2);
    if ((length & 3) === 0) return;
    const bytes = dst instanceof Uint8Array
      ? dst
      : new Uint8Array(dst.buffer, dst.byteOffset, dst.byteLength);
    for (let i = length & ~3; i < length; i++) bytes[i] = this.bytes[at + i]!;
  }

  /**
   * Finds room for a record: the word where it begins, with the claim ours, or
   * 0 if there is none.
   */
  #claim(length: number): number {
    const words = this.#words;
    if (!this.single && !this.#beginClaim()) return 0;
    const tail = words[TAIL]!; // ours: only `close` changes it meanwhile
    if (tail & CLOSED_BIT) {
      this.#endClaim();
      throw new ClosedError("The ring is closed");
    }
    const space = spaceFor(length);
    const left = this.capacity - (tail & this.#mask);
    const total = left < space ? left + space : space;
    if (total > this.capacity - (tail - words[HEAD_CACHE]! | 0)) {
      const head = Atomics.load(words, HEAD); // pairs with (F)
      words[HEAD_CACHE] = head;
      if (total > this.capacity - (tail - head | 0)) {
        const closed = this.closed;
        this.#endClaim();
        if (closed) throw new ClosedError("The ring is closed");
        return 0;
      }
    }
    if (left >= space) return this.#at(tail);
    words[this.#at(tail)] = left - HEADER << 2 | SKIPPED; // published by (P)
    return DATA;
  }

  /** (P) Moves `tail` behind `record`, of `length` bytes, and ends the claim. */
  #publish(record: number, length: number): void {
    const words = this.#words;
    const tail = words[TAIL]!;
    // Where it began was decided by the length that was reserved.
    const skipped = record === this.#at(tail)
      ? 0
      : this.capacity - (tail & this.#mask);
    const next = tail + skipped + spaceFor(length) | 0;
    const seen = tail & CLOSED_BIT
      ? tail
      : Atomics.compareExchange(words, TAIL, tail, next);
    this.#endClaim();
    if (seen & CLOSED_BIT) throw new ClosedError("The ring is closed");
  }

  /** Takes the claim, if it comes free within a microsecond or so. */
  #beginClaim(): boolean {
    const words = this.#words;
    // Who has it needs a tenth of a microsecond, if it runs.
    for (let i = 8 * Math.min(spinning.rounds, 2);; i--) {
      const owner = Atomics.compareExchange(words, CLAIMANT, 0, this.#id);
      if (owner === 0) return true;
      if (i <= 0) {
        // (W) Who waits wants to be woken: by this owner, if it is one still.
        const marked = owner | CONTENDED_BIT;
        const seen = Atomics.compareExchange(words, CLAIMANT, owner, marked);
        if (seen === owner) return false;
      } else relaxBriefly();
    }
  }

  #endClaim(): void {
    if (this.single) return;
    const words = this.#words;
    // Pairs with (W).
    if (Atomics.exchange(words, CLAIMANT, 0) & CONTENDED_BIT) {
      wake(words, PUSH_EPOCH, Infinity);
    }
  }

  /** Takes the claim, from agent `id` if it has it. */
  #takeOver(id: number): boolean {
    const words = this.#words;
    for (;;) {
      const owner = Atomics.load(words, CLAIMANT);
      if ((owner & OWNER_MASK) !== id) return this.#beginClaim();
      const ours = this.#id | owner & CONTENDED_BIT;
      const seen = Atomics.compareExchange(words, CLAIMANT, owner, ours);
      if (seen === owner) return true;
    }
  }

  /** The word of the oldest record, 0 if there is none, -1 if never again. */
  #oldest(): number {
    const words = this.#words;
    for (;;) {
      const head = words[HEAD]!; // our own: nobody else moves it
      if (head === words[TAIL_CACHE]) {
        const tail = Atomics.load(words, TAIL);
        words[TAIL_CACHE] = tail & POSITION_MASK;
        if (head === (tail & POSITION_MASK)) return tail & CLOSED_BIT ? -1 : 0;
      }
      const record = this.#at(head);
      // With one producer it is committed by (P), which we saw; else by (C).
      const first = this.single ? words[record]! : Atomics.load(words, record);
      const state = first & 3;
      if (state === COMMITTED) return record;
      if (state === RESERVED) return 0;
      Atomics.store(words, HEAD, head + spaceFor(first >>> 2) | 0);
      wake(words, PUSH_EPOCH, Infinity);
    }
  }

  /** Whether a record can be taken now. */
  #hasNext(): boolean {
    return this.#peeked !== 0 || this.#oldest() > 0;
  }

  #room(src: Elements): Awaited<true> {
    return {
      words: this.#words,
      epoch: PUSH_EPOCH,
      attempt: () => this.tryPush(src) || undefined,
      pass: () => {}, // all are woken at a time: nobody has another's wake
    };
  }

  /**
   * Waits until a pop would end.
   *
   * @internal
   */
  readiness(): Waiting<boolean | undefined> {
    return waitOn(this.#next(() => this.#oldest() !== 0 || undefined));
  }

  #nextInto(dst: Elements): Awaited<number> {
    return this.#next(() => {
      const length = this.tryPopInto(dst);
      return length < 0 ? undefined : length;
    });
  }

  #next<T = Uint8Array<ArrayBuffer>>(
    attempt: () => T | undefined,
  ): Awaited<T> {
    return {
      words: this.#words,
      epoch: POP_EPOCH,
      attempt,
      // What was held back by the record just taken had its wakes before.
      pass: () => {
        const next = this.#oldest();
        if (next !== 0) wake(this.#words, POP_EPOCH, next < 0 ? Infinity : 1);
      },
    };
  }
}

/** The bytes a record occupies. */
const spaceFor = (length: number): number => (length + 7 & ~7) + HEADER;

function byteAt(array: Elements, i: number): number {
  return array instanceof Uint8Array
    ? array[i]!
    : new Uint8Array(array.buffer, array.byteOffset + i, 1)[0]!;
}

/** The capacity rounded up; a RangeError if it is out of range. */
function checked({ capacity }: RecordRingConfig): number {
  inRange("A ring's capacity", capacity, 16, MAX_CAPACITY);
  return 2 ** Math.ceil(Math.log2(capacity));
}

const bytesFor = (capacity: number): number => DATA * 4 + capacity;
