/**
 * Snapshots, pools of blocks, counters and maps whose hot operations run in the
 * kernel.
 *
 * @module
 */

import { wordsOfCodec } from "../_map/cell.ts";
import { codecsOf } from "../_map/config.ts";
import { HASH_MAP, STRIPED_COUNTER } from "../_memory/layout.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  type Memory,
} from "../_memory/region.ts";
import { CODEC } from "../_message/message.ts";
import { byteLengthOf, type Elements } from "../_queue/elements.ts";
import { agentId } from "../agent.ts";
import {
  HashMap as AnyHashMap,
  type HashMapCodecs,
  type HashMapConfig,
  type HashMapTypes,
  type SetOptions,
} from "../hash_map.ts";
import { type SlabConfig, SlabPool as AnySlabPool } from "../slab_pool.ts";
import { Snapshot as AnySnapshot, type SnapshotConfig } from "../snapshot.ts";
import {
  type CounterConfig,
  StripedCounter as AnyStripedCounter,
} from "../striped_counter.ts";
import {
  type InKernel,
  inMemory,
  isWord,
  type KernelClass,
  kernelClass,
  Places,
  wordOf,
} from "./_class.ts";
import {
  allocateForKernel,
  type Arenable,
  handingOut,
  NO_VALUE,
} from "./_instance.ts";
import * as TEXT from "./_text.ts";

