/**
 * Mistakes in what is done for agents that were terminated, and the storm that
 * must find each.
 *
 * @module
 */
import type { Mistake } from "./_mistakes.ts";
import type { Job } from "./_shop_loops.ts";
import type { ShopPlan } from "./storm_shop.ts";

/** Jobs that hold something for a while, or hold two permits. */
const jobs = (count: number, what: Job["what"]): ShopPlan["jobs"] =>
  Array.from({ length: count }, () => ({ what, n: 7, abort: -1 }));

/** The agent in that seat is terminated while it does a job. */
const shopPlan = (which: number, unusual: Partial<ShopPlan>): ShopPlan => ({
  capacity: 8,
  slots: 1,
  agents: [
    { serves: false, blocks: true, limit: 1 },
    { serves: true, blocks: true, limit: 1 },
  ],
  jobs: [],
  calls: [],
  kills: [{ which, after: 12 }],
  ...unusual,
});

const NEVER = /never end/;

/** The mistakes. */
export const MISTAKES_OF_SHOPS: readonly Mistake[] = [{
  storm: "shop",
  what: "the permits of a dead agent stay away",
  edits: {
    "_memory/tracked": "[-if (held > 0 && this.#exchange(at, seen, held) " +
      "!== seen) continue; -]sum += held;",
  },
  seed: 1,
  plan: shopPlan(0, { jobs: jobs(40, "permits"), calls: jobs(60, "mutex") }),
  says: NEVER,
}, {
  storm: "shop",
  what: "a dead agent goes on reading",
  edits: {
    "_lock/rw_lock_tracked": "Atomics.exchange(words, at + READS, " +
      "[-0-]{+1+})",
  },
  seed: 1,
  plan: shopPlan(0, {
    jobs: [...jobs(40, "read"), ...jobs(20, "write")],
    calls: jobs(60, "mutex"),
  }),
  says: NEVER,
}, {
  storm: "shop",
  what: "recover leaves out the calls of a dead server",
  edits: { "tools/recover": '[-call_ring: "calls ended", -]work_counter' },
  seed: 1,
  plan: shopPlan(1, { calls: jobs(60, "read") }),
  says: NEVER,
}];
