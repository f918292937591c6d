/**
 * A stack of work that others may steal from.
 *
 * @module
 */

import { WORK_DEQUE } from "./_layout.ts";
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

export { type Handle, type Memory, Region } from "./_region.ts";

const CAPACITY = WORK_DEQUE.capacity;
const BOTTOM = WORK_DEQUE.bottom;
const TOP = WORK_DEQUE.top;
const ITEMS = WORK_DEQUE.length;

/** The most items a deque can hold. */
const MAX_CAPACITY = 2 ** 28;

/** How a deque is made. */
export interface DequeConfig {
  /** Items it holds, 1 to 2^28; rounded up to a power of two. */
  readonly capacity: number;
}

/**
 * What can be told of a deque.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = { row: WORK_DEQUE };

/**
 * A double-ended queue of 32-bit integers for work stealing: one agent, the
 * owner, pushes and pops at the bottom; any other steals from the top, where
 * the oldest and largest pieces of work are.
 *
 * ```text
 * word 0   magic     Kind and layout version.
 * word 1   capacity  How many items fit, a power of two.
 * word 2   seal      Check word over the configuration.
 * word 32  bottom    Where the owner pushes next.
 * word 64  top       The item that is stolen next.
 * word 96  `capacity` items of one word. Item `i` lies in place `i mod
 *          capacity`.
 * ```
 *
 * The owner alone moves `bottom`; `top` only grows. The last item is the one
 * that both sides may want: the owner first takes it away from later thieves,
 * by a lower `bottom`, and then competes for it with the earlier ones by the
 * same exchange of `top` as they.
 *
 * Invariant: top <= bottom + 1, and bottom <= top + capacity, modulo 2^32.
 * Progress: `push` and `pop` are wait-free, `steal` is lock-free: it goes round
 * only when somebody else took an item. Linearizable. An agent terminated at
 * any step costs at most the one item it was taking; what is in the deque can
 * still be stolen, and a new owner goes on after `adopt`.
 * Wrap: positions have 32 bits and are compared by their difference, so a
 * thief would have to stand still between two steps for exactly a multiple of
 * 2^32 items to mistake one for another.
 * Fairness: none. C twin: `weft_work_deque`.
 * Source: Chase and Lev 2005, at a fixed capacity. As all atomics here are
 * sequentially consistent, it needs none of the fences that Le and others 2013
 * found missing where they are weaker.
 *
 * @example A worker's own tasks, and another worker in want of some
 * ```ts
 * import { WorkDeque } from "@weft/sync";
 *
 * const own = WorkDeque.create({ capacity: 256 }); // post own.handle
 * for (let task = 0; task < 3; task++) own.push(task);
 * const theirs = WorkDeque.from(own.handle);
 * if (theirs.steal() !== 0 || own.pop() !== 2) throw new Error("wrong end");
 * ```
 */
export class WorkDeque extends Region<"work_deque"> {
  /** Items it holds at most. */
  readonly capacity: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  /** What the owner last saw of `top`: not after it. */
  #top: number;

