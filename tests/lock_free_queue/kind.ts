import { LockFreeQueue } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Queue } from "../_queue/queue_in_c.ts";

const queue = { capacity: 3, elementSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "lock_free_queue",
  ...made(LockFreeQueue, [queue]),
  use: (view) => (view as LockFreeQueue).pushInt(-7),
  used: (view) => (view as LockFreeQueue).popInt() === -7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "LockFreeQueue", most: 11679 };

class LockFreeQueueInC extends Queue {}

/** The classes of C, by the names of those that they stand for. */
export const twins = { LockFreeQueue: LockFreeQueueInC };
