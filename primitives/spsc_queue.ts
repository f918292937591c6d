/**
 * A bounded queue from one producer to one consumer.
 *
 * @module
 */

import type { ElementOf, End, QueueConfig } from "./_queue/queue_core.ts";
import { waiting, type WaitingClass } from "./_queue/queue.ts";
import { bytesFor, DATA, SpscCore } from "./_queue/spsc/core.ts";
import { formatSpsc, spscBytes } from "./_queue/spsc/config.ts";
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
export { DamagedError } from "./_memory/damaged.ts";
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

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (capacity, elementSize) => bytesFor(capacity, elementSize),
};

/**
 * The core together with the forms that wait.
 *
 * @ignore
 */
export const WaitingSpsc: WaitingClass<
  "spsc_queue",
  Pick<
    SpscCore,
    | "abandon"
    | "abandonRoles"
    | "placesToPush"
    | "pushPlaces"
    | "placesToPop"
    | "popPlaces"
    | "nextSlot"
  >
> = /* @__PURE__ */ waiting(SpscCore);

/**
 * Elements in place, one behind the other: those up to the end of the queue's
 * memory, and those that follow at its beginning, of which there may be none.
 */
export type Pieces = readonly [first: Uint8Array, second: Uint8Array];

/**
 * A bounded queue from one producer to one consumer. It is the fastest queue of
 * this library.
 *
 * From one agent to another:
 *
 * ```ts
 * import { SpscQueue } from "@weft/sync";
 *
 * const queue = SpscQueue.create({ capacity: 64 }); // post queue.handle
 * queue.tryPushInt(7);
 * if (queue.tryPopInt() !== 7) throw new Error("lost");
 * ```
 *
 * Only the producer moves `tail` and only the consumer moves `head`, so each
 * reads its own index by a plain read. Beside its own index, each keeps the
 * value of the other's index that it saw last. It reads the other's index again
 * only when the kept value says "full" or "empty".
 *
 * Invariant: head <= tail <= head + capacity, modulo 2^30 elements.
 * Progress: every operation is wait-free, except the blocking and async forms.
 * If an agent is terminated at any step, everything it published stays
 * readable, and after `abandon(id)` a successor continues from the shared
 * words. Indices wrap after 2^30 elements; this is harmless, because only one
 * side writes each index. The queue is linearizable, and so are the answers
 * "empty" and "full". A batch sees only the elements, or the room, that were
 * there when it began.
 * Freed when: every operation of every agent has returned, `close` included,
 * and none will begin. That it is closed and empty does not say so.
 * Fairness: first in, first out. C twin: `weft_spsc_queue`.
 * Source: Lamport 1977; cached indices, Rigtorp's SPSCQueue; batches and one
 * exchange per publication, from our own measurements.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic         Kind and layout version.
 * word 1   capacity      How many elements fit, a power of two.
 * word 2   element_size  Bytes of an element: 1, 2 or a multiple of 4.
 * word 3   seal          Check word over the configuration.
 * word 4   shape         A number that tells apart records with different
 *                        fields; 0 if the elements are not records, or if
 *                        nobody knows.
 * word 32  tail          bit 0      WAITING: the consumer sleeps on this word
 *                        bit 1      CLOSED
 *                        bits 2-31  the next index to push
 *                        sleepers: the consumer
 * word 33  head_cache    The value of `head` that the producer saw last.
 * word 34  producer      The agent that pushes, from its first push on, or 0.
 * word 35  tail_bell     In native programs, the flags of `tail`; otherwise 0.
 *                        sleepers: the consumer
 * word 36  tail_gong     A gong, for an agent that waits for elements here and
 *                        for others.
 *                        sleepers: agents that wait at several ends
 * word 64  head          bit 0      WAITING: the producer sleeps on this word
 *                        bit 1      CLOSED
 *                        bits 2-31  the next index to pop
 *                        sleepers: the producer
 * word 65  tail_cache    The value of `tail` that the consumer saw last.
 * word 66  consumer      The agent that pops, from its first pop on, or 0.
 * word 67  head_bell     In native programs, the flag of `head`; otherwise 0.
 *                        sleepers: the producer
 * word 68  head_gong     A gong, for an agent that waits for room here and for
 *                        others.
 *                        sleepers: agents that wait at several ends
 * word 96  `capacity` elements of `element_size` bytes. Index `i` lies in place
 *          `i mod capacity`.
 * ```
 */
