/**
 * The algorithm of `Broadcast` and of its subscriptions: what each operation
 * does to the words, the seats and the elements. None of them waits.
 *
 * C twin: `broadcast.h`.
 *
 * @module
 */

import { explorer } from "../_memory/explored.ts";
import { BROADCAST } from "../_memory/layout.ts";
import {
  attach,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "../_memory/region.ts";
import { leaveRole, takeRole } from "../_memory/roles.ts";
import { atEpoch, waitersOf, wake } from "../_wait/event_count.ts";
import type { PendingResult } from "../_wait/pending.ts";
import { byteLengthOf, bytesOf, Copier, type Elements } from "./elements.ts";
import { ClosedError } from "./queue.ts";
import { assertFormatted, refuseInt } from "./queue_core.ts";

export const SHAPE: typeof BROADCAST.shape = 1;
const ELEMENT_SIZE: typeof BROADCAST.element_size = 2;
export const TAIL: typeof BROADCAST.tail = 32;
const SLOWEST: typeof BROADCAST.slowest = 33;
const PRODUCER: typeof BROADCAST.producer = 34;
const POP_EPOCH: typeof BROADCAST.pop_epoch = 64;
const PUSH_EPOCH: typeof BROADCAST.push_epoch = 96;
export const SEATS: typeof BROADCAST.length = 128;

/**
 * The parts of `shape`: the capacity's logarithm, DROP, and the number of
 * seats.
 */
const ORDER_MASK = 31; // BROADCAST_BITS.ORDER
export const DROP_BIT = 32; // BROADCAST_BITS.DROP
export const SEATS_SHIFT = 6; // BROADCAST_BITS.SEATS
export const MAX_SUBSCRIBERS = 1024;

/** The words of a seat, and the distance from one seat to the next. */
export const CURSOR = 0;
export const OWNER = 1;
const DROPPED = 2;
export const SEAT = 32;
/**
 * A bit of an owner word: the producer need not wait for this subscriber yet.
 */
export const JOINING_BIT = 0x1000_0000; // BROADCAST_BITS.JOINING
/** The bits of an agent in `producer`, and in an owner word. */
const OWNER_MASK = 0x0fff_ffff; // BROADCAST_BITS.OWNER

/**
 * A bit of `tail`: the broadcast is closed, and nothing is appended any more.
 */
export const CLOSED_BIT = 1; // BROADCAST_BITS.CLOSED
/** Positions count in steps of two. */
const ONE = 2; // BROADCAST_BITS.POSITION

/** The facts that `inspect` shows of a broadcast. */
export const BROADCASTS: WordsInspection = {
  row: BROADCAST,
  waiters: (words) =>
    waitersOf(words, POP_EPOCH) + waitersOf(words, PUSH_EPOCH),
};

/**
 * The operations of a {@linkcode Broadcast} that do not wait.
 *
 * @ignore
 */
export class BroadcastCore extends Region<"broadcast"> {
  /** The most elements that the ring can hold. */
  readonly capacity: number;
  /** The size of an element, in bytes. */
  readonly elementSize: number;
  /** How many subscribers there may be at the same time. */
  readonly seats: number;
  /**
   * Whether a late subscriber loses elements; otherwise the producer waits for
   * it.
   */
  readonly drops: boolean;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  readonly #copier: Copier;
  readonly #per: number;
  /** The index of the first word behind the seats. */
  readonly #elements: number;
  /** Whether this view knows that its agent is the producer. */
  #produces = false;
  /** `capacity`, in units of a position. */
  readonly #span: number;
  /**
   * Private memory for one element, used where words are accessed atomically.
   */
  readonly #scratch: Int32Array<ArrayBuffer>;
  readonly #scratchBytes: Uint8Array<ArrayBuffer>;

  /** Attaches agent `id` to a broadcast: see the class that also waits. */
  constructor(memory: Memory, byteOffset: number | bigint, id: number) {
    const words = attach("broadcast", BROADCAST, memory, byteOffset, bytesFor);
    super("broadcast", words, BROADCASTS);
    this.#words = words;
    this.#id = id;
    this.#copier = new Copier(words);
    const shape = words[SHAPE]!;
    this.capacity = 2 ** (shape & ORDER_MASK);
    this.drops = (shape & DROP_BIT) !== 0;
    this.seats = shape >>> SEATS_SHIFT;
    this.elementSize = words[ELEMENT_SIZE]!;
    this.#per = this.elementSize / 4;
    this.#elements = SEATS + this.seats * SEAT;
    this.#span = this.capacity * ONE;
    this.#scratch = new Int32Array(this.drops ? this.#per : 0);
    this.#scratchBytes = new Uint8Array(this.#scratch.buffer);
  }

  /** Whether `close` was called; subscribers may still have elements to pop. */
  get closed(): boolean {
    return (Atomics.load(this.#words, TAIL) & CLOSED_BIT) !== 0;
  }

  /**
   * How many subscribers there are. One counts as soon as `subscribe` has begun,
   * but may miss what is pushed before that has returned.
   */
  get subscribers(): number {
    let count = 0;
    for (let at = SEATS; at < this.#elements; at += SEAT) {
      if (Atomics.load(this.#words, at + OWNER) !== 0) count++;
    }
    return count;
  }

  /** The index of the first word of the element at a position. */
  #element(position: number): number {
    const place = position >>> 1 & this.capacity - 1;
    return this.#elements + place * this.#per;
  }

  /** The position to push at; undefined if there is no room. */
  #claim(): number | undefined {
    const words = this.#words;
    if (!this.#produces) {
      this.#produces = takeRole(words, PRODUCER, this.#id, "producer");
    }
    const tail = words[TAIL]!; // our own: only `close` changes it meanwhile
    if (tail & CLOSED_BIT) throw new ClosedError("The broadcast is closed");
    if ((tail - words[SLOWEST]! | 0) < this.#span) return tail;
    const slowest = this.#scan(tail);
    words[SLOWEST] = slowest;
    if ((tail - slowest | 0) < this.#span) return tail;
    if (this.closed) throw new ClosedError("The broadcast is closed");
    return undefined;
  }

  /**
   * The slowest cursor. With "drop", it first moves the cursors that are too
   * late.
   */
  #scan(tail: number): number {
    const words = this.#words;
    let slowest = tail;
    for (let at = SEATS; at < this.#elements; at += SEAT) {
      const owner = Atomics.load(words, at + OWNER); // (S) pairs with (J)
      if (owner === 0 || owner & JOINING_BIT) continue;
      let cursor = Atomics.load(words, at + CURSOR);
      while (this.drops && (tail - cursor | 0) >= this.#span) {
        const next = tail - this.#span + ONE | 0;
        const seen = Atomics.compareExchange(words, at + CURSOR, cursor, next);
        if (seen === cursor) {
          Atomics.add(words, at + DROPPED, (next - cursor | 0) >>> 1);
          cursor = next;
        } else cursor = seen;
      }
      if ((cursor - slowest | 0) < 0) slowest = cursor;
    }
    return slowest;
  }

  /** (P) Makes an element visible to the subscribers. */
  #publish(tail: number): void {
    const words = this.#words;
    const next = tail + ONE | 0;
    if (Atomics.compareExchange(words, TAIL, tail, next) !== tail) {
      throw new ClosedError("The broadcast is closed");
    }
    wake(words, POP_EPOCH, Infinity);
  }

  /**
   * Appends a 4-byte element; false if a subscriber is too late.
   *
   * @throws {ClosedError} If the broadcast is closed.
   * @throws {RangeError} If `value` is not an integer of 32 bits, signed.
   * @throws {TypeError} If elements are not 4 bytes, or another agent is the
   * producer.
   */
  tryPushInt(value: number): boolean {
    assertInts(this.elementSize);
    if (typeof value !== "number" || value !== (value | 0)) refuseInt(value);
    const tail = this.#claim();
    if (tail === undefined) return false;
    const at = this.#element(tail);
    if (this.drops) Atomics.store(this.#words, at, value); // published by (P)
    else this.#words[at] = value; // published by (P)
    this.#publish(tail);
    return true;
  }

  /**
   * Appends the element in `src`; false if a subscriber is too late.
   *
   * @throws {ClosedError} If the broadcast is closed.
   * @throws {RangeError} If `src` is not as long as an element.
   * @throws {TypeError} If another agent is the producer.
   */
  tryPush(src: Elements): boolean {
    const byteLength = byteLengthOf(src);
    if (byteLength !== this.elementSize) {
      throw new RangeError(
        `An element is ${this.elementSize} bytes: received ${byteLength}`,
      );
    }
    const tail = this.#claim();
    if (tail === undefined) return false;
    const at = this.#element(tail);
    if (this.drops) {
      const scratch = this.#scratch;
      this.#scratchBytes.set(bytesOf(src));
      for (let i = 0; i < this.#per; i++) {
        Atomics.store(this.#words, at + i, scratch[i]!); // published by (P)
      }
    } else this.#copier.put(src, 0, at, this.#per); // published by (P)
    this.#publish(tail);
    return true;
  }

  /**
   * What this view keeps, for the race tester.
   *
   * @internal
   */
  protected explored(): unknown[] {
    return [this.#produces];
  }

  /**
   * What a push waits for, of which `attempt` is the operation.
   *
   * @internal
   */
  protected pending(attempt: () => boolean): PendingResult<true> {
    return {
      ...atEpoch(this.#words, PUSH_EPOCH),
      place: { words: this.#words, index: PUSH_EPOCH },
      attempt,
      pass: () => {}, // nobody: there is one producer
    };
  }

  /**
   * Takes a seat; returns the words, and the index of the seat's first one.
   *
   * @throws {RangeError} If all seats are taken.
   * @internal
   */
  protected takeSeat(): [words: Int32Array<SharedArrayBuffer>, at: number] {
    const words = this.#words;
    for (let at = SEATS; at < this.#elements; at += SEAT) {
      if (words[at + OWNER] !== 0) continue; // a hint; the exchange checks it
      const joining = this.#id | JOINING_BIT;
      if (Atomics.compareExchange(words, at + OWNER, 0, joining) !== 0) {
        continue;
      }
      const first = Atomics.load(words, TAIL) & ~CLOSED_BIT;
      Atomics.store(words, at + DROPPED, 0);
      Atomics.store(words, at + CURSOR, first);
      // (J) Pairs with (S): a producer that does not see us yet knows no cursor
      // after the tail that we look at next, so it overwrites nothing from
      // there on. A producer that sees us waits for `first`.
      Atomics.store(words, at + OWNER, this.#id);
      const next = Atomics.load(words, TAIL) & ~CLOSED_BIT;
      Atomics.compareExchange(words, at + CURSOR, first, next);
      if (next !== first) wake(words, PUSH_EPOCH, Infinity);
      return [words, at];
    }
    throw new RangeError(
      `Cannot subscribe: all ${this.seats} seats are taken`,
    );
  }

  /**
   * Closes the broadcast for good, and wakes every sleeper. Pushes fail from
   * now on. Subscribers pop the elements that are left, and then fail.
   */
  close(): void {
    const words = this.#words;
    if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;
    wake(words, POP_EPOCH, Infinity);
    wake(words, PUSH_EPOCH, Infinity);
  }

  /**
   * Ends the subscriptions of agent `id`, which is known never to run again;
   * returns how many there were. If it was the producer, the next agent that
   * pushes is. A producer may give its role up by its own id, if it has no
   * subscription.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   */
  abandon(id: number): number {
    this.abandonRoles(id);
    const words = this.#words;
    let count = 0;
    if (id === 0) return 0;
    for (let at = SEATS; at < this.#elements; at += SEAT) {
      const owner = Atomics.load(words, at + OWNER);
      if ((owner & ~JOINING_BIT) !== id) continue;
      if (Atomics.compareExchange(words, at + OWNER, owner, 0) === owner) {
        count++;
      }
    }
    if (count > 0) wake(words, PUSH_EPOCH, Infinity);
    return count;
  }

  /**
   * Ends the role of agent `id` as the producer, and nothing else; returns how
   * many roles that was. `abandon` does it, too.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   * @internal
   */
  abandonRoles(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    if (id === this.#id) this.#produces = false;
    return leaveRole(this.#words, PRODUCER, id);
  }
}

/**
 * The operations of a {@linkcode Subscription} that do not wait.
 *
 * @ignore
 */
export class SeatCore {
  /** The broadcast that this subscription belongs to. */
  readonly broadcast: BroadcastCore;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #copier: Copier;
  /** The index of the seat's first word, or 0 after `leave`. */
  #at: number;
  readonly #id: number;
  readonly #mask: number;
  readonly #per: number;
  readonly #elements: number;
  /** The value of `tail` that this subscriber saw last. */
  #tail: number;
  /**
   * Private memory for one element, used where words are accessed atomically.
   */
  readonly #scratch: Int32Array<ArrayBuffer>;
  readonly #scratchBytes: Uint8Array<ArrayBuffer>;

  /** Sits down at the seat whose first word is `at`. */
  constructor(
    broadcast: BroadcastCore,
    words: Int32Array<SharedArrayBuffer>,
    at: number,
  ) {
    this.broadcast = broadcast;
    this.#words = words;
    this.#copier = new Copier(words);
    this.#at = at;
    this.#id = Atomics.load(words, at + OWNER);
    this.#mask = broadcast.capacity - 1;
    this.#per = broadcast.elementSize / 4;
    this.#elements = SEATS + broadcast.seats * SEAT;
    this.#tail = Atomics.load(words, at + CURSOR);
    this.#scratch = new Int32Array(broadcast.drops ? this.#per : 0);
    this.#scratchBytes = new Uint8Array(this.#scratch.buffer);
    explorer()?.meet?.(this);
  }

  /**
   * What the race tester knows it by.
   *
   * @internal
   */
  protected get kind(): string {
    return "subscription";
  }

  /**
   * What this view keeps, for the race tester.
   *
   * @internal
   */
  protected explored(): unknown[] {
    return [this.#at, this.#tail];
  }

  /**
   * How many elements this subscriber lost because it was late, modulo 2^32.
   */
  get dropped(): number {
    this.#assertHere();
    return Atomics.load(this.#words, this.#at + DROPPED) >>> 0;
  }

  /**
   * How many elements this subscriber can pop; a moment later it may be another
   * number.
   */
  get size(): number {
    this.#assertHere();
    const cursor = Atomics.load(this.#words, this.#at + CURSOR);
    const tail = Atomics.load(this.#words, TAIL) & ~CLOSED_BIT;
    return Math.min(tail - cursor >>> 1, this.#mask + 1);
  }

  #assertHere(): void {
    if (this.#at === 0) throw new TypeError("The subscription was left");
  }

  #element(position: number): number {
    return this.#elements + (position >>> 1 & this.#mask) * this.#per;
  }

  /** The position to read next; undefined if there is nothing yet. */
  #next(): number | undefined {
    this.#assertHere();
    const words = this.#words;
    // Our own cursor. If the producer drops, `#advance` checks it.
    const cursor = words[this.#at + CURSOR]!;
    if ((this.#tail - cursor | 0) > 0) return cursor;
    const tail = Atomics.load(words, TAIL);
    this.#tail = tail & ~CLOSED_BIT;
    if ((this.#tail - cursor | 0) > 0) return cursor;
    if (tail & CLOSED_BIT) throw new ClosedError("The broadcast is closed");
    return undefined;
  }

  /**
   * Moves the cursor on; false if the producer moved it first, so that the
   * element that was read is not valid.
   */
  #advance(cursor: number): boolean {
    const words = this.#words;
    const at = this.#at + CURSOR;
    const next = cursor + ONE | 0;
    if (this.broadcast.drops) {
      return Atomics.compareExchange(words, at, cursor, next) === cursor;
    }
    Atomics.store(words, at, next);
    wake(words, PUSH_EPOCH, Infinity);
    return true;
  }

  /**
   * Takes the next 4-byte element; undefined if there is none.
   *
   * @throws {ClosedError} If the broadcast is closed and this subscriber saw
   * every element.
   * @throws {TypeError} If elements are not 4 bytes, or the seat was left.
   */
  tryPopInt(): number | undefined {
    assertInts(this.#per * 4);
    const words = this.#words;
    for (;;) {
      const cursor = this.#next();
      if (cursor === undefined) return undefined;
      const at = this.#element(cursor);
      const value = this.broadcast.drops ? Atomics.load(words, at) : words[at]!; // published by (P)
      if (this.#advance(cursor)) return value;
    }
  }

  /**
   * Moves the next element into the beginning of `dst`; false if there is none.
   *
   * @throws {ClosedError} If the broadcast is closed and this subscriber saw
   * every element.
   * @throws {RangeError} If `dst` is shorter than an element.
   * @throws {TypeError} If the seat was left.
   */
  tryPopInto(dst: Elements): boolean {
    const byteLength = byteLengthOf(dst);
    if (byteLength < this.#per * 4) {
      throw new RangeError(
        `An element of ${this.#per * 4} bytes does not fit an array of ` +
          `${byteLength} bytes`,
      );
    }
    const { drops } = this.broadcast;
    const scratch = this.#scratch;
    for (;;) {
      const cursor = this.#next();
      if (cursor === undefined) return false;
      const at = this.#element(cursor);
      if (!drops) this.#copier.get(dst, 0, at, this.#per); // published by (P)
      else {
        for (let i = 0; i < this.#per; i++) {
          scratch[i] = Atomics.load(this.#words, at + i); // published by (P)
        }
      }
      if (!this.#advance(cursor)) continue;
      if (drops) bytesOf(dst).set(this.#scratchBytes);
      return true;
    }
  }

  /**
   * What a pop waits for, of which `attempt` is the operation.
   *
   * @internal
   */
  protected pending<T>(
    attempt: () => T | false | undefined,
  ): PendingResult<T> {
    return {
      // Each subscription of an agent has elements of its own: all must look.
      ...atEpoch(this.#words, POP_EPOCH, true),
      attempt,
      pass: () => {}, // all sleepers are woken together, so no wake is lost
    };
  }

  /**
   * Gives the seat up. The subscription sees nothing afterwards; what awaits an
   * element of it rejects with a TypeError. Calling it again does nothing.
   */
  leave(): void {
    const at = this.#at;
    if (at === 0) return;
    this.#at = 0;
    const words = this.#words;
    const owner = this.#id;
    wake(words, POP_EPOCH, Infinity); // a pop of it that awaits
    if (Atomics.compareExchange(words, at + OWNER, owner, 0) !== owner) return;
    wake(words, PUSH_EPOCH, Infinity);
  }
}

function assertInts(elementSize: number): void {
  if (elementSize === 4) return;
  throw new TypeError(
    `Elements here are ${elementSize} bytes: use the forms without Int`,
  );
}

/** The bytes of a broadcast of this shape. */
export function bytesFor(shape: number, elementSize: number): number {
  const seats = shape >>> SEATS_SHIFT;
  const capacity = 2 ** (shape & ORDER_MASK);
  assertFormatted(capacity, elementSize);
  inRange("subscribers", seats, 1, MAX_SUBSCRIBERS);
  return (SEATS + seats * SEAT) * 4 + capacity * elementSize;
}
