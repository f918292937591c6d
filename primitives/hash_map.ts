/**
 * A map that threads share.
 *
 * @module
 */

import { HASH_MAP } from "./_layout.ts";
import { Cell, wordsOfCodec } from "./_map/cell.ts";
import { Clock } from "./_map/clock.ts";
import {
  assertCodec,
  assertSame,
  checked,
  type HashMapCodecs,
  type HashMapConfig,
  heapIn,
  lengthIn,
  lengthOf,
  NAMES,
  planOf,
  sizesOf,
  writeHead,
} from "./_map/config.ts";
import { Heap } from "./_map/heap.ts";
import { inheritBucket, lockBucket, unlockBucket } from "./_map/lock.ts";
import { Places } from "./_map/places.ts";
import {
  epochFor,
  EVICTIONS,
  hashOf,
  HITS,
  MISSES,
  type Plan,
} from "./_map/plan.ts";
import { tellOfTable } from "./_map/problems.ts";
import { KEEPS, NONE, Table } from "./_map/table.ts";
import { Waits } from "./_map/waits.ts";
import { DamagedError } from "./_memory/damaged.ts";
import { describe } from "./_memory/describe.ts";
import { assertOptions } from "./_memory/options.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import {
  allocate,
  assertBoolean,
  assertConfig,
  assertFunction,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_memory/region.ts";
