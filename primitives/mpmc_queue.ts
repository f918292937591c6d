/**
 * A bounded queue, many producers to many consumers.
 *
 * @module
 */

import {
  bytesFor,
  formatMpmc,
  mpmcBytes,
  MpmcCore,
} from "./_queue/mpmc/core.ts";
import { lookAtSlots } from "./_queue/mpmc/slots.ts";
import type { ElementOf, QueueConfig } from "./_queue/queue_core.ts";
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
} from "./_memory/region.ts";

export type { Elements } from "./_queue/elements.ts";
export { ClosedError, type Queue } from "./_queue/queue.ts";
export type { StructType } from "./_message/field.ts";
export type {
  BytesQueue,
  TypedQueue,
  TypedQueueBase,
} from "./_queue/typed_queue.ts";
export type { ElementOf, QueueConfig } from "./_queue/queue_core.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/** What `inspect` says about a slot that an agent uses, or that is damaged. */
const DOINGS = {
  push: "An agent claimed this slot to push, and has not handed it on.",
  pop: "An agent claimed this slot to pop, and has not handed it on.",
  damaged: "No ticket for this slot has this turn.",
} as const;

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (capacity, elementSize) => bytesFor(capacity, elementSize),
  behind: (region, tell) =>
    lookAtSlots(region, (doing, slot, index, turn) => {
      const what = doing === "damaged" ? doing : "claimed";
      tell(index, `slot ${slot}`, turn, DOINGS[doing], what);
    }),
};

/**
 * The core together with the forms that wait.
 *
 * @ignore
 */
export const WaitingMpmc: WaitingClass<"mpmc_queue"> = /* @__PURE__ */ waiting(
  MpmcCore,
);

/**
 * A bounded queue, many producers to many consumers.
 *
 * Jobs for any number of workers:
 *
 * ```ts
 * import { MpmcQueue } from "@weft/sync";
 *
 * const N = 3;
 * const jobs = MpmcQueue.create({ capacity: 64 }); // post jobs.handle
 * const send = async () => { // it waits for the loop below while it is full
 *   for (let job = 0; job < N; job++) await jobs.pushIntAsync(job);
 *   jobs.close();
 * };
 * const sent = send();
 * for await (const job of jobs) console.log(job); // 0, 1, 2
 * await sent;
 * ```
 *
 * Invariant: between "free" and "filled", a slot belongs to one agent: the one
 * that moved `tail` (or `head`) past its ticket.
 * Progress: the `try` forms, `reserve` and `peek` never wait, but they are not
 * lock-free. An agent claims a slot first and publishes it later. Meanwhile
 * nobody can take the elements behind that slot, and the queue may answer
 * "empty" (or "full"). An agent that is terminated between these two steps
 * blocks the queue for ever: where agents may be terminated at any time, use
 * `LockFreeQueue`. An operation that waits throws `DamagedError` once it found
 * the same slot claimed twice, a second apart. Tickets wrap after 2^31
 * elements. This does harm only if an agent stands still between two steps
 * while exactly a multiple of 2^31 elements pass.
 * Freed when: every operation of every agent has returned, `close` included,
 * and none will begin. That it is closed and empty does not say so.
 * Fairness: first in, first out, in the order of claiming.
 * C twin: `weft_mpmc_queue`. Source: Vyukov's bounded MPMC queue; sleeping by
 * event counts (Reed and Kanodia 1979).
 *
 * Its words in memory:
 *
 * ```text
 * word 0    magic         Kind and layout version.
 * word 1    capacity      How many elements fit, a power of two.
 * word 2    element_size  Bytes of an element: 1, 2 or a multiple of 4.
 * word 3    seal          Check word over the configuration.
 * word 4    shape         A number that tells apart records with different
 *                         fields; 0 if the elements are not records, or if
 *                         nobody knows.
 * word 32   tail          bit 0      CLOSED
 *                         bits 1-31  the next ticket to push
 * word 64   head          The next ticket to pop, times 2.
 * word 96   pop_epoch     Changes when sleeping consumers must look again.
 *                         sleepers: consumers
 * word 97   pop_waiters   bits 0-30  consumers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 98   pop_gong      A gong, for agents that wait for elements here and
 *                         for others.
 *                         sleepers: agents that wait at several ends
 * word 128  push_epoch    Changes when sleeping producers must look again.
 *                         sleepers: producers
 * word 129  push_waiters  bits 0-30  producers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 130  push_gong     A gong, for agents that wait for room here and for
 *                         others.
 *                         sleepers: agents that wait at several ends
 * word 160  `capacity` slots. Each has a word `turn`, a spare word and an
 *           element, padded to a multiple of 8 bytes. The slot of ticket `t` is
 *           in place `t mod capacity`. Its `turn` is `2t` while it is free for
 *           that push, and `2t + 1` while it is filled for that pop.
 * ```
 */
export class MpmcQueue<E = number> extends WaitingMpmc<E> {
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
  static byteLength(config: QueueConfig<number, unknown>): number {
    return mpmcBytes(untyped(config));
  }

  /**
   * Allocates an empty queue.
   *
   * @throws {TypeError} If `config` is not a queue's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create<const Size extends number = 4, F = never>(
    config: QueueConfig<Size, F>,
  ): [F] extends [never] ? MpmcQueue<ElementOf<NoInfer<Size>>>
    : TypedQueue<NoInfer<F>, "mpmc_queue">;
  static create(config: QueueConfig): unknown {
    return made(
      config,
      (bytes) => MpmcQueue.init(allocate(mpmcBytes(bytes)), 0, bytes),
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
    config: QueueConfig<Size, F>,
  ): [F] extends [never] ? MpmcQueue<ElementOf<NoInfer<Size>>>
    : TypedQueue<NoInfer<F>, "mpmc_queue">;
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config: QueueConfig,
  ): unknown {
    return made(config, (bytes) => {
      formatMpmc(memory, byteOffset, bytes);
      return new MpmcQueue(memory, byteOffset);
    });
  }

  /**
   * Attaches to the queue whose handle came in a message.
   *
   * @throws {TypeError} If the handle names another kind, or no queue is there.
   */
  static from<E = number, F = never>(
    handle: Handle<"mpmc_queue">,
    config?: { readonly element: StructType<F> },
  ): [F] extends [never] ? MpmcQueue<E> : TypedQueue<NoInfer<F>, "mpmc_queue">;
  static from(
    handle: Handle<"mpmc_queue">,
    config?: { readonly element: StructType },
  ): unknown {
    const queue = new MpmcQueue(...fromHandle("mpmc_queue", handle));
    return config === undefined ? queue : elementOf(config).typed(queue);
  }
}
