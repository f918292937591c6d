import { type Handle, StripedCounter } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "striped_counter",
  byteLength: StripedCounter.byteLength({ stripes: 2 }),
  init: (memory, at) => StripedCounter.init(memory, at, { stripes: 2 }),
  attach: (memory, at) => new StripedCounter(memory, at),
  from: (handle) => StripedCounter.from(handle as Handle<never>),
  use: (view) => (view as StripedCounter).add(-7),
  used: (view) => (view as StripedCounter).sum() === -7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "StripedCounter", most: 2894 };

class StripedCounterInC extends Twin {
  #stripe = 0;

  add(n: number): void {
    if (this.#stripe === 0) this.#stripe = this.invoke("claim");
    this.c.weft_striped_counter_add_to!(this.#stripe, n);
  }

  sum(): number {
    return Number(this.invoke("sum"));
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { StripedCounter: StripedCounterInC };
