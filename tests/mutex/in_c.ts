import { EOWNERDEAD, Guard, ns, Twin } from "../_run/mixed/twin.ts";

export class Mutex extends Twin {
  /** Where it lies, for conditions. */
  get address(): number {
    return this.at;
  }

  #guard(result: number): Guard | undefined {
    const abandoned = result === EOWNERDEAD;
    return abandoned || this.succeeded(result)
      ? new Guard(() => this.unlock(), abandoned)
      : undefined;
  }

  lock(): Guard | undefined {
    return this.#guard(this.c.weft_mutex_lock!(this.at, ns()));
  }

  tryLock(timeout = 0): Guard | undefined {
    return this.#guard(
      timeout === 0
        ? this.c.weft_mutex_try_lock!(this.at)
        : this.c.weft_mutex_lock!(this.at, ns(timeout)),
    );
  }

  unlock(): void {
    this.succeeded(this.c.weft_mutex_unlock!(this.at));
  }

  abandon(id: number): number {
    return this.c.weft_mutex_abandon!(this.at, id);
  }
}

/** By the names of the classes they stand for. */
export const twins = { Mutex };
