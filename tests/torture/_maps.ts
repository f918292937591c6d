/**
 * The keys and values of the maps that are tortured.
 *
 * @module
 */
import { codec } from "../../mod.ts";

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

/** The keys that agents have to themselves, an agent each fourth. */
export const OWNED = 60;
/** The keys that all agents of a crowd use. */
export const SHARED = 1000;

/** A key as text, of one length or another. */
export const keyOf = (key: number): string =>
  "warp".slice(0, key % 5) + String(key);

/** Value number `n` of a key. A word at its end depends on all that is before. */
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
