/**
 * The configuration of a map: which codecs it has, and how large its entries
 * are.
 *
 * @module
 */

import { values } from "../_value/codec.ts";
import type { HASH_MAP } from "../_memory/layout.ts";
import { brief, describe } from "../_memory/describe.ts";
import { assertOptions } from "../_memory/options.ts";
import { assertConfig, inRange, sealOf } from "../_memory/region.ts";
import type { CodecOf, StructuredOf } from "../_message/codec.ts";
import { CODEC, type Codec } from "../_message/message.ts";
import { fixedSize, wordsOfCodec } from "./cell.ts";
import { heapFor, type HeapPlan, type Plan, planFor } from "./plan.ts";

const CAPACITY: typeof HASH_MAP.capacity = 1;
const SIZES: typeof HASH_MAP.sizes = 2;
const CODECS: typeof HASH_MAP.codecs = 4;
const KEY_SHAPE: typeof HASH_MAP.key_shape = 5;
const VALUE_SHAPE: typeof HASH_MAP.value_shape = 6;
const SEED_LOW: typeof HASH_MAP.seed_low = 7;
const SEED_HIGH: typeof HASH_MAP.seed_high = 8;
const TTL: typeof HASH_MAP.ttl = 9;
const BLOCKS: typeof HASH_MAP.blocks = 10;
const BLOCK_WORDS: typeof HASH_MAP.block_words = 11;
const LONGEST: typeof HASH_MAP.longest = 12;
const HEAP_SEAL: typeof HASH_MAP.heap_seal = 13;
const LONGEST_KEY: typeof HASH_MAP.longest_key = 14;
const HEAD: typeof HASH_MAP.length = 32;

const MAX_KEY = 0xfff; // HASH_MAP_BITS.KEY_SIZE
const VALUE_SHIFT = 12; // HASH_MAP_BITS.VALUE_SIZE
const MAX_VALUE = 0xffff;
const KEY_VARIES_BIT = 0x1000_0000; // HASH_MAP_BITS.KEY_VARIES
const VALUE_VARIES_BIT = 0x2000_0000; // HASH_MAP_BITS.VALUE_VARIES
const EVICTS_BIT = 0x4000_0000; // HASH_MAP_BITS.EVICTS
const EXPIRES_BIT = -0x8000_0000; // HASH_MAP_BITS.EXPIRES

/** The most bytes of all entries together. */
const MAX_BYTES = 0x4000_0000; // 2^30
/** The longest time that a value counts, in milliseconds: 12 days. */
export const MAX_TTL = 0x4000_0000;
/** The most bytes of a key or value that lies in blocks. */
const MAX_LONG = 0x10_0000; // 2^20
/** The most words of a block. */
const MAX_BLOCK = 16384;
/** The bytes of a block, and of a value in an entry beside a heap. */
const BLOCK_SIZE = 128, IN_ENTRY = 32;
/** The most bytes of a key or value that may differ in length. */
const KEY_SIZE = 32, VALUE_SIZE = 128;

/** The codecs of a map. */
export interface HashMapCodecs<K, V> {
  /**
   * Turns keys into bytes: `valueCodec` unless given. Keys are equal if their
   * bytes are.
   */
  readonly key?: CodecOf<K> | undefined;
  /** Turns values into bytes: `valueCodec` unless given. */
  readonly value?: CodecOf<V> | undefined;
  /**
   * Whether this view remembers where it found keys that are texts or numbers
   * of 32 bits, up to 4096 of them; true unless given. It then finds them
   * several times as fast, and needs up to 200 KB of its own memory, and the
   * texts.
   */
  readonly remember?: boolean | undefined;
}

/**
 * The codecs that must be given, because `valueCodec` does not carry the types.
 */
export type HashMapTypes<K, V> =
  & ([K] extends [StructuredOf<K>] ? unknown : { readonly key: CodecOf<K> })
  & ([V] extends [StructuredOf<V>] ? unknown : { readonly value: CodecOf<V> });

