/**
 * Reads objects that are neither plain nor arrays.
 *
 * @module
 */

import { copyBytes, copyOf } from "../_message/bytes.ts";
import { define, newError } from "./errors.ts";
import { damaged, type Reader, wrong } from "./reader.ts";
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

/** Reads such an object. */
export function readOther(
  reader: Reader,
  tag: number,
  depth: number,
): unknown {
  switch (tag) {
    case MAP: {
      const map = new Map();
      reader.begin(map);
      for (let n = reader.length(2); n > 0; n--) {
        const key = reader.get(depth + 1);
        map.set(key, reader.get(depth + 1));
      }
      return map;
    }
    case SET: {
      const set = new Set();
      reader.begin(set);
      for (let n = reader.length(1); n > 0; n--) set.add(reader.get(depth + 1));
      return set;
    }
    case DATE: {
      const date = new Date(reader.double());
      reader.begin(date);
      return date;
    }
    case REGEXP: {
      const expression = expressionOf(reader.text(), reader.text());
      reader.begin(expression);
      return expression;
    }
    case BUFFER: {
      const length = reader.length(1);
      const { buffer } = copyOf(reader.bytes, reader.over(length), length);
      reader.begin(buffer);
      return buffer;
    }
    case RESIZABLE: {
      const buffer = resizableOf(reader);
      reader.begin(buffer);
      return buffer;
    }
    case VIEW:
      return viewOf(reader, depth);
    case ERROR:
      return errorOf(reader, depth);
    case BOXED: {
      const number = reader.begin(null);
      const value = reader.get(depth + 1);
      if (typeof value === "object" || value === undefined) {
        throw wrong("box");
      }
      const box = Object(value);
      reader.replace(number, box);
      return box;
    }
  }
  throw damaged(`there is no kind ${tag}`);
}

function expressionOf(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch {
    throw wrong("regular expression");
  }
}

/** A buffer that may grow; of fixed length where the platform has none such. */
function resizableOf(reader: Reader): ArrayBuffer {
  const maxByteLength = reader.number32();
  const length = reader.length(1);
  const at = reader.over(length);
  reader.reserved += Math.max(maxByteLength, LEAST_RESERVED);
  if (maxByteLength < length || reader.reserved > MOST_RESERVED) {
    throw wrong("length");
  }
  const buffer: ArrayBuffer = Reflect.construct(
    ArrayBuffer,
    [length, { maxByteLength }],
  );
  const bytes = reader.bytes.subarray(at, at + length);
  copyBytes(bytes, new Uint8Array(buffer), 0);
  return buffer;
}

type ViewClass = new (
  buffer: ArrayBuffer,
  byteOffset: number,
  length?: number,
) => ArrayBufferView;

function viewOf(reader: Reader, depth: number): ArrayBufferView {
  const number = reader.begin(null);
  const type = reader.byte();
  const name = VIEWS[type & ~FOLLOWS];
  const byteOffset = reader.number32();
  const byteLength = reader.number32();
  const buffer = reader.get(depth + 1);
  const Class = name === undefined
    ? undefined
    : Reflect.get(globalThis, name) as ViewClass | undefined;
  const { BYTES_PER_ELEMENT = 1 } = (Class ?? {}) as Partial<typeof Uint8Array>;
  if (
    Class === undefined || !(buffer instanceof ArrayBuffer) ||
    byteOffset % BYTES_PER_ELEMENT !== 0 ||
    byteLength % BYTES_PER_ELEMENT !== 0 ||
    byteOffset + byteLength > buffer.byteLength
  ) throw wrong("view");
  const follows = type >= FOLLOWS && Reflect.get(buffer, "resizable");
  const left = buffer.byteLength - byteOffset - byteLength;
  if (follows && left >= BYTES_PER_ELEMENT) throw wrong("view");
  const view = follows
    ? following(buffer, Class, byteOffset, byteLength)
    : new Class(buffer, byteOffset, byteLength / BYTES_PER_ELEMENT);
  reader.replace(number, view);
  return view;
}

/** A view that follows the length of its buffer. */
function following(
  buffer: ArrayBuffer & { resize?(byteLength: number): void },
  Class: ViewClass,
  byteOffset: number,
  byteLength: number,
): ArrayBufferView {
  const { byteLength: whole } = buffer;
  const end = byteOffset + byteLength;
  // V8 before 12 makes none if some bytes are left that are no item.
  const left = new Uint8Array(buffer.slice(end));
  buffer.resize!(end);
  const view = new Class(buffer, byteOffset);
  buffer.resize!(whole);
  new Uint8Array(buffer).set(left, end);
  return view;
}

function errorOf(reader: Reader, depth: number): Error {
  const number = reader.begin(null);
  const of = reader.text();
  const hidden = reader.byte();
  const shown = reader.length(2);
  const all = hidden + shown;
  if (of === "DOMException") {
    const told = new Map<string, unknown>();
    for (let n = all; n > 0; n--) {
      told.set(reader.text(), reader.get(depth + 1));
    }
    const [name, message] = ["name", "message"].map((key) => {
      const value = told.get(key);
      return typeof value === "string" ? value : "";
    });
    const error = new DOMException(message, name);
    define(error, "stack", told.get("stack"), false);
    reader.replace(number, error);
    return error;
  }
  const error = newError(of, reader.errors);
  reader.replace(number, error);
  for (let n = 0; n < all; n++) {
    const key = reader.text();
    define(error, key, reader.get(depth + 1), n >= hidden);
  }
  return error;
}
