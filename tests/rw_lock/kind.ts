import { RwLock } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Guard, LockTwin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "rw_lock",
  ...made(RwLock, []),
  use: (view) => (view as RwLock).read(),
  used: (view) => (view as RwLock).readers === 1,
};

/**
 * What a bundle of it may weigh. An agent attaches to a tracked lock without
 * knowing that it is, so 1.3 KB are for the rows in any case.
 */
export const size: Size = { name: "RwLock", most: 9725 };

class WriteGuard extends Guard {
  constructor(readonly lock: RwLockInC, abandoned: boolean) {
    super(() => lock.unlockWrite(), abandoned);
  }

  downgrade(): Guard {
    return this.lock.downgrade();
  }
}

class RwLockInC extends LockTwin {
  read(): Guard | undefined {
    return this.tryRead(Infinity);
  }

  tryRead(timeout = 0): Guard | undefined {
    return this.guarded(
      this.invokeFor("read", timeout),
      (abandoned) => new Guard(() => this.unlockRead(), abandoned),
    );
  }

  write(): Guard | undefined {
    return this.tryWrite(Infinity);
  }

  tryWrite(timeout = 0): Guard | undefined {
    return this.guarded(
      this.invokeFor("write", timeout),
      (abandoned) => new WriteGuard(this, abandoned),
    );
  }

  unlockRead(): void {
    this.does("unlock_read");
  }

  unlockWrite(): void {
    this.does("unlock_write");
  }

  downgrade(): Guard {
    this.does("downgrade");
    return new Guard(() => this.unlockRead());
  }

  get readers(): number {
    return this.invoke("readers");
  }

  get writer(): number {
    return this.invoke("writer");
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { RwLock: RwLockInC };