/**
 * The heap of a map: where keys and values lie that are too long for an entry.
 */
export interface HashMapHeap {
  /**
   * The bytes of all blocks together, up to 2^30. There must be room for one
   * value of `valueSize` bytes and, with `keyInEntry`, its key of `keySize`.
   */
  readonly bytes: number;
  /**
   * The bytes of a block, a multiple of 4 from 12 to 65536; 128 unless given. 8
   * of them are not for keys and values. Each takes whole blocks.
   */
  readonly blockSize?: number | undefined;
  /**
   * The most bytes of a value that lies in its entry, which reserves twice as
   * many; 32 unless given. A longer one lies in blocks.
   */
  readonly inEntry?: number | undefined;
  /**
   * The most bytes of a key that lies in its entry, 1 to 4095. A longer one
   * lies in blocks. All keys lie in their entries unless given.
   */
  readonly keyInEntry?: number | undefined;
}

/** The configuration of a map. */
export interface HashMapConfig<K, V> extends HashMapCodecs<K, V> {
  /** How many entries fit: 1 to 2^30 / the bytes of an entry. */
  readonly capacity: number;
  /**
   * The most bytes of a key, 1 to 4095; 32 unless given. With `keyInEntry` of a
   * heap, up to 2^20; 4095 unless given. Only for codecs whose keys differ in
   * length, such as `codec.text`.
   */
  readonly keySize?: number | undefined;
  /**
   * The same for values, 1 to 65535; 128 unless given. With a heap, up to 2^20;
   * 65535 unless given.
   */
  readonly valueSize?: number | undefined;
  /**
   * Decides which keys share a bucket, 0 to 2^32 - 1. Random unless given, so
   * that nobody can choose keys that are slow to find.
   */
  readonly seed?: number | undefined;
  /**
   * What a full map does with a new key. `"clock"` makes it a cache: an entry
   * is taken out that was not used lately. A full map refuses the key unless
   * given.
   */
  readonly evict?: "clock" | undefined;
  /**
   * For how many milliseconds an entry of a cache counts after it was written,
   * 1 to 2^30; for ever unless given. `set` may give a value less. Agents count
   * by the time of day.
   */
  readonly ttl?: number | undefined;
  /**
   * Where keys and values lie that are too long for an entry; all lie in
   * entries unless given. Only for codecs whose messages differ in length.
   */
  readonly heap?: HashMapHeap | undefined;
}

/** The names in a configuration. */
export const NAMES: readonly string[] = [
  "key",
  "value",
  "remember",
  "capacity",
  "keySize",
  "valueSize",
  "seed",
  "evict",
  "ttl",
  "heap",
];

/**
 * How many blocks a heap has, the words of one, and the most bytes of a value
 * and of a key in blocks; 0 if none is there.
 */
type HeapWords = readonly [
  blocks: number,
  blockWords: number,
  longest: number,
  longestKey: number,
];

/** The words of a map that has no heap. */
const NO_HEAP: HeapWords = [0, 0, 0, 0];

/** A check word over the words of a heap. */
const sealOfHeap = (
  [blocks, blockWords, longest, longestKey]: HeapWords,
): number =>
  sealOf(blocks, blockWords, longest) ^ Math.imul(longestKey, 0x85eb_ca6b);

/** The sizes that the word `sizes` holds. */
export interface Sizes {
  /** The most bytes of a key. */
  readonly keySize: number;
  /** The most bytes of a value. */
  readonly valueSize: number;
  /** Whether keys differ in length. */
  readonly keyVaries: boolean;
  /** Whether values differ in length. */
  readonly valueVaries: boolean;
  /** Whether the map is a cache. */
  readonly evicts: boolean;
  /** Whether entries expire. */
  readonly expires: boolean;
}

