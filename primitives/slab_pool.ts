/**
 * An allocator of blocks of one size in shared memory.
 *
 * @module
 */

import { SLAB_POOL } from "./_layout.ts";
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
import { agentId } from "./agent.ts";

export { type Handle, type Memory, Region } from "./_region.ts";

const CAPACITY = SLAB_POOL.capacity;
const BLOCK_SIZE = SLAB_POOL.block_size;
const BITMAP = SLAB_POOL.length;

/** The most bytes the blocks of a pool may have together. */
const MAX_BYTES = 2 ** 30;
/** In an owner word: the block lies in that agent's cache. */
const CACHED_BIT = 1 << 28;
const NOBODY = 0;
/** The most blocks in a cache: those of one word of the bitmap. */
const MAX_CACHE = 32;

/** How a pool is made. */
export interface SlabConfig {
  /** Blocks it has, 1 to 2^30 / size. */
  readonly capacity: number;
  /** Bytes a block has, a multiple of 4. */
  readonly size: number;
}

/**
 * What can be told of a pool.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = { row: SLAB_POOL };

/**
 * An allocator of blocks of one size: any agent allocates, and any agent may
 * free what another one allocated.
 *
 * ```text
 * word 0   magic       Kind and layout version.
 * word 1   capacity    How many blocks there are.
 * word 2   block_size  Bytes of a block, a multiple of 4.
 * word 3   seal        Check word over the configuration.
 * word 32  A bit for each block, 1 if it is not worth a try. Then an owner for
 *          each block: 0 while it is free, or the id of the agent that
 *          allocated it, with bit 28 set while it lies in the cache of that
 *          agent. Then the blocks. Each of the three begins at a multiple of 32
 *          words.
 * ```
 *
 * The bitmap and the owners each begin at a multiple of 32 words, and so do the
 * blocks. A block changes hands by one exchange of its owner, which is the
 * truth; the bitmap says where to look, and is set after an owner is, and
 * cleared after one is taken away. So it may call an owned block free, for
 * which the exchange fails, and a free one owned only while the agent that
 * frees it is in the midst of that.
 *
 * Invariant: an owner word that is not 0 changes by its agent's hand, by the
 * one `free` of the block, or by `abandon`.
 * Progress: `allocate` and `free` are lock-free, and take two atomic steps, or
 * one from and to a cache. `allocate` goes round once: blocks freed behind it
 * while others were taken before it may make it answer -1 too early. No step
 * is open to ABA: that a block is free has one form, whoever had it before.
 * An agent terminated at any step costs blocks and nothing else: those in its
 * cache and one that it was freeing, which `abandon` gives back, and what it had
 * allocated, or was allocating. That may be in other hands: `abandon` gives it
 * back if told that it is not.
 * Fairness: none needed. C twin: `weft_slab_pool`.
 * Source: bitmap and per-agent magazines (Bonwick and Adams 2001); owners
 * instead of a free list, own design.
 *
 * @example A message that is handed on without a copy
 * ```ts
 * import { SlabPool } from "@weft/sync";
 *
 * const pool = SlabPool.create({ capacity: 64, size: 256 });
 * const at = pool.allocate(); // -1 if there is none
 * pool.bytes[at] = 7; // push `at` into a queue; whoever pops it, frees it
 * pool.free(at);
 * ```
 */
export class SlabPool extends Region<"slab_pool"> {
  /** Blocks it has. */
  readonly capacity: number;
  /** Bytes a block has. */
  readonly blockSize: number;
  /** The bytes that `allocate` points into. */
  readonly bytes: Uint8Array;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** Words of bits, and where the owners and the blocks begin. */
  readonly #maps: number;
  readonly #owners: number;
  readonly #blocks: number;
  /** Where this view looks first. */
  #map: number;
  readonly #cache = new Int32Array(MAX_CACHE);
  #cached = 0;
  #cacheLimit = 0;

