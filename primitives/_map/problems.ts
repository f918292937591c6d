/**
 * Finds what does not fit together in the buckets and entries of a map.
 *
 * @module
 */

import type { HASH_MAP } from "../_memory/layout.ts";
import { isSum } from "../_lock/stripes.ts";
import { NO_AGENT, NO_FLAG, type TellBehind } from "../_memory/problems.ts";
import { heapIn, MAX_TTL, planOf } from "./config.ts";
import { NEXT, OWNER } from "./heap.ts";
import {
  BUCKET,
  CLAIMED_BIT,
  EVICTIONS,
  FREE,
  HEAD,
  type HeapPlan,
  HITS,
  LINK,
  MISSES,
  NEXT_MASK,
  type Plan,
  STRIPE,
  STRIPES,
} from "./plan.ts";

const CAPACITY: typeof HASH_MAP.capacity = 1;
const SIZES: typeof HASH_MAP.sizes = 2;
const TTL: typeof HASH_MAP.ttl = 9;
/** The largest agent id. */
const MAX_ID = 0x0fff_ffff;

/** The most buckets and entries that are looked at for problems. */
const MOST_LOOKS = 65536;

/** Tells what does not fit together in the buckets and entries of a map. */
export function tellOfTable(
  words: Int32Array,
  tell: TellBehind,
): void {
  const plan = planOf(words[CAPACITY]!, words[SIZES]!);
  const heap = heapIn(words);
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
  if (plan.evicts) tellOfClock(words, plan, tell);
  if (heap !== undefined) tellOfHeap(words, heap, bucketCount, tell);
  const ttl = words[TTL]!;
  if (plan.expires ? ttl < 1 || ttl > MAX_TTL : ttl !== 0) {
    tell(TTL, "ttl", ttl, "It does not fit the word `sizes`.");
  }
}

/** The same of the blocks. */
function tellOfHeap(
  words: Int32Array,
  { blocks, blockWords, count }: HeapPlan,
  bucketCount: number,
  tell: TellBehind,
): void {
  for (let i = 0; i < Math.min(count, MOST_LOOKS); i++) {
    const at = blocks + i * blockWords;
    const name = `block ${i + 1}`;
    const owner = Atomics.load(words, at + OWNER);
    if (owner < 0 || owner > bucketCount) {
      tell(at + OWNER, name, owner, "There is no such bucket.");
    }
    // The word of a block that is free says nothing.
    const next = Atomics.load(words, at + NEXT);
    if (owner !== FREE && (next < 0 || next > count)) {
      tell(at + NEXT, name, next, "There is no such block.");
    }
  }
}

/** The same of what only a cache has. */
function tellOfClock(words: Int32Array, plan: Plan, tell: TellBehind): void {
  const { entries, capacity, stride, key, stripes } = plan;
  for (let i = 0; i < Math.min(capacity, MOST_LOOKS); i++) {
    const at = entries + i * stride + key - 1;
    const used = Atomics.load(words, at);
    if (used >>> 1 !== 0) tell(at, `entry ${i + 1}`, used, NO_FLAG);
  }
  for (let i = 0; i < STRIPES; i++) {
    for (const count of [HITS, MISSES, EVICTIONS]) {
      const at = stripes + i * STRIPE + count;
      if (isSum(words, at)) continue;
      const high = Atomics.load(words, at + 1);
      tell(at + 1, `stripe ${i}`, high, "It does not fit the sum in `low`.");
    }
  }
}
