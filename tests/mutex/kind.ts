import { type Handle, Mutex } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { EOWNERDEAD, Guard, ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "mutex",
  byteLength: Mutex.byteLength(),
  init: (memory, at) => Mutex.init(memory, at),
  attach: (memory, at) => new Mutex(memory, at),
  from: (handle) => Mutex.from(handle as Handle<never>),
  use: (view) => (view as Mutex).lock(),
  used: (view) => (view as Mutex).owner !== 0,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Mutex", most: 7269 };

export class MutexInC extends Twin {
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

/** The classes of C, by the names of those that they stand for. */
export const twins = { Mutex: MutexInC };
