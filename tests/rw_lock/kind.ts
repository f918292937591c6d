import { type Handle, RwLock } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { EOWNERDEAD, Guard, ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "rw_lock",
  byteLength: RwLock.byteLength(),
  init: (memory, at) => RwLock.init(memory, at),
  attach: (memory, at) => new RwLock(memory, at),
  from: (handle) => RwLock.from(handle as Handle<never>),
  use: (view) => (view as RwLock).read(),
  used: (view) => (view as RwLock).readers === 1,
};

/**
 * What a bundle of it may weigh. An agent attaches to a tracked lock without
 * knowing that it is, so 1.3 KB are for the rows in any case.
 */
export const size: Size = { name: "RwLock", most: 9553 };

class WriteGuard extends Guard {
  constructor(readonly lock: RwLockInC, abandoned: boolean) {
    super(() => lock.unlockWrite(), abandoned);
  }

  downgrade(): Guard {
    return this.lock.downgrade();
  }
}

class RwLockInC extends Twin {
  #reads(result: number): Guard | undefined {
    const abandoned = result === EOWNERDEAD;
    return abandoned || this.succeeded(result)
      ? new Guard(() => this.unlockRead(), abandoned)
      : undefined;
  }

  #writes(result: number): Guard | undefined {
    const abandoned = result === EOWNERDEAD;
    return abandoned || this.succeeded(result)
      ? new WriteGuard(this, abandoned)
      : undefined;
  }

  read(): Guard | undefined {
    return this.#reads(this.c.weft_rw_lock_read!(this.at, ns()));
  }

  tryRead(timeout = 0): Guard | undefined {
    return this.#reads(
      timeout === 0
        ? this.c.weft_rw_lock_try_read!(this.at)
        : this.c.weft_rw_lock_read!(this.at, ns(timeout)),
    );
  }

  write(): Guard | undefined {
    return this.#writes(this.c.weft_rw_lock_write!(this.at, ns()));
  }

  tryWrite(timeout = 0): Guard | undefined {
    return this.#writes(
      timeout === 0
        ? this.c.weft_rw_lock_try_write!(this.at)
        : this.c.weft_rw_lock_write!(this.at, ns(timeout)),
    );
  }

  unlockRead(): void {
    this.succeeded(this.c.weft_rw_lock_unlock_read!(this.at));
  }

  unlockWrite(): void {
    this.succeeded(this.c.weft_rw_lock_unlock_write!(this.at));
  }

  downgrade(): Guard {
    this.succeeded(this.c.weft_rw_lock_downgrade!(this.at));
    return new Guard(() => this.unlockRead());
  }

  abandon(id: number): number {
    return this.c.weft_rw_lock_abandon!(this.at, id);
  }

  abandonReading(id: number): number {
    return this.c.weft_rw_lock_abandon_reading!(this.at, id);
  }

  get readers(): number {
    return this.c.weft_rw_lock_readers!(this.at);
  }

  get writer(): number {
    return this.c.weft_rw_lock_writer!(this.at);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { RwLock: RwLockInC };
