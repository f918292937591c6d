/**
 * How the buckets and entries of a map are read: see `table.ts`, which writes
 * them.
 *
 * @module
 */

import { DamagedError, MOST_TRIES } from "../_memory/damaged.ts";
import type { HASH_MAP } from "../_memory/layout.ts";
import type { Sizes } from "./config.ts";
import type { Heap } from "./heap.ts";
import {
  BUCKET,
  CURRENT,
  HASH,
  HEAD,
  LINK,
  LINKED_BIT,
  NEXT_MASK,
  type Plan,
  VERSION,
} from "./plan.ts";
import { isOver, timeNow } from "./time.ts";

const TTL: typeof HASH_MAP.ttl = 9;

/** From this capacity on, a core's caches do not hold all entries. */
const LARGE = 4096;

/** What a search returns if no entry has the key. */
export const NONE = 0;
/** What a search returns if the links lead out of the chain. */
export const ASTRAY = -1;

/** The buckets and entries of one map, as one view of it reads them. */
export class Entries {
  /**
   * The word that led to the entry that the last search found: `head`, or the
   * `link` of the entry before.
   */
  before = 0;
  /** The version of the bucket when the last `read` found an entry. */
  version = 0;
  /**
   * Whether the entry stays there for as long as the bucket has that version.
   */
  isSettled = false;
  /** The word `current` of the value that was copied last. */
  current = 0;
  /** Its word `expires`, if entries expire. */
  expires = 0;
  /** Whether values may have more than one word, and so have two copies. */
  readonly isLong: boolean;
  /** Whether a new entry lies near the home of its bucket, if it can. */
  protected readonly hasHomes: boolean;
  /** A part of what `approach` read: so that the compiler keeps the read. */
  protected fetched = 0;
  /** For how many milliseconds a value counts at most; 0 for ever. */
  readonly ttl: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #plan: Plan;
  /** Parts of the plan, which are needed often. */
  readonly #capacity: number;
  readonly #buckets: number;
  readonly #mask: number;
  readonly #entries: number;
  readonly #stride: number;
  /** How many entries there are for each bucket. */
  readonly #perBucket: number;
  /** Whether keys have one word: then comparing it is as fast as the hash. */
  readonly #isShortKey: boolean;
  readonly #keyVaries: boolean;
  readonly #valueVaries: boolean;
  /** The words of an entry before its key, and before its value. */
  readonly #key: number;
  readonly #value: number;
  /** The words of a value without `expires`. */
  readonly #valueWords: number;
  /** Whether entries expire. */
  readonly #expires: boolean;
  /** The blocks of values that are too long for an entry. */
  readonly #heap: Heap | undefined;
  /** The same of keys. */
  readonly #keys: Heap | undefined;

