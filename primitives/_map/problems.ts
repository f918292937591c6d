/**
 * Finds what does not fit together in the buckets and entries of a map.
 *
 * @module
 */

import { NO_AGENT, type TellBehind } from "../_memory/problems.ts";
import {
  BUCKET,
  CLAIMED_BIT,
  FREE,
  HEAD,
  LINK,
  NEXT_MASK,
  type Plan,
} from "./plan.ts";

/** The largest agent id. */
const MAX_ID = 0x0fff_ffff;

/** The most buckets and entries that are looked at for problems. */
const MOST_LOOKS = 65536;

/** Tells what does not fit together in the buckets and entries of a map. */
export function tellOfTable(
  words: Int32Array,
  plan: Plan,
  tell: TellBehind,
): void {
  const { buckets, bucketCount, entries, capacity, stride } = plan;
  for (let i = 0; i < (plan.flights - plan.waits) / 2; i++) {
    const at = plan.waits + 2 * i + 1;
    const waiters = Atomics.load(words, at);
    if ((waiters & 0x4000_0000) === 0) continue;
    tell(at, `waiters ${i}`, waiters, "There are fewer than 0 waiters.");
  }
  for (let i = 0; i < plan.flightCount; i++) {
    const at = plan.flights + 2 * i;
    const owner = Atomics.load(words, at);
    if (owner < 0 || owner > MAX_ID) tell(at, `flight ${i}`, owner, NO_AGENT);
  }
  for (let i = 0; i < Math.min(bucketCount, MOST_LOOKS); i++) {
    const at = buckets + i * BUCKET;
    const name = `bucket ${i}`;
    const lock = Atomics.load(words, at);
    if (lock < 0) tell(at, name, lock, "Bit 31 is never set.");
    const head = Atomics.load(words, at + HEAD);
    if (head < 0 || head > capacity) {
      tell(at + HEAD, name, head, "There is no such entry.");
    }
  }
  for (let i = 0; i < Math.min(capacity, MOST_LOOKS); i++) {
    const at = entries + i * stride;
    const name = `entry ${i + 1}`;
    const link = Atomics.load(words, at + LINK);
    const next = link & NEXT_MASK;
    if (link === FREE) continue;
    if (link < 0) {
      const id = link & ~CLAIMED_BIT;
      if (id === 0 || id > MAX_ID) tell(at, name, link, NO_AGENT);
    } else if (link === next || next > capacity) {
      tell(at, name, link, "There is no such entry.");
    }
  }
}
