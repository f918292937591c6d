/**
 * Records and arenas: what lies where in shared memory, for both languages.
 *
 * @module
 */

import { allocate, bufferOf, type Memory } from "./_memory.ts";
import type { Channel, Codec } from "./channel.ts";

export type { Memory } from "./_memory.ts";

/** The numbers a record can hold, by their C types. */
const NUMBERS = {
  i8: ["int8_t", 1, "Int8"],
  u8: ["uint8_t", 1, "Uint8"],
  i16: ["int16_t", 2, "Int16"],
  u16: ["uint16_t", 2, "Uint16"],
  i32: ["int32_t", 4, "Int32"],
  u32: ["uint32_t", 4, "Uint32"],
  i64: ["int64_t", 8, "BigInt64"],
  u64: ["uint64_t", 8, "BigUint64"],
  f32: ["float", 4, "Float32"],
  f64: ["double", 8, "Float64"],
} as const;

/** The name of a number type: `"i8"` to `"f64"`. */
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

/** A field of so many bytes: made by {@linkcode bytes}. */
export interface Bytes {
  /** How many. */
  readonly bytes: number;
}

/** A field of several equal ones: made by {@linkcode array}. */
export interface ArrayOf<T extends FieldType = FieldType> {
  /** What each is. */
  readonly of: T;
  /** How many. */
  readonly length: number;
}

/** What a field can be. */
export type FieldType = NumberType | Bytes | ArrayOf | StructType;

/** The fields of a record, in their order in memory. */
export interface Fields {
  /** A field's name, one in C, too, and its type. */
  readonly [name: string]: FieldType;
}

/** What a field of type `T` is in JavaScript. */
export type ValueOf<T> = T extends "i64" | "u64" ? bigint
  : T extends NumberType ? number
  : T extends Bytes ? Uint8Array
  : T extends StructType<infer F> ? RecordOf<F>
  : T extends ArrayOf<infer E> ? ValueOf<E>[]
  : never;

/** A record as a JavaScript object. */
export type RecordOf<F> = { -readonly [K in keyof F]: ValueOf<F[K]> };

/** A record type, laid out as a C compiler for wasm32 or 64-bit Linux does. */
export interface StructType<F = unknown> {
  /** The fields, as given. */
  readonly fields: F;
  /** Bytes a record occupies, padding included. */
  readonly size: number;
  /** What C aligns it to, 1 to 8 bytes. */
  readonly alignment: number;
  /** Where each field begins, in bytes. */
  readonly offsets: { readonly [K in keyof F]: number };
  /** Copies the record at `byteOffset` of `source`. */
  read(source: Uint8Array, byteOffset?: number): RecordOf<F>;
  /** Writes `record`, or those fields of it that are given. */
  write(
    target: Uint8Array,
    record: Partial<RecordOf<F>>,
    byteOffset?: number,
  ): void;
  /** Its C declaration, as type `name`. */
  toC(name: string): string;
}

/**
 * A field of `length` bytes: `uint8_t name[length]` in C.
 *
 * @example A name of eight bytes
 * ```ts
 * import { bytes, struct } from "@weft/sync";
 *
 * const User = struct({ id: "u32", name: bytes(8) });
 * if (User.size !== 12) throw new Error(`${User.size}`);
 * ```
 */
export function bytes(length: number): Bytes {
  return { bytes: lengthOf(length) };
}

/**
 * A field of `length` equal fields: `type name[length]` in C.
 *
 * @example A matrix
 * ```ts
 * import { array, struct } from "@weft/sync";
 *
 * const Matrix = struct({ rows: array(array("f32", 4), 4) });
 * if (Matrix.size !== 64) throw new Error(`${Matrix.size}`);
 * ```
 */
export function array<T extends FieldType>(of: T, length: number): ArrayOf<T> {
  return { of, length: lengthOf(length) };
}

function lengthOf(length: number): number {
  if (Number.isInteger(length) && length > 0 && length <= 2 ** 30) {
    return length;
  }
  throw new RangeError(
    `A length must be an integer from 1 to 2^30: received ${length}`,
  );
}

interface Shape {
  readonly size: number;
  readonly alignment: number;
}

const isStruct = (type: FieldType): type is StructType =>
  typeof type === "object" && "fields" in type;

function shapeOf(type: FieldType): Shape {
  if (typeof type === "string") {
    const number = NUMBERS[type];
    if (number === undefined) {
      throw new TypeError(
        `A field's type is one of ${Object.keys(NUMBERS).join(", ")}, bytes, ` +
          `array or struct: received ${type}`,
      );
    }
    return { size: number[1], alignment: number[1] };
  }
  if ("bytes" in type) return { size: type.bytes, alignment: 1 };
  if (isStruct(type)) return type;
  const { size, alignment } = shapeOf(type.of);
  return { size: size * type.length, alignment };
}

