import { MpmcQueue } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Queue } from "../_queue/queue_in_c.ts";

const queue = { capacity: 3, elementSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "mpmc_queue",
  ...made(MpmcQueue, [queue]),
  use: (view) => (view as MpmcQueue).pushInt(-7),
  used: (view) => (view as MpmcQueue).popInt() === -7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "MpmcQueue", most: 11251 };

class MpmcQueueInC extends Queue {}

/** The classes of C, by the names of those that they stand for. */
export const twins = { MpmcQueue: MpmcQueueInC };
