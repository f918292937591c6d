/**
 * Where one view of a map found keys, so that it finds them again by one look
 * at the bucket.
 *
 * A writer changes the bucket's `version` before it takes an entry out: see
 * `table.ts`. So while `version` is what it was, the entry still has the key. A
 * value of more than one word still counts while `current` is what it was.
 *
 * @module
 */

import type { Cell } from "./cell.ts";
import { CODEC } from "../_message/message.ts";

/** The most keys that a view remembers. */
const MOST_PLACES = 4096;
/** The longest text that it remembers as a key, and as a value. */
const MOST_KEY = 64, MOST_VALUE = 1024;
/** From this length on, a text may be a part of one that it keeps alive. */
const PART = 13;
/** One of this number of texts replaces another text: a power of 2. */
const REPLACES = 8;
/** After this number of keys without a place, a view counts its looks. */
const LATE = 128;
/**
 * At least this number of looks must have found their key meanwhile. A look for
 * a number costs less than one for a text, so fewer of them must succeed.
 */
const FOUND_TEXTS = 896, FOUND_NUMBERS = 128;
/** If fewer did, the view leaves out this number of looks. */
const REST = 262_144;

/** The words of a place; `ENTRY` is 0 in an empty one. */
const KEY = 0, ENTRY = 1, BUCKET = 2, VERSION = 3, CURRENT = 4, EXPIRES = 5;
const PLACE = 6;
/** 2^32 divided by the golden ratio. */
const GOLDEN = 0x9e37_79b9;

/**
 * Places of keys that are texts or numbers of 32 bits. A number has one place,
 * which it may lose to another number. A text gets the next place.
 */
export class Places {
  /** Whether the last `find` found its key. */
  isFound = false;
  /** The number of the place that the last `find` looked at, or -1. */
  #number = -1;
  readonly #words: Int32Array;
  readonly #count: number;
  readonly #shift: number;
  /** The values, if they are worth keeping. */
  readonly #values: unknown[];
  /** The numbers of the places of texts, and the text of each place. */
  readonly #texts: Map<string, number> | undefined;
  readonly #textAt: string[] = [];
  /** How many keys would have replaced another one. */
  #late = 0;
  /** How many looks found a key since a number of them was late. */
  #found = 0;
  /** How many must have. */
  readonly #wanted: number;
  /** How many looks are still to be left out. */
  #rest = 0;

  private constructor(capacity: number, isText: boolean) {
    // Four times as many as numbers, so that few of them have the same place.
    const wanted = isText ? capacity : 4 * capacity;
    const bits = 32 - Math.clz32(Math.min(wanted, MOST_PLACES) - 1);
    this.#count = 1 << bits;
    this.#shift = 32 - bits;
    this.#words = new Int32Array(PLACE * this.#count);
    this.#texts = isText ? new Map() : undefined;
    this.#wanted = isText ? FOUND_TEXTS : FOUND_NUMBERS;
    this.#values = new Array(this.#count).fill(undefined);
  }

  /**
   * For keys of the codec with this number; undefined if none is remembered.
   */
  static for(codec: number, capacity: number): Places | undefined {
    const isText = codec === CODEC.text;
    if (!isText && codec !== CODEC.i32) return undefined;
    return new Places(capacity, isText);
  }

  /** The first word of the entry of the key that was found. */
  get entry(): number {
    return this.#words[this.#number * PLACE + ENTRY]!;
  }

  /** The first word of its bucket. */
  get bucket(): number {
    return this.#words[this.#number * PLACE + BUCKET]!;
  }

  /** The version that the bucket had. */
  get version(): number {
    return this.#words[this.#number * PLACE + VERSION]!;
  }

  /** The value that it had, or `undefined` if that was not kept. */
  get value(): unknown {
    return this.#values[this.#number];
  }

  /** The word `current` of the entry when it had that value. */
  get current(): number {
    return this.#words[this.#number * PLACE + CURRENT]!;
  }

