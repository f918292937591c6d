/**
 * Writes values: numbers, strings, arrays and plain objects. Other objects are
 * written by `objects.ts`.
 *
 * @module
 */

import { type Fields, KNOWN, OTHER, REPLACED, UNKNOWN } from "./places.ts";
import { mostOf, putBigInt, putNumbers } from "./numbers.ts";
import type { ErrorClass } from "../_message/own_errors.ts";
import { Output } from "./output.ts";
import type { Shape, Shapes } from "./shapes.ts";
import {
  ARRAY,
  DEEPEST,
  DELETED,
  FALSE,
  FEW,
  HOLES,
  KEYS,
  MORE_SHAPES,
  NULL,
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

const tooDeep = (value: object) =>
  new Unsendable(value, `it is nested more than ${DEEPEST} deep`);

/** Stands for the value of a property that is there no more. */
export const GONE: unique symbol = /* @__PURE__ */ Symbol("gone");

/** Writes an object that is neither plain nor an array. */
type WriteOther = (
  writer: Writer,
  value: object,
  depth: number,
) => void;

/** Writes values to an output. */
export class Writer {
  readonly out: Output = new Output();
  readonly shapes: Shapes;
  /** The classes of errors that are made again. */
  readonly errors: readonly ErrorClass[];
  readonly #other: WriteOther;
  /** Whether every object would seem to have some property it has not. */
  #polluted = false;
  /**
   * Whether the value is a copy of one that changed while it was written. Its
   * objects have what is gone as a property.
   */
  isCopy = false;
  /** For each depth, where the object begins, and its values. */
  readonly #starts: number[] = [];
  readonly #froms: number[] = [];

  constructor(
    shapes: Shapes,
    errors: readonly ErrorClass[],
    other: WriteOther,
  ) {
    this.shapes = shapes;
    this.errors = errors;
    this.#other = other;
  }

  /** Writes a whole value. */
  write(value: unknown): void {
    this.#polluted = false;
    for (const _ in Object.prototype) this.#polluted = true;
    this.shapes.begin();
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
        return out.number(value);
      case "string":
        return out.text(value);
      case "boolean":
        return out.byte(value ? TRUE : FALSE);
      case "object":
        if (value === null) return out.byte(NULL);
        return Array.isArray(value)
          ? this.#array(value, depth, owner, slot)
          : this.#object(value, depth, owner, slot);
      case "undefined":
        return out.byte(UNDEFINED);
      case "bigint":
        return putBigInt(out, value);
      default:
        if (value !== GONE) throw new Unsendable(value, "it cannot be copied");
        out.deleted = true;
        return out.byte(DELETED);
    }
  }

  // ---- objects

  #object(object: object, depth: number, owner: Shape, slot: number): void {
    if (depth >= DEEPEST) throw tooDeep(object);
    const { hints } = owner;
    let hint = hints[slot];
    // Two shapes often take turns.
    if (hint !== undefined && !isOf(object, hint.keys)) {
      const before = slot + owner.keys.length;
      const last = hint;
      hint = hints[before];
      hints[before] = last;
      if (hint !== undefined) {
        if (isOf(object, hint.keys)) hints[slot] = hint;
        else hint = undefined;
      }
    }
    if (hint !== undefined && !this.#polluted && !this.isCopy) {
      if (this.#fields(object as Fields, depth, hint)) return;
    }
    if (!isPlain(object)) return this.#other(this, object, depth);
    if (this.isCopy) dropGone(object as Fields);
    const keys = Object.keys(object);
    const shape = this.#polluted ? undefined : this.shapes.of(keys);
    if (shape === undefined) return this.#pairs(object as Fields, keys, depth);
    hints[slot] = shape;
    if (this.#fields(object as Fields, depth, shape)) return;
    throw new Unsendable(object, "it changed meanwhile");
  }

  /** Writes an object's shape, and its values; false if it is not plain. */
  #fields(object: Fields, depth: number, shape: Shape): boolean {
    const { out } = this;
    const start = out.at - out.base;
    const defined = out.shapes;
    this.#shape(shape);
    const from = out.at - out.base;
    // The object becomes known before the first object in it, which may refer
    // to it. If it has none, it does so last, when its bytes tell it from
    // others.
    this.#starts[depth] = start;
    this.#froms[depth] = from;
    const { keys, inherits, places = shape.place() } = shape;
    let sofar = OTHER;
    if (places !== undefined && !inherits && keys.length > 0) {
      const { puts } = places;
      sofar = UNKNOWN;
      for (let i = 0; i < puts.length && sofar <= KNOWN; i++) {
        sofar = puts[i]!(object, keys, 4 * i, this, shape, depth, sofar);
      }
    }
    if (sofar === OTHER && isPlain(object)) {
      sofar = this.#unplaced(object, depth, shape);
    }
    if (sofar === UNKNOWN && out.known(object, start, from)) sofar = REPLACED;
    if (sofar === OTHER) out.at = out.base + start;
    if (sofar >= REPLACED && out.shapes !== defined) {
      // The definition of its shape was replaced, too.
      shape.message = 0;
      out.shapes = defined;
    }
    return sofar !== OTHER;
  }

  /** Writes the values of an object that has no places in the code. */
  #unplaced(object: Fields, depth: number, shape: Shape): number {
    const { out } = this;
    const { keys } = shape;
    let sofar = UNKNOWN;
    for (let i = 0; i < keys.length && sofar <= KNOWN; i++) {
      const value = valueOf(object, keys[i]!);
      if (typeof value === "string") out.text(value);
      else if (typeof value === "number") out.number(value);
      else sofar = this.field(value, object, i, shape, depth, sofar);
    }
    return sofar;
  }

  /** Writes a value of an object, neither string nor number. */
  field(
    value: unknown,
    object: Fields,
    i: number,
    shape: Shape,
    depth: number,
    sofar: number,
  ): number {
    if (typeof value === "object" && value !== null) {
      if (sofar === UNKNOWN) {
        const from = this.#froms[depth]!;
        if (this.out.known(object, this.#starts[depth]!, from)) return REPLACED;
        sofar = KNOWN;
      }
      if (Array.isArray(value)) this.#array(value, depth + 1, shape, i);
      else this.#object(value, depth + 1, shape, i);
    } else {
      if (value === undefined) value = ifThere(value, object, shape.keys[i]!);
      this.put(value, depth + 1, shape, i);
    }
    return sofar;
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
  #pairs(object: Fields, keys: readonly string[], depth: number): void {
    const { out } = this;
    const from = out.at - out.base;
    out.tagged(PAIRS, keys.length);
    if (out.known(object, from, from)) return;
    for (let i = 0; i < keys.length; i++) {
      out.text(keys[i]!);
      this.item(valueOf(object, keys[i]!), depth + 1);
    }
  }

  // ---- arrays

  #array(
    array: readonly unknown[],
    depth: number,
    owner: Shape,
    slot: number,
  ): void {
    if (depth >= DEEPEST) throw tooDeep(array);
    if (array.constructor !== Array && !isPlainArray(array)) {
      throw new Unsendable(array, "its prototype would be lost");
    }
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
      if (typeof item === "string") {
        out.text(item);
        continue;
      }
      if (typeof item === "number") {
        out.number(item);
        continue;
      }
      if (item === undefined && !(i in array)) {
        const holes = holesAt(array, i, length);
        out.tagged(HOLES, holes);
        i += holes - 1;
        continue;
      }
      if (typeof item === "object" && item !== null) {
        if (!isKnown) {
          if (out.known(array, start, from)) return;
          isKnown = true;
        }
        if (Array.isArray(item)) this.#array(item, depth + 1, owner, slot);
        else this.#object(item, depth + 1, owner, slot);
      } else this.put(item, depth + 1, owner, slot);
    }
    if (!isKnown) out.known(array, start, from);
  }
}

