/**
 * Keys and values that are too long for an entry, in blocks of equal size at
 * the end of the map.
 *
 * ```text
 * block, word 0  owner  0               free
 *                       from 1 on       the number of the bucket to which the
 *                                       key or value belongs, counted from 1
 * block, word 1  next   The number of its next block, from 1 on; or 0.
 * Then bytes of the key or value.
 * ```
 *
 * The entry has the length and the number of the first block. Any free blocks
 * serve any key or value: so the heap never becomes fragments that nothing
 * fits.
 *
 * Only the agent that holds a bucket takes blocks for it, and gives them back.
 * If it ends, the next holder frees each block of that bucket to which no entry
 * of the bucket leads: see `Table.mend`. So there is no journal.
 *
 * A writer fills new blocks, then shows the value as it shows any other, and
 * then frees the blocks of the old one. So a reader that got into blocks which
 * were used again sees that `current` has changed, or `version`: see
 * `table.ts`. Until then it may find any number in a block, but none beyond the
 * heap.
 *
 * A key stays in its blocks for as long as its entry is in the chain of its
 * bucket. Readers look into them only for a key with the same hash and length.
 *
 * @module
 */

import type { HeapPlan } from "./plan.ts";

/** The words of a block before the bytes. */
export const OWNER = 0, NEXT = 1, BODY = 2;

/** At how many words of bits an agent looks before it makes room. */
const SOME = 256;

const FREE = 0;
/** Instead of the number of a block. */
const NONE = 0;

/**
 * The blocks of one map, as one view of it sees them, for its values or its
 * keys, which are called values here.
 */
export class Heap {
  /**
   * What an entry has instead of the value: its length, and the first block.
   */
  readonly place: Int32Array = new Int32Array(2);
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #plan: HeapPlan;
  /** The words of a block that are part of the value. */
  readonly #body: number;
  /** The word of the bits in which to look next for a free block. */
  #map = 0;
  /** The first block of the value that is being made, and how many it has. */
  #first = NONE;
  #count = 0;

  constructor(words: Int32Array<SharedArrayBuffer>, plan: HeapPlan) {
    this.#words = words;
    this.#plan = plan;
    this.#body = plan.blockWords - BODY;
  }

  /** How many blocks there are. */
  get count(): number {
    return this.#plan.count;
  }

