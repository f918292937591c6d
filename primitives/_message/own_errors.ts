/**
 * Classes of errors that are the user's own. Both sides name them.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { errorOf } from "./thrown.ts";

/** A class of errors. */
export type ErrorClass = abstract new (...args: never[]) => Error;

/** The properties of every error, which are sent in any case. */
const USUAL = ["name", "message", "stack", "code", "cause", "errors"];

/** The classes by their names; throws if one is not a class of errors. */
export function classesOf(errors: unknown): Classes {
  if (!Array.isArray(errors)) {
    throw new TypeError(
      `errors must be an array of classes: received ${describe(errors)}`,
    );
  }
  const classes = new Map<string, ErrorClass>();
  for (const Class of errors) {
    if (typeof Class !== "function" || !(Class.prototype instanceof Error)) {
      throw new TypeError(
        `errors must be classes that extend Error: received ${describe(Class)}`,
      );
    }
    if (Class.name === "" || classes.has(Class.name)) {
      throw new TypeError(
        "The classes of errors need names of their own: received " +
          JSON.stringify(Class.name),
      );
    }
    classes.set(Class.name, Class);
  }
  return classes;
}

/** The classes by their names. */
export type Classes = ReadonlyMap<string, ErrorClass>;

/** The class that an error is made of, and its fields that JSON carries. */
interface Own {
  readonly own?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/**
 * What is told of an error of one of the classes, beyond what each error has.
 * It never throws.
 */
export function ownOf(error: Error, classes: Classes): Own {
  const fields: Record<string, unknown> = {};
  let own = "";
  try {
    own = error.constructor.name;
    if (classes.get(own)?.prototype !== Object.getPrototypeOf(error)) return {};
    for (const key of Object.keys(error)) {
      if (!USUAL.includes(key)) add(fields, key, error);
    }
  } catch {
    return {}; // its getters throw
  }
  return { own, fields };
}

/** Adds a field that JSON carries. */
function add(fields: Record<string, unknown>, key: string, of: object): void {
  try {
    const value = (of as Record<string, unknown>)[key];
    if (JSON.stringify(value) !== undefined) fields[key] = value;
  } catch {
    // JSON has no text for it.
  }
}

/** The error that a text tells of, of its class again. */
export function ownErrorOf(text: string, classes: Classes): Error {
  const error = errorOf(text);
  if (classes.size === 0) return error;
  const { own, fields }: Own = JSON.parse(text);
  const Class = classes.get(own ?? "");
  if (Class === undefined) return error;
  Object.setPrototypeOf(error, Class.prototype);
  for (const [key, value] of Object.entries(fields ?? {})) {
    if (USUAL.includes(key)) continue;
    Object.defineProperty(error, key, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return error;
}
