/**
 * The error of a `using` whose block and end both throw.
 *
 * @module
 */
import * as assert from "uvu/assert";

type Made = new (error: unknown, suppressed: unknown, message: string) => Error;

const Native: Made | undefined = Reflect.get(globalThis, "SuppressedError");

/** The engine's, or what compilers make for engines that have none. */
export function suppressed(error: unknown, suppressed: unknown): Error {
  if (Native !== undefined) return new Native(error, suppressed, "both");
  const made = Object.assign(new Error("both"), { error, suppressed });
  made.name = "SuppressedError";
  return made;
}

/** Whether a copy has both errors, a TypeError and a RangeError. */
export function assertSuppressed(copy: unknown): void {
  const { name, message, error, suppressed } = copy as
    & Error
    & Record<"error" | "suppressed", Error>;
  assert.is(name, "SuppressedError");
  assert.is(message, "both");
  assert.instance(copy, Native ?? Error);
  assert.instance(error, TypeError);
  assert.is(error.message, "late");
  assert.instance(suppressed, RangeError);
  assert.is(suppressed.message, "early");
}
