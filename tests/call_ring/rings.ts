/**
 * What several tests of a `CallRing` use.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { CallError, CallRing, ClosedError } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { asAgent, wordsOf } from "../_run/model.ts";

export const { pauses, serve_epoch, serve_waiters, slot_epoch, slot_waiters } =
  LAYOUT.call_ring;
export const FIRST = LAYOUT.call_ring.length;
export const [CALLER, SERVER, DEAD] = [5, 6, 77];

/** `length` bytes that differ for each message `i`. */
export const message = (i: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, k) => i * 31 + k * 7 + 1);

export const isClosed = (error: unknown): boolean =>
  error instanceof ClosedError;
export const failed = (text: string, abandoned = false) => (error: unknown) =>
  error instanceof CallError && error.message === text &&
  error.name === "CallError" && error.abandoned === abandoned;
export const lost = failed("The server of the call was abandoned", true);

/**
 * The views of a ring of a caller, of a server, and of an agent that will die.
 */
export function ringOf(slots = 2, request = 16, reply = 16) {
  const { buffer } = CallRing.create({ slots, request, reply });
  const views = [CALLER, SERVER, DEAD].map((id) =>
    asAgent(id, () => new CallRing(buffer))
  );
  const [caller, server, dead] = views as [CallRing, CallRing, CallRing];
  return { buffer, caller, server, dead };
}

/** Nobody is counted as asleep. */
export function assertNoWaiters(ring: CallRing): void {
  const words = wordsOf(ring);
  assert.equal([words[serve_waiters], words[slot_waiters]], [0, 0]);
}

/** The result or the error of a function. */
export function end(fn: () => unknown): unknown {
  try {
    return fn();
  } catch (error) {
    return error;
  }
}
