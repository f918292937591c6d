/**
 * The arguments that all waiting methods share. Each method checks them before
 * it does anything, so that a refused call has changed nothing.
 *
 * @module
 */

import { describe } from "./describe.ts";

/** How to await: the options of every `xAsync`. */
export interface AsyncOptions {
  /** Ends the wait: it rejects with `signal.reason`, and nothing is lost. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the wait keeps the process alive; `true` unless given. */
  readonly ref?: boolean | undefined;
}

/** How to await for a limited time: the options of every `tryXAsync`. */
export interface TryAsyncOptions extends AsyncOptions {
  /** The longest wait in ms; 0 unless given. With 0 it only tries once. */
  readonly timeout?: number | undefined;
}

/** How to await a lock or permits. */
export interface TurnOptions extends AsyncOptions {
  /**
   * Of the operations of this agent that await the same lock or semaphore, the
   * one with the highest number is served first; 0 unless given. It says
   * nothing about other agents.
   */
  readonly priority?: number | undefined;
}

/** The same for a limited time. */
export interface TryTurnOptions extends TurnOptions, TryAsyncOptions {}

/** The names of the options in {@linkcode TurnOptions}. */
export const TURN: readonly string[] = ["signal", "ref", "priority"];
/** The names of the options in {@linkcode TryTurnOptions}. */
export const TRY_TURN: readonly string[] = [
  "timeout",
  "signal",
  "ref",
  "priority",
];

/** The names of the options in {@linkcode AsyncOptions}. */
export const ASYNC: readonly string[] = ["signal", "ref"];
/** The names of the options in {@linkcode TryAsyncOptions}. */
export const TRY_ASYNC: readonly string[] = ["timeout", "signal", "ref"];

/**
 * Checks that `timeout` is a duration in ms: a number that is 0 or more, or
 * `Infinity`.
 *
 * @throws {TypeError} If it is not a number.
 * @throws {RangeError} If it is NaN or negative.
 */
export function assertTimeout(timeout: number): void {
  if (typeof timeout === "number" && timeout >= 0) return;
  const Failure = typeof timeout === "number" ? RangeError : TypeError;
  throw new Failure(
    `A timeout must be a number of ms, 0 or more: received ${
      describe(timeout)
    }`,
  );
}

/**
 * Checks that `options` is undefined, or an object with no other names than
 * `known`. Otherwise a misspelt option would be ignored silently, and so would
 * a number or a signal in place of the object.
 *
 * @throws {TypeError} If not.
 */
export function assertOptions(
  options: unknown,
  known: readonly string[],
): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `Options must be an object, such as { ${known[0]} }: received ${
        describe(options)
      }`,
    );
  }
  // Inherited names are checked as well, because the names of an AbortSignal
  // are inherited; but not those that a program has given to all objects.
  for (const name in options) {
    if (known.includes(name) || name in Object.prototype) continue;
    throw new TypeError(
      `Unknown option ${describe(name)}: expected ${known.join(", ")}`,
    );
  }
}

/**
 * Checks that `signal` is undefined or an AbortSignal.
 *
 * @throws {TypeError} If not.
 */
export function assertSignal(signal: AbortSignal | undefined): void {
  // Its members are checked, because `instanceof` fails for a signal of another
  // realm.
  if (
    signal === undefined ||
    typeof signal?.addEventListener === "function" &&
      typeof signal.aborted === "boolean"
  ) return;
  throw new TypeError(
    `A signal must be an AbortSignal: received ${describe(signal)}`,
  );
}

/**
 * The priority among options.
 *
 * @throws {TypeError} If it is not a number.
 * @throws {RangeError} If it is NaN.
 */
export function priorityOf(options: TurnOptions | undefined): number {
  // The reader of the other options refuses a value that is not an object.
  const { priority = 0 } = options ?? {};
  if (typeof priority === "number" && !Number.isNaN(priority)) return priority;
  const Failure = typeof priority === "number" ? RangeError : TypeError;
  throw new Failure(
    `A priority must be a number: received ${describe(priority)}`,
  );
}

/** The reason of waits that are cancelled without one. */
export const cancelled = (): DOMException =>
  new DOMException("The wait was cancelled", "AbortError");

/**
 * Reads the options of an awaiting form, and checks them.
 *
 * @throws {TypeError} If one is unknown or of the wrong type.
 * @throws {RangeError} If the timeout is NaN or negative.
 */
export function readOptions(
  options: TryAsyncOptions | undefined,
  known: readonly string[],
  defaultTimeout: number,
): { timeout: number; signal: AbortSignal | undefined; ref: boolean } {
  assertOptions(options, known);
  const { timeout = defaultTimeout, signal, ref = true } = options ?? {};
  assertTimeout(timeout);
  assertSignal(signal);
  if (typeof ref !== "boolean") {
    throw new TypeError(`ref must be a boolean: received ${describe(ref)}`);
  }
  return { timeout, signal, ref };
}

/** Checks what a step of an iterator has given. */
export function assertStep(result: unknown): void {
  if (Object(result) === result) return;
  throw new TypeError(
    `A step of an iterator must give an object: received ${describe(result)}`,
  );
}
