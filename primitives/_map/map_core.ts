/**
 * The operations of a map, for arguments that were checked: what a view
 * remembers, the lock of a bucket, the search, and the clock of a cache, in the
 * order in which an operation needs them. C has them in `hash_map.h`.
 *
 * @module
 */

import type { HASH_MAP } from "../_memory/layout.ts";
import { DamagedError } from "../_memory/damaged.ts";
import { describe } from "../_memory/describe.ts";
import { inRange } from "../_memory/region.ts";
import { CODEC, type Codec } from "../_message/message.ts";
import { atEpoch } from "../_wait/event_count.ts";
import { awaitOn, type PendingResult } from "../_wait/pending.ts";
import type { AsyncOptions } from "../_wait/wait.ts";
import { Cell, CellUse, wordsOfCodec } from "./cell.ts";
import { Clock } from "./clock.ts";
import { heapIn, planOf } from "./config.ts";
import { Heap } from "./heap.ts";
import { inheritBucket, lockBucket, unlockBucket } from "./lock.ts";
import { Places } from "./places.ts";
import { epochFor, hashOf, type Plan } from "./plan.ts";
import { NONE } from "./entries.ts";
import { KEEPS, Table } from "./table.ts";
import { Waits, type Wanted } from "./waits.ts";
import { Writes } from "./write.ts";

const CAPACITY: typeof HASH_MAP.capacity = 1;
const SIZES: typeof HASH_MAP.sizes = 2;
const SEED_LOW: typeof HASH_MAP.seed_low = 7;
const SEED_HIGH: typeof HASH_MAP.seed_high = 8;
/** In the first word of a bucket: see `MUTEX`. */
const OWNER_MASK = 0x0fff_ffff; // MUTEX_BITS.OWNER

/** The operations of one view of a map. */
export class MapCore<K, V> {
  /** The most bytes of a key. */
  readonly keySize: number;
  /** The most bytes of a value. */
  readonly valueSize: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  readonly #table: Table;
  readonly #waits: Waits;
  /** What only a cache has. */
  readonly #clock: Clock | undefined;
  readonly #plan: Plan;
  readonly #low: number;
  readonly #high: number;
  readonly #cells: CellUse = new CellUse();
  readonly #key: Cell<K>;
  readonly #value: Cell<V>;
  readonly #writes: Writes;
  /** The number of the codec of the values. */
  readonly #codec: number;
  /** Where this view found keys; undefined if it remembers none. */
  readonly #places: Places | undefined;
  /** Whether values are of one word and `codec.i32`, or worth remembering. */
  readonly #isWord: boolean;
  readonly #keepsValues: boolean;
  /** The hash of the key for which the bucket was locked. */
  #hash = 0;

