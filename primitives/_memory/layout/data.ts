/**
 * The words of data that agents share: snapshots, slab pools, maps, counters.
 * `../layout.ts` says how a row is written.
 *
 * @module
 */

/**
 * The latest value of some bytes.
 *
 * @behind Copies of the value, each padded to a multiple of 128 bytes. Without
 * `single_reader` there are two: value number `v` lies in copy `v mod 2`. With
 * it there are three, and `state` names them.
 */
export const SNAPSHOT = {
  /** Kind and layout version. */
  magic: 0,
  /** Bytes of the value, a multiple of 4. */
  size: 1,
  /** 1 if there is one reader. */
  single_reader: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * How many values were written. With `single_reader`:
   * bits 0-1: the middle copy
   * bits 2-3: the reader's copy
   * bit 4: NEW: the middle copy is newer than the reader's
   * bits 5-31: how many values were written, modulo 2^27
   * @writer the writer, and a single reader
   */
  state: 32,
  /**
   * The agent that writes, from its first value on, or 0.
   * @writer the writer, and the agent that abandons it
   */
  writer: 33,
  /**
   * With `single_reader`, the agent that reads, from its first look on, or 0.
   * @writer the reader, and the agent that abandons it
   */
  reader: 34,
  length: 64,
} as const;

/** The bits in the words of {@linkcode SNAPSHOT}. */
export const SNAPSHOT_BITS = {
  MIDDLE: [0, 1],
  FRONT: [2, 3],
  NEW: 4,
  VERSION: [5, 31],
  OWNER: [0, 27],
} as const;

/**
 * An allocator of blocks of one size.
 *
 * @behind A bit for each block, 1 if the block is probably not free. Then an
 * owner for each block: 0 while it is free, or the id of the agent that
 * allocated it, with bit 28 set while it lies in the cache of that agent. Then
 * the blocks. Each of the three begins at a multiple of 32 words.
 */
export const SLAB_POOL = {
  /** Kind and layout version. */
  magic: 0,
  /** How many blocks there are. */
  capacity: 1,
  /** Bytes of a block, a multiple of 4. */
  block_size: 2,
  /** Check word over the configuration. */
  seal: 3,
  length: 32,
} as const;

/** The bits in the words of {@linkcode SLAB_POOL}. */
export const SLAB_POOL_BITS = {
  CACHED: 28,
} as const;

/**
 * A map from keys to values.
 *
 * @behind 32 event counts, an epoch and a count of waiters each: agents wait on
 * that of the five highest bits of the hash of a key. Then a pair of words for
 * each of up to 256 values that agents are making, padded to a multiple of 32
 * words: the id of the agent, or 0; and the hash of the key, 1 for a hash of 0.
 * Then a bit for each entry, 1 if the entry is probably not free, padded to a
 * multiple of 32 words. Then the buckets, four words each: the two words of a
 * mutex; `version`, which changes after each step that readers must notice; and
 * `head`, the number of the first entry, counted from 1, or 0. Then the
 * entries. An entry has `link`: 0 while it is free; bit 31 and the id of the
 * agent that fills it; or bit 30 and the number of the next entry, or 0. Then
 * the hash of the key. Then, if a value may have more than one word, `current`,
 * which changes by 1 with each value: its lowest bit is the number of the copy
 * that counts, 0 or 1. Then, in a cache, `used`: 1 if the entry was used since
 * the hand passed it, or 0. Then the key, and the value or its two copies. What
 * may differ in length begins with its length in bytes. If entries expire, a
 * value has two copies, and the last word of each is `expires`: the time of day
 * in milliseconds, modulo 2^32, from which on it counts no longer. A cache has
 * eight stripes behind its entries, each of 32 words, from a multiple of 32
 * words on: hits, misses and evictions, each as two words of a stripe of a
 * `striped_counter`. A map with a heap has at its end, from a multiple of 32
 * words on, a bit for each block, 1 if the block is probably not free, padded
 * to a multiple of 32 words, and then the blocks. A block has `owner`: 0 while
 * it is free, or the number of the bucket to which its key or value belongs,
 * counted from 1; then the number of the next block of that, counted from 1, or
 * 0; then its bytes. An entry whose key or value has more bytes than fit there
 * has the number of the first block instead of the bytes.
 */
export const HASH_MAP = {
  /** Kind and layout version. */
  magic: 0,
  /** How many entries there are. */
  capacity: 1,
  /**
   * bits 0-11: the most bytes of a key in an entry
   * bits 12-27: the most bytes of a value in an entry
   * bit 28: keys differ in length
   * bit 29: values differ in length
   * bit 30: it is a cache, which evicts entries
   * bit 31: its entries expire
   */
  sizes: 2,
  /** Check word over the configuration. */
  seal: 3,
  /**
   * bits 0-7: the codec of the keys, as in a channel
   * bits 8-15: the codec of the values
   */
  codecs: 4,
  /** A number that tells apart keys with different fields; or 0. */
  key_shape: 5,
  /** The same for values. */
  value_shape: 6,
  /** The lower half of the seed of the hash. */
  seed_low: 7,
  /** The upper half. */
  seed_high: 8,
  /**
   * For how many milliseconds a value counts at most; 0 if entries do not
   * expire.
   */
  ttl: 9,
  /**
   * How many blocks the heap has; 0 if the map has no heap, as are the next
   * four words.
   */
  blocks: 10,
  /** The words of a block. */
  block_words: 11,
  /** The most bytes of a value; 0 if all values lie in their entries. */
  longest: 12,
  /** Check word over the other words of the heap. */
  heap_seal: 13,
  /** The most bytes of a key; 0 if all keys lie in their entries. */
  longest_key: 14,
  /**
   * Entries and blocks that the hand of the clock has passed, modulo 2^32; 0 in
   * a map that is not a cache.
   * @writer any agent
   */
  hand: 16,
  /**
   * Where there may be room, if there is little: which word of the bits of
   * entries.
   * @writer any agent
   */
  room: 17,
  /**
   * bit 0: no entry is free
   * bit 1: an agent looks whether one is, or has looked
   * bits 2-31: changes when an entry is freed meanwhile
   * @writer any agent
   */
  full: 18,
  length: 32,
} as const;

/** The bits in the words of {@linkcode HASH_MAP}. */
export const HASH_MAP_BITS = {
  KEY_SIZE: [0, 11],
  VALUE_SIZE: [12, 27],
  KEY_VARIES: 28,
  VALUE_VARIES: 29,
  EVICTS: 30,
  EXPIRES: 31,
  CLAIMED: 31,
  LINKED: 30,
  NEXT: [0, 29],
  FULL: 0,
  LOOKED: 1,
} as const;

/**
 * A sum that many agents add to.
 *
 * @behind Stripes of 32 words each. A stripe has `low`, the sum of the numbers
 * added there, modulo 2^32, and `high`, that sum divided by 2^28. A carry into
 * `high` may be late.
 */
export const STRIPED_COUNTER = {
  /** Kind and layout version. */
  magic: 0,
  /** How many stripes there are, 1 to 1024. */
  stripes: 1,
  /** Check word over the configuration. */
  seal: 2,
  /**
   * Views, or threads of C, that took a stripe, modulo 2^32.
   * @writer any agent
   */
  claims: 3,
  length: 32,
} as const;
