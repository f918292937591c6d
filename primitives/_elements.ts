import { describe } from "./_describe.ts";

/** A private or shared array that elements are copied from or into. */
export type Elements =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array
  | DataView;

/**
 * The bytes that `array` has.
 *
 * @throws {TypeError} If it is neither a typed array nor a DataView: a buffer
 * has a `byteLength`, too, but no elements.
 */
export function byteLengthOf(array: Elements): number {
  if (ArrayBuffer.isView(array)) return array.byteLength;
  throw new TypeError(
    `Bytes must be a typed array or a DataView: received ${describe(array)}`,
  );
}

/** The bytes of `array`, seen as such. */
export function bytesOf(array: Elements): Uint8Array {
  if (array instanceof Uint8Array) return array;
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** How elements are copied between shared words and the callers' arrays. */
export type CopyingClass = new (
  words: Int32Array<SharedArrayBuffer>,
) => Copying;

/**
 * Copies elements between shared words and arrays of callers. It keeps a view
 * of the caller's bytes while the same array comes again, so that the usual
 * scratch array costs no allocation. For a Uint8Array the view is made when
 * the array comes for the second time in a row: making it takes longer than
 * one copy.
 */
export abstract class Copying {
  #array: Elements | undefined;
  #byteLength = 0;
  #asWords: Int32Array | undefined;
  /** The bytes of the last array, if it has no words. */
  protected asBytes: Uint8Array | undefined;

  /** Copies words `from ..` of `array` to `count` words at index `at`. */
  abstract put(array: Elements, from: number, at: number, count: number): void;
  /** Copies `count` words at index `at` to words `to ..` of `array`. */
  abstract get(array: Elements, to: number, at: number, count: number): void;

  /** The words of `array`; undefined if `asBytes` is to be copied instead. */
  protected viewOf(array: Elements): Int32Array | undefined {
    const { byteLength } = array;
    // An array over a resizable buffer may have grown since.
    if (array === this.#array && byteLength === this.#byteLength) {
      return this.#asWords;
    }
    if (array !== this.#array && array instanceof Uint8Array) {
      this.asBytes = this.#array = array;
      this.#byteLength = -1; // or its words would not be asked for again
      return this.#asWords = undefined;
    }
    const { buffer, byteOffset } = array;
    this.asBytes = undefined;
    if (array instanceof Int32Array) this.#asWords = array;
    else if (byteOffset % 4 === 0) {
      this.#asWords = new Int32Array(buffer, byteOffset, byteLength >> 2);
    } else {
      this.#asWords = undefined;
      this.asBytes = new Uint8Array(buffer, byteOffset, byteLength);
    }
    this.#array = array;
    this.#byteLength = byteLength;
    return this.#asWords;
  }
}

/** From this many words on, a native copy and its view beat a loop. */
const LONG = 64;
/** The same, for words that are copied as bytes. */
const LONG_AS_BYTES = 16;
/** From this many bytes on, it pays to align them first. */
const LONG_ASKEW = 256;

/** Copies by a loop what is short, and by one native copy what is long. */
export class Copier extends Copying {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  /** Private memory that long copies go through where that is faster. */
  #line: Uint8Array | undefined;
  #lineAsWords: Int32Array | undefined;

  /** Copies from and into `words`. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    super();
    this.#words = words;
    const { buffer, byteOffset, byteLength } = words;
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
  }

  /** Copies words `from ..` of `array` to `count` words at index `at`. */
  override put(array: Elements, from: number, at: number, count: number): void {
    const words = this.#words;
    const source = this.viewOf(array);
    if (source === undefined) {
      this.#copy(this.asBytes!, from * 4, this.#bytes, at * 4, count * 4);
    } else if (count < LONG) {
      for (let i = 0; i < count; i++) words[at + i] = source[from + i]!;
    } else this.#copyLong(source, from, words, at, count);
  }

  /** Copies `count` words at index `at` to words `to ..` of `array`. */
  override get(array: Elements, to: number, at: number, count: number): void {
    const words = this.#words;
    const target = this.viewOf(array);
    if (target === undefined) {
      this.#copy(this.#bytes, at * 4, this.asBytes!, to * 4, count * 4);
    } else if (count < LONG) {
      for (let i = 0; i < count; i++) target[to + i] = words[at + i]!;
    } else this.#copyLong(words, at, target, to, count);
  }

  /** Copies bytes; most often there are few. */
  #copy(
    src: Uint8Array,
    from: number,
    dst: Uint8Array,
    to: number,
    count: number,
  ): void {
    if (count < LONG_AS_BYTES * 4) {
      for (let i = 0; i < count; i++) dst[to + i] = src[from + i]!;
    } else this.#copyLong(src, from, dst, to, count);
  }

  /**
   * Copies many elements. V8 copies to and from shared memory 8 bytes at a
   * time if both sides have the same place within such a word, and otherwise
   * byte by byte. In that case this goes through private memory that has the
   * same place as the shared memory.
   */
  #copyLong<Array extends Uint8Array | Int32Array>(
    src: Array,
    from: number,
    dst: Array,
    to: number,
    count: number,
  ): void {
    const size = src.BYTES_PER_ELEMENT;
    const source = src.subarray(from, from + count);
    const start = source.byteOffset % 8;
    const end = (dst.byteOffset + to * size) % 8;
    if (start === end || count * size < LONG_ASKEW) return dst.set(source, to);
    const shared = src.buffer === this.#words.buffer ? start : end;
    if (this.#line === undefined || this.#line.length < count * size + 8) {
      this.#line = new Uint8Array((count * size + 15) & ~7);
      this.#lineAsWords = new Int32Array(this.#line.buffer);
    }
    const first = shared / size;
    const line = (size === 1 ? this.#line : this.#lineAsWords!)
      .subarray(first, first + count);
    line.set(source);
    dst.set(line, to);
  }
}
