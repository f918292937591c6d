/**
 * How a `RecordRing` is configured, and how its memory is initialized.
 *
 * @module
 */

import { RECORD_RING } from "../../_memory/layout.ts";
import {
  assertBoolean,
  assertConfig,
  format,
  inRange,
  type Memory,
} from "../../_memory/region.ts";
import { bytesFor, MANY_CONSUMERS, MOST, ONE_PRODUCER } from "./words.ts";

/** The most bytes that a ring can have. */
export const MAX_CAPACITY = 0x4000_0000; // 2^30

/** The configuration of a ring. */
export interface RecordRingConfig {
  /**
   * The size of the ring in bytes: 16 to 2^30, rounded up to a power of two.
   */
  readonly capacity: number;
  /**
   * Whether only one agent pushes; then pushing is faster. False unless given.
   */
  readonly singleProducer?: boolean | undefined;
  /**
   * Whether any number of agents pop, of which one at a time does; then popping
   * is slower. False unless given: one agent pops.
   */
  readonly manyConsumers?: boolean | undefined;
  /**
   * The most records that may be in the ring: 1 to 2^30. Unless given, only
   * their bytes are limited.
   */
  readonly most?: number | undefined;
}

/**
 * The bytes a ring of this configuration occupies.
 */
export function recordBytes(config: RecordRingConfig): number {
  return bytesFor(...checked(config));
}

/**
 * Initializes an empty ring in unused memory.
 */
export function formatRecords(
  memory: Memory,
  byteOffset: number | bigint,
  config: RecordRingConfig,
): void {
  const words = checked(config);
  const bytes = bytesFor(...words);
  const { most = 0 } = config;
  format(
    "record_ring",
    RECORD_RING,
    memory,
    byteOffset,
    bytes,
    words,
    (head) => head[MOST] = most,
  );
}

const CONFIG_NAMES: readonly string[] = [
  "capacity",
  "singleProducer",
  "manyConsumers",
  "most",
];

/** Checks `config` and rounds it: returns `[capacity, roles]`. */
function checked(
  config: RecordRingConfig,
): [capacity: number, roles: number] {
  assertConfig("record_ring", config, CONFIG_NAMES);
  const { capacity, singleProducer = false, manyConsumers = false } = config;
  inRange("A ring's capacity", capacity, 16, MAX_CAPACITY);
  assertBoolean("singleProducer", singleProducer);
  assertBoolean("manyConsumers", manyConsumers);
  if (config.most !== undefined) {
    inRange("The most records", config.most, 1, MAX_CAPACITY);
  }
  const roles = (singleProducer ? ONE_PRODUCER : 0) |
    (manyConsumers ? MANY_CONSUMERS : 0);
  return [2 ** Math.ceil(Math.log2(capacity)), roles];
}
