/**
 * What a codec is, and how a channel names it in shared memory.
 *
 * @module
 */

import { describe } from "./_describe.ts";
import type { Field } from "./_record.ts";

/**
 * How values become messages, and messages values. A codec of your own is an
 * object with these three members.
 */
export interface Codec<T> {
  /**
   * Its name. A channel can only be attached to with a codec of the name that
   * it was made with, so put the version of your messages into it.
   */
  readonly name: string;
  /**
   * Writes `value` to the beginning of `into`, which is part of the channel's
   * memory, or of a private array. Returns how many bytes it wrote. If `into`
   * is too short, it returns how many bytes it needs, and is called again.
   * What it throws, `send` throws, and nothing is sent.
   */
  encode(value: T, into: Uint8Array): number;
  /**
   * Reads a value from all of `bytes`, which are shared memory that is only
   * valid until it returns: what it keeps must be copied.
   */
  decode(bytes: Uint8Array): T;
}

/** A codec whose messages all have one size, which C knows, too. */
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
   * How a message is checked and copied.
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

/** Says why `value` cannot be sent. */
export function refusal(
  codec: string,
  value: unknown,
  why: string,
  path: readonly (string | number)[] = [],
): TypeError {
  const received = typeof value === "function" || typeof value === "symbol"
    ? typeof value
    : typeof value === "string"
    ? value
    : describe(value).replace(/^(-?\d+)n$/, "$1");
  const where = path.map((key) => `[${JSON.stringify(key)}]`).join("");
  return new TypeError(
    `Cannot send this as ${codec}: ${why}: received ${received}` +
      (where === "" ? "" : ` at ${where}`),
  );
}

/** A number for a text (FNV-1a), which is not 0. */
export function hash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash | 1;
}
