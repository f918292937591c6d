/**
 * The algorithm of `RecordRing`: what each operation does to the words and to
 * the records behind them; those of producers are in `claim.ts`. None of them
 * waits, and none allocates. `./realtime` exports this part; `ends.ts` adds
 * waiting.
 *
 * C twin: `record_ring.h`.
 *
 * @module
 */

import { DamagedError } from "../../_memory/damaged.ts";
import { RECORD_RING } from "../../_memory/layout.ts";
import { attach, inRange, type Memory } from "../../_memory/region.ts";
import { leaveRole, takeRole } from "../../_memory/roles.ts";
import { wakeEnd as wake } from "../../_wait/event_count.ts";
import { relaxBriefly, spinning } from "../../_wait/spin.ts";
import {
  byteLengthOf,
  type CopyingClass,
  type Elements,
  getBytes,
} from "../elements.ts";
import { RecordClaim } from "./claim.ts";
import {
  bytesFor,
  COMMITTED,
  CONSUMER,
  HEAD,
  indexAt,
  isWhole,
  OWNER_MASK,
  POP_EPOCH,
  POPPED,
  POSITION_MASK,
  PUSH_EPOCH,
  RESERVED,
  SKIPPED,
  spaceFor,
  TAIL,
} from "./words.ts";

/** A bit of `tail`: the ring is closed, and nothing is appended any more. */
const CLOSED_BIT = 1; // RECORD_RING_BITS.CLOSED
/** A bit of `claimant` and `consumer`: an agent waits for the claim to end. */
const CONTENDED_BIT = 0x1000_0000; // RECORD_RING_BITS.CONTENDED

/** A word that only consumers use. */
const TAIL_CACHE: typeof RECORD_RING.tail_cache = 65;

/**
 * The operations of a {@linkcode RecordRing} that neither wait nor allocate.
 *
 * @ignore
 */
export class RecordCore extends RecordClaim {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  readonly #id: number;
  /**
   * The index of the first word of the record that this view peeked at, or 0.
   */
  #peeked = 0;
  /** Whether this agent is the one consumer. */
  #consumes = false;

