/**
 * The types of fields: each can check, copy, view in place, and declare its
 * values in C.
 *
 * @module
 */

import { brief, describe, isBytes } from "../_memory/describe.ts";

/** The name of a number type, from `"i8"` to `"f64"`. */
export type NumberType =
  | "i8"
  | "u8"
  | "i16"
  | "u16"
  | "i32"
  | "u32"
  | "i64"
  | "u64"
  | "f32"
  | "f64";

/**
 * A place in memory that the accessors of a view read and write. To move a
 * view, change `at`.
 */
export class Cursor {
  /** The memory. */
  data: DataView;
  /** Where the record begins in `data`, in bytes. */
  at: number;

  /** Points to byte `at` of `data`. */
  constructor(data: DataView, at: number) {
    this.data = data;
    this.at = at;
  }
}

/** A type of field. */
export interface Field {
  /** How many bytes a value occupies. */
  readonly size: number;
  /** The alignment in C, in bytes. */
  readonly alignment: number;
  /** The C declaration of a field with this name. */
  declare(name: string): string;
  /**
   * Checks a value completely, before any part of it is written. Returns the
   * value to pass to `set`.
   */
  check(value: unknown, name: string): unknown;
  /** Whether that may be, or contain, an array of the caller's. */
  readonly borrows?: boolean | undefined;
  /** Reads a copy of the value. */
  get(data: DataView, at: number): unknown;
  /** Writes a value that `check` returned. */
  set(data: DataView, at: number, checked: never): void;
  /** The accessor of a view; the field lies `offset` bytes after the cursor. */
  access(cursor: Cursor, offset: number, name: string): PropertyDescriptor;
}

/** What a message calls a field. */
const titleOf = (name: string) => `Field "${brief(name)}"`;

// ---- numbers ----------------------------------------------------------------

/** Throws the error for a value that is not an integer of this type. */
function refuse(name: string, type: string, value: unknown): never {
  const wide = type === "i64" || type === "u64";
  if (wide ? typeof value !== "bigint" : typeof value !== "number") {
    throw new TypeError(
      `${titleOf(name)} takes a ${wide ? "bigint" : "number"}: received ` +
        describe(value),
    );
  }
  const bits = BigInt(type.slice(1));
  const [least, most] = type.startsWith("u")
    ? [0n, (1n << bits) - 1n]
    : [-1n << bits - 1n, (1n << bits - 1n) - 1n];
  throw new RangeError(
    `${titleOf(name)} is ${type} (${least} to ${most}): received ` +
      describe(value),
  );
}

// Each accessor is written out, together with its checks. So an engine can
// inline them into the caller's loop; it does not inline functions that it
// finds in variables. An accessor keeps its cursor in its closure, not in
// `this`, because the shape of `this` differs from view to view.

const I8: Field = {
  size: 1,
  alignment: 1,
  declare: (name) => `int8_t ${name}`,
  check: (value, name) =>
    typeof value === "number" && value === value << 24 >> 24
      ? value
      : refuse(name, "i8", value),
  get: (data, at) => data.getInt8(at),
  set: (data, at, value) => data.setInt8(at, value),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getInt8(cursor.at + offset),
    set(value: number) {
      if (typeof value !== "number" || value !== value << 24 >> 24) {
        refuse(name, "i8", value);
      }
      cursor.data.setInt8(cursor.at + offset, value);
    },
  }),
};

const U8: Field = {
  size: 1,
  alignment: 1,
  declare: (name) => `uint8_t ${name}`,
  check: (value, name) =>
    typeof value === "number" && value === (value & 0xff)
      ? value
      : refuse(name, "u8", value),
  get: (data, at) => data.getUint8(at),
  set: (data, at, value) => data.setUint8(at, value),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getUint8(cursor.at + offset),
    set(value: number) {
      if (typeof value !== "number" || value !== (value & 0xff)) {
        refuse(name, "u8", value);
      }
      cursor.data.setUint8(cursor.at + offset, value);
    },
  }),
};

const I16: Field = {
  size: 2,
  alignment: 2,
  declare: (name) => `int16_t ${name}`,
  check: (value, name) =>
    typeof value === "number" && value === value << 16 >> 16
      ? value
      : refuse(name, "i16", value),
  get: (data, at) => data.getInt16(at, true),
  set: (data, at, value) => data.setInt16(at, value, true),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getInt16(cursor.at + offset, true),
    set(value: number) {
      if (typeof value !== "number" || value !== value << 16 >> 16) {
        refuse(name, "i16", value);
      }
      cursor.data.setInt16(cursor.at + offset, value, true);
    },
  }),
};

const U16: Field = {
  size: 2,
  alignment: 2,
  declare: (name) => `uint16_t ${name}`,
  check: (value, name) =>
    typeof value === "number" && value === (value & 0xffff)
      ? value
      : refuse(name, "u16", value),
  get: (data, at) => data.getUint16(at, true),
  set: (data, at, value) => data.setUint16(at, value, true),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getUint16(cursor.at + offset, true),
    set(value: number) {
      if (typeof value !== "number" || value !== (value & 0xffff)) {
        refuse(name, "u16", value);
      }
      cursor.data.setUint16(cursor.at + offset, value, true);
    },
  }),
};

