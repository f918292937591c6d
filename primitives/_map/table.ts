/**
 * The buckets and entries of a map. Readers use no lock. A writer holds the
 * lock of the bucket: see `map_core.ts`.
 *
 * ```text
 * bucket, word 0  lock     The two words of a mutex.
 * bucket, word 2  version  Changes after each step that readers must notice.
 * bucket, word 3  head     The number of the first entry, from 1 on; or 0.
 * entry, word 0   link     0                free
 *                          bit 31           the agent in bits 0-27 fills it
 *                          bit 30 (LINKED)  in bits 0-29, the number of the
 *                                           next entry, or 0
 * entry, word 1   hash     The hash of the key.
 * entry, word 2   current  Only if a value may have more than one word: changes
 *                          by 1 with each value; the lowest bit is the number
 *                          of the copy that counts.
 * entry, then     used     Only in a cache: see `clock.ts`.
 * Then the key, and the value or its two copies. If entries expire, a value has
 * two copies, and `expires` is the last word of each: see `time.ts`. In a map
 * with a heap, what is too long for an entry lies in blocks: see `heap.ts`.
 * ```
 *
 * A writer shows each change by one store: of `head` or a `link`, of `current`,
 * or of a value that has one word. So a terminated writer leaves the bucket as
 * it was before or after the change. A reader may still be at an entry that a
 * writer has taken out: the writer changes `version` before the entry is used
 * again (V). A reader may still read the copy of a value that no longer counts:
 * `current` changed before that copy is used again (C). The reader compares
 * both words at the end, and begins again if one has changed.
 *
 * A view may remember where it found a key: see `places.ts`. So a writer also
 * changes `version` before it takes an entry out (F). Where a reader found a
 * key stays true for that version only if no writer had begun before: the
 * reader looks at the lock first (L).
 *
 * In a large map, what a reader waits for is memory: first the bucket, then the
 * entry. So a new entry lies at the home of its bucket if that is free, or near
 * it, and the processor fetches both at once. Which free entry a writer takes,
 * and whether anything was fetched before, changes nothing else.
 *
 * There is a bit for each entry, which says whether it is free. In a large map
 * that is full, looking at all bits would take each `set` long. So who begins
 * to look at all of them says so in the word `full` (R). If it finds no free
 * entry, and `full` has not changed, it says that the map is full, and the next
 * `set` looks at nothing else. Who frees an entry changes `full` afterwards, if
 * an agent looks or has looked.
 *
 * @module
 */

import { DamagedError, MOST_TRIES } from "../_memory/damaged.ts";
import type { HASH_MAP } from "../_memory/layout.ts";
import type { Sizes } from "./config.ts";
import { ASTRAY, Entries, NONE } from "./entries.ts";
import type { Heap } from "./heap.ts";
import {
  CLAIMED_BIT,
  CURRENT,
  FREE,
  FULL_BIT,
  HASH,
  HEAD,
  LINK,
  LINKED_BIT,
  LOOKED_BIT,
  NEXT_MASK,
  type Plan,
  VERSION,
} from "./plan.ts";

const ROOM: typeof HASH_MAP.room = 17;
const FULL: typeof HASH_MAP.full = 18;

/** Instead of a `ttl`: a value expires when the one before it would have. */
export const KEEPS = 0;
/** At how many words of bits an agent looks before it says that it looks. */
const FEW = 8;
/** What `full` changes by, in the bits that count. */
const ONE_CHANGE = 4;

/**
 * The buckets and entries of one map, as one view of it sees them. Who writes
 * holds the lock of the bucket.
 */
export class Table extends Entries {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #plan: Plan;
  readonly #id: number;
  /** The words of an entry before its key, and before its value. */
  readonly #key: number;
  readonly #value: number;
  /** Whether entries expire. */
  readonly #expires: boolean;
  /** The blocks of values that are too long for an entry. */
  readonly #heap: Heap | undefined;
  /** The same of keys. */
  readonly #keys: Heap | undefined;
  /** How many words of bits there are. */
  readonly #maps: number;
  /** The one in which this view looks first for a free entry. */
  #map: number;

