/**
 * Keeps the process alive while something is awaited, and looks each second.
 *
 * @module
 */

import { look } from "./_line.ts";
import { refer } from "./_times.ts";
import { looking } from "./_waiter.ts";

let holds = 0; // pending operations that keep the process alive
let watch: unknown; // the timer that looks, and that keeps the process alive

/**
 * Counts an operation that begins (1) or ends (-1). Native waits keep neither
 * Deno nor Node alive; a referenced timer does.
 */
export function hold(ref: boolean, change: 1 | -1): void {
  if (watch === undefined) {
    watch = setInterval(watchOver, looking.every);
    refer(watch, false);
  }
  if (!ref) return;
  holds += change;
  if (holds === 0 || holds === change) refer(watch, holds > 0);
}

/**
 * Looks at the words, so that no wait goes without a look for longer than a
 * second: an agent may have been terminated after it changed one word and
 * before it changed the word that others sleep on.
 */
function watchOver(): void {
  if (look(true)) return;
  clearInterval(watch as number);
  watch = undefined;
}
