/**
 * Records and arenas, which place values and primitives in shared memory for
 * both languages.
 *
 * @module
 */

import { brief, describe } from "./_memory/describe.ts";
import type {
  Fields,
  FieldType,
  MovableView,
  RecordOf,
  StructType,
} from "./_message/field.ts";
import { allocate, bufferOf, type Memory, offsetOf } from "./_memory/memory.ts";
import { hash } from "./_message/message.ts";
import { alignUp, structField } from "./_message/record.ts";
import {
  arrayField,
  bytesField,
  Cursor,
  type Field,
  NUMBERS,
  textField,
} from "./_message/record_fields.ts";
import { elementOf, isTyped } from "./_message/typed.ts";
import { type BytesQueue, TypedQueue } from "./_queue/typed_queue.ts";
import type { Channel, Codec } from "./channel.ts";
import type { HashMap } from "./hash_map.ts";

export * as field from "./_message/field.ts";
export type {
  ArrayOf,
  ArrayView,
  Bytes,
  Fields,
  FieldType,
  InnerNames,
  InPlace,
  MovableView,
  NumberType,
  RecordOf,
  StructType,
  Text,
  ValueOf,
  ViewOf,
} from "./_message/field.ts";
export type { Memory } from "./_memory/memory.ts";
export {
  type BytesQueue,
  TypedQueue,
  TypedQueueBase,
} from "./_queue/typed_queue.ts";

/**
 * The field for a type. Throws a TypeError if `type` is not a type of field.
 */
function fieldOf(type: FieldType): Field {
  if (typeof type === "string" && Object.hasOwn(NUMBERS, type)) {
    return NUMBERS[type];
  }
  if (typeof type === "object" && type !== null) {
    if ("bytes" in type) return bytesField(type.bytes);
    if ("text" in type) return textField(type.text);
    if ("field" in type) return type.field;
    if ("of" in type) return arrayField(fieldOf(type.of), type.length);
  }
  throw new TypeError(
    `A field's type must be one of ${
      Object.keys(NUMBERS).join(", ")
    }, or made by ` +
      `field.bytes, field.text, field.array or struct: received ` +
      describe(type),
  );
}

const NAME = /^[A-Za-z_]\w*$/;

function assertName(name: string): void {
  if (NAME.test(name) && name !== "__proto__") return;
  throw new TypeError(
    `A name must also be a name in C: received ${describe(name)}`,
  );
}

/**
 * Makes a record type with the layout of a C struct: the fields lie in order,
 * each aligned to its size, and the end is padded to the largest alignment.
 *
 * Records may begin at any byte, aligned or not.
 *
 * C twin: the declarations that `toC(name)` prints.
 *
 * @example A record read and written in place
 * ```ts
 * import { field, struct } from "@weft/sync";
 *
 * const Event = struct({ id: "u32", at: "f64", name: field.text(8) });
 * const log = new Uint8Array(new SharedArrayBuffer(16 * Event.size));
 *
 * const event = Event.view(log, 0);
 * event.id = 7;
 * event.name = "start";
 * event.$at += Event.size; // the view moves on to the second record
 * event.id = 8;
 *
 * const { id, name } = Event.read(log, 0); // a copy of the first one
 * if (id !== 7 || name !== "start") throw new Error("another event");
 * console.log(Event.toC("event"));
 * ```
 *
 * @throws {TypeError} If there are no fields, or a name or a type is not valid.
 */
