/**
 * Goes over the values of a message without building them.
 *
 * @module
 */

import { damaged, type Reader, wrong } from "../reader.ts";
import type { Shape } from "../shapes.ts";
import {
  ARRAY,
  BIGINT,
  BOXED,
  BUFFER,
  DATE,
  DOUBLE,
  ERROR,
  FALSE,
  HOLES,
  INT,
  KEYS,
  LATIN1,
  MAP,
  MORE_SHAPES,
  NULL,
  NUMBERS_1,
  NUMBERS_4,
  NUMBERS_8,
  PAIRS,
  REFERENCE,
  REGEXP,
  RESIZABLE,
  SET,
  TRUE,
  UNDEFINED,
  UTF16,
  UTF8,
  VIEW,
} from "../tags.ts";
import { isObject } from "./kinds.ts";

/** A message that is looked at. */
export class Message {
  /** The reader that is over the message; undefined after its release. */
  #reader: Reader | undefined;
  readonly #base: number;
  readonly #end: number;
  readonly #refers: boolean;
  /** The shapes that the message defines, and where, as far as it was read. */
  readonly #shapes: Shape[] = [];
  readonly #defined: number[] = [];
  /** If it has references: where its objects begin, and the objects. */
  #places: number[] | undefined;
  #objects: unknown[] | undefined;

  /** The begin of the value that was read last. */
  tag = 0;
  /** How many items, properties or entries it has. */
  size = 0;
  /** How many values follow its own bytes. */
  parts = 0;
  shape: Shape | undefined;
  /** Where its parts begin. */
  body = 0;

  /** The message in `length` bytes of `memory` at `at`. */
  constructor(
    reader: Reader,
    memory: Uint8Array,
    at: number,
    length: number,
  ) {
    reader.open(memory, at, length);
    this.#refers = reader.refers;
    this.#reader = reader;
    this.#base = at;
    this.#end = at + length;
  }

  /** Ends the use of its views. */
  release(): void {
    this.#reader = undefined;
  }

  get isReleased(): boolean {
    return this.#reader === undefined;
  }

  /** @throws {TypeError} If the message was released. */
  assertHeld(): Reader {
    const reader = this.#reader;
    if (reader === undefined) throw new TypeError("The message was released");
    return reader;
  }

  /**
   * The reader, at that byte.
   *
   * @throws {TypeError} If the message was released.
   */
  from(at: number): Reader {
    const reader = this.assertHeld();
    reader.at = at;
    return reader;
  }

  /**
   * Reads the begin of the value at the reader, and goes behind its own bytes.
   */
  begin(reader: Reader): void {
    const { at } = reader;
    const tag = this.tag = reader.byte();
    this.size = this.parts = 0;
    this.shape = undefined;
    if (tag < 0x40) return;
    if (tag < 0x80) reader.over(tag & 63);
    else if (tag < 0xc0) this.#object(reader.shared(tag & 63));
    else if (tag < 0xd0) this.size = this.parts = tag & 15;
    else if (tag < 0xe0) this.#object(this.#own(tag & 15));
    else this.#rare(reader, tag, at);
  }

