/**
 * Keys and values of the threads that share a map: some lie in entries, and
 * others in up to five blocks.
 *
 * @module
 */
import { codec } from "../../primitives/channel.ts";

/** The codecs. */
export const CODECS = { key: codec.text, value: codec.text };

/** The bytes that a block has for a key or value. */
export const BODY = 16;

/**
 * The most bytes of a key that lies in its entry; of a value; of longer ones.
 */
export const IN_ENTRY = { key: 12, value: 20 } as const;
export const LONGEST = 80;

/** Keys that one agent writes, and in all: the others are everybody's. */
export const OWNED = 240, KEYS = 320;

/** A key: its number is at the end. */
export function nameOf(key: number): string {
  const length = key % 4 === 0 ? 0 : 8 + key % 5 * 16; // up to 72
  return "/".repeat(length) + String(key);
}

/** Value number `n` of a key. Its last letters depend on both. */
export function textOf(key: number, n: number): string {
  const mixed = Math.imul(key ^ n, 0x9e37_79b9) >>> 0;
  return `${n} `.padEnd(n % 60, ".") + String(mixed);
}

/** The number of a value of this key; undefined if it is torn. */
export function numberIn(key: number, value: string): number | undefined {
  const n = parseInt(value);
  return value === textOf(key, n) ? n : undefined;
}

/** How many blocks a key and its value have. */
export function blocksOf(name: string, value: string): number {
  const blocks = (text: string, inEntry: number) =>
    text.length <= inEntry ? 0 : Math.ceil(text.length / BODY);
  return blocks(name, IN_ENTRY.key) + blocks(value, IN_ENTRY.value);
}
