/**
 * What is thrown that is no error of the code under test.
 *
 * @module
 */

/** Handles turned out to have state of their own. */
export class StatefulHandle extends Error {}

/** What nobody was seen to write was written: begin again, and watch it. */
export class NotConstant extends Error {}

/** An operation returned a promise. */
export class NeedsAsync extends Error {}

/** What suspends an agent. */
export const TOKEN: { toString(): string } = Object.freeze({
  toString: () => "race: the agent is suspended (do not keep this)",
});

/** Whether `value` is a promise. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}
