import { Condition, Mutex } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import type { MutexInC } from "../mutex/kind.ts";
import { EOWNERDEAD, ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "condition",
  ...made(Condition, []),
  use: (view) => {
    const mutex = Mutex.create();
    mutex.lock();
    (view as Condition).waitAsync(mutex, { ref: false }); // for ever
  },
  used: (view) => new Int32Array(view.buffer, view.byteOffset, 3)[2] !== 0,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Condition", most: 7195 };

class ConditionInC extends Twin {
  wait(mutex: MutexInC): void {
    this.tryWait(mutex, Infinity);
  }

  tryWait(mutex: MutexInC, timeout = 0): boolean {
    const result = this.invoke("wait", mutex.at, ns(timeout));
    return result === EOWNERDEAD || this.succeeded(result);
  }

  notify(n = 1): void {
    this.does("notify", n);
  }

  notifyAll(): void {
    this.invoke("notify_all");
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Condition: ConditionInC };
