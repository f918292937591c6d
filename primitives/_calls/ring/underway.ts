/**
 * The answers that a server awaits side by side.
 *
 * @module
 */

import { refer } from "../../_wait/times.ts";
import { isWanted } from "./call.ts";

/** The ms between two looks whether callers have given up. */
const LOOK = 100;

/**
 * The answers that a server has begun, and that have not ended, with their
 * slots. A `race` of their promises would leave something at each of them every
 * time. At an answer that takes days, that would add up.
 */
export class Underway extends Map<Promise<unknown>, number> {
  /** Ends the wait for the next one. */
  wake = (): void => {};

  /**
   * Adds the answer of the call in slot `at`. Its promise never rejects. `over`
   * is called when it has ended.
   */
  add(answer: Promise<unknown>, at: number, over?: () => void): void {
    this.set(answer, at);
    answer.then(() => {
      this.delete(answer);
      over?.();
      this.wake();
    });
  }

  /**
   * Resolves when the next one ends, or at the next `wake`. One function awaits
   * that at a time.
   */
  next(): Promise<void> {
    return new Promise((resolve) => this.wake = resolve);
  }
}

/**
 * Waits for the answers that somebody wants, and then `grace` ms at most for
 * the others: a function whose caller gave up may never end. Nothing tells a
 * server that a caller gives up, so it looks. `ref` says whether that keeps the
 * process alive.
 */
export async function finish(
  underway: Underway,
  words: Int32Array<SharedArrayBuffer>,
  grace: number,
  ref: boolean,
): Promise<void> {
  while ([...underway.values()].some((at) => isWanted(words, at))) {
    await within(LOOK, underway.next(), ref);
  }
  if (underway.size > 0) {
    await within(grace, Promise.all(underway.keys()), ref);
  }
}

/** Waits for a promise, `ms` at most. */
async function within(
  ms: number,
  promise: Promise<unknown>,
  ref: boolean,
): Promise<void> {
  let timer;
  const end = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
    refer(timer, ref);
  });
  await Promise.race([end, promise]);
  clearTimeout(timer);
}