  /**
   * Attaches to the pool at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no pool of this layout
   * version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = attach("slab_pool", SLAB_POOL, memory, byteOffset, bytesFor);
    super("slab_pool", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
    this.capacity = words[CAPACITY]!;
    this.blockSize = words[BLOCK_SIZE]!;
    this.#maps = mapsFor(this.capacity);
    this.#owners = ownersAt(this.capacity);
    this.#blocks = blocksAt(this.capacity);
    this.#map = this.#id % this.#maps;
    this.bytes = new Uint8Array(this.buffer, this.byteOffset, this.byteLength);
  }

  /**
   * The bytes a pool of this configuration occupies.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config: SlabConfig): number {
    return bytesFor(...checked(config));
  }

  /**
   * Allocates a pool whose blocks are all free.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static create(config: SlabConfig): SlabPool {
    return SlabPool.init(allocate(SlabPool.byteLength(config)), 0, config);
  }

  /**
   * Makes a region that nobody uses yet a pool whose blocks are all free.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number,
    config: SlabConfig,
  ): SlabPool {
    const [capacity, size] = checked(config);
    const bytes = bytesFor(capacity, size);
    format(
      "slab_pool",
      SLAB_POOL,
      memory,
      byteOffset,
      bytes,
      [capacity, size],
      (words) => {
        // The last word's bits behind the last block: never worth a try.
        if (capacity % 32) {
          words[BITMAP + (capacity >> 5)] = -1 <<
            capacity % 32;
        }
      },
    );
    return new SlabPool(memory, byteOffset);
  }

  /**
   * Attaches to the pool a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): SlabPool {
    return new SlabPool(...fromHandle("slab_pool", handle));
  }

  /** Free blocks, without those in caches; counted one by one. */
  get available(): number {
    let count = 0;
    for (let block = 0; block < this.capacity; block++) {
      const owner = Atomics.load(this.#words, this.#owners + block);
      if (owner === NOBODY) count++;
    }
    return count;
  }

  /**
   * Lets this view keep up to `blocks` free blocks at hand, 0 to 32, which
   * others then cannot get; {@linkcode release} gives them back.
   *
   * @throws {RangeError} If `blocks` is not an integer from 0 to 32.
   */
  useCache(blocks = MAX_CACHE): void {
    this.#cacheLimit = inRange("Cached blocks", blocks, 0, MAX_CACHE);
    this.#shrinkTo(blocks);
  }

  /** A block, as an offset into `bytes`; -1 if none was found free. */
  allocate(): number {
    const words = this.#words;
    while (this.#cached > 0) {
      const block = this.#cache[--this.#cached]!;
      const at = this.#owners + block;
      const kept = this.#id | CACHED_BIT;
      if (Atomics.compareExchange(words, at, kept, this.#id) === kept) {
        return this.#offset(block);
      }
      // This agent was abandoned, and lives: the block is another's by now.
    }
    for (let i = this.#maps; i > 0; i--) {
      const map = this.#map;
      let taken = words[BITMAP + map]!; // a hint: the owner tells
      if (taken === -1) taken = Atomics.load(words, BITMAP + map);
      for (let left = ~taken; left !== 0; left &= left - 1) {
        const bit = left & -left;
        const block = map * 32 + 31 - Math.clz32(bit);
        if (!this.#claim(block, this.#id)) continue;
        if (this.#cacheLimit > 0) this.#fill(map, left & left - 1, bit);
        else Atomics.or(words, BITMAP + map, bit);
        return this.#offset(block);
      }
      this.#map = map + 1 < this.#maps ? map + 1 : 0;
    }
    return -1;
  }

  /**
   * Frees the block at `offset`, whoever allocated it.
   *
   * @throws {RangeError} If no block begins there, or it is free already.
   */
  free(offset: number): void {
    const block = this.#block(offset);
    const words = this.#words;
    const at = this.#owners + block;
    const keep = this.#cached < this.#cacheLimit;
    const next = keep ? this.#id | CACHED_BIT : NOBODY;
    let owner = words[at]!; // a hint: the exchange below checks it
    if (!isAllocated(owner)) owner = Atomics.load(words, at);
    // If it has another owner by the time of the exchange, somebody freed it.
    if (
      !isAllocated(owner) ||
      Atomics.compareExchange(words, at, owner, next) !== owner
    ) {
      throw new RangeError(
        `Cannot free the block at ${offset}: it is free already`,
      );
    }
    if (keep) this.#cache[this.#cached++] = block;
    else this.#clear(block);
  }

  /** Gives the blocks in this view's cache back to all. */
  release(): void {
    this.#shrinkTo(0);
  }

  /**
   * Gives back the blocks that agent `id`, known never to run again, had in its
   * caches, and one that it may have been freeing; with `everything`, also all
   * that it had allocated, if none of that is in other hands. Answers how many
   * had been in its caches, or allocated.
   */
  abandon(id: number, everything = false): number {
    const words = this.#words;
    let count = 0;
    if (id === NOBODY) return 0;
    for (let block = 0; block < this.capacity; block++) {
      const at = this.#owners + block;
      const owner = Atomics.load(words, at);
      if (owner === NOBODY) {
        // Stopped before it cleared the bit. If the block is allocated just
        // now, the bit is wrong the other way, which does no harm.
        const bit = 1 << (block & 31);
        if (Atomics.load(words, BITMAP + (block >> 5)) & bit) {
          this.#clear(block);
        }
      } else if (
        (owner === (id | CACHED_BIT) || everything && owner === id) &&
        Atomics.compareExchange(words, at, owner, NOBODY) === owner
      ) {
        this.#clear(block);
        count++;
      }
    }
    return count;
  }

  #offset(block: number): number {
    return this.#blocks * 4 + block * this.blockSize;
  }

  /** The block that begins at `offset`. */
  #block(offset: number): number {
    const block = (offset - this.#blocks * 4) / this.blockSize;
    if (Number.isInteger(block) && block >= 0 && block < this.capacity) {
      return block;
    }
    throw new RangeError(
      `Cannot free the block at ${offset}: none of this pool begins there`,
    );
  }

  /** Makes a free block `owner`'s; false if it is not free. */
  #claim(block: number, owner: number): boolean {
    const words = this.#words;
    const at = this.#owners + block;
    return words[at] === NOBODY && // a hint, checked at once
      Atomics.compareExchange(words, at, NOBODY, owner) === NOBODY;
  }

  /** Caches more blocks of a map, and sets their bits and `bit` in one step. */
  #fill(map: number, left: number, bit: number): void {
    const kept = this.#id | CACHED_BIT;
    for (; left !== 0 && this.#cached < this.#cacheLimit; left &= left - 1) {
      const next = left & -left;
      const block = map * 32 + 31 - Math.clz32(next);
      if (!this.#claim(block, kept)) continue;
      bit |= next;
      this.#cache[this.#cached++] = block;
    }
    Atomics.or(this.#words, BITMAP + map, bit);
  }

  /** Says in the bitmap that a block is worth a try. */
  #clear(block: number): void {
    Atomics.and(this.#words, BITMAP + (block >> 5), ~(1 << (block & 31)));
  }

  #shrinkTo(most: number): void {
    const words = this.#words;
    const kept = this.#id | CACHED_BIT;
    while (this.#cached > most) {
      const block = this.#cache[--this.#cached]!;
      const at = this.#owners + block;
      if (Atomics.compareExchange(words, at, kept, NOBODY) === kept) {
        this.#clear(block);
      }
    }
  }
}

const isAllocated = (owner: number): boolean =>
  owner !== NOBODY && (owner & CACHED_BIT) === 0;

/** `config` checked: `[capacity, size]`. */
function checked({ capacity, size }: SlabConfig): [number, number] {
  if (!Number.isInteger(size) || size < 4 || size % 4 || size > MAX_BYTES) {
    throw new RangeError(
      "A block's size must be a multiple of 4 from 4 to 2^30 bytes: " +
        `received ${size}`,
    );
  }
  inRange("A pool's capacity", capacity, 1, Math.floor(MAX_BYTES / size));
  return [capacity, size];
}

/** The words of bits. */
const mapsFor = (capacity: number): number => Math.ceil(capacity / 32);

/** The next multiple of 32. */
const rounded = (words: number): number => Math.ceil(words / 32) * 32;

const ownersAt = (capacity: number): number =>
  BITMAP + rounded(mapsFor(capacity));

const blocksAt = (capacity: number): number =>
  ownersAt(capacity) + rounded(capacity);

const bytesFor = (capacity: number, size: number): number =>
  blocksAt(capacity) * 4 + capacity * size;
