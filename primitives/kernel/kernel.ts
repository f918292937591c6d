/**
 * The primitives of `@weft/sync` with their hot operations in WebAssembly.
 * Names, results, errors and words in memory are the same, so that the other
 * agents may use either.
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

export type { InKernel, KernelClass } from "./_class.ts";
export { Event, Latch, Mutex, RwLock, Semaphore } from "./locks.ts";
export {
  type Arena,
  arena,
  HashMap,
  type HashMapClass,
  SlabPool,
  Snapshot,
  StripedCounter,
} from "./memory.ts";
export {
  type KernelQueue,
  type KernelQueueClass,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  type Repairable,
  type Roles,
  type Several,
  SpscQueue,
} from "./queues.ts";
export { WorkCounter, WorkDeque } from "./work.ts";

// The classes that are extended here.
export type { Event as AnyEvent } from "../event.ts";
export type { HashMap as AnyHashMap } from "../hash_map.ts";
export type { Latch as AnyLatch } from "../latch.ts";
export type { Mutex as AnyMutex } from "../mutex.ts";
export type { RecordRing as AnyRecordRing } from "../record_ring.ts";
export type { RwLock as AnyRwLock } from "../rw_lock.ts";
export type { Semaphore as AnySemaphore } from "../semaphore.ts";
export type { SlabPool as AnySlabPool } from "../slab_pool.ts";
export type { Snapshot as AnySnapshot } from "../snapshot.ts";
export type { StripedCounter as AnyStripedCounter } from "../striped_counter.ts";
export type { WorkCounter as AnyWorkCounter } from "../work_counter.ts";
export type { WorkDeque as AnyWorkDeque } from "../work_deque.ts";

export { type Arenable, useKernel } from "./_instance.ts";
export type { Elements } from "../_queue/elements.ts";
export { ClosedError, type Queue } from "../_queue/queue.ts";
export type { ElementOf, QueueConfig } from "../_queue/queue_core.ts";
export {
  type Handle,
  isSupported,
  type Memory,
  Printable,
  Region,
} from "../_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "../_wait/wait.ts";
export { agentId, setAgentId } from "../agent.ts";
export type { EventConfig } from "../event.ts";
export type {
  HashMapCodecs,
  HashMapConfig,
  HashMapHeap,
  HashMapTypes,
  SetOptions,
} from "../hash_map.ts";
export type { LockFreeQueueConfig } from "../lock_free_queue.ts";
export { LockGuard, MutexGuard } from "../mutex.ts";
export { PermitGuard, SemaphorePermit } from "../semaphore.ts";
export { RecordRingBase, type RecordRingConfig } from "../record_ring.ts";
export type { RwLockConfig } from "../rw_lock.ts";
export { RwReadGuard, RwWriteGuard } from "../rw_lock.ts";
export type { SlabConfig } from "../slab_pool.ts";
export type { SemaphoreConfig } from "../semaphore.ts";
export type { SnapshotConfig } from "../snapshot.ts";
export type { CounterConfig } from "../striped_counter.ts";
export type { WorkConfig, WorkRange } from "../work_counter.ts";
export type { DequeConfig } from "../work_deque.ts";
