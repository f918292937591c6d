/**
 * Reads values. The bytes may come from anywhere: each length and number is
 * checked before it is used.
 *
 * @module
 */

import { readLatin1At, readUtf8At } from "../_message/utf8.ts";
import { arrayFor, type Fields, placesOf, templateOf } from "./places.ts";
import type { Shape, Shapes } from "./shapes.ts";
import type { ErrorClass } from "../_message/own_errors.ts";
import { define } from "./errors.ts";
import { latin1 } from "./letters.ts";
import {
  ARRAY,
  BIGINT,
  DEEPEST,
  HOLES,
  KEYS,
  LATIN1,
  MORE_SHAPES,
  MOST_KEYS,
  MOST_TEXT,
  NUMBERS_1,
  NUMBERS_4,
  NUMBERS_8,
  PAIRS,
  PLAIN,
  REFERENCE,
  REFERRING,
  UTF16,
  UTF8,
} from "./tags.ts";

/**
 * V8 has room for the missing items of an array, too, unless the array was once
 * too long for that: then it is a table. So a few bytes that say that many are
 * missing need little memory.
 */
const MOST_HOLES = 64, MOST_ITEMS = 2 ** 32 - 1;

/** No byte: behind the end of the message. */
const MISSING = 0x100;

const NO_BYTES: Uint8Array = /* @__PURE__ */ new Uint8Array(0);

/** The error that says what is wrong with a message. */
export function damaged(what: string): TypeError {
  return new TypeError(`These bytes are not a value: ${what}`);
}

/** The error that says which part is wrong. */
export const wrong = (part: string): TypeError => damaged(`a wrong ${part}`);

const tooDeep = () => damaged(`it is nested more than ${DEEPEST} deep`);

/** Reads an object whose first byte is `tag`: neither plain nor an array. */
type ReadOther = (
  reader: Reader,
  tag: number,
  depth: number,
) => unknown;

/** Reads values from part of a memory. */
export class Reader {
  bytes: Uint8Array = NO_BYTES;
  data: DataView = new DataView(NO_BYTES.buffer);
  /** How many bytes `data` has. */
  #length = 0;
  at = 0;
  end = 0;
  /** How many bytes its resizable buffers reserve. */
  reserved = 0;
  /** Whether the message has references. */
  refers = false;
  /** If it has, the containers so far. */
  readonly seen: unknown[] = [];
  /** The shapes that the message defined. */
  readonly own: Shape[] = [];
  /** The classes of errors that are made again. */
  readonly errors: readonly ErrorClass[];
  readonly #shapes: Shapes;
  readonly #other: ReadOther;

  constructor(
    shapes: Shapes,
    errors: readonly ErrorClass[],
    other: ReadOther,
  ) {
    this.errors = errors;
    this.#shapes = shapes;
    this.#other = other;
  }

  /** Goes to the message in `length` bytes of `memory` at `at`. */
  open(memory: Uint8Array, at: number, length: number): void {
    this.#to(memory, at, at + length);
    const head = length > 0 ? this.byte() : "nothing";
    if (head !== PLAIN && head !== REFERRING) {
      throw damaged(`it begins with ${head}`);
    }
    this.refers = head === REFERRING;
  }

