import { type Handle, SpscQueue } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { Queue } from "../_queue/queue_in_c.ts";

const queue = { capacity: 3, elementSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "spsc_queue",
  byteLength: SpscQueue.byteLength(queue),
  init: (memory, at) => SpscQueue.init(memory, at, queue),
  attach: (memory, at) => new SpscQueue(memory, at),
  from: (handle) => SpscQueue.from(handle as Handle<never>),
  use: (view) => (view as SpscQueue).pushInt(-7),
  used: (view) => (view as SpscQueue).popInt() === -7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "SpscQueue", most: 9945 };

class SpscQueueInC extends Queue {
  readonly stem = "weft_spsc_queue";
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { SpscQueue: SpscQueueInC };
