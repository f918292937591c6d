/**
 * Looks at parts of a value in its bytes, without building the rest.
 *
 * @module
 */

import { brief, describe } from "../../_memory/describe.ts";
import { wrong } from "../reader.ts";
import type { Shape } from "../shapes.ts";
import { ERROR, FOLLOWS, MAP, PAIRS, RESIZABLE, VIEW, VIEWS } from "../tags.ts";
import {
  hasItems,
  isArray,
  isBuffer,
  isObject,
  packedBy,
  typeOf,
  type ValueType,
} from "./kinds.ts";
import type { Message } from "./message.ts";

export type { ValueType } from "./kinds.ts";

/** The names of a value's parts: those of properties, or numbers of items. */
export type PartOf<T> = keyof NonNullable<T> & (string | number);

/** A part of a value, as `parts` shows it. */
export interface ValuePart<T = unknown> {
  /** The name of a property, or the key of an entry of a Map. */
  readonly key: string | ValueView | undefined;
  /** The part. */
  readonly value: ValueView<T>;
  /** How many parts come before it, missing items of an array included. */
  readonly index: number;
}

/** The error of an argument that is none of what a method takes. */
const unlike = (method: string, what: string, value: unknown) =>
  new TypeError(`${method} takes ${what}: received ${describe(value)}`);

/**
 * A value in its bytes. Only those parts are built that you `read`. It is made
 * by {@linkcode viewValue} and {@linkcode viewCodec}.
 *
 * A part is found by going over the bytes before it, from the one that was
 * found last in the same view. Of those bytes, only what is needed is checked.
 * If other agents change them, a part may be another one, or damaged. Once the
 * message was released, each member throws a TypeError.
 *
 * @example Two parts of a value
 * ```ts
 * import { encodeValue, viewValue } from "@weft/sync";
 *
 * const into = new Uint8Array(1000);
 * const value = { id: 7, user: { name: "Zoë", tags: ["a", "b"] } };
 * const length = encodeValue(value, into);
 * const view = viewValue<typeof value>(into.subarray(0, length));
 * if (view.get("id")?.read() !== 7) throw new Error("another id");
 * if (!view.get("user", "tags", 1)?.is("b")) throw new Error("another tag");
 * ```
 */
export class ValueView<out T = unknown> {
  readonly #message: Message;
  readonly #at: number;
  readonly #depth: number;
  /** What it is a part of, and under which name: for errors. */
  readonly #owner: ValueView | undefined;
  readonly #key: string | number;
  /** If it is a number in an array of such, how many bytes it has; else 0. */
  readonly #packed: 0 | 1 | 4 | 8;
  readonly #tag: number;
  readonly #size: number;
  readonly #shape: Shape | undefined;
  /** Where its parts begin. */
  readonly #body: number;
  /** The part that was found last, and where it begins. */
  #last = 0;
  #lastAt: number;

  /** For a message: the value at `at`, or a number of `packed` bytes there. */
  constructor(
    message: Message,
    at: number,
    depth = 0,
    owner?: ValueView,
    key: string | number = "",
    packed: 0 | 1 | 4 | 8 = 0,
  ) {
    const isWhole = packed === 0;
    this.#message = message;
    this.#depth = depth;
    this.#owner = owner;
    this.#key = key;
    this.#packed = packed;
    this.#at = isWhole ? message.whole(at) : at;
    const { tag, size, shape, body } = message;
    this.#tag = isWhole ? tag : 0;
    this.#size = isWhole && isObject(tag) && !isBuffer(tag) ? size : 0;
    this.#shape = isWhole ? shape : undefined;
    this.#lastAt = this.#body = body - size * packedBy(tag);
  }

