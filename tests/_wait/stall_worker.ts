// Works on one primitive for ever, and counts what it did. It looks only once
// an hour, so that no look hides a lost wake.
import type { Handle } from "../../mod.ts";
import { looking } from "../../primitives/_wait/waiter.ts";
import { hello } from "../_run/workers.ts";
import { dawdle, WORK } from "./stall_work.ts";

export interface StallJob {
  readonly kind: string;
  readonly handles: readonly Handle[];
  /** How much each agent did so far. */
  readonly counts: SharedArrayBuffer;
  readonly agent: number;
}

const { data } = await hello<StallJob>();
looking.every = 3_600_000;
const counts = new Int32Array(data.counts);
const step = WORK[data.kind]!(data.handles, data.agent);
for (;;) {
  const done = step();
  if (done instanceof Promise) await done;
  Atomics.add(counts, data.agent, 1);
  dawdle();
}