  /** The bucket to which a block belongs, counted from 1; 0 if it is free. */
  ownerOf(number: number): number {
    return Atomics.load(this.#words, this.#at(number) + OWNER);
  }

  /** Whether a value of `length` bytes lies in blocks. */
  isLong(length: number): boolean {
    return length > this.#plan.inEntry;
  }

  /**
   * Puts a value into blocks of bucket `owner`, and what stands for it into
   * `place`. If it sees no room, calls `makeRoom`, as long as that makes some,
   * and then looks at all blocks. Returns whether there was room.
   */
  put(
    owner: number,
    hash: number,
    value: Int32Array,
    count: number,
    makeRoom: () => boolean,
  ): boolean {
    const wanted = Math.ceil((count - 1) / this.#body);
    const maps = Math.ceil(this.#plan.count / 32);
    const some = Math.min(maps, SOME);
    // Where the search begins depends on the key: so agents rarely meet.
    this.#map = (hash >>> 0) % maps;
    this.#first = NONE;
    this.#count = 0;
    let left = this.#plan.count;
    while (!this.#gather(owner, wanted, some)) {
      if (left-- > 0 && makeRoom()) continue;
      if (some < maps && this.#gather(owner, wanted, maps)) break;
      this.drop(owner);
      return false;
    }
    this.#fill(value, count);
    this.place[0] = value[0]!;
    this.place[1] = this.#first;
    return true;
  }

  /** Frees the blocks of the value that was made last. */
  drop(owner: number): void {
    this.free(this.#first, owner);
  }

  /**
   * Takes free blocks until there are `wanted`, from `#map` on, and looks at
   * `some` words of bits; whether there are.
   */
  #gather(owner: number, wanted: number, some: number): boolean {
    const words = this.#words;
    const { bits, count } = this.#plan;
    const maps = Math.ceil(count / 32);
    for (let i = some; i > 0; i--) {
      const map = this.#map;
      const taken = Atomics.load(words, bits + map);
      for (let left = ~taken; left !== 0; left &= left - 1) {
        const number = map * 32 + 32 - Math.clz32(left & -left);
        if (number > count) break;
        if (this.#claim(number, owner) && this.#count === wanted) return true;
      }
      this.#map = map + 1 < maps ? map + 1 : 0;
    }
    return false;
  }

  /** Makes a block the first one of the value, if it is free. */
  #claim(number: number, owner: number): boolean {
    const words = this.#words;
    const block = this.#at(number);
    if (Atomics.compareExchange(words, block + OWNER, FREE, owner) !== FREE) {
      return false;
    }
    Atomics.or(words, this.#mapOf(number), 1 << (number - 1 & 31));
    Atomics.store(words, block + NEXT, this.#first);
    this.#first = number;
    this.#count++;
    return true;
  }

  #fill(value: Int32Array, count: number): void {
    const words = this.#words;
    let number = this.#first;
    for (let from = 1; from < count; from += this.#body) {
      if (!this.#isThere(number)) return; // the words are damaged
      const block = this.#at(number);
      const some = Math.min(count - from, this.#body);
      // Readers may still be here, which had found an older value.
      for (let i = 0; i < some; i++) {
        Atomics.store(words, block + BODY + i, value[from + i]!);
      }
      number = Atomics.load(words, block + NEXT);
    }
  }

  /** The number of the first block of the value at `from`, or `NONE`. */
  firstOf(from: number): number {
    return this.isLong(Atomics.load(this.#words, from))
      ? Atomics.load(this.#words, from + 1)
      : NONE;
  }

  /**
   * Copies the value at `from` in an entry; false if its length or the number
   * of a block is impossible.
   */
  copy(from: number, into: Int32Array): boolean {
    const words = this.#words;
    const length = Atomics.load(words, from);
    if (length < 0 || length > this.#plan.longest) return false;
    into[0] = length;
    const end = 1 + (length + 3 >> 2);
    if (!this.isLong(length)) {
      for (let i = 1; i < end; i++) into[i] = Atomics.load(words, from + i);
      return true;
    }
    let number = Atomics.load(words, from + 1);
    for (let to = 1;;) {
      if (!this.#isThere(number)) return false;
      const block = this.#at(number);
      const some = Math.min(end - to, this.#body);
      for (let i = 0; i < some; i++) {
        into[to + i] = Atomics.load(words, block + BODY + i);
      }
      to += some;
      if (to === end) return true;
      number = Atomics.load(words, block + NEXT);
    }
  }

  /**
   * Whether the value at `from` in an entry is these words, of which there are
   * too many for an entry. Other agents may write there meanwhile.
   */
  isSame(from: number, value: Int32Array, count: number): boolean {
    const words = this.#words;
    if (Atomics.load(words, from) !== value[0]) return false;
    let number = Atomics.load(words, from + 1);
    for (let i = 1; this.#isThere(number);) {
      const block = this.#at(number);
      const some = Math.min(count - i, this.#body);
      for (let j = 0; j < some; j++) {
        const word = Atomics.load(words, block + BODY + j);
        if (word !== value[i + j]) return false;
      }
      i += some;
      if (i === count) return true;
      number = Atomics.load(words, block + NEXT);
    }
    return false;
  }

  /**
   * Frees a block of bucket `owner`, and those after it. If the words are
   * damaged, it ends at a block that is not of that bucket.
   */
  free(number: number, owner: number): void {
    const words = this.#words;
    if (this.#isThere(number)) this.#map = number - 1 >> 5; // there is room now
    while (this.#isThere(number)) {
      const block = this.#at(number);
      if (Atomics.load(words, block + OWNER) !== owner) return;
      const next = Atomics.load(words, block + NEXT);
      this.#release(number);
      number = next;
    }
  }

  #release(number: number): void {
    Atomics.store(this.#words, this.#at(number) + OWNER, FREE);
    this.#clear(number);
  }

  /** Clears the bit of a block. */
  #clear(number: number): void {
    Atomics.and(this.#words, this.#mapOf(number), ~(1 << (number - 1 & 31)));
  }

  /**
   * Frees the blocks of bucket `owner` that are not in use, after its holder
   * died.
   */
  mend(owner: number, isUsed: (number: number) => boolean): void {
    const words = this.#words;
    for (let number = 1; number <= this.#plan.count; number++) {
      const found = Atomics.load(words, this.#at(number) + OWNER);
      if (found === owner && !isUsed(number)) this.#release(number);
      // Or the agent ended before it cleared the bit. If another agent claims
      // the block now, its bit is wrong the other way: harmless.
      const bit = 1 << (number - 1 & 31);
      if (
        found === FREE && (Atomics.load(words, this.#mapOf(number)) & bit) !== 0
      ) this.#clear(number);
    }
  }

  /** Whether the value at `from` in an entry has the block. */
  has(from: number, number: number): boolean {
    let next = this.firstOf(from);
    for (let left = this.#plan.count; left > 0 && next !== number; left--) {
      if (!this.#isThere(next)) return false;
      next = Atomics.load(this.#words, this.#at(next) + NEXT);
    }
    return next === number;
  }

  #isThere(number: number): boolean {
    return number >= 1 && number <= this.#plan.count;
  }

  #at(number: number): number {
    return this.#plan.blocks + (number - 1) * this.#plan.blockWords;
  }

  /** The word with the bit of a block. */
  #mapOf(number: number): number {
    return this.#plan.bits + (number - 1 >> 5);
  }
}
