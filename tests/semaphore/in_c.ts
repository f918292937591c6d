import { ns, Twin } from "../_run/mixed/twin.ts";

class Semaphore extends Twin {
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

  abandon(id: number): number {
    return this.c.weft_semaphore_abandon!(this.at, id);
  }
}

/** By the names of the classes they stand for. */
export const twins = { Semaphore };
