/**
 * Errors as text: name, message, stack, code, cause, an AggregateError's
 * errors, the two of a SuppressedError, and their own fields.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";

/** The parts of an error that are sent. */
interface Told {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string | number;
  readonly cause?: Cause;
  readonly errors?: readonly Cause[];
  /** A SuppressedError's `error` and `suppressed`. */
  readonly both?: readonly [Cause, Cause];
  /** Its other properties, as far as JSON carries them. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The properties that are told apart from the fields; and so are a `code` that
 * is a string or a number, and `errors` that are a list.
 */
const USUAL = ["name", "message", "stack", "cause"];

/** What a SuppressedError has of two errors; Node 20 has no such class. */
const BOTH = ["error", "suppressed"] as const;

/** An error, or a value in a box. */
type Cause = Told | readonly [value: unknown];

/** The classes of errors that are made again; all others become an Error. */
const CLASSES = {
  AggregateError,
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

/** Causes of causes are told so deep; an error may be its own cause. */
const DEEPEST = 16;
/**
 * The greatest number of causes that are told, and of parts of a value that is
 * a cause or a field. A small graph, in which several errors share a cause, has
 * a million paths.
 */
const MOST = 256, MOST_PARTS = 100_000;

/** Whether it is an error, of any realm. It never throws. */
export function isError(value: unknown): value is Error {
  try {
    if (value instanceof Error) return true;
    const tag = Object.prototype.toString.call(value);
    return tag === "[object Error]" || tag === "[object DOMException]";
  } catch {
    return false; // a proxy, or an object whose tag is a getter that throws
  }
}

/**
 * The error in place of a thrown value that cannot be sent. It never throws.
 */
export function unsendable(who: string, thrown: unknown): Error {
  let what = "a value that cannot be read";
  try {
    what = describe(thrown);
  } catch {
    // It is a proxy, or its tag is a getter that throws.
  }
  return new Error(`${who} threw ${what}`);
}

/**
 * The text of an error, with `more` in it. It never throws, whatever the
 * error's getters do.
 */
export function errorText(error: unknown, more?: object): string {
  try {
    const what = told(error as Error, { left: MOST, path: [] });
    return JSON.stringify({ ...what, ...more });
  } catch {
    const message = "The error that was thrown cannot be read";
    return JSON.stringify({ name: "Error", message });
  }
}

/** Texts of an error. Each of them says less than the one before. */
export function* textsOf(error: Error): Generator<string> {
  const text = errorText(error);
  yield text;
  yield errorText(error, { fields: undefined });
  const { name, code, message } = JSON.parse(text) as Told;
  yield JSON.stringify({ name, code, message });
  for (let { length } = message; length > 0;) {
    length >>= 1;
    yield JSON.stringify({ name, message: message.slice(0, length) });
  }
}

/** What was told so far of an error and its causes. */
interface Telling {
  /** How many more errors may be told. */
  left: number;
  /** The errors that lead to the one that is told now. */
  readonly path: unknown[];
}

function told(
  error: Error & { error?: unknown; suppressed?: unknown },
  telling: Telling,
): Told {
  const { name, message, stack, cause } = error;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  const { path } = telling;
  const isKnown = path.includes(error); // it leads back to itself
  path.push(error);
  const some = {
    name: String(name),
    message: String(message),
    ...typeof stack === "string" ? { stack } : {},
    ...typeof code === "string" || typeof code === "number" ? { code } : {},
    // All errors of a list come before the causes of the first.
    ...Array.isArray(errors) && !isKnown
      ? { errors: listOf(errors, telling) }
      : {},
    ...cause === undefined || isKnown ? {} : { cause: causeOf(cause, telling) },
    ...name === "SuppressedError" && !isKnown
      ? { both: BOTH.map((key) => causeOf(error[key], telling)) as never }
      : {},
  };
  path.pop();
  return isKnown ? some : { ...some, fields: fieldsOf(error, some) };
}

/**
 * The fields of an error that JSON carries, but for what is told of it already;
 * undefined if there are none.
 */
function fieldsOf(error: Error, some: Told): Told["fields"] {
  let fields: Record<string, unknown> | undefined;
  try {
    for (const key of Object.keys(error)) {
      if (USUAL.includes(key) || Object.hasOwn(some, key)) continue;
      try {
        const value = (error as never as Record<string, unknown>)[key];
        // Without a prototype, `__proto__` is a name as any other.
        if (hasText(value)) (fields ??= Object.create(null))[key] = value;
      } catch {
        // JSON has no text for it, or it is a getter that throws.
      }
    }
  } catch {
    // It is a proxy.
  }
  return fields;
}

/** Whether JSON has a text for a value; throws if it cannot be read. */
function hasText(value: unknown): boolean {
  let parts = 0;
  const text = JSON.stringify(value, (_, part) => {
    if (++parts > MOST_PARTS) throw new RangeError("It has too many parts");
    return part;
  });
  return text !== undefined;
}

function listOf(errors: unknown[], telling: Telling): Cause[] {
  const some = errors.slice(0, Math.max(telling.left, 0));
  telling.left -= some.length;
  const list = some.map((error) => partOf(error, telling));
  const more = errors.length - some.length;
  if (more > 0) list.push({ name: "Error", message: `and ${more} more` });
  return list;
}

function causeOf(value: unknown, telling: Telling): Cause {
  if (telling.left-- > 0) return partOf(value, telling);
  return { name: "Error", message: `It has more than ${MOST} causes` };
}

function partOf(value: unknown, telling: Telling): Cause {
  if (isError(value)) {
    if (telling.path.length <= DEEPEST) return told(value, telling);
    return { name: "Error", message: `Its cause is more than ${DEEPEST} deep` };
  }
  try {
    // JSON has no text for some values: they are described.
    return [hasText(value) ? value : describe(value)];
  } catch {
    return [describe(value)];
  }
}

/** The error that a text tells of. */
export function errorOf(text: string): Error {
  return revived(JSON.parse(text));
}

/** The same of an abort's reason: a platform's own is a DOMException again. */
export function reasonOf(text: string): Error {
  const { name, message } = JSON.parse(text) as Told;
  return name === "AbortError" || name === "TimeoutError"
    ? new DOMException(message, name)
    : errorOf(text);
}

function revived(told: Told): Error {
  const { name, message, stack, code, cause, errors, both, fields = {} } = told;
  const Class = Object.hasOwn(CLASSES, name)
    ? CLASSES[name as "Error"]
    : CLASSES.Error;
  const isAggregate = Class === CLASSES.AggregateError as unknown;
  // A DOMException has no prototype of that name here: its name is its own.
  const error = isAggregate
    ? new AggregateError((errors ?? []).map(fromCause), message)
    : new Class(message);
  const set = (key: string, value: unknown, enumerable = false) =>
    Object.defineProperty(error, key, {
      value,
      configurable: true,
      enumerable,
      writable: true,
    });
  const Suppressed = both && Reflect.get(globalThis, "SuppressedError");
  if (Suppressed) Object.setPrototypeOf(error, Suppressed.prototype);
  if (error.name !== name) set("name", name);
  // A stack of the thread that threw; this thread's would mislead.
  set("stack", stack ?? `${name}: ${message}`);
  if (code !== undefined) set("code", code, true);
  if (cause !== undefined) set("cause", fromCause(cause));
  if (errors && !isAggregate) set("errors", errors.map(fromCause), true);
  for (const [key, value] of Object.entries(fields)) {
    if (!USUAL.includes(key)) set(key, value, true);
  }
  both?.forEach((part, i) => set(BOTH[i]!, fromCause(part)));
  return error;
}

const fromCause = (cause: Cause): unknown =>
  "length" in cause ? cause[0] : revived(cause);
