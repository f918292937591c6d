import { Copying, type Elements } from "./elements.ts";

/**
 * Copies word by word or byte by byte, for every length, because a native copy
 * would allocate views. It copies arrays of words, floats and bytes without a
 * view. For an array of another type it makes a view, and keeps that view while
 * the caller passes the same array again.
 */
export class LoopCopier extends Copying {
  /** It allocates nothing. */
  static readonly loops = true;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #floats: Float32Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;

  /** `words` is the shared memory to copy from and into. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    super();
    const { buffer, byteOffset, byteLength, length } = words;
    this.#words = words;
    this.#floats = new Float32Array(buffer, byteOffset, length);
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
  }

  override put(array: Elements, from: number, at: number, count: number): void {
    if (array instanceof Float32Array) {
      const floats = this.#floats;
      for (let i = 0; i < count; i++) floats[at + i] = array[from + i]!;
      return;
    }
    const source = hasBytes(array) ? undefined : this.source.wordsOf(array);
    if (source !== undefined) {
      const words = this.#words;
      for (let i = 0; i < count; i++) words[at + i] = source[from + i]!;
      return;
    }
    const bytes = this.#bytes;
    const theirs = hasBytes(array) ? array : this.source.bytes!;
    for (let i = 0; i < 4 * count; i++) {
      bytes[4 * at + i] = theirs[4 * from + i]!;
    }
  }

  override get(array: Elements, to: number, at: number, count: number): void {
    if (array instanceof Float32Array) {
      const floats = this.#floats;
      for (let i = 0; i < count; i++) array[to + i] = floats[at + i]!;
      return;
    }
    const target = hasBytes(array) ? undefined : this.target.wordsOf(array);
    if (target !== undefined) {
      const words = this.#words;
      for (let i = 0; i < count; i++) target[to + i] = words[at + i]!;
      return;
    }
    const bytes = this.#bytes;
    const theirs = hasBytes(array) ? array : this.target.bytes!;
    for (let i = 0; i < 4 * count; i++) theirs[4 * to + i] = bytes[4 * at + i]!;
  }
}

const hasBytes = (
  array: Elements,
): array is Uint8Array | Int8Array | Uint8ClampedArray =>
  array instanceof Uint8Array || array instanceof Int8Array ||
  array instanceof Uint8ClampedArray;
