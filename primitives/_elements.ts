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
 * The size of `array`, in bytes.
 *
 * @throws {TypeError} If `array` is neither a typed array nor a DataView. A
 * buffer is refused, although it has a `byteLength`, too.
 */
export function byteLengthOf(array: Elements): number {
  if (ArrayBuffer.isView(array)) return array.byteLength;
  throw new TypeError(
    `Bytes must be a typed array or a DataView: received ${describe(array)}`,
  );
}

/** A view of the bytes of `array`. */
export function bytesOf(array: Elements): Uint8Array {
  if (array instanceof Uint8Array) return array;
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** How elements are copied between shared words and the callers' arrays. */
export type CopyingClass = new (
  words: Int32Array<SharedArrayBuffer>,
) => Copying;

/**
 * Copies elements between shared words and the callers' arrays. A caller
 * usually passes the same array again and again, so this class keeps a view of
 * the last array and need not allocate one each time. For a Uint8Array it makes
 * the view only when the same array comes a second time in a row, because
 * making the view takes longer than one copy.
 */
export abstract class Copying {
  #array: Elements | undefined;
  #byteLength = 0;
  #asWords: Int32Array | undefined;
  /** The bytes of the last array, if they cannot be viewed as words. */
  protected asBytes: Uint8Array | undefined;

  /**
   * Copies `count` words of `array`, from index `from`, to the shared words at
   * `at`.
   */
  abstract put(array: Elements, from: number, at: number, count: number): void;
  /**
   * Copies `count` shared words at `at` to the words of `array` from index
   * `to`.
   */
  abstract get(array: Elements, to: number, at: number, count: number): void;

  /**
   * The words of `array`; undefined if the caller must copy `asBytes` instead.
   */
  protected viewOf(array: Elements): Int32Array | undefined {
    const { byteLength } = array;
    // An array over a resizable buffer may have grown since.
    if (array === this.#array && byteLength === this.#byteLength) {
      return this.#asWords;
    }
    if (array !== this.#array && array instanceof Uint8Array) {
      this.asBytes = this.#array = array;
      this.#byteLength = -1; // so that its words are asked for again
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

/**
 * From this many words on, a native copy is faster than a loop, although it
 * needs a view.
 */
const LONG = 32;
/** The same limit for words that are copied as bytes. */
const LONG_AS_BYTES = 16;
/** From this many bytes on, a copy is faster if the bytes are aligned first. */
const LONG_ASKEW = 256;

/** Copies short elements by a loop, and long ones by one native copy. */
export class Copier extends Copying {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  /** The getter of an array takes longer than a field in Node 20. */
  readonly #buffer: SharedArrayBuffer;
  /** Private memory, used to align long copies. */
  #line: Uint8Array | undefined;
  #lineAsWords: Int32Array | undefined;

  /** `words` is the shared memory to copy from and into. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    super();
    this.#words = words;
    const { buffer, byteOffset, byteLength } = words;
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
    this.#buffer = buffer;
  }

  /**
   * Copies `count` words of `array`, from index `from`, to the shared words at
   * `at`.
   */
  override put(array: Elements, from: number, at: number, count: number): void {
    const words = this.#words;
    const source = this.viewOf(array);
    if (source === undefined) {
      this.#copy(this.asBytes!, from * 4, this.#bytes, at * 4, count * 4);
    } else if (count < LONG) {
      for (let i = 0; i < count; i++) words[at + i] = source[from + i]!;
    } else if (source.length === count && isAligned(source, words, at)) {
      words.set(source, at); // a whole array needs no view
    } else this.#copyLong(source, from, words, at, count);
  }

  /**
   * Copies `count` shared words at `at` to the words of `array` from index
   * `to`.
   */
  override get(array: Elements, to: number, at: number, count: number): void {
    const words = this.#words;
    const target = this.viewOf(array);
    if (target === undefined) {
      this.#copy(this.#bytes, at * 4, this.asBytes!, to * 4, count * 4);
    } else if (count < LONG) {
      for (let i = 0; i < count; i++) target[to + i] = words[at + i]!;
    } else if (isAligned(target, words, at - to)) {
      // `subarray` takes twice as long.
      const offset = words.byteOffset + at * 4;
      target.set(new Int32Array(this.#buffer, offset, count), to);
    } else this.#copyLong(words, at, target, to, count);
  }

  /** Copies bytes; most often there are only a few. */
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
   * Copies many elements. V8 copies to and from shared memory 8 bytes at a time
   * if both sides have the same offset modulo 8, and otherwise byte by byte. In
   * the second case this method first copies to private memory that has the
   * same offset modulo 8 as the shared memory.
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

/** Whether word 0 of `array` and word `at` have the same offset modulo 8. */
function isAligned(array: Int32Array, words: Int32Array, at: number): boolean {
  return (array.byteOffset - words.byteOffset - at * 4) % 8 === 0;
}
