import { Once } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { EINVAL, ns, Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "once",
  ...made(Once, []),
  use: (view) => (view as Once).run(() => {}),
  used: (view) => (view as Once).done,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Once", most: 5935 };

let running: (() => unknown) | undefined;
let failure: unknown;

/** What `weft_once_run` calls; the scenario's function may fail. */
function callback(): number {
  try {
    running!();
    return 0;
  } catch (error) {
    // What suspends an agent is no error, and goes on through C.
    if (!(error instanceof Error)) throw error;
    failure = error;
    return EINVAL;
  }
}

class OnceInC extends Twin {
  get done(): boolean {
    return this.invoke("done") !== 0;
  }

  run(fn: () => unknown): void {
    this.tryRun(fn, Infinity);
  }

  tryRun(fn: () => unknown, timeout = 0): boolean {
    running = fn;
    const result = this.c.race_once_run!(this.at, ns(timeout));
    if (result === EINVAL) throw failure;
    return this.succeeded(result);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Once: OnceInC };

/** What C imports. */
export const imports = { race_callback: callback };
