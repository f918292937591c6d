/**
 * The error for words that do not fit together. A terminated or faulty agent
 * may leave any value in any word.
 *
 * @module
 */

/**
 * Thrown by a call that found the words of its primitive damaged. Either an
 * agent was terminated at a step where the page of the primitive forbids it, or
 * it stands still there, or an agent wrote to memory that was not its own. The
 * call changed nothing. C returns `ENOTRECOVERABLE`.
 *
 * @example
 * ```ts
 * import { Condition, DamagedError } from "@weft/sync";
 *
 * const condition = Condition.create();
 * new Int32Array(condition.buffer)[1] = 1 << 30; // by a faulty agent
 * try {
 *   condition.notify();
 *   throw new Error("the damage was not noticed");
 * } catch (error) {
 *   if (!(error instanceof DamagedError)) throw error;
 * }
 * ```
 */
export class DamagedError extends Error {
  /** `"DamagedError"`. */
  override readonly name = "DamagedError";

  /**
   * `what` names the damaged primitive, such as "The queue", and `why` says
   * what is wrong with it.
   */
  constructor(what: string, why = "its words do not fit together") {
    super(`${what} is damaged: ${why}`);
  }
}

/**
 * An operation that does not wait tries again only if another agent was faster.
 * No agent loses this many times in a row, so the words must be damaged.
 */
export const MOST_TRIES: number = 65536;
