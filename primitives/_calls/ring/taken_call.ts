/**
 * A call of a `CallRing` that was taken, as its server has it.
 *
 * @module
 */

import type { Elements } from "../../_queue/elements.ts";
import { isWanted } from "./call.ts";
import type { Slots } from "./slots.ts";

/**
 * A call that this agent took, and must answer.
 *
 * @example Answer in another order
 * ```ts
 * import { CallRing } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 4, reply: 4 });
 * using asked = ring.tryPost(Uint8Array.of(7))!;
 * const call = ring.tryTake()!;
 * call.space[0] = call.request[0]! + 1;
 * if (!call.reply(1)) throw new Error("nobody waits"); // one byte of it
 * if (asked.tryReceive()![0] !== 8) throw new Error("another reply");
 * ```
 */
export class TakenCall {
  /** The request, in the ring's memory; valid until the answer. */
  readonly request: Uint8Array;
  /** Room for the reply in the ring's memory: `maxReply` bytes. */
  readonly space: Uint8Array;
  readonly #slots: Slots;
  /** The slot, or 0 when the call was answered. */
  #at: number;

  /**
   * Made by {@linkcode CallRing.tryTake}.
   *
   * @internal
   */
  constructor(slots: Slots, at: number) {
    this.#slots = slots;
    this.#at = at;
    try {
      this.request = slots.request(at);
    } catch (error) { // its length is damaged
      slots.fail(at, error);
      throw error;
    }
    this.space = slots.space(at);
  }

  /** Whether the caller still waits for the reply. */
  get wanted(): boolean {
    return isWanted(this.#slots.words, this.#here());
  }

  /**
   * Replies with the bytes of an array, or, if `reply` is a number, with that
   * many bytes that were written to `space`. False if the caller gave up
   * before; this does no harm.
   *
   * @throws {RangeError} If the reply is longer than `maxReply`.
   * @throws {TypeError} If the call was answered already.
   */
  reply(reply?: Elements | number): boolean {
    const done = this.#slots.reply(this.#here(), reply);
    this.#at = 0;
    return done;
  }

  /**
   * Answers that the call failed. The caller gets a {@linkcode CallError} with
   * the message of `error`, cut to `maxReply` bytes.
   *
   * @throws {TypeError} If the call was answered already.
   */
  fail(error: unknown): boolean {
    const done = this.#slots.fail(this.#here(), error);
    this.#at = 0;
    return done;
  }

  #here(): number {
    if (this.#at === 0) throw new TypeError("The call was answered");
    return this.#at;
  }
}
