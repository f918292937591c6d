/**
 * All codecs, by their names in `codec`. Those of numbers and records stand
 * here, because they name the queue that carries only their messages.
 *
 * @module
 */

export { values as structured } from "../../_value/codec.ts";
export * from "../../_message/codec.ts";
import { describe } from "../../_memory/describe.ts";
import {
  CODEC,
  hash,
  refusal,
  type SizedCodec,
} from "../../_message/message.ts";
import { type StructField, wholeRecord } from "../../_message/record.ts";
import { type Field, NUMBERS } from "../../_message/record_fields.ts";
import { FieldPort, IntPort, type QueuedCodec } from "../carrier.ts";
import { MPMC } from "./queues.ts";

/** A codec whose messages are values of a field. */
function sized<T>(
  name: string,
  id: number,
  shape: number,
  field: Field,
  port: QueuedCodec<T>["port"] = FieldPort,
): QueuedCodec<T> {
  return {
    name,
    id,
    shape,
    field,
    elements: MPMC,
    port,
    encode(value, into) {
      const checked = field.check(value, "");
      if (into.length >= field.size) {
        const data = new DataView(into.buffer, into.byteOffset, field.size);
        field.set(data, 0, checked as never);
      }
      return field.size;
    },
    decode({ buffer, byteOffset, byteLength }) {
      return field.get(new DataView(buffer, byteOffset, byteLength), 0) as T;
    },
  };
}

/**
 * Signed integers of 32 bits; -0 arrives as 0.
 *
 * @example Counts
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * const counts = Channel.create({ codec: codec.i32, capacity: 8 });
 * counts.trySend(-7);
 * if (counts.tryReceive() !== -7) throw new Error("another number");
 * ```
 */
export const i32: SizedCodec<number> = /* @__PURE__ */ (() =>
  sized(
    "i32",
    CODEC.i32,
    0,
    message(NUMBERS.i32, (value) => {
      if (typeof value === "number" && value === (value | 0)) return true;
      const Refusal = typeof value === "number" ? RangeError : TypeError;
      throw new Refusal(
        "An i32 must be an integer from -2^31 to 2^31 - 1: received " +
          describe(value),
      );
    }),
    IntPort as QueuedCodec<number>["port"],
  ))();

/**
 * All numbers, including -0, NaN and the infinities.
 *
 * @example Measurements
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * const samples = Channel.create({ codec: codec.f64, capacity: 8 });
 * samples.trySend(0.1);
 * if (samples.tryReceive() !== 0.1) throw new Error("another number");
 * ```
 */
export const f64: SizedCodec<number> = /* @__PURE__ */ (() =>
  sized(
    "f64",
    CODEC.f64,
    0,
    message(NUMBERS.f64, (value) => {
      if (typeof value === "number") return true;
      throw refusal("f64", value, "it is not a number");
    }),
  ))();

/** A number's field with another check of its values. */
function message(
  field: Field,
  assert: (value: unknown) => boolean,
): Field {
  return { ...field, check: (value) => assert(value) ? value : undefined };
}

/** The part of a `struct` type that {@linkcode record} uses. */
export interface RecordType<T> {
  /** The fields by name. */
  readonly fields: object;
  /** The type's declaration in C. */
  toC(name: string): string;
  /** Copies the record at `byteOffset`. */
  read(source: ArrayBufferView, byteOffset?: number): T;
  /**
   * Checks and copies the record.
   *
   * @internal
   */
  readonly field: StructField;
}

/**
 * Records of a `struct` type. Every field must be given. Records arrive equal,
 * with two exceptions: an `f32` is rounded to its precision, and a field of
 * bytes arrives as long as it was declared, with zeros after the bytes that
 * were sent.
 *
 * @example Records that C can read
 * ```ts
 * import { Channel, codec, struct } from "@weft/sync";
 *
 * const Point = struct({ id: "u32", x: "f64" });
 * const points = Channel.create({ codec: codec.record(Point), capacity: 8 });
 * points.trySend({ id: 7, x: 0.5 });
 * if (points.tryReceive()?.x !== 0.5) throw new Error("another point");
 * ```
 *
 * @throws {TypeError} If `type` is not what `struct` made.
 */
export function record<T extends object>(
  type: RecordType<T>,
): SizedCodec<T> {
  if (typeof type?.toC !== "function") {
    throw new TypeError(
      `codec.record takes what struct made: received ${describe(type)}`,
    );
  }
  const field = wholeRecord(type.field);
  return sized("record", CODEC.record, hash(type.toC("record")), field);
}
