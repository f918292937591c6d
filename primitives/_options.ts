/**
 * The arguments that all waiting methods share. Each method checks them before
 * it does anything, so that a refused call has changed nothing.
 *
 * @module
 */

import { describe } from "./_describe.ts";

/** How to await: the options of every `xAsync`. */
export interface AsyncOptions {
  /** Ends the wait: it rejects with `signal.reason`, and nothing is lost. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the wait keeps the process alive; `true` unless given. */
  readonly ref?: boolean | undefined;
}

/** How to await for a limited time: the options of every `tryXAsync`. */
export interface TryAsyncOptions extends AsyncOptions {
  /** Milliseconds to wait at most; 0 unless given, which only tries once. */
  readonly timeout?: number | undefined;
}

/** The names in {@linkcode AsyncOptions}. */
export const ASYNC: readonly string[] = ["signal", "ref"];
/** The names in {@linkcode TryAsyncOptions}. */
export const TRY_ASYNC: readonly string[] = ["timeout", "signal", "ref"];

/**
 * Checks that `timeout` is a duration in ms: a number, 0 or more, `Infinity`
 * included.
 *
 * @throws {TypeError} If it is no number.
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
 * Checks that `options` is an object, or undefined, and has no other names
 * than `known`: a misspelt option would be ignored without a word, and a
 * number or a signal in place of the object, too.
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
  // Inherited names as well: an AbortSignal has its names there.
  for (const name in options) {
    if (known.includes(name)) continue;
    throw new TypeError(
      `Unknown option ${describe(name)}: expected ${known.join(", ")}`,
    );
  }
}

/**
 * Reads the options to await with, and checks them.
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
  // By its members and not by `instanceof`, which another realm's signal fails.
  if (
    signal !== undefined &&
    (typeof signal?.addEventListener !== "function" ||
      typeof signal.aborted !== "boolean")
  ) {
    throw new TypeError(
      `A signal must be an AbortSignal: received ${describe(signal)}`,
    );
  }
  if (typeof ref !== "boolean") {
    throw new TypeError(`ref must be a boolean: received ${describe(ref)}`);
  }
  return { timeout, signal, ref };
}