/** The sizes that the word `sizes` holds. */
function sizesOf(sizes: number): Sizes {
  return {
    keySize: sizes & MAX_KEY,
    valueSize: sizes >> VALUE_SHIFT & MAX_VALUE,
    keyVaries: (sizes & KEY_VARIES_BIT) !== 0,
    valueVaries: (sizes & VALUE_VARIES_BIT) !== 0,
    evicts: (sizes & EVICTS_BIT) !== 0,
    expires: (sizes & EXPIRES_BIT) !== 0,
  };
}

/** The codecs of the keys and of the values; checks them. */
export function codecsOf<K, V>(
  { key, value }: HashMapCodecs<K, V>,
): [key: Codec<K>, value: Codec<V>] {
  return [
    codecOf("key", key as Codec<K> | undefined),
    codecOf("value", value as Codec<V> | undefined),
  ];
}

/** Writes the codecs, the seed, `ttl` and the heap into the head of a map. */
export function writeHead<K, V>(
  head: Int32Array,
  config: HashMapConfig<K, V>,
  heap: HeapWords,
): void {
  const { seed, ttl = 0 } = config;
  const [key, value] = codecsOf<K, V>(config);
  const keys = wordsOfCodec(key);
  const values = wordsOfCodec(value);
  head[CODECS] = keys.id | values.id << 8;
  head[KEY_SHAPE] = keys.shape;
  head[VALUE_SHAPE] = values.shape;
  head[SEED_LOW] = seed ?? randomWord();
  head[SEED_HIGH] = seed === undefined ? randomWord() : ~seed;
  head[TTL] = ttl;
  if (heap[0] === 0) return;
  head.set(heap.slice(0, 3), BLOCKS);
  head[HEAP_SEAL] = sealOfHeap(heap);
  head[LONGEST_KEY] = heap[3];
}

function randomWord(): number {
  return typeof crypto === "undefined" // an AudioWorklet has no `crypto`
    ? Math.random() * 2 ** 32 | 0
    : crypto.getRandomValues(new Int32Array(1))[0]!;
}

/** The codec that was given for keys or values; checks that it is one. */
function codecOf<T>(what: string, given: Codec<T> | undefined): Codec<T> {
  const codec = given === undefined ? values as unknown as Codec<T> : given;
  if (
    typeof codec === "object" && codec !== null &&
    typeof codec.name === "string" && codec.name !== "" &&
    typeof codec.encode === "function" && typeof codec.decode === "function"
  ) return codec;
  throw new TypeError(
    `The ${what} of a hash_map must be a codec: received ${describe(codec)}`,
  );
}

/** Checks that the map with this head has these codecs. */
export function assertSame<K, V>(
  head: Int32Array,
  key: Codec<K>,
  value: Codec<V>,
): void {
  const codecs = head[CODECS]!;
  const sizes = head[SIZES]!;
  const { keySize, valueSize } = sizesOf(sizes);
  assertSide("keys", key, codecs & 0xff, head[KEY_SHAPE]!, keySize);
  assertSide("values", value, codecs >>> 8, head[VALUE_SHAPE]!, valueSize);
}

function assertSide<T>(
  what: string,
  codec: Codec<T>,
  theirs: number,
  shape: number,
  size: number,
): void {
  const own = wordsOfCodec(codec);
  const fixed = fixedSize(codec);
  if (own.id !== theirs || fixed !== undefined && fixed !== size) {
    const name = Object.entries(CODEC).find(([, n]) => n === theirs)?.[0];
    throw new TypeError(
      `Cannot attach a hash_map: its ${what} are ${
        name ?? `codec ${theirs}`
      } ` +
        `of ${size} bytes, not ${brief(codec.name)}`,
    );
  }
  // C code that does not know the shape leaves it 0.
  if (shape === own.shape || shape === 0) return;
  throw new TypeError(
    own.id === CODEC.own
      ? `Cannot attach a hash_map: the codec of its ${what} is not named ` +
        describe(codec.name)
      : `Cannot attach a hash_map: its ${what} have other fields`,
  );
}