  /**
   * The view of agent `id` of the map in `words`, with the codecs that it was
   * made with. It may `remember` where it found keys.
   */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    id: number,
    key: Codec<K>,
    value: Codec<V>,
    remember: boolean,
  ) {
    const plan = planOf(words[CAPACITY]!, words[SIZES]!);
    const heap = heapIn(words);
    this.#words = words;
    this.#id = id;
    const { keySize: inEntry, valueSize } = plan;
    const { longest = 0, longestKey = 0 } = heap ?? {};
    this.keySize = longestKey || inEntry;
    this.valueSize = longest || valueSize;
    // Blocks for values that are too long for an entry, and for keys.
    const blocks = heap && longest > 0 ? new Heap(words, heap) : undefined;
    const keys = heap && longestKey > 0
      ? new Heap(words, { ...heap, longest: longestKey, inEntry })
      : undefined;
    this.#plan = plan;
    this.#places = remember
      ? Places.for(wordsOfCodec(key).id, plan.capacity)
      : undefined;
    this.#table = new Table(words, plan, id, blocks, keys);
    this.#waits = new Waits(words, plan, id);
    this.#clock = plan.evicts
      ? new Clock(words, plan, this.#table, id)
      : undefined;
    this.#low = words[SEED_LOW]!;
    this.#high = words[SEED_HIGH]!;
    this.#key = new Cell("key", key, this.keySize, this.#cells);
    this.#value = new Cell("value", value, this.valueSize, this.#cells);
    this.#writes = new Writes(
      this.#table,
      blocks,
      keys,
      this.#waits,
      this.#clock,
      plan.expires,
      this.#key,
      this.#value,
    );
    this.#codec = wordsOfCodec(value).id;
    this.#isWord = this.#codec === CODEC.i32 && !this.#table.isLong;
    this.#keepsValues = this.#places !== undefined && this.#table.isLong &&
      (this.#codec === CODEC.text || this.#codec === CODEC.f64 ||
        this.#codec === CODEC.i32);
  }

  /** How many entries there are. */
  get size(): number {
    return this.#table.size;
  }

  /** For how many milliseconds a value counts that was given this `ttl`. */
  ttlOf(given: number | undefined): number {
    const { ttl } = this.#table;
    if (given === undefined) return ttl;
    if (ttl !== 0) return inRange("The ttl of a value", given, 1, ttl);
    throw new TypeError(
      `ttl is for a cache that was made with one: received ${describe(given)}`,
    );
  }

  /** Checks that values are numbers, which can be compared and added. */
  assertNumbers(): void {
    if (this.#codec === CODEC.i32 || this.#codec === CODEC.f64) return;
    throw new TypeError(
      "This takes a map whose values are numbers, by codec.i32 or codec.f64",
    );
  }

  /** The sum of a count of a cache, such as `HITS`; 0 in other maps. */
  sum(count: number): number {
    return this.#clock?.sum(count) ?? 0;
  }

  // ---- reading --------------------------------------------------------------

  /** The value of a key, or `undefined`. */
  get(key: K): V | undefined {
    const places = this.#places;
    if (places !== undefined && places.find(key)) {
      const { bucket, entry, version } = places;
      const table = this.#table;
      const value = this.#isWord ? table.wordAt(entry) : places.value;
      if (
        value !== undefined && !table.isOver(places.expires, table.now()) &&
        table.isCurrent(entry, places.current) &&
        table.isSame(bucket, version) // pairs with (F)
      ) {
        if (this.#clock !== undefined) this.#used(entry);
        return value as V;
      }
    }
    return this.#getSlow(key);
  }

  /** Notes that an operation found its entry in a cache. */
  #used(at: number): void {
    this.#clock!.touch(at);
    this.#clock!.count(true);
  }

  #getSlow(key: K): V | undefined {
    const value = this.#value;
    if (!this.#isThere(key, value.words)) return undefined;
    const taken = value.take();
    if (this.#keepsValues) {
      const { current, expires } = this.#table;
      this.#places!.keepValue(taken, current, expires);
    }
    return taken;
  }

  /** Copies the bytes of the value of a key to `into`: how many; -1 if none. */
  getInto(key: K, into: Uint8Array): number {
    const value = this.#value;
    return this.#isThere(key, value.words) ? value.copyTo(into) : -1;
  }

  /** As {@linkcode get}, but a cache counts neither a hit nor a miss. */
  peek(key: K): V | undefined {
    return this.#read(key, this.#value.words) ? this.#value.take() : undefined;
  }

  /** Whether a key has a value. */
  has(key: K): boolean {
    return this.#read(key);
  }

  /** The entries, in no particular order. */
  *entries(): Generator<[K, V], void, void> {
    const table = this.#table;
    const { capacity } = this.#plan;
    const { words } = this.#key;
    for (let number = 1; number <= capacity; number++) {
      this.#cells.assertFree();
      if (!table.copyKey(number, words)) continue;
      // The copy may be a mixture of two keys: what counts is a search for it.
      const count = this.#key.measure();
      const hash = hashOf(this.#low, this.#high, words, count);
      const bucket = table.bucketOf(hash);
      const into = this.#value.words;
      const at = table.read(bucket, hash, words, count, into);
      if (at === table.entryAt(number)) {
        yield [this.#key.take(), this.#value.take()];
      }
    }
  }

  #hashOf(key: K): number {
    const cell = this.#key;
    cell.put(key);
    return hashOf(this.#low, this.#high, cell.words, cell.count);
  }

  /** As `#read`; a cache counts it. */
  #isThere(key: K, into: Int32Array): boolean {
    const isThere = this.#read(key, into);
    if (this.#clock !== undefined) this.#clock.count(isThere);
    return isThere;
  }

  #read(key: K, into?: Int32Array): boolean {
    this.#cells.assertFree();
    const places = this.#places;
    const table = this.#table;
    const clock = into === undefined ? undefined : this.#clock;
    if (places !== undefined && places.find(key)) {
      const { bucket, entry, version } = places;
      if (table.readAgain(bucket, entry, version, into)) {
        clock?.touch(entry);
        return true;
      }
    }
    const hash = this.#hashOf(key);
    const { words, count } = this.#key;
    const bucket = table.bucketOf(hash);
    table.approach(bucket);
    const keeps = places !== undefined && places.keeps;
    const at = table.read(bucket, hash, words, count, into, keeps);
    if (at === NONE) return false;
    clock?.touch(at);
    if (keeps && table.isSettled) {
      places.keep(key, at, bucket, table.version, this.#key);
    }
    return true;
  }

  // ---- writing --------------------------------------------------------------

  /**
   * Gives a key a value for `ttl` ms; false if there is no room, or if it has
   * one and this is only to add one.
   */
  set(key: K, value: V, ifAbsent: boolean, ttl: number): boolean {
    this.#value.put(value);
    const bucket = this.#lockFor(key);
    try {
      const at = this.#searchFor(bucket, key);
      if (at === NONE) return this.#writes.insert(bucket, this.#hash, ttl);
      return !ifAbsent && this.#writes.overwrite(at, ttl);
    } finally {
      this.#unlock(bucket);
    }
  }

  /** Deletes a key; whether it was there. */
  delete(key: K): boolean {
    return this.#remove(key, false);
  }

  /** Deletes a key; the value that it had, or `undefined`. */
  take(key: K): V | undefined {
    return this.#remove(key, true) ? this.#value.take() : undefined;
  }

  #remove(key: K, takes: boolean): boolean {
    const hash = this.#hashOf(key);
    const bucket = this.#lock(hash);
    try {
      const at = this.#search(bucket, hash);
      if (at === NONE) return false;
      if (takes) this.#copy(at);
      this.#table.remove(bucket, at, this.#table.before);
      return true;
    } finally {
      this.#unlock(bucket);
    }
  }

  /**
   * Gives a key the value that `change` makes of the old one: see `HashMap`.
   */
  update(key: K, change: (old: V | undefined) => V | undefined): boolean {
    const bucket = this.#lockFor(key);
    try {
      const at = this.#searchFor(bucket, key);
      const isThere = at !== NONE && this.#copy(at);
      const hash = isThere ? this.#table.hashAt(at) : this.#hash;
      const next = change(isThere ? this.#value.take() : undefined);
      // `change` may have read other keys of this map.
      const isLeft = next !== undefined;
      if (isLeft) this.#value.put(next);
      if (isLeft === isThere) return !isLeft || this.#writes.overwrite(at);
      // With another hash, it would get into the wrong bucket.
      if (this.#hashOf(key) !== hash) {
        throw new TypeError("The key was changed within its update");
      }
      if (isLeft) return this.#writes.insert(bucket, hash);
      this.#takeOut(bucket, hash);
      return true;
    } finally {
      this.#unlock(bucket);
    }
  }

  /** The value of a key, or the one that `make` returns, which it adds. */
  getOrInsert(key: K, make: (key: K) => V): V | undefined {
    if (this.#isThere(key, this.#value.words)) return this.#value.take();
    const made = make(key);
    this.#value.put(made);
    this.#hash = this.#hashOf(key);
    return this.#getOrAdd(made);
  }

  /** The value of the key, or `made`, which was put there and is added. */
  #getOrAdd(made: V): V | undefined {
    const found = this.#findOr((bucket) =>
      this.#writes.insert(bucket, this.#hash)
    );
    if (typeof found === "boolean") return found ? made : undefined;
    return found[0];
  }

  /**
   * The value of the key, or the result of `otherwise` in its locked bucket.
   */
  #findOr<T>(otherwise: (bucket: number) => T): T | [V] {
    const bucket = this.#lock(this.#hash);
    try {
      const at = this.#search(bucket, this.#hash);
      if (at === NONE) return otherwise(bucket);
      this.#clock?.touch(at);
      this.#copy(at);
    } finally {
      this.#unlock(bucket);
    }
    return [this.#value.take()];
  }

  /** Replaces a number if it is `expected`; the one that was found. */
  compareExchange(
    this: MapCore<K, number>,
    key: K,
    expected: number,
    replacement: number,
  ): number | undefined {
    const value = this.#value;
    value.put(expected);
    value.put(replacement);
    const bucket = this.#lockFor(key);
    try {
      const at = this.#searchFor(bucket, key);
      if (at === NONE) return undefined;
      this.#copy(at);
      const found = value.take();
      if (found === expected || found !== found && expected !== expected) {
        value.put(replacement);
        this.#writes.overwrite(at, KEEPS);
      }
      return found;
    } finally {
      this.#unlock(bucket);
    }
  }

  /** Adds to a number; the one before, or `undefined` if there is no room. */
  add(this: MapCore<K, number>, key: K, n: number): number | undefined {
    const value = this.#value;
    value.put(n);
    const bucket = this.#lockFor(key);
    try {
      const at = this.#searchFor(bucket, key);
      if (at === NONE) {
        return this.#writes.insert(bucket, this.#hash) ? 0 : undefined;
      }
      if (this.#isWord) return this.#table.add(at, n);
      this.#copy(at);
      const before = value.take();
      const sum = before + n;
      value.put(this.#codec === CODEC.i32 ? sum | 0 : sum);
      this.#writes.overwrite(at, KEEPS);
      return before;
    } finally {
      this.#unlock(bucket);
    }
  }

  /** Deletes all entries, bucket by bucket. */
  clear(): void {
    const { bucketCount } = this.#plan;
    for (let hash = 0; hash < bucketCount; hash++) {
      if (this.#table.isEmpty(this.#table.bucketOf(hash))) continue;
      const bucket = this.#lock(hash);
      try {
        this.#table.empty(bucket);
      } finally {
        this.#unlock(bucket);
      }
    }
  }

  /**
   * Mends and unlocks the buckets of agent `id`, and lets others make the
   * values that it was making: how many there were of both.
   */
  abandon(id: number): number {
    const words = this.#words;
    const holds = (bucket: number) =>
      (Atomics.load(words, bucket) & OWNER_MASK) === id;
    let count = 0;
    for (let hash = 0; hash < this.#plan.bucketCount; hash++) {
      const bucket = this.#table.bucketOf(hash);
      if (!holds(bucket)) continue;
      if (!this.#table.isWhole(bucket)) {
        // Or another agent has mended it meanwhile, and writes to it.
        if (!holds(bucket)) continue;
        throw new DamagedError("The map");
      }
      // Before the bucket has another owner: if this agent ends meanwhile, the
      // next one still finds what there is to do.
      this.#table.release(id);
      if (!inheritBucket(words, bucket, id, this.#id)) continue;
      this.#table.mend(bucket);
      this.#unlock(bucket);
      count++;
    }
    return count + this.#waits.release(id);
  }

  // ---- waiting --------------------------------------------------------------

  /** The wait for a key; in an array, as a value may be `undefined`. */
  coming(key: K): PendingResult<[V]> {
    const wanted = this.#wanted(key);
    return this.#awaited(wanted, () => this.#find(wanted));
  }

  /**
   * As {@linkcode getOrInsert}, for a `make` that may return a promise: another
   * agent that makes the value of this key is awaited.
   */
  async getOrInsertAsync(
    key: K,
    make: (key: K) => V | PromiseLike<V>,
    options: AsyncOptions | undefined,
  ): Promise<V | undefined> {
    const wanted = this.#wanted(key);
    const attempt = () => this.#getOrBegin(wanted);
    const found = await awaitOn(this.#awaited(wanted, attempt), options);
    this.#clock?.count(typeof found !== "number");
    if (typeof found !== "number") return found[0];
    try {
      const made = await make(key);
      this.#value.put(made);
      this.#use(wanted);
      return this.#getOrAdd(made);
    } finally {
      this.#waits.end(found, wanted.hash);
    }
  }

  /** A key as words, which other operations do not change. */
  #wanted(key: K): Wanted {
    const hash = this.#hashOf(key);
    const { words, count } = this.#key;
    return { hash, words: words.slice(0, count), count };
  }

  /** Makes it the key of the operation. */
  #use({ hash, words, count }: Wanted): void {
    this.#hash = hash;
    this.#key.words.set(words);
    this.#key.count = count;
  }

  /** A wait in which agents look when a key with this hash is added. */
  #awaited<T>(
    { hash }: Wanted,
    attempt: () => T | undefined,
  ): PendingResult<T> {
    const epoch = epochFor(this.#plan, hash);
    return { ...atEpoch(this.#words, epoch, true), attempt, pass() {} };
  }

  #find({ hash, words, count }: Wanted): [V] | undefined {
    const bucket = this.#table.bucketOf(hash);
    const value = this.#value;
    const at = this.#table.read(bucket, hash, words, count, value.words);
    if (at === NONE) return undefined;
    this.#clock?.touch(at);
    return [value.take()];
  }

  /**
   * Finds the value of a key, or begins to make it. `undefined` if another
   * agent makes it.
   */
  #getOrBegin(wanted: Wanted): [V] | number | undefined {
    const found = this.#find(wanted);
    if (found !== undefined) return found;
    this.#use(wanted);
    return this.#findOr(() => this.#waits.begin(wanted.hash));
  }

  // ---- the key in its locked bucket -----------------------------------------

  /** Locks the bucket of a key. */
  #lockFor(key: K): number {
    this.#cells.assertFree();
    const places = this.#places;
    if (places !== undefined && places.find(key)) {
      return this.#lockAt(places.bucket);
    }
    this.#hash = this.#hashOf(key);
    return this.#lock(this.#hash);
  }

  /** Searches for the key in its locked bucket, to use its entry. */
  #searchFor(bucket: number, key: K): number {
    const at = this.#entryFor(bucket, key);
    if (at !== NONE) this.#clock?.touch(at);
    return at;
  }

  #entryFor(bucket: number, key: K): number {
    const places = this.#places;
    if (places?.isFound) {
      if (
        this.#table.isSame(bucket, places.version) &&
        !this.#table.hasExpired(places.entry)
      ) return places.entry;
      this.#hash = this.#hashOf(key);
    }
    return this.#search(bucket, this.#hash);
  }

  #search(bucket: number, hash: number): number {
    const { words, count } = this.#key;
    return this.#table.search(bucket, hash, words, count);
  }

  /** Copies the value of an entry; true. */
  #copy(at: number): true {
    if (this.#table.copyValue(at, this.#value.words)) return true;
    throw new DamagedError("The map");
  }

  /** Takes the entry of the key out of its locked bucket, where it is. */
  #takeOut(bucket: number, hash: number): void {
    const at = this.#search(bucket, hash);
    // It may have expired since, and be out.
    if (at !== NONE) this.#table.remove(bucket, at, this.#table.before);
  }

  /** Locks the bucket for this hash. */
  #lock(hash: number): number {
    const bucket = this.#table.bucketOf(hash);
    this.#table.approach(bucket);
    return this.#lockAt(bucket);
  }

  #lockAt(bucket: number): number {
    lockBucket(this.#words, bucket, this.#id);
    return bucket;
  }

  #unlock(bucket: number): void {
    unlockBucket(this.#words, bucket, this.#id);
  }
}
