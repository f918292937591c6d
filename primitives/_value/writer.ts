/**
 * Writes values: numbers, strings, arrays and plain objects. Other objects are
 * written by `objects.ts`.
 *
 * @module
 */

import type { Output } from "./output.ts";
import type { Shape, Shapes } from "./shapes.ts";
import {
  ARRAY,
  BIGINT,
  DEEPEST,
  DOUBLE,
  FALSE,
  FEW,
  HOLES,
  INT,
  KEYS,
  MORE_SHAPES,
  NULL,
  NUMBERS_1,
  NUMBERS_4,
  NUMBERS_8,
  OWN_SHAPE,
  PAIRS,
  SHARED_SHAPE,
  TRUE,
  UNDEFINED,
} from "./tags.ts";

/** A value that cannot be sent. The path to it is found later. */
export class Unsendable {
  readonly value: unknown;
  readonly why: string;

  constructor(value: unknown, why: string) {
    this.value = value;
    this.why = why;
  }
}

/** Writes an object that is neither plain nor an array. */
export type WriteOther = (
  writer: Writer,
  value: object,
  depth: number,
) => void;

/** Writes values to an output. */
export class Writer {
  readonly out: Output;
  readonly shapes: Shapes;
  readonly #other: WriteOther;
  /** Whether every object would seem to have some property it has not. */
  #polluted = false;

  constructor(out: Output, shapes: Shapes, other: WriteOther) {
    this.out = out;
    this.shapes = shapes;
    this.#other = other;
  }

  /** Writes a whole value. */
  write(value: unknown): void {
    this.#polluted = false;
    for (const _ in Object.prototype) this.#polluted = true;
    this.put(value, 0, this.shapes.top, 0);
  }

  /** Writes a value that is in no object, as those of a Map. */
  item(value: unknown, depth: number): void {
    this.put(value, depth, this.shapes.top, 0);
  }

  /**
   * Writes a value. If it is an object, it probably has the shape that
   * `owner.hints[slot]` names.
   */
  put(value: unknown, depth: number, owner: Shape, slot: number): void {
    const { out } = this;
    switch (typeof value) {
      case "number":
        if ((value | 0) === value && (value !== 0 || 1 / value > 0)) {
          if (value >= 0 && value < 64) out.byte(value);
          else out.tagged(INT, value);
        } else out.double(DOUBLE, value);
        return;
      case "string":
        return out.text(value);
      case "boolean":
        return out.byte(value ? TRUE : FALSE);
      case "object":
        if (value === null) return out.byte(NULL);
        if (depth >= DEEPEST) {
          throw new Unsendable(
            value,
            `it is nested more than ${DEEPEST} deep`,
          );
        }
        if (Array.isArray(value)) return this.#array(value, depth, owner, slot);
        return this.#object(value, depth, owner, slot);
      case "undefined":
        return out.byte(UNDEFINED);
      case "bigint":
        return putBigInt(out, value);
      default:
        throw new Unsendable(value, "it cannot be copied");
    }
  }

  // ---- objects

  #object(object: object, depth: number, owner: Shape, slot: number): void {
    const prototype = Object.getPrototypeOf(object);
    if (prototype !== Object.prototype && !isPlain(prototype)) {
      return this.#other(this, object, depth);
    }
    const start = this.out.at - this.out.base;
    const hint = owner.hints[slot];
    if (hint !== undefined && !this.#polluted && hasShape(object, hint)) {
      return this.#fields(object as Fields, depth, hint, start);
    }
    const keys = Object.keys(object);
    const shape = this.shapes.of(keys);
    if (shape === undefined) {
      return this.#pairs(object as Fields, keys, depth, start);
    }
    owner.hints[slot] = shape;
    if (this.#polluted) this.#pairs(object as Fields, keys, depth, start);
    else this.#fields(object as Fields, depth, shape, start);
  }

