import { WorkCounter } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "work_counter",
  ...made(WorkCounter, [10, { chunk: 3 }]),
  use: (view) => (view as WorkCounter).nextRange(),
  used: (view) => (view as WorkCounter).remaining === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "WorkCounter", most: 8808 };

/** `WEFT_WORK_COUNTER_REFUSED` */
const REFUSED = -2;

class WorkCounterInC extends Twin {
  next(): number {
    const { at, words } = this.scratch;
    words[0] = words[1] = 0;
    return this.invoke("next", at);
  }

  nextRange(): { start: number; end: number } | undefined {
    const { at, words } = this.scratch;
    const n = this.invoke("next_range", at);
    if (n === REFUSED) throw new RangeError("no row");
    return n !== 0 ? { start: words[0]!, end: words[1]! } : undefined;
  }

  done(n = 1): void {
    this.does("done", n);
  }

  wait(): void {
    this.tryWait(Infinity);
  }

  tryWait(timeout = 0): boolean {
    return this.does("wait", ns(timeout));
  }

  cancel(): void {
    this.invoke("cancel");
  }

  get completed(): number {
    return this.invoke("completed");
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { WorkCounter: WorkCounterInC };
