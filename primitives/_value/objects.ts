/**
 * Writes objects that are neither plain nor arrays: Map, Set, Date, RegExp,
 * buffers and their views, errors, and boxed values.
 *
 * @module
 */

import { classOf, type ErrorClass, isError, propertiesOf } from "./errors.ts";
import {
  BOXED,
  BUFFER,
  DATE,
  ERROR,
  MAP,
  REGEXP,
  SET,
  VIEW,
  VIEWS,
} from "./tags.ts";
import { Unsendable, type Writer } from "./writer.ts";

/** Thrown if the message must be written again, with whole buffers. */
export const AGAIN: unique symbol = /* @__PURE__ */ Symbol("again");

const SHARED = "its memory is shared";

/** A property that only the platform's own prototype has. */
const OWN: Record<string, string> = {
  Map: "forEach",
  Set: "forEach",
  Date: "getTime",
  RegExp: "exec",
  ArrayBuffer: "slice",
  DataView: "getInt8",
  Number: "toFixed",
  String: "charAt",
  Boolean: "valueOf",
  BigInt: "valueOf",
};

/** Writes such an object. */
export function writeOther(
  writer: Writer,
  value: object,
  depth: number,
  errors: readonly ErrorClass[],
): void {
  if (isError(value)) return putError(writer, value, depth, errors);
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (ArrayBuffer.isView(value)) return putView(writer, value, depth);
  if (tag === "SharedArrayBuffer") throw new Unsendable(value, SHARED);
  const prototype = Object.getPrototypeOf(value);
  if (!Object.hasOwn(OWN, tag) || !Object.hasOwn(prototype, OWN[tag]!)) {
    throw new Unsendable(value, "its prototype would be lost");
  }
  try {
    put(writer, value, tag, depth);
  } catch (error) {
    // It only claims to be such an object.
    if (!(error instanceof TypeError)) throw error;
    throw new Unsendable(value, "it is not what its prototype says");
  }
}

function put(
  writer: Writer,
  value: object,
  tag: string,
  depth: number,
): void {
  const { out } = writer;
  if (out.begins(value)) return;
  switch (tag) {
    case "Map":
    case "Set": {
      const isMap = tag === "Map";
      const of = isMap ? Map : Set;
      const size: number = Reflect.get(of.prototype, "size", value);
      out.tagged(isMap ? MAP : SET, size);
      let n = 0;
      const { forEach } = of.prototype as Map<unknown, unknown>;
      forEach.call(value as Map<unknown, unknown>, (item, key) => {
        n++;
        if (isMap) writer.item(key, depth + 1);
        writer.item(item, depth + 1);
      });
      if (n !== size) throw new Unsendable(value, "it changed meanwhile");
      return;
    }
    case "Date":
      return out.double(DATE, Date.prototype.getTime.call(value));
    case "RegExp": {
      const { source, flags } = value as RegExp;
      out.byte(REGEXP);
      out.text(source);
      return out.text(flags);
    }
    case "ArrayBuffer":
      return putBuffer(writer, value as ArrayBuffer);
    default:
      out.byte(BOXED);
      return writer.item(value.valueOf(), depth + 1);
  }
}

// ---- bytes

function putBuffer(writer: Writer, buffer: ArrayBuffer): void {
  const { out } = writer;
  if (out.parts?.has(buffer)) throw AGAIN;
  assertFixed(buffer, buffer);
  putBytes(writer, new Uint8Array(buffer));
}

function putBytes({ out }: Writer, bytes: Uint8Array): void {
  out.tagged(BUFFER, bytes.length);
  out.copy(bytes);
}

interface Resizable {
  readonly resizable?: boolean;
  readonly detached?: boolean;
}

function assertFixed(buffer: ArrayBuffer, value: object): void {
  const { resizable, detached } = buffer as Resizable;
  if (resizable) throw new Unsendable(value, "its buffer is resizable");
  if (detached) throw new Unsendable(value, "its buffer is detached");
}

/** The platform's name of a typed array's type; undefined for a DataView. */
const typeOf = (view: ArrayBufferView): string | undefined =>
  Reflect.get(
    Object.getPrototypeOf(Uint8Array.prototype),
    Symbol.toStringTag,
    view,
  );

function putView(writer: Writer, view: ArrayBufferView, depth: number): void {
  const { out } = writer;
  const type = typeOf(view) ?? "DataView";
  const buffer = view.buffer;
  if (Object.prototype.toString.call(buffer) !== "[object ArrayBuffer]") {
    throw new Unsendable(view, SHARED);
  }
  const own = Object.hasOwn(
    Object.getPrototypeOf(view),
    type === "DataView" ? "getInt8" : "BYTES_PER_ELEMENT",
  );
  const isNode = !own && isBuffer(view);
  if (!own && !isNode) {
    throw new Unsendable(view, "its prototype would be lost");
  }
  assertFixed(buffer as ArrayBuffer, view);
  if (out.begins(view)) return;
  const { byteOffset, byteLength } = view;
  const kind = VIEWS.indexOf(type as "DataView");
  if (kind < 0) throw new Unsendable(view, "it cannot be copied");
  const part = isNode || !out.whole && byteLength < buffer.byteLength;
  out.byte(VIEW);
  out.byte(kind);
  out.number32(part ? 0 : byteOffset);
  out.number32(byteLength);
  if (!part) {
    if (out.parts?.has(buffer)) throw AGAIN;
    return writer.item(buffer, depth + 1);
  }
  if (!isNode) {
    const parts = out.parts ??= new Set();
    if (parts.has(buffer) || out.has(buffer)) throw AGAIN;
    parts.add(buffer);
  }
  // A buffer of these bytes alone.
  out.begins({});
  putBytes(writer, new Uint8Array(buffer, byteOffset, byteLength));
}

interface Platform {
  readonly Buffer?: { isBuffer?(value: unknown): boolean };
}

const isBuffer = (value: unknown): boolean =>
  (globalThis as Platform).Buffer?.isBuffer?.(value) === true;

// ---- errors

function putError(
  writer: Writer,
  error: Error,
  depth: number,
  errors: readonly ErrorClass[],
): void {
  const { out } = writer;
  if (out.begins(error)) return;
  const of = classOf(error, errors);
  const [hidden, shown] = propertiesOf(error, of);
  out.byte(ERROR);
  out.text(of);
  out.byte(hidden.length);
  out.number32(shown.length);
  for (const [key, value] of [...hidden, ...shown]) {
    out.text(key);
    writer.item(value, depth + 1);
  }
}
