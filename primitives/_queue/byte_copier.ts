import { bytesOf, Copying, type Elements } from "./elements.ts";

/** From this many bytes on, a native copy is faster than a loop. */
const LONG = 64;

/**
 * Copies elements of 1 or 2 bytes: `from`, `to`, `at` and `count` are words and
 * quarters of words. It copies byte by byte, and keeps a view of an array while
 * the caller passes the same array again.
 */
export class ByteCopier extends Copying {
  readonly #bytes: Uint8Array<SharedArrayBuffer>;
  #array: Elements | undefined;
  #view: Uint8Array = new Uint8Array();

  /** `words` is the shared memory to copy from and into. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    super();
    const { buffer, byteOffset, byteLength } = words;
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
  }

  override put(array: Elements, from: number, at: number, count: number): void {
    this.copy(this.#viewOf(array), from * 4, this.#bytes, at * 4, count * 4);
  }

  override get(array: Elements, to: number, at: number, count: number): void {
    this.copy(this.#bytes, at * 4, this.#viewOf(array), to * 4, count * 4);
  }

  /**
   * Copies bytes.
   *
   * @internal
   */
  protected copy(
    src: Uint8Array,
    from: number,
    dst: Uint8Array,
    to: number,
    count: number,
  ): void {
    for (let i = 0; i < count; i++) dst[to + i] = src[from + i]!;
  }

  #viewOf(array: Elements): Uint8Array {
    if (array instanceof Uint8Array) return array;
    const isSame = array === this.#array &&
      array.byteLength === this.#view.length; // its buffer may have grown
    if (!isSame) this.#view = bytesOf(this.#array = array);
    return this.#view;
  }
}

/** The same; but copies many bytes natively, which allocates views. */
export class LongByteCopier extends ByteCopier {
  protected override copy(
    src: Uint8Array,
    from: number,
    dst: Uint8Array,
    to: number,
    count: number,
  ): void {
    if (count < LONG) super.copy(src, from, dst, to, count);
    else dst.set(src.subarray(from, from + count), to);
  }
}
