/**
 * A map that threads share.
 *
 * @module
 */

// First, for what mod.ts says of zip.
import {
  assertSame,
  checked,
  codecsOf,
  type HashMapCodecs,
  type HashMapConfig,
  type HashMapTypes,
  lengthIn,
  lengthOf,
  NAMES,
  writeHead,
} from "./_map/config.ts";
import { HASH_MAP } from "./_memory/layout.ts";
import { MapCore } from "./_map/map_core.ts";
import { EVICTIONS, HITS, MISSES } from "./_map/plan.ts";
import { tellOfTable } from "./_map/problems.ts";
import { describe, isBytes } from "./_memory/describe.ts";
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
import { awaitOn, blockOn, tryAwaitOn, tryBlockOn } from "./_wait/pending.ts";
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
  HashMapTypes,
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
/** In the first word of a bucket: see `MUTEX`. */
const OWNER_MASK = 0x0fff_ffff; // MUTEX_BITS.OWNER

/** How to set a value. */
export interface SetOptions {
  /** Whether to leave a value alone that is there already. */
  readonly ifAbsent?: boolean | undefined;
  /**
   * For how many milliseconds the value counts, 1 to the `ttl` of the cache;
   * that unless given. Only if the cache has one.
   */
  readonly ttl?: number | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: HASH_MAP,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (_capacity, _sizes, head) => lengthIn(head) * 4,
  behind: tellOfTable,
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
 * With `heap`, keys and values that are too long for an entry lie in blocks:
 * see `_map/heap.ts`.
 *
 * With `evict`, it is a cache: see `_map/clock.ts`. A reader then marks the
 * entry, unless it is marked, and is counted. With `ttl`, an entry that has
 * expired is absent to each operation: see `_map/time.ts`.
 *
 * Invariant: an entry is in one chain, free, or named after the agent that
 * holds the bucket's lock.
 * Progress: `get`, `has` and the iterators are lock-free: they begin again only
 * if another agent has meanwhile taken out or overwritten an entry of the same
 * bucket. The other operations wait while another agent writes to the same
 * bucket. A terminated writer keeps the lock of its bucket until `abandon(id)`,
 * and delays neither readers nor other buckets. `waitFor` and its forms wait
 * for a key, `getOrInsertAsync` for an agent that makes the value; if that
 * agent is terminated, until `abandon(id)`. An agent that is terminated while
 * it adds a key delays those that wait for it by at most a second.
 * Wrap: to mistake one value for another, a reader would have to stand still
 * for exactly a multiple of 2^32 changes of one bucket or value; or a view that
 * remembers a key would have to leave it alone for as many changes. An entry
 * that has expired, and that no key has replaced for 49 days, counts for
 * another `ttl`.
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
 * word 2   sizes        bits 0-11   the most bytes of a key in an entry
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
 *                       as are the next four words.
 * word 11  block_words  The words of a block.
 * word 12  longest      The most bytes of a value; 0 if all values lie in their
 *                       entries.
 * word 13  heap_seal    Check word over the other words of the heap.
 * word 14  longest_key  The most bytes of a key; 0 if all keys lie in their
 *                       entries.
 * word 16  hand         Entries and blocks that the hand of the clock has
 *                       passed, modulo 2^32; 0 in a map that is not a cache.
 * word 17  room         Where there may be room, if there is little: which word
 *                       of the bits of entries.
 * word 18  full         bit 0      no entry is free
 *                       bit 1      an agent looks whether one is, or has looked
 *                       bits 2-31  changes when an entry is freed meanwhile
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
 *          free, or the number of the bucket to which its key or value belongs,
 *          counted from 1; then the number of the next block of that, counted
 *          from 1, or 0; then its bytes. An entry whose key or value has more
 *          bytes than fit there has the number of the first block instead of
 *          the bytes.
 * ```
 */
export class HashMap<K, V> extends Region<"hash_map"> {
  /** How many entries fit. */
  readonly capacity: number;
  /** The most bytes of a key. */
  readonly keySize: number;
  /** The most bytes of a value. */
  readonly valueSize: number;
  readonly #core: MapCore<K, V>;

  /**
   * Attaches to the map at `byteOffset`; writes nothing. Give the codecs that
   * it was made with, if any were given there.
   *
   * @throws {TypeError} If `memory` is not shared, no map of this layout
   * version was initialized there, or it has other codecs.
   * @throws {RangeError} If the map does not fit there.
   */
  constructor(
    memory: Memory,
    byteOffset?: number | bigint,
    codecs: HashMapCodecs<K, V> = {},
  ) {
    assertConfig("hash_map", codecs, NAMES);
    const { remember = true } = codecs;
    assertBoolean("remember", remember);
    const [key, value] = codecsOf<K, V>(codecs);
    const words = attach(
      "hash_map",
      HASH_MAP,
      memory,
      byteOffset ?? 0,
      (_capacity, _sizes, head) => lengthIn(head) * 4,
    );
    assertSame(words, key, value);
    super("hash_map", words, INSPECTION);
    this.#core = new MapCore(words, agentId(), key, value, remember);
    this.capacity = words[CAPACITY]!;
    this.keySize = this.#core.keySize;
    this.valueSize = this.#core.valueSize;
  }

  /**
   * The bytes a map of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If a number in `config` is out of range.
   */
  static byteLength<K, V>(
    config: HashMapConfig<K, V> & HashMapTypes<K, V>,
  ): number {
    return lengthOf(...checked<K, V>(config)) * 4;
  }

  /**
   * Allocates an empty map.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If a number in `config` is out of range.
   */
  static create<K, V>(
    config: HashMapConfig<K, V> & HashMapTypes<K, V>,
  ): HashMap<K, V> {
    const memory = allocate(HashMap.byteLength<K, V>(config));
    return HashMap.init<K, V>(memory, 0, config);
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
    config: HashMapConfig<K, V> & HashMapTypes<K, V>,
  ): HashMap<K, V> {
    const [capacity, sizes, heap] = checked<K, V>(config);
    const { key, value, remember = true } = config;
    assertBoolean("remember", remember);
    format(
      "hash_map",
      HASH_MAP,
      memory,
      byteOffset,
      lengthOf(capacity, sizes, heap) * 4,
      [capacity, sizes],
      (words) => writeHead<K, V>(words, config, heap),
    );
    return new HashMap<K, V>(memory, byteOffset, { key, value, remember });
  }

  /**
   * Attaches to the map that a posted handle names. Give the codecs that it was
   * made with, if any were given there.
   *
   * @throws {TypeError} If it is not a handle of this kind, no map is there, or
   * it has other codecs.
   */
  static from<K, V>(
    handle: Handle<"hash_map">,
    codecs?: HashMapCodecs<K, V>,
  ): HashMap<K, V> {
    return new HashMap<K, V>(...fromHandle("hash_map", handle), codecs);
  }

  /**
   * How many entries there are; they are counted one by one. An entry that
   * another agent adds or deletes meanwhile may be counted or not. One that has
   * expired is counted until another one takes its place, or an operation that
   * writes comes to its key.
   */
  get size(): number {
    return this.#core.size;
  }

  /**
   * How many calls found their key; only in a cache, else 0. These calls are
   * counted: `get`, `getInto`, `getOrInsert` and `getOrInsertAsync`. A call of
   * another agent may be counted a little later.
   */
  get hits(): number {
    return this.#core.sum(HITS);
  }

  /** The same of calls that did not find their key. */
  get misses(): number {
    return this.#core.sum(MISSES);
  }

  /**
   * How many entries were taken out so that others had room, without those that
   * had expired; or 0.
   */
  get evictions(): number {
    return this.#core.sum(EVICTIONS);
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
    return this.#core.get(key);
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
    if (!isBytes(into)) {
      throw new TypeError(
        `A value's bytes go into a Uint8Array: received ${describe(into)}`,
      );
    }
    return this.#core.getInto(key, into);
  }

  /**
   * Whether `key` has a value.
   *
   * @throws {TypeError} If the codec refuses the key.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  has(key: K): boolean {
    return this.#core.has(key);
  }

  /**
   * The entries, in no particular order. An entry that is there all the time is
   * seen once. One that another agent adds, deletes or overwrites meanwhile may
   * be seen or not, and in its old or its new state.
   *
   * @throws {DamagedError} If the map is damaged.
   */
  entries(): Generator<[K, V], void, void> {
    return this.#core.entries();
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
    return blockOn(this.#core.coming(key))[0];
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
    if (timeout === 0) return this.#core.peek(key);
    return tryBlockOn(this.#core.coming(key), "tryWaitFor", timeout)?.[0];
  }

  /**
   * As {@linkcode HashMap.waitFor}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type, or the
   * codec refuses the key.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  async waitForAsync(key: K, options?: AsyncOptions): Promise<V> {
    return (await awaitOn(this.#core.coming(key), options))[0];
  }

  /**
   * As {@linkcode HashMap.tryWaitFor}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type, or the
   * codec refuses the key.
   * @throws {RangeError} If the timeout is negative or NaN, or the key is too
   * long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  async tryWaitForAsync(
    key: K,
    options?: TryAsyncOptions,
  ): Promise<V | undefined> {
    return (await tryAwaitOn(this.#core.coming(key), options))?.[0];
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
   * is not there, or its heap has no room for the value; it may also say so
   * while another agent adds, overwrites or deletes an entry. With `ifAbsent`,
   * returns false as well if the key is there. A cache is never full. If its
   * entries expire, the value counts for `ttl` ms from now.
   *
   * @throws {TypeError} If a codec refuses its argument, an option is unknown
   * or not for this map, or the bucket stays locked and this agent may not
   * block.
   * @throws {RangeError} If the key or value is too long, a codec refuses it,
   * or `ttl` is out of range.
   * @throws {DamagedError} If the map is damaged.
   */
  set(key: K, value: V, options?: SetOptions): boolean {
    const ifAbsent = isIfAbsent(options);
    const ttl = this.#core.ttlOf(options?.ttl);
    return this.#core.set(key, value, ifAbsent, ttl);
  }

  /**
   * Deletes `key` and its value. Returns whether it was there.
   *
   * @throws {TypeError} If the codec refuses the key, or the bucket stays
   * locked and this agent may not block.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  delete(key: K): boolean {
    return this.#core.delete(key);
  }

  /**
   * Deletes `key`, and returns the value that it had, or `undefined`. Of
   * several agents that take one value, one gets it.
   *
   * @throws {TypeError} If the codec refuses the key, or the bucket stays
   * locked and this agent may not block.
   * @throws {RangeError} If the key is too long, or the codec refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  take(key: K): V | undefined {
    return this.#core.take(key);
  }

  /**
   * Gives `key` the value that `change` makes of the old one, or of
   * `undefined`. If that is `undefined`, deletes the key. No other agent writes
   * to the key meanwhile. If `change` throws, nothing has changed. Returns
   * false if the map is full, as `set` does.
   *
   * Other agents that write to the same bucket wait for `change`: it must be
   * short, and may not write to this map. Two agents whose `change` writes to
   * another bucket may wait for each other for ever.
   *
   * @throws {TypeError} If `change` is not a function, writes to the same
   * bucket, or changes the key; if a codec refuses its argument; or if the
   * bucket stays locked and this agent may not block.
   * @throws {RangeError} If the key or the new value is too long, or a codec
   * refuses it.
   * @throws {DamagedError} If the map is damaged.
   */
  update(key: K, change: (old: V | undefined) => V | undefined): boolean {
    assertFunction(change);
    return this.#core.update(key, change);
  }

  /**
   * The value of `key`. If it is not there, adds the value that `make` returns.
   * If several agents do so at once, each may call `make`, and all get the
   * value that was added first. Returns `undefined` if the map is full.
   *
   * @throws {TypeError} If `make` is not a function, a codec refuses its
   * argument, or the bucket stays locked and this agent may not block.
   * @throws {RangeError} If the key or value is too long, or a codec refuses
   * it.
   * @throws {DamagedError} If the map is damaged.
   */
  getOrInsert(key: K, make: (key: K) => V): V | undefined {
    assertFunction(make);
    return this.#core.getOrInsert(key, make);
  }

  /**
   * As {@linkcode HashMap.getOrInsert}, for a `make` that may return a promise.
   * While one agent makes the value, others that call this for the same key
   * await it. If `make` fails, this call fails, and another one makes the
   * value. The options are those of the wait for others.
   *
   * If an agent ends while it makes a value, the others wait until
   * `abandon(id)`. `make` may await other keys, but not this one. If more than
   * 256 values are being made, or `capacity`, others may make the same ones.
   *
   * @throws {TypeError} If `make` is not a function, an option is unknown or of
   * a wrong type, a codec refuses its argument, or the bucket stays locked and
   * this agent may not block.
   * @throws {RangeError} If the key or value is too long, or a codec refuses
   * it.
   * @throws {DamagedError} If the map is damaged.
   */
  async getOrInsertAsync(
    key: K,
    make: (key: K) => V | PromiseLike<V>,
    options?: AsyncOptions,
  ): Promise<V | undefined> {
    assertFunction(make);
    return await this.#core.getOrInsertAsync(key, make, options);
  }

  /**
   * If the value of `key` is `expected`, replaces it by `replacement`. Returns
   * the value that was found, or `undefined` if the key is not there. NaN
   * equals itself, and -0 equals 0. The new value expires when the old one
   * would have. For values of `codec.i32` and `codec.f64`.
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
    this.#core.assertNumbers();
    return this.#core.compareExchange(key, expected, replacement);
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
    this.#core.assertNumbers();
    return this.#core.add(key, n);
  }

  /**
   * Deletes all entries, bucket by bucket. An entry that another agent adds
   * meanwhile may stay.
   *
   * @throws {TypeError} If a bucket stays locked and this agent may not block.
   * @throws {DamagedError} If the map is damaged.
   */
  clear(): void {
    this.#core.clear();
  }

  /**
   * Mends and unlocks the buckets that agent `id` was writing to. Each of its
   * writes has happened wholly or not at all. Lets another agent make the
   * values that it was making. Call it only when that agent will never run
   * again. Returns how many buckets and such values there were.
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
    return this.#core.abandon(id);
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
