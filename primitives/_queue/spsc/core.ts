/**
 * The algorithm of a queue from one producer to one consumer.
 *
 * C twin: `_spsc_words.h`, `_spsc_steps.h` and `spsc_queue.h`.
 *
 * @module
 */

import { agentId } from "../../_memory/agent_id.ts";
import { DamagedError } from "../../_memory/damaged.ts";
import { SPSC_QUEUE } from "../../_memory/layout.ts";
import {
  attach,
  inRange,
  type Memory,
  type WordsInspection,
} from "../../_memory/region.ts";
import { leaveRole, takeRole } from "../../_memory/roles.ts";
import { strike } from "../../_wait/gong.ts";
import type { PendingResult } from "../../_wait/pending.ts";
import type { Sleep } from "../../_wait/wait.ts";
import { ByteCopier, LongByteCopier } from "../byte_copier.ts";
import type { CopyingClass, Elements } from "../elements.ts";
import {
  assertShortFormatted,
  type End,
  QueueCore,
  sizeOf,
} from "../queue_core.ts";

const CAPACITY: typeof SPSC_QUEUE.capacity = 1;
const ELEMENT_SIZE: typeof SPSC_QUEUE.element_size = 2;
const TAIL: typeof SPSC_QUEUE.tail = 32;
const HEAD: typeof SPSC_QUEUE.head = 64;
const HEAD_CACHE: typeof SPSC_QUEUE.head_cache = 33;
const TAIL_CACHE: typeof SPSC_QUEUE.tail_cache = 65;
const TAIL_GONG: typeof SPSC_QUEUE.tail_gong = 36;
const HEAD_GONG: typeof SPSC_QUEUE.head_gong = 68;
const PRODUCER: typeof SPSC_QUEUE.producer = 34;
const CONSUMER: typeof SPSC_QUEUE.consumer = 66;
export const DATA: typeof SPSC_QUEUE.length = 96;

/** The other side sleeps on this word. */
const WAITING_BIT = 1; // SPSC_QUEUE_BITS.WAITING
const CLOSED_BIT = 2; // SPSC_QUEUE_BITS.CLOSED
/**
 * The other bits are an index; it counts elements in steps of {@linkcode ONE}.
 */
const INDEX_MASK = -4; // SPSC_QUEUE_BITS.INDEX
const ONE = 4; // SPSC_QUEUE_BITS.INDEX
/** The bits of an agent in `producer` and `consumer`. */
const OWNER_MASK = 0x0fff_ffff; // SPSC_QUEUE_BITS.OWNER

/** The most elements that an operation is asked for. */
const MOST = 0x4000_0000;

/** This view does not know that its agent is the producer. */
const OUTSIDE = 0;
/** This view pushes. */
const READY = 1;
/** This view pushes nothing before it commits. */
const RESERVED = 2;

/**
 * The facts that `inspect` shows of a queue.
 */
export const INSPECTION: WordsInspection = {
  row: SPSC_QUEUE,
  waiters: (words) =>
    (words[TAIL]! & WAITING_BIT) + (words[HEAD]! & WAITING_BIT),
};

/**
 * The operations of an {@linkcode SpscQueue} that never wait.
 *
 * @ignore
 */
