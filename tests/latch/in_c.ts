import { ns, Twin } from "../_run/mixed/twin.ts";

class Latch extends Twin {
  get count(): number {
    return this.c.weft_latch_count!(this.at);
  }

  countDown(n = 1): void {
    this.succeeded(this.c.weft_latch_count_down!(this.at, n));
  }

  wait(): void {
    this.succeeded(this.c.weft_latch_wait!(this.at, ns()));
  }

  tryWait(timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.c.weft_latch_try_wait!(this.at)
        : this.c.weft_latch_wait!(this.at, ns(timeout)),
    );
  }
}

/** By the names of the classes they stand for. */
export const twins = { Latch };
