/**
 * Keeps the process alive while an operation is awaited, and looks at its word
 * each second.
 *
 * @module
 */

import { look } from "./line.ts";
import { refer } from "./times.ts";
import { looking } from "./waiter.ts";

/** The platform's, as a test's own would end with that test. */
const { setInterval, clearInterval } = globalThis;

let pending = 0; // awaiting operations that keep the process alive
let watch: unknown; // the timer that looks, and that keeps the process alive

/**
 * Counts an operation that begins (1) or ends (-1). A native wait keeps neither
 * Deno nor Node alive, but a referenced timer does.
 */
export function countPending(ref: boolean, change: 1 | -1): void {
  if (looking.every === Infinity) return; // in explored code
  if (watch === undefined) {
    watch = setInterval(watchOver, looking.every);
    refer(watch, false);
  }
  if (!ref) return;
  pending += change;
  if (pending === 0 || pending === change) refer(watch, pending > 0);
}

/**
 * Looks at the words, so that every wait looks at least once a second. This is
 * needed because an agent may be terminated after it changed one word and
 * before it changed the word that others sleep on.
 */
function watchOver(): void {
  if (look(true)) return;
  clearInterval(watch as number);
  watch = undefined;
}
