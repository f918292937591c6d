/**
 * Turns values that code under test observes into hashes, keys and text.
 *
 * @module
 */

/** One step of the first 32-bit hash. */
export function mix1(hash: number, value: number): number {
  const h = Math.imul(hash ^ value, 0x9e3779b1);
  return h ^ (h >>> 15);
}

/** One step of the second 32-bit hash, independent of the first. */
export function mix2(hash: number, value: number): number {
  const h = Math.imul((hash + value) ^ 0x85ebca6b, 0xc2b2ae35);
  return h ^ (h >>> 13);
}

/** A value as 32 bits. */
export function bits(value: unknown): number {
  return isInt32(value) ? value : bitsBy(mix1, value);
}

/**
 * A value as other 32 bits, for the second hash: two values that are alike in
 * one of them are not alike in both.
 */
export function bits2(value: unknown): number {
  return isInt32(value) ? value : bitsBy(mix2, value);
}

const isInt32 = (value: unknown): value is number =>
  typeof value === "number" && (value | 0) === value &&
  (value !== 0 || 1 / value > 0);

function bitsBy(mix: typeof mix1, value: unknown): number {
  switch (typeof value) {
    case "undefined":
      return 0x1234567;
    case "boolean":
      return value ? 0x2345671 : 0x3456712;
    case "bigint": {
      if (BigInt.asIntN(64, value) !== value) break;
      const low = Number(BigInt.asIntN(32, value));
      return mix(mix(0x4567123, low), Number(value >> 32n));
    }
    case "number":
      return hashText(mix, 11, show(value));
    case "string":
      return hashText(mix, 13, value);
  }
  return hashText(mix, 17, String(keyOf(value)));
}

/** The text's hash. */
function hashText(mix: typeof mix1, begin: number, text: string): number {
  let hash = begin;
  for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i));
  return hash;
}

/**
 * A key that is the same for equal values. A primitive is its own key;
 * everything else is turned into text. If they are `ordered`, values with the
 * same entries in another order are not equal: code may depend on it.
 */
export function keyOf(
  value: unknown,
  ordered = false,
  leaf: (value: unknown) => string = show,
): unknown {
  if (typeof value === "object" && value !== null) {
    return `o${textOf(value, ordered, leaf)}`;
  }
  if (typeof value === "string") return `s${value}`;
  return typeof value === "function" ? `f${value.name}` : value;
}

/** The key of an answer: 0 and -0 are one answer, alone and within others. */
export const keyOfAnswer = (value: unknown): unknown =>
  keyOf(value, false, (part) => part === 0 ? "0" : show(part));

/** Text that is the same for equal values, whichever was made first. */
function textOf(
  value: unknown,
  ordered: boolean,
  leaf: (value: unknown) => string,
  within: readonly object[] = [],
): string {
  if (typeof value !== "object" || value === null) return leaf(value);
  if (within.includes(value)) return `^${within.indexOf(value)}`;
  const outer = [...within, value];
  const inner = (v: unknown) => textOf(v, ordered, leaf, outer);
  const join = (texts: string[]) => (ordered ? texts : texts.sort()).join();
  if (Array.isArray(value)) return `[${value.map(inner).join(", ")}]`;
  if (value instanceof Error) return show(value);
  const isMap = value instanceof Map;
  if (isMap || value instanceof Set) {
    return `${isMap ? "Map" : "Set"} [${join([...value].map(inner))}]`;
  }
  const other = opaque(value);
  if (other !== undefined) return inner(other);
  return `{${
    join(Object.entries(value).map(([k, v]) => `${show(k)}: ${inner(v)}`))
  }}`;
}

/** What an object holds that has no entries, or elements of its own. */
function opaque(value: object): unknown {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag.endsWith("Array")) return [...value as Iterable<unknown>];
  if (tag.endsWith("ArrayBuffer")) {
    return [...new Uint8Array(value as ArrayBuffer)];
  }
  if (tag === "Date") return `Date ${Number(value)}`;
  if (tag === "RegExp") return String(value);
}

/** A value as a person would write it. */
export function show(value: unknown, depth = 0): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "bigint":
      return `${value}n`;
    case "function":
      return `function ${value.name}`;
    case "object":
      break;
    default:
      return Object.is(value, -0) ? "-0" : String(value);
  }
  if (value === null) return "null";
  if (depth > 6) return "...";
  const inner = (v: unknown) => show(v, depth + 1);
  if (Array.isArray(value)) return `[${value.map(inner).join(", ")}]`;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Map || value instanceof Set) {
    return `${value.constructor.name} ${inner([...value])}`;
  }
  const other = opaque(value);
  if (other !== undefined) return inner(other);
  const rows = Object.entries(value).map(([k, v]) => `${k}: ${inner(v)}`);
  return rows.length === 0 ? "{}" : `{ ${rows.join(", ")} }`;
}

/** A small repeatable source of random numbers (xorshift32). */
export class Random {
  #state: number;

  /** Starts the sequence of `seed`. */
  constructor(seed: number) {
    this.#state = (Math.imul(seed, 2654435761) ^ 0x9e3779b9) | 0 || 1;
    for (let i = 0; i < 4; i++) this.next();
  }

  /** 32 random bits. */
  next(): number {
    let s = this.#state;
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    this.#state = s;
    return s >>> 0;
  }

  /** An integer from 0 to `n - 1`. */
  below(n: number): number {
    return this.next() % n;
  }

  /** A number from 0 to 1, without 1. */
  unit(): number {
    return this.next() / 4294967296;
  }
}
