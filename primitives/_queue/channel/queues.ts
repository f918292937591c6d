/**
 * The queues that carry a channel's messages of one size.
 *
 * @module
 */

import type { ConfiguredStem } from "../../_memory/layout.ts";
import type { Memory } from "../../_memory/memory.ts";
import type { ElementQueue, Kind } from "../carrier.ts";
import { formatMpmc, mpmcBytes, MpmcCore } from "../mpmc/core.ts";
import { type CoreClass, waitingEnds } from "../queue.ts";
import type { QueueConfig, QueueCore } from "../queue_core.ts";

/** A kind of queue, by its core and the functions for its memory. */
export function queueOf<Stem extends ConfiguredStem>(
  stem: Stem,
  bytes: (config: QueueConfig) => number,
  format: (memory: Memory, at: number, config: QueueConfig) => void,
  Core: CoreClass<QueueCore<Stem>>,
): Kind<ElementQueue> {
  const Ends = waitingEnds(Core, "channel");
  return {
    stem,
    byteLength: (capacity, elementSize) => bytes({ capacity, elementSize }),
    init: (memory, at, capacity, elementSize) =>
      format(memory, at, { capacity, elementSize }),
    attach: (memory, at) => new Ends(memory, at),
  };
}

/** The queue for any number of senders and receivers. */
export const MPMC: Kind<ElementQueue> = /* @__PURE__ */ queueOf(
  "mpmc_queue",
  mpmcBytes,
  formatMpmc,
  MpmcCore,
);
