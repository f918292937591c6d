/**
 * Requests and replies that are longer than a slot: they go in pieces.
 *
 * @module
 */

import { refer } from "../_wait/times.ts";
import { looking } from "../_wait/waiter.ts";
import { KEPT_MS } from "./wire.ts";

/**
 * A request or a reply that is longer than a slot, and how much of it came or
 * went.
 */
export interface Long {
  readonly bytes: Uint8Array;
  at: number;
  since: number;
}

/** By buffer, then by caller and number. The oldest come first. */
export type Longs = WeakMap<SharedArrayBuffer, Map<string, Long>>;

/**
 * Those of all servers of this agent: any of them may be sent, or asked for,
 * the next piece.
 */
export const requests: Longs = new WeakMap();
/** The same of replies. */
export const replies: Longs = new WeakMap();

/** Those of one buffer. */
export function longsOf(
  longs: Longs,
  buffer: SharedArrayBuffer,
): Map<string, Long> {
  let there = longs.get(buffer);
  if (there === undefined) longs.set(buffer, there = new Map());
  return there;
}

/** Forgets what nobody has gone on with for long: its caller is gone. */
export function forget(longs: Map<string, Long>): void {
  const now = Date.now();
  for (const [key, { since }] of longs) {
    if (now - since < KEPT_MS) break;
    longs.delete(key);
  }
}

const sweeps = new WeakSet<Map<string, Long>>();

/** Forgets them also if no call comes any more. */
export function forgetLater(longs: Map<string, Long>): void {
  if (sweeps.has(longs) || looking.every === Infinity) return; // explored code
  sweeps.add(longs);
  const timer = setTimeout(() => {
    sweeps.delete(longs);
    forget(longs);
    if (longs.size > 0) forgetLater(longs);
  }, KEPT_MS);
  refer(timer, false);
}

/** All pieces as one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
