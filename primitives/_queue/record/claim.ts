/**
 * What producers do to a record ring: they claim room and publish records, and
 * those that find no room wake each other.
 *
 * C twin: `_record_claim.h`.
 *
 * @module
 */

import { DamagedError } from "../../_memory/damaged.ts";
import type { RECORD_RING } from "../../_memory/layout.ts";
import { inRange, Region } from "../../_memory/region.ts";
import { leaveRole, takeRole } from "../../_memory/roles.ts";
import { waitersOf, wakeEnd as wake } from "../../_wait/event_count.ts";
import { relaxBriefly, spinning } from "../../_wait/spin.ts";
import {
  byteLengthOf,
  bytesOf,
  type Copying,
  type CopyingClass,
  type Elements,
} from "../elements.ts";
import {
  CAPACITY,
  CLAIMANT,
  COMMITTED,
  DATA,
  HEAD,
  HEADER,
  indexAt,
  isWhole,
  MANY_CONSUMERS,
  MOST,
  ONE_PRODUCER,
  OWNER_MASK,
  POP_EPOCH,
  POPPED,
  POSITION_MASK,
  PUSH_EPOCH,
  RECORDS,
  RESERVED,
  ROLES,
  SKIPPED,
  spaceFor,
  TAIL,
} from "./words.ts";

/** A bit of `tail`: the ring is closed, and nothing is appended any more. */
const CLOSED_BIT = 1; // RECORD_RING_BITS.CLOSED
/** A bit of `claimant` and `consumer`: an agent waits for the claim to end. */
const CONTENDED_BIT = 0x1000_0000; // RECORD_RING_BITS.CONTENDED

/** Words that only producers use. */
const HEAD_CACHE: typeof RECORD_RING.head_cache = 34;
const LEAST: typeof RECORD_RING.least = 35;
const PUSHED: typeof RECORD_RING.pushed = 36;
const POPPED_CACHE: typeof RECORD_RING.popped_cache = 37;
const HAND_ONS: typeof RECORD_RING.hand_ons = 131;

/** Records of more bytes than this are copied after the claim has ended. */
const SHORT = 1024;

/**
 * The operations of producers of a {@linkcode RecordRing} that neither wait nor
 * allocate.
 *
 * @ignore
 */
export class RecordClaim extends Region<"record_ring"> {
  /** The size of the ring, in bytes. */
  readonly capacity: number;
  /** The most bytes that a record can have. */
  readonly maxLength: number;
  /** Whether only one agent may push. */
  readonly singleProducer: boolean;
  /** Whether any number of agents may pop. */
  readonly manyConsumers: boolean;
  /** The most records that may be in the ring, or 0 if any number may. */
  readonly most: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /**
   * Copies records in and out.
   *
   * @internal
   */
  protected readonly copier: Copying;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  readonly #mask: number;
  readonly #id: number;
  /**
   * The index of the first word of the record that this view reserved, or 0;
   * the next field is the record's length.
   */
  #reserved = 0;
  #length = 0;
  /** Whether this view's last push found no room. */
  #full = false;
  /** Whether this agent is the one producer. */
  #produces = false;

