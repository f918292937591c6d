/**
 * How an `RwLock` is configured, and shown.
 *
 * @module
 */

import { RW_LOCK } from "../_memory/layout.ts";
import {
  assertConfig,
  inRange,
  type WordsInspection,
} from "../_memory/region.ts";
import { MAX_ROWS, rowsLength } from "../_memory/tracked.ts";
import { CONTENDED_BIT, OWNER_MASK } from "./mutex.ts";
import {
  ASLEEP_BIT,
  GATE,
  pendingIn,
  STATE,
  TRACKED,
  WAITING_BIT,
  WRITER,
} from "./rw_lock_counted.ts";
import { ROWS } from "./rw_lock_tracked.ts";

/** The configuration of a lock. */
export interface RwLockConfig {
  /**
   * How many agents note that they read, 1 to 255; 0, unless given, if none
   * does. Each has a row of 128 bytes. Then `abandon` ends exactly what a dead
   * agent read.
   */
  readonly tracked?: number | undefined;
}

/** The words of a lock with rows for `tracked` agents. */
export function lengthFor(tracked: number): number {
  inRange("The number of tracked agents", tracked, 0, MAX_ROWS);
  return tracked > 0 ? ROWS + rowsLength(tracked) : RW_LOCK.length;
}

/** What `tracked` is, which is checked. */
export function trackedOf(config: RwLockConfig = {}): number {
  assertConfig("rw_lock", config, ["tracked"]);
  const { tracked = 0 } = config;
  return tracked;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: RW_LOCK,
  owner: (words) => words[WRITER]! & OWNER_MASK,
  waiters: (words) => {
    const state = words[STATE]!;
    const pending = words[TRACKED] === 0
      ? pendingIn(state)
      : words[GATE]! & WAITING_BIT; // somebody
    const asleep = state & ASLEEP_BIT ? 1 : 0; // the writer, until readers end
    return pending + asleep + (words[WRITER]! & CONTENDED_BIT ? 1 : 0);
  },
};
