/**
 * What can never block, and never allocates in an operation: for AudioWorklets,
 * and for pages' main threads while they draw. The classes are those of
 * `@weft/sync`, on the same memory, so that the other side may be any of them;
 * but what blocks, awaits or makes objects is missing, from the types and at
 * run time. Making and attaching allocate: do that before the first deadline.
 *
 * `Mutex` and `RwLock` are not here, as a guard is an object, and whoever holds
 * one makes others wait; nor is what exists to wait, or carries messages that
 * must be made.
 *
 * Of elements, arrays of 32-bit integers and floats, and of bytes, are copied
 * as they are. Of any other type a view is made whenever an array comes that is
 * another than the last one; for a `Snapshot`, of all but `Int32Array`. A float
 * that is NaN may become another NaN. Errors, such as that of a closed queue,
 * are objects like everywhere.
 *
 * C twin: `#define WEFT_REALTIME` before `weft.h` is included.
 *
 * @example Samples, out of an AudioWorklet
 * ```ts
 * import { SpscQueue } from "@weft/sync/realtime";
 *
 * const blocks = SpscQueue.create({ capacity: 32, size: 128 * 4 });
 * // Post blocks.handle to a worker, which may wait: SpscQueue.from(handle) of
 * // "@weft/sync". In process(inputs):
 * const samples = new Float32Array(128);
 * if (!blocks.tryPush(samples)) throw new Error("the worker is too slow");
 * ```
 *
 * @module
 */

import type { Copier } from "./_elements.ts";
import { LoopCopier } from "./_loop_copier.ts";
import type { QueueConfig } from "./_queue.ts";
import { type Handle, type Memory, Region } from "./_region.ts";
import { StripedCounter as AnyStripedCounter } from "./striped_counter.ts";
import type { CounterConfig } from "./striped_counter.ts";
import { Event as AnyEvent, type EventConfig } from "./event.ts";
import { Latch as AnyLatch } from "./latch.ts";
import {
  LockFreeQueue as AnyLockFreeQueue,
  type LockFreeQueueConfig,
} from "./lock_free_queue.ts";
import { MpmcQueue as AnyMpmcQueue } from "./mpmc_queue.ts";
import {
  RecordRing as AnyRecordRing,
  type RecordRingConfig,
} from "./record_ring.ts";
import { Semaphore as AnySemaphore } from "./semaphore.ts";
import { Snapshot as AnySnapshot } from "./snapshot.ts";
import type { SnapshotConfig } from "./snapshot.ts";
import { type SlabConfig, SlabPool as AnySlabPool } from "./slab_pool.ts";
import { SpscQueue as AnySpscQueue } from "./spsc_queue.ts";
import {
  type WorkConfig,
  WorkCounter as AnyWorkCounter,
} from "./work_counter.ts";
import { type DequeConfig, WorkDeque as AnyWorkDeque } from "./work_deque.ts";

