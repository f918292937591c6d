import type { Mutex } from "../mutex/in_c.ts";
import { EOWNERDEAD, ns, Twin } from "../_run/mixed/twin.ts";

class Condition extends Twin {
  wait(mutex: Mutex): void {
    this.tryWait(mutex, Infinity);
  }

  tryWait(mutex: Mutex, timeout = 0): boolean {
    const { c, at } = this;
    const result = c.weft_condition_wait!(at, mutex.address, ns(timeout));
    return result === EOWNERDEAD || this.succeeded(result);
  }

  notify(n = 1): void {
    this.succeeded(this.c.weft_condition_notify!(this.at, n));
  }

  notifyAll(): void {
    this.c.weft_condition_notify_all!(this.at);
  }
}

/** By the names of the classes they stand for. */
export const twins = { Condition };
