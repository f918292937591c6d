import { Queue } from "../_queue/queue_in_c.ts";

class LockFreeQueue extends Queue {
  readonly stem = "weft_lock_free_queue";
}

/** By the names of the classes they stand for. */
export const twins = { LockFreeQueue };
