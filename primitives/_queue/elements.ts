import { describe } from "../_memory/describe.ts";

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
 * The size of `array`, in bytes. In Node 20, `byteLength`, `byteOffset` and
 * `buffer` of an array take 15 to 30 ns each, and `length` takes 3.
 *
 * @throws {TypeError} If `array` is neither a typed array nor a DataView. A
 * buffer is refused, although it has a `byteLength`, too.
 */
export function byteLengthOf(array: Elements): number {
  if (array instanceof Int32Array) return array.length * 4;
  if (array instanceof Uint8Array) return array.length;
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

/**
 * Copies `length` bytes from byte `from` of the words that `copier` reads, and
 * of which `shared` are the bytes, to the beginning of `dst`.
 */
export function getBytes(
  copier: Copying,
  shared: Uint8Array<SharedArrayBuffer>,
  dst: Elements,
  from: number,
  length: number,
): void {
  copier.get(dst, 0, from >>> 2, length >> 2);
  if ((length & 3) === 0) return;
  const bytes = bytesOf(dst);
  for (let i = length & ~3; i < length; i++) bytes[i] = shared[from + i]!;
}

/** How elements are copied between shared words and the callers' arrays. */
export interface CopyingClass {
  /** Copies from and into `words`. */
  new (words: Int32Array<SharedArrayBuffer>): Copying;
  /** Whether it allocates nothing, and so copies by loops. */
  readonly loops?: boolean;
}

/**
 * The words of the array that a caller passed last. A caller usually passes the
 * same array again and again, so its view is kept. For a Uint8Array a view is
 * made only when the same array comes a second time in a row, because making it
 * takes longer than one copy.
 */
class LastArray {
  #array: Elements | undefined;
  #length = 0;
  #words: Int32Array | undefined;
  /** The bytes of the array, if they cannot be viewed as words. */
  bytes: Uint8Array | undefined;
  /**
   * The bit that says whether the array begins at an odd word of its buffer.
   */
  odd = 0;

  /** The words of `array`; undefined if the caller must use `bytes`. */
  wordsOf(array: Elements): Int32Array | undefined {
    // An array over a resizable buffer may have grown since. A DataView has no
    // `length`.
    const length = (array as Uint8Array).length ?? array.byteLength;
    if (array === this.#array && length === this.#length) return this.#words;
    this.#length = length;
    this.#words = this.bytes = undefined;
    if (array !== this.#array && array instanceof Uint8Array) {
      this.#length = -1; // so that its words are asked for again
      this.bytes = this.#array = array;
      return;
    }
    this.#array = array;
    const { buffer, byteOffset, byteLength } = array;
    this.odd = byteOffset & 4;
    if (array instanceof Int32Array) return this.#words = array;
    if (byteOffset % 4 === 0) {
      return this.#words = new Int32Array(buffer, byteOffset, byteLength >> 2);
    }
    this.bytes = new Uint8Array(buffer, byteOffset, byteLength);
  }
}

/** Copies elements between shared words and the callers' arrays. */
export abstract class Copying {
  /**
   * The array to copy from that came last.
   *
   * @internal
   */
  protected readonly source: LastArray = new LastArray();
  /**
   * The array to copy into that came last.
   *
   * @internal
   */
  protected readonly target: LastArray = new LastArray();

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
}

/**
 * From this many words on, a native copy is faster than a loop, although it
 * needs a view.
 */
const LONG_WORDS = 48;
/** The same limit for a whole array, which needs no view. */
const LONG_WHOLE_WORDS = 24;
/** The same limit for words that are copied as bytes. */
const LONG_AS_BYTES = 16;
/** From this many bytes on, a copy is faster if the bytes are aligned first. */
const LONG_ASKEW = 256;

/** Copies short elements by a loop, and long ones by one native copy. */
export class Copier extends Copying {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  readonly #buffer: SharedArrayBuffer;
  readonly #byteOffset: number;
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
    this.#byteOffset = byteOffset;
  }

  /**
   * Copies `count` words of `array`, from index `from`, to the shared words at
   * `at`.
   */
  override put(array: Elements, from: number, at: number, count: number): void {
    const words = this.#words;
    const source = this.source.wordsOf(array);
    if (source === undefined) {
      const bytes = this.source.bytes!;
      this.#copy(bytes, from * 4, this.#bytes, at * 4, count * 4);
    } else if (
      count >= LONG_WHOLE_WORDS && source.length === count &&
      this.#odd(at) === this.source.odd
    ) {
      words.set(source, at);
    } else if (count < LONG_WORDS) copyWords(source, from, words, at, count);
    else this.#copyLong(source, from, words, at, count);
  }

  /**
   * Copies `count` shared words at `at` to the words of `array` from index
   * `to`.
   */
  override get(array: Elements, to: number, at: number, count: number): void {
    const words = this.#words;
    const target = this.target.wordsOf(array);
    if (target === undefined) {
      const bytes = this.target.bytes!;
      this.#copy(this.#bytes, at * 4, bytes, to * 4, count * 4);
    } else if (count < LONG_WORDS) copyWords(words, at, target, to, count);
    else if (this.#odd(at - to) === this.target.odd) {
      // `subarray` takes twice as long.
      const offset = this.#byteOffset + at * 4;
      target.set(new Int32Array(this.#buffer, offset, count), to);
    } else this.#copyLong(words, at, target, to, count);
  }

  /** The bit of {@linkcode LastArray.odd} for the shared word at `at`. */
  #odd(at: number): number {
    return this.#byteOffset + at * 4 & 4;
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
    const shared = src.buffer === this.#buffer ? start : end;
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

/** Copies words: four in each round, which takes a third less time. */
function copyWords(
  src: Int32Array,
  from: number,
  dst: Int32Array,
  to: number,
  count: number,
): void {
  let i = 0;
  for (const end = count - 3; i < end; i += 4) {
    dst[to + i] = src[from + i]!;
    dst[to + i + 1] = src[from + i + 1]!;
    dst[to + i + 2] = src[from + i + 2]!;
    dst[to + i + 3] = src[from + i + 3]!;
  }
  for (; i < count; i++) dst[to + i] = src[from + i]!;
}