export const I32: Field = {
  size: 4,
  alignment: 4,
  declare: (name) => `int32_t ${name}`,
  check: (value, name) =>
    typeof value === "number" && value === (value | 0)
      ? value
      : refuse(name, "i32", value),
  get: (data, at) => data.getInt32(at, true),
  set: (data, at, value) => data.setInt32(at, value, true),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getInt32(cursor.at + offset, true),
    set(value: number) {
      if (typeof value !== "number" || value !== (value | 0)) {
        refuse(name, "i32", value);
      }
      cursor.data.setInt32(cursor.at + offset, value, true);
    },
  }),
};

export const U32: Field = {
  size: 4,
  alignment: 4,
  declare: (name) => `uint32_t ${name}`,
  check: (value, name) =>
    typeof value === "number" && value === value >>> 0
      ? value
      : refuse(name, "u32", value),
  get: (data, at) => data.getUint32(at, true),
  set: (data, at, value) => data.setUint32(at, value, true),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getUint32(cursor.at + offset, true),
    set(value: number) {
      if (typeof value !== "number" || value !== value >>> 0) {
        refuse(name, "u32", value);
      }
      cursor.data.setUint32(cursor.at + offset, value, true);
    },
  }),
};

const I64: Field = {
  size: 8,
  alignment: 8,
  declare: (name) => `int64_t ${name}`,
  check: (value, name) =>
    typeof value === "bigint" && value === BigInt.asIntN(64, value)
      ? value
      : refuse(name, "i64", value),
  get: (data, at) => data.getBigInt64(at, true),
  set: (data, at, value) => data.setBigInt64(at, value, true),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getBigInt64(cursor.at + offset, true),
    set(value: bigint) {
      if (typeof value !== "bigint" || value !== BigInt.asIntN(64, value)) {
        refuse(name, "i64", value);
      }
      cursor.data.setBigInt64(cursor.at + offset, value, true);
    },
  }),
};

const U64: Field = {
  size: 8,
  alignment: 8,
  declare: (name) => `uint64_t ${name}`,
  check: (value, name) =>
    typeof value === "bigint" && value === BigInt.asUintN(64, value)
      ? value
      : refuse(name, "u64", value),
  get: (data, at) => data.getBigUint64(at, true),
  set: (data, at, value) => data.setBigUint64(at, value, true),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getBigUint64(cursor.at + offset, true),
    set(value: bigint) {
      if (typeof value !== "bigint" || value !== BigInt.asUintN(64, value)) {
        refuse(name, "u64", value);
      }
      cursor.data.setBigUint64(cursor.at + offset, value, true);
    },
  }),
};

const F32: Field = {
  size: 4,
  alignment: 4,
  declare: (name) => `float ${name}`,
  check: (value, name) =>
    typeof value === "number" ? value : refuse(name, "f32", value),
  get: (data, at) => data.getFloat32(at, true),
  set: (data, at, value) => data.setFloat32(at, value, true),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getFloat32(cursor.at + offset, true),
    set(value: number) {
      if (typeof value !== "number") refuse(name, "f32", value);
      cursor.data.setFloat32(cursor.at + offset, value, true);
    },
  }),
};

export const F64: Field = {
  size: 8,
  alignment: 8,
  declare: (name) => `double ${name}`,
  check: (value, name) =>
    typeof value === "number" ? value : refuse(name, "f64", value),
  get: (data, at) => data.getFloat64(at, true),
  set: (data, at, value) => data.setFloat64(at, value, true),
  access: (cursor, offset, name) => ({
    get: () => cursor.data.getFloat64(cursor.at + offset, true),
    set(value: number) {
      if (typeof value !== "number") refuse(name, "f64", value);
      cursor.data.setFloat64(cursor.at + offset, value, true);
    },
  }),
};

/** The number types that a record can hold. */
export const NUMBERS: Readonly<Record<NumberType, Field>> = {
  i8: I8,
  u8: U8,
  i16: I16,
  u16: U16,
  i32: I32,
  u32: U32,
  i64: I64,
  u64: U64,
  f32: F32,
  f64: F64,
};

// ---- bytes and text ---------------------------------------------------------

/** The memory of a field, as bytes. */
function window(data: DataView, at: number, length: number): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset + at, length);
}