const alignUp = (offset: number, alignment: number): number =>
  Math.ceil(offset / alignment) * alignment;

const NAME = /^[A-Za-z_]\w*$/;

function assertName(name: string): void {
  if (NAME.test(name)) return;
  throw new TypeError(`A name must be one in C, too: received "${name}"`);
}

/**
 * A record type with the layout of a C struct: fields in order, each aligned
 * to its size, padded at the end to the largest.
 *
 * Records are read and written by copying, so that they may lie at any byte:
 * elements of queues begin at multiples of 4, whatever their fields.
 *
 * C twin: what `toC(name)` prints.
 *
 * @example A record through a queue
 * ```ts
 * import { bytes, SpscQueue, struct } from "@weft/sync";
 *
 * const Event = struct({ id: "u32", at: "f64", name: bytes(8) });
 * const queue = SpscQueue.create({ capacity: 16, elementSize: Event.size });
 *
 * Event.write(queue.reserve()!, { id: 7, at: 0.5 });
 * queue.commit();
 *
 * const { id, at } = Event.read(queue.peek()!);
 * queue.consume();
 * if (id !== 7 || at !== 0.5) throw new Error("another event");
 * console.log(Event.toC("event"));
 * ```
 *
 * @throws {TypeError} If there is no field, or a name or type is none.
 */
export function struct<const F extends Fields>(fields: F): StructType<F> {
  const offsets: Record<string, number> = {};
  let end = 0;
  let alignment = 1;
  for (const [name, type] of Object.entries(fields)) {
    assertName(name);
    const shape = shapeOf(type);
    offsets[name] = alignUp(end, shape.alignment);
    end = offsets[name] + shape.size;
    alignment = Math.max(alignment, shape.alignment);
  }
  if (end === 0) throw new TypeError("A struct needs a field");
  const size = alignUp(end, alignment);
  return {
    fields,
    size,
    alignment,
    offsets: offsets as { [K in keyof F]: number },
    read(source, byteOffset = 0) {
      const view = viewOf(source, byteOffset, size);
      return readStruct(fields, offsets, view, 0) as RecordOf<F>;
    },
    write(target, record, byteOffset = 0) {
      const view = viewOf(target, byteOffset, size);
      assertStruct(fields, record);
      writeStruct(fields, offsets, view, 0, record);
    },
    toC(name) {
      assertName(name);
      const lines = Object.entries(fields).map(([field, type]) =>
        `  ${declaration(field, type)};\n`
      );
      return `typedef struct {\n${lines.join("")}} ${name};\n`;
    },
  };
}

function viewOf(bytes: Uint8Array, byteOffset: number, size: number): DataView {
  if (
    Number.isInteger(byteOffset) && byteOffset >= 0 &&
    byteOffset + size <= bytes.byteLength
  ) return new DataView(bytes.buffer, bytes.byteOffset + byteOffset, size);
  throw new RangeError(
    `A record of ${size} bytes does not fit ${bytes.byteLength} bytes at ` +
      `byte ${byteOffset}`,
  );
}

function readStruct(
  fields: Fields,
  offsets: Readonly<Record<string, number>>,
  view: DataView,
  at: number,
): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(fields)) {
    record[name] = readField(type, view, at + offsets[name]!);
  }
  return record;
}

function readField(type: FieldType, view: DataView, at: number): unknown {
  if (typeof type === "string") return view[`get${NUMBERS[type][2]}`](at, true);
  if ("bytes" in type) {
    const { buffer, byteOffset } = view;
    return new Uint8Array(buffer, byteOffset + at, type.bytes).slice();
  }
  if (isStruct(type)) {
    return readStruct(type.fields as Fields, type.offsets, view, at);
  }
  const { size } = shapeOf(type.of);
  return Array.from(
    { length: type.length },
    (_, i) => readField(type.of, view, at + i * size),
  );
}

/** Checks all of a record before any of it is written. */
function assertStruct(fields: Fields, record: object): void {
  for (const [name, value] of Object.entries(record)) {
    const type = fields[name];
    if (type === undefined) throw new TypeError(`There is no field "${name}"`);
    if (value !== undefined) assertField(name, type, value);
  }
}