/**
 * The value of a property, if it is there still. A getter that has deleted its
 * own property, and returned undefined, counts as one that was gone before.
 */
const ifThere = (value: unknown, object: Fields, key: string): unknown =>
  Object.hasOwn(object, key) ? value : GONE;

/** A value, by a name that may be one that all objects have. */
function valueOf(object: Fields, key: string): unknown {
  const value = object[key];
  return value === undefined || typeof value === "function" ||
      value === Object.getPrototypeOf(object)
    ? ifThere(value, object, key)
    : value;
}

/** Deletes the properties that were gone when the object was written. */
function dropGone(object: Fields): void {
  for (const key in object) if (object[key] === GONE) delete object[key];
}

/** Whether an object has these names, in this order. */
function isOf(object: object, keys: readonly string[]): boolean {
  if (ArrayBuffer.isView(object)) return false; // each of its items has a name
  let i = 0;
  for (const key in object) if (key !== keys[i++]) return false;
  return i === keys.length;
}

/** Whether its prototype is null, or that of plain objects in some realm. */
function isPlain(object: object): boolean {
  const prototype = Object.getPrototypeOf(object);
  return prototype === null || prototype === Object.prototype ||
    Object.getPrototypeOf(prototype) === null &&
      Object.hasOwn(prototype, "isPrototypeOf");
}

/** Whether an array's prototype is null, or the platform's in some realm. */
const isPlainArray = (array: object): boolean =>
  isPlain(Object.getPrototypeOf(array) ?? array);

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
