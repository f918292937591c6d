/**
 * Writes BigInts, and arrays of numbers.
 *
 * @module
 */

import type { Output } from "./output.ts";
import { BIGINT, NUMBERS_1 } from "./tags.ts";

/** The bytes of a number if all items are numbers, or 0. */
export function mostOf(array: readonly unknown[]): 0 | 1 | 4 | 8 {
  let most: 1 | 4 | 8 = 1;
  for (let i = 0; i < array.length; i++) {
    const item = array[i];
    if (typeof item !== "number") return 0;
    if ((item | 0) !== item || item === 0 && 1 / item < 0) most = 8;
    else if ((item & 255) !== item && most === 1) most = 4;
  }
  return most;
}

export function putNumbers(
  out: Output,
  array: readonly number[],
  size: 1 | 4 | 8,
): void {
  const { length } = array;
  out.need(5 + length * size);
  out.tagged(NUMBERS_1 + (size >> 2), length); // or NUMBERS_4, or NUMBERS_8
  const { bytes, data, at } = out;
  if (size === 1) {
    for (let i = 0; i < length; i++) bytes[at + i] = array[i]!;
  } else if (size === 4) {
    for (let i = 0; i < length; i++) data.setInt32(at + 4 * i, array[i]!, true);
  } else {
    for (let i = 0; i < length; i++) {
      data.setFloat64(at + 8 * i, array[i]!, true);
    }
  }
  out.at += length * size;
}

/** A BigInt in two's complement, as many groups of 64 bits as it needs. */
export function putBigInt(out: Output, value: bigint): void {
  if (BigInt.asIntN(64, value) === value) {
    out.need(13);
    out.tagged(BIGINT, 1);
    out.data.setBigInt64(out.at, value, true);
    out.at += 8;
    return;
  }
  // In hexadecimal, because shifting all of it for each group is slow.
  const negative = value < 0n;
  const digits = (negative ? ~value : value).toString(16);
  const groups = Math.floor(digits.length / 16) + 1;
  out.need(5 + 8 * groups);
  out.tagged(BIGINT, groups);
  for (let i = 0, end = digits.length; i < groups; i++, end -= 16) {
    const group = BigInt(
      `0x0${digits.slice(Math.max(end - 16, 0), Math.max(end, 0))}`,
    );
    out.data.setBigInt64(out.at + 8 * i, negative ? ~group : group, true);
  }
  out.at += 8 * groups;
}
