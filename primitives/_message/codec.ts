/**
 * The codecs of bytes, text and JSON, and the types of all codecs, which turn
 * values into messages and messages into values. Those of numbers and records:
 * see `_queue/channel/codecs.ts`.
 *
 * @module
 */

import { copyBytes, copyOf } from "./bytes.ts";
import { brief, isBytes } from "../_memory/describe.ts";
import { type Codec, type PlacedCodec, refusal } from "./message.ts";
import { readUtf8At, writeUtf8At } from "./utf8.ts";

export type { Codec, SizedCodec } from "./message.ts";

/**
 * The type of {@linkcode json}. Say what its values are: `create<Job>(…)`. It
 * carries the types that {@linkcode JsonOf} lets through.
 */
export interface JsonCodec extends Codec<JsonValue> {
  /** Its name. */
  readonly name: "json";
}

/**
 * The type of `valueCodec`. Name the type of its values: `create<Job>(…)`. It
 * carries the types that {@linkcode StructuredOf} lets through.
 */
export interface ValueCodec extends Codec<unknown> {
  /** Its name. */
  readonly name: "value";
  /** Never there: it tells the compiler that this is not your own codec. */
  readonly own?: false;
}

/**
 * `T`, if all of its values may have a JSON form. Otherwise a type that no `T`
 * can be assigned to, because the part that has no such form is `never` there.
 * An object that has methods, such as a `Date`, has none; a property may be
 * missing, but not `undefined`.
 */
export type JsonOf<T> = T extends JsonValue ? T
  : T extends (...args: never) => unknown ? never
  : T extends abstract new (...args: never) => unknown ? never
  : T extends object
    ? { [Key in keyof T]: Key extends symbol ? never : JsonOf<T[Key]> }
  : never;

/**
 * `T`, if `structuredClone` may copy all of its values. Otherwise a type that
 * no `T` can be assigned to: see {@linkcode JsonOf}.
 */
export type StructuredOf<T> = unknown extends T ? T
  : T extends
    | JsonValue
    | bigint
    | undefined
    | void
    | Date
    | RegExp
    | Error
    | ArrayBuffer
    | ArrayBufferView ? T
  : T extends SharedArrayBuffer | ((...args: never) => unknown) ? never
  : T extends abstract new (...args: never) => unknown ? never
  : T extends ReadonlyMap<infer Key, infer Value>
    ? ReadonlyMap<StructuredOf<Key>, StructuredOf<Value>>
  : T extends ReadonlySet<infer Value> ? ReadonlySet<StructuredOf<Value>>
  : T extends object
    ? { [Key in keyof T]: Key extends symbol ? never : StructuredOf<T[Key]> }
  : never;

/**
 * The codecs that carry values of type `T`. With a codec that does not, the
 * call does not compile.
 */
export type CodecOf<T> =
  // It takes every T: the compiler compares methods less strictly.
  | (Codec<T> & { readonly encode: (value: T, into: Uint8Array) => number })
  | ([T] extends [JsonOf<T>] ? JsonCodec : never)
  | ([T] extends [StructuredOf<T>] ? ValueCodec : never);

/**
 * A codec of yours, for any values: the compiler does not know which it
 * carries.
 */
export interface OwnCodec {
  /** As in {@linkcode Codec}. */
  readonly name: string;
  /** As in {@linkcode Codec}. */
  readonly encode: (value: unknown, into: Uint8Array) => number;
  /** As in {@linkcode Codec}. */
  readonly decode: (bytes: Uint8Array) => unknown;
  /** Never there. */
  readonly own?: true;
}

/** Whether JSON carries a value of type `T`, or nothing, or a promise of it. */
export type IsJson<T> = unknown extends T ? true
  : [Exclude<T, undefined | void | AbortSignal>] extends
    [JsonOf<Exclude<T, undefined | void | AbortSignal>>] ? true
  : false;

