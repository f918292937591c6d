/**
 * The primitives of `@weft/sync` with their hot operations in WebAssembly. Names,
 * results, errors and words in memory are the same, so that the other agents may
 * use either.
 *
 * JavaScript calls a function for each operation of `Atomics`. The kernel is
 * `weft.h` compiled to WebAssembly, where such an operation is one instruction:
 * the operations take half the time or less. Only operations that do not wait
 * run in the kernel. If an operation cannot be done at once, the JavaScript of
 * the class continues and waits: both work on the same words.
 *
 * An object uses the kernel if a class of this module made it in a
 * `WebAssembly.Memory`: `create` and {@linkcode arena} make such memory. In a
 * `SharedArrayBuffer`, or where a Content-Security-Policy forbids WebAssembly,
 * the same classes run in JavaScript.
 *
 * C twin: none; its code is that of `weft.h`.
 *
 * @example Jobs for workers
 * ```ts
 * import { MpmcQueue } from "@weft/sync/kernel";
 *
 * const jobs = MpmcQueue.create({ capacity: 64 }); // post jobs.handle
 * jobs.tryPushInt(7);
 * if (jobs.tryPopInt() !== 7) throw new Error("lost");
 * ```
 *
 * @module
 */

import { wordsOfCodec } from "./_map/cell.ts";
import { CODEC } from "./_message/message.ts";
import { byteLengthOf, bytesOf, type Elements } from "./_queue/elements.ts";
import {
  allocateForKernel,
  EBUSY,
  EOWNERDEAD,
  kernelOf,
  NO_VALUE,
} from "./_kernel/kernel.ts";
import type { ElementKernel, Kernels } from "./_kernel/functions.ts";
import * as TEXT from "./_kernel/kernel_text.ts";
import { HASH_MAP, STRIPED_COUNTER, WORK_COUNTER } from "./_memory/layout.ts";
import { type Operating, type Queue, waiting } from "./_queue/queue.ts";
import type {
  ElementOf,
  End,
  QueueConfig,
  QueueCore,
} from "./_queue/queue_core.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  type Memory,
  type Region,
} from "./_memory/region.ts";
import { assertMayBlock } from "./_wait/wait.ts";
import { agentId } from "./agent.ts";
import { Event as AnyEvent, type EventConfig } from "./event.ts";
import {
  HashMap as AnyHashMap,
  type HashMapCodecs,
  type HashMapConfig,
  type SetOptions,
} from "./hash_map.ts";
import { Latch as AnyLatch } from "./latch.ts";
import {
  formatLockFree,
  lockFreeBytes,
  LockFreeCore,
  type LockFreeQueueConfig,
} from "./lock_free_queue.ts";
import { formatMpmc, mpmcBytes, MpmcCore } from "./mpmc_queue.ts";
import { Mutex as AnyMutex, MutexGuard } from "./mutex.ts";
import {
  RecordRing as AnyRecordRing,
  type RecordRingConfig,
} from "./record_ring.ts";
import {
  RwLock as AnyRwLock,
  type RwLockConfig,
  RwReadGuard,
  RwWriteGuard,
} from "./rw_lock.ts";
import {
  Semaphore as AnySemaphore,
  type SemaphoreConfig,
} from "./semaphore.ts";
import { type SlabConfig, SlabPool as AnySlabPool } from "./slab_pool.ts";
import { Snapshot as AnySnapshot, type SnapshotConfig } from "./snapshot.ts";
import { formatSpsc, spscBytes, SpscCore } from "./_queue/spsc_core.ts";
import { type Pieces, piecesOf } from "./spsc_queue.ts";
import {
  type CounterConfig,
  StripedCounter as AnyStripedCounter,
} from "./striped_counter.ts";
import {
  type WorkConfig,
  WorkCounter as AnyWorkCounter,
  type WorkRange,
} from "./work_counter.ts";
import { type DequeConfig, WorkDeque as AnyWorkDeque } from "./work_deque.ts";

// The classes that are extended here.
export type {
  AnyEvent,
  AnyHashMap,
  AnyLatch,
  AnyMutex,
  AnyRecordRing,
  AnyRwLock,
  AnySemaphore,
  AnySlabPool,
  AnySnapshot,
  AnyStripedCounter,
  AnyWorkCounter,
  AnyWorkDeque,
};

