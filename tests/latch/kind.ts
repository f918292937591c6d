import { type Handle, Latch } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "latch",
  byteLength: Latch.byteLength(),
  init: (memory, at) => Latch.init(memory, at, 5),
  attach: (memory, at) => new Latch(memory, at),
  from: (handle) => Latch.from(handle as Handle<never>),
  use: (view) => (view as Latch).countDown(2),
  used: (view) => (view as Latch).count === 3,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Latch", most: 6453 };

class LatchInC extends Twin {
  get count(): number {
    return this.c.weft_latch_count!(this.at);
  }

  countDown(n = 1): void {
    this.succeeded(this.c.weft_latch_count_down!(this.at, n));
  }

  arriveAndWait(): void {
    this.succeeded(this.c.weft_latch_arrive_and_wait!(this.at, ns()));
  }

  tryArriveAndWait(timeout = 0): boolean {
    const { c, at } = this;
    return this.succeeded(c.weft_latch_arrive_and_wait!(at, ns(timeout)));
  }

  wait(): void {
    this.succeeded(this.c.weft_latch_wait!(this.at, ns()));
  }

  tryWait(timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.c.weft_latch_try_wait!(this.at)
        : this.c.weft_latch_wait!(this.at, ns(timeout)),
    );
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Latch: LatchInC };