/**
 * Whether `structuredClone` copies a value of type `T`, or nothing, or a
 * promise of it.
 */
export type IsStructured<T> = unknown extends T ? true
  : [Exclude<T, undefined | void | AbortSignal>] extends
    [StructuredOf<Exclude<T, undefined | void | AbortSignal>>] ? true
  : false;

/**
 * Whether a property is read as a value, not as an object of methods. Arrays,
 * maps and bytes are values, too.
 */
export type IsData<T> = [T] extends [StructuredOf<T>] ? true : false;

/** Whether a value is iterated where it is, and not copied. */
export type IsIterated<T> = unknown extends T ? false
  : [T] extends [never] ? false
  : [T] extends [AsyncIterable<unknown> | IterableIterator<unknown>] ? true
  : false;

/** The values of an iterator that is iterated where it is. */
export type IteratedOf<T> = T extends AsyncIterable<infer Value> ? Value
  : T extends Iterable<infer Value> ? Value
  : never;

/** What is carried of a value: if it is an iterator, its values. */
export type CarriedOf<T> = IsIterated<T> extends true ? IteratedOf<T> : T;

/** Whether an argument is a function, or is iterated where it is. */
export type StaysHere<T> = unknown extends T ? false
  : [T] extends [never] ? false
  : [NonNullable<T>] extends [
    | ((...args: never[]) => unknown)
    | AsyncIterable<unknown>
    | IterableIterator<unknown>,
  ] ? true
  : false;

/**
 * What is carried of an argument: if it is a function, its arguments and its
 * result.
 */
export type CarriedOfArgument<T> = unknown extends T ? T
  : T extends (...args: infer Args) => infer Result
    ? { [At in keyof Args]: Args[At] }[number] | Awaited<Result>
  : T extends AsyncIterable<infer Value> ? Value
  : T extends IterableIterator<infer Value> ? Value
  : T;

/** The arguments and the result of a method. */
export type ValuesOf<Method> = Method extends
  (...args: infer Args) => infer Result ?
    | CarriedOfArgument<{ [At in keyof Args]: Args[At] }[number]>
    | CarriedOf<Awaited<Result>>
  : never;

/** An object that is served; a function as if it were a method of one. */
export type MethodsOf<Api> = 0 extends 1 & Api ? Api
  : Api extends (...args: never[]) => unknown ? Api & { readonly itself: Api }
  : Api;

/** An optional property, if it is there. */
export type There<T> = [NonNullable<T>] extends [never] ? T : NonNullable<T>;

/** Whether each property of `T` is `true`. */
export type AllTrue<T> = [T[keyof T]] extends [true] ? true : false;

/**
 * Whether JSON carries what the methods of an object take and return, and its
 * properties; `Depth` is how deep the object is nested, up to 3.
 */
export type IsJsonApi<Api, Depth extends 0[] = []> = Depth["length"] extends 3
  ? true
  : AllTrue<
    {
      [Name in keyof Api]-?: There<Api[Name]> extends
        (...args: never[]) => unknown ? IsJson<ValuesOf<There<Api[Name]>>>
        : IsData<Api[Name]> extends true ? IsJson<Api[Name]>
        : IsJsonApi<There<Api[Name]>, [...Depth, 0]>;
    }
  >;

/** The same of `structuredClone`. */
export type IsStructuredApi<Api, Depth extends 0[] = []> =
  Depth["length"] extends 3 ? true
    : AllTrue<
      {
        [Name in keyof Api]-?: There<Api[Name]> extends
          (...args: never[]) => unknown
          ? IsStructured<ValuesOf<There<Api[Name]>>>
          : IsData<Api[Name]> extends true ? true
          : IsStructuredApi<There<Api[Name]>, [...Depth, 0]>;
      }
    >;

/** The codecs that carry the arguments and results of an object's methods. */
export type CodecOfApi<Api> =
  | OwnCodec
  | (IsJsonApi<MethodsOf<Api>> extends true ? JsonCodec : never)
  | (IsStructuredApi<MethodsOf<Api>> extends true ? ValueCodec : never);