  /**
   * `id` is the agent that uses the view. Values may be longer than an entry if
   * there is a `heap` for them, and keys if there is one for `keys`.
   */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    plan: Plan & Sizes,
    id: number,
    heap: Heap | undefined,
    keys: Heap | undefined,
  ) {
    super(words, plan, heap, keys);
    this.#words = words;
    this.#plan = plan;
    this.#id = id;
    this.#key = plan.key;
    this.#value = plan.key + plan.keyWords;
    this.#expires = plan.expires;
    this.#heap = heap;
    this.#keys = keys;
    this.#maps = Math.ceil(plan.capacity / 32);
    this.#map = id % this.#maps;
  }

  /**
   * The entry with this key, or `NONE`, for the agent that holds the lock. Sets
   * `before`. Takes the entry out if it has expired.
   *
   * @throws {DamagedError} If the links lead nowhere.
   */
  search(
    bucket: number,
    hash: number,
    key: Int32Array,
    count: number,
  ): number {
    const at = this.find(bucket, hash, key, count);
    if (at === ASTRAY) throw new DamagedError("The map");
    if (at === NONE || !this.hasExpired(at)) return at;
    this.remove(bucket, at, this.before);
    return NONE;
  }

  /**
   * Fills entry `number`, which is the caller's, and adds it. If entries
   * expire, its value counts for `ttl` ms.
   */
  insert(
    number: number,
    bucket: number,
    hash: number,
    key: Int32Array,
    keyCount: number,
    value: Int32Array,
    count: number,
    ttl: number,
  ): void {
    const words = this.#words;
    const at = this.entryAt(number);
    // Readers may still be here, which had found an older entry.
    Atomics.store(words, at + HASH, hash);
    this.#fill(at + this.#key, key, keyCount);
    this.#fill(at + this.#value, value, count);
    if (this.#expires) this.#renew(at, 0, ttl);
    if (this.isLong) Atomics.store(words, at + CURRENT, 0);
    if (this.#plan.evicts) Atomics.store(words, at + this.#key - 1, 0);
    const next = Atomics.load(words, bucket + HEAD);
    Atomics.store(words, at + LINK, LINKED_BIT | next);
    Atomics.store(words, bucket + HEAD, number); // (P)
  }

  #fill(at: number, from: Int32Array, count: number): void {
    for (let i = 0; i < count; i++) {
      Atomics.store(this.#words, at + i, from[i]!);
    }
  }

  /** Lets the copy that counts if `current` says so count for `ttl` ms. */
  #renew(at: number, current: number, ttl: number): void {
    Atomics.store(this.#words, this.endOf(at, current), this.now() + ttl);
  }

  /**
   * Gives an entry another value. If entries expire, it counts for `ttl` ms, or
   * `KEEPS` the time of the old one.
   */
  overwrite(
    at: number,
    value: Int32Array,
    count: number,
    ttl: number,
  ): void {
    const words = this.#words;
    if (!this.isLong) {
      Atomics.store(words, at + this.#value, value[0]!);
      return;
    }
    const old = this.firstOf(at);
    const current = Atomics.load(words, at + CURRENT);
    const next = current + 1 | 0;
    const copy = at + this.#value + (next & 1) * this.#plan.valueWords;
    this.#fill(copy, value, count);
    if (this.#expires && ttl === KEEPS) {
      const expires = Atomics.load(words, this.endOf(at, current));
      Atomics.store(words, this.endOf(at, next), expires);
    } else if (this.#expires) this.#renew(at, next, ttl);
    Atomics.store(words, at + CURRENT, next); // (C) the new value counts
    if (old !== NONE) this.#heap!.free(old, this.ownerOf(this.hashAt(at)));
  }

  /** Adds to a value of one word; returns the value before. */
  add(at: number, n: number): number {
    return Atomics.add(this.#words, at + this.#value, n);
  }

  /**
   * Takes an entry out; `before` is the word that leads to it. The entry is the
   * caller's, if it `claims` it, or free.
   */
  remove(bucket: number, at: number, before: number, claims = false): void {
    const words = this.#words;
    const next = Atomics.load(words, at + LINK) & NEXT_MASK;
    const isFirst = before === bucket + HEAD;
    const old = this.firstOf(at);
    const oldKey = this.keyFirstOf(at);
    Atomics.add(words, bucket + VERSION, 1); // (F) views forget the entry
    Atomics.store(words, before, isFirst ? next : LINKED_BIT | next);
    Atomics.add(words, bucket + VERSION, 1); // (V) the entry may be used
    const owner = this.ownerOf(this.numberOf(bucket));
    if (old !== NONE) this.#heap!.free(old, owner);
    if (oldKey !== NONE) this.#keys!.free(oldKey, owner);
    if (claims) Atomics.store(words, at + LINK, CLAIMED_BIT | this.#id);
    else this.#free(at);
  }

  /** Whether the bucket has no entry. */
  isEmpty(bucket: number): boolean {
    return Atomics.load(this.#words, bucket + HEAD) === 0;
  }

  /**
   * Takes all entries of a bucket out.
   *
   * @throws {DamagedError} If the links lead nowhere.
   */
  empty(bucket: number): void {
    if (!this.isWhole(bucket)) throw new DamagedError("The map");
    const words = this.#words;
    const head = bucket + HEAD;
    for (let next; (next = Atomics.load(words, head)) !== 0;) {
      this.remove(bucket, this.entryAt(next), head);
    }
  }

  /**
   * The number of an entry that was free and is the caller's now, or `NONE`: for
   * a key of the bucket.
   */
  allocate(bucket: number): number {
    if ((Atomics.load(this.#words, FULL) & FULL_BIT) !== 0) return NONE;
    const home = this.hasHomes ? this.homeOf(bucket) : this.#map * 32;
    this.#map = home >> 5;
    return this.#allocateIn(Math.min(this.#maps, FEW), -1 << home) ||
      this.#allocateSlow();
  }

  /** Looks at all bits. */
  #allocateSlow(): number {
    const words = this.#words;
    const full = Atomics.or(words, FULL, LOOKED_BIT) | LOOKED_BIT; // (R)
    const room = (Atomics.load(words, ROOM) >>> 0) % this.#maps;
    this.#map = room;
    const number = this.#allocateIn(this.#maps);
    if (number === NONE) {
      Atomics.compareExchange(words, FULL, full, full | FULL_BIT);
    } else if (this.#map !== room) Atomics.store(words, ROOM, this.#map);
    return number;
  }

  /**
   * Looks at a number of words of bits, from `#map` on, and in the first one
   * only at the bits of `first`.
   */
  #allocateIn(count: number, first = -1): number {
    const words = this.#words;
    const { bits, capacity } = this.#plan;
    const maps = this.#maps;
    let map = this.#map;
    for (let i = count; i > 0; i--) {
      const taken = Atomics.load(words, bits + map);
      for (let left = ~taken & first; left !== 0; left &= left - 1) {
        const bit = left & -left;
        const number = map * 32 + 32 - Math.clz32(bit);
        if (number > capacity) break;
        if (!this.claim(number)) continue;
        this.#map = map;
        return number;
      }
      map = map + 1 < maps ? map + 1 : 0;
      first = -1;
    }
    this.#map = map;
    return NONE;
  }

  /**
   * Makes entry `number` the caller's, if it is free; returns whether it did.
   */
  claim(number: number): boolean {
    const words = this.#words;
    const link = this.entryAt(number) + LINK;
    const claimed = CLAIMED_BIT | this.#id;
    if (Atomics.compareExchange(words, link, FREE, claimed) !== FREE) {
      return false;
    }
    const bit = 1 << (number - 1 & 31);
    Atomics.or(words, this.#plan.bits + (number - 1 >> 5), bit);
    return true;
  }

  #free(at: number): void {
    const { bits, entries, stride } = this.#plan;
    const number = (at - entries) / stride;
    Atomics.store(this.#words, at + LINK, FREE);
    Atomics.and(this.#words, bits + (number >> 5), ~(1 << (number & 31)));
    this.#tellRoom(number >> 5);
  }

  /** Says that there is room, in this word of the bits, if agents look. */
  #tellRoom(map: number): void {
    const words = this.#words;
    // Pairs with (R): who does not see this entry sees that `full` changed.
    let full = Atomics.load(words, FULL);
    if ((full & (FULL_BIT | LOOKED_BIT)) === 0) return;
    Atomics.store(words, ROOM, map);
    while ((full & (FULL_BIT | LOOKED_BIT)) !== 0) {
      const next = (full & ~(FULL_BIT | LOOKED_BIT)) + ONE_CHANGE | 0;
      const found = Atomics.compareExchange(words, FULL, full, next);
      if (found === full) return;
      full = found;
    }
  }

  // ---- after a death --------------------------------------------------------

  /** Frees the entries that agent `id`, which is dead, was filling. */
  release(id: number): void {
    const words = this.#words;
    const { bits, capacity } = this.#plan;
    const claimed = CLAIMED_BIT | id;
    let room = 0;
    for (let number = 1; number <= capacity; number++) {
      const at = this.entryAt(number);
      let link = Atomics.load(words, at + LINK);
      const map = bits + (number - 1 >> 5);
      const bit = 1 << (number - 1 & 31);
      // By an exchange, as other agents may do the same, and use the entry.
      if (link === claimed) {
        link = Atomics.compareExchange(words, at + LINK, claimed, FREE);
      }
      // Or the agent ended before it cleared the bit, or another one that did
      // the same. If another agent claims the entry now, its bit is wrong the
      // other way: harmless.
      if (
        link === claimed ||
        link === FREE && (Atomics.load(words, map) & bit) !== 0
      ) {
        Atomics.and(words, map, ~bit);
        room = map - bits;
      }
    }
    this.#tellRoom(room); // or the agent ended before it said so
  }

  /**
   * Frees the entries that a dead agent had taken out of the bucket, or had not
   * linked yet, and the blocks in which no key or value of the bucket lies. The
   * caller holds the lock.
   */
  mend(bucket: number): void {
    const words = this.#words;
    Atomics.add(words, bucket + VERSION, 1); // as (V)
    for (let number = 1; number <= this.#plan.capacity; number++) {
      const at = this.entryAt(number);
      // In this order: nobody else fills entries for this bucket now, so an
      // entry that was linked elsewhere does not get a hash of this bucket.
      const link = Atomics.load(words, at + LINK);
      if ((link & ~NEXT_MASK) !== LINKED_BIT) continue;
      const hash = Atomics.load(words, at + HASH);
      if (this.bucketOf(hash) !== bucket) continue;
      if (this.leadsTo(bucket, number) === NONE) this.#free(at);
    }
    (this.#heap ?? this.#keys)?.mend(
      this.ownerOf(this.numberOf(bucket)),
      (block) => this.#hasBlock(bucket, block),
    );
  }

  /**
   * Whether an entry of the bucket has the block. The caller holds the lock.
   */
  #hasBlock(bucket: number, block: number): boolean {
    const words = this.#words;
    let next = Atomics.load(words, bucket + HEAD);
    for (let left = MOST_TRIES; left > 0; left--) {
      if (next < 1 || next > this.#plan.capacity) break;
      const at = this.entryAt(next);
      if (this.#heap?.has(this.valueAt(at), block)) return true;
      if (this.#keys?.has(at + this.#key, block)) return true;
      next = Atomics.load(words, at + LINK) & NEXT_MASK;
    }
    return false;
  }

  /**
   * The word that leads to entry `number` in the chain of the bucket, or
   * `NONE`. The caller holds the lock.
   */
  leadsTo(bucket: number, number: number): number {
    const words = this.#words;
    let before = bucket + HEAD;
    for (let left = MOST_TRIES; left > 0; left--) {
      const next = Atomics.load(words, before) & NEXT_MASK;
      if (next === number) return before;
      if (next < 1 || next > this.#plan.capacity) break;
      before = this.entryAt(next) + LINK;
    }
    return NONE;
  }

  /** Whether the chain of the bucket has an end. */
  isWhole(bucket: number): boolean {
    const words = this.#words;
    let next = Atomics.load(words, bucket + HEAD);
    for (let left = MOST_TRIES; next !== 0; left--) {
      if (next < 1 || next > this.#plan.capacity || left === 0) return false;
      const link = Atomics.load(words, this.entryAt(next) + LINK);
      if ((link & ~NEXT_MASK) !== LINKED_BIT) return false;
      next = link & NEXT_MASK;
    }
    return true;
  }
}
