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
