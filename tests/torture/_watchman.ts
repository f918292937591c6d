/**
 * A thread that tells when the main thread stands still: blocked, it could tell
 * nobody itself, and its own timers would not fire.
 *
 * @module
 */
import { spawn } from "../_run/workers.ts";

const THREAD = new URL("./_watchman_thread.ts", import.meta.url);

/** How often the main thread shows that it goes on, within the limit. */
export const LOOKS = 20;
/** In the words: how often it has done so, and the length of the text. */
export const BEATS = 0, LENGTH = 1;
/** The text begins at this byte, and has at most this many letters. */
export const TEXT_AT = 8, MOST = 16_384;

/** What the thread is told. */
export interface Watch {
  readonly buffer: SharedArrayBuffer;
  /** How long the main thread may stand still, in ms. */
  readonly limit: number;
}

/** Notes what the main thread begins, in case that it stands still there. */
let note: (what: string) => void = () => {};

/** Says what this thread begins, if it is watched. */
export const say = (what: string): void => note(what);

/**
 * Watches this thread. If it stands still for `limit` ms, a row with what it
 * said last is printed, and the process ends.
 */
export async function watchman(limit = 90_000): Promise<void> {
  const buffer = new SharedArrayBuffer(TEXT_AT + 2 * MOST);
  const words = new Int32Array(buffer, 0, 2);
  const letters = new Uint16Array(buffer, TEXT_AT);
  const watch: Watch = { buffer, limit };
  const thread = await spawn(THREAD, watch);
  await thread.next(); // it watches
  setInterval(() => Atomics.add(words, BEATS, 1), limit / LOOKS);
  note = (what) => {
    const length = Math.min(what.length, MOST);
    for (let i = 0; i < length; i++) letters[i] = what.charCodeAt(i);
    Atomics.store(words, LENGTH, length);
  };
}