  /** What it is: `"object"`, `"number"` and so on. */
  get type(): ValueType {
    this.#message.assertHeld();
    return typeOf(this.#tag);
  }

  /**
   * Whether both are the same place in a message: an object that occurs twice
   * is the same there.
   *
   * @throws {TypeError} If `other` is not a view.
   */
  same(other: ValueView): boolean {
    if (typeof other !== "object" || other === null || !(#message in other)) {
      throw unlike("same", "a view", other);
    }
    this.#message.assertHeld();
    return this.#message === other.#message && this.#at === other.#at;
  }

  /**
   * Whether it is this string.
   *
   * @throws {TypeError} If `text` is no string, or the bytes are damaged.
   */
  is(text: string): boolean {
    if (typeof text !== "string") throw unlike("is", "a string", text);
    if (this.type !== "string") return false;
    const { length } = text;
    if (this.#tag >= 0x80) return this.read() === text;
    if (length !== (this.#tag & 63)) return false;
    const { bytes } = this.#message.from(this.#at);
    for (let i = 0; i < length; i++) {
      if (bytes[this.#at + 1 + i] !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  /**
   * The bytes of an ArrayBuffer or of a view, in the message; undefined if it
   * is neither. They are valid as long as the message is.
   *
   * @throws {TypeError} If the bytes are damaged.
   */
  bytes(): Uint8Array | undefined {
    this.#message.assertHeld();
    if (!isBuffer(this.#tag) && this.#tag !== VIEW) return undefined;
    const message = this.#message;
    return this.#told(() => {
      let reader = message.from(this.#at + 1);
      let tag = this.#tag;
      let from = 0;
      let count = -1;
      if (tag === VIEW) {
        reader.byte();
        from = reader.number32();
        count = reader.number32();
        reader = message.from(message.whole(reader.at));
        tag = reader.byte();
        if (!isBuffer(tag)) throw wrong("view");
      }
      if (tag === RESIZABLE) reader.over(4);
      const length = reader.length(1);
      if (count < 0) count = length;
      if (from + count > length) throw wrong("view");
      const begin = reader.at + from;
      return reader.bytes.subarray(begin, begin + count);
    });
  }

  /** How many items, properties or entries it has; 0 if it cannot have any. */
  get size(): number {
    this.#message.assertHeld();
    return this.#size;
  }

  /**
   * The parts of a value, one after the other: the items of an array or a Set,
   * the properties of an object or an error, the entries of a Map, the source
   * and the flags of a RegExp, or the value in a boxed one. Missing items of an
   * array are passed over.
   *
   * @throws {TypeError} If the bytes are damaged.
   */
  *parts(): Generator<ValuePart, void, void> {
    const place = { index: 0, at: this.#body };
    for (let part; (part = this.#told(() => this.#next(place)));) yield part;
  }

  #next(place: { index: number; at: number }): ValuePart | undefined {
    const message = this.#message;
    const tag = this.#tag;
    const packed = packedBy(tag);
    let { index, at } = place;
    const reader = message.from(at);
    if (isArray(tag) && packed === 0) {
      index = message.pass(reader, index, this.#size);
      at = reader.at;
    }
    if (index >= this.#size) return undefined;
    place.index = index + 1;
    let key: string | ValueView | undefined = this.#shape?.keys[index];
    if (tag === MAP) {
      key = this.#view(at, index);
      message.skip(message.from(at), 1);
    } else if (tag === PAIRS || tag === ERROR) key = reader.text();
    at = reader.at;
    const name = typeof key === "string" ? key : index;
    const value = this.#view(at, name, packed);
    message.skip(message.from(at), packed > 0 ? 0 : 1);
    place.at = reader.at + packed;
    return { key, value, index };
  }

  /**
   * The property of an object or an error that has this name, or the item of an
   * array or a Set that has this number, from 0 on; undefined if there is none.
   * With several names, a part of that part, and so on.
   *
   * @throws {TypeError} If a name is neither a string nor a number, or the
   * bytes are damaged.
   */
  get<Name extends PartOf<T>>(
    name: Name,
  ): ValueView<NonNullable<T>[Name]> | undefined;
  /**
   * The same with several names, or with one that the type does not have.
   *
   * @throws {TypeError} As above.
   */
  get(...path: readonly (string | number)[]): ValueView | undefined;
  get(...path: readonly (string | number)[]): ValueView | undefined {
    for (const name of path) {
      if (typeof name !== "string" && typeof name !== "number") {
        throw unlike("get", "strings and numbers", name);
      }
    }
    this.#message.assertHeld();
    if (path.length === 0) return this;
    let view = this.#part(path[0]!);
    for (let i = 1; i < path.length && view !== undefined; i++) {
      view = view.#part(path[i]!);
    }
    return view;
  }

  /**
   * The item of an array or a Set, or the part of a boxed value or a RegExp,
   * with this number from 0 on; undefined if there is none.
   *
   * @throws {TypeError} If `index` is no number, or the bytes are damaged.
   */
  at(index: number): ValueView | undefined {
    if (typeof index !== "number") throw unlike("at", "a number", index);
    this.#message.assertHeld();
    return hasItems(this.#tag) ? this.#part(index) : undefined;
  }

  /** The name of an error's class, or of a view's, such as `"Uint8Array"`. */
  get class(): string | undefined {
    this.#message.assertHeld();
    const tag = this.#tag;
    if (tag !== ERROR && tag !== VIEW) return undefined;
    const reader = this.#message.from(this.#at + 1);
    return tag === ERROR ? reader.text() : VIEWS[reader.byte() & ~FOLLOWS];
  }

  /**
   * Builds it. It keeps none of the bytes. If the message has references, the
   * first object that is read is built with all of the message, so that objects
   * that occur twice are the same ones.
   *
   * @throws {TypeError} If the bytes are damaged.
   */
  read(): T {
    const at = this.#at;
    try {
      if (this.#packed === 0) return this.#message.read(at, this.#depth) as T;
      const { bytes, data } = this.#message.from(at);
      const number = this.#packed === 1
        ? bytes[at]!
        : this.#packed === 4
        ? data.getInt32(at, true)
        : data.getFloat64(at, true);
      return number as T;
    } catch (error) {
      throw this.#located(error);
    }
  }

  #view(at: number, key: string | number, packed: 0 | 1 | 4 | 8 = 0) {
    const depth = this.#depth + 1;
    return new ValueView(this.#message, at, depth, this, key, packed);
  }

  #part(key: string | number): ValueView | undefined {
    try {
      const place = typeof key === "number" && hasItems(this.#tag)
        ? this.#item(key)
        : this.#property(`${key}`);
      return place < 0
        ? undefined
        : this.#view(place, key, packedBy(this.#tag));
    } catch (error) {
      throw this.#located(error, key);
    }
  }

  /** Where a property begins; -1 if there is none. */
  #property(name: string): number {
    const shape = this.#shape;
    if (shape !== undefined) {
      return this.#item(shape.keys.indexOf(name));
    }
    if (this.#tag !== PAIRS && this.#tag !== ERROR) return -1;
    const message = this.#message;
    const reader = message.from(this.#body);
    for (let n = this.#size; n > 0; n--) {
      if (reader.text() === name) return reader.at;
      message.skip(reader, 1);
    }
    return -1;
  }

  /** Where the part with this number begins; -1 if there is none. */
  #item(index: number): number {
    if (!Number.isInteger(index) || index < 0 || index >= this.#size) return -1;
    const packed = packedBy(this.#tag);
    if (packed > 0) return this.#body + index * packed;
    const message = this.#message;
    const isAhead = index >= this.#last;
    let i = isAhead ? this.#last : 0;
    const reader = message.from(isAhead ? this.#lastAt : this.#body);
    if (isArray(this.#tag)) {
      for (; (i = message.pass(reader, i, this.#size)) < index; i++) {
        message.skip(reader, 1);
      }
      if (i > index) return -1;
    } else message.skip(reader, index - i);
    this.#last = index;
    return this.#lastAt = reader.at;
  }

  // ---- errors

  /** The names on the way to it. */
  #path(): (string | number)[] {
    const path = [];
    let key = this.#key;
    for (let owner = this.#owner; owner; owner = owner.#owner) {
      path.push(key);
      key = owner.#key;
    }
    return path.reverse();
  }

  #told<Result>(run: () => Result): Result {
    try {
      return run();
    } catch (error) {
      throw this.#located(error);
    }
  }

  /** An error of damaged bytes, with the path to the part in which they are. */
  #located(error: unknown, key?: string | number): unknown {
    if (!(error instanceof TypeError) || this.#message.isReleased) return error;
    const path = this.#path();
    if (key !== undefined) path.push(key);
    if (path.length > 20) path.length = 3;
    const where = path.map((key) => `[${describe(key)}]`).join("");
    if (where !== "") error.message += ` at ${brief(where)}`;
    return error;
  }
}
