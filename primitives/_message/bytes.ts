/**
 * Long copies of bytes, to and from shared memory. V8 copies shared bytes 8 at
 * a time, and one by one if the two sides have different offsets modulo 8.
 * Node's `Buffer` copies them as fast as private bytes.
 *
 * @module
 */

import { usage } from "./utf8.ts";

/** The part of Node's `Buffer` that is used here. */
interface NodeBuffer {
  readonly prototype: {
    /** Repeats `value` from `from` to `to`; here it has just that length. */
    fill(value: Uint8Array, from: number, to: number): unknown;
  };
  /** Throws if `value` is not an array of the platform's own. */
  byteLength(value: Uint8Array): number;
  /** An array that is not cleared, in a buffer of its own. */
  allocUnsafeSlow(length: number): Uint8Array<ArrayBuffer>;
}

interface Platform {
  readonly Buffer?: NodeBuffer;
  readonly Deno?: unknown;
  readonly Bun?: unknown;
}

/** From this many bytes on, Node's function is faster. */
const LONG_BYTES = 8192;

/** Node's `Buffer`, if it copies this many bytes faster than V8 does. */
export function faster(length: number): NodeBuffer | undefined {
  if (length < LONG_BYTES || !usage.buffers) return undefined;
  const { Buffer, Deno, Bun } = globalThis as Platform;
  return Deno === undefined && Bun === undefined ? Buffer : undefined;
}

/** Copies all of `src` to `dst` from `at` on. */
export function copyBytes(
  src: Uint8Array,
  dst: Uint8Array,
  at: number,
): void {
  const { length } = src;
  const Buffer = faster(length);
  if (Buffer === undefined) return dst.set(src, at);
  try {
    Buffer.byteLength(src);
    Buffer.prototype.fill.call(dst, src, at, at + length);
  } catch {
    dst.set(src, at); // one of them stands in for an array, as a Proxy does
  }
}

/** A private copy of `length` bytes of `memory` at `at`. */
export function copyOf(
  memory: Uint8Array,
  at: number,
  length: number,
): Uint8Array<ArrayBuffer> {
  const src = memory.subarray(at, at + length);
  const Buffer = faster(length);
  // Faster than `slice`, which clears the copy first.
  if (Buffer === undefined) return new Uint8Array(src);
  const { buffer, byteOffset } = Buffer.allocUnsafeSlow(length);
  const copy = new Uint8Array(buffer, byteOffset, length);
  copyBytes(src, copy, 0);
  return copy;
}
