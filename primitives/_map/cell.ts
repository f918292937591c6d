/**
 * A key or a value of a map as words in private memory.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import {
  CODEC,
  type Codec,
  encoded,
  encodeWhole,
  hash,
  type PlacedCodec,
  type SizedCodec,
} from "../_message/message.ts";
import { latin1 } from "../_value/letters.ts";

/**
 * Up to this many letters of ASCII, a text is written and read here: the calls
 * of its codec would take longer than the letters.
 */
const MOST_LETTERS = 24;
/** The bit of each byte in a word that no letter of ASCII has. */
const NOT_ASCII = 0x8080_8080;

/** The number by which a map's head names a codec, and that of its fields. */
interface CodecWords {
  /** A number of `CODEC`. */
  readonly id: number;
  /** Tells apart records with different fields; or 0. */
  readonly shape: number;
}

/** The bytes of a value, if the codec gives all values the same number. */
export const fixedSize = <T>(codec: Codec<T>): number | undefined =>
  (codec as Partial<SizedCodec<T>>).field?.size;

/** The words of a map's head that describe a codec. */
export function wordsOfCodec<T>(codec: Codec<T>): CodecWords {
  const { id, shape } = codec as Partial<SizedCodec<T>>;
  if (id !== undefined && shape !== undefined) return { id, shape };
  const known = "encodeAt" in codec
    ? CODEC[codec.name as keyof typeof CODEC]
    : undefined;
  if (known !== undefined) return { id: known, shape: 0 };
  return { id: CODEC.own, shape: hash(codec.name) };
}

/** What the cells of one view have in common. */
export class CellUse {
  /** Whether one of them is in use by a codec that may run code of a user. */
  isBusy = false;

  /**
   * Throws if such code uses the map meanwhile, whose cells would be mixed up.
   */
  assertFree(): void {
    if (!this.isBusy) return;
    throw new TypeError(
      "A codec, or a getter of a value, cannot use the map that it works for",
    );
  }
}

/**
 * A place for one key or value. If values may differ in length, the first word
 * is the length in bytes. All bits that belong to no byte of the value are 0,
 * so that equal keys are equal words.
 */
export class Cell<T> {
  /** The words. */
  readonly words: Int32Array<ArrayBuffer>;
  /** How many of them the last `put` needed. */
  count: number;
  readonly #what: string;
  readonly #codec: Codec<T>;
  readonly #size: number;
  readonly #varies: boolean;
  readonly #isKey: boolean;
  /** Whether it is a number of 32 bits, which needs no codec. */
  readonly #isInt: boolean;
  readonly #isText: boolean;
  readonly #use: CellUse;
  /** Whether the codec may run code of a user when it writes. */
  readonly #runsCode: boolean;
  /** Whether it is a key that may be a number or another value. */
  readonly #isAnyKey: boolean;
  /** The same memory. */
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #body: Uint8Array<ArrayBuffer>;
  readonly #data: DataView;