export function struct<const F extends Fields>(fields: F): StructType<F> {
  if (typeof fields !== "object" || fields === null) {
    throw new TypeError(
      `A struct takes an object of fields: received ${describe(fields)}`,
    );
  }
  const named = Object.entries(fields).map(([name, type]) => {
    assertName(name);
    return [name, fieldOf(type)] as const;
  });
  if (named.length === 0) throw new TypeError("A struct needs a field");
  const field = structField(named);
  const { size, alignment, offsets } = field;
  // The view of the last array: most often the same array comes again.
  let last: ArrayBufferView | undefined;
  let length = 0;
  let data: DataView;
  const place = (array: ArrayBufferView, byteOffset: number | undefined) => {
    // An array over a resizable buffer may have changed its length.
    if (array !== last || array.byteLength !== length) {
      data = dataOf(array);
      last = array;
      length = data.byteLength;
    }
    if (byteOffset === undefined && length === size) return 0;
    assertPlace(byteOffset, size, length);
    return byteOffset!;
  };
  return {
    fields,
    size,
    alignment,
    offsets: offsets as { [K in keyof F]: number },
    read(source, byteOffset) {
      const at = place(source, byteOffset);
      return field.get(data, at) as RecordOf<F>;
    },
    write(target, record, byteOffset) {
      place(target, byteOffset);
      const checked = field.check(record, "");
      // A getter of the record may have changed the array, so look again.
      const at = place(target, byteOffset);
      field.set(data, at, checked as never);
      field.release(checked as never);
    },
    view(target, byteOffset) {
      const data = dataOf(target);
      if (byteOffset === undefined && data.byteLength === size) byteOffset = 0;
      assertPlace(byteOffset, size, data.byteLength);
      const cursor = new Cursor(data, byteOffset!);
      const end = data.byteLength - size;
      const position = {
        get: () => cursor.at,
        set(at: number) {
          // For the usual integers, the first test alone decides.
          if (at !== at >>> 0 || at > end) {
            assertPlace(at, size, data.byteLength);
          }
          cursor.at = at;
        },
      };
      return field.view(cursor, 0, "", position) as MovableView<F>;
    },
    toC(name) {
      assertName(name);
      const lines = named.map(([name, field]) => `  ${field.declare(name)};\n`);
      return `typedef struct {\n${lines.join("")}} ${name};\n`;
    },
    get shape() {
      return hash(this.toC("record")); // as a channel's
    },
    field,
    typed(queue, isNew) {
      return new TypedQueue(queue as BytesQueue, this, isNew);
    },
  };
}

/** A DataView of the bytes of an array. */
function dataOf(array: ArrayBufferView): DataView {
  if (!ArrayBuffer.isView(array)) {
    throw new TypeError(
      `A record's bytes must be a typed array or a DataView: received ` +
        describe(array),
    );
  }
  return new DataView(array.buffer, array.byteOffset, array.byteLength);
}

/**
 * Checks that a record of `size` bytes at this place lies within `length`
 * bytes.
 */
function assertPlace(
  byteOffset: number | undefined,
  size: number,
  length: number,
): void {
  if (byteOffset === undefined && length > size) {
    throw new TypeError(
      `Give the offset of the record of ${size} bytes: the array has ` +
        `${length} bytes`,
    );
  }
  const at = byteOffset ?? 0;
  if (Number.isInteger(at) && at >= 0 && at + size <= length) return;
  throw new RangeError(
    `A record of ${size} bytes does not fit ${length} bytes at byte ` +
      describe(at),
  );
}

// ---- arenas -----------------------------------------------------------------

/** The part of a primitive's class that {@linkcode layout} uses. */
export interface PrimitiveClass {
  /** How many bytes a primitive of this configuration occupies. */
  byteLength(...config: never[]): number;
  /** Initializes a primitive in unused memory. */
  init(memory: Memory, byteOffset: number | bigint, ...config: never[]): Placed;
  /** Attaches to a primitive; a channel needs its configuration, too. */
  new (
    memory: Memory,
    byteOffset: number | undefined,
    ...config: never[]
  ): Placed;
}

/** A primitive at its place. */
export interface Placed {
  /** The primitive's name in C, without `weft_`. */
  readonly kind: string;
}

/** A part of an arena: a class, or a class with the arguments of its `init`. */
export type Part = PrimitiveClass | readonly [PrimitiveClass, ...unknown[]];

/** The parts of an arena, in their order in memory. */
export interface Parts {
  /** A part's name, which must also be a name in C, and the part. */
  readonly [name: string]: Part;
}

/** The type of the primitive that is made for a part. */
export type PlacedOf<P> = P extends
  readonly [typeof Channel, { readonly codec: Codec<infer T> }] ? Channel<T>
  : P extends readonly [
    { init(...args: never[]): { readonly kind: "hash_map" } },
    { readonly key?: Codec<infer K>; readonly value?: Codec<infer V> },
  ] ? HashMap<K, V>
  : P extends readonly [
    { init(...args: never[]): { readonly kind: infer Kind extends string } },
    { readonly element: StructType<infer F> },
  ] ? TypedQueue<F, Kind>
  : P extends readonly [infer C, ...unknown[]] ? PlacedOf<C>
  : P extends { new (memory: Memory, byteOffset?: number | bigint): infer I }
    ? I
  : never;

/** An arena's primitives by their names. */
export type PlacedParts<P> = { readonly [K in keyof P]: PlacedOf<P[K]> };

