/**
 * Errors in values.
 *
 * @module
 */

import type { ErrorClass } from "../_message/own_errors.ts";

/**
 * The names of the classes of errors that every realm has, but for
 * SuppressedError, which is new.
 */
const NAMES =
  /^(Eval|Range|Reference|Syntax|Type|URI|Aggregate|Suppressed)?Error$/;

/** Whether it is an error, of any realm. */
export function isError(value: object): value is Error {
  return value instanceof Error ||
    /^\[object (Error|DOMException)]$/.test(
      Object.prototype.toString.call(value),
    );
}

/**
 * The name of the class with which an error is made again: one of `errors`, a
 * DOMException, or the nearest class that every realm has.
 */
export function classOf(
  error: Error,
  errors: readonly ErrorClass[],
): string {
  const prototype = Object.getPrototypeOf(error);
  const own = errors.find((of) => of.prototype === prototype);
  if (own !== undefined) return own.name;
  if (isException(error)) return "DOMException";
  for (
    let at = prototype;
    at !== null;
    at = Object.getPrototypeOf(at)
  ) {
    const name = Object.getOwnPropertyDescriptor(at, "constructor")?.value
      ?.name;
    if (typeof name === "string" && NAMES.test(name)) return name;
  }
  return "Error";
}

/** Whether messages mean another class by the name of this one. */
export function isTaken(own: ErrorClass): boolean {
  const { name } = own;
  if (!NAMES.test(name) && name !== "DOMException") return false;
  const found = Reflect.get(globalThis, name);
  return found !== undefined && found !== own;
}

const isException = (error: Error) =>
  Object.prototype.toString.call(error) === "[object DOMException]";

/** Properties that every error may have, mostly not enumerable. */
const USUAL = [
  "message",
  "stack",
  "cause",
  "errors",
  "error",
  "suppressed",
  "name",
];

/** Names and values. */
type Properties = [key: string, value: unknown][];

/** Reads an error's own fields, those that are not enumerable first. */
export function propertiesOf(
  error: Error,
  of: string,
): [hidden: Properties, shown: Properties] {
  if (isException(error)) {
    const { name, message, stack } = error;
    return [Object.entries({ name, message, stack }), []];
  }
  const get = (
    key: string,
  ): [string, unknown] => [key, Reflect.get(error, key)];
  const shown = Object.keys(error);
  const hidden = USUAL.filter((key) =>
    !shown.includes(key) && (Object.hasOwn(error, key) ||
      // Firefox has it in the prototype.
      (key === "stack" && typeof error.stack === "string"))
  ).map(get);
  // The name may come from the prototype of a class that is not known there.
  if (!shown.includes("name") && error.name !== of) {
    hidden.push(["name", String(error.name)]);
  }
  return [hidden, shown.map(get)];
}

/**
 * An error of a class, to which {@linkcode define} adds what was told of it.
 */
export function newError(of: string, errors: readonly ErrorClass[]): Error {
  const known = NAMES.test(of) ? Reflect.get(globalThis, of) : Error;
  const { prototype }: ErrorClass = errors.find(({ name }) => name === of) ??
    known ?? Error;
  const error = new Error();
  dropStack(error);
  if (known === undefined) define(error, "name", of, false);
  return Object.setPrototypeOf(error, prototype);
}

/** Takes this thread's stack from an error: it would mislead. */
function dropStack(error: Error): void {
  delete error.stack;
  // Firefox has it in the prototype.
  if (error.stack !== undefined) define(error, "stack", undefined, false);
}

/** Makes a property, whatever its name. */
export function define(
  object: object,
  key: string,
  value: unknown,
  enumerable: boolean,
): void {
  Object.defineProperty(object, key, {
    value,
    configurable: true,
    enumerable,
    writable: true,
  });
}
