import { Latch } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "latch",
  ...made(Latch, [5]),
  use: (view) => (view as Latch).countDown(2),
  used: (view) => (view as Latch).count === 3,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Latch", most: 6641 };

class LatchInC extends Twin {
  get count(): number {
    return this.invoke("count");
  }

  countDown(n = 1): void {
    this.does("count_down", n);
  }

  arriveAndWait(): void {
    this.tryArriveAndWait(Infinity);
  }

  tryArriveAndWait(timeout = 0): boolean {
    return this.does("arrive_and_wait", ns(timeout));
  }

  wait(): void {
    this.tryWait(Infinity);
  }

  tryWait(timeout = 0): boolean {
    return this.doesFor("wait", timeout);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Latch: LatchInC };
