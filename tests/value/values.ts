/**
 * Values made by fast-check, and what it means that one arrived.
 *
 * @module
 */
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { decodeValue, encodeValue } from "../../mod.ts";
import { codePoint } from "../_run/points.ts";

const unit = fc.integer({ min: 0, max: 0xffff })
  .map((code) => String.fromCharCode(code));

const strings = fc.oneof(
  fc.string(),
  fc.string({ unit: codePoint }),
  fc.string({ unit }),
  fc.string({ minLength: 60, maxLength: 70 }),
  fc.string({ unit: codePoint, minLength: 20, maxLength: 90 }),
);

const KEYS = [
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "valueOf",
  "toString",
  "0",
  "7",
  "",
  "é",
  "\ud800",
];
const keys = fc.oneof(fc.constantFrom("a", "b", "c", ...KEYS), strings);

const leaves = fc.oneof(
  fc.constantFrom(undefined, null, true, false, -0, NaN, Infinity, 2 ** 31),
  fc.nat({ max: 70 }),
  fc.integer(),
  fc.double(),
  strings,
  fc.bigInt(),
  fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }),
  fc.constantFrom(2n ** 63n, -(2n ** 63n), 2n ** 64n, -(2n ** 64n), -1n),
);

/** A buffer that may grow, of these bytes, if the platform has such buffers. */
export function resizable(bytes: Uint8Array, more: number): ArrayBuffer {
  const { length } = bytes;
  const buffer: ArrayBuffer = Reflect.construct(ArrayBuffer, [length, {
    maxByteLength: length + more,
  }]);
  new Uint8Array(buffer).set(bytes);
  return buffer;
}

const growing = fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.nat(9))
  .map(([bytes, more]) => resizable(bytes, more));

const objects = fc.oneof(
  growing,
  growing.map((buffer) => new Uint8Array(buffer)),
  growing.map((buffer) => new DataView(buffer, buffer.byteLength >> 1)),
  growing.map((buffer) => new Int8Array(buffer, 0, buffer.byteLength >> 1)),
  fc.date({ noInvalidDate: false }),
  fc.constantFrom(/a+/gi, /[^]/u, new RegExp("")),
  leaves.filter((leaf) => leaf != null).map((leaf) => Object(leaf)),
  fc.int8Array(),
  fc.uint8ClampedArray(),
  fc.int16Array(),
  fc.float64Array(),
  fc.bigUint64Array(),
  fc.uint8Array().map((bytes) => bytes.buffer),
  fc.uint8Array().map(({ buffer }) => new DataView(buffer)),
);

/** Trees, whose parts may be linked afterwards. */
const trees = fc.letrec<{ any: unknown; items: unknown[] }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaves,
    objects,
    tie("items"),
    fc.array(fc.integer(), { minLength: 6, maxLength: 20 }),
    fc.array(fc.double(), { minLength: 6, maxLength: 20 }),
    fc.sparseArray(tie("any"), { maxNumElements: 4, maxLength: 300 }),
    // Objects of few shapes, and of many.
    fc.array(
      fc.record({ id: fc.nat(), text: strings, more: tie("any") }),
      { maxLength: 30 },
    ),
    fc.dictionary(keys, tie("any"), { maxKeys: 8 }),
    fc.array(fc.tuple(keys, tie("any")), { maxLength: 8 }).map(owned),
    fc.array(fc.tuple(tie("any"), tie("any")), { maxLength: 4 })
      .map((entries) => new Map(entries)),
    tie("items").map((items) => new Set(items)),
  ),
  items: fc.array(tie("any"), { maxLength: 8 }),
})).any;

/** An object that has even `__proto__` as a property. */
export function owned(entries: [string, unknown][]): object {
  const object = {};
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return object;
}

/** The parts of a value that can have parts themselves, in order. */
function containersIn(value: unknown): object[] {
  const found = new Set<object>();
  const visit = (value: unknown) => {
    if (typeof value !== "object" || value === null || found.has(value)) return;
    found.add(value);
    partsOf(value).forEach(visit);
  };
  visit(value);
  return [...found];
}

function partsOf(value: object): unknown[] {
  if (value instanceof Map) return [...value].flat();
  if (value instanceof Set) return [...value];
  if (ArrayBuffer.isView(value)) return [value.buffer];
  const keys = value instanceof Error ? ["cause", "errors"] : [];
  return [...keys, ...Object.keys(value)].map((key) => Reflect.get(value, key));
}