  /** Attaches agent `id` to a ring: see the class that also waits. */
  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
    id: number,
  ) {
    const words = attach(
      "record_ring",
      RECORD_RING,
      memory,
      byteOffset ?? 0,
      bytesFor,
    );
    super(words, Copier, id);
    this.#words = words;
    this.#mask = this.capacity - 1;
    this.#id = id;
  }

  /**
   * Records in the ring; a moment later it may be another number.
   *
   * @throws {DamagedError} If the words do not fit together.
   */
  get size(): number {
    const words = this.#words;
    for (let looks = 8;; looks--) {
      const head = Atomics.load(words, HEAD);
      const tail = Atomics.load(words, TAIL) & POSITION_MASK;
      let count = 0;
      let at = head;
      while (at !== tail && isWhole(tail - at | 0, this.capacity)) {
        const first = Atomics.load(words, indexAt(at, this.capacity));
        if ((first & 3) === COMMITTED) count++;
        at = at + spaceFor(first >>> 2) | 0;
      }
      // If the consumer moved on meanwhile, the words that we read may already
      // belong to newer records.
      const moved = Atomics.load(words, HEAD) !== head;
      if (!moved && at !== tail) throw new DamagedError("The ring");
      if (!moved || looks <= 1) return count;
    }
  }

  /**
   * Moves the oldest record into the beginning of `dst`; returns its length, or
   * undefined if there is none.
   *
   * @throws {RangeError} If the record is longer than `dst`; the record stays
   * in the ring.
   */
  tryPopInto(dst: Elements): number | undefined {
    const byteLength = byteLengthOf(dst);
    const before = this.#peeked;
    const record = this.peekRecord();
    if (record === 0) return undefined;
    const length = this.#words[record]! >>> 2;
    if (length > byteLength) {
      if (before === 0) this.unpeek(); // else the user still reads it
      throw new RangeError(
        `A record of ${length} bytes does not fit an array of ` +
          `${byteLength} bytes`,
      );
    }
    getBytes(this.copier, this.bytes, dst, (record + 2) * 4, length);
    this.consumeRecord();
    return length;
  }

  /**
   * Closes the ring for good, and wakes every sleeper. Pushes fail from now on.
   * Pops take the records that are left, the reserved ones included, and then
   * fail.
   */
  close(): void {
    const words = this.#words;
    if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;
    wake(words, POP_EPOCH, Infinity);
    wake(words, PUSH_EPOCH, Infinity);
  }

  /**
   * The index of the first word of the oldest record, which is then to be
   * consumed; 0 if there is none.
   *
   * @internal
   */
  peekRecord(): number {
    if (this.#peeked === 0 && this.#beginReading()) {
      const record = this.oldest();
      if (record > 0) this.#peeked = record;
      else this.#endReading();
      if (record < 0) this.refuse();
    }
    return this.#peeked;
  }

  /**
   * Removes the record that was peeked at.
   *
   * @internal
   */
  consumeRecord(): void {
    const record = this.#peeked;
    if (record === 0) throw new TypeError("No record was peeked at");
    this.#peeked = 0;
    const words = this.#words;
    const space = spaceFor(words[record]! >>> 2);
    this.#count();
    Atomics.store(words, HEAD, words[HEAD]! + space | 0); // (F)
    this.#endReading();
    this.wakeProducer();
  }

  /**
   * The record that is peeked at, or 0.
   *
   * @internal
   */
  protected get peekedRecord(): number {
    return this.#peeked;
  }

  /**
   * Forgets that a record was peeked at; the record stays.
   *
   * @internal
   */
  unpeek(): void {
    this.#peeked = 0;
    this.#endReading();
  }

  /**
   * As `oldest`, for an agent that does not take the record; 0 also if another
   * agent reads now.
   *
   * @internal
   */
  protected lookAtRecord(): number {
    if (this.#peeked !== 0) return this.#peeked;
    if (!this.#beginReading()) return 0;
    const record = this.oldest();
    this.#endReading();
    return record;
  }

  /**
   * Copies the first `length` bytes of the record that is peeked at, and up to
   * three bytes behind them, which have no meaning.
   *
   * @throws {RangeError} If `dst` is shorter.
   * @throws {TypeError} If no record is peeked at, or `dst` is not an
   * array.
   * @internal
   */
  copyRecord(dst: Int32Array, length: number): void {
    inRange("The bytes", length, 0, byteLengthOf(dst));
    const record = this.#peeked;
    if (record === 0) throw new TypeError("No record was peeked at");
    this.copier.get(dst, 0, record + 2, length + 3 >> 2);
  }

  /**
   * The length of a record that is peeked at.
   *
   * @internal
   */
  lengthOfRecord(record: number): number {
    return this.#words[record]! >>> 2;
  }

  /**
   * Ends the claim of agent `id`, known never to run again, and skips what it
   * had reserved; returns how many records those were. If it was the only
   * consumer or producer, the next agent that pops or pushes is; an agent may
   * give such a role up itself, by its own id. If another agent has the
   * claim at this moment, nothing is done, and its id is returned, negated: -7
   * for agent 7. An agent that runs ends its claim at once, so call this again.
   * If the same id comes back, that agent has ended, too: abandon it first.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   * @throws {DamagedError} If the words do not fit together.
   */
  abandon(id: number): number {
    this.abandonRoles(id);
    const words = this.#words;
    if (id === 0 || this.singleProducer) return 0;
    // While the claim is ours, nobody overwrites the records that we read.
    const owner = this.takeOver(id);
    if (owner & OWNER_MASK) return -(owner & OWNER_MASK);
    let count = 0;
    const tail = Atomics.load(words, TAIL) & POSITION_MASK;
    let at = Atomics.load(words, HEAD);
    // A claimant that names no agent is damage, too.
    let whole = owner === 0 && isWhole(tail - at | 0, this.capacity);
    while (whole && (tail - at | 0) > 0) {
      const record = indexAt(at, this.capacity);
      const head = Atomics.load(words, record);
      if ((head & 3) === RESERVED && words[record + 1] === id) {
        this.uncount();
        Atomics.store(words, record, head | SKIPPED);
        count++;
      }
      at = at + spaceFor(head >>> 2) | 0;
      whole = isWhole(tail - at | 0, this.capacity);
    }
    if (owner === 0) this.endClaim();
    if (!whole && count === 0) throw new DamagedError("The ring");
    if (count > 0) wake(words, POP_EPOCH, Infinity);
    if (count > 0 && this.most > 0) this.wakeProducer();
    return count;
  }

  /**
   * As that of the class above.
   *
   * @internal
   */
  protected override explored(): unknown[] {
    return [...super.explored(), this.#peeked, this.#consumes];
  }

  /** Whether a record at `head` lies within the ring and before `tail`. */
  #fits(head: number, space: number): boolean {
    const used = this.#words[TAIL_CACHE]! - head | 0;
    const left = this.capacity - (head & this.#mask);
    return space <= left && space <= used && isWhole(used, this.capacity);
  }

  /**
   * Takes the right to read. False if another of many consumers has it, and
   * does not end within about a microsecond: it wakes us when it ends.
   *
   * @throws {TypeError} If there is one consumer, and it is another agent.
   */
  #beginReading(): boolean {
    const words = this.#words;
    if (!this.manyConsumers) {
      if (this.#consumes) return true;
      return this.#consumes = takeRole(words, CONSUMER, this.#id, "consumer");
    }
    for (let i = 8 * Math.min(spinning.rounds, 2);; i--) {
      const owner = Atomics.compareExchange(words, CONSUMER, 0, this.#id);
      if (owner === 0) return true;
      if (i <= 0) {
        // (E) As (W) of `#beginClaim`, for the end of reading.
        const marked = owner | CONTENDED_BIT;
        const seen = Atomics.compareExchange(words, CONSUMER, owner, marked);
        if (seen === owner) return false;
      } else relaxBriefly();
    }
  }

  #endReading(): void {
    if (!this.manyConsumers) return;
    const words = this.#words;
    // Pairs with (E).
    if (Atomics.exchange(words, CONSUMER, 0) & CONTENDED_BIT) {
      wake(words, POP_EPOCH, 1);
    }
  }

  /**
   * Ends the roles of agent `id`, and what it reads; returns how many roles
   * those were. `abandon` does it, too.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   * @internal
   */
  abandonRoles(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    const words = this.#words;
    const produced = this.leaveProducing(id);
    const contended = id | CONTENDED_BIT;
    const consumed = leaveRole(words, CONSUMER, id) ||
      (this.manyConsumers ? leaveRole(words, CONSUMER, contended) : 0);
    if (consumed > 0) wake(words, POP_EPOCH, Infinity);
    if (id === this.#id) {
      this.#consumes = false;
      this.#peeked = 0;
    }
    return produced + (this.manyConsumers ? 0 : consumed);
  }

  /** Counts a record that is popped. */
  #count(): void {
    if (this.most === 0) return;
    const words = this.#words;
    Atomics.store(words, POPPED, words[POPPED]! + 1 | 0); // before (F)
  }

  /**
   * The index of the first word of the oldest record; 0 if there is none, -1 if
   * there will never be one. Only the agent that reads may call it.
   *
   * @internal
   */
  protected oldest(): number {
    const words = this.#words;
    for (;;) {
      // Our own: no other agent moves it now. Of many consumers, one may have
      // moved it that was terminated then.
      const head = this.manyConsumers
        ? Atomics.load(words, HEAD)
        : words[HEAD]!;
      if (head === words[TAIL_CACHE]) {
        const tail = Atomics.load(words, TAIL);
        words[TAIL_CACHE] = tail & POSITION_MASK;
        if (head === (tail & POSITION_MASK)) return tail & CLOSED_BIT ? -1 : 0;
      }
      const record = indexAt(head, this.capacity);
      // With one producer, (P) committed the record, and we saw that; otherwise
      // (C) commits it.
      const first = this.singleProducer
        ? words[record]!
        : Atomics.load(words, record);
      const state = first & 3;
      const space = spaceFor(first >>> 2);
      if (!this.#fits(head, space)) {
        this.#endReading();
        throw new DamagedError("The ring");
      }
      if (state === COMMITTED) return record;
      if (state === RESERVED) return 0;
      Atomics.store(words, HEAD, head + space | 0);
      this.wakeProducer();
    }
  }
}