  /** The word `expires` of that value. */
  get expires(): number {
    return this.#words[this.#number * PLACE + EXPIRES]!;
  }

  /** Whether keys are remembered now. */
  get keeps(): boolean {
    return this.#rest === 0;
  }

  /** Looks for a key; returns whether it is remembered. */
  find(key: unknown): boolean {
    if (this.#rest > 0) {
      this.#rest--;
      this.#number = -1;
      return this.isFound = false;
    }
    return this.isFound = this.#texts === undefined
      ? this.#findNumber(key)
      : this.#findText(this.#texts, key);
  }

  #findNumber(key: unknown): boolean {
    this.#number = -1;
    if (typeof key !== "number" || key !== (key | 0)) return false;
    const words = this.#words;
    const number = Math.imul(key, GOLDEN) >>> this.#shift;
    this.#number = number;
    const place = number * PLACE;
    return words[place + KEY] === key && words[place + ENTRY] !== 0 &&
      this.#isFound();
  }

  /** Counts a look that found its key. */
  #isFound(): true {
    if (this.#found < this.#wanted) this.#found++;
    return true;
  }

  #findText(texts: Map<string, number>, key: unknown): boolean {
    if (typeof key !== "string" || key.length > MOST_KEY) return false;
    const number = texts.get(key);
    if (number === undefined) return false;
    this.#number = number;
    return this.#isFound();
  }

  /**
   * Remembers the key for which the last `find` looked, and of which `cell` has
   * a copy.
   */
  keep<K>(
    key: K,
    entry: number,
    bucket: number,
    version: number,
    cell: Pick<Cell<K>, "take">,
  ): void {
    if (this.#rest > 0) return;
    if (typeof key === "string" && !this.isFound) {
      this.#number = this.#numberFor(key, cell as Cell<never>);
    }
    if (this.#number < 0) return;
    const place = this.#number * PLACE;
    const words = this.#words;
    if (typeof key === "number") {
      const isLate = words[place + ENTRY] !== 0 && words[place + KEY] !== key;
      if (isLate && ++this.#late % LATE === 0 && this.#isRare()) return;
      words[place + KEY] = key;
    }
    words[place + ENTRY] = entry;
    words[place + BUCKET] = bucket;
    words[place + VERSION] = version;
    this.#values[this.#number] = undefined;
    this.isFound = true;
  }

  /** The number of the place that a text gets, or -1. */
  #numberFor(key: string, cell: Cell<string>): number {
    if (key.length > MOST_KEY) return -1;
    const texts = this.#texts!;
    const textAt = this.#textAt;
    let number = textAt.length;
    if (number === this.#count) {
      this.#late++;
      if (this.#late % LATE === 0 && this.#isRare()) return -1;
      if (this.#late % REPLACES !== 0) return -1;
      number = this.#late / REPLACES & number - 1;
      texts.delete(textAt[number]!);
    }
    const text = key.length < PART ? key : cell.take();
    textAt[number] = text;
    texts.set(text, number);
    return number;
  }

  /**
   * Whether too few keys were found. To look for one that is not here, and to
   * replace others, takes longer than to find its entry by its bucket. If so,
   * forgets all.
   */
  #isRare(): boolean {
    const isRare = this.#found < this.#wanted;
    this.#found = 0;
    if (isRare) {
      this.#rest = REST;
      this.#texts?.clear();
      this.#textAt.length = 0;
      this.#values.fill(undefined);
      this.#words.fill(0);
    }
    return isRare;
  }

  /**
   * Keeps the value of the key that was found, or that `keep` remembered, the
   * word `current` with which it counts, and its word `expires`.
   */
  keepValue(value: unknown, current: number, expires: number): void {
    const keeps = this.isFound &&
      (typeof value === "number" ||
        typeof value === "string" && value.length <= MOST_VALUE);
    if (!keeps) return;
    this.#values[this.#number] = value;
    this.#words[this.#number * PLACE + CURRENT] = current;
    this.#words[this.#number * PLACE + EXPIRES] = expires;
  }
}
