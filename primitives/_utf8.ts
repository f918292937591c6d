/**
 * Text as UTF-8 in shared memory, by the quickest way that a platform has.
 *
 * @module
 */

/** What is needed of Node's `Buffer`, which Deno and Bun have, too. */
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
/** Whether `encodeInto` and `decode` refuse shared memory, as far as seen. */
let encodesPrivate = false;
let decodesPrivate = false;

/** Up to so many characters a loop is quicker than a call of the platform. */
const SHORT = 12;

/** A longer memory is not made one buffer: Node has a limit. */
const MOST = 0x7fffffff;

/**
 * Writes `text` to the beginning of `into`. Returns how many bytes it has, or a
 * larger number than `into` has, if it does not fit; then some of it may have
 * been written. The text must be well-formed.
 */
export function writeUtf8(text: string, into: Uint8Array): number {
  const { length } = text;
  if (length <= SHORT && length <= into.length) {
    let i = 0;
    for (let code; i < length && (code = text.charCodeAt(i)) < 128; i++) {
      into[i] = code;
    }
    if (i === length) return length;
  }
  // Made when first used, because an AudioWorklet has none.
  encoder ??= new TextEncoder();
  if (!encodesPrivate) {
    try {
      const { read, written } = encoder.encodeInto(text, into);
      return read === length ? written : 3 * length;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      encodesPrivate = true;
    }
  }
  const bytes = encoder.encode(text);
  if (bytes.length <= into.length) into.set(bytes);
  return bytes.length;
}

/** Shared memory as Node's buffers, and the one that came last. */
let buffers: WeakMap<ArrayBufferLike, NodeBuffer> | undefined;
let last: ArrayBufferLike | undefined;
let lastBuffer: NodeBuffer | undefined;

/** The text at these bytes, by Node's `Buffer`; undefined where it is missing. */
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
 * The text that UTF-8 of any memory says. A byte order mark is part of the
 * text.
 *
 * @throws {TypeError} If it is no UTF-8.
 */
export function readUtf8(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length <= SHORT) {
    let text = "";
    let i = 0;
    for (let code; i < length && (code = bytes[i]!) < 128; i++) {
      text += String.fromCharCode(code);
    }
    if (i === length) return text;
  }
  const fast = readByBuffer(bytes.buffer, bytes.byteOffset, length);
  // It puts U+FFFD for what is no UTF-8: then we look closer.
  if (fast !== undefined && !fast.includes("\ufffd")) return fast;
  decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  if (!decodesPrivate) {
    try {
      return decoder.decode(bytes);
    } catch {
      // Shared memory is refused, or it is no UTF-8: the copy will tell.
    }
  }
  const text = decoder.decode(bytes.slice());
  decodesPrivate = true;
  return text;
}