  /** Attaches agent `id` to the ring with these words. */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    Copier: CopyingClass,
    id: number,
  ) {
    super("record_ring", words, RECORDS);
    this.#words = words;
    this.#bytes = new Uint8Array(
      words.buffer,
      words.byteOffset,
      words.byteLength,
    );
    this.copier = new Copier(words);
    this.#id = id;
    this.capacity = words[CAPACITY]!;
    this.maxLength = this.capacity / 2 - HEADER;
    this.singleProducer = (words[ROLES]! & ONE_PRODUCER) !== 0;
    this.manyConsumers = (words[ROLES]! & MANY_CONSUMERS) !== 0;
    this.most = Math.max(0, words[MOST]!);
    this.#mask = this.capacity - 1;
  }

  /**
   * The bytes of the ring, of which those of a record begin at
   * `4 * record + 8`.
   *
   * @internal
   */
  get bytes(): Uint8Array<SharedArrayBuffer> {
    return this.#bytes;
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

  /** The id of the agent that has the claim at this moment, or 0. */
  get claimant(): number {
    if (this.singleProducer) return 0;
    return Atomics.load(this.#words, CLAIMANT) & OWNER_MASK;
  }

  /**
   * Appends the bytes of `src` as a record; false if there is no room for it.
   *
   * @throws {RangeError} If `src` is longer than `maxLength`.
   * @throws {TypeError} If this view has a reservation.
   */
  tryPush(src: Elements): boolean {
    return this.pushRecord(src, byteLengthOf(src));
  }

  /**
   * As `tryPush`, for the first `byteLength` bytes of `src`. If `src` has
   * words, it is copied by words, of which the last may be longer.
   *
   * @throws {RangeError} If they are more than `maxLength`, or than `src` has.
   * @throws {TypeError} If this view has a reservation, or `src` is not an
   * array.
   * @internal
   */
  pushRecord(src: Elements, byteLength: number): boolean {
    inRange("The bytes", byteLength, 0, byteLengthOf(src));
    this.#assertFits(byteLength);
    if (byteLength > SHORT && !this.singleProducer) {
      const record = this.reserveRecord(byteLength);
      if (record === 0) return false;
      this.#put(src, byteLength, record + 2);
      return this.commitRecord(byteLength);
    }
    this.#assertUnreserved();
    const record = this.#claim(byteLength);
    if (record === 0) return false;
    this.#words[record] = byteLength << 2 | COMMITTED; // published by (P)
    this.#put(src, byteLength, record + 2);
    if (!this.#publish(record, byteLength)) return false;
    wake(this.#words, POP_EPOCH, 1);
    return true;
  }

  /**
   * Reserves a record of `length` bytes. Returns the index of its first word,
   * or 0 if there is no room.
   *
   * @internal
   */
  reserveRecord(length: number): number {
    this.#assertUnreserved();
    inRange("A record's length", length, 0, this.maxLength);
    const record = this.#claim(length);
    if (record === 0) return 0;
    if (!this.singleProducer) {
      this.#words[record] = length << 2 | RESERVED; // published by (P)
      this.#words[record + 1] = this.#id;
      if (!this.#publish(record, length)) return 0;
    }
    this.#reserved = record;
    this.#length = length;
    return record;
  }

  /**
   * Appends `length` bytes of the reserved record; false if the ring has one
   * producer and was closed meanwhile.
   *
   * @internal
   */
  commitRecord(length: number = this.#length): boolean {
    this.#assertReserved();
    inRange("A record's length", length, 0, this.#length);
    const words = this.#words;
    const record = this.#reserved;
    this.#reserved = 0;
    const rest = spaceFor(this.#length) - spaceFor(length);
    if (this.singleProducer) {
      words[record] = length << 2 | COMMITTED; // published by (P)
      if (!this.#publish(record, length)) return false;
    } else {
      if (rest > 0) { // published by (C)
        const behind = record + spaceFor(length) / 4;
        words[behind] = rest - HEADER << 2 | SKIPPED;
      }
      Atomics.store(words, record, length << 2 | COMMITTED); // (C)
    }
    wake(words, POP_EPOCH, 1);
    return true;
  }

  /**
   * Gives the reserved record up.
   *
   * @internal
   */
  cancelRecord(): void {
    this.#assertReserved();
    const record = this.#reserved;
    this.#reserved = 0;
    if (this.singleProducer) return; // nobody else has seen it
    this.uncount();
    Atomics.store(this.#words, record, this.#length << 2 | SKIPPED);
    wake(this.#words, POP_EPOCH, 1); // for the records that it held back
    if (this.most > 0) this.wakeProducer();
  }

  /**
   * What this view keeps, for the race tester.
   *
   * @internal
   */
  protected explored(): unknown[] {
    return [this.#reserved, this.#length, this.#full, this.#produces];
  }

  /**
   * Called when the ring is closed. Here it does nothing; the class that also
   * waits throws.
   *
   * @internal
   */
  protected refuse(): void {}

  #assertFits(length: number): void {
    if (length <= this.maxLength) return;
    throw new RangeError(
      `A record of ${length} bytes does not fit a ring of ${this.capacity} ` +
        `bytes: the most is ${this.maxLength} bytes`,
    );
  }

  #assertUnreserved(): void {
    if (this.#reserved === 0) return;
    throw new TypeError("A record is reserved already");
  }

  #assertReserved(): void {
    if (this.#reserved === 0) throw new TypeError("No record is reserved");
  }

  /**
   * Copies `byteLength` bytes of `src` to the words from `at` on: as many as
   * were claimed, although a view of growable memory may have grown since.
   */
  #put(src: Elements, byteLength: number, at: number): void {
    const rest = src instanceof Int32Array ? 3 : 0;
    const count = byteLength + rest >> 2;
    this.copier.put(src, 0, at, count);
    for (let i = 4 * count; i < byteLength; i++) {
      this.#bytes[at * 4 + i] = bytesOf(src)[i]!;
    }
  }

  /**
   * Takes the claim and finds room for a record. Returns the index of the word
   * where the record begins, and keeps the claim; 0 if there is no room.
   */
  #claim(length: number): number {
    const words = this.#words;
    const space = spaceFor(length);
    if (!this.singleProducer) {
      if (this.#full && this.#isFull(space)) return 0;
      if (this.#beginClaim(space) !== 0) return 0;
    } else if (!this.#produces) {
      this.#produces = takeRole(words, CLAIMANT, this.#id, "producer");
    }
    const tail = words[TAIL]!; // ours: only `close` changes it meanwhile
    if (tail & CLOSED_BIT) {
      this.endClaim();
      this.refuse();
      return 0;
    }
    const total = this.#total(tail, space);
    const used = tail - words[HEAD_CACHE]! | 0;
    if (total > this.capacity - used || !isWhole(used, this.capacity)) {
      const head = Atomics.load(words, HEAD); // pairs with (F)
      words[HEAD_CACHE] = head;
      if (!isWhole(tail - head | 0, this.capacity) || tail & 7) {
        this.endClaim();
        throw new DamagedError("The ring");
      }
      if (total > this.capacity - (tail - head | 0)) {
        return this.#giveUp(space);
      }
    }
    if (this.most > 0 && this.#isCrowded(tail)) return this.#giveUp(space);
    this.#full = false;
    if (total === space) return indexAt(tail, this.capacity);
    words[indexAt(tail, this.capacity)] = total - space - HEADER << 2 | SKIPPED; // published by (P)
    return DATA;
  }

  /** Ends the claim of a push that found no room. */
  #giveUp(space: number): 0 {
    const closed = this.closed;
    this.#full = true;
    this.#note(space);
    this.endClaim();
    if (closed) this.refuse();
    return 0;
  }

  /**
   * Whether there are as many records as there may be. The count may be too
   * low, by one for each agent that was terminated between two steps of a push,
   * a pop or an `abandon`, but never too high.
   */
  #isCrowded(tail: number): boolean {
    const words = this.#words;
    const cached = words[POPPED_CACHE]!;
    if ((Atomics.load(words, PUSHED) - cached | 0) < this.most) return false;
    const empty = Atomics.load(words, HEAD) === tail; // pairs with (F)
    const popped = Atomics.load(words, POPPED);
    words[POPPED_CACHE] = popped;
    // Once more, because records may be cancelled meanwhile.
    const count = Atomics.load(words, PUSHED) - popped | 0;
    if (count > this.most || empty && count > 0) {
      this.endClaim();
      throw new DamagedError("The ring");
    }
    return count === this.most;
  }

  /**
   * Whether there is no room for a record of `space` bytes. Producers that wait
   * look without the claim, so that they do not keep it from those that have
   * room: if there was no room behind an earlier `tail`, there is none behind
   * a later one.
   */
  #isFull(space: number): boolean {
    const words = this.#words;
    const tail = Atomics.load(words, TAIL);
    const used = tail - Atomics.load(words, HEAD) | 0;
    // The agent that has the claim tells of a closed or damaged ring.
    const full = isWhole(used, this.capacity) &&
      (this.#total(tail, space) > this.capacity - used || !this.#mayPush());
    if (full) this.#note(space);
    return full;
  }

  /**
   * (P) Moves `tail` to the end of `record`, which has `length` bytes, and ends
   * the claim; false if the ring is closed.
   */
  #publish(record: number, length: number): boolean {
    const words = this.#words;
    const tail = words[TAIL]!;
    // The reserved length decided where the record begins.
    const skipped = record === indexAt(tail, this.capacity)
      ? 0
      : this.capacity - (tail & this.#mask);
    const next = tail + skipped + spaceFor(length) | 0;
    const seen = tail & CLOSED_BIT
      ? tail
      : Atomics.compareExchange(words, TAIL, tail, next);
    if (this.most > 0 && seen === tail) Atomics.add(words, PUSHED, 1);
    this.endClaim();
    if ((seen & CLOSED_BIT) === 0) return true;
    this.refuse();
    return false;
  }

  /**
   * The bytes from `tail` to behind a record of `space`, with what it skips.
   */
  #total(tail: number, space: number): number {
    const left = this.capacity - (tail & this.#mask);
    return left < space ? left + space : space;
  }

  /** (N) Notes that a record of `space` bytes may have to wait. */
  #note(space: number): void {
    if (this.singleProducer) return; // no other waits
    const words = this.#words;
    for (let least = Atomics.load(words, LEAST);;) {
      if (least !== 0 && least <= space) return;
      const seen = Atomics.compareExchange(words, LEAST, least, space);
      if (seen === least) return;
      least = seen;
    }
  }

  /**
   * Whether there is room for the shortest record that ever waited. Perhaps
   * all producers that wait now have longer records. Then a wake finds a
   * producer that has no room, which wakes the next one: each producer wakes
   * at most once for each record that is popped. The shortest length is never
   * forgotten, because no agent can know that no other one waits with a record
   * as short.
   */
  #hasRoom(): boolean {
    const words = this.#words;
    const least = Atomics.load(words, LEAST); // pairs with (N)
    const tail = Atomics.load(words, TAIL) & POSITION_MASK;
    const used = tail - Atomics.load(words, HEAD) | 0;
    return this.#total(tail, least) <= this.capacity - used && this.#mayPush();
  }

  /** Whether there were fewer records than there may be, a moment ago. */
  #mayPush(): boolean {
    if (this.most === 0) return true;
    const words = this.#words;
    const pushed = Atomics.load(words, PUSHED);
    return (pushed - Atomics.load(words, POPPED) | 0) < this.most;
  }

  /**
   * Wakes one of the producers that wait for room, or for the claim. A producer
   * that has no room for its record wakes the next one. The wake is handed on
   * at most once for each waiting producer.
   *
   * @internal
   */
  protected wakeProducer(): void {
    const words = this.#words;
    const waiters = waitersOf(words, PUSH_EPOCH);
    if (waiters === 0) return;
    if (!this.singleProducer) Atomics.store(words, HAND_ONS, waiters);
    wake(words, PUSH_EPOCH, 1);
  }

  /**
   * Wakes a producer, if there may be room for another one's record.
   *
   * @internal
   */
  protected passRoom(): void {
    if (this.closed) wake(this.#words, PUSH_EPOCH, Infinity);
    else if (this.#hasRoom()) this.wakeProducer();
  }

  /**
   * Wakes another producer, whose record may be shorter than this one's.
   *
   * @internal
   */
  protected handRoomOn(): void {
    const words = this.#words;
    if (Atomics.load(words, HAND_ONS) <= 0 || !this.#hasRoom()) return;
    if (wake(words, PUSH_EPOCH, 1)) Atomics.sub(words, HAND_ONS, 1);
  }

  /**
   * Takes the claim if it comes free within about a microsecond, and then
   * returns 0; otherwise returns `claimant`, which names the agent that has it.
   */
  #beginClaim(space: number): number {
    const words = this.#words;
    // An agent that has the claim, and is running, ends it within a tenth of a
    // microsecond.
    for (let i = 8 * Math.min(spinning.rounds, 2);; i--) {
      const owner = Atomics.compareExchange(words, CLAIMANT, 0, this.#id);
      if (owner === 0) return 0;
      if (i <= 0) {
        this.#note(space);
        // (W) The waiting agent asks this owner to wake it, if the owner still
        // has the claim.
        const marked = owner | CONTENDED_BIT;
        const seen = Atomics.compareExchange(words, CLAIMANT, owner, marked);
        if (seen === owner) return owner;
      } else relaxBriefly();
    }
  }

  /** @internal */
  protected endClaim(): void {
    if (this.singleProducer) return;
    const words = this.#words;
    // Pairs with (W).
    if (Atomics.exchange(words, CLAIMANT, 0) & CONTENDED_BIT) {
      this.wakeProducer();
    }
  }

  /**
   * Takes the claim if it is free, or if agent `id` has it: see `#beginClaim`.
   *
   * @internal
   */
  protected takeOver(id: number): number {
    const words = this.#words;
    for (;;) {
      const owner = Atomics.load(words, CLAIMANT);
      if ((owner & OWNER_MASK) !== id) return this.#beginClaim(HEADER);
      const ours = this.#id | owner & CONTENDED_BIT;
      const seen = Atomics.compareExchange(words, CLAIMANT, owner, ours);
      if (seen === owner) return 0;
    }
  }

  /**
   * Counts a record as never pushed, which is skipped then.
   *
   * @internal
   */
  protected uncount(): void {
    if (this.most > 0) Atomics.sub(this.#words, PUSHED, 1);
  }

  /**
   * Ends the role of agent `id` if it was the one producer; returns how many
   * roles those were.
   *
   * @internal
   */
  protected leaveProducing(id: number): number {
    if (id === this.#id) {
      this.#produces = false;
      this.#reserved = 0; // it is skipped, or nobody has seen it
    }
    return this.singleProducer ? leaveRole(this.#words, CLAIMANT, id) : 0;
  }
}
