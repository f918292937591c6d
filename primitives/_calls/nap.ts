/**
 * A server that awaits calls blocks for a moment first.
 *
 * @module
 */

import { waitOn } from "../_wait/pending.ts";
import { spin, spinning } from "../_wait/spin.ts";
import { block } from "../_wait/wait.ts";
import { MAY_BLOCK } from "../_wait/waiter.ts";
import type { Slots } from "./ring/slots.ts";

/** The most waits in a row that are left out after naps without a call. */
const MOST_LEFT_OUT = 31;

/**
 * Waits for a call that may come soon. A wake of an agent that blocks costs
 * half of what a turn of its event loop costs, and leaves the core to the
 * caller meanwhile, which a spin does not. The event loop stands still for
 * `spinning.nap` ms at most. After naps without a call, it naps rarely.
 */
export class Nap {
  readonly #slots: Slots;
  readonly #attempt: () => number | undefined;
  /** How many waits follow without a nap, and how many followed the last. */
  #left = 0;
  #leftOut = 0;

  /** Naps of a server that takes its calls from `slots`. */
  constructor(slots: Slots) {
    this.#slots = slots;
    this.#attempt = () => slots.takeOrEnd() || undefined;
  }

  /** The slot of a call, -1 at the end; 0 if it is better to await one. */
  take(): number {
    const { nap } = spinning;
    if (nap === 0 || !MAY_BLOCK || this.#left > 0) {
      this.#left--;
      return spin(this.#attempt) ?? 0;
    }
    const at = block(waitOn(this.#slots.coming, false), nap) ?? 0;
    const leaves = Math.min(2 * this.#leftOut + 1, MOST_LEFT_OUT);
    this.#left = this.#leftOut = at === 0 ? leaves : 0;
    return at;
  }
}
