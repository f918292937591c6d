/**
 * The keys and values of the maps that are tortured.
 *
 * @module
 */
import { codec, type HashMap } from "../../mod.ts";
import { heapIn } from "../../primitives/_map/config.ts";
import { wordsOf } from "../_run/model.ts";

/** The codecs. */
export const CODECS = { key: codec.text, value: codec.text };

/** The bytes that a block of a heap has for a value. */
const BODY = 24;
/** The most bytes of a value: what four blocks hold. */
export const LONGEST = 4 * BODY;

/** A heap with room for `count` of the longest values. */
export const heapFor = (count: number) => ({
  valueSize: LONGEST,
  heap: { bytes: count * 4 * (BODY + 8), blockSize: BODY + 8, inEntry: 36 },
});

/** The most bytes of a key that lies in its entry, and of a longer one. */
const SHORT_KEY = 12, LONG_KEY = 110;

/** The same heap, with room for keys in `more` blocks. */
export function heapForKeys(count: number, more: number) {
  const { valueSize, heap } = heapFor(count);
  const bytes = heap.bytes + more * heap.blockSize;
  const keyInEntry = SHORT_KEY;
  return { valueSize, keySize: LONG_KEY, heap: { ...heap, bytes, keyInEntry } };
}

/** How many blocks of a heap are not free, or seem not to be; 0 without one. */
export function blocksUsed<K, V>(map: HashMap<K, V>): number {
  const words = wordsOf(map);
  const heap = heapIn(words);
  let used = 0;
  for (let i = 0; i < (heap?.count ?? 0); i++) {
    const { bits, blocks, blockWords } = heap!;
    const isSet = words[bits + (i >> 5)]! >>> (i & 31) & 1;
    if (words[blocks + i * blockWords] !== 0 || isSet !== 0) used++;
  }
  return used;
}

/** The keys that agents have to themselves, an agent each fourth. */
export const OWNED = 60;
/** The keys that all agents of a crowd use. */
export const SHARED = 1000;

/** A key as text, of one length or another. */
const keyOf = (key: number): string => "warp".slice(0, key % 5) + String(key);

/** The same; two of three do not fit into an entry. */
function longKeyOf(key: number): string {
  let text = keyOf(key);
  if (key % 3 === 0) return text;
  const end = SHORT_KEY + key % 7 * 16; // to 108
  for (let word = key; text.length <= end;) {
    word = Math.imul(word, 1664525) + 1013904223 | 0;
    text += String.fromCharCode(97 + (word >>> 16) % 26);
  }
  return text;
}

/** How the keys of a map are made. */
export const keysOf = <V>(map: HashMap<string, V>): (key: number) => string =>
  map.keySize === LONG_KEY ? longKeyOf : keyOf;

/** The number of a key; undefined if it is torn. */
export function numberOfKey(
  name: string,
  nameOf: (key: number) => string,
): number | undefined {
  const key = Number(/^[warp]*(\d+)/.exec(name)?.[1]);
  return key >= 0 && nameOf(key) === name ? key : undefined;
}

/**
 * Value number `n` of a key. A word at its end depends on all that is before.
 */
export function valueOf(key: number, n: number): string {
  let word = Math.imul(key, 0x9e37_79b9) ^ n;
  let text = `${key} ${n}`;
  for (let i = n % 6; i >= 0; i--) {
    word = Math.imul(word, 1664525) + 1013904223 | 0;
    text += ` ${(word ^ word >>> 15) >>> 0}`;
  }
  return text;
}

/** The number of a value of this key; undefined if it is torn. */
export function numberOf(key: number, value: string): number | undefined {
  const n = Number(value.split(" ", 2)[1]);
  return value === valueOf(key, n) ? n : undefined;
}

/** A number from 0 to n - 1 by a seed, which it changes. */
export function randomBelow(seed: { now: number }, n: number): number {
  seed.now = Math.imul(seed.now, 1664525) + 1013904223 | 0;
  return (seed.now >>> 8) % n;
}

/** The sums of how popular the keys up to each one are, by Zipf's law. */
const SUMS = new Float64Array(SHARED);
for (let i = 0, sum = 0; i < SHARED; i++) SUMS[i] = sum += 1 / (i + 1);

/** One of the first `most` keys: the first one is the most popular. */
export function pick(seed: { now: number }, most: number): number {
  const point = randomBelow(seed, 1 << 24) / (1 << 24) * SUMS[most - 1]!;
  let [low, high] = [0, most - 1];
  while (low < high) {
    const half = low + high >> 1;
    if (SUMS[half]! <= point) low = half + 1;
    else high = half;
  }
  return low;
}
