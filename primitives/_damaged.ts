/**
 * What becomes of words that do not fit together: a terminated or faulty agent
 * may leave any value in any word.
 *
 * @module
 */

/**
 * A call found that the words of its primitive are damaged: an agent was
 * terminated where the page of the primitive says that it must not be, or wrote
 * where it must not. The call changed nothing. C returns `ENOTRECOVERABLE`.
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

  /** Says what is damaged, such as "The queue". */
  constructor(what: string) {
    super(`${what} is damaged: its words do not fit together`);
  }
}

/**
 * An operation that does not wait tries again only when another agent was
 * faster. Nobody loses so often: the words are damaged.
 */
export const MOST_TRIES: number = 65536;
