/**
 * What a server's function returns, and what its caller gets if it fails.
 *
 * @module
 */

import type { Elements } from "../../_queue/elements.ts";

/**
 * What a server's function returns: the bytes of the reply, or how many bytes
 * it wrote in place. If it returns nothing, the reply has no bytes.
 */
export type Reply = Elements | number | void;

/**
 * Serves a call. `request` is in the ring's own memory. So is `reply`, which
 * has `maxReply` bytes, so that the function can write its reply in place. Both
 * are valid until the call is answered.
 */
export type CallHandler<T = Reply> = (
  request: Uint8Array,
  reply: Uint8Array,
) => T;

/**
 * Thrown to the caller if the server could not answer the call.
 *
 * @example What the server threw
 * ```ts
 * import { CallError, CallRing } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 4, reply: 32 });
 * const call = ring.tryPost(new Uint8Array(4))!;
 * ring.tryServeOne(() => {
 *   throw new Error("not today");
 * });
 * try {
 *   call.tryReceive();
 * } catch (error) {
 *   if (!(error instanceof CallError) || error.abandoned) throw error;
 *   console.log(error.message); // not today
 * }
 * ```
 */
export class CallError extends Error {
  /** `"CallError"`. */
  override readonly name = "CallError";
  /** True if the server was abandoned (C: `EOWNERDEAD`), false if it failed. */
  readonly abandoned: boolean;

  /** `message` is the text that the server sent. */
  constructor(message: string, abandoned = false) {
    super(message);
    this.abandoned = abandoned;
  }
}
