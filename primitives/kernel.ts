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
} from "./_elements.ts";
import {
  allocateForKernel,
  EBUSY,
  EOWNERDEAD,
  type Kernel,
  kernelOf,
  NO_VALUE,
} from "./_kernel.ts";
import * as TEXT from "./_kernel_text.ts";
import { STRIPED_COUNTER, WORK_COUNTER } from "./_layout.ts";
import { waiting, type WaitingClass } from "./_queue.ts";
import type { ElementOf, QueueConfig } from "./_queue_core.ts";
import {
  fromHandle,
  type Handle,
  type Memory,
  type Region,
} from "./_region.ts";
import { assertMayBlock } from "./_wait.ts";
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

export { type Arena, arena, type Arenable, useKernel } from "./_kernel.ts";
export type { Elements } from "./_elements.ts";
export { ClosedError, type Queue, type WaitingClass } from "./_queue.ts";
export type { ElementOf, QueueConfig } from "./_queue_core.ts";
export {
  type Handle,
  isSupported,
  type Memory,
  Printable,
  Region,
} from "./_region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait.ts";
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

/** The functions of the kernel for a lock that one agent holds at a time. */
interface MutexKernel {
  lock(at: number, id: number): number;
  try_lock(at: number, id: number): number;
  unlock(at: number, id: number): number;
}