/** A field of `length` bytes. */
export function bytesField(length: number): Field {
  const check = (value: unknown, name: string): Uint8Array => {
    if (!isBytes(value)) {
      throw new TypeError(
        `${titleOf(name)} takes a Uint8Array: received ${describe(value)}`,
      );
    }
    if (value.byteLength <= length) return value;
    throw new RangeError(
      `${titleOf(name)} has ${length} bytes: received ${value.byteLength}`,
    );
  };
  const set = (data: DataView, at: number, value: Uint8Array) => {
    const field = window(data, at, length);
    field.set(value);
    field.fill(0, value.byteLength);
  };
  return {
    size: length,
    alignment: 1,
    declare: (name) => `uint8_t ${name}[${length}]`,
    check,
    borrows: true,
    get: (data, at) => window(data, at, length).slice(),
    set,
    access: (cursor, offset, name) => ({
      get: () => window(cursor.data, cursor.at + offset, length),
      set(value: Uint8Array) {
        set(cursor.data, cursor.at + offset, check(value, name));
      },
    }),
  };
}

let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;

/** A field of text: UTF-8 in `length` bytes, with zeros after the text. */
export function textField(length: number): Field {
  // Made at its first use, because an AudioWorklet has no TextEncoder.
  const check = (value: unknown, name: string): Uint8Array => {
    if (typeof value !== "string") {
      throw new TypeError(
        `${titleOf(name)} takes a string: received ${describe(value)}`,
      );
    }
    if (/[\0\p{Surrogate}]/u.test(value)) {
      throw new RangeError(
        `${titleOf(name)} takes text without U+0000 and without half of a ` +
          `surrogate pair: received ${describe(value)}`,
      );
    }
    const utf8 = (encoder ??= new TextEncoder()).encode(value);
    if (utf8.byteLength <= length) return utf8;
    throw new RangeError(
      `${titleOf(name)} has ${length} bytes: received ${utf8.byteLength}`,
    );
  };
  const get = (data: DataView, at: number) => {
    const copy = window(data, at, length).slice();
    const end = copy.indexOf(0);
    return (decoder ??= new TextDecoder("utf-8", { ignoreBOM: true }))
      .decode(end < 0 ? copy : copy.subarray(0, end));
  };
  const { set } = bytesField(length);
  return {
    size: length,
    alignment: 1,
    declare: (name) => `char ${name}[${length}]`,
    check,
    get,
    set,
    access: (cursor, offset, name) => ({
      get: () => get(cursor.data, cursor.at + offset),
      set(value: string) {
        set(cursor.data, cursor.at + offset, check(value, name) as never);
      },
    }),
  };
}

// ---- arrays -----------------------------------------------------------------

/** A field that is an array of `length` items of one type. */
export function arrayField(item: Field, length: number): Field {
  const { size } = item;
  const check = (value: unknown, name: string): unknown[] => {
    const items = value as unknown[];
    if (!Array.isArray(value) && !ArrayBuffer.isView(value)) {
      throw new TypeError(
        `${titleOf(name)} takes an array: received ${describe(value)}`,
      );
    }
    if (items.length !== length) {
      throw new RangeError(
        `${titleOf(name)} has ${length} items: received ${items.length}`,
      );
    }
    const checked = new Array(length);
    for (let i = 0; i < length; i++) {
      checked[i] = item.check(items[i], `${name}[${i}]`);
    }
    return checked;
  };
  return {
    size: size * length,
    alignment: item.alignment,
    declare: (name) => item.declare(`${name}[${length}]`),
    check,
    borrows: item.borrows,
    get(data, at) {
      const items = new Array(length);
      for (let i = 0; i < length; i++) items[i] = item.get(data, at + i * size);
      return items;
    },
    set(data, at, checked: never[]) {
      for (let i = 0; i < length; i++) {
        item.set(data, at + i * size, checked[i]!);
      }
    },
    access(cursor, offset, name) {
      const items = new ItemsView(item, length, cursor, offset, name);
      return { get: () => items };
    },
  };
}

/** The items of an array field, in place. */
class ItemsView {
  readonly length: number;
  readonly #item: Field;
  readonly #cursor: Cursor;
  readonly #offset: number;
  readonly #name: string;
  /** The place that the accessor of one item points to. */
  readonly #place: Cursor;
  readonly #accessor: PropertyDescriptor;

  constructor(
    item: Field,
    length: number,
    cursor: Cursor,
    offset: number,
    name: string,
  ) {
    this.length = length;
    this.#item = item;
    this.#cursor = cursor;
    this.#offset = offset;
    this.#name = name;
    this.#place = new Cursor(cursor.data, 0);
    this.#accessor = item.access(this.#place, 0, `${name}[]`);
  }

  get(index: number): unknown {
    this.#move(index);
    return this.#accessor.get!();
  }

  set(index: number, value: unknown): void {
    this.#move(index);
    const checked = this.#item.check(value, `${this.#name}[${index}]`);
    this.#item.set(this.#place.data, this.#place.at, checked as never);
  }

  *[Symbol.iterator](): Generator<unknown, void, void> {
    for (let i = 0; i < this.length; i++) yield this.get(i);
  }

  toJSON(): unknown[] {
    return [...this];
  }

  #move(index: number): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) {
      throw new RangeError(
        `${titleOf(this.#name)} has ${this.length} items: received index ` +
          describe(index),
      );
    }
    const { data, at } = this.#cursor;
    this.#place.data = data;
    this.#place.at = at + this.#offset + index * this.#item.size;
  }
}
