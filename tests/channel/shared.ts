/** Codecs, values and questions of the tests of channels. */
import fc from "../_run/property.ts";
import {
  ClosedError,
  type Codec,
  codec as codecs,
  field,
  lockFree,
  manyToMany,
  manyToOne,
  oneToOne,
  struct,
  valueCodec,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { codePoint } from "../_run/points.ts";

export const HEAD = LAYOUT.channel.length * 4;

export const { binary, f64, i32, json, record, structured, text } = codecs;

/** Whether all messages of a codec have one size. */
export const isSized = (codec: Codec<unknown>) => "field" in codec;

/** A configuration for which the ring of a channel has this many bytes. */
export const ringOf = (bytes: number) => ({
  capacity: Math.floor(bytes / 24) - 1,
  messageSize: 16,
});

/** A configuration that fits any codec, for this many messages or bytes. */
export const roomFor = (
  codec: Codec<unknown>,
  { messages, bytes }: { messages: number; bytes: number },
) => isSized(codec) ? { capacity: messages } : ringOf(bytes);

export const isClosed = (error: unknown): boolean =>
  error instanceof ClosedError;

/** Whether an operation rejects because the channel is closed. */
export const closes = (operation: Promise<unknown>): Promise<boolean> =>
  operation.then(() => false, isClosed);

/** What was not thrown, as a value. */
export function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
}

export const Point = struct({
  id: "u32",
  x: "f64",
  near: "f32",
  far: "i64",
  tag: field.bytes(3),
  list: field.array("u8", 2),
});

export const points = fc.record({
  id: fc.nat({ max: 2 ** 32 - 1 }),
  x: fc.double(),
  near: fc.float(),
  far: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  tag: fc.uint8Array({ minLength: 3, maxLength: 3 }),
  list: fc.array(fc.nat({ max: 255 }), { minLength: 2, maxLength: 2 }),
}, { noNullPrototype: true });

const wellFormed = fc.string({ unit: codePoint, maxLength: 60 });

/** Each codec, and values it promises to deliver. */
export const CODECS: Record<string, [Codec<unknown>, fc.Arbitrary<unknown>]> = {
  binary: [binary as Codec<unknown>, fc.uint8Array({ maxLength: 100 })],
  text: [text as Codec<unknown>, wellFormed],
  json: [
    json as Codec<unknown>,
    fc.jsonValue({ stringUnit: codePoint, maxDepth: 3 }),
  ],
  i32: [i32 as Codec<unknown>, fc.integer()],
  f64: [f64 as Codec<unknown>, fc.double()],
  record: [record(Point) as unknown as Codec<unknown>, points],
  value: [
    valueCodec,
    fc.anything({ withBigInt: true, withDate: true, withMap: true })
      .filter(isComparable).map((value) => structuredClone(value)),
  ],
};

/**
 * Node 20 never finds two maps equal if they contain invalid dates. Bun does
 * not if two keys are equal objects with different values.
 */
function isComparable(value: unknown): boolean {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (value instanceof Map) {
    const objects = [...value.keys()].filter((key) => typeof key === "object");
    if ("Bun" in globalThis && objects.length > 1) return false;
    return [...value].flat().every(isComparable);
  }
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isComparable);
}

/** Adds a property that no loop and no `JSON.stringify` shows. */
export const hides = (it: object, name: string, value: unknown) =>
  Object.defineProperty(it, name, { value });

/** An object whose prototype says that it is none of the special ones. */
export const plain = (it: object) =>
  Object.setPrototypeOf(it, Object.prototype);

export const CARRIERS = { oneToOne, manyToOne, manyToMany, lockFree };
