/**
 * Looks for the answers of the calls that an agent awaits.
 *
 * @module
 */

import { spin } from "../../_wait/spin.ts";
import { nextTurn } from "../../_wait/turn.ts";
import { isAnswered } from "./call.ts";
import type { Slots } from "./slots.ts";

/** A call that was posted, and for whose answer nothing sleeps yet. */
interface Posted {
  readonly at: number;
}

/**
 * Looks for the answers of calls that this agent awaits. It spins for them once
 * the code that calls has made its calls: to sleep for each of them, and to be
 * woken for each, takes longer than to answer them.
 */
export class Lookout<T extends Posted> {
  readonly #slots: Slots;
  readonly #take: (call: T) => void;
  readonly #sleep: (call: T) => void;
  #posted: T[] = [];
  #looking = false;

  /** `take` takes the answer of a call; `sleep` awaits it. Neither throws. */
  constructor(
    slots: Slots,
    take: (call: T) => void,
    sleep: (call: T) => void,
  ) {
    this.#slots = slots;
    this.#take = take;
    this.#sleep = sleep;
  }

  /** Adds a call that was just posted. */
  add(call: T): void {
    this.#posted.push(call);
    if (!this.#looking) this.#lookSoon();
  }

  #lookSoon(): void {
    this.#looking = true;
    const next = nextTurn();
    if (next === undefined) queueMicrotask(this.#look);
    else next.then(this.#look);
  }

  readonly #look = (): void => {
    this.#looking = false;
    const some = this.#sweep() || spin(() => this.#sweep());
    if (some && this.#posted.length > 0) return this.#lookSoon();
    const late = this.#posted;
    this.#posted = [];
    for (const call of late) this.#sleep(call);
  };

  /** Takes the answers that came; false if there is none. */
  #sweep(): boolean {
    const posted = this.#posted;
    let kept = 0;
    for (const call of posted) {
      if (isAnswered(this.#slots.words, call.at)) this.#take(call);
      else posted[kept++] = call;
    }
    const some = kept < posted.length;
    posted.length = kept;
    return some;
  }
}