/** The words of a configuration, once it is checked. */
export function checked<K, V>(
  config: HashMapConfig<K, V>,
): [capacity: number, sizes: number, heap: HeapWords] {
  assertConfig("hash_map", config, NAMES);
  const { capacity, seed = 0, evict, ttl } = config;
  const [key, value] = codecsOf<K, V>(config);
  inRange("The seed of a map", seed, 0, 2 ** 32 - 1);
  if (evict !== undefined && evict !== "clock") {
    throw new TypeError(
      `evict must be "clock" or undefined: received ${describe(evict)}`,
    );
  }
  if (ttl !== undefined) {
    inRange("The ttl of a cache", ttl, 1, MAX_TTL);
    if (evict === undefined) {
      throw new TypeError(
        `ttl is for a map with evict: "clock": received ${ttl}`,
      );
    }
  }
  const fixedKey = fixedSize(key);
  const fixedValue = fixedSize(value);
  const heap = config.heap === undefined
    ? undefined
    : heapOf(config.heap, config, fixedKey, fixedValue);
  const keySize = heap?.keyInEntry ??
    sizeOf("keySize", config.keySize, fixedKey, KEY_SIZE);
  const valueSize = heap?.inEntry ??
    sizeOf("valueSize", config.valueSize, fixedValue, VALUE_SIZE);
  inRange("The bytes of a key", keySize, 1, MAX_KEY);
  inRange("The bytes of a value", valueSize, 1, MAX_VALUE);
  const sizes = keySize | valueSize << VALUE_SHIFT |
    (fixedKey === undefined ? KEY_VARIES_BIT : 0) |
    (fixedValue === undefined ? VALUE_VARIES_BIT : 0) |
    (evict === undefined ? 0 : EVICTS_BIT) |
    (ttl === undefined ? 0 : EXPIRES_BIT);
  planOf(capacity, sizes);
  return [capacity, sizes, heap?.words ?? NO_HEAP];
}

/**
 * The words of a heap, and the most bytes of what lies in an entry beside it.
 */
interface HeapSizes {
  readonly words: HeapWords;
  /** Undefined if all values lie in entries. */
  readonly inEntry: number | undefined;
  /** The same of keys. */
  readonly keyInEntry: number | undefined;
}

function heapOf(
  heap: HashMapHeap,
  { keySize = MAX_KEY, valueSize = MAX_VALUE }: {
    readonly keySize?: number | undefined;
    readonly valueSize?: number | undefined;
  },
  fixedKey: number | undefined,
  fixedValue: number | undefined,
): HeapSizes {
  assertOptions(heap, ["bytes", "blockSize", "inEntry", "keyInEntry"]);
  const { bytes, blockSize = BLOCK_SIZE, keyInEntry } = heap;
  const hasKeys = keyInEntry !== undefined;
  if (hasKeys ? fixedKey !== undefined : fixedValue !== undefined) {
    throw new TypeError(
      `${hasKeys ? "keyInEntry" : "heap"} is for a codec whose messages ` +
        "differ in length",
    );
  }
  const { inEntry: most = IN_ENTRY } = heap;
  const isShort = hasKeys && (fixedValue !== undefined || valueSize <= most);
  const inEntry = isShort ? undefined : most;
  inRange("The bytes of a block", blockSize, 12, 4 * MAX_BLOCK);
  if (blockSize % 4 !== 0) {
    throw new RangeError(
      `The bytes of a block must be a multiple of 4: received ${blockSize}`,
    );
  }
  inRange("The bytes of a value in its entry", most, 1, MAX_VALUE);
  if (hasKeys) {
    inRange("The bytes of a key in its entry", keyInEntry, 1, MAX_KEY);
  }
  inRange("The bytes of a heap", bytes, blockSize, MAX_BYTES);
  const words = [
    Math.floor(bytes / blockSize),
    blockSize / 4,
    inEntry === undefined ? 0 : valueSize,
    hasKeys ? keySize : 0,
  ] as const;
  assertHeap(words, keyInEntry ?? 0, inEntry ?? 0);
  return { words, inEntry, keyInEntry };
}

