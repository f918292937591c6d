import { ns, Twin } from "../_run/mixed/twin.ts";

class Event extends Twin {
  set(): void {
    this.c.weft_event_set!(this.at);
  }

  reset(): void {
    this.c.weft_event_reset!(this.at);
  }

  wait(): void {
    this.succeeded(this.c.weft_event_wait!(this.at, ns()));
  }

  tryWait(timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.c.weft_event_try_wait!(this.at)
        : this.c.weft_event_wait!(this.at, ns(timeout)),
    );
  }
}

/** By the names of the classes they stand for. */
export const twins = { Event };