export class SpscCore extends QueueCore<"spsc_queue"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  /** `capacity`, in units of an index. */
  readonly #span: number;
  readonly #wordsPer: number;
  readonly #id: number;
  /** What this view may push now: one test tells of all that is in the way. */
  #pushing: typeof OUTSIDE | typeof READY | typeof RESERVED = OUTSIDE;
  /** Whether this view knows that its agent is the consumer. */
  #consumes = false;
  /** How many elements are reserved, and how many were peeked at. */
  #reserved = 0;
  #peeked = 0;

  /** Attaches to a queue: see the class that also waits. */
  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
  ) {
    const words = attach(
      "spsc_queue",
      SPSC_QUEUE,
      memory,
      byteOffset ?? 0,
      bytesFor,
    );
    const capacity = words[CAPACITY]!;
    const elementSize = words[ELEMENT_SIZE]!;
    const Copies = elementSize >= 4
      ? Copier
      : Copier.loops
      ? ByteCopier
      : LongByteCopier;
    super("spsc_queue", words, INSPECTION, capacity, elementSize, Copies);
    this.#words = words;
    this.#mask = capacity - 1;
    this.#span = capacity * ONE;
    this.#wordsPer = elementSize / 4; // or a half or a quarter of one
    this.#id = agentId();
  }

  /** Elements in the queue; a moment later it may be another number. */
  override get size(): number {
    return sizeOf(this.#words, HEAD, TAIL, ONE, this.capacity);
  }

  /** Whether `close` was called; elements may still be in the queue. */
  override get closed(): boolean {
    return (Atomics.load(this.#words, TAIL) & CLOSED_BIT) !== 0;
  }

  /** Appends a 4-byte element: see {@linkcode Queue.tryPushInt}. */
  override tryPushInt(value: number): boolean {
    this.assertInts();
    this.assertInt(value);
    this.#beginPush();
    const tail = this.#words[TAIL]! & INDEX_MASK; // our own index
    if (this.#room(tail) === 0) return false;
    this.#words[this.#at(tail)] = value; // published by (P)
    return this.#publish(tail, 1);
  }

  /** Takes a 4-byte element: see {@linkcode Queue.tryPopInt}. */
  override tryPopInt(): number | undefined {
    this.assertInts();
    const head = this.#beginPop();
    if (this.#filled(head) === 0) return undefined;
    const value = this.#words[this.#at(head)]!; // published by (P)
    this.#release(head, 1);
    return value;
  }

  /** Appends an element: see {@linkcode Queue.tryPush}. */
  override tryPush(src: Elements): boolean {
    this.assertElement(src);
    this.#beginPush();
    const tail = this.#words[TAIL]! & INDEX_MASK;
    if (this.#room(tail) === 0) return false;
    this.copier.put(src, 0, this.#at(tail), this.#wordsPer);
    return this.#publish(tail, 1);
  }

  /** Takes an element: see {@linkcode Queue.tryPopInto}. */
  override tryPopInto(dst: Elements): boolean {
    this.assertRoomForOne(dst);
    const head = this.#beginPop();
    if (this.#filled(head) === 0) return false;
    this.copier.get(dst, 0, this.#at(head), this.#wordsPer);
    this.#release(head, 1);
    return true;
  }

  /** Appends elements: see {@linkcode Queue.tryPushMany}. */
  override tryPushMany(src: Elements, n: number): number {
    this.assertRoom(src, n);
    this.#beginPush();
    if (n === 0) return 0;
    const tail = this.#words[TAIL]! & INDEX_MASK;
    const count = Math.min(this.#room(tail, n), n);
    if (count === 0) return 0;
    const per = this.#wordsPer;
    const first = this.#untilWrap(tail, count);
    this.copier.put(src, 0, this.#at(tail), first * per);
    if (count > first) {
      this.copier.put(src, first * per, DATA, (count - first) * per);
    }
    return this.#publish(tail, count) ? count : 0;
  }

  /** Takes elements: see {@linkcode Queue.tryPopMany}. */
  override tryPopMany(dst: Elements, n: number): number {
    this.assertRoom(dst, n);
    const head = this.#beginPop();
    if (n === 0) return 0;
    const count = Math.min(this.#filled(head, n), n);
    if (count === 0) return 0;
    const per = this.#wordsPer;
    const first = this.#untilWrap(head, count);
    this.copier.get(dst, 0, this.#at(head), first * per);
    if (count > first) {
      this.copier.get(dst, first * per, DATA, (count - first) * per);
    }
    this.#release(head, count);
    return count;
  }

  /**
   * Reserves room for an element: see {@linkcode Queue.reserve}. Until
   * `commit`, this view's other pushes throw a TypeError.
   */
  override reserve(): Uint8Array | undefined {
    this.#beginPush();
    if (this.closed) return this.refuse() as undefined;
    const tail = this.#words[TAIL]! & INDEX_MASK;
    if (this.#room(tail) === 0) return undefined;
    this.#pushing = RESERVED;
    this.#reserved = 1;
    return this.#view(tail);
  }

  /** Appends the reserved element: see {@linkcode Queue.commit}. */
  override commit(): boolean {
    if (this.#pushing !== RESERVED) throw new TypeError("No slot is reserved");
    this.#pushing = READY;
    return this.#publish(this.#words[TAIL]! & INDEX_MASK, 1);
  }

  /** Shows the oldest element in place: see {@linkcode Queue.peek}. */
  override peek(): Uint8Array | undefined {
    const head = this.#beginPop();
    if (this.#filled(head) === 0) return undefined;
    this.#peeked = 1;
    return this.#view(head);
  }

  /**
   * Removes the element that `peek` returned: see {@linkcode Queue.consume}. A
   * pop after `peek` takes that same element, and then there is nothing to
   * consume.
   */
  override consume(): void {
    if (this.#peeked === 0) throw new TypeError("No element was peeked at");
    this.#release(this.#words[HEAD]! & INDEX_MASK, 1);
  }

  /**
   * Reserves room for up to `n` elements; returns for how many. `reserveMany`
   * does it for users, and makes views.
   *
   * @internal
   */
  placesToPush(n: number): number {
    inRange("The number of elements", n, 1, MOST);
    this.#beginPush();
    if (this.closed) this.refuse();
    const tail = this.#words[TAIL]! & INDEX_MASK;
    const count = Math.min(this.#room(tail, n), n);
    if (count > 0) this.#pushing = RESERVED;
    return this.#reserved = count;
  }

  /**
   * Appends the first `n` reserved elements.
   *
   * @internal
   */
  pushPlaces(n: number): void {
    if (this.#pushing !== RESERVED) throw new TypeError("No slot is reserved");
    inRange("The number of elements reserved", n, 0, this.#reserved);
    this.#pushing = READY;
    if (n > 0) this.#publish(this.#words[TAIL]! & INDEX_MASK, n);
    else if (this.closed) this.refuse();
  }

  /**
   * Returns how many of up to `n` of the oldest elements there are.
   *
   * @internal
   */
  placesToPop(n: number): number {
    inRange("The number of elements", n, 1, MOST);
    const head = this.#beginPop();
    return this.#peeked = Math.min(this.#filled(head, n), n);
  }

  /**
   * Removes the first `n` elements that were found by `placesToPop`.
   *
   * @internal
   */
  popPlaces(n: number): void {
    if (this.#peeked === 0) throw new TypeError("No element was peeked at");
    inRange("The number of elements peeked at", n, 0, this.#peeked);
    this.#peeked = 0;
    if (n > 0) this.#release(this.#words[HEAD]! & INDEX_MASK, n);
  }

  /**
   * The slot of the next element of an end.
   *
   * @internal
   */
  nextSlot(end: End): number {
    return this.position(end) >>> 2 & this.#mask;
  }

  /**
   * The byte of the queue at which the next element is to be written; -1 if the
   * queue is full. `reserve` does the same for users, and makes a view.
   *
   * @internal
   */
  placeToPush(): number {
    this.#beginPush();
    const tail = this.#words[TAIL]! & INDEX_MASK;
    return this.#room(tail) === 0 ? -1 : this.#at(tail) * 4;
  }

  /**
   * Appends the element that was written at `placeToPush`.
   *
   * @internal
   */
  pushPlaced(): boolean {
    return this.#publish(this.#words[TAIL]! & INDEX_MASK, 1);
  }

  /**
   * The byte of the queue at which the oldest element begins; -1 if the queue
   * is empty.
   *
   * @internal
   */
  placeToPop(): number {
    const head = this.#beginPop();
    return this.#filled(head) === 0 ? -1 : this.#at(head) * 4;
  }

  /**
   * Removes the element that was read at `placeToPop`.
   *
   * @internal
   */
  popPlaced(): void {
    this.#release(this.#words[HEAD]! & INDEX_MASK, 1);
  }

  /** Closes the queue for good: see {@linkcode Queue.close}. */
  override close(): void {
    for (const index of [TAIL, HEAD]) {
      const was = Atomics.or(this.#words, index, CLOSED_BIT);
      if ((was & WAITING_BIT) === 0) continue;
      Atomics.notify(this.#words, index);
      strike(this.#words, index === TAIL ? TAIL_GONG : HEAD_GONG);
    }
  }

  /**
   * Ends the roles of agent `id`, known never to run again, so that the next
   * agent that pushes is the producer, and the next one that pops the consumer;
   * returns how many roles those were. An agent may give its own role up by its
   * own id. Published elements stay.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   */
  abandon(id: number): number {
    return this.abandonRoles(id);
  }

  /**
   * As `abandon`: see `recover`.
   *
   * @internal
   */
  abandonRoles(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    if (id === this.#id) {
      this.#pushing = OUTSIDE;
      this.#consumes = false;
      this.#peeked = 0;
    }
    return leaveRole(this.#words, PRODUCER, id) +
      leaveRole(this.#words, CONSUMER, id);
  }

  #at(index: number): number {
    return DATA + (index >>> 2 & this.#mask) * this.#wordsPer;
  }

  #view(index: number): Uint8Array {
    return this.viewOfSlot(index >>> 2 & this.#mask);
  }

  #untilWrap(index: number, count: number): number {
    return Math.min(count, this.capacity - (index >>> 2 & this.#mask));
  }

  /**
   * The room that is left. Reads the consumer's index only if `head_cache`
   * shows room for fewer than `wanted` elements.
   */
  #room(tail: number, wanted = 1): number {
    const words = this.#words;
    let room = this.#span - (tail - words[HEAD_CACHE]! | 0);
    if (room < wanted * ONE || room > this.#span) {
      const head = Atomics.load(words, HEAD) & INDEX_MASK;
      words[HEAD_CACHE] = head;
      room = this.#span - (tail - head | 0);
      if (room < 0 || room > this.#span) throw new DamagedError("The queue");
      if (room === 0 && this.closed) this.refuse();
    }
    return room >> 2;
  }

  /**
   * The elements to pop. Reads the producer's index only if `tail_cache` shows
   * fewer than `wanted`.
   */
  #filled(head: number, wanted = 1): number {
    const words = this.#words;
    let filled = words[TAIL_CACHE]! - head | 0;
    if (filled < wanted * ONE || filled > this.#span) {
      const tail = Atomics.load(words, TAIL);
      words[TAIL_CACHE] = tail & INDEX_MASK;
      filled = (tail & INDEX_MASK) - head | 0;
      if (filled < 0 || filled > this.#span) {
        throw new DamagedError("The queue");
      }
      if (filled === 0 && tail & CLOSED_BIT) this.refuse();
    }
    return filled >> 2;
  }

  /**
   * Makes sure that this agent is the producer, before it reads its own index.
   *
   * @throws {TypeError} If another agent is, or if an element is reserved: a
   * push would overwrite it while it is written.
   */
  #beginPush(): void {
    if (this.#pushing !== READY) this.#produce();
  }

  #produce(): void {
    if (this.#pushing === RESERVED) {
      throw new TypeError("A slot is reserved already");
    }
    takeRole(this.#words, PRODUCER, this.#id, "producer");
    this.#pushing = READY;
    this.tookRole("push");
  }

  /**
   * Makes sure that this agent is the consumer, and returns its own index.
   *
   * @throws {TypeError} If another agent is.
   */
  #beginPop(): number {
    const words = this.#words;
    if (!this.#consumes) this.#consume();
    return words[HEAD]! & INDEX_MASK;
  }

  #consume(): void {
    takeRole(this.#words, CONSUMER, this.#id, "consumer");
    this.#consumes = true;
    this.tookRole("pop");
  }

  /**
   * Called when this agent has become the one that works on `end`.
   *
   * @internal
   */
  protected tookRole(_end: End): void {}

  /**
   * (P) Publishes `count` elements, and wakes the consumer if it sleeps; false
   * if the queue is closed.
   */
  #publish(tail: number, count: number): boolean {
    const words = this.#words;
    const next = tail + count * ONE | 0;
    const was = Atomics.compareExchange(words, TAIL, tail, next);
    if (was === tail) return true;
    if (was & CLOSED_BIT) return this.#refused();
    // WAITING is set. Only we clear it, so this exchange fails only after
    // `close`.
    const still = Atomics.compareExchange(words, TAIL, was, next);
    if (still & CLOSED_BIT) return this.#refused();
    Atomics.notify(words, TAIL, 1);
    strike(words, TAIL_GONG);
    return true;
  }

  /** Called when the queue is closed: throws, or returns false. */
  #refused(): false {
    this.refuse();
    return false;
  }

  /** Frees `count` slots, and wakes the producer if it sleeps. */
  #release(head: number, count: number): void {
    const words = this.#words;
    this.#peeked = 0; // otherwise `consume` would take one more
    const next = head + count * ONE | 0;
    let was = head;
    let expected;
    do {
      expected = was;
      const kept = next | (expected & CLOSED_BIT);
      was = Atomics.compareExchange(words, HEAD, expected, kept);
    } while (was !== expected);
    if (was & WAITING_BIT) {
      Atomics.notify(words, HEAD, 1);
      strike(words, HEAD_GONG);
    }
  }

  /** @internal */
  protected override wordOfSlot(slot: number): number {
    return DATA + slot * this.#wordsPer;
  }

  /** @internal */
  protected override position(end: End): number {
    return this.#words[end === "pop" ? HEAD : TAIL]!;
  }

  /** @internal */
  protected override poppable(): boolean {
    const tail = Atomics.load(this.#words, TAIL);
    const head = this.#words[HEAD]!; // our own index; others set its bits
    return ((tail ^ head) & INDEX_MASK) !== 0 || (tail & CLOSED_BIT) !== 0;
  }

  /** @internal */
  override gongAt(end: End): number {
    return this.byteOffset / 4 + (end === "pop" ? TAIL_GONG : HEAD_GONG);
  }

  /**
   * What the agent waits for at its end: see `waitAt`. It owes nothing to
   * others: a WAITING bit that stays only costs the other side one notify, and
   * there is no other waiter.
   *
   * @internal
   */
  protected override pendingAt<T>(
    end: End,
    attempt: () => T | false | undefined,
  ): PendingResult<T> {
    const announce = () => this.#announce(end);
    const place = { words: this.#words, index: end === "pop" ? TAIL : HEAD };
    return { attempt, announce, place, withdraw() {}, pass() {} };
  }

  /** Sets WAITING, so that the other side's next step wakes us. */
  #announce(end: End): Sleep | undefined {
    const words = this.#words;
    const index = end === "pop" ? TAIL : HEAD;
    // The value of the other side's word while we must wait.
    const idle = end === "pop"
      ? words[HEAD]! & INDEX_MASK
      : (words[TAIL]! & INDEX_MASK) - this.#span | 0;
    const value = idle | WAITING_BIT;
    const was = Atomics.compareExchange(words, index, idle, value);
    return was === idle || was === value ? { words, index, value } : undefined;
  }
}

export function bytesFor(capacity: number, elementSize: number): number {
  assertShortFormatted(capacity, elementSize);
  return DATA * 4 + (capacity * elementSize + 3 & ~3);
}