/**
 * A lock that one agent holds at a time. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export class Mutex extends AnyMutex {
  readonly #memory: Memory;
  readonly #kernel: MutexKernel | undefined;
  readonly #at: number;
  readonly #id: number = agentId();

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<MutexKernel>("mutex", TEXT.MUTEX, memory);
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(): Mutex {
    const bytes = AnyMutex.byteLength();
    return Mutex.init(allocateForKernel(bytes), 0);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
  ): Mutex {
    AnyMutex.init(memory, byteOffset);
    return new Mutex(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"mutex">): Mutex {
    return new Mutex(...fromHandle("mutex", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"mutex"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** Locks the mutex: see the class of `@weft/sync`. */
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

  /** Locks the mutex if it is free: see the class of `@weft/sync`. */
  override tryLock(timeout = 0): MutexGuard | undefined {
    const kernel = this.#kernel;
    if (kernel === undefined || timeout !== 0) return super.tryLock(timeout);
    const error = kernel.try_lock(this.#at, this.#id);
    return error === EBUSY
      ? undefined
      : new MutexGuard(this, error === EOWNERDEAD);
  }

  /** Unlocks the mutex: see the class of `@weft/sync`. */
  override unlock(): void {
    const kernel = this.#kernel;
    if (kernel === undefined || kernel.unlock(this.#at, this.#id) !== 0) {
      super.unlock();
    }
  }
}

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

/**
 * A lock that many agents hold to read, or one to write. Its hot operations run
 * in the kernel; otherwise it is the class of `@weft/sync`.
 */
export class RwLock extends AnyRwLock {
  readonly #memory: Memory;
  readonly #kernel: RwLockKernel | undefined;
  readonly #at: number;
  readonly #id: number = agentId();

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<RwLockKernel>("rw_lock", TEXT.RW_LOCK, memory);
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(config?: RwLockConfig): RwLock {
    const bytes = AnyRwLock.byteLength(config);
    return RwLock.init(allocateForKernel(bytes), 0, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    config?: RwLockConfig,
  ): RwLock {
    AnyRwLock.init(memory, byteOffset, config);
    return new RwLock(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"rw_lock">): RwLock {
    return new RwLock(...fromHandle("rw_lock", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"rw_lock"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** Locks for reading if it can: see the class of `@weft/sync`. */
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

  /** Locks for writing if it can: see the class of `@weft/sync`. */
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

  /** Ends one agent's reading: see the class of `@weft/sync`. */
  override unlockRead(): void {
    const kernel = this.#kernel;
    if (kernel === undefined || kernel.unlock_read(this.#at) !== 0) {
      super.unlockRead();
    }
  }

  /** Ends the writing: see the class of `@weft/sync`. */
  override unlockWrite(): void {
    const kernel = this.#kernel;
    if (kernel === undefined || kernel.unlock_write(this.#at, this.#id) !== 0) {
      super.unlockWrite();
    }
  }
}

/** The functions of the kernel for a number of permits. */
interface SemaphoreKernel {
  try_acquire(at: number, n: number): number;
  release(at: number, n: number): number;
}

/**
 * A number of permits. Its hot operations run in the kernel; otherwise it is
 * the class of `@weft/sync`.
 */
export class Semaphore extends AnySemaphore {
  readonly #memory: Memory;
  readonly #kernel: SemaphoreKernel | undefined;
  readonly #at: number;

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<SemaphoreKernel>(
      "semaphore",
      TEXT.SEMAPHORE,
      memory,
    );
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(
    permits?: number,
    config?: SemaphoreConfig,
  ): Semaphore {
    const bytes = AnySemaphore.byteLength(permits, config);
    return Semaphore.init(allocateForKernel(bytes), 0, permits, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    permits?: number,
    config?: SemaphoreConfig,
  ): Semaphore {
    AnySemaphore.init(memory, byteOffset, permits, config);
    return new Semaphore(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"semaphore">): Semaphore {
    return new Semaphore(...fromHandle("semaphore", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"semaphore"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** Takes permits, and waits for them: see the class of `@weft/sync`. */
  override acquire(n = 1): void {
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0)) {
      assertMayBlock("acquire");
      if (kernel.try_acquire(this.#at, n) === 0) return;
    }
    super.acquire(n);
  }

  /** Takes permits if they are free: see the class of `@weft/sync`. */
  override tryAcquire(n = 1, timeout = 0): boolean {
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0) && timeout === 0) {
      const error = kernel.try_acquire(this.#at, n);
      if (error === 0) return true;
      if (error === EBUSY) return false;
    }
    return super.tryAcquire(n, timeout);
  }

  /** Returns permits: see the class of `@weft/sync`. */
  override release(n = 1): void {
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0)) {
      if (kernel.release(this.#at, n) === 0) return;
    }
    super.release(n);
  }
}

/** The functions of the kernel for an event that agents wait for. */
interface EventKernel {
  set(at: number): void;
  reset(at: number): void;
  try_wait(at: number): number;
}

/**
 * An event that agents wait for. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export class Event extends AnyEvent {
  readonly #memory: Memory;
  readonly #kernel: EventKernel | undefined;
  readonly #at: number;

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<EventKernel>("event", TEXT.EVENT, memory);
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(config?: EventConfig): Event {
    const bytes = AnyEvent.byteLength();
    return Event.init(allocateForKernel(bytes), 0, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    config?: EventConfig,
  ): Event {
    AnyEvent.init(memory, byteOffset, config);
    return new Event(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"event">): Event {
    return new Event(...fromHandle("event", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"event"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** Sets the event: see the class of `@weft/sync`. */
  override set(): void {
    const kernel = this.#kernel;
    if (kernel === undefined) super.set();
    else kernel.set(this.#at);
  }

  /** Takes back a `set`: see the class of `@weft/sync`. */
  override reset(): void {
    const kernel = this.#kernel;
    if (kernel === undefined) super.reset();
    else kernel.reset(this.#at);
  }

  /** Whether the event is set: see the class of `@weft/sync`. */
  override tryWait(timeout = 0): boolean {
    const kernel = this.#kernel;
    if (kernel === undefined || timeout !== 0) return super.tryWait(timeout);
    return kernel.try_wait(this.#at) === 0;
  }
}

/** The functions of the kernel for a count that agents bring down to 0. */
interface LatchKernel {
  count_down(at: number, n: number): number;
}

/**
 * A count that agents bring down to 0. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export class Latch extends AnyLatch {
  readonly #memory: Memory;
  readonly #kernel: LatchKernel | undefined;
  readonly #at: number;

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<LatchKernel>("latch", TEXT.LATCH, memory);
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(count: number): Latch {
    const bytes = AnyLatch.byteLength();
    return Latch.init(allocateForKernel(bytes), 0, count);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    count: number,
  ): Latch {
    AnyLatch.init(memory, byteOffset, count);
    return new Latch(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"latch">): Latch {
    return new Latch(...fromHandle("latch", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"latch"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** Counts down: see the class of `@weft/sync`. */
  override countDown(n = 1): void {
    const kernel = this.#kernel;
    if (kernel !== undefined && n === (n | 0)) {
      if (kernel.count_down(this.#at, n) === 0) return;
    }
    super.countDown(n);
  }
}

/** The functions of the kernel for the latest value of some bytes. */
interface SnapshotKernel {
  write(at: number, src: number): void;
  read(at: number, dst: number): number;
}

/**
 * The latest value of some bytes. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export class Snapshot extends AnySnapshot {
  readonly #memory: Memory;
  readonly #kernel: SnapshotKernel | undefined;
  readonly #at: number;
  readonly #sources: Places;
  readonly #targets: Places;

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<SnapshotKernel>("snapshot", TEXT.SNAPSHOT, memory);
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#sources = new Places(this, this.#at);
    this.#targets = new Places(this, this.#at);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(config: SnapshotConfig): Snapshot {
    const bytes = AnySnapshot.byteLength(config);
    return Snapshot.init(allocateForKernel(bytes), 0, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    config: SnapshotConfig,
  ): Snapshot {
    AnySnapshot.init(memory, byteOffset, config);
    return new Snapshot(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"snapshot">): Snapshot {
    return new Snapshot(...fromHandle("snapshot", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"snapshot"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
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
      byteLengthOf(src) !== this.size
    ) return super.write(src);
    kernel.write(this.#at, from);
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
      byteLengthOf(dst) < this.size
    ) return super.read(dst);
    return kernel.read(this.#at, to);
  }
}

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
  readonly #memory: Memory;
  readonly #kernel: SpscQueueKernel | undefined;
  readonly #at: number;
  readonly #sources: Places;
  readonly #targets: Places;
  /**
   * The kernel; undefined while an element is reserved. The next field:
   * undefined while one is peeked at.
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
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#sources = new Places(this, this.#at);
    this.#targets = new Places(this, this.#at);
    this.#pushing = this.#popping = this.#kernel;
  }

  /** Contains the memory, so that other agents can use their kernels, too. */
  override get handle(): Handle<"spsc_queue"> {
    return { ...super.handle, buffer: this.#memory };
  }

  /** Whether the operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
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
    this.#pushing = this.#kernel;
    return super.commit();
  }

  override peek(): Uint8Array | undefined {
    // The next pop in JavaScript ends what `peek` began.
    this.#popping = undefined;
    return super.peek();
  }

  override consume(): void {
    this.#popping = this.#kernel;
    super.consume();
  }
}

/** The core together with the forms that wait. */
export const SpscQueueWaiting: WaitingClass<"spsc_queue", InKernel> =
  /* @__PURE__ */ waiting<"spsc_queue", InKernel>(SpscCoreInKernel);

/**
 * A queue from one producer to one consumer. It is the class of `@weft/sync`,
 * but its operations run in the kernel.
 */
export class SpscQueue<E = number> extends SpscQueueWaiting<E> {
  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
  }

  /** The bytes a queue of this configuration occupies. */
  static byteLength(config: QueueConfig): number {
    return spscBytes(config);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static create<const Size extends number = 4>(
    config: QueueConfig<Size>,
  ): SpscQueue<ElementOf<NoInfer<Size>>> {
    const memory = allocateForKernel(spscBytes(config));
    return SpscQueue.init(memory, 0, config);
  }

  /** Initializes an empty queue in unused memory. */
  static init<const Size extends number = 4>(
    memory: Memory,
    byteOffset: number | bigint,
    config: QueueConfig<Size>,
  ): SpscQueue<ElementOf<NoInfer<Size>>> {
    formatSpsc(memory, byteOffset, config);
    return new SpscQueue(memory, byteOffset);
  }

  /** Attaches to the queue whose handle came in a message. */
  static from<E = number>(handle: Handle<"spsc_queue">): SpscQueue<E> {
    return new SpscQueue(...fromHandle("spsc_queue", handle));
  }
}

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
  readonly #memory: Memory;
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
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#sources = new Places(this, this.#at);
    this.#targets = new Places(this, this.#at);
  }

  /** Contains the memory, so that other agents can use their kernels, too. */
  override get handle(): Handle<"mpmc_queue"> {
    return { ...super.handle, buffer: this.#memory };
  }

  /** Whether the operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
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

/** The core together with the forms that wait. */
export const MpmcQueueWaiting: WaitingClass<"mpmc_queue", InKernel> =
  /* @__PURE__ */ waiting<"mpmc_queue", InKernel>(MpmcCoreInKernel);

/**
 * A queue from many producers to many consumers. It is the class of
 * `@weft/sync`, but its operations run in the kernel.
 */
export class MpmcQueue<E = number> extends MpmcQueueWaiting<E> {
  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
  }

  /** The bytes a queue of this configuration occupies. */
  static byteLength(config: QueueConfig): number {
    return mpmcBytes(config);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static create<const Size extends number = 4>(
    config: QueueConfig<Size>,
  ): MpmcQueue<ElementOf<NoInfer<Size>>> {
    const memory = allocateForKernel(mpmcBytes(config));
    return MpmcQueue.init(memory, 0, config);
  }

  /** Initializes an empty queue in unused memory. */
  static init<const Size extends number = 4>(
    memory: Memory,
    byteOffset: number | bigint,
    config: QueueConfig<Size>,
  ): MpmcQueue<ElementOf<NoInfer<Size>>> {
    formatMpmc(memory, byteOffset, config);
    return new MpmcQueue(memory, byteOffset);
  }

  /** Attaches to the queue whose handle came in a message. */
  static from<E = number>(handle: Handle<"mpmc_queue">): MpmcQueue<E> {
    return new MpmcQueue(...fromHandle("mpmc_queue", handle));
  }
}

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
  readonly #memory: Memory;
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
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  /** Contains the memory, so that other agents can use their kernels, too. */
  override get handle(): Handle<"lock_free_queue"> {
    return { ...super.handle, buffer: this.#memory };
  }

  /** Whether the operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
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

/** The core together with the forms that wait. */
export const LockFreeQueueWaiting: WaitingClass<
  "lock_free_queue",
  InKernel & Repairable
> = /* @__PURE__ */ waiting<"lock_free_queue", InKernel & Repairable>(
  LockFreeCoreInKernel,
);

/**
 * A queue that no terminated agent can block. It is the class of `@weft/sync`,
 * but its operations run in the kernel.
 */
export class LockFreeQueue<E = number> extends LockFreeQueueWaiting<E> {
  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
  }

  /** The bytes a queue of this configuration occupies. */
  static byteLength(config: LockFreeQueueConfig): number {
    return lockFreeBytes(config);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static create<const Size extends number = 4>(
    config: LockFreeQueueConfig<Size>,
  ): LockFreeQueue<ElementOf<NoInfer<Size>>> {
    const memory = allocateForKernel(lockFreeBytes(config));
    return LockFreeQueue.init(memory, 0, config);
  }

  /** Initializes an empty queue in unused memory. */
  static init<const Size extends number = 4>(
    memory: Memory,
    byteOffset: number | bigint,
    config: LockFreeQueueConfig<Size>,
  ): LockFreeQueue<ElementOf<NoInfer<Size>>> {
    formatLockFree(memory, byteOffset, config);
    return new LockFreeQueue(memory, byteOffset);
  }

  /** Attaches to the queue whose handle came in a message. */
  static from<E = number>(handle: Handle<"lock_free_queue">): LockFreeQueue<E> {
    return new LockFreeQueue(...fromHandle("lock_free_queue", handle));
  }
}

/** The functions of the kernel for a ring of records of any length. */
interface RecordRingKernel {
  reserve(at: number, id: number, length: number): number;
  commit(at: number, record: number, length: number): number;
  push(at: number, id: number, src: number, length: number): number;
  peek(at: number): number;
  consume(at: number): void;
}

/**
 * A ring of records of any length. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export class RecordRing extends AnyRecordRing {
  readonly #memory: Memory;
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

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<RecordRingKernel>(
      "record_ring",
      TEXT.RECORD_RING,
      memory,
    );
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#sources = new Places(this, this.#at);
    const { buffer, byteOffset: at, byteLength } = this;
    this.#words = new Int32Array(buffer, at, byteLength / 4);
    this.#bytes = new Uint8Array(buffer, at, byteLength);
    this.#pushing = this.#popping = this.#kernel;
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(config: RecordRingConfig): RecordRing {
    const bytes = AnyRecordRing.byteLength(config);
    return RecordRing.init(allocateForKernel(bytes), 0, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    config: RecordRingConfig,
  ): RecordRing {
    AnyRecordRing.init(memory, byteOffset, config);
    return new RecordRing(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"record_ring">): RecordRing {
    return new RecordRing(...fromHandle("record_ring", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"record_ring"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** Appends a record, and waits for room: see `@weft/sync`. */
  override push(src: Elements): void {
    assertMayBlock("push");
    if (!this.#push(src)) super.push(src);
  }

  /** Appends a record: see the class of `@weft/sync`. */
  override tryPush(src: Elements, timeout = 0): boolean {
    return timeout === 0 && this.#push(src) || super.tryPush(src, timeout);
  }

  /** Moves the oldest record to `dst`, and waits for one: see `@weft/sync`. */
  override popInto(dst: Elements): number {
    assertMayBlock("popInto");
    return this.#popInto(dst) ?? super.popInto(dst);
  }

  /** Moves the oldest record to `dst`: see the class of `@weft/sync`. */
  override tryPopInto(dst: Elements, timeout = 0): number | undefined {
    const length = timeout === 0 ? this.#popInto(dst) : undefined;
    return length ?? super.tryPopInto(dst, timeout);
  }

  /** Reserves room for a record: see the class of `@weft/sync`. */
  override reserve(length: number): Uint8Array | undefined {
    const record = super.reserve(length);
    // The class of `@weft/sync` knows about the reservation, and refuses other
    // pushes.
    if (record !== undefined) this.#pushing = undefined;
    return record;
  }

  /** Appends the reserved record: see the class of `@weft/sync`. */
  override commit(length?: number): void {
    super.commit(length);
    this.#pushing = this.#kernel;
  }

  /** Gives up the reserved record: see the class of `@weft/sync`. */
  override cancel(): void {
    super.cancel();
    this.#pushing = this.#kernel;
  }

  /** Shows the oldest record in place: see the class of `@weft/sync`. */
  override peek(): Uint8Array | undefined {
    this.#popping = undefined; // the next pop takes this record
    return super.peek();
  }

  /** Removes the record that `peek` returned: see the class of `@weft/sync`. */
  override consume(): void {
    super.consume();
    this.#popping = this.#kernel;
  }

  /** Calls `fn` with the oldest records: see the class of `@weft/sync`. */
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

/** The functions of the kernel for a number of tasks that agents take. */
interface WorkCounterKernel {
  take(at: number): number;
  done(at: number, n: number): number;
}

/**
 * A number of tasks that agents take. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export class WorkCounter extends AnyWorkCounter {
  readonly #memory: Memory;
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

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<WorkCounterKernel>(
      "work_counter",
      TEXT.WORK_COUNTER,
      memory,
    );
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    const words = new Int32Array(this.buffer, this.byteOffset);
    const chunk = words[WORK_COUNTER.chunk]!;
    this.#total = words[WORK_COUNTER.total]!;
    // not if guided or tracked
    this.#chunk = kernel && this.tracked === 0 ? Math.max(chunk, 0) : 0;
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(total: number, config?: WorkConfig): WorkCounter {
    const bytes = AnyWorkCounter.byteLength(total, config);
    return WorkCounter.init(allocateForKernel(bytes), 0, total, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    total: number,
    config?: WorkConfig,
  ): WorkCounter {
    AnyWorkCounter.init(memory, byteOffset, total, config);
    return new WorkCounter(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"work_counter">): WorkCounter {
    return new WorkCounter(...fromHandle("work_counter", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"work_counter"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** The next task, or -1: see the class of `@weft/sync`. */
  override next(): number {
    const chunk = this.#chunk;
    if (chunk === 1) return this.#kernel!.take(this.#at); // no range to keep
    if (this.#start === this.#end && !this.#take()) {
      return chunk > 0 ? -1 : super.next();
    }
    return this.#start++;
  }

  /** The next tasks: see the class of `@weft/sync`. */
  override nextRange(): WorkRange | undefined {
    if (this.#start === this.#end && !this.#take()) {
      return this.#chunk > 0 ? undefined : super.nextRange();
    }
    const range = { start: this.#start, end: this.#end };
    this.#start = this.#end;
    return range;
  }

  /** Counts tasks as done: see the class of `@weft/sync`. */
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

/** The functions of the kernel for items of one owner that others steal. */
interface WorkDequeKernel {
  push(at: number, item: number): number;
  pop(at: number): number;
  steal(at: number): number;
}

/**
 * Items of one owner that others steal. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export class WorkDeque extends AnyWorkDeque {
  readonly #memory: Memory;
  readonly #kernel: WorkDequeKernel | undefined;
  readonly #at: number;

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<WorkDequeKernel>(
      "work_deque",
      TEXT.WORK_DEQUE,
      memory,
    );
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(config: DequeConfig): WorkDeque {
    const bytes = AnyWorkDeque.byteLength(config);
    return WorkDeque.init(allocateForKernel(bytes), 0, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    config: DequeConfig,
  ): WorkDeque {
    AnyWorkDeque.init(memory, byteOffset, config);
    return new WorkDeque(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"work_deque">): WorkDeque {
    return new WorkDeque(...fromHandle("work_deque", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"work_deque"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** Adds an item at the bottom: see the class of `@weft/sync`. */
  override push(item: number): boolean {
    const kernel = this.#kernel;
    if (kernel === undefined || item !== (item | 0)) return super.push(item);
    return kernel.push(this.#at, item) === 0;
  }

  /** Takes the item pushed last: see the class of `@weft/sync`. */
  override pop(): number | undefined {
    const kernel = this.#kernel;
    if (kernel === undefined) return super.pop();
    const item = kernel.pop(this.#at);
    return item < NO_VALUE ? item : undefined;
  }

  /** Takes the oldest item: see the class of `@weft/sync`. */
  override steal(): number | undefined {
    const kernel = this.#kernel;
    if (kernel === undefined) return super.steal();
    const item = kernel.steal(this.#at);
    return item < NO_VALUE ? item : undefined;
  }
}

/** The functions of the kernel for a pool of blocks. */
interface SlabPoolKernel {
  allocate(at: number, id: number): number;
  free(at: number, block: number): number;
}

/**
 * A pool of blocks. Its hot operations run in the kernel; otherwise it is the
 * class of `@weft/sync`.
 */
export class SlabPool extends AnySlabPool {
  readonly #memory: Memory;
  readonly #kernel: SlabPoolKernel | undefined;
  readonly #at: number;
  readonly #id: number = agentId();
  #direct: SlabPoolKernel | undefined;

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<SlabPoolKernel>(
      "slab_pool",
      TEXT.SLAB_POOL,
      memory,
    );
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
    this.#direct = this.#kernel;
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(config: SlabConfig): SlabPool {
    const bytes = AnySlabPool.byteLength(config);
    return SlabPool.init(allocateForKernel(bytes), 0, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    config: SlabConfig,
  ): SlabPool {
    AnySlabPool.init(memory, byteOffset, config);
    return new SlabPool(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"slab_pool">): SlabPool {
    return new SlabPool(...fromHandle("slab_pool", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"slab_pool"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /**
   * Keeps free blocks in a cache. Then JavaScript is faster, so the kernel is
   * not used any more.
   */
  override useCache(blocks?: number): void {
    this.#direct = blocks === 0 ? this.#kernel : undefined;
    super.useCache(blocks);
  }

  /** A block, or -1: see the class of `@weft/sync`. */
  override allocate(): number {
    const kernel = this.#direct;
    if (kernel === undefined) return super.allocate();
    const at = kernel.allocate(this.#at, this.#id);
    return at === 0 ? -1 : (at - this.#at) >>> 0;
  }

  /** Frees a block: see the class of `@weft/sync`. */
  override free(offset: number): void {
    const kernel = this.#direct;
    if (kernel !== undefined && offset === (offset >>> 0)) {
      if (kernel.free(this.#at, this.#at + offset) === 0) return;
    }
    super.free(offset);
  }
}

/** The functions of the kernel for a sum that many agents add to. */
interface StripedCounterKernel {
  add(stripe: number, n: number): void;
}

/**
 * A sum that many agents add to. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export class StripedCounter extends AnyStripedCounter {
  readonly #memory: Memory;
  readonly #kernel: StripedCounterKernel | undefined;
  readonly #at: number;
  /**
   * The address of the stripe to which this view adds, or 0 before the first
   * addition.
   */
  #stripe = 0;

  /** Attaches, as the class of `@weft/sync` does. */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
    const kernel = kernelOf<StripedCounterKernel>(
      "striped_counter",
      TEXT.STRIPED_COUNTER,
      memory,
    );
    this.#memory = memory;
    this.#kernel = kernel?.functions;
    this.#at = addressOf(kernel, this.byteOffset);
  }

  /** Allocates one in a new `WebAssembly.Memory`, in pages of 64 KiB. */
  static override create(config?: CounterConfig): StripedCounter {
    const bytes = AnyStripedCounter.byteLength(config);
    return StripedCounter.init(allocateForKernel(bytes), 0, config);
  }

  /** Initializes one in unused memory. */
  static override init(
    memory: Memory,
    byteOffset: number | bigint,
    config?: CounterConfig,
  ): StripedCounter {
    AnyStripedCounter.init(memory, byteOffset, config);
    return new StripedCounter(memory, byteOffset);
  }

  /** Attaches to the one whose handle came in a message. */
  static override from(handle: Handle<"striped_counter">): StripedCounter {
    return new StripedCounter(...fromHandle("striped_counter", handle));
  }

  /** The value to post to another agent; it contains the memory. */
  override get handle(): Handle<"striped_counter"> {
    const { kind, byteOffset } = this;
    return { kind, buffer: this.#memory, byteOffset };
  }

  /** Whether the hot operations run in the kernel. */
  get inKernel(): boolean {
    return this.#kernel !== undefined;
  }

  /** Adds to the sum: see the class of `@weft/sync`. */
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

/** Words from one stripe of a StripedCounter to the next. */
const STRIDE = 32;

/** The address, in the kernel's memory, of a primitive at `byteOffset`. */
function addressOf(
  kernel: Kernel<unknown> | undefined,
  byteOffset: number,
): number {
  return (kernel?.base ?? 0) + byteOffset;
}

/** The member that every class here has in addition. */
export interface InKernel {
  /** Whether the operations run in the kernel. */
  readonly inKernel: boolean;
}

/** The answer of `pop_int` if there is no element. */
const NO_ELEMENT = 4294967306; // 2^32 + EBUSY

/** The methods of a `LockFreeQueue` that other queues do not have. */
export interface Repairable {
  /** Gets back the slots that dead agents have lost. */
  repair(): number;
}

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