export type { Elements } from "./_elements.ts";
export { ClosedError, type Queue, type QueueConfig } from "./_queue.ts";
export { type Handle, isSupported, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";
export type { CounterConfig } from "./striped_counter.ts";
export type { EventConfig } from "./event.ts";
export type { LockFreeQueueConfig } from "./lock_free_queue.ts";
export type { RecordRingConfig } from "./record_ring.ts";
export type { SnapshotConfig } from "./snapshot.ts";
export type { SlabConfig } from "./slab_pool.ts";
export type { WorkConfig, WorkRange } from "./work_counter.ts";
export type { DequeConfig } from "./work_deque.ts";

// The whole classes, as types: what those here are picked from.
export type {
  AnyEvent,
  AnyLatch,
  AnyLockFreeQueue,
  AnyMpmcQueue,
  AnyRecordRing,
  AnySemaphore,
  AnySlabPool,
  AnySnapshot,
  AnySpscQueue,
  AnyStripedCounter,
  AnyWorkCounter,
  AnyWorkDeque,
};

/** A class of which only what is realtime is left. */
export interface RealtimeClass<
  T,
  Config extends readonly unknown[],
  Size extends readonly unknown[] = Config,
> {
  /** Attaches, as the whole class does. */
  new (memory: Memory, byteOffset?: number): T;
  /** The bytes it occupies. */
  byteLength(...config: Size): number;
  /** Allocates memory, and makes one there. */
  create(...config: Config): T;
  /** Makes a region that nobody uses yet one. */
  init(memory: Memory, byteOffset: number, ...config: Config): T;
  /** Attaches to the one a message brought. */
  from(handle: Handle): T;
}

const QUEUE = [
  "size",
  "closed",
  "tryPushInt",
  "tryPopInt",
  "tryPush",
  "tryPop",
  "tryPushMany",
  "tryPopMany",
  "reserve",
  "commit",
  "peek",
  "consume",
  "close",
] as const;

/** The operations that each class keeps. */
export const OPERATIONS = {
  SpscQueue: QUEUE,
  MpmcQueue: QUEUE,
  LockFreeQueue: QUEUE,
  RecordRing: [
    "used",
    "closed",
    "claimant",
    "tryPush",
    "reserve",
    "commit",
    "cancel",
    "tryPopInto",
    "peek",
    "peekedLength",
    "consume",
    "close",
  ],
  Snapshot: ["version", "write", "read"],
  Semaphore: ["available", "tryAcquire", "release"],
  Event: ["autoReset", "isSet", "set", "reset", "tryWait"],
  Latch: ["count", "countDown", "tryWait"],
  WorkCounter: ["remaining", "completed", "cancelled", "next", "done"],
  WorkDeque: ["size", "push", "pop", "steal"],
  SlabPool: ["available", "allocate", "free"],
  StripedCounter: ["stripes", "add", "sum"],
} as const;

/**
 * `Whole` with the operations that {@linkcode OPERATIONS} has under its `Name`,
 * and the fields that say how it was made and where its bytes are.
 */
export type Realtime<
  Whole extends Region,
  Name extends keyof typeof OPERATIONS,
> = Pick<
  Whole,
  & keyof Whole
  & (
    | keyof Region
    | (typeof OPERATIONS)[Name][number]
    | "size"
    | "capacity"
    | "elementSize"
    | "blockSize"
    | "maxLength"
    | "single"
    | "agents"
    | "bytes"
  )
>;

/** Of the private ones of a class, those that its operations call. */
type Helper = "assertInts" | "assertInt" | "assertElement" | "assertRoom";

const HELPERS: readonly Helper[] = [
  "assertInts",
  "assertInt",
  "assertElement",
  "assertRoom",
];

/** A view of what copies elements, by a field that others do not see. */
const hasCopier = (view: Region): view is Region & { copier: Copier } =>
  "copier" in view;

const wordsOf = ({ buffer, byteOffset, byteLength }: Region) =>
  new Int32Array(buffer, byteOffset, byteLength / 4);

/** `Whole` without all operations but those in `kept`. */
function realtime<T, Config extends readonly unknown[]>(
  Whole: new (memory: Memory, byteOffset?: number) => Region,
  kept: readonly (string & keyof T)[],
): RealtimeClass<T, Config> {
  const All = Whole as unknown as RealtimeClass<Region, Config>;
  class Realtime extends All {
    constructor(memory: Memory, byteOffset?: number) {
      super(memory, byteOffset);
      if (hasCopier(this)) this.copier = new LoopCopier(wordsOf(this));
    }
    static override create(...config: Config): Region {
      return this.from(super.create(...config));
    }
    static override init(
      memory: Memory,
      byteOffset: number,
      ...config: Config
    ): Region {
      return this.from(super.init(memory, byteOffset, ...config));
    }
    static override from(handle: Handle): Region {
      const { buffer, byteOffset } = super.from(handle);
      return new this(buffer, byteOffset);
    }
  }
  const stays = new Set<string | symbol>([...HELPERS, ...kept, "constructor"]);
  let from: object = Whole.prototype;
  while (from !== Region.prototype) {
    for (const key of Reflect.ownKeys(from)) {
      if (stays.has(key)) continue;
      Object.defineProperty(Realtime.prototype, key, { value: undefined });
    }
    from = Object.getPrototypeOf(from);
  }
  return Realtime as unknown as RealtimeClass<T, Config>;
}

// ---- SpscQueue ------------------------------------------------------------

/** One producer and one consumer. */
export type SpscQueue = Realtime<AnySpscQueue, "SpscQueue">;

/** One producer and one consumer. */
export const SpscQueue: RealtimeClass<SpscQueue, [config: QueueConfig]> =
  /* @__PURE__ */ realtime(AnySpscQueue, OPERATIONS.SpscQueue);

// ---- MpmcQueue ------------------------------------------------------------

/** Many producers to many consumers, the fastest. */
export type MpmcQueue = Realtime<AnyMpmcQueue, "MpmcQueue">;

/** Many producers to many consumers, the fastest. */
export const MpmcQueue: RealtimeClass<MpmcQueue, [config: QueueConfig]> =
  /* @__PURE__ */ realtime(AnyMpmcQueue, OPERATIONS.MpmcQueue);

// ---- LockFreeQueue --------------------------------------------------------

/** Many producers to many consumers, any of which may be terminated. */
export type LockFreeQueue = Realtime<AnyLockFreeQueue, "LockFreeQueue">;

/** Many producers to many consumers, any of which may be terminated. */
export const LockFreeQueue: RealtimeClass<
  LockFreeQueue,
  [config: LockFreeQueueConfig]
> = /* @__PURE__ */ realtime(AnyLockFreeQueue, OPERATIONS.LockFreeQueue);

// ---- RecordRing -----------------------------------------------------------

/** Byte records of any length, many producers, one consumer. */
export type RecordRing = Realtime<AnyRecordRing, "RecordRing">;

/** Byte records of any length, many producers, one consumer. */
export const RecordRing: RealtimeClass<RecordRing, [config: RecordRingConfig]> =
  /* @__PURE__ */ realtime(AnyRecordRing, OPERATIONS.RecordRing);

// ---- Snapshot -------------------------------------------------------------

/** The latest value of some bytes. */
export type Snapshot = Realtime<AnySnapshot, "Snapshot">;

/** The latest value of some bytes. */
export const Snapshot: RealtimeClass<Snapshot, [config: SnapshotConfig]> =
  /* @__PURE__ */ realtime(AnySnapshot, OPERATIONS.Snapshot);

// ---- Semaphore ------------------------------------------------------------

/** A number of permits. */
export type Semaphore = Realtime<AnySemaphore, "Semaphore">;

/** A number of permits. */
export const Semaphore: RealtimeClass<Semaphore, [permits: number], []> =
  /* @__PURE__ */ realtime(AnySemaphore, OPERATIONS.Semaphore);

// ---- Event ----------------------------------------------------------------

/** A flag that others wait for. */
export type Event = Realtime<AnyEvent, "Event">;

/** A flag that others wait for. */
export const Event: RealtimeClass<Event, [config?: EventConfig], []> =
  /* @__PURE__ */ realtime(AnyEvent, OPERATIONS.Event);

// ---- Latch ----------------------------------------------------------------

/** A count down that others wait for. */
export type Latch = Realtime<AnyLatch, "Latch">;

/** A count down that others wait for. */
export const Latch: RealtimeClass<Latch, [count: number], []> =
  /* @__PURE__ */ realtime(AnyLatch, OPERATIONS.Latch);

// ---- WorkCounter ----------------------------------------------------------

/** Tasks, each handed out once. */
export type WorkCounter = Realtime<AnyWorkCounter, "WorkCounter">;

/** Tasks, each handed out once. */
export const WorkCounter: RealtimeClass<
  WorkCounter,
  [total: number, config?: WorkConfig],
  []
> = /* @__PURE__ */ realtime(AnyWorkCounter, OPERATIONS.WorkCounter);

// ---- WorkDeque ------------------------------------------------------------

/** Own work at one end, stolen from the other. */
export type WorkDeque = Realtime<AnyWorkDeque, "WorkDeque">;

/** Own work at one end, stolen from the other. */
export const WorkDeque: RealtimeClass<WorkDeque, [config: DequeConfig]> =
  /* @__PURE__ */ realtime(AnyWorkDeque, OPERATIONS.WorkDeque);

// ---- SlabPool -------------------------------------------------------------

/** Blocks of one size. */
export type SlabPool = Realtime<AnySlabPool, "SlabPool">;

/** Blocks of one size. */
export const SlabPool: RealtimeClass<SlabPool, [config: SlabConfig]> =
  /* @__PURE__ */ realtime(AnySlabPool, OPERATIONS.SlabPool);

// ---- StripedCounter -------------------------------------------------------

/** A sum that many add to. */
export type StripedCounter = Realtime<AnyStripedCounter, "StripedCounter">;

/** A sum that many add to. */
export const StripedCounter: RealtimeClass<
  StripedCounter,
  [config?: CounterConfig]
> = /* @__PURE__ */ realtime(AnyStripedCounter, OPERATIONS.StripedCounter);