  /**
   * Values may be longer than an entry if there is a `heap` for them, and keys
   * if there is one for `keys`.
   */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    plan: Plan & Sizes,
    heap: Heap | undefined,
    keys: Heap | undefined,
  ) {
    this.#words = words;
    this.#plan = plan;
    this.#capacity = plan.capacity;
    this.#buckets = plan.buckets;
    this.#mask = plan.bucketCount - 1;
    this.#entries = plan.entries;
    this.#stride = plan.stride;
    this.#perBucket = plan.capacity / plan.bucketCount;
    // In a cache, entries lie where the hand takes others out.
    this.hasHomes = plan.capacity >= LARGE && !plan.evicts;
    this.#keyVaries = plan.keyVaries;
    this.#valueVaries = plan.valueVaries;
    this.#isShortKey = plan.keyWords === 1;
    this.isLong = plan.valueWords > 1;
    this.#key = plan.key;
    this.#value = this.#key + plan.keyWords;
    this.#expires = plan.expires;
    this.#valueWords = plan.valueWords - (plan.expires ? 1 : 0);
    this.ttl = words[TTL]!;
    this.#heap = heap;
    this.#keys = keys;
  }

  /** The first word of the bucket for this hash. */
  bucketOf(hash: number): number {
    return this.#buckets + (hash & this.#mask) * BUCKET;
  }

  /**
   * Has the processor fetch the entry at the bucket's home while it waits for
   * the bucket: in a large map, neither is in a cache.
   */
  approach(bucket: number): void {
    if (!this.hasHomes) return;
    const home = this.entryAt(this.homeOf(bucket) + 1);
    this.fetched = this.#words[home]! & 1;
  }

  /**
   * The number, from 0 on, of the entry that a key of the bucket takes if it is
   * free, or else one that lies behind it.
   */
  homeOf(bucket: number): number {
    return this.numberOf(bucket) * this.#perBucket | 0;
  }

  /** The number of the bucket for this hash, by which its blocks name it. */
  ownerOf(hash: number): number {
    return (hash & this.#mask) + 1;
  }

  protected numberOf(bucket: number): number {
    return (bucket - this.#buckets) / BUCKET;
  }

  /** The first word of entry `number`, from 1 on. */
  entryAt(number: number): number {
    return this.#entries + (number - 1) * this.#stride;
  }

  /**
   * The entry with this key, or `NONE`, without a lock. Copies its value to
   * `into`, if that is given. Sets `isSettled` if the caller `remembers` where
   * it was.
   *
   * @throws {DamagedError} If the links lead nowhere.
   */
  read(
    bucket: number,
    hash: number,
    key: Int32Array,
    count: number,
    into?: Int32Array,
    remembers = false,
  ): number {
    const words = this.#words;
    const now = this.now();
    for (let tries = MOST_TRIES; tries > 0; tries--) {
      const version = Atomics.load(words, bucket + VERSION);
      // (L) A writer that begins after this changes `version`.
      if (remembers) this.isSettled = Atomics.load(words, bucket) === 0;
      let at = this.find(bucket, hash, key, count);
      if (at > 0 && (into !== undefined || this.#expires)) {
        const isCopied = this.copyValue(at, into, this.#expires);
        // Pairs with (C): if the copy was used again, or a block of it,
        // `current` has changed.
        if (!this.isCurrent(at, this.current)) continue;
        if (!isCopied) at = ASTRAY;
      }
      // Pairs with (V): if the entry was used again before it was read,
      // `version` has changed.
      if (Atomics.load(words, bucket + VERSION) !== version) continue;
      if (at === ASTRAY) break;
      this.version = version;
      return at > 0 && this.isOver(this.expires, now) ? NONE : at;
    }
    throw new DamagedError("The map");
  }

  /**
   * Whether the entry at `at` still has the key that it had at `version`, and
   * has not expired. Copies its value to `into`, if that is given.
   */
  readAgain(
    bucket: number,
    at: number,
    version: number,
    into?: Int32Array,
  ): boolean {
    if (into !== undefined || this.#expires) {
      const now = this.now();
      if (
        !this.copyValue(at, into, this.#expires) ||
        !this.isCurrent(at, this.current) ||
        this.isOver(this.expires, now)
      ) return false;
    }
    return this.isSame(bucket, version); // pairs with (V) and (F)
  }

  /** Whether the value with this word `current` still counts. */
  isCurrent(at: number, current: number): boolean {
    return !this.isLong || Atomics.load(this.#words, at + CURRENT) === current;
  }

  /** Whether the bucket still has this version. */
  isSame(bucket: number, version: number): boolean {
    return Atomics.load(this.#words, bucket + VERSION) === version;
  }

  /** The clock, for `isOver`: an operation looks before it reads an entry. */
  now(): number {
    return this.#expires ? timeNow() : 0;
  }

  /** Whether a value with this word `expires` counts no longer. */
  isOver(expires: number, now: number): boolean {
    return this.#expires && isOver(expires, now, this.ttl);
  }

  /**
   * Whether an entry has expired. An agent that does not hold the lock may be
   * told so of one that has a new value by now.
   */
  hasExpired(at: number): boolean {
    if (!this.#expires) return false;
    const now = this.now();
    const current = Atomics.load(this.#words, at + CURRENT);
    return this.isOver(
      Atomics.load(this.#words, this.endOf(at, current)),
      now,
    );
  }

  /** The word `expires` of the copy that counts if `current` says so. */
  protected endOf(at: number, current: number): number {
    const { valueWords } = this.#plan;
    return at + this.#value + ((current & 1) + 1) * valueWords - 1;
  }

  /** The first word of the copy of a value that counts, if it has two. */
  protected valueAt(at: number): number {
    const current = Atomics.load(this.#words, at + CURRENT);
    return at + this.#value + (current & 1) * this.#plan.valueWords;
  }

  /** How many blocks there are. */
  get blockCount(): number {
    return (this.#heap ?? this.#keys)?.count ?? 0;
  }

  /**
   * An entry that begins with this block: its key does, or if that is short,
   * its value. If `any`, one in the same bucket with blocks. Not the one at
   * `kept`; `NONE` if there is none. Other agents may write there meanwhile.
   */
  holderOf(block: number, any: boolean, kept: number): number {
    const words = this.#words;
    const owner = (this.#heap ?? this.#keys)!.ownerOf(block);
    if (owner < 1 || owner > this.#mask + 1) return NONE;
    let next = Atomics.load(words, this.bucketOf(owner - 1) + HEAD);
    for (let left = MOST_TRIES; left > 0; left--) {
      if (next < 1 || next > this.#capacity) break;
      const at = this.entryAt(next);
      const first = this.keyFirstOf(at) || this.firstOf(at);
      if (at !== kept && (first === block || any && first !== NONE)) return at;
      next = Atomics.load(words, at + LINK) & NEXT_MASK;
    }
    return NONE;
  }

  /** The number of the first block of the value of an entry, or `NONE`. */
  protected firstOf(at: number): number {
    return this.#heap === undefined
      ? NONE
      : this.#heap.firstOf(this.valueAt(at));
  }

  /** The same of its key. */
  protected keyFirstOf(at: number): number {
    return this.#keys === undefined ? NONE : this.#keys.firstOf(at + this.#key);
  }

  /** The value of an entry, if values have one word. */
  wordAt(at: number): number {
    return Atomics.load(this.#words, at + this.#value);
  }

  protected find(
    bucket: number,
    hash: number,
    key: Int32Array,
    count: number,
  ): number {
    const words = this.#words;
    const capacity = this.#capacity;
    this.before = bucket + HEAD;
    let next = Atomics.load(words, bucket + HEAD); // pairs with (P)
    for (let left = MOST_TRIES; next !== 0; left--) {
      if (next < 1 || next > capacity || left === 0) return ASTRAY;
      const at = this.entryAt(next);
      if (this.#has(at, hash, key, count)) return at;
      const link = Atomics.load(words, at + LINK);
      if ((link & ~NEXT_MASK) !== LINKED_BIT) return ASTRAY;
      this.before = at + LINK;
      next = link & NEXT_MASK;
    }
    return NONE;
  }

  #has(at: number, hash: number, key: Int32Array, count: number): boolean {
    const words = this.#words;
    if (!this.#isShortKey && Atomics.load(words, at + HASH) !== hash) {
      return false;
    }
    const from = at + this.#key;
    if (this.#keys !== undefined && this.#keys.isLong(key[0]!)) {
      return this.#keys.isSame(from, key, count);
    }
    for (let i = 0; i < count; i++) {
      if (Atomics.load(words, from + i) !== key[i]) return false;
    }
    return true;
  }

  /**
   * Copies the value of an entry to `into`, if that is given, and its word
   * `expires`, if the value is `dated`; false if its length is impossible.
   */
  copyValue(at: number, into?: Int32Array, dated = false): boolean {
    let from = at + this.#value;
    if (!this.isLong) {
      into![0] = Atomics.load(this.#words, from);
      return true;
    }
    const { valueWords } = this.#plan;
    this.current = Atomics.load(this.#words, at + CURRENT);
    from += (this.current & 1) * valueWords;
    if (dated) {
      this.expires = Atomics.load(this.#words, from + valueWords - 1);
    }
    if (into === undefined) return true;
    return this.#heap === undefined
      ? this.#copy(from, this.#valueVaries, this.#valueWords, into)
      : this.#heap.copy(from, into);
  }

  /** Copies `most` words, or as many as the length in the first one says. */
  #copy(
    from: number,
    varies: boolean,
    most: number,
    into: Int32Array,
  ): boolean {
    const words = this.#words;
    const first = Atomics.load(words, from);
    into[0] = first;
    let count = most;
    if (varies) {
      if (first < 0 || first > 4 * (most - 1)) return false;
      count = 1 + (first + 3 >> 2);
    }
    for (let i = 1; i < count; i++) into[i] = Atomics.load(words, from + i);
    return true;
  }

  /**
   * Copies the key of entry `number` if it seems to be in use.
   * Another agent may change it meanwhile: search for it.
   */
  copyKey(number: number, into: Int32Array): boolean {
    const at = this.entryAt(number);
    const link = Atomics.load(this.#words, at + LINK);
    if ((link & LINKED_BIT) === 0) return false;
    const from = at + this.#key;
    return this.#keys === undefined
      ? this.#copy(from, this.#keyVaries, this.#plan.keyWords, into)
      : this.#keys.copy(from, into);
  }

  /** How many entries are in use; they are counted one by one. */
  get size(): number {
    const words = this.#words;
    let count = 0;
    for (let number = 1; number <= this.#plan.capacity; number++) {
      const link = Atomics.load(words, this.entryAt(number) + LINK);
      if ((link & LINKED_BIT) !== 0) count++;
    }
    return count;
  }

  /** The hash of the key of an entry. */
  hashAt(at: number): number {
    return Atomics.load(this.#words, at + HASH);
  }

  /** The number of an entry, from 1 on. */
  numberAt(at: number): number {
    return (at - this.#entries) / this.#stride + 1;
  }
}
