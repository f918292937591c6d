import { EINVAL, ns, Twin } from "../_run/mixed/twin.ts";

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

class Once extends Twin {
  get done(): boolean {
    return this.c.weft_once_done!(this.at) !== 0;
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

  abandon(id: number): number {
    return this.c.weft_once_abandon!(this.at, id);
  }
}

/** By the names of the classes they stand for. */
export const twins = { Once };

/** What C imports. */
export const imports = { race_callback: callback };
