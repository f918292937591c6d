/**
 * Where the parts of a map lie, and the hash of a key.
 *
 * @module
 */

/** The words of a bucket; the lock has two. */
export const VERSION = 2, HEAD = 3, BUCKET = 4;
/** The words of an entry. */
export const LINK = 0, HASH = 1, CURRENT = 2;
/** The words of a stripe of counts: each count has two. */
export const HITS = 0, MISSES = 2, EVICTIONS = 4, STRIPE = 32;
/** How many stripes a cache has, a power of 2. */
export const STRIPES = 8;

export const FREE = 0;
/** With the id of the agent that fills the entry. */
export const CLAIMED_BIT = -0x8000_0000; // HASH_MAP_BITS.CLAIMED
export const LINKED_BIT = 0x4000_0000; // HASH_MAP_BITS.LINKED
export const NEXT_MASK = 0x3fff_ffff; // HASH_MAP_BITS.NEXT
/** In the word `full`. */
export const FULL_BIT = 1; // HASH_MAP_BITS.FULL
export const LOOKED_BIT = 2; // HASH_MAP_BITS.LOOKED

/** How many event counts there are, and the most flights. */
const GROUPS = 32, MOST_FLIGHTS = 256;

/** Where the parts of a map lie, in words. */
export interface Plan {
  /** How many entries there are. */
  readonly capacity: number;
  /** The first word of the event counts, and of the flights: see `waits.ts`. */
  readonly waits: number;
  readonly flights: number;
  /** How many flights there are. */
  readonly flightCount: number;
  /** The first word of the bits, of the buckets, and of the entries. */
  readonly bits: number;
  readonly buckets: number;
  readonly entries: number;
  /** How many buckets there are, a power of 2. */
  readonly bucketCount: number;
  /** The words of a key. */
  readonly keyWords: number;
  /** The words of a value, or of one of its two copies. */
  readonly valueWords: number;
  /** Whether entries expire; then `expires` is the last word of a copy. */
  readonly expires: boolean;
  /** Whether the map is a cache; then `used` is the word before the key. */
  readonly evicts: boolean;
  /** The words of an entry before its key. */
  readonly key: number;
  /** The words of an entry. */
  readonly stride: number;
  /** The first word of the stripes of a cache. */
  readonly stripes: number;
  /** The words of all. */
  readonly length: number;
}

/** Where the heap of a map lies, in words: see `heap.ts`. */
export interface HeapPlan {
  /** How many blocks there are, and the words of one. */
  readonly count: number;
  readonly blockWords: number;
  /** The most bytes of a value; 0 if all values lie in their entries. */
  readonly longest: number;
  /** The same of keys. */
  readonly longestKey: number;
  /** The most bytes of a value that lies in its entry. */
  readonly inEntry: number;
  /** The first word of the bits, and of the blocks. */
  readonly bits: number;
  readonly blocks: number;
  /** The words of the map with its heap. */
  readonly length: number;
}

/** Lays out a heap behind a map of `end` words. */
export function heapFor(
  end: number,
  count: number,
  blockWords: number,
  longest: number,
  longestKey: number,
  inEntry: number,
): HeapPlan {
  const bits = Math.ceil(end / 32) * 32;
  const blocks = bits + Math.ceil(count / 1024) * 32;
  const length = blocks + count * blockWords;
  return {
    count,
    blockWords,
    longest,
    longestKey,
    inEntry,
    bits,
    blocks,
    length,
  };
}

/** Lays out a map of `capacity` entries behind a head of `head` words. */
export function planFor(
  head: number,
  capacity: number,
  keyWords: number,
  valueWords: number,
  evicts = false,
  expires = false,
): Plan {
  if (expires) valueWords++;
  const waits = head;
  const flights = waits + 2 * GROUPS;
  const flightCount = Math.min(capacity, MOST_FLIGHTS);
  const bits = flights + Math.ceil(flightCount / 16) * 32;
  const buckets = bits + Math.ceil(capacity / 1024) * 32;
  const most = Math.max(capacity - (capacity >> 2), 1);
  const bucketCount = 1 << 31 - Math.clz32(most);
  const entries = buckets + bucketCount * BUCKET;
  const isLong = valueWords > 1;
  const key = (isLong ? 3 : 2) + (evicts ? 1 : 0);
  const stride = key + keyWords + valueWords * (isLong ? 2 : 1);
  const end = entries + capacity * stride;
  const stripes = Math.ceil(end / STRIPE) * STRIPE;
  const length = evicts ? stripes + STRIPES * STRIPE : end;
  return {
    capacity,
    waits,
    flights,
    flightCount,
    bits,
    buckets,
    entries,
    bucketCount,
    keyWords,
    valueWords,
    expires,
    evicts,
    key,
    stride,
    stripes,
    length,
  };
}

/** The epoch of the event count for a hash. */
export function epochFor({ waits }: Plan, hash: number): number {
  return waits + (hash >>> 27) * 2; // 32 groups
}

/**
 * A number that depends on the words and on the seed: HalfSipHash-1-3 without
 * its last block, as a key tells its length itself.
 */
export function hashOf(
  low: number,
  high: number,
  words: Int32Array,
  count: number,
): number {
  let v0 = low;
  let v1 = high;
  let v2 = 0x6c79_6765 ^ low;
  let v3 = 0x7465_6462 ^ high;
  for (let i = 0; i < count + 3; i++) {
    const word = i < count ? words[i]! : 0;
    if (i === count) v2 ^= 0xff;
    v3 ^= word;
    v0 = v0 + v1 | 0;
    v1 = (v1 << 5 | v1 >>> 27) ^ v0;
    v0 = v0 << 16 | v0 >>> 16;
    v2 = v2 + v3 | 0;
    v3 = (v3 << 8 | v3 >>> 24) ^ v2;
    v0 = v0 + v3 | 0;
    v3 = (v3 << 7 | v3 >>> 25) ^ v0;
    v2 = v2 + v1 | 0;
    v1 = (v1 << 13 | v1 >>> 19) ^ v2;
    v2 = v2 << 16 | v2 >>> 16;
    v0 ^= word;
  }
  return v1 ^ v3;
}
