/**
 * How a `LockFreeQueue` is configured, and how its memory is initialized.
 *
 * @module
 */

import { LOCK_FREE_QUEUE } from "../../_memory/layout.ts";
import { format, inRange, type Memory } from "../../_memory/region.ts";
import { QUEUE_CONFIG, type QueueConfig, queueConfig } from "../queue_core.ts";
import { agentsFor, bytesFor, entriesFor } from "./sizes.ts";
import { ENTRIES, FREE } from "./core.ts";

/** How a queue is made. */
export interface LockFreeQueueConfig<Size extends number = number, F = never>
  extends QueueConfig<Size, F> {
  /**
   * How many agents will use the queue at the same time. The most is the larger
   * of 8 and the capacity; a larger number is refused.
   */
  readonly agents?: number | undefined;
}

/**
 * The bytes a queue of this configuration occupies.
 */
export function lockFreeBytes(config: LockFreeQueueConfig): number {
  return bytesFor(...checked(config));
}

/**
 * Initializes an empty queue in unused memory.
 */
export function formatLockFree(
  memory: Memory,
  byteOffset: number | bigint,
  config: LockFreeQueueConfig,
): void {
  const [capacity, elementSize] = checked(config);
  const bytes = bytesFor(capacity, elementSize);
  format(
    "lock_free_queue",
    LOCK_FREE_QUEUE,
    memory,
    byteOffset,
    bytes,
    [capacity, elementSize],
    (words) => {
      const n = entriesFor(capacity);
      for (let i = 0; i < n - 1; i++) words[ENTRIES + n + i] = n | i;
      words[FREE] = n - 1;
    },
  );
}

/** `config` checked and rounded: `[capacity, elementSize]`. */
function checked(config: LockFreeQueueConfig): [number, number] {
  const [capacity, elementSize] = queueConfig(
    "lock_free_queue",
    config,
    [...QUEUE_CONFIG, "agents"],
  );
  const { agents = 1 } = config;
  const most = agentsFor(capacity);
  inRange(`Agents of a queue of capacity ${capacity}`, agents, 1, most);
  return [capacity, elementSize];
}
