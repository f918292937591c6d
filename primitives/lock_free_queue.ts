/**
 * A bounded queue, many producers to many consumers, that no agent can block.
 *
 * @module
 */

import {
  formatLockFree,
  lockFreeBytes,
  type LockFreeQueueConfig,
} from "./_queue/lock_free/config.ts";
import { bytesFor, entriesFor } from "./_queue/lock_free/sizes.ts";
import {
  CAPACITY,
  CLOSED,
  ENTRIES,
  LOCK_FREE,
  LockFreeCore,
} from "./_queue/lock_free/core.ts";
import type { ElementOf } from "./_queue/queue_core.ts";
import { waiting, type WaitingClass } from "./_queue/queue.ts";
import type { StructType } from "./_message/field.ts";
import { elementOf, made, untyped } from "./_message/typed.ts";
import type { TypedQueue } from "./_queue/typed_queue.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import {
  allocate,
  fromHandle,
  type Handle,
  type Memory,
  type WordsInspection,
} from "./_memory/region.ts";

export type { Elements } from "./_queue/elements.ts";
export { DamagedError } from "./_memory/damaged.ts";
export { ClosedError, type Queue } from "./_queue/queue.ts";
export type { StructType } from "./_message/field.ts";
export type {
  BytesQueue,
  TypedQueue,
  TypedQueueBase,
} from "./_queue/typed_queue.ts";
export type { LockFreeQueueConfig } from "./_queue/lock_free/config.ts";
export { LockFreeCore } from "./_queue/lock_free/core.ts";
export type { ElementOf, QueueConfig } from "./_queue/queue_core.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/** The most entries that `inspect` looks at. */
const MOST_ENTRIES = 65536;

/** @ignore */
export const INSPECTION: WordsInspection = LOCK_FREE;

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (capacity, elementSize) => bytesFor(capacity, elementSize),
  behind: (region, tell) => {
    const entries = entriesFor(region[CAPACITY]!);
    for (let i = 0; i < Math.min(2 * entries, MOST_ENTRIES); i++) {
      const entry = Atomics.load(region, ENTRIES + i);
      const slot = entry & entries - 1;
      // There is one slot fewer than there are entries.
      const most = entry & entries ? entries - 2 : CLOSED;
      if (slot <= most) continue;
      tell(
        ENTRIES + i,
        `entry ${i}`,
        entry,
        "There is no such slot.",
      );
    }
  },
};

/**
 * The core together with the forms that wait.
 *
 * @ignore
 */
export const WaitingLockFree: WaitingClass<
  "lock_free_queue",
  Pick<LockFreeCore, "agents" | "repair">
> = /* @__PURE__ */ waiting(
  LockFreeCore,
);

