/**
 * The types of a record's fields: bytes, text, arrays, numbers and structs.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import type { StructField } from "./record.ts";
import type { NumberType } from "./record_fields.ts";

export type { StructField } from "./record.ts";
export type { Field, NumberType } from "./record_fields.ts";

/** A field of bytes, made by {@linkcode bytes}. */
export interface Bytes {
  /** How many. */
  readonly bytes: number;
}

/** A field of text, made by {@linkcode text}. */
export interface Text {
  /** The most bytes that the text may have in UTF-8. */
  readonly text: number;
}

/** A field of several items of one type, made by {@linkcode array}. */
export interface ArrayOf<T extends FieldType = FieldType> {
  /** The type of an item. */
  readonly of: T;
  /** How many. */
  readonly length: number;
}

/** The type of a field. */
export type FieldType = NumberType | Bytes | Text | ArrayOf | StructType;

/** The fields of a record, in their order in memory. */
export interface Fields {
  /**
   * A field's name, which must also be a name in C, and its type. Keywords of C
   * are not refused; C cannot use a field of such a name.
   */
  readonly [name: string]: FieldType;
}

/** The JavaScript type of a field of type `T`. */
export type ValueOf<T> = T extends "i64" | "u64" ? bigint
  : T extends NumberType ? number
  : T extends Bytes ? Uint8Array
  : T extends Text ? string
  : T extends StructType<infer F> ? RecordOf<F>
  : T extends ArrayOf<infer E> ? ValueOf<E>[]
  : never;

/** A record as a JavaScript object. */
export type RecordOf<F> = { -readonly [K in keyof F]: ValueOf<F[K]> };

/** The items of an array field, in place. */
export interface ArrayView<E> {
  /** How many items there are. */
  readonly length: number;
  /**
   * The item at `index`. If items are structs, this is a view, the same object
   * each time.
   */
  get(index: number): InPlace<E>;
  /** Writes the item at `index`. */
  set(index: number, value: ValueOf<E>): void;
  /** The items in order. */
  [Symbol.iterator](): Generator<InPlace<E>, void, void>;
}

/** The type that a view has for a field of type `T`. */
export type InPlace<T> = T extends StructType<infer F> ? ViewOf<F>
  : T extends ArrayOf<infer E> ? ArrayView<E>
  : ValueOf<T>;

/**
 * The names of the fields that have views of their own; they are written
 * through those.
 */
export type InnerNames<F> = {
  [K in keyof F]: F[K] extends StructType | ArrayOf ? K : never;
}[keyof F];

/**
 * A record in place: its fields are read and written where they lie in memory.
 */
export type ViewOf<F> =
  & { -readonly [K in Exclude<keyof F, InnerNames<F>>]: InPlace<F[K]> }
  & { readonly [K in InnerNames<F>]: InPlace<F[K]> };

/** A view that can be moved. */
export type MovableView<F> = ViewOf<F> & {
  /**
   * Where the record begins in the view's bytes. Changing it moves the view.
   */
  $at: number;
};

/** A record type, laid out as a C compiler for wasm32 or 64-bit Linux does. */
export interface StructType<F = unknown> {
  /** The fields, as given. */
  readonly fields: F;
  /** How many bytes a record occupies, padding included. */
  readonly size: number;
  /** The alignment in C: 1 to 8 bytes. */
  readonly alignment: number;
  /** Where each field begins, in bytes. */
  readonly offsets: { readonly [K in keyof F]: number };
  /**
   * Copies the record at `byteOffset` of `source`. The offset may be left out
   * only if `source` is exactly as long as a record.
   *
   * @throws {TypeError} If `source` is not a view of bytes, or the offset is
   * missing.
   * @throws {RangeError} If the record does not lie within `source`.
   */
  read(source: ArrayBufferView, byteOffset?: number): RecordOf<F>;
  /**
   * Writes `record`, or those fields of it that are given, at `byteOffset` of
   * `target`. The offset may be left out only if `target` is exactly as long
   * as a record. All values are checked before any is written.
   *
   * @throws {TypeError} If a value is of another type, a field does not exist,
   * `target` is not a view of bytes, or the offset is missing.
   * @throws {RangeError} If a value is out of range, or the record does not
   * lie within `target`.
   */
  write(
    target: ArrayBufferView,
    record: Partial<RecordOf<F>>,
    byteOffset?: number,
  ): void;
  /**
   * Makes an object whose accessors read and write the record at `byteOffset`
   * of `target` in place. Making one takes some microseconds, so make it once,
   * and move it by setting its `$at`. The offset may be left out only if
   * `target` is exactly as long as a record.
   *
   * @throws {TypeError} If `target` is not a view of bytes, or the offset is
   * missing.
   * @throws {RangeError} If the record does not lie within `target`.
   */
  view(target: ArrayBufferView, byteOffset?: number): MovableView<F>;
  /**
   * A number that is another one for other fields. A queue of records notes it,
   * and C reads it by `weft_mpmc_queue_shape` and the like.
   */
  readonly shape: number;
  /** The declaration in C of a type `name`. */
  toC(name: string): string;
  /**
   * Checks, copies and views the record.
   *
   * @internal
   */
  readonly field: StructField;
  /**
   * A `TypedQueue` over a queue of bytes, with elements of this type. A new
   * queue notes their fields.
   *
   * @internal
   */
  typed(queue: object, isNew?: boolean): unknown;
}

/**
 * A field of `length` bytes: `uint8_t name[length]` in C.
 *
 * @example A name of eight bytes
 * ```ts
 * import { field, struct } from "@weft/sync";
 *
 * const User = struct({ id: "u32", name: field.bytes(8) });
 * if (User.size !== 12) throw new Error(`${User.size}`);
 * ```
 */
export function bytes(length: number): Bytes {
  return { bytes: lengthOf(length) };
}

/**
 * A field of text with at most `length` bytes in UTF-8: `char name[length]` in
 * C. The text ends at the first 0, or fills the field.
 *
 * @example A name as text
 * ```ts
 * import { field, struct } from "@weft/sync";
 *
 * const User = struct({ name: field.text(8) });
 * const memory = new Uint8Array(User.size);
 * User.write(memory, { name: "Zoë" });
 * if (User.read(memory).name !== "Zoë") throw new Error("another name");
 * ```
 */
export function text(length: number): Text {
  return { text: lengthOf(length) };
}

/**
 * A field of `length` items of one type: `type name[length]` in C.
 *
 * @example A matrix
 * ```ts
 * import { field, struct } from "@weft/sync";
 *
 * const row = field.array("f32", 4);
 * const Matrix = struct({ rows: field.array(row, 4) });
 * if (Matrix.size !== 64) throw new Error(`${Matrix.size}`);
 * ```
 */
export function array<const T extends FieldType>(
  of: T,
  length: number,
): ArrayOf<T> {
  return { of, length: lengthOf(length) };
}

function lengthOf(length: number): number {
  if (Number.isInteger(length) && length > 0 && length <= 2 ** 30) {
    return length;
  }
  throw new RangeError(
    `A length must be an integer from 1 to 2^30: received ${describe(length)}`,
  );
}
