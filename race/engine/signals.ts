/**
 * Things that are thrown, but are not errors of the code under test.
 *
 * @module
 */

/** Thrown when handles turn out to have state of their own. */
export class StatefulHandle extends Error {}

/** Thrown when a supposed constant was written: the search starts again. */
export class NotConstant extends Error {}

/** Thrown when an operation returned a promise. */
export class NeedsAsync extends Error {}

/**
 * The token that suspends an agent. It is a string, because the platform looks
 * for the stack of an object that is thrown, which takes as long as the rest.
 */
export const TOKEN = "race: the agent is suspended (do not keep this)";

/** Whether `value` is a promise. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}
