/**
 * Text as UTF-8 in shared memory. It uses the fastest function of the platform.
 *
 * @module
 */

import { setting } from "../_memory/explored.ts";

/** The part of Node's `Buffer` that is used here. Deno and Bun have it, too. */
interface NodeBuffer {
  toString(encoding: "utf8", start: number, end: number): string;
  /** As `toString`, without its checks. */
  utf8Slice?(start: number, end: number): string;
  /** The same for text of which each byte is one character. */
  latin1Slice?(start: number, end: number): string;
  /** Writes the low byte of each character. */
  latin1Write?(text: string, at: number, room: number): number;
  /**
   * Writes whole characters into up to `room` bytes; returns how many bytes.
   */
  utf8Write?(text: string, at: number, room: number): number;
}

interface Platform {
  readonly Buffer?: {
    from(buffer: ArrayBufferLike, at: number, length: number): NodeBuffer;
  };
  readonly Deno?: unknown;
}

let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;
/** Whether `encodeInto` and `decode` have refused shared memory so far. */
let encodesPrivate = false;
let decodesPrivate = false;

/** Up to this many characters a loop is faster than the platform's function. */
const SHORT_CHARACTERS = 12;

/** From this many bytes on, reading Latin-1 tries the platform's function. */
const LONG_BYTES = 64;

/** The most bytes of a `Buffer`, which is a limit of Node. */
const MOST_BYTES = 0x7fffffff;

/**
 * Writes `text` to the beginning of `into`. Returns how many bytes it has, or a
 * larger number than `into` has, if it does not fit; then some of it may have
 * been written. The text must be well-formed.
 */
export function writeUtf8(text: string, into: Uint8Array): number {
  return writeUtf8At(text, into, 0, into.length);
}

/**
 * What is not Latin-1. V8 keeps most texts of Latin-1 as bytes, and then knows
 * without a look that the pattern does not match.
 */
const WIDE = /[^\0-\xff]/;

/**
 * Writes a long text into `memory` at `at`, one byte for each character, if the
 * platform is faster so, and the text is Latin-1; false otherwise. There must
 * be room.
 */
export function writeLatin1At(
  text: string,
  memory: Uint8Array,
  at: number,
): boolean {
  const buffer = writing.over(memory);
  if (buffer?.latin1Write === undefined || WIDE.test(text)) return false;
  buffer.latin1Write(text, writing.base + at, text.length);
  return true;
}

/** The same, into up to `room` bytes of `memory` from `at` on. */
export function writeUtf8At(
  text: string,
  memory: Uint8Array,
  at: number,
  room: number,
): number {
  const { length } = text;
  if (length <= SHORT_CHARACTERS && length <= room) {
    let i = 0;
    for (let code; i < length && (code = text.charCodeAt(i)) < 128; i++) {
      memory[at + i] = code;
    }
    if (i === length) return length;
  }
  const buffer = writing.over(memory);
  if (buffer?.utf8Write !== undefined) {
    const written = buffer.utf8Write(text, writing.base + at, room);
    // It stops at the first character that does not fit, of at most 4 bytes.
    return written <= room - 4 || 3 * length <= room ? written : 3 * length;
  }
  // Made at its first use, because an AudioWorklet has no TextEncoder.
  encoder ??= new TextEncoder();
  if (!encodesPrivate) {
    try {
      const into = memory.subarray(at, at + room);
      const { read, written } = encoder.encodeInto(text, into);
      return read === length ? written : 3 * length;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      encodesPrivate = true;
    }
  }
  const bytes = encoder.encode(text);
  if (bytes.length <= room) memory.set(bytes, at);
  return bytes.length;
}

/** A buffer whose length may change, where the platform has such. */
interface Resizable {
  readonly byteLength: number;
  readonly resizable?: boolean;
  readonly growable?: boolean;
}

/** Node's buffers, by their memory. */
let buffers: WeakMap<ArrayBufferLike, NodeBuffer> | undefined;

/** Finds the platform's buffer over an array; mostly the same array again. */
class Access {
  readonly #isUsed: () => boolean;
  #array: Uint8Array | undefined;
  #length = 0;
  #buffer: NodeBuffer | undefined;
  /** Where the array begins in the buffer. */
  base = 0;