/** Puts some containers into others, so that some occur twice. */
function linked(value: unknown, links: [from: number, to: number][]): unknown {
  const all = containersIn(value);
  for (const [from, to] of links) {
    const target = all[from % all.length];
    const part = all[to % all.length];
    if (target instanceof Map) target.set(part, target);
    else if (target instanceof Set) target.add(part);
    else if (Array.isArray(target)) target.push(part);
    else if (target && Object.getPrototypeOf(target) === Object.prototype) {
      Object.assign(target, { link: part });
    }
  }
  return value;
}

/** Values of all kinds; some of their parts occur twice. */
export const values: fc.Arbitrary<unknown> = fc.tuple(
  trees,
  fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 3 }),
).map(([tree, links]) => linked(tree, links));

const memory = new Uint8Array(new SharedArrayBuffer(1 << 20));

/** The bytes of a value. */
export function bytesOf(value: unknown): Uint8Array {
  const length = encodeValue(value, memory);
  assert.ok(length <= memory.length, `${length} bytes`);
  return memory.slice(0, length);
}

/** The value that arrives. */
export const sent = (value: unknown): unknown => decodeValue(bytesOf(value));

/** Checks that a value arrives as `structuredClone` copies it. */
export function assertSame(value: unknown): void {
  assertEqual(sent(value), structuredClone(value));
}

/**
 * Checks that two values are equal, and that the same parts are the same in
 * both. Unlike `deepStrictEqual`, it takes maps and sets in their order: Bun's
 * finds no key twice if two keys have equal parts.
 */
export function assertEqual(one: unknown, other: unknown): void {
  const pairs = new Map<unknown, unknown>();
  const seen = new Set<unknown>();
  const compare = (a: unknown, b: unknown, at: string) => {
    if (typeof a !== "object" || a === null) {
      if (!Object.is(a, b)) assert.is(a, b, at);
      return;
    }
    if (pairs.has(a)) return assert.is(pairs.get(a), b, `${at}: another part`);
    assert.not(seen.has(b), `${at}: a part that occurs twice`);
    pairs.set(a, b);
    seen.add(b);
    assert.is(Object.getPrototypeOf(a), Object.getPrototypeOf(b), at);
    assert.equal(factsOf(a), factsOf(b as object), at);
    const [ours, theirs] = [partsOf(a), partsOf(b as object)];
    assert.is(ours.length, theirs.length, at);
    ours.forEach((part, i) => compare(part, theirs[i], `${at}.${i}`));
  };
  compare(one, other, "value");
}

/** What tells an object from others, besides its parts. */
function factsOf(value: object): unknown {
  if (value instanceof Map || value instanceof Set) return value.size;
  if (value instanceof Error) {
    return [value.name, value.message, value.stack, ...Object.keys(value)];
  }
  if (value instanceof RegExp) return [`${value}`, value.lastIndex];
  if (value instanceof ArrayBuffer) {
    const most: unknown = Reflect.get(value, "maxByteLength");
    return [most, Reflect.get(value, "resizable"), ...new Uint8Array(value)];
  }
  if (ArrayBuffer.isView(value)) return [value.byteOffset, value.byteLength];
  if (Array.isArray(value)) return [value.length, ...Object.keys(value)];
  const plain = Object.getPrototypeOf(value) === Object.prototype;
  return plain
    ? Object.keys(value)
    : `${typeof value.valueOf()} ${boxed(value)}`;
}

/** The value of a Date, and of a primitive in an object, as text. */
function boxed(value: object): string {
  const inner: unknown = value instanceof Date
    ? value.getTime()
    : value.valueOf();
  return Object.is(inner, -0) ? "-0" : String(inner);
}

/**
 * Reads values whose bytes were damaged, and perhaps cut off. Many must be
 * refused by a TypeError whose message `says` so.
 */
export function readsDamaged(
  read: (bytes: Uint8Array) => void,
  numRuns: number,
  says = /./,
): void {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
  let refused = 0;
  fc.assert(
    fc.property(values, damage, fc.nat(), (value, damage, end) => {
      const bytes = bytesOf(value);
      for (const [at, byte] of damage) bytes[at % bytes.length] = byte;
      const cut = end % 3 ? bytes : bytes.subarray(0, end % bytes.length);
      try {
        read(cut);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        assert.match(error.message, says);
        refused++;
      }
    }),
    { numRuns },
  );
  assert.ok(refused > 100, `${refused}`);
}

/** Checks that `run` throws an error of a class, with a message. */
export function refuses(
  run: () => unknown,
  type: abstract new (message: string) => Error,
  says = /./,
): void {
  assert.throws(run, (error: unknown) => {
    assert.instance(error, type);
    assert.match((error as Error).message, says);
    return true;
  });
}