  /** Writes the object's shape and its values. */
  #fields(object: Fields, depth: number, shape: Shape, start: number): void {
    const { out } = this;
    const { keys } = shape;
    const defined = out.shapes;
    this.#shape(shape);
    const from = out.at - out.base;
    const isNew = out.shapes !== defined;
    // The object becomes known before the first object in it, which may refer to
    // it. If it has none, it does so last, when its bytes tell it from others.
    let isKnown = false;
    let i = 0;
    for (const key in object) {
      if (keys[i] !== key) throw changed(object);
      const value = object[key];
      if (typeof value === "object" && value !== null && !isKnown) {
        if (out.known(object, start, from)) return this.#undefine(shape, isNew);
        isKnown = true;
      }
      this.put(value, depth + 1, shape, i++);
    }
    if (i !== keys.length) throw changed(object);
    if (!isKnown && out.known(object, start, from)) {
      this.#undefine(shape, isNew);
    }
  }

  /** A reference replaced an object, and the definition of its shape. */
  #undefine(shape: Shape, isNew: boolean): void {
    if (!isNew) return;
    shape.message = 0;
    this.out.shapes--;
  }

  #shape(shape: Shape): void {
    const { out } = this;
    if (shape.id >= 0) return out.byte(SHARED_SHAPE | shape.id);
    let number = shape.own;
    if (shape.message !== out.message) {
      const { table } = this.shapes;
      // An object that is used as a Map has names that do not come again.
      if (table !== undefined && shape.id !== -2 && ++shape.uses > 1) {
        // Another agent that adds it is done soon, unless it was terminated.
        shape.id = table.add(shape.text, shape.uses > 8);
        if (shape.id >= 0) return out.byte(SHARED_SHAPE | shape.id);
      }
      const { length } = shape.text;
      out.need(3 + length);
      out.byte(KEYS);
      out.byte(length & 255);
      out.byte(length >> 8);
      out.copy(shape.text);
      number = shape.own = out.shapes++;
      shape.message = out.message;
    }
    if (number < 16) return out.byte(OWN_SHAPE | number);
    out.tagged(MORE_SHAPES, number);
  }

  /** An object with many names, or long ones. */
  #pairs(
    object: Fields,
    keys: readonly string[],
    depth: number,
    start: number,
  ): void {
    const { out } = this;
    const from = out.at - out.base;
    out.tagged(PAIRS, keys.length);
    if (out.known(object, start, from)) return;
    for (const key of keys) {
      out.text(key);
      this.item(object[key], depth + 1);
    }
  }

  // ---- arrays

  #array(
    array: readonly unknown[],
    depth: number,
    owner: Shape,
    slot: number,
  ): void {
    const { out } = this;
    const { length } = array;
    const start = out.at - out.base;
    if (length >= 8 && typeof array[0] === "number") {
      const most = mostOf(array);
      if (most !== 0) {
        const from = out.at - out.base;
        putNumbers(out, array as readonly number[], most);
        out.known(array, start, from);
        return;
      }
    }
    if (length < 16) out.byte(FEW | length);
    else out.tagged(ARRAY, length);
    const from = out.at - out.base;
    let isKnown = false;
    for (let i = 0; i < length; i++) {
      const item = array[i];
      if (item === undefined && !(i in array)) {
        const holes = holesAt(array, i, length);
        out.tagged(HOLES, holes);
        i += holes - 1;
        continue;
      }
      if (typeof item === "object" && item !== null && !isKnown) {
        if (out.known(array, start, from)) return;
        isKnown = true;
      }
      this.put(item, depth + 1, owner, slot);
    }
    if (!isKnown) out.known(array, start, from);
  }
}

type Fields = Record<string, unknown>;

/** Whether it is the prototype of plain objects in another realm, or null. */
function isPlain(prototype: object | null): boolean {
  return prototype === null ||
    Object.getPrototypeOf(prototype) === null &&
      Object.hasOwn(prototype, "isPrototypeOf");
}

function hasShape(object: object, { keys }: Shape): boolean {
  let i = 0;
  for (const key in object) if (keys[i++] !== key) return false;
  return i === keys.length;
}

/** Only a getter or a proxy can do that. */
const changed = (value: object): Unsendable =>
  new Unsendable(value, "it changed meanwhile");

/** How many items are missing at `i`. */
function holesAt(
  array: readonly unknown[],
  i: number,
  length: number,
): number {
  let end = i + 1;
  for (const far = Math.min(i + 64, length); end < far; end++) {
    if (end in array) return end - i;
  }
  if (end === length) return end - i;
  // In an array of few items, look only at those.
  for (const key of Object.keys(array)) {
    const index = Number(key);
    if (index >= end && index < length) return index - i;
  }
  return length - i;
}

/** The bytes of a number if all items are numbers, or 0. */
function mostOf(array: readonly unknown[]): 0 | 1 | 4 | 8 {
  let most: 1 | 4 | 8 = 1;
  for (let i = 0; i < array.length; i++) {
    const item = array[i];
    if (typeof item !== "number") return 0;
    if ((item | 0) !== item || item === 0 && 1 / item < 0) most = 8;
    else if ((item & 255) !== item && most === 1) most = 4;
  }
  return most;
}

function putNumbers(
  out: Output,
  array: readonly number[],
  size: 1 | 4 | 8,
): void {
  const { length } = array;
  out.need(5 + length * size);
  out.tagged(
    size === 1 ? NUMBERS_1 : size === 4 ? NUMBERS_4 : NUMBERS_8,
    length,
  );
  const { bytes, data, at } = out;
  if (size === 1) {
    for (let i = 0; i < length; i++) bytes[at + i] = array[i]!;
  } else if (size === 4) {
    for (let i = 0; i < length; i++) data.setInt32(at + 4 * i, array[i]!, true);
  } else {
    for (let i = 0; i < length; i++) {
      data.setFloat64(at + 8 * i, array[i]!, true);
    }
  }
  out.at += length * size;
}

/** A BigInt in two's complement, as many groups of 64 bits as it needs. */
function putBigInt(out: Output, value: bigint): void {
  if (BigInt.asIntN(64, value) === value) {
    out.need(13);
    out.tagged(BIGINT, 1);
    out.data.setBigInt64(out.at, value, true);
    out.at += 8;
    return;
  }
  // In hexadecimal, because shifting all of it for each group is slow.
  const negative = value < 0n;
  const digits = (negative ? ~value : value).toString(16);
  const groups = Math.floor(digits.length / 16) + 1;
  out.need(5 + 8 * groups);
  out.tagged(BIGINT, groups);
  for (let i = 0, end = digits.length; i < groups; i++, end -= 16) {
    const group = BigInt(
      `0x0${digits.slice(Math.max(end - 16, 0), Math.max(end, 0))}`,
    );
    out.data.setBigInt64(out.at + 8 * i, negative ? ~group : group, true);
  }
  out.at += 8 * groups;
}
