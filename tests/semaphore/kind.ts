import { type Handle, Semaphore } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "semaphore",
  byteLength: Semaphore.byteLength(),
  init: (memory, at) => Semaphore.init(memory, at, 5),
  attach: (memory, at) => new Semaphore(memory, at),
  from: (handle) => Semaphore.from(handle as Handle<never>),
  use: (view) => (view as Semaphore).acquire(2),
  used: (view) => (view as Semaphore).available === 3,
};

/**
 * What a bundle of it may weigh. An agent attaches to a tracked semaphore
 * without knowing that it is, so 1 KB is for the rows in any case.
 */
export const size: Size = { name: "Semaphore", most: 9525 };

class SemaphoreInC extends Twin {
  acquire(n = 1): void {
    this.succeeded(this.c.weft_semaphore_acquire!(this.at, n, ns()));
  }

  tryAcquire(n = 1, timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.c.weft_semaphore_try_acquire!(this.at, n)
        : this.c.weft_semaphore_acquire!(this.at, n, ns(timeout)),
    );
  }

  release(n = 1): void {
    this.succeeded(this.c.weft_semaphore_release!(this.at, n));
  }

  drain(): number {
    return this.c.weft_semaphore_drain!(this.at);
  }

  abandon(id: number): number {
    return this.c.weft_semaphore_abandon!(this.at, id);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Semaphore: SemaphoreInC };