/** Adds the two functions that users see, which take views. */
function placed<T>(
  codec: Omit<PlacedCodec<T>, "encode" | "decode">,
): PlacedCodec<T> {
  const { encodeAt, decodeAt } = codec;
  return {
    ...codec,
    encode: (value, into) => encodeAt(value, into, 0, into.length),
    decode: (bytes) => decodeAt(bytes, 0, bytes.length),
  };
}

// ---- bytes and text ---------------------------------------------------------

/**
 * Any number of bytes, 0 included. Each message is received as a new
 * Uint8Array.
 *
 * @example Bytes
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * const bytes = Channel.create({ codec: codec.binary, capacity: 8 });
 * bytes.trySend(Uint8Array.of(1, 2, 3));
 * if (bytes.tryReceive()?.length !== 3) throw new Error("others");
 * ```
 */
export const binary: Codec<Uint8Array> = /* @__PURE__ */ placed({
  name: "binary",
  encodeAt(value, memory, at, room) {
    if (!isBytes(value)) {
      throw refusal("binary", value, "it is not a Uint8Array");
    }
    if (value.length <= room) copyBytes(value, memory, at);
    return value.length;
  },
  decodeAt: copyOf,
});

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Strings, sent as UTF-8; C reads them, too. A string with half of a surrogate
 * pair has no UTF-8 form and is refused.
 *
 * @example Lines
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * const lines = Channel.create({ codec: codec.text, capacity: 8 });
 * lines.trySend("grüß dich");
 * if (lines.tryReceive() !== "grüß dich") throw new Error("another one");
 * ```
 */
export const text: Codec<string> = /* @__PURE__ */ placed({
  name: "text",
  encodeAt(value, memory, at, room) {
    if (typeof value !== "string") {
      throw refusal("text", value, "it is not a string");
    }
    if (value.isWellFormed?.() !== true) {
      const at = value.search(LONE_SURROGATE);
      if (at >= 0) {
        throw new RangeError(
          "Cannot encode a string with half of a surrogate pair, which has no " +
            `UTF-8 form: received U+${value.charCodeAt(at).toString(16)} at ` +
            at,
        );
      }
    }
    return writeUtf8At(value, memory, at, room);
  },
  decodeAt: readUtf8At,
});

// ---- JSON -------------------------------------------------------------------

/** The values that {@linkcode json} delivers. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonValue[]
  | { [key: string]: JsonValue };

/**
 * Values that are nested deeper are refused, and so are values that contain
 * themselves.
 */
const DEEPEST = 1000;

/**
 * `null`, booleans, finite numbers (-0 stays -0), all strings, arrays without
 * holes, and plain objects of those. They arrive equal, property by property.
 * Every other value is refused, and the error names its path: `undefined`, NaN,
 * the infinities, BigInts, functions, symbols, objects with another prototype
 * or with hidden properties, and values nested more than 1000 deep. An object
 * that occurs twice arrives as two objects. A getter is called twice, and must
 * return the same value both times.
 *
 * @example Objects of a type of yours
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * interface Job {
 *   id: number;
 *   tags: string[];
 * }
 * const jobs = Channel.create<Job>({ codec: codec.json, capacity: 8 });
 * jobs.trySend({ id: 7, tags: ["a", "ü"] });
 * if (jobs.tryReceive()?.id !== 7) throw new Error("another job");
 *
 * let refused = false;
 * try {
 *   jobs.trySend({ id: NaN, tags: [] }); // JSON.stringify would send null
 * } catch {
 *   refused = true;
 * }
 * if (!refused) throw new Error("sent something else");
 * ```
 */