class SnapshotInKernel extends /* @__PURE__ */ inMemory(
  "snapshot",
  TEXT.SNAPSHOT,
  AnySnapshot,
) {
  readonly #id = agentId();
  /** Whether this view has written, and read, so that it has these roles. */
  #wrote = false;
  #hasRead = false;
  readonly #sources = new Places(this);
  readonly #targets = new Places(this);

  /**
   * Makes `src` the latest value: see the class of `@weft/sync`. This runs in
   * the kernel if `src` lies in the same memory.
   */
  override write(src: Elements): void {
    const kernel = this.kernel;
    const from = this.#sources.addressOf(src);
    if (
      kernel === undefined || from < 0 || (from & 3) !== 0 ||
      byteLengthOf(src) !== this.size || !this.#wrote
    ) {
      super.write(src);
      this.#wrote = true;
    } else if (kernel.write(this.at, from)) super.write(src); // damaged
  }

  /**
   * Copies the latest value to `dst`: see the class of `@weft/sync`. This runs
   * in the kernel if `dst` lies in the same memory.
   */
  override read(dst: Elements): number {
    const kernel = this.kernel;
    const to = this.#targets.addressOf(dst);
    if (
      kernel === undefined || to < 0 || (to & 3) !== 0 ||
      byteLengthOf(dst) < this.size || !this.#hasRead
    ) {
      const version = super.read(dst);
      this.#hasRead = true;
      return version;
    }
    const version = kernel.read(this.at, to);
    return version < 0 ? super.read(dst) : version; // below 0: damaged
  }

  override abandon(id: number): number {
    if (id === this.#id) this.#wrote = this.#hasRead = false;
    return super.abandon(id);
  }
}

/** An object of the class {@linkcode Snapshot}. */
export interface Snapshot extends AnySnapshot, InKernel {}

/**
 * The latest value of some bytes. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const Snapshot: KernelClass<Snapshot, [config: SnapshotConfig]> =
  /* @__PURE__ */ kernelClass(SnapshotInKernel);

class SlabPoolInKernel extends /* @__PURE__ */ inMemory(
  "slab_pool",
  TEXT.SLAB_POOL,
  AnySlabPool,
) {
  readonly #id = agentId();
  #direct = this.kernel;

  /**
   * Keeps free blocks in a cache. Then JavaScript is faster, so the kernel is
   * not used any more.
   */
  override useCache(blocks?: number): void {
    this.#direct = blocks === 0 ? this.kernel : undefined;
    super.useCache(blocks);
  }

  override allocate(): number {
    const kernel = this.#direct;
    if (kernel === undefined) return super.allocate();
    const at = kernel.allocate(this.at, this.#id);
    return at === 0 ? -1 : (at - this.at) >>> 0;
  }

  override free(offset: number): void {
    const kernel = this.#direct;
    if (
      kernel !== undefined && typeof offset === "number" &&
      offset === (offset >>> 0)
    ) {
      if (kernel.free(this.at, this.at + offset) === 0) return;
    }
    super.free(offset);
  }
}

/** An object of the class {@linkcode SlabPool}. */
export interface SlabPool extends AnySlabPool, InKernel {}

/**
 * A pool of blocks. Its hot operations run in the kernel; otherwise it is the
 * class of `@weft/sync`.
 */
export const SlabPool: KernelClass<SlabPool, [config: SlabConfig]> =
  /* @__PURE__ */ kernelClass(SlabPoolInKernel);

class StripedCounterInKernel extends /* @__PURE__ */ inMemory(
  "striped_counter",
  TEXT.STRIPED_COUNTER,
  AnyStripedCounter,
) {
  /**
   * The address of the stripe to which this view adds, or 0 before the first
   * addition.
   */
  #stripe = 0;

  override add(n = 1): void {
    const kernel = this.kernel;
    if (kernel === undefined || !isWord(n)) return super.add(n);
    if (this.#stripe === 0) this.#stripe = this.#claim();
    kernel.add(this.#stripe, n);
  }

  /** Chooses a stripe for this view, and returns its address. */
  #claim(): number {
    const words = new Int32Array(this.buffer, this.byteOffset);
    const claims = Atomics.add(words, STRIPED_COUNTER.claims, 1) >>> 0;
    const stripe = STRIPED_COUNTER.length + claims % this.stripes * STRIDE;
    return this.at + stripe * 4;
  }
}

/** An object of the class {@linkcode StripedCounter}. */
export interface StripedCounter extends AnyStripedCounter, InKernel {}

/**
 * A sum that many agents add to. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const StripedCounter: KernelClass<
  StripedCounter,
  [config?: CounterConfig]
> = /* @__PURE__ */ kernelClass(StripedCounterInKernel);

class HashMapInKernel extends /* @__PURE__ */ inMemory(
  "hash_map",
  TEXT.HASH_MAP,
  AnyHashMap<unknown, unknown>,
) {
  readonly #id = agentId();
  /** The kernel, if keys and values are integers, and the map is no cache. */
  readonly #ints = wordOf(this, HASH_MAP.codecs) === INTS &&
      wordOf(this, HASH_MAP.sizes) >>> EVICTS === 0
    ? this.kernel
    : undefined;

  override get(key: unknown): unknown {
    const kernel = this.#ints;
    if (kernel !== undefined && isWord(key)) {
      const found = kernel.get(this.at, key);
      if (found < NO_VALUE) return found;
      if (found === NO_KEY) return undefined;
    }
    return super.get(key);
  }

  override has(key: unknown): boolean {
    const kernel = this.#ints;
    if (kernel !== undefined && isWord(key)) {
      const found = kernel.get(this.at, key);
      if (found < NO_VALUE || found === NO_KEY) return found !== NO_KEY;
    }
    return super.has(key);
  }

  override set(key: unknown, value: unknown, options?: SetOptions): boolean {
    const kernel = this.#ints;
    if (
      kernel !== undefined && options === undefined && isWord(key) &&
      isWord(value) && kernel.set(this.at, this.#id, key, value) === 0
    ) return true;
    return super.set(key, value, options);
  }

  override add(key: unknown, n: number): number | undefined {
    const kernel = this.#ints;
    if (kernel !== undefined && isWord(key) && isWord(n)) {
      const before = kernel.add(this.at, this.#id, key, n);
      if (before < NO_VALUE) return before;
    }
    return super.add.call(this as never, key, n);
  }
}

/** The codecs of a map from `codec.i32` to `codec.i32`. */
const INTS = 0x0404;
/** The bit of a map's `sizes` from which on the bits are those of a cache. */
const EVICTS = 30;
/** The answer of a map's functions if the key is not there. */
const NO_KEY = 4294967340; // 2^32 + ENOENT

/** Whether the kernel can do anything for a map of this configuration. */
const isOfInts = (config: Config): boolean =>
  config.evict === undefined &&
  codecsOf(config).every((codec) => wordsOfCodec(codec).id === CODEC.i32);

/** An object of the class {@linkcode HashMap}. */
export interface HashMap<K, V> extends AnyHashMap<K, V>, InKernel {}

/** The class {@linkcode HashMap}. */
export interface HashMapClass {
  /** Attaches, as the class of `@weft/sync` does. */
  new <K, V>(
    memory: Memory,
    byteOffset?: number | bigint,
    codecs?: HashMapCodecs<K, V>,
  ): HashMap<K, V>;
  /** The bytes a map of this configuration occupies. */
  byteLength<K, V>(config: HashMapConfig<K, V> & HashMapTypes<K, V>): number;
  /**
   * Allocates one. If the kernel can use it, that is in a new
   * `WebAssembly.Memory`, in pages of 64 KiB.
   */
  create<K, V>(
    config: HashMapConfig<K, V> & HashMapTypes<K, V>,
  ): HashMap<K, V>;
  /** Initializes an empty map in unused memory. */
  init<K, V>(
    memory: Memory,
    byteOffset: number | bigint,
    config: HashMapConfig<K, V> & HashMapTypes<K, V>,
  ): HashMap<K, V>;
  /** Attaches to the map whose handle came in a message. */
  from<K, V>(
    handle: Handle<"hash_map">,
    codecs?: HashMapCodecs<K, V>,
  ): HashMap<K, V>;
}

/** The same for keys and values of any type. */
interface AnyMapClass {
  new (
    memory: Memory,
    byteOffset?: number | bigint,
    codecs?: Codecs,
  ): AnyMap;
  byteLength(config: Config): number;
  create(config: Config): AnyMap;
  init(memory: Memory, byteOffset: number | bigint, config: Config): AnyMap;
  from(handle: Handle<"hash_map">, codecs?: Codecs): AnyMap;
}

type AnyMap = HashMap<unknown, unknown>;
type Codecs = HashMapCodecs<unknown, unknown>;
type Config = HashMapConfig<unknown, unknown>;

/** The class `Hot` with the functions that make its objects. */
function mapClass(Hot: unknown): HashMapClass {
  const Whole = Hot as AnyMapClass;
  class Made extends Whole {
    static override create(config: Config): AnyMap {
      const bytes = super.byteLength(config);
      const memory = isOfInts(config)
        ? allocateForKernel(bytes)
        : allocate(bytes);
      return this.init(memory, 0, config);
    }
    static override init(
      memory: Memory,
      byteOffset: number | bigint,
      config: Config,
    ): AnyMap {
      super.init(memory, byteOffset, config);
      const { key, value, remember } = config;
      return new this(memory, byteOffset, { key, value, remember });
    }
    static override from(
      handle: Handle<"hash_map">,
      codecs?: Codecs,
    ): AnyMap {
      return new this(...fromHandle("hash_map", handle), codecs);
    }
  }
  return Made as unknown as HashMapClass;
}

/**
 * A map from keys to values. Its hot operations run in the kernel if keys and
 * values are of `codec.i32` and it is no cache; otherwise it is the class of
 * `@weft/sync`.
 */
export const HashMap: HashMapClass = /* @__PURE__ */ mapClass(HashMapInKernel);

/** Words from one stripe of a StripedCounter to the next. */
const STRIDE = 32;

/**
 * A shared `WebAssembly.Memory` that hands out its bytes to as many primitives
 * as fit. It never grows, and it takes no bytes back.
 */
export interface Arena extends Exclude<Memory, SharedArrayBuffer> {
  /**
   * Hands out `bytes` bytes, all zero, and returns their offset, a multiple of
   * 128.
   *
   * @throws {RangeError} If fewer bytes are left.
   */
  allocate(bytes: number): number;
  /**
   * Makes a map in bytes of this arena.
   *
   * @throws {RangeError} If too few bytes are left, or `config` is out of
   * range.
   */
  create<K, V>(
    type: HashMapClass,
    config: HashMapConfig<K, V> & HashMapTypes<K, V>,
  ): HashMap<K, V>;
  /**
   * Makes a primitive in bytes of this arena: `create(Mutex)`, or
   * `create(MpmcQueue, { capacity: 64 })`.
   *
   * @throws {RangeError} If too few bytes are left, or `config` is out of
   * range.
   */
  create<T, Config extends readonly unknown[]>(
    type: Arenable<T, Config>,
    ...config: Config
  ): T;
}

/**
 * Makes a memory of at least `bytes` bytes for many primitives: all operations
 * of one kind then run in the same instance of the kernel. Handles of the
 * primitives carry the memory to other agents.
 *
 * Only the realm that made the arena can hand out its bytes. In other realms it
 * is an ordinary `WebAssembly.Memory`.
 *
 * @example Two primitives in one memory
 * ```ts
 * import { arena, Mutex, WorkCounter } from "@weft/sync/kernel";
 *
 * const memory = arena(1 << 16);
 * const lock = memory.create(Mutex); // post lock.handle to workers
 * const tasks = memory.create(WorkCounter, 100);
 * if (lock.run(() => tasks.next()) !== 0) throw new Error("not the first");
 * ```
 *
 * @throws {RangeError} If `bytes` is not an integer from 1 to 2^32, or there is
 * not that much memory.
 * @throws {TypeError} If this realm has no WebAssembly, or cannot share memory.
 */
export function arena(bytes: number): Arena {
  return handingOut(bytes) as Arena;
}