function assertField(name: string, type: FieldType, value: unknown): void {
  if (typeof type === "string") return assertNumber(name, type, value);
  if ("bytes" in type) {
    const length = (value as Uint8Array)?.byteLength;
    if (length <= type.bytes) return;
    throw new RangeError(
      `Field "${name}" has ${type.bytes} bytes: received ${length}`,
    );
  }
  if (isStruct(type)) {
    return assertStruct(type.fields as Fields, value as object);
  }
  const items = value as unknown[];
  if (items?.length !== type.length) {
    throw new RangeError(
      `Field "${name}" has ${type.length} items: received ${items?.length}`,
    );
  }
  for (const item of items) assertField(name, type.of, item);
}

function assertNumber(name: string, type: NumberType, value: unknown): void {
  const wide = type === "i64" || type === "u64";
  const expected = wide ? "bigint" : "number";
  const received = typeof value;
  if (received !== expected) {
    throw new TypeError(
      `Field "${name}" takes a ${expected}: received ${received}`,
    );
  }
  if (type === "f32" || type === "f64") return;
  const bits = NUMBERS[type][1] * 8;
  const integer = wide
    ? value as bigint
    : Number.isInteger(value)
    ? BigInt(value as number)
    : undefined;
  const fitted = integer === undefined
    ? undefined
    : type[0] === "i"
    ? BigInt.asIntN(bits, integer)
    : BigInt.asUintN(bits, integer);
  if (integer !== undefined && fitted === integer) return;
  throw new RangeError(`Field "${name}" is ${type}: received ${value}`);
}

function writeStruct(
  fields: Fields,
  offsets: Readonly<Record<string, number>>,
  view: DataView,
  at: number,
  record: object,
): void {
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue;
    writeField(fields[name]!, view, at + offsets[name]!, value);
  }
}

function writeField(
  type: FieldType,
  view: DataView,
  at: number,
  value: unknown,
): void {
  if (typeof type === "string") {
    return view[`set${NUMBERS[type][2]}`](at, value as never, true);
  }
  if ("bytes" in type) {
    const { buffer, byteOffset } = view;
    const field = new Uint8Array(buffer, byteOffset + at, type.bytes);
    field.fill(0).set(value as Uint8Array);
    return;
  }
  if (isStruct(type)) {
    const { fields, offsets } = type;
    return writeStruct(fields as Fields, offsets, view, at, value as object);
  }
  const { size } = shapeOf(type.of);
  (value as unknown[]).forEach((item, i) =>
    writeField(type.of, view, at + i * size, item)
  );
}

/** A field as C declares it; structs in it are declared in place. */
function declaration(name: string, type: FieldType): string {
  if (typeof type === "string") return `${NUMBERS[type][0]} ${name}`;
  if ("bytes" in type) return `uint8_t ${name}[${type.bytes}]`;
  if (isStruct(type)) {
    const inner = Object.entries(type.fields as Fields)
      .map(([field, type]) => `${declaration(field, type)}; `);
    return `struct { ${inner.join("")}} ${name}`;
  }
  return declaration(`${name}[${type.length}]`, type.of);
}

// ---- arenas -------------------------------------------------------------------

/** A primitive's class, as {@linkcode layout} uses it. */
export interface PrimitiveClass {
  /** The bytes one of this configuration occupies. */
  byteLength(...config: never[]): number;
  /** Formats a region. */
  init(memory: Memory, byteOffset: number, ...config: never[]): Placed;
  /** Attaches; a channel asks for its configuration, too. */
  new (
    memory: Memory,
    byteOffset: number | undefined,
    ...config: never[]
  ): Placed;
}

/** A primitive at its place. */
export interface Placed {
  /** Its name in C, less `weft_`. */
  readonly kind: string;
}

/** A part of an arena: a class, or a class and what its `init` takes. */
export type Part = PrimitiveClass | readonly [PrimitiveClass, ...unknown[]];

/** The parts of an arena, in their order in memory. */
export interface Parts {
  /** A part's name, one in C, too, and what it is. */
  readonly [name: string]: Part;
}

/** The primitive that a part becomes. */
export type PlacedOf<P> = P extends
  readonly [typeof Channel, { readonly codec: Codec<infer T> }] ? Channel<T>
  : P extends readonly [infer C, ...unknown[]] ? PlacedOf<C>
  : P extends { new (memory: Memory, byteOffset?: number): infer I } ? I
  : never;

/** An arena's primitives by their names. */
export type PlacedParts<P> = { readonly [K in keyof P]: PlacedOf<P[K]> };