export const json: JsonCodec = /* @__PURE__ */ placed({
  name: "json",
  encodeAt(value: JsonValue, memory, at, room) {
    const written = isPlain(value, 0)
      ? JSON.stringify(value)
      : withNegativeZeros(value);
    return writeUtf8At(written, memory, at, room);
  },
  decodeAt: (memory, at, length): JsonValue =>
    JSON.parse(readUtf8At(memory, at, length)),
}) as Codec<JsonValue> as JsonCodec;

/**
 * Whether `JSON.stringify` writes a text from which an equal value can be read.
 * `JSON.stringify` silently omits or changes values that JSON cannot express.
 * Also false if `value` contains a -0.
 */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return value - value === 0 && (value !== 0 || 1 / value > 0);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth >= DEEPEST) return false;
  const prototype = Object.getPrototypeOf(value);
  // Hidden properties would be lost, and a hidden `toJSON` would be called.
  const count = Reflect.ownKeys(value).length;
  if (Array.isArray(value)) {
    const { length } = value;
    if (prototype !== Array.prototype || count !== length + 1) return false;
    for (let i = 0; i < length; i++) {
      if (!isPlain(value[i], depth + 1)) return false;
    }
    return true;
  }
  if (prototype !== Object.prototype || isBoxed(value)) return false;
  const record = value as Record<string, unknown>;
  let shown = 0;
  for (const key in record) {
    if (!isPlain(record[key], depth + 1)) return false;
    shown++;
  }
  return shown === count;
}

/**
 * Whether `JSON.stringify` writes this object as a number or the like. Its
 * prototype need not tell.
 */
function isBoxed(value: object): boolean {
  return !/^\[object (Object|Array)\]$/.test(
    Object.prototype.toString.call(value),
  );
}

/**
 * The text of a value that contains a -0 or comes from another realm. If a part
 * of it has no text, this throws a TypeError that names the path.
 */
function withNegativeZeros(value: unknown): string {
  assertJson(value, []);
  let marker = "-0";
  for (const plain = JSON.stringify(value); plain.includes(marker);) {
    marker += "-0";
  }
  const marked = JSON.stringify(
    value,
    (_, item) => Object.is(item, -0) ? marker : item,
  );
  return marked.replaceAll(`"${marker}"`, "-0");
}

/**
 * Checks as {@linkcode isPlain} does, and throws an error that says what is
 * wrong and where.
 */
function assertJson(value: unknown, path: (string | number)[]): void {
  if (typeof value === "string" || typeof value === "boolean") return;
  if (value === null || Number.isFinite(value)) return;
  if (typeof value !== "object") {
    throw refusal("json", value, "it has no JSON form", path);
  }
  if (path.length >= DEEPEST) {
    const why = `it is nested more than ${DEEPEST} deep, or contains itself`;
    throw refusal("json", value, why, path.slice(0, 3));
  }
  const list = Array.isArray(value);
  const prototype = Object.getPrototypeOf(value);
  // The properties decide, because the prototypes of another realm are other
  // objects.
  if (
    prototype === null ||
    !Object.hasOwn(prototype, list ? "concat" : "isPrototypeOf")
  ) throw refusal("json", value, "its prototype would be lost", path);
  const keys = Object.keys(value);
  // Those that are enumerable are in the same order in both.
  const hidden = Reflect.ownKeys(value).find((key, i) =>
    list ? key !== "length" && !isIndex(key, value.length) : key !== keys[i]
  );
  if (hidden !== undefined) {
    const why = `some property would be lost, ${brief(String(hidden))}`;
    throw refusal("json", value, why, path);
  }
  if (isBoxed(value)) {
    throw refusal("json", value, "it is not a plain object", path);
  }
  const items = value as Record<string | number, unknown>;
  const names = list ? value.keys() : keys;
  for (const name of names) {
    path.push(name);
    assertJson(items[name], path);
    path.pop();
  }
}

/** Whether a property of an array of this length is an item. */
const isIndex = (key: string | symbol, length: number): boolean =>
  typeof key === "string" && String(Number(key) >>> 0) === key &&
  Number(key) < length;
