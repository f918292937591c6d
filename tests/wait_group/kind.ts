import { type Handle, WaitGroup } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "wait_group",
  byteLength: WaitGroup.byteLength(),
  init: (memory, at) => WaitGroup.init(memory, at),
  attach: (memory, at) => new WaitGroup(memory, at),
  from: (handle) => WaitGroup.from(handle as Handle<never>),
  use: (view) => (view as WaitGroup).add(3),
  used: (view) => (view as WaitGroup).count === 3,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "WaitGroup", most: 5791 };

class WaitGroupInC extends Twin {
  get count(): number {
    return this.c.weft_wait_group_count!(this.at);
  }

  add(n = 1): void {
    this.succeeded(this.c.weft_wait_group_add!(this.at, n));
  }

  done(n = 1): void {
    this.succeeded(this.c.weft_wait_group_done!(this.at, n));
  }

  wait(): void {
    this.succeeded(this.c.weft_wait_group_wait!(this.at, ns()));
  }

  tryWait(timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.c.weft_wait_group_try_wait!(this.at)
        : this.c.weft_wait_group_wait!(this.at, ns(timeout)),
    );
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { WaitGroup: WaitGroupInC };