export {
  type Arena,
  arena,
  type Arenable,
  useKernel,
} from "./_kernel/kernel.ts";
export type { Elements } from "./_queue/elements.ts";
export { ClosedError, type Queue } from "./_queue/queue.ts";
export type { ElementOf, QueueConfig } from "./_queue/queue_core.ts";
export {
  type Handle,
  isSupported,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";
export { agentId, setAgentId } from "./agent.ts";
export type { EventConfig } from "./event.ts";
export type {
  HashMapCodecs,
  HashMapConfig,
  HashMapHeap,
  SetOptions,
} from "./hash_map.ts";
export type { LockFreeQueueConfig } from "./lock_free_queue.ts";
export { LockGuard, MutexGuard } from "./mutex.ts";
export { PermitGuard, SemaphorePermit } from "./semaphore.ts";
export { RecordRingBase, type RecordRingConfig } from "./record_ring.ts";
export type { RwLockConfig } from "./rw_lock.ts";
export { RwReadGuard, RwWriteGuard } from "./rw_lock.ts";
export type { SlabConfig } from "./slab_pool.ts";
export type { SemaphoreConfig } from "./semaphore.ts";
export type { SnapshotConfig } from "./snapshot.ts";
export type { CounterConfig } from "./striped_counter.ts";
export type { WorkConfig, WorkRange } from "./work_counter.ts";
export type { DequeConfig } from "./work_deque.ts";

/** The member that every object here has in addition. */
export interface InKernel {
  /** Whether the hot operations run in the kernel. */
  readonly inKernel: boolean;
}

/**
 * A class of this module. `Config` is what `create` and `init` take, and `Size`
 * is what `byteLength` takes of it.
 */
export interface KernelClass<
  T extends Region,
  Config extends readonly unknown[],
  Size extends readonly unknown[] = Config,
> {
  /** Attaches, as the class of `@weft/sync` does. */
  new (memory: Memory, byteOffset?: number | bigint): T;
  /** How many bytes it occupies. */
  byteLength(...config: Size): number;
  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  create(...config: Config): T;
  /** Initializes one in unused memory. */
  init(memory: Memory, byteOffset: number | bigint, ...config: Config): T;
  /** Attaches to the one whose handle came in a message. */
  from(handle: T["handle"]): T;
}

/** The methods of a `LockFreeQueue` that other queues do not have. */
export interface Repairable {
  /** Gets back the slots that dead agents have lost. */
  repair(): number;
}

/** A queue of this module; `More` are methods that only this kind has. */
export type KernelQueue<Kind extends string, E, More = unknown> =
  & Region<Kind>
  & Queue<E>
  & InKernel
  & More;

/** The class of a {@linkcode KernelQueue}. */
export interface KernelQueueClass<
  Kind extends string,
  More = unknown,
  Settings = unknown,
> {
  /** Attaches, as the class of `@weft/sync` does. */
  new <E = number>(
    memory: Memory,
    byteOffset?: number | bigint,
  ): KernelQueue<Kind, E, More>;
  /** The bytes a queue of this configuration occupies. */
  byteLength(config: QueueConfig & Settings): number;
  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  create<const Size extends number = 4>(
    config: QueueConfig<Size> & Settings,
  ): KernelQueue<Kind, ElementOf<NoInfer<Size>>, More>;
  /** Initializes an empty queue in unused memory. */
  init<const Size extends number = 4>(
    memory: Memory,
    byteOffset: number | bigint,
    config: QueueConfig<Size> & Settings,
  ): KernelQueue<Kind, ElementOf<NoInfer<Size>>, More>;
  /** Attaches to the queue whose handle came in a message. */
  from<E = number>(handle: Handle<Kind>): KernelQueue<Kind, E, More>;
}

/** What an object here has in addition to that of `@weft/sync`. */
interface Parts<Functions> {
  /** The functions of the kernel; undefined if JavaScript does everything. */
  readonly kernel: Functions | undefined;
  /** The address of the primitive in the kernel's memory. */
  readonly at: number;
}

/** The class `Whole` with the {@linkcode Parts}. */
interface InMemory<Whole, Functions> {
  readonly kind: string;
  new (memory: Memory, ...place: unknown[]): Whole & Parts<Functions>;
}

/** The class `Whole`, whose objects know their memory and its kernel. */
function inMemory<Whole, Kind extends keyof Kernels>(
  kind: Kind,
  text: string,
  Whole: abstract new (...place: never) => Whole,
): InMemory<Whole, Kernels[Kind]> {
  class Made extends (Whole as unknown as typeof AnyRegion) {
    static readonly kind = kind;
    readonly #memory: Memory;
    readonly kernel: unknown;
    readonly at: number;

    constructor(memory: Memory, ...place: unknown[]) {
      super(memory, ...place);
      const kernel = kernelOf(kind, text, memory);
      this.#memory = memory;
      this.kernel = kernel?.functions;
      this.at = (kernel?.base ?? 0) + this.byteOffset;
    }

    get inKernel(): boolean {
      return this.kernel !== undefined;
    }

    // Other agents need the memory for their kernels, not only its buffer.
    override get handle(): Handle {
      return { ...super.handle, buffer: this.#memory };
    }
  }
  return Made as unknown as InMemory<Whole, Kernels[Kind]>;
}

/** Whatever is extended here. */
declare class AnyRegion extends Region {
  constructor(memory: Memory, ...place: unknown[]);
  protected inspected(): never;
}

/** The class `Hot` with the functions that make its objects. */
function kernelClass<T extends Region, Config extends readonly unknown[]>(
  Hot: InMemory<Region, unknown>,
): KernelClass<T, Config, never> {
  const Whole = Hot as unknown as
    & KernelClass<Region, Config>
    & Pick<typeof Hot, "kind">;
  class Made extends Whole {
    static override create(...config: Config): Region {
      const memory = allocateForKernel(super.byteLength(...config));
      return this.init(memory, 0, ...config);
    }
    static override init(
      memory: Memory,
      byteOffset: number | bigint,
      ...config: Config
    ): Region {
      super.init(memory, byteOffset, ...config);
      return new this(memory, byteOffset);
    }
    static override from(handle: Handle): Region {
      return new this(...fromHandle(this.kind, handle));
    }
  }
  return Made as unknown as KernelClass<T, Config, never>;
}

/** The class of a queue whose operations that never wait are `Core`. */
function queueClass<Kind extends string, More, Settings>(
  Core: Parameters<typeof waiting<Kind, More>>[0],
  byteLength: (config: QueueConfig & Settings) => number,
  init: (
    memory: Memory,
    byteOffset: number | bigint,
    config: QueueConfig & Settings,
  ) => void,
): KernelQueueClass<Kind, More, Settings> {
  const Waiting = Object.assign(waiting(Core), { byteLength, init });
  const Made: unknown = kernelClass(
    Waiting as unknown as InMemory<Region, unknown>,
  );
  return Made as KernelQueueClass<Kind, More, Settings>;
}

class MutexInKernel extends /* @__PURE__ */ inMemory(
  "mutex",
  TEXT.MUTEX,
  AnyMutex,
) {
  readonly #id = agentId();

  override lock(): MutexGuard {
    const kernel = this.kernel;
    if (kernel !== undefined) {
      assertMayBlock("lock");
      if (kernel.lock(this.at, this.#id) === 0) {
        return new MutexGuard(this, false);
      }
    }
    return super.lock();
  }

  override tryLock(timeout = 0): MutexGuard | undefined {
    const kernel = this.kernel;
    if (kernel === undefined || timeout !== 0) {
      return super.tryLock(timeout);
    }
    const error = kernel.try_lock(this.at, this.#id);
    return error === EBUSY
      ? undefined
      : new MutexGuard(this, error === EOWNERDEAD);
  }

  override unlock(): void {
    if (this.kernel?.unlock(this.at, this.#id) !== 0) super.unlock();
  }
}

/**
 * A lock that one agent holds at a time. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export interface Mutex extends AnyMutex, InKernel {}

/**
 * A lock that one agent holds at a time. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const Mutex: KernelClass<Mutex, []> = /* @__PURE__ */ kernelClass(
  MutexInKernel,
);

class RwLockInKernel extends /* @__PURE__ */ inMemory(
  "rw_lock",
  TEXT.RW_LOCK,
  AnyRwLock,
) {
  readonly #id = agentId();

  override tryRead(timeout = 0): RwReadGuard | undefined {
    const error = timeout === 0 ? this.kernel?.try_read(this.at) : undefined;
    if (error === EBUSY) return undefined;
    if (error === 0 || error === EOWNERDEAD) {
      return new RwReadGuard(this, error !== 0);
    }
    return super.tryRead(timeout);
  }

  override tryWrite(timeout = 0): RwWriteGuard | undefined {
    const error = timeout === 0
      ? this.kernel?.try_write(this.at, this.#id)
      : undefined;
    if (error === EBUSY) return undefined;
    if (error === 0 || error === EOWNERDEAD) {
      return new RwWriteGuard(this, error !== 0);
    }
    return super.tryWrite(timeout);
  }

  override unlockRead(): void {
    if (this.kernel?.unlock_read(this.at) !== 0) super.unlockRead();
  }

  override unlockWrite(): void {
    if (this.kernel?.unlock_write(this.at, this.#id) !== 0) {
      super.unlockWrite();
    }
  }
}

/**
 * A lock that many agents hold to read, or one to write. Its hot operations run
 * in the kernel; otherwise it is the class of `@weft/sync`.
 */
export interface RwLock extends AnyRwLock, InKernel {}

/**
 * A lock that many agents hold to read, or one to write. Its hot operations run
 * in the kernel; otherwise it is the class of `@weft/sync`.
 */
export const RwLock: KernelClass<RwLock, [config?: RwLockConfig]> =
  /* @__PURE__ */ kernelClass(RwLockInKernel);

class SemaphoreInKernel extends /* @__PURE__ */ inMemory(
  "semaphore",
  TEXT.SEMAPHORE,
  AnySemaphore,
) {
  override acquire(n = 1): void {
    const kernel = this.kernel;
    if (kernel !== undefined && n === (n | 0)) {
      assertMayBlock("acquire");
      if (kernel.try_acquire(this.at, n) === 0) return;
    }
    super.acquire(n);
  }

  override tryAcquire(n = 1, timeout = 0): boolean {
    const kernel = this.kernel;
    if (kernel !== undefined && n === (n | 0) && timeout === 0) {
      const error = kernel.try_acquire(this.at, n);
      if (error === 0) return true;
      if (error === EBUSY) return false;
    }
    return super.tryAcquire(n, timeout);
  }

  override release(n = 1): void {
    if (isWord(n) && this.kernel?.release(this.at, n) === 0) return;
    super.release(n);
  }
}

/**
 * A number of permits. Its hot operations run in the kernel; otherwise it is
 * the class of `@weft/sync`.
 */
export interface Semaphore extends AnySemaphore, InKernel {}

/**
 * A number of permits. Its hot operations run in the kernel; otherwise it is
 * the class of `@weft/sync`.
 */
export const Semaphore: KernelClass<
  Semaphore,
  [permits?: number, config?: SemaphoreConfig]
> = /* @__PURE__ */ kernelClass(SemaphoreInKernel);

class EventInKernel extends /* @__PURE__ */ inMemory(
  "event",
  TEXT.EVENT,
  AnyEvent,
) {
  override set(): void {
    const kernel = this.kernel;
    if (kernel === undefined) super.set();
    else kernel.set(this.at);
  }

  override reset(): void {
    const kernel = this.kernel;
    if (kernel === undefined) super.reset();
    else kernel.reset(this.at);
  }

  override tryWait(timeout = 0): boolean {
    const kernel = this.kernel;
    if (kernel === undefined || timeout !== 0) {
      return super.tryWait(timeout);
    }
    return kernel.try_wait(this.at) === 0;
  }
}

/**
 * An event that agents wait for. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export interface Event extends AnyEvent, InKernel {}

/**
 * An event that agents wait for. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const Event: KernelClass<Event, [config?: EventConfig], []> =
  /* @__PURE__ */ kernelClass(EventInKernel);

class LatchInKernel extends /* @__PURE__ */ inMemory(
  "latch",
  TEXT.LATCH,
  AnyLatch,
) {
  override countDown(n = 1): void {
    if (isWord(n) && this.kernel?.count_down(this.at, n) === 0) return;
    super.countDown(n);
  }
}

/**
 * A count that agents bring down to 0. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export interface Latch extends AnyLatch, InKernel {}

/**
 * A count that agents bring down to 0. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const Latch: KernelClass<Latch, [count: number], []> =
  /* @__PURE__ */ kernelClass(LatchInKernel);

class SnapshotInKernel extends /* @__PURE__ */ inMemory(
  "snapshot",
  TEXT.SNAPSHOT,
  AnySnapshot,
) {
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
    } else kernel.write(this.at, from);
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
    return kernel.read(this.at, to);
  }

  override abandon(id: number): number {
    if (id === agentId()) this.#wrote = this.#hasRead = false;
    return super.abandon(id);
  }
}

/**
 * The latest value of some bytes. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export interface Snapshot extends AnySnapshot, InKernel {}

/**
 * The latest value of some bytes. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const Snapshot: KernelClass<Snapshot, [config: SnapshotConfig]> =
  /* @__PURE__ */ kernelClass(SnapshotInKernel);

type QueueKind = "spsc_queue" | "mpmc_queue" | "lock_free_queue";

/**
 * What of the kernel a queue may use now: undefined at an end at which
 * JavaScript must do everything.
 */
interface Ends<Functions> extends Parts<Functions> {
  pushing: Functions | undefined;
  popping: Functions | undefined;
}

/** The class of queues `Core`, whose 4-byte elements the kernel moves. */
function withInts<Core extends QueueCore, Kind extends QueueKind>(
  kind: Kind,
  text: string,
  Core: abstract new (...place: never) => Core,
): InMemory<Core & Ends<Kernels[Kind]>, Kernels[Kind]> {
  const Base = inMemory(kind, text, Core as unknown as typeof Operating);
  abstract class WithInts extends Base {
    pushing = this.kernel;
    popping = this.kernel;

    override tryPushInt(value: number): boolean {
      const kernel = this.pushing;
      if (kernel !== undefined && value === (value | 0)) {
        const error = kernel.push_int(this.at, value);
        if (error === 0) return true;
        if (error === EBUSY) return false;
      }
      return super.tryPushInt(value);
    }

    override tryPopInt(): number | undefined {
      const kernel = this.popping;
      if (kernel !== undefined) {
        const value = kernel.pop_int(this.at);
        if (value < NO_VALUE) return value;
        if (value === NO_ELEMENT) return undefined;
      }
      return super.tryPopInt();
    }
  }
  return WithInts as unknown as InMemory<
    Core & Ends<Kernels[Kind]>,
    Kernels[Kind]
  >;
}

/** The class of queues `Core`, all of whose elements the kernel moves. */
function withElements<
  Core extends QueueCore,
  Kind extends "spsc_queue" | "mpmc_queue",
>(
  kind: Kind,
  text: string,
  Core: abstract new (...place: never) => Core,
): InMemory<Core & Ends<ElementKernel>, ElementKernel> {
  const Base = withInts(kind, text, Core as unknown as typeof Operating);
  abstract class WithElements extends Base {
    readonly #sources = new Places(this);
    readonly #targets = new Places(this);

    override tryPush(src: Elements): boolean {
      const kernel = this.pushing;
      if (kernel !== undefined && byteLengthOf(src) === this.elementSize) {
        const slot = kernel.reserve(this.at);
        if (slot !== 0) {
          this.copier.put(src, 0, this.#index(slot), this.elementSize / 4);
          if (!kernel.commit(this.at, slot)) return true;
          this.refuse();
        }
      }
      return super.tryPush(src);
    }

    override tryPopInto(dst: Elements): boolean {
      const kernel = this.popping;
      if (kernel !== undefined && byteLengthOf(dst) >= this.elementSize) {
        const slot = kernel.peek(this.at);
        if (slot !== 0) {
          this.copier.get(dst, 0, this.#index(slot), this.elementSize / 4);
          kernel.consume(this.at, slot);
          return true;
        }
      }
      return super.tryPopInto(dst);
    }

    override tryPushMany(src: Elements, n: number): number {
      const kernel = this.pushing;
      const from = this.#sources.addressOf(src);
      if (
        kernel !== undefined && from >= 0 && holds(src, n, this.elementSize)
      ) {
        const count = kernel.push_many(this.at, from, n);
        if (count >= 0) return count;
      }
      return super.tryPushMany(src, n);
    }

    override tryPopMany(dst: Elements, n: number): number {
      const kernel = this.popping;
      const to = this.#targets.addressOf(dst);
      if (kernel !== undefined && to >= 0 && holds(dst, n, this.elementSize)) {
        const count = kernel.pop_many(this.at, to, n);
        if (count >= 0) return count;
      }
      return super.tryPopMany(dst, n);
    }

    /** The index of the word at an address; a byte is a quarter of a word. */
    #index(address: number): number {
      return (address - this.at >>> 0) / 4;
    }
  }
  return WithElements as unknown as InMemory<
    Core & Ends<ElementKernel>,
    ElementKernel
  >;
}

/** The methods of a queue whose ends belong to one agent each. */
export interface Roles {
  /** Ends the roles of agent `id`: see the class of `@weft/sync`. */
  abandon(id: number): number;
  /**
   * As `abandon`.
   *
   * @internal
   */
  abandonRoles(id: number): number;
}

/** Several elements in place: see the class of `@weft/sync`. */
export interface Several {
  /** Reserves room for up to `n` elements. */
  reserveMany(n: number): Pieces | undefined;
  /** Appends the first `n` of the elements that are reserved. */
  commitMany(n: number): void;
  /** Shows up to `n` of the oldest elements. */
  peekMany(n: number): Pieces | undefined;
  /** Removes the first `n` of the elements that were peeked at. */
  consumeMany(n: number): void;
}

class SpscCoreInKernel extends /* @__PURE__ */ withElements(
  "spsc_queue",
  TEXT.SPSC_QUEUE,
  SpscCore,
) {
  /**
   * The kernel; undefined before this agent is known to be the producer,
   * and while an element is reserved. The next field: before it is known
   * to be the consumer, and while an element is peeked at.
   */
  override pushing: ElementKernel | undefined = undefined;
  override popping: ElementKernel | undefined = undefined;

  protected override tookRole(end: End): void {
    if (end === "push") this.pushing = this.kernel;
    else this.popping = this.kernel;
  }

  override abandonRoles(id: number): number {
    if (id === agentId()) this.pushing = this.popping = undefined;
    return super.abandonRoles(id);
  }

  override reserve(): Uint8Array | undefined {
    const element = super.reserve();
    // The class of `@weft/sync` knows about the reservation, and refuses
    // other pushes.
    if (element !== undefined) this.pushing = undefined;
    return element;
  }

  override commit(): boolean {
    const done = super.commit();
    this.pushing = this.kernel;
    return done;
  }

  override peek(): Uint8Array | undefined {
    const element = super.peek();
    // The next pop in JavaScript ends what `peek` began.
    this.popping = undefined;
    return element;
  }

  override consume(): void {
    super.consume();
    this.popping = this.kernel;
  }

  reserveMany(n: number): Pieces | undefined {
    const pieces = piecesOf(this, "push", this.placesToPush(n));
    if (pieces !== undefined) this.pushing = undefined;
    return pieces;
  }

  commitMany(n: number): void {
    this.pushPlaces(n);
    this.pushing = this.kernel;
  }

  peekMany(n: number): Pieces | undefined {
    const pieces = piecesOf(this, "pop", this.placesToPop(n));
    if (pieces !== undefined) this.popping = undefined;
    return pieces;
  }

  consumeMany(n: number): void {
    this.popPlaces(n);
    this.popping = this.kernel;
  }
}

/**
 * A queue from one producer to one consumer. It is the class of `@weft/sync`,
 * but its operations run in the kernel.
 */
export type SpscQueue<E = number> = KernelQueue<
  "spsc_queue",
  E,
  Roles & Several
>;

/**
 * A queue from one producer to one consumer. It is the class of `@weft/sync`,
 * but its operations run in the kernel.
 */
export const SpscQueue: KernelQueueClass<"spsc_queue", Roles & Several> =
  /* @__PURE__ */ queueClass(SpscCoreInKernel, spscBytes, formatSpsc);

/**
 * A queue from many producers to many consumers. It is the class of
 * `@weft/sync`, but its operations run in the kernel.
 */
export type MpmcQueue<E = number> = KernelQueue<"mpmc_queue", E>;

/**
 * A queue from many producers to many consumers. It is the class of
 * `@weft/sync`, but its operations run in the kernel.
 */
export const MpmcQueue: KernelQueueClass<"mpmc_queue"> =
  /* @__PURE__ */ queueClass(
    /* @__PURE__ */ withElements("mpmc_queue", TEXT.MPMC_QUEUE, MpmcCore),
    mpmcBytes,
    formatMpmc,
  );

/**
 * A queue that no terminated agent can block. It is the class of `@weft/sync`,
 * but its operations run in the kernel.
 */
export type LockFreeQueue<E = number> = KernelQueue<
  "lock_free_queue",
  E,
  Repairable
>;

/**
 * A queue that no terminated agent can block. It is the class of `@weft/sync`,
 * but its operations run in the kernel.
 */
export const LockFreeQueue: KernelQueueClass<
  "lock_free_queue",
  Repairable,
  Pick<LockFreeQueueConfig, "agents">
> = /* @__PURE__ */ queueClass(
  /* @__PURE__ */ withInts(
    "lock_free_queue",
    TEXT.LOCK_FREE_QUEUE,
    LockFreeCore,
  ),
  lockFreeBytes,
  formatLockFree,
);

class RecordRingInKernel extends /* @__PURE__ */ inMemory(
  "record_ring",
  TEXT.RECORD_RING,
  AnyRecordRing,
) {
  readonly #sources = new Places(this);
  readonly #id = agentId();
  readonly #words = new Int32Array(
    this.buffer,
    this.byteOffset,
    this.byteLength / 4,
  );
  readonly #bytes = new Uint8Array(
    this.buffer,
    this.byteOffset,
    this.byteLength,
  );
  /**
   * The kernel; undefined while a record is reserved. The next field: undefined
   * while one is peeked at.
   */
  #pushing = this.kernel;
  #popping = this.kernel;

  override push(src: Elements): void {
    assertMayBlock("push");
    if (!this.#push(src)) super.push(src);
  }

  override tryPush(src: Elements, timeout = 0): boolean {
    return timeout === 0 && this.#push(src) || super.tryPush(src, timeout);
  }

  override popInto(dst: Elements): number {
    assertMayBlock("popInto");
    return this.#popInto(dst) ?? super.popInto(dst);
  }

  override tryPopInto(dst: Elements, timeout = 0): number | undefined {
    const length = timeout === 0 ? this.#popInto(dst) : undefined;
    return length ?? super.tryPopInto(dst, timeout);
  }

  override reserve(length: number): Uint8Array | undefined {
    const record = super.reserve(length);
    // The class of `@weft/sync` knows about the reservation, and refuses other
    // pushes.
    if (record !== undefined) this.#pushing = undefined;
    return record;
  }

  override commit(length?: number): void {
    super.commit(length);
    this.#pushing = this.kernel;
  }

  override cancel(): void {
    super.cancel();
    this.#pushing = this.kernel;
  }

  override peek(): Uint8Array | undefined {
    this.#popping = undefined; // the next pop takes this record
    return super.peek();
  }

  override consume(): void {
    super.consume();
    this.#popping = this.kernel;
  }

  override read(fn: (record: Uint8Array) => void, limit?: number): number {
    const popping = this.#popping;
    this.#popping = undefined; // `fn` may pop the record that it is given
    try {
      return super.read(fn, limit);
    } finally {
      this.#popping = popping;
    }
  }

  /** Appends a record in the kernel; false if JavaScript must do it. */
  #push(src: Elements): boolean {
    const kernel = this.#pushing;
    if (kernel === undefined) return false;
    const length = byteLengthOf(src);
    const from = this.#sources.addressOf(src);
    if (from >= 0) {
      return kernel.push(this.at, this.#id, from, length) === 0;
    }
    const record = kernel.reserve(this.at, this.#id, length);
    if (record === 0) return false;
    const at = (record - this.at) >>> 0;
    this.copier.put(src, 0, at >>> 2, length >> 2);
    if (length & 3) {
      const bytes = bytesOf(src);
      for (let i = length & ~3; i < length; i++) {
        this.#bytes[at + i] = bytes[i]!;
      }
    }
    return kernel.commit(this.at, record, length) === 0 || this.refuse();
  }

  /** Moves a record in the kernel; undefined if JavaScript must do it. */
  #popInto(dst: Elements): number | undefined {
    const kernel = this.#popping;
    if (kernel === undefined) return undefined;
    const most = byteLengthOf(dst);
    const record = kernel.peek(this.at);
    if (record === 0) return undefined;
    const at = (record - this.at) >>> 0;
    const length = this.#words[(at >>> 2) - 2]! >>> 2;
    if (length > most) return undefined;
    this.copier.get(dst, 0, at >>> 2, length >> 2);
    if (length & 3) {
      const bytes = bytesOf(dst);
      for (let i = length & ~3; i < length; i++) {
        bytes[i] = this.#bytes[at + i]!;
      }
    }
    kernel.consume(this.at);
    return length;
  }
}

/**
 * A ring of records of any length. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export interface RecordRing extends AnyRecordRing, InKernel {}

/**
 * A ring of records of any length. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const RecordRing: KernelClass<RecordRing, [config: RecordRingConfig]> =
  /* @__PURE__ */ kernelClass(RecordRingInKernel);

class WorkCounterInKernel extends /* @__PURE__ */ inMemory(
  "work_counter",
  TEXT.WORK_COUNTER,
  AnyWorkCounter,
) {
  readonly #total = wordOf(this, WORK_COUNTER.total);
  /**
   * How many tasks to take at a time; 0 if the class of `@weft/sync` must hand
   * them out.
   */
  readonly #chunk = this.kernel === undefined || this.tracked !== 0
    ? 0
    : Math.max(wordOf(this, WORK_COUNTER.chunk), 0); // 0 if guided
  /** The rest of the range that `next` took last. */
  #start = 0;
  #end = 0;

  override next(): number {
    const chunk = this.#chunk;
    if (chunk === 1) return this.kernel!.take(this.at); // no range to keep
    if (this.#start === this.#end && !this.#take()) {
      return chunk > 0 ? -1 : super.next();
    }
    return this.#start++;
  }

  override nextRange(): WorkRange | undefined {
    if (this.#start === this.#end && !this.#take()) {
      return this.#chunk > 0 ? undefined : super.nextRange();
    }
    const range = { start: this.#start, end: this.#end };
    this.#start = this.#end;
    return range;
  }

  override done(n = 1): void {
    if (isWord(n) && this.kernel?.done(this.at, n) === 0) return;
    super.done(n);
  }

  #take(): boolean {
    if (this.#chunk === 0) return false;
    const start = this.kernel!.take(this.at);
    if (start < 0) return false;
    this.#start = start;
    this.#end = Math.min(start + this.#chunk, this.#total);
    return true;
  }
}

/**
 * A number of tasks that agents take. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export interface WorkCounter extends AnyWorkCounter, InKernel {}

/**
 * A number of tasks that agents take. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const WorkCounter: KernelClass<
  WorkCounter,
  [total: number, config?: WorkConfig]
> = /* @__PURE__ */ kernelClass(WorkCounterInKernel);

class WorkDequeInKernel extends /* @__PURE__ */ inMemory(
  "work_deque",
  TEXT.WORK_DEQUE,
  AnyWorkDeque,
) {
  /** The kernel, once this agent is known to be the owner. */
  #owning: Kernels["work_deque"] | undefined;

  override push(item: number): boolean {
    const kernel = this.#owning;
    if (kernel !== undefined && item === (item | 0)) {
      return kernel.push(this.at, item) === 0;
    }
    const done = super.push(item);
    this.#owning = this.kernel;
    return done;
  }

  override pop(): number | undefined {
    const kernel = this.#owning;
    if (kernel === undefined) {
      const item = super.pop();
      this.#owning = this.kernel;
      return item;
    }
    const item = kernel.pop(this.at);
    return item < NO_VALUE ? item : undefined;
  }

  override steal(): number | undefined {
    const kernel = this.kernel;
    if (kernel === undefined) return super.steal();
    const item = kernel.steal(this.at);
    return item < NO_VALUE ? item : undefined;
  }

  override abandon(id: number): number {
    if (id === agentId()) this.#owning = undefined;
    return super.abandon(id);
  }
}

/**
 * Items of one owner that others steal. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export interface WorkDeque extends AnyWorkDeque, InKernel {}

/**
 * Items of one owner that others steal. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const WorkDeque: KernelClass<WorkDeque, [config: DequeConfig]> =
  /* @__PURE__ */ kernelClass(WorkDequeInKernel);

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
    if (kernel !== undefined && offset === (offset >>> 0)) {
      if (kernel.free(this.at, this.at + offset) === 0) return;
    }
    super.free(offset);
  }
}

/**
 * A pool of blocks. Its hot operations run in the kernel; otherwise it is the
 * class of `@weft/sync`.
 */
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
    if (kernel === undefined || n !== (n | 0)) return super.add(n);
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

/**
 * A sum that many agents add to. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
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
    if (kernel !== undefined && isInt(key)) {
      const found = kernel.get(this.at, key);
      if (found < NO_VALUE) return found;
      if (found === NO_KEY) return undefined;
    }
    return super.get(key);
  }

  override has(key: unknown): boolean {
    const kernel = this.#ints;
    if (kernel !== undefined && isInt(key)) {
      const found = kernel.get(this.at, key);
      if (found < NO_VALUE || found === NO_KEY) return found !== NO_KEY;
    }
    return super.has(key);
  }

  override set(key: unknown, value: unknown, options?: SetOptions): boolean {
    const kernel = this.#ints;
    if (
      kernel !== undefined && options === undefined && isInt(key) &&
      isInt(value) && kernel.set(this.at, this.#id, key, value) === 0
    ) return true;
    return super.set(key, value, options);
  }

  override add(key: unknown, n: number): number | undefined {
    const kernel = this.#ints;
    if (kernel !== undefined && isInt(key) && isInt(n)) {
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
const isOfInts = <K, V>(
  { key, value, evict }: HashMapConfig<K, V>,
): boolean =>
  wordsOfCodec(key).id === CODEC.i32 && wordsOfCodec(value).id === CODEC.i32 &&
  evict === undefined;

/** Whether `value` is a number that can be passed as an integer of C. */
function isInt(value: unknown): value is number {
  return typeof value === "number" && isWord(value);
}

/**
 * A map from keys to values. Its hot operations run in the kernel if keys and
 * values are of `codec.i32` and it is no cache; otherwise it is the class of
 * `@weft/sync`.
 */
export interface HashMap<K, V> extends AnyHashMap<K, V>, InKernel {}

/** The class {@linkcode HashMap}. */
export interface HashMapClass {
  /** Attaches, as the class of `@weft/sync` does. */
  new <K, V>(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    codecs: HashMapCodecs<K, V>,
  ): HashMap<K, V>;
  /** The bytes a map of this configuration occupies. */
  byteLength<K, V>(config: HashMapConfig<K, V>): number;
  /**
   * Allocates one. If the kernel can use it, that is in a new
   * `WebAssembly.Memory`, in pages of 64 KiB.
   */
  create<K, V>(config: HashMapConfig<K, V>): HashMap<K, V>;
  /** Initializes an empty map in unused memory. */
  init<K, V>(
    memory: Memory,
    byteOffset: number | bigint,
    config: HashMapConfig<K, V>,
  ): HashMap<K, V>;
  /** Attaches to the map whose handle came in a message. */
  from<K, V>(
    handle: Handle<"hash_map">,
    codecs: HashMapCodecs<K, V>,
  ): HashMap<K, V>;
}

/** The class `Hot` with the functions that make its objects. */
function mapClass(Hot: unknown): HashMapClass {
  const Whole = Hot as HashMapClass;
  class Made extends Whole<unknown, unknown> {
    static override create<K, V>(config: HashMapConfig<K, V>): HashMap<K, V> {
      const bytes = super.byteLength(config);
      const memory = isOfInts(config)
        ? allocateForKernel(bytes)
        : allocate(bytes);
      return this.init(memory, 0, config);
    }
    static override init<K, V>(
      memory: Memory,
      byteOffset: number | bigint,
      config: HashMapConfig<K, V>,
    ): HashMap<K, V> {
      super.init(memory, byteOffset, config);
      const { key, value, remember } = config;
      const codecs = { key, value, remember };
      return new (this as HashMapClass)(memory, byteOffset, codecs);
    }
    static override from<K, V>(
      handle: Handle<"hash_map">,
      codecs: HashMapCodecs<K, V>,
    ): HashMap<K, V> {
      const place = fromHandle("hash_map", handle);
      return new (this as HashMapClass)(...place, codecs);
    }
  }
  return Made as HashMapClass;
}

/**
 * A map from keys to values. Its hot operations run in the kernel if keys and
 * values are of `codec.i32` and it is no cache; otherwise it is the class of
 * `@weft/sync`.
 */
export const HashMap: HashMapClass = /* @__PURE__ */ mapClass(HashMapInKernel);

/** Words from one stripe of a StripedCounter to the next. */
const STRIDE = 32;

/** Whether `n` can be passed as an integer of C. */
function isWord(n: number): boolean {
  return n === (n | 0);
}

/** A word of a primitive that never changes. */
function wordOf({ buffer, byteOffset }: Region, index: number): number {
  return new Int32Array(buffer, byteOffset)[index]!;
}

/** The answer of `pop_int` if there is no element. */
const NO_ELEMENT = 4294967306; // 2^32 + EBUSY

/**
 * Where the callers' arrays lie in the memory of a primitive. It remembers the
 * last array, because in Node 20 the getters of an array take long.
 */
class Places {
  readonly #buffer: SharedArrayBuffer;
  readonly #base: number;
  #array: Elements | undefined;
  #address = -1;

  constructor(region: Region & Parts<unknown>) {
    this.#buffer = region.buffer;
    this.#base = region.at - region.byteOffset;
  }

  /** The address of `array`, or -1 if it lies in other memory. */
  addressOf(array: Elements): number {
    if (array !== this.#array) this.#find(array);
    return this.#address;
  }

  #find(array: Elements): void {
    const isHere = ArrayBuffer.isView(array) && array.buffer === this.#buffer;
    this.#address = isHere ? array.byteOffset + this.#base : -1;
    this.#array = array;
  }
}

/** Whether `array` holds `n` elements. */
function holds(array: Elements, n: number, elementSize: number): boolean {
  return n === (n | 0) && n >= 0 && byteLengthOf(array) >= n * elementSize;
}
