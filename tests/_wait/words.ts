/**
 * Words that tests of waits sleep on.
 *
 * @module
 */
import type { Sleep, Waiting } from "../../primitives/_wait/wait.ts";

/** Two words. */
export const WORDS = () => new Int32Array(new SharedArrayBuffer(8));

/** Sleeps on word 0 until it is `goal`, and notes how each sleep ended. */
export function* until(
  words: Int32Array<SharedArrayBuffer>,
  goal: number,
  log: string[] = [],
  more: Partial<Sleep> = {},
): Waiting<boolean> {
  for (;;) {
    const value = Atomics.load(words, 0);
    if (value === goal) return true;
    const outcome = yield { words, index: 0, value, ...more };
    log.push(outcome);
    if (outcome === "timed-out") return Atomics.load(words, 0) === goal;
  }
}

/** Sets word 0, and wakes those that sleep on it. */
export function set(words: Int32Array, value: number, count = Infinity): void {
  Atomics.store(words, 0, value);
  Atomics.notify(words, 0, count);
}
