import { Event } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "event",
  ...made(Event, []),
  use: (view) => (view as Event).set(),
  used: (view) => (view as Event).isSet,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Event", most: 6196 };

class EventInC extends Twin {
  set(): void {
    this.invoke("set");
  }

  reset(): void {
    this.invoke("reset");
  }

  wait(): void {
    this.tryWait(Infinity);
  }

  tryWait(timeout = 0): boolean {
    return this.doesFor("wait", timeout);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Event: EventInC };
