/**
 * The type of a codec, and the numbers by which a channel names it in shared
 * memory.
 *
 * @module
 */

import { describe } from "./_describe.ts";
import type { Field } from "./_record.ts";

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
 * A codec of this library, which works anywhere in the channel's memory: no view
 * is made for it.
 */
export interface PlacedCodec<T> extends Codec<T> {
  /** As `encode`, into up to `room` bytes of `memory` from `at` on. */
  encodeAt(value: T, memory: Uint8Array, at: number, room: number): number;
  /** As `decode`, from `length` bytes of `memory` at `at`. */
  decodeAt(memory: Uint8Array, at: number, length: number): T;
}

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

/** The numbers of codecs in a channel's head. Sized ones come last. */
export const CODEC = {
  binary: 1,
  text: 2,
  json: 3,
  i32: 4,
  f64: 5,
  record: 6,
  structured: 7,
  own: 8,
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
    : describe(value);
  const where = path.map((key) => `[${JSON.stringify(key)}]`).join("");
  return new TypeError(
    `Cannot send this as ${codec}: ${why}: received ${received}` +
      (where === "" ? "" : ` at ${where}`),
  );
}

/** A number that depends on the text (FNV-1a); it is never 0. */
export function hash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash | 1;
}