/** Several primitives in one piece of memory. */
export interface Layout<P> {
  /** Bytes the arena occupies. */
  readonly byteLength: number;
  /** Where each part begins, in bytes: multiples of 128. */
  readonly offsets: { readonly [K in keyof P]: number };
  /** Allocates an arena and makes its parts. */
  create(): PlacedParts<P> & { readonly buffer: SharedArrayBuffer };
  /** Makes the parts in memory that nobody uses yet. */
  init(memory: Memory, byteOffset?: number): PlacedParts<P>;
  /** Attaches to parts that were made; writes nothing. */
  attach(memory: Memory, byteOffset?: number): PlacedParts<P>;
  /** C functions `name_part(void *at)`, each giving a part's address. */
  toC(name: string): string;
}

/** Parts begin this far apart: cache lines, and their prefetched pairs. */
const APART = 128;

/** What zeroed memory already is, so that C need not attach. */
const FIXED = ["mutex", "rw_lock", "condition", "event", "once"];

/**
 * Places several primitives in one piece of memory, one message to share.
 *
 * C twin: what `toC(name)` prints.
 *
 * @example A lock and a queue in one buffer
 * ```ts
 * import { layout, MpmcQueue, Mutex } from "@weft/sync";
 *
 * const shared = layout({ lock: Mutex, jobs: [MpmcQueue, { capacity: 8 }] });
 * const { buffer, jobs } = shared.create(); // post buffer to workers
 * jobs.tryPushInt(1);
 * const { jobs: same } = shared.attach(buffer);
 * if (same.tryPopInt() !== 1) throw new Error("another queue");
 * ```
 *
 * @throws {TypeError} If a name is none in C, or a part lacks its class or
 * configuration.
 * @throws {RangeError} If a configuration is out of range.
 */
export function layout<const P extends Parts>(parts: P): Layout<P> {
  const offsets: Record<string, number> = {};
  let byteLength = 0;
  for (const [name, part] of Object.entries(parts)) {
    assertName(name);
    offsets[name] = alignUp(byteLength, APART);
    byteLength = offsets[name] + lengthOfPart(name, part);
  }
  const place = (make: (part: Part, at: number) => Placed, base: number) =>
    Object.fromEntries(
      Object.entries(parts).map((
        [name, part],
      ) => [name, make(part, base + offsets[name]!)]),
    ) as PlacedParts<P>;
  const init = (memory: Memory, byteOffset = 0) => {
    assertFits(memory, byteOffset, byteLength);
    return place((part, at) => {
      const [type, config] = opened(part);
      return type.init(memory, at, ...config);
    }, byteOffset);
  };
  return {
    byteLength,
    offsets: offsets as { [K in keyof P]: number },
    create() {
      const buffer = allocate(byteLength);
      return { buffer, ...init(buffer) };
    },
    init,
    attach(memory, byteOffset = 0) {
      return place((part, at) => {
        const [type, config] = opened(part);
        return new type(memory, at, ...config);
      }, byteOffset);
    },
    toC(name) {
      assertName(name);
      const made = Object.entries(init(allocate(byteLength)));
      const functions = made.map(([part, primitive]) =>
        address(name, part, (primitive as Placed).kind, offsets[part]!)
      );
      return `#define ${name}_BYTES ${byteLength}\n${functions.join("")}`;
    },
  };
}

function opened(part: Part): [type: PrimitiveClass, config: never[]] {
  if (typeof part === "function") return [part, []];
  const [type, ...config] = part as readonly [PrimitiveClass, ...unknown[]];
  return [type, config as never[]];
}

/** The bytes a part occupies; a TypeError if it is none. */
function lengthOfPart(name: string, part: Part): number {
  const [type, config] = opened(part ?? []);
  if (typeof type?.byteLength !== "function") {
    throw new TypeError(
      `The part "${name}" must be a primitive's class, or [class, ` +
        `configuration]: received ${part}`,
    );
  }
  try {
    return type.byteLength(...config);
  } catch (error) {
    if (config.length > 0) throw error;
    throw new TypeError(
      `The part "${name}" needs a configuration: [class, configuration]`,
      { cause: error },
    );
  }
}

/** Before any part is made, that all of them fit. */
function assertFits(memory: Memory, byteOffset: number, bytes: number): void {
  const { byteLength } = bufferOf(memory);
  if (byteOffset + bytes <= byteLength) return;
  throw new RangeError(
    `An arena of ${bytes} bytes at ${byteOffset} does not fit in memory of ` +
      `${byteLength} bytes`,
  );
}

function address(name: string, part: string, kind: string, at: number): string {
  const type = `weft_${kind}`;
  const place = `(char *)at + ${at}`;
  const result = FIXED.includes(kind)
    ? `(${type} *)(void *)(${place})`
    : `${type}_attach(${place})`;
  return `static inline ${type} *${name}_${part}(void *at) {\n` +
    `  return ${result};\n}\n`;
}
