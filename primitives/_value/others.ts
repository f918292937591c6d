/**
 * Reads objects that are neither plain nor arrays.
 *
 * @module
 */

import { copyOf } from "../_message/bytes.ts";
import { define, type ErrorClass, newError } from "./errors.ts";
import { damaged, type Reader, wrong } from "./reader.ts";
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

/** Reads such an object. */
export function readOther(
  reader: Reader,
  tag: number,
  depth: number,
  errors: readonly ErrorClass[],
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
    case VIEW:
      return viewOf(reader, depth);
    case ERROR:
      return errorOf(reader, depth, errors);
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

type ViewClass = new (
  buffer: ArrayBuffer,
  byteOffset: number,
  length: number,
) => ArrayBufferView;

function viewOf(reader: Reader, depth: number): ArrayBufferView {
  const number = reader.begin(null);
  const name = VIEWS[reader.byte()];
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
  const view = new Class(buffer, byteOffset, byteLength / BYTES_PER_ELEMENT);
  reader.replace(number, view);
  return view;
}

function errorOf(
  reader: Reader,
  depth: number,
  errors: readonly ErrorClass[],
): Error {
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
  const error = newError(of, errors);
  reader.replace(number, error);
  for (let n = 0; n < all; n++) {
    const key = reader.text();
    define(error, key, reader.get(depth + 1), n >= hidden);
  }
  return error;
}
