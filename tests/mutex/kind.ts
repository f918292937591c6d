import { Mutex } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Guard, LockTwin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "mutex",
  ...made(Mutex, []),
  use: (view) => (view as Mutex).lock(),
  used: (view) => (view as Mutex).owner !== 0,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Mutex", most: 7420 };

export class MutexInC extends LockTwin {
  lock(): Guard | undefined {
    return this.tryLock(Infinity);
  }

  tryLock(timeout = 0): Guard | undefined {
    return this.guarded(
      this.invokeFor("lock", timeout),
      (abandoned) => new Guard(() => this.unlock(), abandoned),
    );
  }

  unlock(): void {
    this.does("unlock");
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Mutex: MutexInC };
