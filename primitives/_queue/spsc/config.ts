/**
 * How much memory an `SpscQueue` occupies, and how it is initialized.
 *
 * @module
 */

import { SPSC_QUEUE } from "../../_memory/layout.ts";
import { format, type Memory } from "../../_memory/region.ts";
import { type QueueConfig, shortQueueConfig } from "../queue_core.ts";
import { bytesFor } from "./core.ts";

/**
 * The bytes a queue of this configuration occupies.
 *
 * @ignore
 */
export function spscBytes(config: QueueConfig): number {
  return bytesFor(...shortQueueConfig("spsc_queue", config));
}

/**
 * Initializes an empty queue in unused memory.
 *
 * @ignore
 */
export function formatSpsc(
  memory: Memory,
  byteOffset: number | bigint,
  config: QueueConfig,
): void {
  const words = shortQueueConfig("spsc_queue", config);
  const bytes = bytesFor(...words);
  format("spsc_queue", SPSC_QUEUE, memory, byteOffset, bytes, words);
}
