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
   * Whether somebody waits for one of them. A caller keeps its slot while it
   * runs a function for the method.
   */
  isWanted(words: Int32Array<SharedArrayBuffer>): boolean {
    return [...this.values()].some((at) => isWanted(words, at));
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
 * Waits for the answers that somebody wants, and `grace` ms at most for the
 * others: a function whose caller gave up may never end. Nothing tells a server
 * that a caller gives up, so it looks. `ref` says whether that keeps the
 * process alive.
 */
export async function finish(
  underway: Underway,
  words: Int32Array<SharedArrayBuffer>,
  grace: number,
  ref: boolean,
): Promise<void> {
  while (underway.size > 0) {
    if (underway.isWanted(words)) await within(LOOK, underway.next(), ref);
    else {
      const inTime = await within(grace, Promise.all(underway.keys()), ref);
      // Another one may have begun meanwhile, behind one that ended.
      if (!inTime && !underway.isWanted(words)) return;
    }
  }
}

/** Waits for a promise, `ms` at most; whether it resolved in that time. */
async function within(
  ms: number,
  promise: Promise<unknown>,
  ref: boolean,
): Promise<boolean> {
  let timer;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
    refer(timer, ref);
  });
  const inTime = await Promise.race([late, promise.then(() => true)]);
  clearTimeout(timer);
  return inTime;
}
