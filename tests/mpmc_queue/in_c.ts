import { Queue } from "../_queue/queue_in_c.ts";

class MpmcQueue extends Queue {
  readonly stem = "weft_mpmc_queue";
}

/** By the names of the classes they stand for. */
export const twins = { MpmcQueue };
