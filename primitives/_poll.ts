/**
 * Looks at words from a timer, where `Atomics.waitAsync` is missing.
 *
 * @module
 */

import { refer } from "./_times.ts";

let pace = 0; // ms to the next look at the words; 0 if there is to be none

/**
 * Calls `look` from a timer until it says that nobody waits. It looks after a
 * millisecond, and ever more rarely while nothing happens, up to every 16 ms.
 * Wakes change the word, so a look misses none.
 *
 * `look` returns how many waiters it woke, or undefined if there were none.
 */
export function poll(look: () => number | undefined): void {
  if (pace === 0) pollAfter(1, look);
}

function pollAfter(ms: number, look: () => number | undefined): void {
  pace = ms;
  refer(setTimeout(pollOnce, ms, look), false);
}

function pollOnce(look: () => number | undefined): void {
  const served = look();
  if (served === undefined) pace = 0;
  else pollAfter(served === 0 ? Math.min(pace * 2, 16) : 1, look);
}