  #to(memory: Uint8Array, at: number, end: number): void {
    const { length } = memory; // which may change if its buffer is resizable
    if (memory !== this.bytes || length !== this.#length) {
      this.bytes = memory;
      this.data = new DataView(memory.buffer, memory.byteOffset, length);
      this.#length = length;
    }
    this.at = at;
    this.end = end;
    this.reserved = 0;
  }

  /** Reads the value that `length` bytes of `memory` at `at` hold. */
  read(memory: Uint8Array, at: number, length: number): unknown {
    this.open(memory, at, length);
    this.#shapes.begin();
    try {
      const value = this.get(0);
      if (this.at !== this.end) throw damaged("bytes are left over");
      return value;
    } finally {
      if (this.refers) this.seen.length = 0;
      if (this.own.length > 0) this.own.length = 0;
    }
  }

  /** Reads a value. */
  get(depth: number): unknown {
    const tag = this.byte();
    if (tag < 0x40) return tag;
    if (tag < 0x80) return this.short(tag & 63);
    if (tag < 0xc0) return this.#object(this.shared(tag & 63), depth);
    if (tag < 0xd0) return this.#array(tag & 15, depth);
    if (tag < 0xe0) return this.#object(this.#owned(tag & 15), depth);
    switch (tag) { // numbers, because V8 makes a table of those
      case 0xe0:
        return undefined;
      case 0xe1:
        return null;
      case 0xe2:
        return false;
      case 0xe3:
        return true;
      case 0xe4: // INT
        return this.data.getInt32(this.over(4), true);
      case 0xe5: // DOUBLE
        return this.data.getFloat64(this.over(8), true);
    }
    return this.#rare(tag, depth);
  }

  #rare(tag: number, depth: number): unknown {
    switch (tag) {
      case UTF8:
      case LATIN1: {
        const length = this.length(1);
        const read = tag === UTF8 ? readUtf8At : readLatin1At;
        return read(this.bytes, this.over(length), length);
      }
      case UTF16:
        return this.#units(this.length(2));
      case ARRAY:
        return this.#array(this.number32(), depth);
      case NUMBERS_1:
        return this.#numbers(1);
      case NUMBERS_4:
        return this.#numbers(4);
      case NUMBERS_8:
        return this.#numbers(8);
      case KEYS:
        return this.#defined(depth);
      case MORE_SHAPES:
        return this.#object(this.#owned(this.number32()), depth);
      case PAIRS:
        return this.#pairs(depth);
      case BIGINT:
        return this.#bigint(this.length(8));
      case REFERENCE:
        return this.#referred(this.number32());
    }
    if (depth >= DEEPEST) throw tooDeep();
    return this.#other(this, tag, depth);
  }

  // ---- bytes

  /**
   * Goes over `length` bytes, which must be there; returns where they begin.
   */
  over(length: number): number {
    const { at } = this;
    if (length > this.end - at) throw damaged("its end is missing");
    this.at = at + length;
    return at;
  }

  /** A byte. */
  byte(): number {
    return this.bytes[this.over(1)]!;
  }

  /** A number of 32 bits. */
  number32(): number {
    return this.data.getUint32(this.over(4), true);
  }

  /** A number of 64 bits. */
  double(): number {
    return this.data.getFloat64(this.over(8), true);
  }

  /** How many there are of something that takes `size` bytes at least. */
  length(size: number): number {
    const length = this.number32();
    if (length * size > this.end - this.at) throw damaged("its end is missing");
    return length;
  }

  // ---- references

  /**
   * Notes a container, in the order in which they begin; returns its number.
   */
  begin(container: unknown): number {
    return this.refers ? this.seen.push(container) - 1 : -1;
  }

  /** Puts a container in the place of what was noted before. */
  replace(number: number, container: unknown): void {
    if (number >= 0) this.seen[number] = container;
  }

  #referred(number: number): unknown {
    const found = this.seen[number];
    if (typeof found === "object" && found !== null) return found;
    throw damaged(`there is no object ${number}`);
  }

  // ---- strings

  /** A string, whatever its form. */
  text(): string {
    const tag = this.byte();
    if (tag >= 0x40 && tag < 0x80) return this.short(tag & 63);
    if (tag === LATIN1 || tag === UTF8 || tag === UTF16) {
      return this.#rare(tag, 0) as string;
    }
    throw damaged(`${tag} begins no string`);
  }

  /** A string of Latin-1. */
  short(n: number): string {
    return latin1(this.bytes, this.over(n), n);
  }

  #units(length: number): string {
    const at = this.over(2 * length);
    let text = "";
    for (let i = 0; i < length; i++) {
      text += String.fromCharCode(this.data.getUint16(at + 2 * i, true));
    }
    return text;
  }

  // ---- objects

  /** The shape of this number in the table. */
  shared(number: number): Shape {
    return this.#shapes.shared[number] ?? this.#readShared(number);
  }

  #readShared(number: number): Shape {
    const text = this.#shapes.table?.textAt(number);
    if (text === undefined) throw damaged(`there is no shape ${number}`);
    const reader = new Reader(this.#shapes, this.errors, this.#other);
    reader.#to(text, 0, text.length);
    const shape = reader.shape(text.length);
    shape.id = number;
    shape.places = placesOf(shape.keys);
    return this.#shapes.shared[number] = shape;
  }

  #owned(number: number): Shape {
    const shape = this.own[number];
    if (shape === undefined) throw damaged(`there is no shape ${number}`);
    return shape;
  }

  /** An object whose shape the message defines here. */
  #defined(depth: number): object {
    const length = this.byte() + 256 * this.byte();
    const number = this.own.push(this.shape(length)) - 1;
    const tag = this.byte();
    const follows = tag === MORE_SHAPES ? this.number32() : tag - 0xd0;
    if (follows !== number) throw wrong("shape");
    return this.#object(this.own[number]!, depth);
  }

  /** The shape whose text is the next `length` bytes. */
  shape(length: number): Shape {
    const begin = this.over(length);
    if (length > MOST_TEXT) throw wrong("shape");
    const known = this.#shapes.withText(this.bytes, begin, length);
    if (known !== undefined) return known;
    this.at = begin;
    const keys: string[] = [];
    const count = this.byte();
    if (count > MOST_KEYS) throw wrong("shape");
    for (let i = 0; i < count; i++) keys.push(this.text());
    if (this.at !== begin + length) throw wrong("shape");
    const shape = new Set(keys).size === count
      ? this.#shapes.of(keys)
      : undefined;
    if (shape === undefined) throw wrong("shape");
    return shape;
  }

  #object(shape: Shape, depth: number): object {
    if (depth >= DEEPEST) throw tooDeep();
    const { keys, places = shape.place() } = shape;
    if (places === undefined) return this.#unplaced(shape, depth);
    const { fills } = places;
    const object = places.make(places.template);
    if (this.refers) this.seen.push(object);
    for (let i = 0; i < fills.length; i++) {
      fills[i]!(object, keys, 4 * i, this, depth + 1);
    }
    return object;
  }

  /** An object whose shape has no places of its own in the code. */
  #unplaced(shape: Shape, depth: number): object {
    const { keys } = shape;
    const object: Fields = shape.copied
      ? { ...(shape.template ??= templateOf(keys)) }
      : {};
    if (this.refers) this.seen.push(object);
    for (let i = 0; i < keys.length; i++) {
      object[keys[i]!] = this.get(depth + 1);
    }
    return object;
  }

  #pairs(depth: number): object {
    if (depth >= DEEPEST) throw tooDeep();
    const object = {};
    this.begin(object);
    for (let n = this.length(2); n > 0; n--) {
      define(object, this.text(), this.get(depth + 1), true);
    }
    return object;
  }

  // ---- arrays

  #array(length: number, depth: number): unknown[] {
    if (depth >= DEEPEST) throw tooDeep();
    const array = arrayFor(length);
    if (this.refers) this.seen.push(array);
    let isTable = false;
    const { bytes, end } = this;
    for (let i = 0; i < length; i++) {
      const { at } = this;
      const tag = at < end ? bytes[at]! : MISSING;
      // As `get` does, with one call less.
      if (tag < 0x40) {
        this.at = at + 1;
        array[i] = tag;
      } else if (tag < 0x80) {
        this.at = at + 1;
        array[i] = this.short(tag & 63);
      } else if (tag === HOLES) {
        this.at = at + 1;
        const holes = this.number32();
        if (holes === 0 || holes > length - i) throw wrong("length");
        if (!isTable) {
          array.length = i; // of those that were made before, none is left
          if (holes > MOST_HOLES) {
            isTable = true;
            array.length = MOST_ITEMS;
            array.length = length;
          } else array.length = i + holes;
        }
        i += holes - 1;
      } else array[i] = this.get(depth + 1);
    }
    return array;
  }

  #numbers(size: 1 | 4 | 8): number[] {
    const length = this.length(size);
    const at = this.over(length * size);
    const { bytes, data } = this;
    const array: number[] = [];
    this.begin(array);
    if (size === 1) {
      for (let i = 0; i < length; i++) array.push(bytes[at + i]!);
    } else if (size === 4) {
      for (let i = 0; i < length; i++) {
        array.push(data.getInt32(at + 4 * i, true));
      }
    } else {
      for (let i = 0; i < length; i++) {
        array.push(data.getFloat64(at + 8 * i, true));
      }
    }
    return array;
  }

  /** A BigInt in two's complement. */
  #bigint(groups: number): bigint {
    const at = this.over(8 * groups);
    if (groups === 0) throw wrong("length");
    const first = this.data.getBigInt64(at + 8 * groups - 8, true);
    if (groups === 1) return first;
    // In hexadecimal, because shifting all of it for each group is slow.
    let digits = "0x";
    for (let i = groups - 1; i >= 0; i--) {
      const group = this.data.getBigUint64(at + 8 * i, true);
      const positive = first < 0n ? BigInt.asUintN(64, ~group) : group;
      digits += positive.toString(16).padStart(16, "0");
    }
    return first < 0n ? ~BigInt(digits) : BigInt(digits);
  }
}