  /** Makes room for `size` bytes; `what` is "key" or "value". */
  constructor(
    what: "key" | "value",
    codec: Codec<T>,
    size: number,
    use: CellUse,
  ) {
    const { id } = wordsOfCodec(codec);
    this.#use = use;
    this.#runsCode = id !== CODEC.text && id !== CODEC.binary;
    this.#what = what;
    this.#codec = codec;
    this.#size = size;
    this.#isKey = what === "key";
    this.#isInt = id === CODEC.i32;
    this.#isText = id === CODEC.text;
    this.#isAnyKey = this.#isKey && id === CODEC.value;
    this.#varies = fixedSize(codec) === undefined;
    const words = (this.#varies ? 1 : 0) + Math.ceil(size / 4);
    this.words = new Int32Array(words);
    this.count = words;
    const { buffer } = this.words;
    this.#bytes = new Uint8Array(buffer);
    this.#body = this.#varies ? new Uint8Array(buffer, 4, size) : this.#bytes;
    this.#data = new DataView(buffer);
  }

  /**
   * Checks a key or value, and writes it to the words.
   *
   * @throws {RangeError} If it has more bytes than there is room for. The
   * codec's check may throw, too.
   */
  put(value: T): void {
    const use = this.#use;
    use.assertFree();
    if (this.#isInt && typeof value === "number" && value === (value | 0)) {
      this.words[0] = value;
      return;
    }
    if (!this.#varies) return this.#putField(value);
    if (this.#isText && this.#putLetters(value)) return;
    if (!this.#runsCode) return this.#putBytes(value);
    use.isBusy = true;
    try {
      this.#putBytes(value);
    } finally {
      use.isBusy = false;
    }
  }

  /** Writes a short text of ASCII; false if it is none. */
  #putLetters(text: unknown): boolean {
    if (typeof text !== "string") return false;
    const { length } = text;
    if (length > MOST_LETTERS || length > this.#size) return false;
    const { words } = this;
    // By words: a word whose bytes were just written is slow to read.
    let all = 0;
    for (let i = 0, word = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      all |= code;
      word = (i & 3) === 0 ? code : word | code << 8 * (i & 3);
      words[1 + (i >> 2)] = word;
    }
    if (all > 127) return false;
    words[0] = length;
    this.count = 1 + (length + 3 >> 2);
    return true;
  }

  #putBytes(value: T): void {
    if (this.#isAnyKey && typeof value === "number") {
      value = sameOf(value) as T & number;
    }
    const codec = this.#codec;
    const bytes = this.#bytes;
    let length = "encodeAt" in codec
      ? (codec as PlacedCodec<T>).encodeAt(value, bytes, 4, this.#size)
      : encoded(codec, value, this.#body);
    if (length > this.#size) length = this.#putWhole(value, length);
    for (let i = length; (i & 3) !== 0; i++) bytes[4 + i] = 0;
    this.words[0] = length;
    this.count = 1 + (length + 3 >> 2);
  }

  /** Writes a value for which the codec asked for `length` bytes. */
  #putWhole(value: T, length: number): number {
    const codec = this.#codec;
    const size = this.#size;
    // A codec may ask for more than it needs.
    const whole = encodeWhole(
      codec.name,
      length,
      (into) => encoded(codec, value, into),
    );
    if (whole.length > size) {
      throw new RangeError(
        `A ${this.#what} of this map has at most ${size} bytes, its ` +
          `${this.#what}Size: received ${whole.length} bytes, ` +
          describe(value),
      );
    }
    this.#body.set(whole);
    return whole.length;
  }

  #putField(value: T): void {
    const { id, field } = this.#codec as SizedCodec<T>;
    const checked = this.#checked(value);
    const { words } = this;
    words.fill(0); // a record may have gaps
    if (!this.#isKey || id !== CODEC.f64) {
      return field.set(this.#data, 0, checked as never);
    }
    this.#data.setFloat64(0, sameOf(checked as number), true);
  }

  /** Has the codec check a value that may have getters. */
  #checked(value: T): unknown {
    const { field } = this.#codec as SizedCodec<T>;
    const use = this.#use;
    use.isBusy = true;
    try {
      return field.check(value, "");
    } finally {
      use.isBusy = false;
    }
  }

  /** Reads what the words say. */
  take(): T {
    if (this.#isInt) return this.words[0] as T;
    const codec = this.#codec;
    if (!this.#varies) {
      return (codec as SizedCodec<T>).field.get(this.#data, 0) as T;
    }
    const length = this.words[0]!;
    if (this.#isText && length <= MOST_LETTERS && this.#isAscii(length)) {
      return latin1(this.#bytes, 4, length) as T;
    }
    if ("decodeAt" in codec) {
      return (codec as PlacedCodec<T>).decodeAt(this.#bytes, 4, length);
    }
    const use = this.#use; // the codec is of a user
    use.isBusy = true;
    try {
      return codec.decode(this.#body.subarray(0, length));
    } finally {
      use.isBusy = false;
    }
  }

  /** Whether so many bytes are ASCII. */
  #isAscii(length: number): boolean {
    let all = 0;
    for (let i = length + 3 >> 2; i > 0; i--) all |= this.words[i]!;
    return (all & NOT_ASCII) === 0;
  }

  /** Says how many words there are, after they were copied from the map. */
  measure(): number {
    if (this.#varies) this.count = 1 + (this.words[0]! + 3 >> 2);
    return this.count;
  }

  /**
   * Copies the bytes that the words say; returns how many.
   *
   * @throws {RangeError} If `into` is shorter.
   */
  copyTo(into: Uint8Array): number {
    const length = this.#varies ? this.words[0]! : this.#size;
    if (into.length < length) {
      throw new RangeError(
        `A ${this.#what} of ${length} bytes does not fit an array of ` +
          `${into.length} bytes`,
      );
    }
    const body = this.#body;
    for (let i = 0; i < length; i++) into[i] = body[i]!;
    return length;
  }
}

/**
 * A number that is written as all that equal it: as in a Map, NaN and -0, too.
 */
const sameOf = (number: number) => number !== number ? NaN : number + 0;
