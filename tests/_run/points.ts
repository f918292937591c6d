/**
 * Code points for strings made by fast-check.
 *
 * @module
 */
import fc from "./property.ts";

/** Code points from here on, as many as there are surrogates, are none. */
const SURROGATES = 0xd800;
const COUNT = 0x800;

/**
 * A code point, with the same chances as in fast-check's unit "binary". That
 * one fills a table with all of them when a string is first declared, in every
 * process: it takes a second and 90 MB.
 */
export const codePoint: fc.Arbitrary<string> = fc.nat(0x10ffff - COUNT)
  .map(pointAt, indexOf);

function pointAt(index: number): string {
  return String.fromCodePoint(index < SURROGATES ? index : index + COUNT);
}

function indexOf(point: unknown): number {
  const code = typeof point === "string" ? point.codePointAt(0) : undefined;
  if (code !== undefined) {
    const index = code < SURROGATES ? code : code - COUNT;
    if (pointAt(index) === point) return index;
  }
  throw new TypeError("It is no code point");
}
