/**
 * Operations that never block and never allocate. They are for AudioWorklets,
 * and for the main threads of pages while they draw. The classes work on the
 * same memory as those of `@weft/sync`, so the other side may use either. They
 * have no operation that blocks, awaits or makes objects. Creating and
 * attaching allocate, so do that before the first deadline. If you use
 * `reserve` and `peek` of a queue, call each once before the first deadline,
 * too: the first call makes the views of all elements.
 *
 * On a closed queue no operation throws. Pushes return false, pops return
 * undefined or false, and `closed` tells why.
 *
 * `Mutex` and `RwLock` are left out: a guard is an object, and its holder makes
 * others wait. Classes that only wait, and classes whose messages must be
 * allocated, are left out, too.
 *
 * Arrays of 32-bit integers, of floats and of bytes are copied without a view.
 * For an array of any other type a view is made, unless the same array was used
 * last; `Snapshot` does this for every type except `Int32Array`. A float that
 * is NaN may become another NaN.
 *
 * C twin: `#define WEFT_REALTIME` before `weft.h` is included.
 *
 * @example Samples, out of an AudioWorklet
 * ```ts
 * import { SpscQueue } from "@weft/sync/realtime";
 *
 * const blocks = SpscQueue.create({ capacity: 32, elementSize: 128 * 4 });
 * // Post blocks.handle to a worker, which may wait: SpscQueue.from(handle) of
 * // "@weft/sync". In process(inputs):
 * const samples = new Float32Array(128);
 * if (!blocks.tryPush(samples)) throw new Error("the worker is too slow");
 * ```
 *
 * @module
 */

import { describe } from "./_memory/describe.ts";
import type { CopyingClass } from "./_queue/elements.ts";
import { LoopCopier } from "./_queue/loop_copier.ts";
import type { QueueConfig } from "./_queue/queue_core.ts";
import {
  formatRecords,
  recordBytes,
  type RecordRingConfig,
} from "./_queue/record/config.ts";
import { RecordCore } from "./_queue/record/core.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  type Memory,
  Region,
} from "./_memory/region.ts";
import { agentId } from "./agent.ts";
import { StripedCounter as AnyStripedCounter } from "./striped_counter.ts";
import type { CounterConfig } from "./striped_counter.ts";
import { Event as AnyEvent, type EventConfig } from "./event.ts";
import { Latch as AnyLatch } from "./latch.ts";
import { WaitGroup as AnyWaitGroup } from "./wait_group.ts";
import {
  formatLockFree,
  lockFreeBytes,
  type LockFreeQueueConfig,
} from "./_queue/lock_free/config.ts";
import { LockFreeCore } from "./_queue/lock_free/core.ts";
import { formatMpmc, mpmcBytes, MpmcCore } from "./_queue/mpmc/core.ts";
import {
  Semaphore as AnySemaphore,
  type SemaphoreConfig,
} from "./semaphore.ts";
import { Snapshot as AnySnapshot } from "./snapshot.ts";
import type { SnapshotConfig } from "./snapshot.ts";
import { type SlabConfig, SlabPool as AnySlabPool } from "./slab_pool.ts";
import { formatSpsc, spscBytes } from "./_queue/spsc/config.ts";
import { SpscCore } from "./_queue/spsc/core.ts";
import {
  type WorkConfig,
  WorkCounter as AnyWorkCounter,
} from "./work_counter.ts";
import { type DequeConfig, WorkDeque as AnyWorkDeque } from "./work_deque.ts";

