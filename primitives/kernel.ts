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

import {
  byteLengthOf,
  bytesOf,
  type CopyingClass,
  type Elements,
} from "./_queue/elements.ts";
import {
  allocateForKernel,
  EBUSY,
  EOWNERDEAD,
  type Kernel,
  kernelOf,
  NO_VALUE,
} from "./_kernel/kernel.ts";
import * as TEXT from "./_kernel/kernel_text.ts";
import { STRIPED_COUNTER, WORK_COUNTER } from "./_layout.ts";
import { type Queue, waiting } from "./_queue/queue.ts";
import type { ElementOf, End, QueueConfig } from "./_queue/queue_core.ts";
import {
  fromHandle,
  type Handle,
  type Memory,
  type Region,
} from "./_memory/region.ts";
import { assertMayBlock } from "./_wait/wait.ts";
import { agentId } from "./agent.ts";
import { Event as AnyEvent, type EventConfig } from "./event.ts";
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
import { formatSpsc, spscBytes, SpscCore } from "./spsc_queue.ts";
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
  T,
  Kind extends string,
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
  from(handle: Handle<Kind>): T;
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

/** The class `Hot`, whose objects know their memory and carry it in handles. */
function kernelClass<T, Kind extends string, Config extends readonly unknown[]>(
  kind: Kind,
  text: string,
  Hot: new (memory: Memory, byteOffset?: number | bigint) => Region,
): KernelClass<T, Kind, Config, never> {
  const Whole = Hot as unknown as KernelClass<Region, Kind, Config>;
  class Made extends Whole {
    readonly #memory: Memory;

    constructor(memory: Memory, byteOffset?: number | bigint) {
      super(memory, byteOffset);
      this.#memory = memory;
    }
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
    static override from(handle: Handle<Kind>): Region {
      return new this(...fromHandle(kind, handle));
    }
    // Other agents need the memory for their kernels, not only its buffer.
    override get handle(): Handle {
      return { ...super.handle, buffer: this.#memory };
    }
    get inKernel(): boolean {
      return kernelOf(kind, text, this.#memory) !== undefined;
    }
  }
  return Made as unknown as KernelClass<T, Kind, Config, never>;
}

/** The class of a queue whose operations that never wait are `Core`. */
function queueClass<Kind extends string, More, Settings>(
  kind: Kind,
  text: string,
  Core: Parameters<typeof waiting<Kind, More>>[0],
  byteLength: (config: QueueConfig & Settings) => number,
  init: (
    memory: Memory,
    byteOffset: number | bigint,
    config: QueueConfig & Settings,
  ) => void,
): KernelQueueClass<Kind, More, Settings> {
  const Waiting = Object.assign(waiting(Core), { byteLength, init });
  const Made = kernelClass(kind, text, Waiting);
  return Made as unknown as KernelQueueClass<Kind, More, Settings>;
}

/** The functions of the kernel for a lock that one agent holds at a time. */
interface MutexKernel {
  lock(at: number, id: number): number;
  try_lock(at: number, id: number): number;
  unlock(at: number, id: number): number;
}

class MutexInKernel extends AnyMutex {
  readonly #kernel: MutexKernel | undefined;
  readonly #at: number;
  readonly #id: number = agentId();

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<MutexKernel>("mutex", TEXT.MUTEX, memory);
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  override lock(): MutexGuard {
    const kernel = this.#kernel;
    if (kernel !== undefined) {
      assertMayBlock("lock");
      if (kernel.lock(this.#at, this.#id) === 0) {
        return new MutexGuard(this, false);
      }
    }
    return super.lock();
  }

  override tryLock(timeout = 0): MutexGuard | undefined {
    const kernel = this.#kernel;
    if (kernel === undefined || timeout !== 0) return super.tryLock(timeout);
    const error = kernel.try_lock(this.#at, this.#id);
    return error === EBUSY
      ? undefined
      : new MutexGuard(this, error === EOWNERDEAD);
  }

  override unlock(): void {
    const kernel = this.#kernel;
    if (kernel === undefined || kernel.unlock(this.#at, this.#id) !== 0) {
      super.unlock();
    }
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
export const Mutex: KernelClass<Mutex, "mutex", []> =
  /* @__PURE__ */ kernelClass("mutex", TEXT.MUTEX, MutexInKernel);

/**
 * The functions of the kernel for a lock that many hold to read, or one to
 * write.
 */
interface RwLockKernel {
  try_read(at: number): number;
  unlock_read(at: number): number;
  try_write(at: number, id: number): number;
  unlock_write(at: number, id: number): number;
}

class RwLockInKernel extends AnyRwLock {
  readonly #kernel: RwLockKernel | undefined;
  readonly #at: number;
  readonly #id: number = agentId();

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<RwLockKernel>("rw_lock", TEXT.RW_LOCK, memory);
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  override tryRead(timeout = 0): RwReadGuard | undefined {
    const kernel = this.#kernel;
    if (kernel !== undefined && timeout === 0) {
      const error = kernel.try_read(this.#at);
      if (error === 0) return new RwReadGuard(this, false);
      if (error === EOWNERDEAD) return new RwReadGuard(this, true);
      if (error === EBUSY) return undefined;
    }
    return super.tryRead(timeout);
  }

  override tryWrite(timeout = 0): RwWriteGuard | undefined {
    const kernel = this.#kernel;
    if (kernel !== undefined && timeout === 0) {
      const error = kernel.try_write(this.#at, this.#id);
      if (error === 0) return new RwWriteGuard(this, false);
      if (error === EOWNERDEAD) return new RwWriteGuard(this, true);
      if (error === EBUSY) return undefined;
    }
    return super.tryWrite(timeout);
  }

  override unlockRead(): void {
    const kernel = this.#kernel;
    if (kernel === undefined || kernel.unlock_read(this.#at) !== 0) {
      super.unlockRead();
    }
  }

  override unlockWrite(): void {
    const kernel = this.#kernel;
    if (kernel === undefined || kernel.unlock_write(this.#at, this.#id) !== 0) {
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
export const RwLock: KernelClass<RwLock, "rw_lock", [config?: RwLockConfig]> =
  /* @__PURE__ */ kernelClass("rw_lock", TEXT.RW_LOCK, RwLockInKernel);

/** The functions of the kernel for a number of permits. */
interface SemaphoreKernel {
  try_acquire(at: number, n: number): number;
  release(at: number, n: number): number;
}

class SemaphoreInKernel extends AnySemaphore {
  readonly #kernel: SemaphoreKernel | undefined;
  readonly #at: number;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<SemaphoreKernel>(
      "semaphore",
      TEXT.SEMAPHORE,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  override acquire(n = 1): void {
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0)) {
      assertMayBlock("acquire");
      if (kernel.try_acquire(this.#at, n) === 0) return;
    }
    super.acquire(n);
  }

  override tryAcquire(n = 1, timeout = 0): boolean {
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0) && timeout === 0) {
      const error = kernel.try_acquire(this.#at, n);
      if (error === 0) return true;
      if (error === EBUSY) return false;
    }
    return super.tryAcquire(n, timeout);
  }

  override release(n = 1): void {
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0)) {
      if (kernel.release(this.#at, n) === 0) return;
    }
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
  "semaphore",
  [permits?: number, config?: SemaphoreConfig]
> = /* @__PURE__ */ kernelClass("semaphore", TEXT.SEMAPHORE, SemaphoreInKernel);

/** The functions of the kernel for an event that agents wait for. */
interface EventKernel {
  set(at: number): void;
  reset(at: number): void;
  try_wait(at: number): number;
}

class EventInKernel extends AnyEvent {
  readonly #kernel: EventKernel | undefined;
  readonly #at: number;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<EventKernel>("event", TEXT.EVENT, memory);
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  override set(): void {
    const kernel = this.#kernel;
    if (kernel === undefined) super.set();
    else kernel.set(this.#at);
  }

  override reset(): void {
    const kernel = this.#kernel;
    if (kernel === undefined) super.reset();
    else kernel.reset(this.#at);
  }

  override tryWait(timeout = 0): boolean {
    const kernel = this.#kernel;
    if (kernel === undefined || timeout !== 0) return super.tryWait(timeout);
    return kernel.try_wait(this.#at) === 0;
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
export const Event: KernelClass<Event, "event", [config?: EventConfig], []> =
  /* @__PURE__ */ kernelClass("event", TEXT.EVENT, EventInKernel);

/** The functions of the kernel for a count that agents bring down to 0. */
interface LatchKernel {
  count_down(at: number, n: number): number;
}

class LatchInKernel extends AnyLatch {
  readonly #kernel: LatchKernel | undefined;
  readonly #at: number;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<LatchKernel>("latch", TEXT.LATCH, memory);
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  override countDown(n = 1): void {
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0)) {
      if (kernel.count_down(this.#at, n) === 0) return;
    }
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
export const Latch: KernelClass<Latch, "latch", [count: number], []> =
  /* @__PURE__ */ kernelClass("latch", TEXT.LATCH, LatchInKernel);

/** The functions of the kernel for the latest value of some bytes. */
interface SnapshotKernel {
  write(at: number, src: number): void;
  read(at: number, dst: number): number;
}

class SnapshotInKernel extends AnySnapshot {
  readonly #kernel: SnapshotKernel | undefined;
  /** Whether this view has written, and read, so that it has these roles. */
  #wrote = false;
  #hasRead = false;
  readonly #at: number;
  readonly #sources: Places;
  readonly #targets: Places;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<SnapshotKernel>("snapshot", TEXT.SNAPSHOT, memory);
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#sources = new Places(this, this.#at);
    this.#targets = new Places(this, this.#at);
  }

  /**
   * Makes `src` the latest value: see the class of `@weft/sync`. This runs in
   * the kernel if `src` lies in the same memory.
   */
  override write(src: Elements): void {
    const kernel = this.#kernel;
    const from = this.#sources.addressOf(src);
    if (
      kernel === undefined || from < 0 || (from & 3) !== 0 ||
      byteLengthOf(src) !== this.size || !this.#wrote
    ) {
      super.write(src);
      this.#wrote = true;
    } else kernel.write(this.#at, from);
  }

  /**
   * Copies the latest value to `dst`: see the class of `@weft/sync`. This runs
   * in the kernel if `dst` lies in the same memory.
   */
  override read(dst: Elements): number {
    const kernel = this.#kernel;
    const to = this.#targets.addressOf(dst);
    if (
      kernel === undefined || to < 0 || (to & 3) !== 0 ||
      byteLengthOf(dst) < this.size || !this.#hasRead
    ) {
      const version = super.read(dst);
      this.#hasRead = true;
      return version;
    }
    return kernel.read(this.#at, to);
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
export const Snapshot: KernelClass<
  Snapshot,
  "snapshot",
  [config: SnapshotConfig]
> = /* @__PURE__ */ kernelClass("snapshot", TEXT.SNAPSHOT, SnapshotInKernel);

/** The functions of the kernel for a queue from one producer to one consumer. */
interface SpscQueueKernel {
  push_int(at: number, value: number): number;
  pop_int(at: number): number;
  reserve(at: number): number;
  peek(at: number): number;
  push_many(at: number, src: number, n: number): number;
  pop_many(at: number, dst: number, n: number): number;
  commit(at: number): number;
  consume(at: number): void;
}

/**
 * The operations that never wait, of a queue from one producer to one consumer.
 */
class SpscCoreInKernel extends SpscCore {
  readonly #kernel: SpscQueueKernel | undefined;
  readonly #at: number;
  readonly #sources: Places;
  readonly #targets: Places;
  /**
   * The kernel; undefined before this agent is known to be the producer, and
   * while an element is reserved. The next field: before it is known to be the
   * consumer, and while an element is peeked at.
   */
  #pushing: SpscQueueKernel | undefined;
  #popping: SpscQueueKernel | undefined;

  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
  ) {
    super(memory, byteOffset, Copier);
    const kernel = kernelOf<SpscQueueKernel>(
      "spsc_queue",
      TEXT.SPSC_QUEUE,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#sources = new Places(this, this.#at);
    this.#targets = new Places(this, this.#at);
  }

  protected override tookRole(end: End): void {
    if (end === "push") this.#pushing = this.#kernel;
    else this.#popping = this.#kernel;
  }

  override abandonRoles(id: number): number {
    if (id === agentId()) this.#pushing = this.#popping = undefined;
    return super.abandonRoles(id);
  }

  override tryPushInt(value: number): boolean {
    const kernel = this.#pushing;
    if (kernel !== undefined && value === (value | 0)) {
      const error = kernel.push_int(this.#at, value);
      if (error === 0) return true;
      if (error === EBUSY) return false;
    }
    return super.tryPushInt(value);
  }

  override tryPopInt(): number | undefined {
    const kernel = this.#popping;
    if (kernel !== undefined) {
      const value = kernel.pop_int(this.#at);
      if (value < NO_VALUE) return value;
      if (value === NO_ELEMENT) return undefined;
    }
    return super.tryPopInt();
  }

  override tryPush(src: Elements): boolean {
    const kernel = this.#pushing;
    if (kernel !== undefined && byteLengthOf(src) === this.elementSize) {
      const slot = kernel.reserve(this.#at);
      if (slot !== 0) {
        this.copier.put(src, 0, this.#index(slot), this.elementSize >> 2);
        if (kernel.commit(this.#at) === 0) return true;
        this.refuse();
      }
    }
    return super.tryPush(src);
  }

  override tryPopInto(dst: Elements): boolean {
    const kernel = this.#popping;
    if (kernel !== undefined && byteLengthOf(dst) >= this.elementSize) {
      const slot = kernel.peek(this.#at);
      if (slot !== 0) {
        this.copier.get(dst, 0, this.#index(slot), this.elementSize >> 2);
        kernel.consume(this.#at);
        return true;
      }
    }
    return super.tryPopInto(dst);
  }

  override tryPushMany(src: Elements, n: number): number {
    const kernel = this.#pushing;
    const from = this.#sources.addressOf(src);
    if (kernel !== undefined && from >= 0 && holds(src, n, this.elementSize)) {
      const count = kernel.push_many(this.#at, from, n);
      if (count >= 0) return count;
    }
    return super.tryPushMany(src, n);
  }

  override tryPopMany(dst: Elements, n: number): number {
    const kernel = this.#popping;
    const to = this.#targets.addressOf(dst);
    if (kernel !== undefined && to >= 0 && holds(dst, n, this.elementSize)) {
      const count = kernel.pop_many(this.#at, to, n);
      if (count >= 0) return count;
    }
    return super.tryPopMany(dst, n);
  }

  /** The index of the word at an address. */
  #index(address: number): number {
    return (address - this.#at) >>> 2;
  }

  override reserve(): Uint8Array | undefined {
    const element = super.reserve();
    // The class of `@weft/sync` knows about the reservation, and refuses other
    // pushes.
    if (element !== undefined) this.#pushing = undefined;
    return element;
  }

  override commit(): boolean {
    const done = super.commit();
    this.#pushing = this.#kernel;
    return done;
  }

  override peek(): Uint8Array | undefined {
    const element = super.peek();
    // The next pop in JavaScript ends what `peek` began.
    this.#popping = undefined;
    return element;
  }

  override consume(): void {
    super.consume();
    this.#popping = this.#kernel;
  }
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

/**
 * A queue from one producer to one consumer. It is the class of `@weft/sync`,
 * but its operations run in the kernel.
 */
export type SpscQueue<E = number> = KernelQueue<"spsc_queue", E, Roles>;

/**
 * A queue from one producer to one consumer. It is the class of `@weft/sync`,
 * but its operations run in the kernel.
 */
export const SpscQueue: KernelQueueClass<"spsc_queue", Roles> =
  /* @__PURE__ */ queueClass(
    "spsc_queue",
    TEXT.SPSC_QUEUE,
    SpscCoreInKernel,
    spscBytes,
    formatSpsc,
  );

/**
 * The functions of the kernel for a queue from many producers to many
 * consumers.
 */
interface MpmcQueueKernel {
  push_int(at: number, value: number): number;
  pop_int(at: number): number;
  reserve(at: number): number;
  peek(at: number): number;
  push_many(at: number, src: number, n: number): number;
  pop_many(at: number, dst: number, n: number): number;
  commit(at: number, slot: number): void;
  consume(at: number, slot: number): void;
}

/**
 * The operations that never wait, of a queue from many producers to many
 * consumers.
 */
class MpmcCoreInKernel extends MpmcCore {
  readonly #kernel: MpmcQueueKernel | undefined;
  readonly #at: number;
  readonly #sources: Places;
  readonly #targets: Places;

  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
  ) {
    super(memory, byteOffset, Copier);
    const kernel = kernelOf<MpmcQueueKernel>(
      "mpmc_queue",
      TEXT.MPMC_QUEUE,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#sources = new Places(this, this.#at);
    this.#targets = new Places(this, this.#at);
  }

  override tryPushInt(value: number): boolean {
    const kernel = this.#kernel;
    if (kernel !== undefined && value === (value | 0)) {
      const error = kernel.push_int(this.#at, value);
      if (error === 0) return true;
      if (error === EBUSY) return false;
    }
    return super.tryPushInt(value);
  }

  override tryPopInt(): number | undefined {
    const kernel = this.#kernel;
    if (kernel !== undefined) {
      const value = kernel.pop_int(this.#at);
      if (value < NO_VALUE) return value;
      if (value === NO_ELEMENT) return undefined;
    }
    return super.tryPopInt();
  }

  override tryPush(src: Elements): boolean {
    const kernel = this.#kernel;
    if (kernel !== undefined && byteLengthOf(src) === this.elementSize) {
      const slot = kernel.reserve(this.#at);
      if (slot !== 0) {
        this.copier.put(src, 0, this.#index(slot), this.elementSize >> 2);
        kernel.commit(this.#at, slot);
        return true;
      }
    }
    return super.tryPush(src);
  }

  override tryPopInto(dst: Elements): boolean {
    const kernel = this.#kernel;
    if (kernel !== undefined && byteLengthOf(dst) >= this.elementSize) {
      const slot = kernel.peek(this.#at);
      if (slot !== 0) {
        this.copier.get(dst, 0, this.#index(slot), this.elementSize >> 2);
        kernel.consume(this.#at, slot);
        return true;
      }
    }
    return super.tryPopInto(dst);
  }

  override tryPushMany(src: Elements, n: number): number {
    const kernel = this.#kernel;
    const from = this.#sources.addressOf(src);
    if (kernel !== undefined && from >= 0 && holds(src, n, this.elementSize)) {
      const count = kernel.push_many(this.#at, from, n);
      if (count >= 0) return count;
    }
    return super.tryPushMany(src, n);
  }

  override tryPopMany(dst: Elements, n: number): number {
    const kernel = this.#kernel;
    const to = this.#targets.addressOf(dst);
    if (kernel !== undefined && to >= 0 && holds(dst, n, this.elementSize)) {
      const count = kernel.pop_many(this.#at, to, n);
      if (count >= 0) return count;
    }
    return super.tryPopMany(dst, n);
  }

  /** The index of the word at an address. */
  #index(address: number): number {
    return (address - this.#at) >>> 2;
  }
}

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
    "mpmc_queue",
    TEXT.MPMC_QUEUE,
    MpmcCoreInKernel,
    mpmcBytes,
    formatMpmc,
  );

/** The functions of the kernel for a queue that no terminated agent can block. */
interface LockFreeQueueKernel {
  push_int(at: number, value: number): number;
  pop_int(at: number): number;
}

/**
 * The operations that never wait, of a queue that no terminated agent can
 * block.
 */
class LockFreeCoreInKernel extends LockFreeCore {
  readonly #kernel: LockFreeQueueKernel | undefined;
  readonly #at: number;

  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
  ) {
    super(memory, byteOffset, Copier);
    const kernel = kernelOf<LockFreeQueueKernel>(
      "lock_free_queue",
      TEXT.LOCK_FREE_QUEUE,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  override tryPushInt(value: number): boolean {
    const kernel = this.#kernel;
    if (kernel !== undefined && value === (value | 0)) {
      const error = kernel.push_int(this.#at, value);
      if (error === 0) return true;
      if (error === EBUSY) return false;
    }
    return super.tryPushInt(value);
  }

  override tryPopInt(): number | undefined {
    const kernel = this.#kernel;
    if (kernel !== undefined) {
      const value = kernel.pop_int(this.#at);
      if (value < NO_VALUE) return value;
      if (value === NO_ELEMENT) return undefined;
    }
    return super.tryPopInt();
  }
}

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
  "lock_free_queue",
  TEXT.LOCK_FREE_QUEUE,
  LockFreeCoreInKernel,
  lockFreeBytes,
  formatLockFree,
);

/** The functions of the kernel for a ring of records of any length. */
interface RecordRingKernel {
  reserve(at: number, id: number, length: number): number;
  commit(at: number, record: number, length: number): number;
  push(at: number, id: number, src: number, length: number): number;
  peek(at: number): number;
  consume(at: number): void;
}

class RecordRingInKernel extends AnyRecordRing {
  readonly #kernel: RecordRingKernel | undefined;
  readonly #at: number;
  readonly #sources: Places;
  readonly #id: number = agentId();
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  /**
   * The kernel; undefined while a record is reserved. The next field: undefined
   * while one is peeked at.
   */
  #pushing: RecordRingKernel | undefined;
  #popping: RecordRingKernel | undefined;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<RecordRingKernel>(
      "record_ring",
      TEXT.RECORD_RING,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#sources = new Places(this, this.#at);
    const { buffer, byteOffset: at, byteLength } = this;
    this.#words = new Int32Array(buffer, at, byteLength / 4);
    this.#bytes = new Uint8Array(buffer, at, byteLength);
    this.#pushing = this.#popping = this.#kernel;
  }

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
    this.#pushing = this.#kernel;
  }

  override cancel(): void {
    super.cancel();
    this.#pushing = this.#kernel;
  }

  override peek(): Uint8Array | undefined {
    this.#popping = undefined; // the next pop takes this record
    return super.peek();
  }

  override consume(): void {
    super.consume();
    this.#popping = this.#kernel;
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
      return kernel.push(this.#at, this.#id, from, length) === 0;
    }
    const record = kernel.reserve(this.#at, this.#id, length);
    if (record === 0) return false;
    const at = (record - this.#at) >>> 0;
    this.copier.put(src, 0, at >>> 2, length >> 2);
    if (length & 3) {
      const bytes = bytesOf(src);
      for (let i = length & ~3; i < length; i++) {
        this.#bytes[at + i] = bytes[i]!;
      }
    }
    return kernel.commit(this.#at, record, length) === 0 || this.refuse();
  }

  /** Moves a record in the kernel; undefined if JavaScript must do it. */
  #popInto(dst: Elements): number | undefined {
    const kernel = this.#popping;
    if (kernel === undefined) return undefined;
    const most = byteLengthOf(dst);
    const record = kernel.peek(this.#at);
    if (record === 0) return undefined;
    const at = (record - this.#at) >>> 0;
    const length = this.#words[(at >>> 2) - 2]! >>> 2;
    if (length > most) return undefined;
    this.copier.get(dst, 0, at >>> 2, length >> 2);
    if (length & 3) {
      const bytes = bytesOf(dst);
      for (let i = length & ~3; i < length; i++) {
        bytes[i] = this.#bytes[at + i]!;
      }
    }
    kernel.consume(this.#at);
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
export const RecordRing: KernelClass<
  RecordRing,
  "record_ring",
  [config: RecordRingConfig]
> = /* @__PURE__ */ kernelClass(
  "record_ring",
  TEXT.RECORD_RING,
  RecordRingInKernel,
);

/** The functions of the kernel for a number of tasks that agents take. */
interface WorkCounterKernel {
  take(at: number): number;
  done(at: number, n: number): number;
}

class WorkCounterInKernel extends AnyWorkCounter {
  readonly #kernel: WorkCounterKernel | undefined;
  readonly #at: number;
  readonly #total: number;
  /**
   * How many tasks to take at a time; 0 if the class of `@weft/sync` must hand
   * them out.
   */
  readonly #chunk: number;
  /** The rest of the range that `next` took last. */
  #start = 0;
  #end = 0;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<WorkCounterKernel>(
      "work_counter",
      TEXT.WORK_COUNTER,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    const words = new Int32Array(this.buffer, this.byteOffset);
    const chunk = words[WORK_COUNTER.chunk]!;
    this.#total = words[WORK_COUNTER.total]!;
    // not if guided or tracked
    this.#chunk = kernel && this.tracked === 0 ? Math.max(chunk, 0) : 0;
  }

  override next(): number {
    const chunk = this.#chunk;
    if (chunk === 1) return this.#kernel!.take(this.#at); // no range to keep
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
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0)) {
      if (kernel.done(this.#at, n) === 0) return;
    }
    super.done(n);
  }

  #take(): boolean {
    if (this.#chunk === 0) return false;
    const start = this.#kernel!.take(this.#at);
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
  "work_counter",
  [total: number, config?: WorkConfig]
> = /* @__PURE__ */ kernelClass(
  "work_counter",
  TEXT.WORK_COUNTER,
  WorkCounterInKernel,
);

/** The functions of the kernel for items of one owner that others steal. */
interface WorkDequeKernel {
  push(at: number, item: number): number;
  pop(at: number): number;
  steal(at: number): number;
}

class WorkDequeInKernel extends AnyWorkDeque {
  readonly #kernel: WorkDequeKernel | undefined;
  /** The kernel, once this agent is known to be the owner. */
  #owning: WorkDequeKernel | undefined;
  readonly #at: number;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<WorkDequeKernel>(
      "work_deque",
      TEXT.WORK_DEQUE,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  override push(item: number): boolean {
    const kernel = this.#owning;
    if (kernel !== undefined && item === (item | 0)) {
      return kernel.push(this.#at, item) === 0;
    }
    const done = super.push(item);
    this.#owning = this.#kernel;
    return done;
  }

  override pop(): number | undefined {
    const kernel = this.#owning;
    if (kernel === undefined) {
      const item = super.pop();
      this.#owning = this.#kernel;
      return item;
    }
    const item = kernel.pop(this.#at);
    return item < NO_VALUE ? item : undefined;
  }

  override steal(): number | undefined {
    const kernel = this.#kernel;
    if (kernel === undefined) return super.steal();
    const item = kernel.steal(this.#at);
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
export const WorkDeque: KernelClass<
  WorkDeque,
  "work_deque",
  [config: DequeConfig]
> = /* @__PURE__ */ kernelClass(
  "work_deque",
  TEXT.WORK_DEQUE,
  WorkDequeInKernel,
);

/** The functions of the kernel for a pool of blocks. */
interface SlabPoolKernel {
  allocate(at: number, id: number): number;
  free(at: number, block: number): number;
}

class SlabPoolInKernel extends AnySlabPool {
  readonly #kernel: SlabPoolKernel | undefined;
  readonly #at: number;
  readonly #id: number = agentId();
  #direct: SlabPoolKernel | undefined;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<SlabPoolKernel>(
      "slab_pool",
      TEXT.SLAB_POOL,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#direct = this.#kernel;
  }

  /**
   * Keeps free blocks in a cache. Then JavaScript is faster, so the kernel is
   * not used any more.
   */
  override useCache(blocks?: number): void {
    this.#direct = blocks === 0 ? this.#kernel : undefined;
    super.useCache(blocks);
  }

  override allocate(): number {
    const kernel = this.#direct;
    if (kernel === undefined) return super.allocate();
    const at = kernel.allocate(this.#at, this.#id);
    return at === 0 ? -1 : (at - this.#at) >>> 0;
  }

  override free(offset: number): void {
    const kernel = this.#direct;
    if (kernel !== undefined && offset === (offset >>> 0)) {
      if (kernel.free(this.#at, this.#at + offset) === 0) return;
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
export const SlabPool: KernelClass<
  SlabPool,
  "slab_pool",
  [config: SlabConfig]
> = /* @__PURE__ */ kernelClass("slab_pool", TEXT.SLAB_POOL, SlabPoolInKernel);

/** The functions of the kernel for a sum that many agents add to. */
interface StripedCounterKernel {
  add(stripe: number, n: number): void;
}

class StripedCounterInKernel extends AnyStripedCounter {
  readonly #kernel: StripedCounterKernel | undefined;
  readonly #at: number;
  /**
   * The address of the stripe to which this view adds, or 0 before the first
   * addition.
   */
  #stripe = 0;

  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<StripedCounterKernel>(
      "striped_counter",
      TEXT.STRIPED_COUNTER,
      memory,
    );
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  override add(n = 1): void {
    const kernel = this.#kernel;
    if (kernel === undefined || n !== (n | 0)) return super.add(n);
    if (this.#stripe === 0) this.#stripe = this.#claim();
    kernel.add(this.#stripe, n);
  }

  /** Chooses a stripe for this view, and returns its address. */
  #claim(): number {
    const words = new Int32Array(this.buffer, this.byteOffset);
    const claims = Atomics.add(words, STRIPED_COUNTER.claims, 1) >>> 0;
    const stripe = STRIPED_COUNTER.length + claims % this.stripes * STRIDE;
    return this.#at + stripe * 4;
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
  "striped_counter",
  [config?: CounterConfig]
> = /* @__PURE__ */ kernelClass(
  "striped_counter",
  TEXT.STRIPED_COUNTER,
  StripedCounterInKernel,
);

/** Words from one stripe of a StripedCounter to the next. */
const STRIDE = 32;

/** The address, in the kernel's memory, of a primitive at `byteOffset`. */
function addressOf(
  kernel: Kernel<unknown> | undefined,
  byteOffset: number,
): number {
  return (kernel?.base ?? 0) + byteOffset;
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

  /** `at` is the address of `region`. */
  constructor(region: Region, at: number) {
    this.#buffer = region.buffer;
    this.#base = at - region.byteOffset;
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
