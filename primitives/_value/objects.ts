/**
 * Writes objects that are neither plain nor arrays: Map, Set, Date, RegExp,
 * buffers and their views, errors, and boxed values.
 *
 * @module
 */

import { classOf, isError, propertiesOf } from "./errors.ts";
import {
  BOXED,
  BUFFER,
  DATE,
  ERROR,
  FOLLOWS,
  LEAST_RESERVED,
  MAP,
  MOST_RESERVED,
  REGEXP,
  RESIZABLE,
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

/**
 * Whether an object's prototype is the platform's, in some realm: it has that
 * property, and `Object.prototype` is `steps` behind it. That of a class of a
 * user's is farther away.
 */
function isOfPlatform(value: object, key: string, steps: 1 | 2): boolean {
  let prototype = Object.getPrototypeOf(value);
  if (!Object.hasOwn(prototype, key)) return false;
  for (let i = 0; i < steps && prototype !== null; i++) {
    prototype = Object.getPrototypeOf(prototype);
  }
  return prototype !== null && Object.getPrototypeOf(prototype) === null;
}

/** What iterates over a Map, or a Set. */
interface Items {
  forEach(each: (item: unknown, key: unknown) => void): void;
}

/** Writes such an object. */
export function writeOther(
  writer: Writer,
  value: object,
  depth: number,
): void {
  // Little of the stack, because a part may be such an object again.
  if (isError(value)) putError(writer, value, depth);
  else if (ArrayBuffer.isView(value)) putView(writer, value, depth);
  else put(writer, value, depth);
}

function put(writer: Writer, value: object, depth: number): void {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag === "SharedArrayBuffer") throw new Unsendable(value, SHARED);
  if (!Object.hasOwn(OWN, tag) || !isOfPlatform(value, OWN[tag]!, 1)) {
    throw new Unsendable(value, "its prototype would be lost");
  }
  const { out } = writer;
  if (out.begins(value)) return;
  switch (tag) {
    case "Map":
    case "Set": {
      const isMap = tag === "Map";
      out.tagged(isMap ? MAP : SET, read(value, tag, "size"));
      // All of it first, because a getter in an item may change it.
      const items: unknown[] = [];
      const { forEach } = (isMap ? Map : Set).prototype as Items;
      forEach.call(value, (item, key) => {
        if (isMap) items.push(key);
        items.push(item);
      });
      for (let i = 0; i < items.length; i++) writer.item(items[i], depth + 1);
      return;
    }
    case "Date":
      return out.double(DATE, read(value, tag, "getTime"));
    case "RegExp":
      out.byte(REGEXP);
      out.text(read(value, tag, "source"));
      return out.text(read(value, tag, "flags"));
    case "ArrayBuffer":
      read(value, tag, "byteLength");
      return putBuffer(writer, value as ArrayBuffer);
    default:
      out.byte(BOXED);
      return writer.item(read(value, tag, "valueOf"), depth + 1);
  }
}

/** What the platform's prototype reads of a value of class `tag`. */
function read<T>(value: object, tag: string, key: string): T {
  try {
    const { prototype } = Reflect.get(globalThis, tag);
    const found = Reflect.get(prototype, key, value);
    return typeof found === "function" ? found.call(value) : found;
  } catch { // it only claims to be such an object
    throw new Unsendable(value, "it is not what its prototype says");
  }
}

// ---- bytes

function putBuffer(writer: Writer, buffer: ArrayBuffer): void {
  const { out } = writer;
  if (out.parts?.has(buffer)) throw AGAIN;
  assertAttached(buffer, buffer);
  const { resizable, maxByteLength } = buffer as Resizable;
  if (resizable) {
    out.reserved += Math.max(maxByteLength!, LEAST_RESERVED);
    if (out.reserved > MOST_RESERVED) {
      throw new Unsendable(
        buffer,
        `the buffers may grow to more than ${MOST_RESERVED} bytes`,
      );
    }
    out.tagged(RESIZABLE, maxByteLength!);
    out.number32(buffer.byteLength);
    return out.copy(new Uint8Array(buffer));
  }
  putBytes(writer, new Uint8Array(buffer));
}

function putBytes({ out }: Writer, bytes: Uint8Array): void {
  out.tagged(BUFFER, bytes.length);
  out.copy(bytes);
}

/** What some platforms do not have yet. */
interface Resizable {
  readonly byteLength: number;
  readonly resizable?: boolean;
  readonly maxByteLength?: number;
  resize?(byteLength: number): void;
}

function assertAttached(buffer: ArrayBuffer, value: object): void {
  if (buffer.byteLength > 0) return;
  try {
    new Uint8Array(buffer);
  } catch {
    throw new Unsendable(value, "its buffer is detached");
  }
}

/** Whether it lies in its buffer, which may have become shorter. */
function isInside(view: ArrayBufferView): boolean {
  try {
    if (typeOf(view)) Uint8Array.prototype.at.call(view as Uint8Array, 0);
    else view.byteLength;
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a view becomes longer and shorter with its buffer. The platform does
 * not say so; the buffer of a copy is resized to see it.
 */
function follows(view: ArrayBufferView): boolean {
  const { buffer, byteOffset, byteLength } = view;
  const { BYTES_PER_ELEMENT: size = 1 } = view as Uint8Array;
  const end = byteOffset + byteLength;
  const longer = end + size;
  if (longer <= buffer.byteLength) return false;
  const copy = structuredClone(view);
  const other = copy.buffer as Resizable;
  if (longer <= other.maxByteLength!) {
    other.resize!(longer);
    return copy.byteLength > byteLength;
  }
  if (byteLength === 0) return false; // and it will never have an item
  other.resize!(end - 1);
  return isInside(copy);
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
  const own = type === "DataView"
    ? isOfPlatform(view, "getInt8", 1)
    : isOfPlatform(view, "BYTES_PER_ELEMENT", 2);
  const isNode = !own && isBuffer(view);
  if (!own && !isNode) {
    throw new Unsendable(view, "its prototype would be lost");
  }
  assertAttached(buffer as ArrayBuffer, view);
  const { resizable } = buffer as Resizable;
  if (resizable && !isInside(view)) {
    throw new Unsendable(view, "its buffer became too short");
  }
  if (out.begins(view)) return;
  const { byteOffset, byteLength } = view;
  const kind = VIEWS.indexOf(type as "DataView");
  if (kind < 0) throw new Unsendable(view, "it cannot be copied");
  const part = isNode ||
    !resizable && !out.whole && byteLength < buffer.byteLength;
  out.byte(VIEW);
  out.byte(!part && resizable && follows(view) ? kind | FOLLOWS : kind);
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
): void {
  const { out } = writer;
  if (out.begins(error)) return;
  const of = classOf(error, writer.errors);
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
