/**
 * Short strings of Latin-1.
 *
 * @module
 */

import { readLatin1At } from "../_message/utf8.ts";

/** A string of `n` characters from byte `i` on. */
export function latin1(b: Uint8Array, i: number, n: number): string {
  return n <= 12
    ? short(b, i, n)
    : n <= 24
    ? longer(b, i, n)
    : readLatin1At(b, i, n);
}

/** Up to 12 characters, all at once: parts that are joined are slow to use. */
// deno-fmt-ignore
function short(b: Uint8Array, i: number, n: number): string {
  const f = String.fromCharCode;
  switch (n) {
    case 1: return f(b[i]!);
    case 2: return f(b[i]!, b[++i]!);
    case 3: return f(b[i]!, b[++i]!, b[++i]!);
    case 4: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!);
    case 5: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 6: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 7: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!);
    case 8: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!);
    case 9: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!);
    case 10: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 11: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 12: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
  }
  return "";
}

/** 13 to 24. */
// deno-fmt-ignore
function longer(b: Uint8Array, i: number, n: number): string {
  const f = String.fromCharCode;
  switch (n) {
    case 13: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 14: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 15: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!);
    case 16: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!);
    case 17: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!);
    case 18: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 19: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 20: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 21: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 22: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!);
    case 23: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!);
    case 24: return f(b[i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!, b[++i]!,
      b[++i]!, b[++i]!);
  }
  return "";
}