  constructor(isUsed: () => boolean) {
    this.#isUsed = isUsed;
  }

  /** The buffer; undefined if the platform has none, or a slow one. */
  over(array: Uint8Array): NodeBuffer | undefined {
    const { length } = array; // which may change if its buffer is resizable
    if (array !== this.#array || length !== this.#length) {
      this.#array = array;
      this.#length = length;
      this.#buffer = this.#isUsed() ? this.#find(array) : undefined;
    }
    return this.#buffer;
  }

  #find({ buffer, byteOffset, byteLength }: Uint8Array): NodeBuffer {
    const { Buffer } = globalThis as Platform;
    this.base = 0;
    const { resizable, growable } = buffer as Resizable;
    if (resizable || growable || buffer.byteLength > MOST_BYTES) {
      return Buffer!.from(buffer, byteOffset, byteLength);
    }
    this.base = byteOffset;
    buffers ??= new WeakMap();
    let found = buffers.get(buffer);
    if (found === undefined) {
      found = Buffer!.from(buffer, 0, buffer.byteLength);
      buffers.set(buffer, found);
    }
    return found;
  }
}

/**
 * Whether text goes through Node's `Buffer` where there is one. The race tester
 * cannot see what a `Buffer` reads, so its agents do without.
 */
export const usage = /* @__PURE__ */ setting(
  { buffers: true },
  { buffers: false },
);

const isThere = () =>
  usage.buffers &&
  typeof (globalThis as Platform).Buffer?.from === "function";
const reading: Access = /* @__PURE__ */ new Access(isThere);
/** In Deno, `encodeInto` is faster. */
const writing: Access = /* @__PURE__ */ new Access(() =>
  isThere() && (globalThis as Platform).Deno === undefined
);

/**
 * Reads UTF-8 from shared or private memory. A byte order mark is part of the
 * text.
 *
 * @throws {TypeError} If it is not UTF-8.
 */
export function readUtf8(bytes: Uint8Array): string {
  return readUtf8At(bytes, 0, bytes.length);
}

/** The same, from `length` bytes of `memory` at `at`. */
export function readUtf8At(
  memory: Uint8Array,
  at: number,
  length: number,
): string {
  if (length <= SHORT_CHARACTERS) {
    let text = "";
    let i = 0;
    for (let code; i < length && (code = memory[at + i]!) < 128; i++) {
      text += String.fromCharCode(code);
    }
    if (i === length) return text;
  }
  const buffer = reading.over(memory);
  const from = reading.base + at;
  const fast = buffer?.utf8Slice?.(from, from + length) ??
    buffer?.toString("utf8", from, from + length);
  // `Buffer` replaces invalid bytes by U+FFFD. If there is one, look closer.
  if (fast !== undefined && !fast.includes("\ufffd")) return fast;
  decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const bytes = memory.subarray(at, at + length);
  if (!decodesPrivate) {
    try {
      return decoder.decode(bytes);
    } catch {
      // Either shared memory is refused, or this is not UTF-8; decoding a copy
      // tells.
    }
  }
  try {
    const text = decoder.decode(bytes.slice());
    decodesPrivate = true;
    return text;
  } catch {
    throw new TypeError("The encoded text is not UTF-8");
  }
}

/** Reads text of which each byte is one character. */
export function readLatin1At(
  memory: Uint8Array,
  at: number,
  length: number,
): string {
  const buffer = reading.over(memory);
  const from = reading.base + at;
  const fast = buffer?.latin1Slice?.(from, from + length);
  if (fast !== undefined) return fast;
  let text = length > LONG_BYTES ? asciiAt(memory, at, length) : undefined;
  if (text !== undefined) return text;
  text = "";
  for (let i = at; i < at + length; i += LONG_BYTES) {
    const some = memory.subarray(i, Math.min(i + LONG_BYTES, at + length));
    text += String.fromCharCode(...some);
  }
  return text;
}

/** The same, if each byte is ASCII. */
function asciiAt(
  memory: Uint8Array,
  at: number,
  length: number,
): string | undefined {
  try {
    const text = readUtf8At(memory, at, length);
    // Other characters have several bytes in UTF-8.
    return text.length === length ? text : undefined;
  } catch {
    return undefined; // it is not UTF-8
  }
}