import { CODEC } from "./_message/message.ts";
import {
  awaitOn,
  blockOn,
  type PendingResult,
  tryAwaitOn,
  tryBlockOn,
} from "./_wait/event_count.ts";
import {
  assertMayBlock,
  type AsyncOptions,
  type TryAsyncOptions,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export type {
  HashMapCodecs,
  HashMapConfig,
  HashMapHeap,
} from "./_map/config.ts";
export type { Codec } from "./_message/message.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";

const CAPACITY: typeof HASH_MAP.capacity = 1;
const SIZES: typeof HASH_MAP.sizes = 2;
const SEED_LOW: typeof HASH_MAP.seed_low = 7;
const SEED_HIGH: typeof HASH_MAP.seed_high = 8;
/** In the first word of a bucket: see `MUTEX`. */
const OWNER_MASK = 0x0fff_ffff; // MUTEX_BITS.OWNER

/** How to set a value. */
export interface SetOptions {
  /** Whether to leave a value alone that is there already. */
  readonly ifAbsent?: boolean | undefined;
  /**
   * For how many milliseconds the value counts, 1 to the `ttl` of the cache; that
   * unless given. Only if the cache has one.
   */
  readonly ttl?: number | undefined;
}

/** A key to wait for, as words. */
interface Wanted {
  readonly hash: number;
  readonly words: Int32Array;
  readonly count: number;
}

/**
 * How `inspect` reads a map.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: HASH_MAP,
};

/**
 * The facts by which `inspect` finds problems.
 *
 * @ignore
 */
export const PROBLEMS: WordsProblems = {
  byteLength: (_capacity, _sizes, head) => lengthIn(head) * 4,
  behind: (region, tell) => {
    const plan = planOf(region[CAPACITY]!, region[SIZES]!);
    tellOfTable(region, plan, heapIn(region), tell);
  },
};

/**
 * A map from keys to values. Any agent reads and writes it; a C program and
 * JavaScript find each other's keys.
 *
 * Words that several workers count:
 *
 * ```ts
 * import { codec, HashMap } from "@weft/sync";
 *
 * const count = { key: codec.text, value: codec.i32 };
 * const words = HashMap.create({ ...count, capacity: 1000 });
 * // Post words.handle; there, HashMap.from(handle, count).
 * for (const word of ["to", "be", "or", "not", "to", "be"]) words.add(word, 1);
 * if (words.get("be") !== 2) throw new Error("another count");
 * ```
 *
 * A reader takes no lock and writes nothing. A writer locks the bucket of the
 * key; each bucket has on average one entry or two. It shows a change by one
 * store: see `_map/table.ts`. A view remembers where it found keys, and finds
 * them again by one or two loads: see `_map/places.ts`.
 *
 * With `heap`, values that are too long for an entry lie in blocks: see
 * `_map/heap.ts`.
 *
 * With `evict`, it is a cache: see `_map/clock.ts`. A reader then marks the entry,
 * unless it is marked, and is counted. With `ttl`, an entry that has expired is
 * absent to each operation: see `_map/time.ts`.
 *
 * Invariant: an entry is in one chain, free, or named after the agent that holds
 * the bucket's lock.
 * Progress: `get`, `has` and the iterators are lock-free: they begin again only
 * if another agent has meanwhile taken out or overwritten an entry of the same
 * bucket. The other operations wait while another agent writes to the same
 * bucket. A terminated writer keeps the lock of its bucket until `abandon(id)`,
 * and delays neither readers nor other buckets. `waitFor` and its forms wait for
 * a key, `getOrInsertAsync` for an agent that makes the value; if that agent is
 * terminated, until `abandon(id)`. An agent that is terminated while it adds a
 * key delays those that wait for it by at most a second.
 * Wrap: to mistake one value for another, a reader would have to stand still for
 * exactly a multiple of 2^32 changes of one bucket or value; or a view that
 * remembers a key would have to leave it alone for as many changes. An entry that
 * has expired, and that no key has replaced for 49 days, counts for another `ttl`.
 * Freed when: every operation of every agent has returned, and none will begin.
 * Fairness: that of `Mutex`, for each bucket.
 * C twin: `weft_hash_map`.
 * Source: chains under a lock each, with a version for readers, as in CLHT
 * (David, Guerraoui and Trigonakis 2015); HalfSipHash (Aumasson and Bernstein
 * 2012).
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic        Kind and layout version.
 * word 1   capacity     How many entries there are.
 * word 2   sizes        bits 0-11   the most bytes of a key
 *                       bits 12-27  the most bytes of a value in an entry
 *                       bit 28      keys differ in length
 *                       bit 29      values differ in length
 *                       bit 30      it is a cache, which evicts entries
 *                       bit 31      its entries expire
 * word 3   seal         Check word over the configuration.
 * word 4   codecs       bits 0-7   the codec of the keys, as in a channel
 *                       bits 8-15  the codec of the values
 * word 5   key_shape    A number that tells apart keys with different fields;
 *                       or 0.
 * word 6   value_shape  The same for values.
 * word 7   seed_low     The lower half of the seed of the hash.
 * word 8   seed_high    The upper half.
 * word 9   ttl          For how many milliseconds a value counts at most; 0 if
 *                       entries do not expire.
 * word 10  blocks       How many blocks the heap has; 0 if the map has no heap,
 *                       as are the next three words.
 * word 11  block_words  The words of a block.
 * word 12  longest      The most bytes of a value.
 * word 13  heap_seal    Check word over the three words before.
 * word 16  hand         Entries that the hand of the clock has passed, modulo
 *                       2^32; 0 in a map that is not a cache, as are the next
 *                       two words.
 * word 17  freed        Entries that were freed, modulo 2^32.
 * word 18  full         `freed` + 1 before the last search that found no free
 *                       entry.
 * word 32  32 event counts, an epoch and a count of waiters each: agents wait
 *          on that of the five highest bits of the hash of a key. Then a pair
 *          of words for each of up to 256 values that agents are making, padded
 *          to a multiple of 32 words: the id of the agent, or 0; and the hash
 *          of the key, 1 for a hash of 0. Then a bit for each entry, 1 if the
 *          entry is probably not free, padded to a multiple of 32 words. Then
 *          the buckets, four words each: the two words of a mutex; `version`,
 *          which changes after each step that readers must notice; and `head`,
 *          the number of the first entry, counted from 1, or 0. Then the
 *          entries. An entry has `link`: 0 while it is free; bit 31 and the id
 *          of the agent that fills it; or bit 30 and the number of the next
 *          entry, or 0. Then the hash of the key. Then, if a value may have
 *          more than one word, `current`, which changes by 1 with each value:
 *          its lowest bit is the number of the copy that counts, 0 or 1. Then,
 *          in a cache, `used`: 1 if the entry was used since the hand passed
 *          it, or 0. Then the key, and the value or its two copies. What may
 *          differ in length begins with its length in bytes. If entries expire,
 *          a value has two copies, and the last word of each is `expires`: the
 *          time of day in milliseconds, modulo 2^32, from which on it counts no
 *          longer. A cache has eight stripes behind its entries, each of 32
 *          words, from a multiple of 32 words on: hits, misses and evictions,
 *          each as two words of a stripe of a `striped_counter`. A map with a
 *          heap has at its end, from a multiple of 32 words on, a bit for each
 *          block, 1 if the block is probably not free, padded to a multiple of
 *          32 words, and then the blocks. A block has `owner`: 0 while it is
 *          free, or the number of the bucket to which its value belongs,
 *          counted from 1; then the number of the next block of the value,
 *          counted from 1, or 0; then bytes of the value. An entry whose value
 *          has more bytes than fit there has the number of the first block
 *          instead of the bytes.
 * ```
 */
export class HashMap<K, V> extends Region<"hash_map"> {
  /** How many entries fit. */
  readonly capacity: number;
  /** The most bytes of a key. */
  readonly keySize: number;
  /** The most bytes of a value. */
  readonly valueSize: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  readonly #table: Table;
  /** Blocks for values that are too long for an entry. */
  readonly #heap: Heap | undefined;
  readonly #waits: Waits;
  /** What only a cache has. */
  readonly #clock: Clock | undefined;
  readonly #plan: Plan;
  readonly #low: number;
  readonly #high: number;
  readonly #key: Cell<K>;
  readonly #value: Cell<V>;
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
   * Attaches to the map at `byteOffset`; writes nothing. Give the codecs that it
   * was made with.
   *
   * @throws {TypeError} If `memory` is not shared, no map of this layout version
   * was initialized there, or it has other codecs.
   * @throws {RangeError} If the map does not fit there.
   */
  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    codecs: HashMapCodecs<K, V>,
  ) {
    assertConfig("hash_map", codecs, NAMES);
    const { key, value, remember = true } = codecs;
    assertBoolean("remember", remember);
    assertCodec("key", key);
    assertCodec("value", value);
    const words = attach(
      "hash_map",
      HASH_MAP,
      memory,
      byteOffset ?? 0,
      (_capacity, _sizes, head) => lengthIn(head) * 4,
    );
    assertSame(words, key, value);
    super("hash_map", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
    this.capacity = words[CAPACITY]!;
    const sizes = words[SIZES]!;
    const { keySize, valueSize, keyVaries, valueVaries } = sizesOf(sizes);
    const heap = heapIn(words);
    this.keySize = keySize;
    this.valueSize = heap?.longest ?? valueSize;
    this.#heap = heap && new Heap(words, heap);
    const plan = planOf(this.capacity, sizes);
    this.#plan = plan;
    this.#places = remember
      ? Places.for(wordsOfCodec(key).id, this.capacity)
      : undefined;
    this.#table = new Table(
      words,
      plan,
      keyVaries,
      valueVaries,
      this.#id,
      this.#places !== undefined,
      this.#heap,
    );
    this.#waits = new Waits(words, plan, this.#id);
    this.#clock = plan.evicts
      ? new Clock(words, plan, this.#table, this.#id)
      : undefined;
    this.#low = words[SEED_LOW]!;
    this.#high = words[SEED_HIGH]!;
    this.#key = new Cell("key", key, this.keySize);
    this.#value = new Cell("value", value, this.valueSize);
    this.#codec = wordsOfCodec(value).id;
    this.#isWord = this.#codec === CODEC.i32 && !this.#table.isLong;
    this.#keepsValues = this.#places !== undefined && this.#table.isLong &&
      (this.#codec === CODEC.text || this.#codec === CODEC.f64 ||
        this.#codec === CODEC.i32);
  }

  /**
   * The bytes a map of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If a number in `config` is out of range.
   */
  static byteLength<K, V>(config: HashMapConfig<K, V>): number {
    return lengthOf(...checked(config)) * 4;
  }

  /**
   * Allocates an empty map.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If a number in `config` is out of range.
   */
  static create<K, V>(config: HashMapConfig<K, V>): HashMap<K, V> {
    return HashMap.init(allocate(HashMap.byteLength(config)), 0, config);
  }

  /**
   * Initializes unused memory as an empty map.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not as
   * described.
   * @throws {RangeError} If the map does not fit there, or a number in `config`
   * is out of range.
   */
  static init<K, V>(
    memory: Memory,
    byteOffset: number | bigint,
    config: HashMapConfig<K, V>,
  ): HashMap<K, V> {
    const [capacity, sizes, heap] = checked(config);
    const { key, value, seed, remember = true } = config;
    assertBoolean("remember", remember);
    format(
      "hash_map",
      HASH_MAP,
      memory,
      byteOffset,
      lengthOf(capacity, sizes, heap) * 4,
      [capacity, sizes],
      (words) => {
        writeHead(words, config, heap);
        words[SEED_LOW] = seed ?? randomWord();
        words[SEED_HIGH] = seed === undefined ? randomWord() : ~seed;
      },
    );
    return new HashMap(memory, byteOffset, { key, value, remember });
  }

  /**
   * Attaches to the map that a posted handle names. Give the codecs that it was
   * made with.
   *
   * @throws {TypeError} If it is not a handle of this kind, no map is there, or
   * it has other codecs.
   */
  static from<K, V>(
    handle: Handle<"hash_map">,
    codecs: HashMapCodecs<K, V>,
  ): HashMap<K, V> {
    return new HashMap(...fromHandle("hash_map", handle), codecs);
  }

  /**
   * How many entries there are; they are counted one by one. An entry that
   * another agent adds or deletes meanwhile may be counted or not. One that has
   * expired is counted until another one takes its place, or an operation that
   * writes comes to its key.
   */
  get size(): number {
    return this.#table.size;
  }

  /**
   * How many calls found their key; only in a cache, else 0. These calls are
   * counted: `get`, `getInto`, `getOrInsert` and `getOrInsertAsync`. A call of
   * another agent may be counted a little later.
   */
  get hits(): number {
    return this.#clock?.sum(HITS) ?? 0;
  }

  /** The same of calls that did not find their key. */
  get misses(): number {
    return this.#clock?.sum(MISSES) ?? 0;
  }

  /**
   * How many entries were taken out so that others had room, without those that
   * had expired; or 0.
   */
  get evictions(): number {
    return this.#clock?.sum(EVICTIONS) ?? 0;
  }

  // ---- reading --------------------------------------------------------------

  /**
   * The value of `key`, or `undefined`.
   *
   * @throws {TypeError} If the codec refuses the key.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
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

  /**
   * Copies the bytes of the value of `key` to the beginning of `into`. Returns
   * how many there are, or -1 if the key is not there. Allocates nothing if the
   * codec of the keys does not.
   *
   * @throws {TypeError} If `into` is not a Uint8Array, or the codec refuses the
   * key.
   * @throws {RangeError} If the value is longer than `into`, the key is too
   * long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  getInto(key: K, into: Uint8Array): number {
    if (!(into instanceof Uint8Array)) {
      throw new TypeError(
        `A value's bytes go into a Uint8Array: received ${describe(into)}`,
      );
    }
    const value = this.#value;
    return this.#isThere(key, value.words) ? value.copyTo(into) : -1;
  }

  /**
   * Whether `key` has a value.
   *
   * @throws {TypeError} If the codec refuses the key.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  has(key: K): boolean {
    return this.#read(key);
  }

  /**
   * The entries, in no particular order. An entry that is there all the time is
   * seen once. One that another agent adds, deletes or overwrites meanwhile may
   * be seen or not, and in its old or its new state.
   *
   * @throws {DamagedError} If the map is damaged.
   */
  *entries(): Generator<[K, V], void, void> {
    const table = this.#table;
    const { words } = this.#key;
    for (let number = 0; number < this.capacity; number++) {
      if (!table.copyKey(number, words)) continue;
      // The copy may be a mixture of two keys: what counts is a search for it.
      const count = this.#key.measure();
      const hash = hashOf(this.#low, this.#high, words, count);
      const bucket = table.bucketOf(hash);
      const into = this.#value.words;
      const at = table.read(bucket, hash, words, count, into);
      if (at === table.entry(number)) {
        yield [this.#key.take(), this.#value.take()];
      }
    }
  }

  /** The keys, as {@linkcode HashMap.entries} finds them. */
  *keys(): Generator<K, void, void> {
    for (const [key] of this.entries()) yield key;
  }

  /** The values, as {@linkcode HashMap.entries} finds them. */
  *values(): Generator<V, void, void> {
    for (const [, value] of this.entries()) yield value;
  }

  /** As {@linkcode HashMap.entries}. */
  [Symbol.iterator](): Generator<[K, V], void, void> {
    return this.entries();
  }

  // ---- waiting --------------------------------------------------------------

  /**
   * The value of `key`. Blocks until the key is there.
   *
   * @throws {TypeError} If this agent may not block, or the codec refuses the
   * key.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  waitFor(key: K): V {
    assertMayBlock("waitFor");
    return blockOn(this.#coming(key))[0];
  }

  /**
   * As {@linkcode HashMap.waitFor}, but waits at most `timeout` ms; without a
   * timeout it does not wait. Returns `undefined` if the key is not there by
   * then.
   *
   * @throws {TypeError} If it would wait and this agent may not block,
   * `timeout` is not a number, or the codec refuses the key.
   * @throws {RangeError} If `timeout` is negative or NaN, or the key is too
   * long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  tryWaitFor(key: K, timeout = 0): V | undefined {
    if (timeout === 0) {
      return this.#read(key, this.#value.words)
        ? this.#value.take()
        : undefined;
    }
    return tryBlockOn(this.#coming(key), "tryWaitFor", timeout)?.[0];
  }

  /**
   * As {@linkcode HashMap.waitFor}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type, or the codec
   * refuses the key.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  async waitForAsync(key: K, options?: AsyncOptions): Promise<V> {
    return (await awaitOn(this.#coming(key), options))[0];
  }

  /**
   * As {@linkcode HashMap.tryWaitFor}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type, or the codec
   * refuses the key.
   * @throws {RangeError} If the timeout is negative or NaN, or the key is too
   * long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  async tryWaitForAsync(
    key: K,
    options?: TryAsyncOptions,
  ): Promise<V | undefined> {
    return (await tryAwaitOn(this.#coming(key), options))?.[0];
  }

  /**
   * Another name of {@linkcode HashMap.waitForAsync}.
   *
   * @throws {TypeError} As there.
   * @throws {RangeError} As there.
   * @throws {DamagedError} If the map is damaged.
   */
  getAsync(key: K, options?: AsyncOptions): Promise<V> {
    return this.waitForAsync(key, options);
  }

  // ---- writing --------------------------------------------------------------

  /**
   * Gives `key` the value `value`. Returns false if the map is full and the key
   * is not there, or its heap has no room for the value; it may also say so while
   * another agent adds, overwrites or deletes an entry. With `ifAbsent`, returns false as well if the key is there. A cache is
   * never full. If its entries expire, the value counts for `ttl` ms from now.
   *
   * @throws {TypeError} If a codec refuses its argument, an option is unknown or
   * not for this map, or the bucket stays locked and this agent may not block.
   * @throws {RangeError} If the key or value is too long, a codec refuses it, or
   * `ttl` is out of range.
   * @throws {DamagedError} If the map is damaged.
   */
  set(key: K, value: V, options?: SetOptions): boolean {
    const ifAbsent = isIfAbsent(options);
    const ttl = this.#ttlOf(options);
    this.#value.put(value);
    const bucket = this.#lockFor(key);
    try {
      const at = this.#searchFor(bucket, key);
      if (at === NONE) return this.#insert(bucket, this.#hash, ttl);
      return !ifAbsent && this.#overwrite(at, ttl);
    } finally {
      this.#unlock(bucket);
    }
  }

  /**
   * Deletes `key` and its value. Returns whether it was there.
   *
   * @throws {TypeError} If the codec refuses the key, or the bucket stays locked
   * and this agent may not block.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  delete(key: K): boolean {
    return this.#remove(key, false);
  }

  /**
   * Deletes `key`, and returns the value that it had, or `undefined`. Of several
   * agents that take one value, one gets it.
   *
   * @throws {TypeError} If the codec refuses the key, or the bucket stays locked
   * and this agent may not block.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  take(key: K): V | undefined {
    return this.#remove(key, true) ? this.#value.take() : undefined;
  }

  /**
   * Gives `key` the value that `change` makes of the old one, or of `undefined`.
   * If that is `undefined`, deletes the key. No other agent writes to the key
   * meanwhile. If `change` throws, nothing has changed. Returns false if the map
   * is full, as `set` does.
   *
   * Other agents that write to the same bucket wait for `change`: it must be
   * short, and may not write to this map.
   *
   * @throws {TypeError} If `change` is not a function or writes to this map, a
   * codec refuses its argument, or the bucket stays locked and this agent may
   * not block.
   * @throws {RangeError} If the key or the new value is too long, or a codec
   * refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  update(key: K, change: (old: V | undefined) => V | undefined): boolean {
    assertFunction(change);
    const bucket = this.#lockFor(key);
    try {
      const at = this.#searchFor(bucket, key);
      const isThere = at !== NONE && this.#copy(at);
      const next = change(isThere ? this.#value.take() : undefined);
      // `change` may have read other keys of this map.
      if (next === undefined) {
        if (isThere) this.#takeOut(bucket, key);
        return true;
      }
      this.#value.put(next);
      if (!isThere) return this.#insert(bucket, this.#hashOf(key));
      return this.#overwrite(at);
    } finally {
      this.#unlock(bucket);
    }
  }

  /**
   * The value of `key`. If it is not there, adds the value that `make` returns.
   * If several agents do so at once, each may call `make`, and all get the value
   * that was added first. Returns `undefined` if the map is full.
   *
   * @throws {TypeError} If `make` is not a function, a codec refuses its
   * argument, or the bucket stays locked and this agent may not block.
   * @throws {RangeError} If the key or value is too long, or a codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  getOrInsert(key: K, make: (key: K) => V): V | undefined {
    assertFunction(make);
    if (this.#isThere(key, this.#value.words)) return this.#value.take();
    const made = make(key);
    this.#value.put(made);
    this.#hash = this.#hashOf(key);
    return this.#getOrAdd(made);
  }

  /**
   * As {@linkcode HashMap.getOrInsert}, for a `make` that may return a promise.
   * While one agent makes the value, others that call this for the same key
   * await it. If `make` fails, this call fails, and another one makes the value.
   * The options are those of the wait for others.
   *
   * If an agent ends while it makes a value, the others wait until
   * `abandon(id)`. `make` may await other keys, but not this one. If more than
   * 256 values are being made, or `capacity`, others may make the same ones.
   *
   * @throws {TypeError} If `make` is not a function, an option is unknown or of
   * a wrong type, a codec refuses its argument, or the bucket stays locked and
   * this agent may not block.
   * @throws {RangeError} If the key or value is too long, or a codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  async getOrInsertAsync(
    key: K,
    make: (key: K) => V | PromiseLike<V>,
    options?: AsyncOptions,
  ): Promise<V | undefined> {
    assertFunction(make);
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

  /**
   * If the value of `key` is `expected`, replaces it by `replacement`. Returns
   * the value that was found, or `undefined` if the key is not there. NaN equals
   * itself, and -0 equals 0. The new value expires when the old one would have.
   * For values of `codec.i32` and `codec.f64`.
   *
   * @throws {TypeError} If the values are of another codec, a codec refuses its
   * argument, or the bucket stays locked and this agent may not block.
   * @throws {RangeError} If the key is too long, or a codec refuses a number.
   * @throws {DamagedError} If the map is damaged.
   */
  compareExchange(
    this: HashMap<K, number>,
    key: K,
    expected: number,
    replacement: number,
  ): number | undefined {
    this.#assertNumbers();
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
        this.#overwrite(at, KEEPS);
      }
      return found;
    } finally {
      this.#unlock(bucket);
    }
  }

  /**
   * Adds `n` to the value of `key`, which counts as 0 if it is not there.
   * Returns the value before. Integers wrap, as in `Atomics.add`. Returns
   * `undefined` if the map is full, as `set` does. A number that was there
   * expires when it would have. For values of `codec.i32` and `codec.f64`.
   *
   * @throws {TypeError} If the values are of another codec, a codec refuses its
   * argument, or the bucket stays locked and this agent may not block.
   * @throws {RangeError} If the key is too long, or a codec refuses a number.
   * @throws {DamagedError} If the map is damaged.
   */
  add(this: HashMap<K, number>, key: K, n: number): number | undefined {
    this.#assertNumbers();
    const value = this.#value;
    value.put(n);
    const bucket = this.#lockFor(key);
    try {
      const at = this.#searchFor(bucket, key);
      if (at === NONE) return this.#insert(bucket, this.#hash) ? 0 : undefined;
      if (this.#isWord) return this.#table.add(at, n);
      this.#copy(at);
      const before = value.take();
      const sum = before + n;
      value.put(this.#codec === CODEC.i32 ? sum | 0 : sum);
      this.#overwrite(at, KEEPS);
      return before;
    } finally {
      this.#unlock(bucket);
    }
  }

  /**
   * Deletes all entries, bucket by bucket. An entry that another agent adds
   * meanwhile may stay.
   *
   * @throws {TypeError} If a bucket stays locked and this agent may not block.
   * @throws {DamagedError} If the map is damaged.
   */
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
   * Mends and unlocks the buckets that agent `id` was writing to. Each of its
   * writes has happened wholly or not at all. Lets another agent make the values
   * that it was making. Call it only when that agent will never run again.
   * Returns how many buckets and such values there were.
   *
   * C twin: `weft_hash_map_abandon`.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not in the range of agent ids.
   * @throws {DamagedError} If such a bucket is damaged; nothing has changed.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    if (id === 0) return 0;
    const words = this.#words;
    let count = 0;
    for (let hash = 0; hash < this.#plan.bucketCount; hash++) {
      const bucket = this.#table.bucketOf(hash);
      if ((Atomics.load(words, bucket) & OWNER_MASK) !== id) continue;
      if (!this.#table.isWhole(bucket)) throw new DamagedError("The map");
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

  // ---- parts ----------------------------------------------------------------

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
    const at = table.read(bucket, hash, words, count, into);
    if (at === NONE) return false;
    clock?.touch(at);
    if (table.isSettled) {
      places!.keep(key, at, bucket, table.version, () => this.#key.take());
    }
    return true;
  }

  /** Locks the bucket of a key. */
  #lockFor(key: K): number {
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

  /** For how many milliseconds a value with these options counts. */
  #ttlOf(options: SetOptions | undefined): number {
    const { ttl } = this.#table;
    const given = options?.ttl;
    if (given === undefined) return ttl;
    if (ttl !== 0) return inRange("The ttl of a value", given, 1, ttl);
    throw new TypeError(
      `ttl is for a cache that was made with one: received ${describe(given)}`,
    );
  }

  #insert(bucket: number, hash: number, ttl = this.#table.ttl): boolean {
    const key = this.#key;
    const value = this.#value;
    const clock = this.#clock;
    const isLong = this.#isLong();
    if (isLong && !this.#put(bucket, hash, NONE)) return clock !== undefined;
    const number = clock === undefined
      ? this.#table.allocate()
      : clock.claim(bucket);
    if (number === NONE) {
      if (isLong) this.#heap!.drop(this.#table.ownerOf(hash));
      return clock !== undefined;
    }
    this.#table.insert(
      number,
      bucket,
      hash,
      key.words,
      key.count,
      isLong ? this.#heap!.place : value.words,
      isLong ? 2 : value.count,
      ttl,
    );
    this.#waits.wake(hash);
    return true;
  }

  /** Copies the value of the key, or adds `made`, which was put there. */
  #getOrAdd(made: V): V | undefined {
    const bucket = this.#lock(this.#hash);
    try {
      const at = this.#search(bucket, this.#hash);
      if (at === NONE) {
        return this.#insert(bucket, this.#hash) ? made : undefined;
      }
      this.#clock?.touch(at);
      this.#copy(at);
    } finally {
      this.#unlock(bucket);
    }
    return this.#value.take();
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
    return { words: this.#words, epoch, attempt, pass: () => {}, all: true };
  }

  /** The wait for a key; in an array, as a value may be `undefined`. */
  #coming(key: K): PendingResult<[V]> {
    const wanted = this.#wanted(key);
    return this.#awaited(wanted, () => this.#find(wanted));
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
   * Finds the value of a key, or begins to make it. `undefined` if another agent
   * makes it.
   */
  #getOrBegin(wanted: Wanted): [V] | number | undefined {
    const found = this.#find(wanted);
    if (found !== undefined) return found;
    this.#use(wanted);
    const bucket = this.#lock(wanted.hash);
    try {
      const at = this.#search(bucket, wanted.hash);
      if (at === NONE) return this.#waits.begin(wanted.hash);
      this.#clock?.touch(at);
      this.#copy(at);
    } finally {
      this.#unlock(bucket);
    }
    return [this.#value.take()];
  }

  /** Whether the value is too long for an entry. */
  #isLong(): boolean {
    return this.#heap !== undefined && this.#heap.isLong(this.#value.words[0]!);
  }

  /**
   * Puts a long value into blocks; false if there is no room. In a cache, entries
   * give way, but not the one at `kept`. The caller holds the bucket.
   */
  #put(bucket: number, hash: number, kept: number): boolean {
    const { words, count } = this.#value;
    const clock = this.#clock;
    const makeRoom = () => clock !== undefined && clock.makeRoom(bucket, kept);
    const owner = this.#table.ownerOf(hash);
    if (this.#heap!.put(owner, hash, words, count, makeRoom)) return true;
    clock?.giveWay();
    return false;
  }

  /**
   * Gives an entry the value for `ttl` ms, or `KEEPS` the old one's time. False
   * if there is no room for it; in a cache, the entry then gives way, too.
   */
  #overwrite(at: number, ttl = this.#table.ttl): boolean {
    const { words, count } = this.#value;
    const isLong = this.#isLong();
    if (isLong && !this.#putAt(at)) return this.#clock !== undefined;
    if (isLong) this.#table.overwrite(at, this.#heap!.place, 2, ttl);
    else this.#table.overwrite(at, words, count, ttl);
    // It may have expired since it was found, and agents wait for it.
    if (this.#plan.expires) this.#waits.wake(this.#table.hashAt(at));
    return true;
  }

  /** Puts a long value of an entry into blocks; see `#overwrite`. */
  #putAt(at: number): boolean {
    const table = this.#table;
    const hash = table.hashAt(at);
    const bucket = table.bucketOf(hash);
    if (this.#put(bucket, hash, at)) return true;
    if (this.#clock === undefined) return false;
    const before = table.leadsTo(bucket, table.numberAt(at));
    if (before !== NONE) table.remove(bucket, at, before);
    return false;
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

  /** Takes the entry of a key out of its locked bucket, where it is. */
  #takeOut(bucket: number, key: K): void {
    const at = this.#search(bucket, this.#hashOf(key));
    // It may have expired since, and be out.
    if (at !== NONE) this.#table.remove(bucket, at, this.#table.before);
  }

  #assertNumbers(): void {
    if (this.#codec === CODEC.i32 || this.#codec === CODEC.f64) return;
    throw new TypeError(
      "This takes a map whose values are numbers, by codec.i32 or codec.f64",
    );
  }

  /** Locks the bucket for this hash. */
  #lock(hash: number): number {
    return this.#lockAt(this.#table.bucketOf(hash));
  }

  #lockAt(bucket: number): number {
    lockBucket(this.#words, bucket, this.#id);
    return bucket;
  }

  #unlock(bucket: number): void {
    unlockBucket(this.#words, bucket, this.#id);
  }
}

/** Whether `options` say so; checks that, and that there are no others. */
function isIfAbsent(options: SetOptions | undefined): boolean {
  if (options === undefined) return false;
  assertOptions(options, ["ifAbsent", "ttl"]);
  const { ifAbsent = false } = options;
  assertBoolean("ifAbsent", ifAbsent);
  return ifAbsent;
}

function randomWord(): number {
  return typeof crypto === "undefined" // an AudioWorklet has no `crypto`
    ? Math.random() * 2 ** 32 | 0
    : crypto.getRandomValues(new Int32Array(1))[0]!;
}
