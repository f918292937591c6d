/**
 * Which entry of a cache gives way to a new one, by second chances (Corbató
 * 1969), and how often keys were found.
 *
 * An operation that finds an entry sets its word `used`. A hand goes round the
 * entries, and is shared by all agents. It clears `used`, or takes the entry
 * out if nobody has used it since the hand was there, or it has expired. An
 * agent that wants an entry moves the hand while it holds the bucket of its new
 * key. So it never waits for the bucket of another entry: if that is locked,
 * the hand goes on. An agent that wants blocks moves the same hand round the
 * blocks.
 *
 * @module
 */

import type { HASH_MAP } from "../_memory/layout.ts";
import { addTo, sumAt } from "../_lock/stripes.ts";
import { tryLockBucket, unlockBucket } from "./lock.ts";
import {
  EVICTIONS,
  FREE,
  HASH,
  HITS,
  LINK,
  LINKED_BIT,
  MISSES,
  type Plan,
  STRIPE,
  STRIPES,
} from "./plan.ts";
import { NONE } from "./entries.ts";
import type { Table } from "./table.ts";

const HAND: typeof HASH_MAP.hand = 16;

/**
 * The most entries, or blocks, at which the hand looks for one that is not
 * used, and then for any: so a new key takes no longer in a large cache.
 */
const MOST_LOOKS = 256;

/** The clock of one cache, as one view of it sees it. */
export class Clock {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #plan: Plan;
  readonly #table: Table;
  readonly #id: number;
  /** The word `used` of an entry. */
  readonly #used: number;
  /** The counts of this view's stripe. */
  readonly #counts: number;

  /** `id` is the agent that uses the view. */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    plan: Plan,
    table: Table,
    id: number,
  ) {
    this.#words = words;
    this.#plan = plan;
    this.#table = table;
    this.#id = id;
    this.#used = plan.key - 1;
    this.#counts = plan.stripes + (id & STRIPES - 1) * STRIPE;
  }

  /** Gives the entry at `at` a second chance. */
  touch(at: number): void {
    const used = at + this.#used;
    // The entry may be another one by now, which gets that chance: harmless.
    if (Atomics.load(this.#words, used) === 0) {
      Atomics.store(this.#words, used, 1);
    }
  }

  /** Counts an operation that found its key, or did not. */
  count(isFound: boolean): void {
    addTo(this.#words, this.#counts + (isFound ? HITS : MISSES), 1);
  }

  /** How many there were: of `HITS`, `MISSES` or `EVICTIONS`. */
  sum(count: number): number {
    const { stripes } = this.#plan;
    let sum = 0;
    for (let i = 0; i < STRIPES; i++) {
      sum += sumAt(this.#words, stripes + i * STRIPE + count);
    }
    return sum;
  }

  /**
   * The number of an entry that is the caller's now. `NONE` if other agents are
   * writing to all that it looked at: then the new key counts as evicted. The
   * caller holds `bucket`.
   */
  claim(bucket: number): number {
    return this.#table.allocate(bucket) || this.#evict(bucket);
  }

  #evict(bucket: number): number {
    const words = this.#words;
    const { capacity } = this.#plan;
    const looks = Math.min(capacity, MOST_LOOKS);
    for (let left = 2 * looks; left > 0; left--) {
      const hand = Atomics.add(words, HAND, 1) >>> 0;
      const number = hand % capacity + 1;
      const at = this.#table.entryAt(number);
      const link = Atomics.load(words, at + LINK);
      if (link === FREE) {
        if (this.#table.claim(number)) return number;
      } else if ((link & LINKED_BIT) !== 0) {
        const isOver = this.#table.hasExpired(at);
        if (left > looks && !isOver && this.#spare(at)) continue;
        if (!this.#take(at, number, bucket, true)) continue;
        if (!isOver) addTo(words, this.#counts + EVICTIONS, 1);
        return number;
      }
    }
    addTo(words, this.#counts + EVICTIONS, 1);
    return NONE;
  }

  /**
   * Takes out an entry whose key or value lies in blocks, other than the one at
   * `kept`, and frees these; false if it found none. The hand goes round the
   * blocks: few entries may have any. The caller holds `bucket`.
   */
  makeRoom(bucket: number, kept: number): boolean {
    const words = this.#words;
    const table = this.#table;
    const { blockCount } = table;
    const looks = Math.min(blockCount, MOST_LOOKS);
    for (let left = 2 * looks; left > 0; left--) {
      const block = (Atomics.add(words, HAND, 1) >>> 0) % blockCount + 1;
      // An entry has its chance at one of its blocks, and not at each.
      const at = table.holderOf(block, left <= looks, kept);
      if (at === NONE) continue;
      const isOver = table.hasExpired(at);
      if (!isOver && left > looks && this.#spare(at)) continue;
      if (!this.#take(at, table.numberAt(at), bucket, false)) continue;
      if (!isOver) addTo(words, this.#counts + EVICTIONS, 1);
      return true;
    }
    return false;
  }

  /** Counts a new value that gave way itself. */
  giveWay(): void {
    addTo(this.#words, this.#counts + EVICTIONS, 1);
  }

  /** Whether the entry was used; takes that chance from it. */
  #spare(at: number): boolean {
    if (Atomics.load(this.#words, at + this.#used) === 0) return false;
    Atomics.store(this.#words, at + this.#used, 0);
    return true;
  }

  /**
   * Takes an entry out, and claims it if it `claims`; false if another agent
   * writes there.
   */
  #take(at: number, number: number, own: number, claims: boolean): boolean {
    const words = this.#words;
    const table = this.#table;
    const bucket = table.bucketOf(Atomics.load(words, at + HASH));
    // (T) Never wait: whoever holds it may want an entry of this agent's
    // bucket.
    if (bucket !== own && !tryLockBucket(words, bucket, this.#id)) return false;
    // The entry may have got into another bucket meanwhile, or be free.
    const before = table.leadsTo(bucket, number);
    if (before !== NONE) table.remove(bucket, at, before, claims);
    if (bucket !== own) unlockBucket(words, bucket, this.#id);
    return before !== NONE;
  }
}
