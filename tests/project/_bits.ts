/**
 * The bits of words, as `layout.ts` names them, in the constants of both
 * languages.
 *
 * @module
 */

import * as layout from "../../primitives/_memory/layout.ts";

/** The file that names them. */
export const SOURCE = "primitives/_memory/layout.ts";

/** A constant of bits, which names its row and its fields in a comment. */
export const BITS =
  /^((?:export )?const (\w+)(?:: number)?) = [^;]*; \/\/ ([A-Z_]+)_BITS\.(.*)$/gm;
export const C_BITS = /^(#define (\w+)) .* \/\* ([A-Z_]+)_BITS\.(.*) \*\/$/gm;

/** The bits of each row that has any: one, or the first and the last. */
export const bitsOf: Readonly<
  Record<string, Record<string, number | readonly [number, number]>>
> = Object.fromEntries(
  Object.entries(layout).filter(([name]) => name.endsWith("_BITS"))
    .map(([name, bits]) => [name.slice(0, -5), { ...bits as object }]),
);

/**
 * What a constant with this name says of fields of a row: a mask, or its lowest
 * bit, where it begins, or its greatest value.
 */
export function measured(name: string, row: string, fields: string) {
  const [names, shifted] = fields.split(", ") as [string, string?];
  const ends = names.split(" | ").map((field) => {
    const bits = bitsOf[row]?.[field];
    if (bits === undefined) {
      throw new Error(`${SOURCE}: no ${row}_BITS.${field}`);
    }
    return typeof bits === "number" ? [bits, bits] as const : bits;
  });
  const first = Math.min(...ends.map(([begin]) => begin));
  const last = Math.max(...ends.map(([, end]) => end));
  if (ends.reduce((sum, [a, b]) => sum + b - a + 1, 0) !== last - first + 1) {
    throw new Error(`${SOURCE}: ${row}_BITS.${fields} are not side by side`);
  }
  const is = (word: string) => RegExp(`(^|_)${word}(_|$)`).test(name);
  if (is("SHIFT")) return { value: first, decimal: true };
  if (is("ONE")) return { first, last: first };
  return shifted !== undefined || is("MAX")
    ? { first: 0, last: last - first }
    : { first, last };
}

type Measured = ReturnType<typeof measured>;

/** A number as TypeScript writes it: a 32-bit integer. */
export function inTypeScript(m: Measured): string {
  if ("value" in m) return `${m.value}`;
  const value = m.last === 31
    ? -(2 ** m.first)
    : 2 ** (m.last + 1) - 2 ** m.first;
  const digits = Math.abs(value).toString(16);
  if (Math.abs(value) <= 64) return `${value}`;
  const hex = digits.length <= 4
    ? digits
    : digits.padStart(8, "0").replace(/(?=.{4}$)/, "_");
  return `${value < 0 ? "-" : ""}0x${hex}`;
}

/** The same as C writes it. */
export function inC(m: Measured): string {
  if ("value" in m) return `${m.value}`;
  const { first, last } = m;
  if (last === 31) return first === 31 ? "INT32_MIN" : `(-(1 << ${first}))`;
  const ones = 2 ** (last - first + 1) - 1;
  const text = ones < 10 ? `${ones}` : `0x${ones.toString(16)}`;
  return first === 0 ? text : `(${text} << ${first})`;
}

/** The text of a module with the bits that its constants name. */
export const withBits = (text: string): string =>
  text.replace(BITS, (whole, begin, name, row, fields) => {
    const value = inTypeScript(measured(name, row, fields));
    return `${begin} = ${value}; ${whole.slice(whole.indexOf("// "))}`;
  });

/** The text of a header with the bits that its constants name. */
export const withBitsInC = (text: string): string =>
  text.replace(C_BITS, (whole, begin, name, row, fields) => {
    const value = inC(measured(name, row, fields));
    return `${begin} ${value} ${whole.slice(whole.indexOf("/* "))}`;
  });