  #object(shape: Shape): void {
    this.shape = shape;
    this.size = this.parts = shape.keys.length;
  }

  #own(number: number): Shape {
    const shape = this.#shapes[number];
    if (shape === undefined) throw damaged(`there is no shape ${number}`);
    return shape;
  }

  #rare(reader: Reader, tag: number, at: number): void {
    switch (tag) {
      case UNDEFINED:
      case NULL:
      case FALSE:
      case TRUE:
        return;
      case INT:
        return void reader.over(4);
      case DOUBLE:
      case DATE:
        return void reader.over(8);
      case RESIZABLE:
        reader.over(4);
        return this.#bytes(reader, 1);
      case UTF8:
      case LATIN1:
      case BUFFER:
      case NUMBERS_1:
        return this.#bytes(reader, 1);
      case UTF16:
        return this.#bytes(reader, 2);
      case NUMBERS_4:
        return this.#bytes(reader, 4);
      case NUMBERS_8:
      case BIGINT:
        return this.#bytes(reader, 8);
      case ARRAY: // Missing items take no bytes.
      case HOLES:
        this.size = reader.number32();
        this.parts = tag === ARRAY ? this.size : 0;
        return;
      case SET:
        this.size = this.parts = reader.length(1);
        return;
      case MAP:
      case PAIRS:
        this.size = reader.length(2);
        this.parts = 2 * this.size;
        return;
      case KEYS:
        return this.#keys(reader, at);
      case MORE_SHAPES:
        return this.#object(this.#own(reader.number32()));
      case REFERENCE:
        this.size = reader.number32();
        if (this.#refers) return;
        throw damaged(`there is no object ${this.size}`);
      case REGEXP:
        this.size = this.parts = 2;
        return;
      case BOXED:
        this.size = this.parts = 1;
        return;
      case VIEW:
        reader.over(9);
        this.parts = 1;
        return;
      case ERROR:
        reader.text();
        this.size = reader.byte() + reader.length(2);
        this.parts = 2 * this.size;
        return;
    }
    throw damaged(`there is no kind ${tag}`);
  }

  #bytes(reader: Reader, each: number): void {
    this.size = reader.length(each);
    reader.over(this.size * each);
  }

  /** An object whose shape is defined here. */
  #keys(reader: Reader, at: number): void {
    const length = reader.byte() + 256 * reader.byte();
    // Whoever comes to a byte went over all that lie before it.
    let number = this.#defined.indexOf(at);
    if (number < 0) {
      number = this.#defined.push(at) - 1;
      this.#shapes.push(reader.shape(length));
    } else reader.over(length);
    const tag = reader.byte();
    const follows = tag === MORE_SHAPES ? reader.number32() : tag - 0xd0;
    if (follows !== number) throw wrong("shape");
    this.#object(this.#own(number));
  }

  /** Goes over `count` values. No recursion: they may be nested deep. */
  skip(reader: Reader, count: number): void {
    const { bytes, end } = reader;
    let { at } = reader;
    let left = count;
    while (left > 0 && at < end) {
      const tag = bytes[at]!;
      left--;
      if (tag < 0x40) at++;
      else if (tag < 0x80) at += 1 + (tag & 63);
      else if (tag < 0xc0) {
        left += reader.shared(tag & 63).keys.length;
        at++;
      } else if (tag < 0xd0) {
        left += tag & 15;
        at++;
      } else if (tag === DOUBLE) at += 9;
      else if (tag === INT) at += 5;
      else {
        reader.at = at;
        this.begin(reader);
        left += this.tag === HOLES ? 1 - this.size : this.parts;
        if (left < 0) throw wrong("length");
        at = reader.at;
      }
    }
    reader.at = at;
    if (left > 0 || at > end) throw damaged("its end is missing");
  }

  /**
   * Goes over missing items of an array of `size` items that are at the reader;
   * returns the number of the next item.
   */
  pass(reader: Reader, index: number, size: number): number {
    const { bytes } = reader;
    while (
      index < size && reader.at < this.#end && bytes[reader.at] === HOLES
    ) {
      reader.at++;
      const holes = reader.number32();
      if (holes === 0 || holes > size - index) throw wrong("length");
      index += holes;
    }
    return index;
  }

  /**
   * Reads the begin of the value that begins at `at`, or of the one to which it
   * refers; returns where that begins.
   */
  whole(at: number): number {
    const reader = this.from(at);
    this.begin(reader);
    if (this.tag === HOLES) throw damaged(`there is no kind ${HOLES}`);
    let place: number | undefined = at;
    if (this.tag === REFERENCE) {
      const number = this.size;
      place = this.#index()[number];
      if (place === undefined || place >= at) {
        throw damaged(`there is no object ${number}`);
      }
      this.begin(this.from(place));
    }
    this.body = reader.at;
    return place;
  }

  /** Where its objects begin, in the order of their numbers. */
  #index(): number[] {
    if (this.#places !== undefined) return this.#places;
    const places: number[] = [];
    const reader = this.from(this.#base + 1);
    for (let left = 1; left > 0;) {
      const { at } = reader;
      this.begin(reader);
      if (this.tag === HOLES) left -= this.size;
      else left += this.parts - 1;
      if (isObject(this.tag)) places.push(at);
    }
    return this.#places = places;
  }

  /** Builds the value that begins at `at`. */
  read(at: number, depth: number): unknown {
    this.begin(this.from(at));
    if (this.#refers && isObject(this.tag)) {
      return this.#all()[this.#index().indexOf(at)];
    }
    const reader = this.from(at);
    const { own } = reader;
    reader.reserved = 0;
    try {
      reader.refers = false;
      while (own.length < this.#defined.length) {
        if (this.#defined[own.length]! >= at) break;
        own.push(this.#shapes[own.length]!);
      }
      return reader.get(depth);
    } finally {
      own.length = 0;
    }
  }

  /** Builds the whole value, whose parts refer to each other. */
  #all(): unknown[] {
    if (this.#objects !== undefined) return this.#objects;
    const reader = this.from(this.#base + 1);
    reader.reserved = 0;
    try {
      reader.refers = true;
      reader.get(0);
      if (reader.at !== this.#end) throw damaged("bytes are left over");
      return this.#objects = reader.seen.slice();
    } finally {
      reader.own.length = reader.seen.length = 0;
    }
  }
}
