import { Queue } from "../_queue/queue_in_c.ts";

class SpscQueue extends Queue {
  readonly stem = "weft_spsc_queue";
}

/** By the names of the classes they stand for. */
export const twins = { SpscQueue };
