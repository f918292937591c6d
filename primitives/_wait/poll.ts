/**
 * Looks at words from a timer, on platforms where `Atomics.waitAsync` is
 * missing, or hears no wake of another thread.
 *
 * @module
 */

import { refer } from "./times.ts";

/** The platform's function, if it hears no wake of another thread. */
const DEAF = /* @__PURE__ */ deaf();

/** In Deno before 2.7.6, only wakes of the same thread end such a wait. */
function deaf(): unknown {
  const { Deno } = globalThis as { Deno?: { version?: { deno?: string } } };
  return /^(1|2\.([0-6]|7\.[0-5]))\b/.test(Deno?.version?.deno ?? "")
    ? Atomics.waitAsync
    : undefined;
}

/** Whether an agent that awaits a word must look at it from a timer. */
export const mustPoll = (): boolean =>
  typeof Atomics.waitAsync !== "function" || Atomics.waitAsync === DEAF;

let pace = 0; // ms to the next look at the words; 0 if none is due

/**
 * Calls `look` from a timer until it says that nobody waits. The first look
 * comes after a millisecond. While nothing happens, the looks become rarer,
 * down to one every 16 ms. Every wake changes the word, so a look misses no
 * wake.
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
