import { Semaphore } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "semaphore",
  ...made(Semaphore, [5]),
  use: (view) => (view as Semaphore).acquire(2),
  used: (view) => (view as Semaphore).available === 3,
};

/**
 * What a bundle of it may weigh. An agent attaches to a tracked semaphore
 * without knowing that it is, so 1 KB is for the rows in any case.
 */
export const size: Size = { name: "Semaphore", most: 9705 };

class SemaphoreInC extends Twin {
  acquire(n = 1): void {
    this.tryAcquire(n, Infinity);
  }

  tryAcquire(n = 1, timeout = 0): boolean {
    return this.doesFor("acquire", timeout, n);
  }

  release(n = 1): void {
    this.does("release", n);
  }

  drain(): number {
    return this.invoke("drain");
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Semaphore: SemaphoreInC };