export type { Elements } from "./_queue/elements.ts";
export type { QueueConfig, QueueCore } from "./_queue/queue_core.ts";
export {
  type Handle,
  isSupported,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";
export type { CounterConfig } from "./striped_counter.ts";
export type { EventConfig } from "./event.ts";
export type { LockFreeQueueConfig } from "./lock_free_queue.ts";
export type { RecordRingConfig } from "./_queue/record/config.ts";
export type { SemaphoreConfig } from "./semaphore.ts";
export type { SnapshotConfig } from "./snapshot.ts";
export type { SlabConfig } from "./slab_pool.ts";
export type { WorkConfig, WorkRange } from "./work_counter.ts";
export type { DequeConfig } from "./work_deque.ts";

export type { LockFreeCore, MpmcCore, RecordCore, SpscCore };

// The classes of `@weft/sync`, as types; the types here pick members from them.
export type {
  AnyEvent,
  AnyLatch,
  AnySemaphore,
  AnySlabPool,
  AnySnapshot,
  AnyStripedCounter,
  AnyWaitGroup,
  AnyWorkCounter,
  AnyWorkDeque,
};

/** A class that has only realtime operations. */
export interface RealtimeClass<
  T,
  Config extends readonly unknown[],
  Size extends readonly unknown[] = Config,
> {
  /** Attaches, as the class of `@weft/sync` does. */
  new (memory: Memory, byteOffset?: number | bigint): T;
  /** How many bytes it occupies. */
  byteLength(...config: Size): number;
  /** Allocates memory, and initializes it. */
  create(...config: Config): T;
  /** Initializes unused memory. */
  init(memory: Memory, byteOffset: number | bigint, ...config: Config): T;
  /** Attaches to the primitive whose handle came in a message. */
  from(handle: Handle): T;
}

const SNAPSHOT = ["version", "write", "read"] as const;
const SEMAPHORE = ["available", "tryAcquire", "drain", "release"] as const;
const EVENT = ["autoReset", "isSet", "set", "reset", "tryWait"] as const;
const LATCH = ["count", "countDown", "tryWait"] as const;
const WAIT_GROUP = ["count", "add", "done", "tryWait"] as const;
const WORK_COUNTER = [
  "remaining",
  "completed",
  "cancelled",
  "next",
  "done",
] as const;
const WORK_DEQUE = ["size", "push", "pop", "steal"] as const;
const SLAB_POOL = ["available", "allocate", "free"] as const;
const STRIPED_COUNTER = ["stripes", "add", "sum"] as const;

/** The operations that each class keeps of the class in `@weft/sync`. */
export const OPERATIONS = {
  Snapshot: SNAPSHOT,
  Semaphore: SEMAPHORE,
  Event: EVENT,
  Latch: LATCH,
  WaitGroup: WAIT_GROUP,
  WorkCounter: WORK_COUNTER,
  WorkDeque: WORK_DEQUE,
  SlabPool: SLAB_POOL,
  StripedCounter: STRIPED_COUNTER,
} as const;

/**
 * The type `Whole`, reduced to the operations that {@linkcode OPERATIONS} lists
 * under `Name`, and to the fields for its configuration and its place.
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

/** The class `Whole`, reduced to the operations in `kept`. */
function realtime<T, Config extends readonly unknown[]>(
  Whole: new (memory: Memory, byteOffset?: number | bigint) => Region,
  kept: readonly (string & keyof T)[],
): RealtimeClass<T, Config> {
  const All = Whole as unknown as RealtimeClass<Region, Config>;
  class Realtime extends All {
    static override create(...config: Config): Region {
      return this.from(super.create(...config));
    }
    static override init(
      memory: Memory,
      byteOffset: number | bigint,
      ...config: Config
    ): Region {
      return this.from(super.init(memory, byteOffset, ...config));
    }
    static override from(handle: Handle): Region {
      const { buffer, byteOffset } = super.from(handle);
      return new this(buffer, byteOffset);
    }
  }
  const stays = new Set<string | symbol>([...kept, "constructor"]);
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

/**
 * Fails if an operation was given a timeout. Types allow none; plain JavaScript
 * that was written for the whole class may pass one.
 *
 * @throws {TypeError} If it is neither undefined nor 0.
 */
function assertNoTimeout(timeout: unknown): void {
  if (timeout === undefined || timeout === 0) return;
  throw new TypeError(
    `Realtime operations take no timeout: received ${describe(timeout)}`,
  );
}

/** The operations of queues and rings that take a timeout elsewhere. */
const TIMED = ["tryPushInt", "tryPopInt", "tryPush", "tryPopInto"] as const;

/** A class of queues or rings whose operations never wait. */
type CoreClass = new (
  memory: Memory,
  byteOffset: number | bigint | undefined,
  Copier: CopyingClass,
  id: number,
) => SpscCore | MpmcCore | LockFreeCore | RecordCore;

/** The class `Core`, changed so that it copies without allocating. */
function realtimeCore<T, Config>(
  kind: string,
  Core: CoreClass,
  byteLength: (config: Config) => number,
  format: (memory: Memory, byteOffset: number | bigint, config: Config) => void,
): RealtimeClass<T, [config: Config]> {
  class Realtime extends (Core as unknown as typeof AnyCore) {
    #views: Uint8Array[] | undefined;
    constructor(memory: Memory, byteOffset?: number | bigint) {
      super(memory, byteOffset, LoopCopier, agentId());
    }
    static byteLength(config: Config): number {
      return byteLength(config);
    }
    static create(config: Config): Realtime {
      return this.init(allocate(byteLength(config)), 0, config);
    }
    static init(
      memory: Memory,
      byteOffset: number | bigint,
      config: Config,
    ): Realtime {
      format(memory, byteOffset, config);
      return new this(memory, byteOffset);
    }
    static from(handle: Handle): Realtime {
      return new this(...fromHandle(kind, handle));
    }
    protected override viewOfSlot(slot: number): Uint8Array {
      return (this.#views ??= this.#makeViews())[slot]!;
    }
    // This is a method of its own, because a closure in a method costs each
    // call of that method a context.
    #makeViews(): Uint8Array[] {
      return Array.from(
        { length: this.slots },
        (_, slot) => this.newViewOfSlot(slot),
      );
    }
  }
  const methods = Core.prototype as unknown as Record<
    string,
    ((...args: unknown[]) => unknown) | undefined
  >;
  for (const name of TIMED) {
    const method = methods[name];
    if (method === undefined) continue;
    const isPop = method.length === 0;
    Object.defineProperty(Realtime.prototype, name, {
      value(first?: unknown, second?: unknown) {
        assertNoTimeout(isPop ? first : second);
        return method.call(this, first);
      },
    });
  }
  return Realtime as unknown as RealtimeClass<T, [config: Config]>;
}

/** The members that the four cores have in common here. */
declare class AnyCore {
  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
    id: number,
  );
  protected readonly slots: number;
  protected viewOfSlot(slot: number): Uint8Array;
  protected newViewOfSlot(slot: number): Uint8Array;
}

// ---- SpscQueue ------------------------------------------------------------

/** A queue from one producer to one consumer. */
export type SpscQueue = SpscCore;

/** A queue from one producer to one consumer. */
export const SpscQueue: RealtimeClass<SpscQueue, [config: QueueConfig]> =
  /* @__PURE__ */ realtimeCore("spsc_queue", SpscCore, spscBytes, formatSpsc);

// ---- MpmcQueue ------------------------------------------------------------

/** The fastest queue from many producers to many consumers. */
export type MpmcQueue = MpmcCore;

/** The fastest queue from many producers to many consumers. */
export const MpmcQueue: RealtimeClass<MpmcQueue, [config: QueueConfig]> =
  /* @__PURE__ */ realtimeCore("mpmc_queue", MpmcCore, mpmcBytes, formatMpmc);

// ---- LockFreeQueue --------------------------------------------------------

/** An object of the class {@linkcode LockFreeQueue}. */
export type LockFreeQueue = LockFreeCore;

/**
 * A queue from many producers to many consumers, any of which may be
 * terminated.
 */
export const LockFreeQueue: RealtimeClass<
  LockFreeQueue,
  [config: LockFreeQueueConfig]
> = /* @__PURE__ */ realtimeCore(
  "lock_free_queue",
  LockFreeCore,
  lockFreeBytes,
  formatLockFree,
);

// ---- RecordRing -----------------------------------------------------------

/** Byte records of any length, from many producers to one consumer. */
export type RecordRing = RecordCore;

/** Byte records of any length, from many producers to one consumer. */
export const RecordRing: RealtimeClass<RecordRing, [config: RecordRingConfig]> =
  /* @__PURE__ */ realtimeCore(
    "record_ring",
    RecordCore,
    recordBytes,
    formatRecords,
  );

// ---- Snapshot -------------------------------------------------------------

/** The latest value of some bytes. */
export type Snapshot = Realtime<AnySnapshot, "Snapshot">;

/** Copies without allocating. */
class LoopSnapshot extends AnySnapshot {
  protected override readonly copier: LoopCopier = new LoopCopier(
    new Int32Array(this.buffer, this.byteOffset, this.byteLength / 4),
  );
}

/** The latest value of some bytes. */
export const Snapshot: RealtimeClass<Snapshot, [config: SnapshotConfig]> =
  /* @__PURE__ */ realtime(LoopSnapshot, SNAPSHOT);

// ---- Semaphore ------------------------------------------------------------

/** A number of permits. */
export interface Semaphore
  extends Omit<Realtime<AnySemaphore, "Semaphore">, "tryAcquire"> {
  /** Takes `n` permits, 1 unless given, if they are free now. */
  tryAcquire(n?: number): boolean;
}

/** Takes no timeout, so that it never blocks. */
class SemaphoreAtOnce extends AnySemaphore {
  override tryAcquire(n = 1, timeout?: number): boolean {
    assertNoTimeout(timeout);
    return super.tryAcquire(n);
  }
}

/** A number of permits. */
export const Semaphore: RealtimeClass<
  Semaphore,
  [permits: number, config?: SemaphoreConfig]
> = /* @__PURE__ */ realtime(SemaphoreAtOnce, SEMAPHORE);

// ---- Event ----------------------------------------------------------------

/** A flag that others wait for. */
export interface Event extends Omit<Realtime<AnyEvent, "Event">, "tryWait"> {
  /**
   * Whether the event is set now. With automatic reset, it takes the signal.
   */
  tryWait(): boolean;
}

/** Takes no timeout, so that it never blocks. */
class EventAtOnce extends AnyEvent {
  override tryWait(timeout?: number): boolean {
    assertNoTimeout(timeout);
    return super.tryWait();
  }
}

/** A flag that others wait for. */
export const Event: RealtimeClass<Event, [config?: EventConfig], []> =
  /* @__PURE__ */ realtime(EventAtOnce, EVENT);

// ---- Latch ----------------------------------------------------------------

/** A count down that others wait for. */
export interface Latch extends Omit<Realtime<AnyLatch, "Latch">, "tryWait"> {
  /** Whether the latch is open now. */
  tryWait(): boolean;
}

/** Takes no timeout, so that it never blocks. */
class LatchAtOnce extends AnyLatch {
  override tryWait(timeout?: number): boolean {
    assertNoTimeout(timeout);
    return super.tryWait();
  }
}

/** A count down that others wait for. */
export const Latch: RealtimeClass<Latch, [count: number], []> =
  /* @__PURE__ */ realtime(LatchAtOnce, LATCH);

// ---- WaitGroup ------------------------------------------------------------

/** A count of tasks that others wait for. */
export interface WaitGroup
  extends Omit<Realtime<AnyWaitGroup, "WaitGroup">, "tryWait"> {
  /** Whether the count is 0 now. */
  tryWait(): boolean;
}

/** Takes no timeout, so that it never blocks. */
class WaitGroupAtOnce extends AnyWaitGroup {
  override tryWait(timeout?: number): boolean {
    assertNoTimeout(timeout);
    return super.tryWait();
  }
}

/** A count of tasks that others wait for. */
export const WaitGroup: RealtimeClass<WaitGroup, []> = /* @__PURE__ */ realtime(
  WaitGroupAtOnce,
  WAIT_GROUP,
);

// ---- WorkCounter ----------------------------------------------------------

/** Tasks, each handed out once. */
export type WorkCounter = Realtime<AnyWorkCounter, "WorkCounter">;

/** Tasks, each handed out once. */
export const WorkCounter: RealtimeClass<
  WorkCounter,
  [total: number, config?: WorkConfig],
  []
> = /* @__PURE__ */ realtime(AnyWorkCounter, WORK_COUNTER);

// ---- WorkDeque ------------------------------------------------------------

/** An object of the class {@linkcode WorkDeque}. */
export type WorkDeque = Realtime<AnyWorkDeque, "WorkDeque">;

/**
 * A deque whose owner works at one end, and whose thieves steal at the other.
 */
export const WorkDeque: RealtimeClass<WorkDeque, [config: DequeConfig]> =
  /* @__PURE__ */ realtime(AnyWorkDeque, WORK_DEQUE);

// ---- SlabPool -------------------------------------------------------------

/** Blocks of one size. */
export type SlabPool = Realtime<AnySlabPool, "SlabPool">;

/** Blocks of one size. */
export const SlabPool: RealtimeClass<SlabPool, [config: SlabConfig]> =
  /* @__PURE__ */ realtime(AnySlabPool, SLAB_POOL);

// ---- StripedCounter -------------------------------------------------------

/** A sum that many add to. */
export type StripedCounter = Realtime<AnyStripedCounter, "StripedCounter">;

/** A sum that many add to. */
export const StripedCounter: RealtimeClass<
  StripedCounter,
  [config?: CounterConfig]
> = /* @__PURE__ */ realtime(AnyStripedCounter, STRIPED_COUNTER);