export class SpscQueue<E = number> extends WaitingSpsc<E> {
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
   * Reserves room for up to `n` elements, as many as there is room for. Returns
   * their bytes in two pieces, of which the second one may be empty, or
   * undefined if the queue is full. Write to the first piece and then to the
   * second, call `commitMany`, and do not use the pieces afterwards. Until
   * then, this view's other pushes throw a TypeError.
   *
   * @example Samples, without a copy
   * ```ts
   * import { SpscQueue } from "@weft/sync";
   *
   * const N = 20;
   * const samples = SpscQueue.create({ capacity: 8 });
   * const block = new Float32Array(3);
   * let sent = 0, received = 0;
   * while (received < N) {
   *   const pieces = sent < N ? samples.reserveMany(N - sent) : undefined;
   *   let written = 0;
   *   for (const { buffer, byteOffset, length } of pieces ?? []) {
   *     new Float32Array(buffer, byteOffset, length / 4).fill(0.5);
   *     written += length / 4;
   *   }
   *   if (pieces !== undefined) samples.commitMany(written);
   *   sent += written;
   *   received += samples.tryPopMany(block, 3); // in another agent
   *   if (block[0] !== 0.5) throw block;
   * }
   * ```
   *
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30.
   * @throws {TypeError} If elements are reserved already, or another agent is
   * the producer.
   * @throws {ClosedError} If the queue was closed.
   */
  reserveMany(n: number): Pieces | undefined {
    return piecesOf(this, "push", this.placesToPush(n));
  }

  /**
   * Appends the first `n` of the elements that are reserved, and gives up the
   * others. With 0 it appends nothing.
   *
   * @throws {RangeError} If `n` is not an integer from 0 to how many are
   * reserved.
   * @throws {TypeError} If nothing is reserved.
   * @throws {ClosedError} If the queue was closed meanwhile.
   */
  commitMany(n: number): void {
    this.pushPlaces(n);
  }

  /**
   * Shows up to `n` of the oldest elements in place, as many as there are.
   * Returns their bytes as `reserveMany` does, or undefined if the queue is
   * empty. Read them, call `consumeMany`, and do not use the pieces afterwards.
   *
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30.
   * @throws {TypeError} If another agent is the consumer.
   * @throws {ClosedError} If the queue is closed and empty.
   */
  peekMany(n: number): Pieces | undefined {
    return piecesOf(this, "pop", this.placesToPop(n));
  }

  /**
   * Removes the first `n` of the elements that were peeked at; the others stay.
   *
   * @throws {RangeError} If `n` is not an integer from 0 to how many those
   * were.
   * @throws {TypeError} If no element was peeked at.
   */
  consumeMany(n: number): void {
    this.popPlaces(n);
  }

  /**
   * The bytes a queue of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not a queue's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config: QueueConfig<number, unknown>): number {
    return spscBytes(untyped(config));
  }

  /**
   * Allocates an empty queue.
   *
   * @throws {TypeError} If `config` is not a queue's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create<const Size extends number = 4, F = never>(
    config: QueueConfig<Size, F>,
  ): [F] extends [never] ? SpscQueue<ElementOf<NoInfer<Size>>>
    : TypedQueue<NoInfer<F>, "spsc_queue">;
  static create(config: QueueConfig): unknown {
    return made(
      config,
      (bytes) => SpscQueue.init(allocate(spscBytes(bytes)), 0, bytes),
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
  ): [F] extends [never] ? SpscQueue<ElementOf<NoInfer<Size>>>
    : TypedQueue<NoInfer<F>, "spsc_queue">;
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config: QueueConfig,
  ): unknown {
    return made(config, (bytes) => {
      formatSpsc(memory, byteOffset, bytes);
      return new SpscQueue(memory, byteOffset);
    });
  }

  /**
   * Attaches to the queue whose handle came in a message.
   *
   * @throws {TypeError} If the handle names another kind, or no queue is there.
   */
  static from<E = number, F = never>(
    handle: Handle<"spsc_queue">,
    config?: { readonly element: StructType<F> },
  ): [F] extends [never] ? SpscQueue<E> : TypedQueue<NoInfer<F>, "spsc_queue">;
  static from(
    handle: Handle<"spsc_queue">,
    config?: { readonly element: StructType },
  ): unknown {
    const queue = new SpscQueue(...fromHandle("spsc_queue", handle));
    return config === undefined ? queue : elementOf(config).typed(queue);
  }
}

/**
 * A queue, and where the elements of an end begin.
 *
 * @ignore
 */
type InPlace = Pick<
  SpscCore,
  "nextSlot" | "capacity" | "elementSize" | "buffer" | "byteOffset"
>;

/**
 * The bytes of `count` elements from the next one of an end on; undefined if
 * there are none.
 *
 * @ignore
 */
export function piecesOf(
  queue: InPlace,
  end: End,
  count: number,
): Pieces | undefined {
  if (count === 0) return undefined;
  const slot = queue.nextSlot(end);
  const first = Math.min(count, queue.capacity - slot);
  return [pieceOf(queue, slot, first), pieceOf(queue, 0, count - first)];
}

function pieceOf(queue: InPlace, slot: number, count: number): Uint8Array {
  const { buffer, byteOffset, elementSize } = queue;
  const at = byteOffset + DATA * 4 + slot * elementSize;
  return new Uint8Array(buffer, at, count * elementSize);
}
