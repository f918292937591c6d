import { Twin } from "../_run/mixed/twin.ts";

class StripedCounter extends Twin {
  #stripe = 0;

  add(n: number): void {
    const { c } = this;
    if (this.#stripe === 0) {
      this.#stripe = c.weft_striped_counter_claim!(this.at);
    }
    c.weft_striped_counter_add_to!(this.#stripe, n);
  }

  sum(): number {
    return Number(this.c.weft_striped_counter_sum!(this.at));
  }
}

/** By the names of the classes they stand for. */
export const twins = { StripedCounter };
