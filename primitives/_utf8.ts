/**
 * Text as UTF-8 in shared memory. It uses the fastest function of the platform.
 *
 * @module
 */

/** The part of Node's `Buffer` that is used here. Deno and Bun have it, too. */
interface NodeBuffer {
  toString(encoding: "utf8", start: number, end: number): string;
}

interface Platform {
  readonly Buffer?: {
    from(buffer: ArrayBufferLike, at: number, length: number): NodeBuffer;
  };
}

let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;
/** Whether `encodeInto` and `decode` have refused shared memory so far. */
let encodesPrivate = false;
let decodesPrivate = false;

/** Up to this many characters a loop is faster than the platform's function. */
const SHORT = 12;

/** The most bytes of a `Buffer`, which is a limit of Node. */
const MOST = 0x7fffffff;

/**
 * Writes `text` to the beginning of `into`. Returns how many bytes it has, or a
 * larger number than `into` has, if it does not fit; then some of it may have
 * been written. The text must be well-formed.
 */
export function writeUtf8(text: string, into: Uint8Array): number {
  return writeUtf8At(text, into, 0, into.length);
}

/** The same, into up to `room` bytes of `memory` from `at` on. */
export function writeUtf8At(
  text: string,
  memory: Uint8Array,
  at: number,
  room: number,
): number {
  const { length } = text;
  if (length <= SHORT && length <= room) {
    let i = 0;
    for (let code; i < length && (code = text.charCodeAt(i)) < 128; i++) {
      memory[at + i] = code;
    }
    if (i === length) return length;
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

/** Node's buffers over shared memory, and the one used last. */
let buffers: WeakMap<ArrayBufferLike, NodeBuffer> | undefined;
let last: ArrayBufferLike | undefined;
let lastBuffer: NodeBuffer | undefined;

/** Reads the text by Node's `Buffer`; undefined if the platform has none. */
function readByBuffer(
  memory: ArrayBufferLike,
  at: number,
  length: number,
): string | undefined {
  if (memory !== last) {
    const { Buffer } = globalThis as Platform;
    if (typeof Buffer?.from !== "function") return undefined;
    if (memory.byteLength > MOST) {
      return Buffer.from(memory, at, length).toString("utf8", 0, length);
    }
    buffers ??= new WeakMap();
    lastBuffer = buffers.get(memory);
    if (lastBuffer === undefined) {
      lastBuffer = Buffer.from(memory, 0, memory.byteLength);
      buffers.set(memory, lastBuffer);
    }
    last = memory;
  }
  return lastBuffer!.toString("utf8", at, at + length);
}

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
  if (length <= SHORT) {
    let text = "";
    let i = 0;
    for (let code; i < length && (code = memory[at + i]!) < 128; i++) {
      text += String.fromCharCode(code);
    }
    if (i === length) return text;
  }
  const fast = readByBuffer(memory.buffer, memory.byteOffset + at, length);
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
  const text = decoder.decode(bytes.slice());
  decodesPrivate = true;
  return text;
}
