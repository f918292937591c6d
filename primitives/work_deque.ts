/**
 * A stack of tasks, from which other agents may steal.
 *
 * @module
 */

import { WORK_DEQUE } from "./_memory/layout.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import {
  allocate,
  assertConfig,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_memory/region.ts";
import { leaveRole, taken } from "./_memory/roles.ts";
import { sizeOf } from "./_queue/queue_core.ts";
import { agentId } from "./agent.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";

const CAPACITY: typeof WORK_DEQUE.capacity = 1;
const BOTTOM: typeof WORK_DEQUE.bottom = 32;
const OWNER: typeof WORK_DEQUE.owner = 33;
const TOP: typeof WORK_DEQUE.top = 64;
const ITEMS: typeof WORK_DEQUE.length = 96;

/** The parts of `owner`: an agent, or that the last one left. */
const OWNER_MASK = 0x0fff_ffff; // WORK_DEQUE_BITS.OWNER
const LEFT_BIT = 0x1000_0000; // WORK_DEQUE_BITS.LEFT

/** The most items a deque can hold. */
const MAX_CAPACITY = 0x1000_0000; // 2^28

/** The configuration of a deque. */
export interface DequeConfig {
  /** How many items fit: 1 to 2^28, rounded up to a power of two. */
  readonly capacity: number;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: WORK_DEQUE,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (capacity) => bytesFor(capacity),
};

/**
 * A double-ended queue of 32-bit integers for work stealing. One agent, the
 * owner, pushes and pops at the bottom: the first one that does. All other
 * agents steal from the top, where the oldest and largest pieces of work are.
 * No operation waits: `push` returns `false` if the deque is full; `pop` and
 * `steal` return `undefined` if it is empty.
 *
 * A worker's own tasks, and another worker that steals one:
 *
 * ```ts
 * import { WorkDeque } from "@weft/sync";
 *
 * const own = WorkDeque.create({ capacity: 256 }); // post own.handle
 * for (const task of [1, 2, 3]) own.push(task); // false if it is full
 * const theirs = WorkDeque.from(own.handle);
 * if (theirs.steal() !== 1 || own.pop() !== 3) throw new Error("wrong end");
 * ```
 *
 * Only the owner moves `bottom`; `top` only grows. Both sides may want the last
 * item. The owner first lowers `bottom`, so that later thieves do not see it,
 * and then competes with earlier thieves by the same exchange of `top` as they.
 *
 * Invariant: top <= bottom + 1, and bottom <= top + capacity, modulo 2^32.
 * Progress: `push` and `pop` are wait-free. `steal` is lock-free: it tries
 * again only when another agent took an item. Linearizable. An agent that is
 * terminated at any step costs at most the one item that it was taking. The
 * other items can still be stolen. After `abandon(id)` a new owner goes on; it
 * calls `adopt` first.
 * Wrap: positions have 32 bits and are compared by their difference. To mistake
 * one item for another, a thief would have to stand still between two steps for
 * exactly a multiple of 2^32 items.
 * Freed when: every operation of every agent has returned, and none will begin.
 * Fairness: none. C twin: `weft_work_deque`.
 * Source: Chase and Lev 2005, with a fixed capacity. All atomics here are
 * sequentially consistent, so the fences are not needed that Le and others 2013
 * found missing on weaker ones.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic     Kind and layout version.
 * word 1   capacity  How many items fit, a power of two.
 * word 2   seal      Check word over the configuration.
 * word 32  bottom    Where the owner pushes next.
 * word 33  owner     bits 0-27  the agent that pushes and pops, from its first
 *                               time on, or 0
 *                    bit 28     LEFT: the last owner gave the deque up, so the
 *                               next one adopts it
 * word 64  top       The item that is stolen next.
 * word 96  `capacity` items of one word. Item `i` lies in place `i mod
 *          capacity`.
 * ```
 */
export class WorkDeque extends Region<"work_deque"> {
  /** The most items that the deque can hold. */
  readonly capacity: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  readonly #id: number;
  /** Whether this view knows that its agent is the owner. */
  #owns = false;
  /** The value of `top` that the owner saw last; it may have grown since. */
  #top: number;

  /**
   * Attaches to the deque at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no deque of this layout
   * version was initialized there.
   * @throws {RangeError} If the deque does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
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
    this.#id = agentId();
    this.#top = Atomics.load(words, TOP);
  }

  /**
   * The bytes a deque of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `capacity` is out of range.
   */
  static byteLength(config: DequeConfig): number {
    return bytesFor(checked(config));
  }

  /**
   * Allocates an empty deque.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `capacity` is out of range.
   */
  static create(config: DequeConfig): WorkDeque {
    return WorkDeque.init(allocate(WorkDeque.byteLength(config)), 0, config);
  }

  /**
   * Initializes unused memory as an empty deque.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not as
   * described.
   * @throws {RangeError} If the deque does not fit there, or `capacity` is out
   * of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config: DequeConfig,
  ): WorkDeque {
    const capacity = checked(config);
    const bytes = bytesFor(capacity);
    format("work_deque", WORK_DEQUE, memory, byteOffset, bytes, [capacity]);
    return new WorkDeque(memory, byteOffset);
  }

  /**
   * Attaches to the deque that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no deque is
   * there.
   */
  static from(handle: Handle<"work_deque">): WorkDeque {
    return new WorkDeque(...fromHandle("work_deque", handle));
  }