/**
 * A bounded queue from many producers to many consumers that is truly
 * lock-free: wherever one agent stops or is terminated, the others continue.
 *
 * Where workers may be terminated:
 *
 * ```ts
 * import { LockFreeQueue } from "@weft/sync";
 *
 * const N = 3;
 * const jobs = LockFreeQueue.create({ capacity: 64 }); // post jobs.handle
 * const send = async () => { // it waits for the loop below while it is full
 *   for (let job = 0; job < N; job++) await jobs.pushIntAsync(job);
 *   jobs.close();
 * };
 * const sent = send();
 * for await (const job of jobs) console.log(job); // 0, 1, 2
 * await sent;
 * ```
 *
 * An element lies in a slot, and an entry names that slot. Ticket t has entry t
 * mod n, in lap t / n. With n = 2^k an entry has, from bit 0 on, k bits for a
 * slot, one bit FILLED, and 31 - k bits for the lap:
 *
 * ```text
 * lap, not FILLED, 0   free for the put with this lap's ticket
 * lap, not FILLED, 1   closed: there will be none
 * lap, FILLED, slot    put in, for the take with this lap's ticket
 * lap + 1, ...         taken
 * ```
 *
 * A put, a take or `close` changes a ring by one exchange of a whole entry. The
 * words `tail` and `head` only say where to begin looking.
 *
 * Invariant: tickets are put in one after the other, and taken one after the
 * other: an agent moves to a ticket only after it saw that the one before is
 * done. The queue is linearizable, and so are "empty", "full" and `close`. If
 * the first ticket that was not taken has a free entry, that entry alone says
 * "empty". If a ticket is not taken yet, and it lies `capacity` tickets before
 * the first free one, its entry says "full". A batch is a series of single
 * operations. A reserved slot takes up no room, and `commit` always finds room:
 * only `commit` may go beyond `capacity`.
 * Progress: the `try` forms, `reserve`, `commit`, `peek`, `consume` and `close`
 * are lock-free. An agent that is terminated at any step keeps at most one
 * slot, and the element in it if the agent was taking one. There are n - 1
 * slots for `capacity` elements, so spare ones remain. A push may answer "full"
 * too early only while more than `agents` agents (the larger of 8 and
 * `capacity`) are inside an operation or were terminated there. `repair`
 * recovers the lost slots. Wrap: a ticket has 31 bits. An agent mistakes one
 * lap for another only if it stands still between its look at an entry and its
 * exchange while exactly a multiple of 2^31 elements pass; it notices any other
 * number of them.
 * Freed when: every operation of every agent has returned, `close` included,
 * and none will begin. That it is closed and empty does not say so.
 * Fairness: first in, first out. C twin: `weft_lock_free_queue`.
 * Source: laps in entries, and slots that circulate between two rings, are from
 * Nikolaev's SCQ (2019); ends that lag behind are from Tsigas and Zhang (2001).
 * Unlike SCQ, this queue does not draw tickets by `add`: then it could not
 * answer "full" exactly, and would take twice as many atomic steps.
 *
 * Its words in memory:
 *
 * ```text
 * word 0    magic         Kind and layout version.
 * word 1    capacity      How many elements fit, a power of two.
 * word 2    element_size  Bytes of an element, a multiple of 4.
 * word 3    seal          Check word over the configuration.
 * word 4    shape         A number that tells apart records with different
 *                         fields; 0 if the elements are not records, or if
 *                         nobody knows.
 * word 32   tail          A ticket to push, at most the next one.
 * word 64   head          A ticket to pop, at most the next one.
 * word 96   free_tail     The same as `tail`, for the ring of free slots.
 * word 128  free_head     The same as `head`, for the ring of free slots.
 * word 160  pop_epoch     Changes when sleeping consumers must look again.
 *                         sleepers: consumers
 * word 161  pop_waiters   bits 0-30  consumers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 162  pop_gong      A gong, for agents that wait for elements here and
 *                         for others.
 *                         sleepers: agents that wait at several ends
 * word 192  push_epoch    Changes when sleeping producers must look again.
 *                         sleepers: producers
 * word 193  push_waiters  bits 0-30  producers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 194  push_gong     A gong, for agents that wait for room here and for
 *                         others.
 *                         sleepers: agents that wait at several ends
 * word 224  `n` entries of the queue, `n` entries of the ring of free slots,
 *           and `n - 1` slots of `element_size` bytes. `n` is twice `capacity`,
 *           but at least 16. The entry of ticket `t` is in place `t mod n`.
 *           With `n = 2^k` it holds, from bit 0 on, `k` bits for a slot, one
 *           bit FILLED, and the lap `t / n`. An entry that is not FILLED is
 *           free for the ticket of its lap if the slot bits are 0, and the end
 *           of a closed queue if they are 1.
 * ```
 */
export class LockFreeQueue<E = number> extends WaitingLockFree<E> {
  /**
   * Attaches to the queue at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no queue of this kind
   * and layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset);
  }

  /**
   * The bytes a queue of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not a queue's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(
    config: LockFreeQueueConfig<number, unknown>,
  ): number {
    return lockFreeBytes(untyped(config));
  }

  /**
   * Allocates an empty queue.
   *
   * @throws {TypeError} If `config` is not a queue's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create<const Size extends number = 4, F = never>(
    config: LockFreeQueueConfig<Size, F>,
  ): [F] extends [never] ? LockFreeQueue<ElementOf<NoInfer<Size>>>
    : TypedQueue<NoInfer<F>, "lock_free_queue">;
  static create(config: LockFreeQueueConfig): unknown {
    return made(
      config,
      (bytes) => LockFreeQueue.init(allocate(lockFreeBytes(bytes)), 0, bytes),
    );
  }

  /**
   * Initializes an empty queue in unused memory.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not a queue's
   * configuration.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init<const Size extends number = 4, F = never>(
    memory: Memory,
    byteOffset: number | bigint,
    config: LockFreeQueueConfig<Size, F>,
  ): [F] extends [never] ? LockFreeQueue<ElementOf<NoInfer<Size>>>
    : TypedQueue<NoInfer<F>, "lock_free_queue">;
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config: LockFreeQueueConfig,
  ): unknown {
    return made(config, (bytes) => {
      formatLockFree(memory, byteOffset, bytes);
      return new LockFreeQueue(memory, byteOffset);
    });
  }

  /**
   * Attaches to the queue whose handle came in a message.
   *
   * @throws {TypeError} If the handle names another kind, or no queue is there.
   */
  static from<E = number, F = never>(
    handle: Handle<"lock_free_queue">,
    config?: { readonly element: StructType<F> },
  ): [F] extends [never] ? LockFreeQueue<E>
    : TypedQueue<NoInfer<F>, "lock_free_queue">;
  static from(
    handle: Handle<"lock_free_queue">,
    config?: { readonly element: StructType },
  ): unknown {
    const queue = new LockFreeQueue(...fromHandle("lock_free_queue", handle));
    return config === undefined ? queue : elementOf(config).typed(queue);
  }
}
