import { Barrier } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "barrier",
  ...made(Barrier, [3]),
  use: (view) => (view as Barrier).leave(),
  used: (view) => (view as Barrier).parties === 2,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Barrier", most: 7974 };

class BarrierInC extends Twin {
  get parties(): number {
    return this.invoke("parties");
  }

  get arrived(): number {
    return this.invoke("arrived");
  }

  arriveAndWait(): { leader: boolean } | undefined {
    return this.tryArriveAndWait(Infinity);
  }

  tryArriveAndWait(timeout = 0): { leader: boolean } | undefined {
    const { at, words } = this.scratch;
    words[0] = 0;
    const passed = this.does("arrive_and_wait", at, ns(timeout));
    return passed ? { leader: (words[0]! & 0xff) !== 0 } : undefined;
  }

  leave({ arrived = false } = {}): boolean {
    const ended = this.invoke("leave", arrived ? 1 : 0);
    if (ended < 0) this.succeeded(-ended);
    return ended > 0;
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Barrier: BarrierInC };
