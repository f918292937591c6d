import { WaitGroup } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "wait_group",
  ...made(WaitGroup, []),
  use: (view) => (view as WaitGroup).add(3),
  used: (view) => (view as WaitGroup).count === 3,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "WaitGroup", most: 5984 };

class WaitGroupInC extends Twin {
  get count(): number {
    return this.invoke("count");
  }

  add(n = 1): void {
    this.does("add", n);
  }

  done(n = 1): void {
    this.does("done", n);
  }

  wait(): void {
    this.tryWait(Infinity);
  }

  tryWait(timeout = 0): boolean {
    return this.doesFor("wait", timeout);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { WaitGroup: WaitGroupInC };
