/**
 * Classes of errors that are the user's own. Both sides name them.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { errorOf } from "./thrown.ts";

/** A class of errors. */
export type ErrorClass = abstract new (...args: never[]) => Error;

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
          describe(Class.name),
      );
    }
    classes.set(Class.name, Class);
  }
  return classes;
}

/** The classes by their names. */
export type Classes = ReadonlyMap<string, ErrorClass>;

/** The class that an error is made of. */
interface Own {
  readonly own?: string;
}

/** Which of the classes an error is of. It never throws. */
export function ownOf(error: Error, classes: Classes): Own {
  try {
    const own = error.constructor.name;
    const prototype = Object.getPrototypeOf(error);
    return classes.get(own)?.prototype === prototype ? { own } : {};
  } catch {
    return {}; // a getter throws
  }
}

/** The error that a text tells of, of its class again. */
export function ownErrorOf(text: string, classes: Classes): Error {
  const error = errorOf(text);
  if (classes.size === 0) return error;
  const { own }: Own = JSON.parse(text);
  const Class = classes.get(own ?? "");
  if (Class !== undefined) Object.setPrototypeOf(error, Class.prototype);
  return error;
}
