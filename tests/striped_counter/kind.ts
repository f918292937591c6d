import { StripedCounter } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "striped_counter",
  ...made(StripedCounter, [{ stripes: 2 }]),
  use: (view) => (view as StripedCounter).add(-7),
  used: (view) => (view as StripedCounter).sum() === -7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "StripedCounter", most: 2934 };

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
