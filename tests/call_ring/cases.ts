/**
 * The calls that threads of both languages make of each other.
 *
 * @module
 */

import { CallError } from "../../primitives/call_ring.ts";

/** The reply of every server. */
export function plusOne(request: Uint8Array, reply: Uint8Array): number {
  if (request[0] === 255) throw new Error("grüß");
  for (let k = 0; k < request.length; k++) reply[k] = request[k]! + 1;
  return request.length;
}

/** The request of call `i`. */
export const requestOf = (i: number): Uint8Array =>
  Uint8Array.from({ length: i % 25 }, (_, k) => i + k);

/** Whether a call with `request` ended correctly. */
export function isRight(request: Uint8Array, end: unknown): boolean {
  if (request[0] === 255) {
    return end instanceof CallError && end.message === "grüß";
  }
  return end instanceof Uint8Array && end.length === request.length &&
    end.every((byte, k) => byte === (request[k]! + 1 & 0xff));
}
