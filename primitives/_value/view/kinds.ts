/**
 * What the first byte of a value says.
 *
 * @module
 */

import {
  ARRAY,
  BIGINT,
  BOXED,
  BUFFER,
  FEW,
  HOLES,
  NUMBERS_1,
  NUMBERS_4,
  NUMBERS_8,
  OWN_SHAPE,
  REFERENCE,
  REGEXP,
  RESIZABLE,
  SET,
} from "../tags.ts";

/** What a value is, in the words of {@linkcode ValueView.type}. */
export type ValueType =
  | "undefined"
  | "null"
  | "boolean"
  | "number"
  | "string"
  | "bigint"
  | "array"
  | "object"
  | "date"
  | "regexp"
  | "map"
  | "set"
  | "buffer"
  | "view"
  | "error"
  | "boxed";

/** The types of values by their first bytes, from 0xe0 to 0xfb. */
// deno-fmt-ignore
const TYPES: readonly (ValueType | undefined)[] = [
  "undefined", "null", "boolean", "boolean", "number", "number", "string",
  "string", "array", "array", "array", "array", undefined, "object", "object",
  "object", undefined, "bigint", "date", "regexp", "map", "set", "buffer",
  "view", "error", "boxed", "string", "buffer",
];

/** The type of the value that begins with `tag`. */
export function typeOf(tag: number): ValueType {
  if (tag < 0x40) return "number";
  if (tag < 0x80) return "string";
  if (tag < 0xc0) return "object";
  if (tag < 0xd0) return "array";
  return tag < 0xe0 ? "object" : TYPES[tag - 0xe0]!;
}

/** Bytes of a number in an array whose items have no first byte, or 0. */
export const packedBy = (tag: number): 0 | 1 | 4 | 8 =>
  tag === NUMBERS_1 ? 1 : tag === NUMBERS_4 ? 4 : tag === NUMBERS_8 ? 8 : 0;

/** Whether references can name what begins with `tag`. */
export const isObject = (tag: number): boolean =>
  tag >= 0x80 && tag < 0xe0 || tag === RESIZABLE ||
  tag >= ARRAY && tag <= BOXED && tag !== HOLES && tag !== REFERENCE &&
    tag !== BIGINT;

/** Whether it is an ArrayBuffer. */
export const isBuffer = (tag: number): boolean =>
  tag === BUFFER || tag === RESIZABLE;

/** Whether it has items, which have numbers. */
export const hasItems = (tag: number): boolean =>
  isArray(tag) || tag === SET || tag === REGEXP || tag === BOXED;

/** Whether items of it may be missing. */
export const isArray = (tag: number): boolean =>
  tag >= FEW && tag < OWN_SHAPE || tag >= ARRAY && tag <= NUMBERS_8;
