/**
 * The type of a codec, and the numbers by which a channel names it in shared
 * memory.
 *
 * @module
 */

import { brief, describe } from "../_memory/describe.ts";
import type { Field } from "./record_fields.ts";

/**
 * Turns values into messages, and messages into values. To write your own
 * codec, make an object with these three members.
 */
export interface Codec<T> {
  /**
   * The codec's name. An agent can attach to a channel only with a codec of the
   * same name, so put the version of your messages into the name.
   */
  readonly name: string;
  /**
   * Writes `value` to the beginning of `into`, which is part of the channel's
   * memory or of a private array. Returns how many bytes it wrote. If `into` is
   * too short, it returns how many bytes it needs, and is called again. If it
   * throws, `send` throws the same error, and nothing is sent.
   */
  encode(value: T, into: Uint8Array): number;
  /**
   * Reads a value from all of `bytes`. They are shared memory that is valid
   * only until this returns, so copy the bytes that the value keeps.
   */
  decode(bytes: Uint8Array): T;
}

/**
 * A codec of this library, which works anywhere in the channel's memory: no
 * view is made for it.
 */
export interface PlacedCodec<T> extends Codec<T> {
  /** As `encode`, into up to `room` bytes of `memory` from `at` on. */
  encodeAt(value: T, memory: Uint8Array, at: number, room: number): number;
  /** As `decode`, from `length` bytes of `memory` at `at`. */
  decodeAt(memory: Uint8Array, at: number, length: number): T;
}

/** The names of objects, in memory that agents share: a `ShapeTable`. */
export interface SharedShapes {
  /** The number of a shape, which is added; below 0 if it is not. */
  add(text: Uint8Array, insists: boolean): number;
  /** A copy of the text of a shape. */
  textAt(number: number): Uint8Array<ArrayBuffer> | undefined;
}

/** A codec that can keep the names of objects in shared memory. */
export interface ShapedCodec<T> extends PlacedCodec<T> {
  /** The same codec with that memory. */
  over(shapes: SharedShapes): PlacedCodec<T>;
}

/** Whether the codec can keep the names of objects in shared memory. */
export const isShaped = <T>(codec: Codec<T>): codec is ShapedCodec<T> =>
  typeof (codec as Partial<ShapedCodec<T>>).over === "function";

/** A codec whose messages all have the same size. C knows these codecs, too. */
export interface SizedCodec<T> extends Codec<T> {
  /**
   * Its number in a channel's head.
   *
   * @internal
   */
  readonly id: number;
  /**
   * The number that tells records of different fields apart, or 0.
   *
   * @internal
   */
  readonly shape: number;
  /**
   * Checks and copies a message.
   *
   * @internal
   */
  readonly field: Field;
}

/** The numbers of codecs in a channel's head. */
export const CODEC = {
  binary: 1,
  text: 2,
  json: 3,
  i32: 4,
  f64: 5,
  record: 6,
  structured: 7,
  own: 8,
  value: 9,
} as const;

/** The error that says why `value` cannot be sent. */
export function refusal(
  codec: string,
  value: unknown,
  why: string,
  path: readonly (string | number)[] = [],
): TypeError {
  const received = typeof value === "function" || typeof value === "symbol"
    ? typeof value
    : named(value);
  const where = path.map((key) => `[${describe(key)}]`).join("");
  return new TypeError(
    `Cannot encode this as ${brief(codec)}: ${why}: received ${received}` +
      (where === "" ? "" : ` at ${brief(where)}`),
  );
}

/** Names a value, and an object by its class. */
function named(value: unknown): string {
  const text = describe(value);
  if (text !== "[object Object]") return text;
  const { name } = Object.getPrototypeOf(value)?.constructor ?? {};
  return typeof name === "string" && name !== "Object"
    ? `an instance of ${brief(name)}`
    : text;
}

/**
 * The answer of a codec, which a user may have written.
 *
 * @throws {TypeError} If it cannot be a number of bytes.
 */
export function lengthOf<T>(codec: Codec<T>, length: number): number {
  if (Number.isSafeInteger(length) && length >= 0) return length;
  throw new TypeError(
    `The codec ${
      brief(codec.name)
    } must return how many bytes it wrote: received ` +
      describe(length),
  );
}

/** Calls a codec, which a user may have written, and checks its answer. */
export function encoded<T>(
  codec: Codec<T>,
  value: T,
  into: Uint8Array,
): number {
  return lengthOf(codec, codec.encode(value, into));
}

/** How many times a codec may ask for more bytes than it got. */
const TRIES = 8;

/**
 * The bytes that `encode` writes, in an array of their own. `length` is how
 * many it asked for before. A codec of a user's may ask for more again; it is
 * called a few times, because one with a mistake would ask for ever.
 *
 * @throws {TypeError} If it still asks for more.
 */
export function encodeWhole(
  codec: string,
  length: number,
  encode: (into: Uint8Array<ArrayBuffer>) => number,
): Uint8Array<ArrayBuffer> {
  let bytes = new Uint8Array(length);
  for (let tries = TRIES;; tries--) {
    const needed = encode(bytes);
    if (needed <= bytes.length) return bytes.subarray(0, needed);
    if (tries === 0) {
      throw new TypeError(
        `The codec ${
          brief(codec)
        } asks for more bytes each time: last for ${needed} ` +
          `instead of ${bytes.length}`,
      );
    }
    bytes = new Uint8Array(needed);
  }
}

/** A number that depends on the text (FNV-1a); it is never 0. */
export function hash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash | 1;
}