  /** Items in the deque; a moment later it may be another number. */
  get size(): number {
    return sizeOf(this.#words, TOP, BOTTOM, 1, this.capacity);
  }

  /**
   * Adds an item at the bottom, or returns false if the deque is full. The
   * first agent that pushes or pops is the owner.
   *
   * @throws {TypeError} If `item` is not a number, another agent is the owner,
   * or the last owner left and `adopt` was not called.
   * @throws {RangeError} If `item` is not a signed integer of 32 bits.
   */
  push(item: number): boolean {
    if (typeof item !== "number" || item !== (item | 0)) {
      inRange("An item", item, -(2 ** 31), 2 ** 31 - 1);
    }
    const words = this.#words;
    if (!this.#owns) this.#own();
    const bottom = words[BOTTOM]!; // exact: only the owner moves it
    if ((bottom - this.#top | 0) >= this.capacity) {
      this.#top = Atomics.load(words, TOP);
      if ((bottom - this.#top | 0) >= this.capacity) return false;
    }
    // A thief that is late by a lap may read this place now; its exchange will
    // fail. With a plain write, that would be a data race.
    Atomics.store(words, ITEMS + (bottom & this.#mask), item);
    Atomics.store(words, BOTTOM, bottom + 1 | 0); // (P)
    return true;
  }

  /**
   * Takes the item that was pushed last, or returns `undefined` if there is
   * none.
   *
   * @throws {TypeError} If this agent is not the owner: see `push`.
   */
  pop(): number | undefined {
    const words = this.#words;
    if (!this.#owns) this.#own();
    const bottom = words[BOTTOM]! - 1 | 0;
    // (B) Pairs with (T): a later thief sees that this item is gone, or the
    // owner sees that the thief moved `top`.
    Atomics.store(words, BOTTOM, bottom);
    const top = Atomics.load(words, TOP);
    const left = bottom - top | 0;
    if (left > 0) return words[ITEMS + (bottom & this.#mask)]!; // no thief may take it
    let item: number | undefined;
    if (left === 0) {
      const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0);
      if (seen === top) item = words[ITEMS + (bottom & this.#mask)]!;
    }
    Atomics.store(words, BOTTOM, bottom + 1 | 0); // empty: as `top` is by now
    return item;
  }

  /**
   * Takes the oldest item, or returns `undefined` if there is none. Any agent
   * may call this.
   */
  steal(): number | undefined {
    const words = this.#words;
    for (let top = Atomics.load(words, TOP);;) {
      // (T) Pairs with (B): `top` is read first, `bottom` second.
      const left = Atomics.load(words, BOTTOM) - top | 0;
      if (left <= 0) return undefined;
      // Published by (P). It is read before the exchange, because after it the
      // owner may push into this place.
      const item = Atomics.load(words, ITEMS + (top & this.#mask));
      const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0);
      if (seen === top) return item;
      top = seen;
    }
  }

  /**
   * Makes this agent the owner, after the last owner was abandoned or gave the
   * deque up. An item that the last owner was popping is lost.
   *
   * @throws {TypeError} If another agent is the owner; nothing was changed.
   */
  adopt(): void {
    const words = this.#words;
    const seen = Atomics.compareExchange(words, OWNER, LEFT_BIT, this.#id);
    if (seen === LEFT_BIT) this.#owns = true;
    else this.#own();
    const top = this.#top = Atomics.load(words, TOP);
    const left = Atomics.load(words, BOTTOM) - top | 0;
    if (left > 0) return;
    // The last owner stopped in the pop of an empty deque, or of the last item.
    // A thief may have read that item: its exchange must not take an item that
    // is pushed in the same place.
    if (left === 0) Atomics.compareExchange(words, TOP, top, top + 1 | 0);
    Atomics.store(words, BOTTOM, left === 0 ? top + 1 | 0 : top);
  }

  /**
   * Ends the ownership of agent `id`, known never to run again, so that the
   * next owner can `adopt` the deque; returns 1, or 0 if that agent was not the
   * owner. The owner may give the deque up by its own id. The items stay.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    if (id === this.#id) this.#owns = false;
    return leaveRole(this.#words, OWNER, id, LEFT_BIT);
  }

  /** Makes this agent the owner, if it is that already, or nobody ever was. */
  #own(): void {
    const other = Atomics.compareExchange(this.#words, OWNER, 0, this.#id);
    if (other === LEFT_BIT) {
      throw new TypeError("The owner of this deque left: call adopt() first");
    }
    if (other !== 0 && other !== this.#id) throw taken("owner", other);
    this.#owns = true;
  }
}

/** The capacity of a configuration, checked and rounded up. */
function checked(config: DequeConfig): number {
  assertConfig("work_deque", config, ["capacity"]);
  const { capacity } = config;
  inRange("A deque's capacity", capacity, 1, MAX_CAPACITY);
  return 2 ** Math.ceil(Math.log2(capacity));
}

/** The bytes of a deque, once its capacity word is checked. */
function bytesFor(capacity: number): number {
  inRange("A deque's capacity", capacity, 1, MAX_CAPACITY);
  if ((capacity & (capacity - 1)) !== 0) {
    throw new RangeError(
      `A deque's capacity must be a power of two: received ${capacity}`,
    );
  }
  return (ITEMS + capacity) * 4;
}
