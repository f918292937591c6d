/**
 * Queues and record rings whose hot operations run in the kernel.
 *
 * @module
 */

import type { Handle, Memory, Region } from "../_memory/region.ts";
import {
  byteLengthOf,
  bytesOf,
  type Elements,
  getBytes,
} from "../_queue/elements.ts";
import { type Operating, type Queue, waiting } from "../_queue/queue.ts";
import type {
  ElementOf,
  End,
  QueueConfig,
  QueueCore,
} from "../_queue/queue_core.ts";
import {
  formatLockFree,
  lockFreeBytes,
  type LockFreeQueueConfig,
} from "../_queue/lock_free/config.ts";
import { LockFreeCore } from "../_queue/lock_free/core.ts";
import { formatMpmc, mpmcBytes, MpmcCore } from "../_queue/mpmc/core.ts";
import { formatSpsc, spscBytes } from "../_queue/spsc/config.ts";
import { SpscCore } from "../_queue/spsc/core.ts";
import { assertMayBlock } from "../_wait/wait.ts";
import { agentId } from "../agent.ts";
import {
  RecordRing as AnyRecordRing,
  type RecordRingConfig,
} from "../record_ring.ts";
import { type Pieces, piecesOf } from "../spsc_queue.ts";
import {
  type InKernel,
  type InMemory,
  inMemory,
  isWord,
  type KernelClass,
  kernelClass,
  type Parts,
  Places,
} from "./_class.ts";
import type { ElementKernel, Kernels } from "./_functions.ts";
import { EBUSY, NO_VALUE } from "./_instance.ts";
import * as TEXT from "./_text.ts";

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
      if (kernel !== undefined && isWord(value)) {
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
  readonly #id = agentId();
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
    if (id === this.#id) this.pushing = this.popping = undefined;
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
    if (element !== undefined) this.popping = undefined;
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

/** An object of the class {@linkcode SpscQueue}. */
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

/** An object of the class {@linkcode MpmcQueue}. */
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

/** An object of the class {@linkcode LockFreeQueue}. */
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
    const record = super.peek();
    // The next pop takes this record.
    if (record !== undefined) this.#popping = undefined;
    return record;
  }

  override consume(): void {
    super.consume();
    this.#popping = this.kernel;
  }

  override read(fn: (record: Uint8Array) => void, limit?: number): number {
    const popping = this.#popping;
    this.#popping = undefined; // JavaScript refuses to pop within `fn`
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
    const record = kernel.peek(this.at, this.#id);
    if (record === 0) return undefined;
    const at = (record - this.at) >>> 0;
    const length = this.#words[(at >>> 2) - 2]! >>> 2;
    if (length > most) {
      this.unpeek(); // so that JavaScript finds it, and says that it is longer
      return undefined;
    }
    getBytes(this.copier, this.#bytes, dst, at, length);
    kernel.consume(this.at);
    return length;
  }
}

/** An object of the class {@linkcode RecordRing}. */
export interface RecordRing extends AnyRecordRing, InKernel {}

/**
 * A ring of records of any length. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const RecordRing: KernelClass<RecordRing, [config: RecordRingConfig]> =
  /* @__PURE__ */ kernelClass(RecordRingInKernel);

/** The answer of `pop_int` if there is no element. */
const NO_ELEMENT = 4294967306; // 2^32 + EBUSY

/** Whether `array` holds `n` elements. */
function holds(array: Elements, n: number, elementSize: number): boolean {
  return isWord(n) && n >= 0 && byteLengthOf(array) >= n * elementSize;
}