/** Checks that a heap has room for a key and a value of any length. */
function assertHeap(
  [blocks, blockWords, longest, longestKey]: HeapWords,
  keyInEntry: number,
  inEntry: number,
): void {
  inRange("The words of a block", blockWords, 3, MAX_BLOCK);
  inRange("The blocks of a heap", blocks, 1, MAX_BYTES / 4 / blockWords);
  if (longestKey !== 0) {
    inRange("The bytes of a key", longestKey, keyInEntry + 1, MAX_LONG);
  }
  if (longest !== 0 || longestKey === 0) {
    inRange("The bytes of a value", longest, inEntry + 1, MAX_LONG);
  }
  const body = (blockWords - 2) * 4;
  const forKey = Math.ceil(longestKey / body);
  inRange("The blocks that the longest key takes", forKey, 0, blocks);
  const room = (blocks - forKey) * body;
  inRange("The valueSize of a map with this heap", longest, 0, room);
}

/** Where the heap lies that the head of a map describes; undefined if none. */
export function heapIn(head: Int32Array): HeapPlan | undefined {
  const plan = planOf(head[CAPACITY]!, head[SIZES]!);
  const words: HeapWords = [
    head[BLOCKS]!,
    head[BLOCK_WORDS]!,
    head[LONGEST]!,
    head[LONGEST_KEY]!,
  ];
  const seal = words.some((word) => word !== 0) ? sealOfHeap(words) : 0;
  if (head[HEAP_SEAL] !== seal) {
    throw new RangeError("the words of the heap do not match their seal");
  }
  if (seal === 0 && words[0] === 0) return undefined;
  const { keySize, keyVaries, valueSize, valueVaries } = plan;
  const [, , longest, longestKey] = words;
  assertHeap(words, keySize, valueSize);
  const varies = (longest === 0 || valueVaries) &&
    (longestKey === 0 || keyVaries);
  inRange("A heap for what differs in length", +varies, 1, 1);
  return heapFor(plan.length, ...words, valueSize);
}

/** The words of a map with this head. */
export const lengthIn = (head: Int32Array): number =>
  heapIn(head)?.length ?? planOf(head[CAPACITY]!, head[SIZES]!).length;

/** The words of a map of this configuration, once it is checked. */
export function lengthOf(
  capacity: number,
  sizes: number,
  heap: HeapWords,
): number {
  const { length, valueSize } = planOf(capacity, sizes);
  return heap[0] === 0 ? length : heapFor(length, ...heap, valueSize).length;
}

/** How many bytes of an entry's key or value there are. */
function sizeOf(
  name: string,
  given: number | undefined,
  fixed: number | undefined,
  otherwise: number,
): number {
  if (fixed === undefined) return given ?? otherwise;
  if (given === undefined) return fixed;
  throw new TypeError(
    `${name} is for a codec whose messages differ in length: received ` +
      describe(given),
  );
}

/** The sizes, and where the parts lie, once the configuration is checked. */
export function planOf(capacity: number, sizes: number): Sizes & Plan {
  const all = sizesOf(sizes);
  const { keySize, valueSize, keyVaries, valueVaries, evicts, expires } = all;
  // Below 0 are those whose entries expire: these are caches.
  inRange("The word `sizes`", sizes, -(2 ** 30), 2 ** 31 - 1);
  inRange("The bytes of a key", keySize, 1, MAX_KEY);
  inRange("The bytes of a value", valueSize, 1, MAX_VALUE);
  const plan = (capacity: number) =>
    planFor(
      HEAD,
      capacity,
      (keyVaries ? 1 : 0) + Math.ceil(keySize / 4),
      (valueVaries ? 1 : 0) + Math.ceil(valueSize / 4),
      evicts,
      expires,
    );
  const most = Math.floor(MAX_BYTES / (4 * plan(1).stride));
  inRange("The capacity of a map", capacity, 1, most);
  return { ...all, ...plan(capacity) };
}
