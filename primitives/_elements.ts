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

/** From this many words on, a view and one native copy beat a loop. */
const LONG = 64;
/** The same for words that are copied as bytes. */
const LONG_AS_BYTES = 16;
/** From this many bytes on, it pays to bring them in line first. */
const LONG_ASKEW = 256;

/**
 * Copies elements between a queue's words and arrays of its callers. A view of
 * the caller's bytes is kept for as long as the same array comes again, so
 * that the usual scratch array costs no allocation. Of bytes it is made when
 * they come the second time in a row: making one takes longer than the copy.
 */
export class Copier {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  #array: Elements | undefined;
  #byteLength = 0;
  #asWords: Int32Array | undefined;
  /** The bytes of the last array, if it has no words. */
  protected asBytes: Uint8Array | undefined;
  /** Private memory that long copies go through if need be. */
  #line: Uint8Array | undefined;
  #lineAsWords: Int32Array | undefined;

  /** Copies from and into `words`. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    this.#words = words;
    const { buffer, byteOffset, byteLength } = words;
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
  }

  /** Copies words `from ..` of `array` to `count` words at index `at`. */
  put(array: Elements, from: number, at: number, count: number): void {
    const words = this.#words;
    const source = this.viewOf(array);
    if (source === undefined) {
      this.#copy(this.asBytes!, from * 4, this.#bytes, at * 4, count * 4);
    } else if (count < LONG) {
      for (let i = 0; i < count; i++) words[at + i] = source[from + i]!;
    } else this.#copyLong(source, from, words, at, count);
  }

  /** Copies `count` words at index `at` to words `to ..` of `array`. */
  get(array: Elements, to: number, at: number, count: number): void {
    const words = this.#words;
    const target = this.viewOf(array);
    if (target === undefined) {
      this.#copy(this.#bytes, at * 4, this.asBytes!, to * 4, count * 4);
    } else if (count < LONG) {
      for (let i = 0; i < count; i++) target[to + i] = words[at + i]!;
    } else this.#copyLong(words, at, target, to, count);
  }

  /** Copies bytes, of which most often there are few. */
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
   * Copies many elements. V8 copies to and from shared memory by 8 bytes at a
   * time where both sides lie alike within such a word, and else byte by byte:
   * then it goes through private memory that lies as the shared memory does.
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

  /** The words of `array`; undefined if it is to be copied `asBytes`. */
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