  /**
   * Attaches to the deque at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no deque of this layout
   * version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = attach(
      "work_deque",
      WORK_DEQUE,
      memory,
      byteOffset,
      bytesFor,
    );
    super("work_deque", words, INSPECTION);
    this.#words = words;
    this.capacity = words[CAPACITY]!;
    this.#mask = this.capacity - 1;
    this.#top = Atomics.load(words, TOP);
  }

  /**
   * The bytes a deque of this configuration occupies.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config: DequeConfig): number {
    return bytesFor(checked(config));
  }

  /**
   * Allocates an empty deque.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static create(config: DequeConfig): WorkDeque {
    return WorkDeque.init(allocate(WorkDeque.byteLength(config)), 0, config);
  }

  /**
   * Makes a region that nobody uses yet an empty deque.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number,
    config: DequeConfig,
  ): WorkDeque {
    const capacity = checked(config);
    const bytes = bytesFor(capacity);
    format("work_deque", WORK_DEQUE, memory, byteOffset, bytes, [capacity]);
    return new WorkDeque(memory, byteOffset);
  }

  /**
   * Attaches to the deque a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): WorkDeque {
    return new WorkDeque(...fromHandle("work_deque", handle));
  }

  /** Items in the deque; a moment later it may be another number. */
  get size(): number {
    const top = Atomics.load(this.#words, TOP);
    const size = Atomics.load(this.#words, BOTTOM) - top | 0;
    return Math.min(Math.max(size, 0), this.capacity);
  }

  /**
   * Adds an item at the bottom; false if the deque is full. The owner's.
   *
   * @throws {RangeError} If `item` is not an integer of 32 bits, signed.
   */
  push(item: number): boolean {
    if (item !== (item | 0)) {
      throw new RangeError(
        "An item must be an integer from -2^31 to 2^31 - 1: " +
          `received ${item}`,
      );
    }
    const words = this.#words;
    const bottom = words[BOTTOM]!; // our own: nobody else moves it
    if ((bottom - this.#top | 0) >= this.capacity) {
      this.#top = Atomics.load(words, TOP);
      if ((bottom - this.#top | 0) >= this.capacity) return false;
    }
    // A thief late by a lap may read this place now, for nothing: its exchange
    // will fail. Were this a plain write, that would be a data race.
    Atomics.store(words, ITEMS + (bottom & this.#mask), item);
    Atomics.store(words, BOTTOM, bottom + 1 | 0); // (P)
    return true;
  }

  /** Takes the item pushed last; undefined if there is none. The owner's. */
  pop(): number | undefined {
    const words = this.#words;
    const bottom = words[BOTTOM]! - 1 | 0;
    // (B) Pairs with (T): a thief that comes later sees this item gone, or we
    // see that the thief moved `top`.
    Atomics.store(words, BOTTOM, bottom);
    const top = Atomics.load(words, TOP);
    const left = bottom - top | 0;
    if (left > 0) return words[ITEMS + (bottom & this.#mask)]!; // our own
    let item: number | undefined;
    if (left === 0) {
      const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0);
      if (seen === top) item = words[ITEMS + (bottom & this.#mask)]!;
    }
    Atomics.store(words, BOTTOM, bottom + 1 | 0); // empty: as `top` is by now
    return item;
  }

  /** Takes the oldest item; undefined if there is none. Anybody's. */
  steal(): number | undefined {
    const words = this.#words;
    for (let top = Atomics.load(words, TOP);;) {
      // (T) Pairs with (B): `top` is read first, `bottom` second.
      const left = Atomics.load(words, BOTTOM) - top | 0;
      if (left <= 0) return undefined;
      // Published by (P). Read before the exchange: behind it, the owner may
      // push into this place.
      const item = Atomics.load(words, ITEMS + (top & this.#mask));
      const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0);
      if (seen === top) return item;
      top = seen;
    }
  }

  /**
   * Makes this agent the owner, after the last one was terminated or handed
   * the deque over. An item that it was popping is lost.
   */
  adopt(): void {
    const words = this.#words;
    const top = this.#top = Atomics.load(words, TOP);
    const left = Atomics.load(words, BOTTOM) - top | 0;
    if (left > 0) return;
    // Stopped in the pop of an empty deque, or of the last item. A thief may
    // have read that: its exchange must not take what we push in its place.
    if (left === 0) Atomics.compareExchange(words, TOP, top, top + 1 | 0);
    Atomics.store(words, BOTTOM, left === 0 ? top + 1 | 0 : top);
  }
}

/** The capacity rounded up; a RangeError if it is out of range. */
function checked({ capacity }: DequeConfig): number {
  inRange("A deque's capacity", capacity, 1, MAX_CAPACITY);
  return 2 ** Math.ceil(Math.log2(capacity));
}

const bytesFor = (capacity: number): number => (ITEMS + capacity) * 4;
