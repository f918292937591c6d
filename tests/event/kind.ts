import { Event, type Handle } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "event",
  byteLength: Event.byteLength(),
  init: (memory, at) => Event.init(memory, at),
  attach: (memory, at) => new Event(memory, at),
  from: (handle) => Event.from(handle as Handle<never>),
  use: (view) => (view as Event).set(),
  used: (view) => (view as Event).isSet,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Event", most: 6035 };

class EventInC extends Twin {
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

/** The classes of C, by the names of those that they stand for. */
export const twins = { Event: EventInC };
