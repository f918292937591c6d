/**
 * An allocator of blocks of one size in shared memory.
 *
 * @module
 */

import { describe } from "./_memory/describe.ts";
import { SLAB_POOL } from "./_memory/layout.ts";
import { NO_AGENT, type WordsProblems } from "./_memory/problems.ts";
import {
  allocate,
  assertBoolean,
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
import { agentId } from "./agent.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";

const CAPACITY: typeof SLAB_POOL.capacity = 1;
const BLOCK_SIZE: typeof SLAB_POOL.block_size = 2;
const BITMAP: typeof SLAB_POOL.length = 32;

/** The most bytes the blocks of a pool may have together. */
const MAX_BYTES = 0x4000_0000; // 2^30
/** A bit of an owner word: the block lies in that agent's cache. */
const CACHED_BIT = 0x1000_0000; // SLAB_POOL_BITS.CACHED
const NOBODY = 0;
/** The most blocks in a cache: as many as one word of the bitmap has. */
const MAX_CACHE = 32;
/** The most blocks that `inspect` looks at. */
const MOST_BLOCKS = 65536;

/** The configuration of a pool. */
export interface SlabConfig {
  /** How many blocks it has, 1 to 2^30 / blockSize. */
  readonly capacity: number;
  /** How many bytes a block has, a multiple of 4. */
  readonly blockSize: number;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: SLAB_POOL,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (capacity, size) => bytesFor(capacity, size),
  behind: (region, tell) => {
    const at = ownersAt(region[CAPACITY]!);
    for (let i = 0; i < Math.min(region[CAPACITY]!, MOST_BLOCKS); i++) {
      const owner = Atomics.load(region, at + i);
      const known = CACHED_BIT | CACHED_BIT - 1;
      if ((owner & ~known) === 0 && owner !== CACHED_BIT) continue;
      tell(at + i, `block ${i}`, owner, NO_AGENT);
    }
  },
};

/**
 * An allocator of blocks of one size. Any agent allocates, and any agent may
 * free a block that another agent allocated.
 *
 * A message that is handed on without a copy:
 *
 * ```ts
 * import { SlabPool } from "@weft/sync";
 *
 * const pool = SlabPool.create({ capacity: 64, blockSize: 256 });
 * const at = pool.allocate(); // -1 if there is none
 * // Push `at` into a queue; the agent that pops it frees it.
 * pool.bytes[at] = 7;
 * pool.free(at);
 * ```
 *
 * The bitmap, the owners and the blocks each begin at a multiple of 32 words.
 * One exchange of its owner word hands a block over; only the owner words
 * decide. The bitmap only says where to look: a bit is set after an owner is
 * set, and cleared after an owner is cleared. So the bitmap may show an owned
 * block as free; then the exchange fails. It shows a free block as owned only
 * while an agent is freeing that block.
 *
 * Invariant: an owner word that is not 0 is changed only by its agent, by the
 * one `free` of the block, or by `abandon`.
 * Progress: `allocate` and `free` are lock-free, and take two atomic steps, or
 * one step with a cache. `allocate` looks at every block once. If blocks are
 * freed where it has looked, and others are taken where it has not, it may
 * return -1 although there always was a free block. The ABA problem cannot
 * occur, because it does not matter who owned a free block before. An agent
 * that is terminated at any step costs blocks and nothing else. `abandon` takes
 * back the blocks in its cache and the one that it was freeing. Blocks that it
 * had allocated, or was allocating, may be in other hands: `abandon` takes them
 * back only if told to.
 * Freed when: every operation of every agent has returned, and none will begin.
 * Fairness: none needed. C twin: `weft_slab_pool`.
 * Source: bitmap and per-agent magazines (Bonwick and Adams 2001); owners
 * instead of a free list, own design.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic       Kind and layout version.
 * word 1   capacity    How many blocks there are.
 * word 2   block_size  Bytes of a block, a multiple of 4.
 * word 3   seal        Check word over the configuration.
 * word 32  A bit for each block, 1 if the block is probably not free. Then an
 *          owner for each block: 0 while it is free, or the id of the agent
 *          that allocated it, with bit 28 set while it lies in the cache of
 *          that agent. Then the blocks. Each of the three begins at a multiple
 *          of 32 words.
 * ```
 */
export class SlabPool extends Region<"slab_pool"> {
  /** How many blocks it has. */
  readonly capacity: number;
  /** How many bytes a block has. */
  readonly blockSize: number;
  /** The bytes that `allocate` returns offsets into. */
  readonly bytes: Uint8Array;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  /** The number of bitmap words. */
  readonly #maps: number;
  /** The first word of the owners, and of the blocks. */
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
   * @throws {RangeError} If the pool does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
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
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If a number in `config` is out of range.
   */
  static byteLength(config: SlabConfig): number {
    return bytesFor(...checked(config));
  }

  /**
   * Allocates a pool whose blocks are all free.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If a number in `config` is out of range.
   */
  static create(config: SlabConfig): SlabPool {
    return SlabPool.init(allocate(SlabPool.byteLength(config)), 0, config);
  }

  /**
   * Initializes unused memory as a pool whose blocks are all free.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not as
   * described.
   * @throws {RangeError} If the pool does not fit there, or a number in
   * `config` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
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
        // The bits after the last block are never worth trying.
        const rest = capacity % 32;
        if (rest > 0) words[BITMAP + (capacity >> 5)] = -1 << rest;
      },
    );
    return new SlabPool(memory, byteOffset);
  }

  /**
   * Attaches to the pool that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no pool is
   * there.
   */
  static from(handle: Handle<"slab_pool">): SlabPool {
    return new SlabPool(...fromHandle("slab_pool", handle));
  }

  /** How many blocks are free and in no cache; they are counted one by one. */
  get available(): number {
    let count = 0;
    for (let block = 0; block < this.capacity; block++) {
      const owner = Atomics.load(this.#words, this.#owners + block);
      if (owner === NOBODY) count++;
    }
    return count;
  }

  /**
   * Lets this view keep up to `blocks` free blocks for itself, 0 to 32. Other
   * views cannot get these; {@linkcode SlabPool.release} gives them back.
   *
   * @throws {TypeError} If `blocks` is not a number.
   * @throws {RangeError} If `blocks` is not an integer from 0 to 32.
   */
  useCache(blocks = MAX_CACHE): void {
    this.#cacheLimit = inRange(
      "The number of cached blocks",
      blocks,
      0,
      MAX_CACHE,
    );
    this.#shrinkTo(blocks);
  }

  /**
   * Allocates a block, and returns its offset in `bytes`; -1 if it found no
   * free block.
   */
  allocate(): number {
    const words = this.#words;
    while (this.#cached > 0) {
      const block = this.#cache[--this.#cached]!;
      const at = this.#owners + block;
      const kept = this.#id | CACHED_BIT;
      if (Atomics.compareExchange(words, at, kept, this.#id) === kept) {
        return this.#offset(block);
      }
      // This agent was abandoned but lives: the block is another agent's now.
    }
    for (let i = this.#maps; i > 0; i--) {
      const map = this.#map;
      let taken = words[BITMAP + map]!; // a hint: the owner tells
      if (taken === -1) taken = Atomics.load(words, BITMAP + map);
      for (let left = ~taken; left !== 0; left &= left - 1) {
        const bit = left & -left;
        const block = map * 32 + 31 - Math.clz32(bit);
        if (block >= this.capacity) break; // only damaged bits lie there
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
   * Frees the block at `offset`, whichever agent allocated it.
   *
   * @throws {TypeError} If `offset` is not a number.
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
    // If the owner has changed by the exchange, another agent freed the block.
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

  /** Gives back the blocks in the cache of this view. */
  release(): void {
    this.#shrinkTo(0);
  }

  /**
   * Takes back the blocks in the caches of agent `id`, and a block that it may
   * have been freeing. With `everything`, also takes back all blocks that it
   * had allocated; pass true only if no other agent uses one of them. Call it
   * only when the agent will never run again. Returns how many blocks had been
   * in its caches or allocated.
   *
   * @throws {TypeError} If `id` is not a number or `everything` no boolean.
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number, everything = false): number {
    inRange("An agent id", id, 0, CACHED_BIT - 1);
    assertBoolean("everything", everything);
    const words = this.#words;
    let count = 0;
    if (id === NOBODY) return 0;
    for (let block = 0; block < this.capacity; block++) {
      const at = this.#owners + block;
      const owner = Atomics.load(words, at);
      if (owner === NOBODY) {
        // The agent may have stopped before it cleared the bit. If the block is
        // being allocated, the bit becomes wrong the other way: harmless.
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
    const block = typeof offset === "number"
      ? (offset - this.#blocks * 4) / this.blockSize
      : -1;
    if (Number.isInteger(block) && block >= 0 && block < this.capacity) {
      return block;
    }
    const Failure = typeof offset === "number" ? RangeError : TypeError;
    throw new Failure(
      `Cannot free the block at ${describe(offset)}: no block of this pool ` +
        "begins there",
    );
  }

  /** Gives a free block to `owner`; false if it is not free. */
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
      if (block >= this.capacity) break; // only damaged bits lie there
      if (!this.#claim(block, kept)) continue;
      bit |= next;
      this.#cache[this.#cached++] = block;
    }
    Atomics.or(this.#words, BITMAP + map, bit);
  }

  /** Notes in the bitmap that a block is worth trying. */
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

/** The words of a configuration, once it is checked. */
function checked(config: SlabConfig): [capacity: number, size: number] {
  assertConfig("slab_pool", config, ["capacity", "blockSize"]);
  const { capacity, blockSize } = config;
  bytesFor(capacity, blockSize);
  return [capacity, blockSize];
}

/** The number of bitmap words. */
const mapsFor = (capacity: number): number => Math.ceil(capacity / 32);

/** The next multiple of 32. */
const rounded = (words: number): number => Math.ceil(words / 32) * 32;

const ownersAt = (capacity: number): number =>
  BITMAP + rounded(mapsFor(capacity));

const blocksAt = (capacity: number): number =>
  ownersAt(capacity) + rounded(capacity);

/** The bytes of a pool, once its configuration words are checked. */
function bytesFor(capacity: number, size: number): number {
  inRange("A block's size", size, 4, MAX_BYTES);
  if (size % 4 !== 0) {
    throw new RangeError(
      `A block's size must be a multiple of 4 bytes: received ${size}`,
    );
  }
  inRange("A pool's capacity", capacity, 1, Math.floor(MAX_BYTES / size));
  return blocksAt(capacity) * 4 + capacity * size;
}