/** Several primitives in one piece of memory. */
export interface Layout<P> {
  /** How many bytes the arena occupies. */
  readonly byteLength: number;
  /** Where each part begins, in bytes; always a multiple of 128. */
  readonly offsets: { readonly [K in keyof P]: number };
  /** Allocates an arena and initializes its parts. */
  create(): PlacedParts<P> & { readonly buffer: SharedArrayBuffer };
  /** Initializes the parts in unused memory; all of them, or on errors none. */
  init(memory: Memory, byteOffset?: number | bigint): PlacedParts<P>;
  /** Attaches to parts that were initialized; writes nothing. */
  attach(memory: Memory, byteOffset?: number | bigint): PlacedParts<P>;
  /**
   * C functions `name_part(void *at)`, each of which returns a part's address.
   */
  toC(name: string): string;
}

/**
 * Parts begin at multiples of this many bytes: two cache lines, as processors
 * prefetch lines in pairs.
 */
const APART_BYTES = 128;

/** The kinds for which zeroed memory is valid, so that C need not attach. */
const FIXED = [
  "mutex",
  "rw_lock",
  "condition",
  "event",
  "wait_group",
  "once",
];

/**
 * Places several primitives in one piece of memory, so that one message shares
 * them all.
 *
 * C twin: the declarations that `toC(name)` prints.
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
 * @throws {TypeError} If `parts` is not an object, a name is not a name in C or
 * is `buffer`, or a part lacks its class or configuration.
 * @throws {RangeError} If a configuration is out of range.
 */
export function layout<const P extends Parts>(parts: P): Layout<P> {
  if (typeof parts !== "object" || parts === null) {
    throw new TypeError(
      `A layout takes an object of parts: received ${describe(parts)}`,
    );
  }
  const offsets: Record<string, number> = {};
  let byteLength = 0;
  for (const [name, part] of Object.entries(parts)) {
    assertName(name);
    if (name === "buffer") {
      throw new TypeError(
        'A part cannot be named "buffer": create() returns the memory by it',
      );
    }
    offsets[name] = alignUp(byteLength, APART_BYTES);
    byteLength = offsets[name] + lengthOfPart(name, part);
  }
  const place = (make: (part: Part, at: number) => Placed, base: number) =>
    Object.fromEntries(
      Object.entries(parts).map((
        [name, part],
      ) => [name, make(part, base + offsets[name]!)]),
    ) as PlacedParts<P>;
  const initAt = (memory: Memory, base: number) =>
    place((part, at) => {
      const [type, config] = classOf(part);
      return type.init(memory, at, ...config);
    }, base);
  const create = () => {
    const buffer = allocate(byteLength);
    return { buffer, ...initAt(buffer, 0) };
  };
  let checked = false;
  return {
    byteLength,
    offsets: offsets as { [K in keyof P]: number },
    create,
    init(memory, byteOffset = 0) {
      const base = offsetOf(byteOffset);
      assertFits(memory, base, byteLength);
      // So that a part that refuses its configuration leaves `memory` alone.
      if (!checked) create();
      checked = true;
      return initAt(memory, base);
    },
    attach(memory, byteOffset = 0) {
      return place((part, at) => {
        const [type, config] = classOf(part);
        const placed = new type(memory, at, ...config);
        return isTyped(config[0])
          ? elementOf(config[0]).typed(placed) as Placed
          : placed;
      }, offsetOf(byteOffset));
    },
    toC(name) {
      assertName(name);
      const made = Object.entries(initAt(allocate(byteLength), 0));
      const functions = made.map(([part, primitive]) =>
        address(name, part, (primitive as Placed).kind, offsets[part]!)
      );
      return `#define ${name}_BYTES ${byteLength}\n${functions.join("")}`;
    },
  };
}

function classOf(part: Part): [type: PrimitiveClass, config: never[]] {
  if (typeof part === "function") return [part, []];
  const [type, ...config] = part as readonly [PrimitiveClass, ...unknown[]];
  return [type, config as never[]];
}

/** How many bytes a part occupies. Throws a TypeError if it is not a part. */
function lengthOfPart(name: string, part: Part): number {
  const isPart = typeof part === "function" || Array.isArray(part);
  const [type, config] = classOf(isPart ? part : [] as never);
  if (typeof type?.byteLength !== "function") {
    throw new TypeError(
      `The part "${brief(name)}" must be a primitive's class, or [class, ` +
        `configuration]: received ${describe(part)}`,
    );
  }
  try {
    return type.byteLength(...config);
  } catch (error) {
    if (config.length > 0) throw error;
    throw new TypeError(
      `The part "${brief(name)}" needs a configuration: [class, configuration]`,
      { cause: error },
    );
  }
}

/** Checks that all parts fit, before any of them is initialized. */
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
