/**
 * The algorithm of a queue from many producers to many consumers.
 *
 * @module
 */

import { DamagedError } from "../../_memory/damaged.ts";
import { MPMC_QUEUE } from "../../_memory/layout.ts";
import {
  attach,
  format,
  type Memory,
  type WordsInspection,
} from "../../_memory/region.ts";
import {
  atEpoch,
  waitersOf,
  wakeEnd as wake,
} from "../../_wait/event_count.ts";
import type { PendingResult } from "../../_wait/pending.ts";
import { spinning } from "../../_wait/spin.ts";
import { ByteCopier } from "../byte_copier.ts";
import type { CopyingClass, Elements } from "../elements.ts";
import {
  assertShortFormatted,
  type End,
  type QueueConfig,
  QueueCore,
  shortQueueConfig,
  sizeOf,
} from "../queue_core.ts";
import {
  CAPACITY,
  CLOSED_BIT,
  ELEMENT,
  ELEMENT_SIZE,
  FILLED,
  HEAD,
  ONE,
  SLOTS,
  strideFor,
  TAIL,
} from "./slots.ts";

const POP_EPOCH: typeof MPMC_QUEUE.pop_epoch = 96;
const PUSH_EPOCH: typeof MPMC_QUEUE.push_epoch = 128;
const POP_GONG: typeof MPMC_QUEUE.pop_gong = 98;
const PUSH_GONG: typeof MPMC_QUEUE.push_gong = 130;

/**
 * The facts that `inspect` shows of a queue.
 */
export const INSPECTION: WordsInspection = {
  row: MPMC_QUEUE,
  waiters: (words) =>
    waitersOf(words, POP_EPOCH) + waitersOf(words, PUSH_EPOCH),
};

/** The error of an agent that waits for a slot which nobody hands on. */
const blocked = () =>
  new DamagedError(
    "The queue",
    "an agent has kept a slot that it claimed for a second or longer",
  );

/**
 * The operations of an {@linkcode MpmcQueue} that never wait.
 *
 * @ignore
 */
export class MpmcCore extends QueueCore<"mpmc_queue"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  readonly #wordsPer: number;
  /** Words from slot to slot. */
  readonly #stride: number;
  /**
   * The ticket of the slot that this view reserved, and of the one it peeked
   * at.
   */
  #reserved: number | undefined;
  #peeked: number | undefined;

  /** Attaches to a queue: see the class that also waits. */
  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
  ) {
    const words = attach(
      "mpmc_queue",
      MPMC_QUEUE,
      memory,
      byteOffset ?? 0,
      bytesFor,
    );
    const capacity = words[CAPACITY]!;
    const elementSize = words[ELEMENT_SIZE]!;
    const Copies = elementSize >= 4 ? Copier : ByteCopier;
    super("mpmc_queue", words, INSPECTION, capacity, elementSize, Copies);
    this.#words = words;
    this.#mask = capacity - 1;
    this.#wordsPer = elementSize / 4; // or a half or a quarter of one
    this.#stride = strideFor(elementSize);
  }

  /** Elements in the queue; a moment later it may be another number. */
  override get size(): number {
    return sizeOf(this.#words, HEAD, TAIL, ONE, this.capacity);
  }

  /** Whether `close` was called; elements may still be in the queue. */
  override get closed(): boolean {
    return (Atomics.load(this.#words, TAIL) & CLOSED_BIT) !== 0;
  }

  /** Appends a 4-byte element: see {@linkcode Queue.tryPushInt}. */
  override tryPushInt(value: number): boolean {
    this.assertInts();
    this.assertInt(value);
    const ticket = this.#claimPush(1);
    if (ticket === undefined) return false;
    this.#words[this.#slot(ticket) + ELEMENT] = value; // published by (P)
    this.#publish(ticket);
    wake(this.#words, POP_EPOCH, 1);
    return true;
  }

  /** Takes a 4-byte element: see {@linkcode Queue.tryPopInt}. */
  override tryPopInt(): number | undefined {
    this.assertInts();
    const ticket = this.#claimPop(1);
    if (ticket === undefined) return undefined;
    const value = this.#words[this.#slot(ticket) + ELEMENT]!; // published by (P)
    this.#free(ticket);
    wake(this.#words, PUSH_EPOCH, 1);
    return value;
  }

  /** Appends an element: see {@linkcode Queue.tryPush}. */
  override tryPush(src: Elements): boolean {
    this.assertElement(src);
    return this.tryPushMany(src, 1) === 1;
  }

  /** Takes an element: see {@linkcode Queue.tryPopInto}. */
  override tryPopInto(dst: Elements): boolean {
    return this.tryPopMany(dst, 1) === 1;
  }

  /** Appends elements: see {@linkcode Queue.tryPushMany}. */
  override tryPushMany(src: Elements, n: number): number {
    this.assertRoom(src, n);
    if (n === 0) return 0;
    const per = this.#wordsPer;
    const first = this.#claimPush(n);
    if (first === undefined) return 0;
    const count = this.#claimed;
    for (let i = 0; i < count; i++) {
      const ticket = first + i * ONE | 0;
      this.copier.put(src, i * per, this.#slot(ticket) + ELEMENT, per);
      this.#publish(ticket);
    }
    wake(this.#words, POP_EPOCH, count);
    return count;
  }

  /** Takes elements: see {@linkcode Queue.tryPopMany}. */
  override tryPopMany(dst: Elements, n: number): number {
    this.assertRoom(dst, n);
    if (n === 0) return 0;
    const per = this.#wordsPer;
    const first = this.#claimPop(n);
    if (first === undefined) return 0;
    const count = this.#claimed;
    for (let i = 0; i < count; i++) {
      const ticket = first + i * ONE | 0;
      this.copier.get(dst, i * per, this.#slot(ticket) + ELEMENT, per);
      this.#free(ticket);
    }
    wake(this.#words, PUSH_EPOCH, count);
    return count;
  }

  /** Reserves room for an element: see {@linkcode Queue.reserve}. */
  override reserve(): Uint8Array | undefined {
    if (this.#reserved !== undefined) {
      throw new TypeError("A slot is reserved already");
    }
    return this.#view(this.#reserved = this.#claimPush(1));
  }

  /** Appends the reserved element: see {@linkcode Queue.commit}. */
  override commit(): boolean {
    const ticket = this.#reserved;
    if (ticket === undefined) throw new TypeError("No slot is reserved");
    this.#reserved = undefined;
    this.#publish(ticket);
    wake(this.#words, POP_EPOCH, 1);
    return true;
  }

  /** Shows the oldest element in place: see {@linkcode Queue.peek}. */
  override peek(): Uint8Array | undefined {
    return this.#view(this.#peeked ??= this.#claimPop(1));
  }

  /**
   * Removes the element that `peek` returned: see {@linkcode Queue.consume}.
   */
  override consume(): void {
    const ticket = this.#peeked;
    if (ticket === undefined) throw new TypeError("No element was peeked at");
    this.#peeked = undefined;
    this.#free(ticket);
    wake(this.#words, PUSH_EPOCH, 1);
  }

  /** Closes the queue for good: see {@linkcode Queue.close}. */
  override close(): void {
    const words = this.#words;
    if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;
    wake(this.#words, POP_EPOCH, Infinity);
    wake(this.#words, PUSH_EPOCH, Infinity);
  }

  #slot(ticket: number): number {
    return SLOTS + (ticket >>> 1 & this.#mask) * this.#stride;
  }

  #view(ticket: number | undefined): Uint8Array | undefined {
    return ticket === undefined
      ? undefined
      : this.viewOfSlot(ticket >>> 1 & this.#mask);
  }

  /** How many tickets the last claim took. */
  #claimed = 0;

  /** Claims up to `n` tickets to push; undefined if the queue is full. */
  #claimPush(n: number): number | undefined {
    const words = this.#words;
    let tail = words[TAIL]!; // a hint: the exchange below checks it
    for (;;) {
      if (tail & CLOSED_BIT) return this.refuse() as undefined;
      const turn = Atomics.load(words, this.#slot(tail));
      if (turn === tail) {
        const count = n === 1 ? 1 : this.#run(tail, n, 0);
        const next = tail + count * ONE | 0;
        const seen = Atomics.compareExchange(words, TAIL, tail, next);
        if (seen === tail) {
          this.#claimed = count;
          return tail;
        }
        tail = seen;
        continue;
      }
      // Either the hint is stale, or the slot still belongs to the lap before,
      // and the queue is full.
      const seen = Atomics.load(words, TAIL);
      if (seen === tail) return undefined;
      tail = seen;
    }
  }

  /** Claims up to `n` tickets to pop; undefined if the queue is empty. */
  #claimPop(n: number): number | undefined {
    const words = this.#words;
    let head = words[HEAD]!; // a hint: the exchange below checks it
    for (;;) {
      const turn = Atomics.load(words, this.#slot(head));
      if (turn === (head + FILLED | 0)) {
        const count = n === 1 ? 1 : this.#run(head, n, FILLED);
        const next = head + count * ONE | 0;
        const seen = Atomics.compareExchange(words, HEAD, head, next);
        if (seen === head) {
          this.#claimed = count;
          return head;
        }
        head = seen;
        continue;
      }
      const seen = Atomics.load(words, HEAD);
      if (seen === head) {
        if (Atomics.load(words, TAIL) === (head | CLOSED_BIT)) this.refuse();
        return undefined;
      }
      head = seen;
    }
  }

  /** How many tickets in a row, up to `n`, have a slot in this state. */
  #run(ticket: number, n: number, state: 0 | typeof FILLED): number {
    const most = Math.min(n, this.capacity);
    let count = 1;
    for (; count < most; count++) {
      const next = ticket + count * ONE | 0;
      const turn = Atomics.load(this.#words, this.#slot(next));
      if (turn !== (next + state | 0)) break;
    }
    return count;
  }

  /** (P) Hands a filled slot to the consumers. */
  #publish(ticket: number): void {
    Atomics.store(this.#words, this.#slot(ticket), ticket + FILLED | 0);
  }

  /** Hands a slot that was read back to the producers, for the next lap. */
  #free(ticket: number): void {
    const next = ticket + this.capacity * ONE | 0;
    Atomics.store(this.#words, this.#slot(ticket), next);
  }

  /**
   * The ticket that another agent has claimed and not handed on. An agent that
   * finds the same one twice, a second apart, throws: the queue is blocked.
   */
  #stuckAt(end: End, last: number | undefined): number | undefined {
    if (!spinning.tells) return undefined;
    const words = this.#words;
    const head = Atomics.load(words, HEAD);
    const tail = Atomics.load(words, TAIL) & ~CLOSED_BIT;
    let at: number | undefined;
    // A producer keeps the oldest element from the consumers; if the queue is
    // full, it also keeps its place from the producers.
    if (head !== tail && Atomics.load(words, this.#slot(head)) === head) {
      at = head;
    } else if (end === "push") {
      // A consumer keeps the place of the next element.
      const before = tail - this.capacity * ONE | 0;
      const turn = Atomics.load(words, this.#slot(tail));
      if (turn === (before + FILLED | 0) && (head - before | 0) > 0) at = tail;
    }
    if (at !== undefined && at === last) throw blocked();
    return at;
  }

  /** @internal */
  protected override wordOfSlot(slot: number): number {
    return SLOTS + slot * this.#stride + ELEMENT;
  }

  /** @internal */
  protected override position(end: End): number {
    return this.#words[end === "pop" ? HEAD : TAIL]!;
  }

  /** @internal */
  override gongAt(end: End): number {
    return this.byteOffset / 4 + (end === "pop" ? POP_GONG : PUSH_GONG);
  }

  /** @internal */
  protected override pendingAt<T>(
    end: End,
    attempt: () => T | false | undefined,
  ): PendingResult<T> {
    const words = this.#words;
    const index = end === "pop" ? POP_EPOCH : PUSH_EPOCH;
    return {
      ...atEpoch(words, index),
      place: { words, index },
      attempt,
      pass: () => this.#pass(end),
      stuckAt: (last) => this.#stuckAt(end, last),
    };
  }

  /**
   * Two wakes may have come for elements behind one that was not published yet,
   * and their sleepers found nothing. So the agent that takes that element
   * wakes the next sleeper.
   */
  #pass(end: End): void {
    const words = this.#words;
    if (end === "push") {
      const tail = Atomics.load(words, TAIL);
      if (tail & CLOSED_BIT) wake(this.#words, PUSH_EPOCH, Infinity);
      else if (Atomics.load(words, this.#slot(tail)) === tail) {
        wake(this.#words, PUSH_EPOCH, 1);
      }
      return;
    }
    if (this.poppable()) wake(words, POP_EPOCH, this.closed ? Infinity : 1);
  }

  /**
   * Whether a pop would not wait. This needs the current `head`: a stale one
   * would hide the elements behind it, and our wake may have come for one of
   * them.
   *
   * @internal
   */
  protected override poppable(): boolean {
    const words = this.#words;
    for (let head = Atomics.load(words, HEAD);;) {
      const state = Atomics.load(words, this.#slot(head));
      if (state === (head + FILLED | 0)) return true;
      const now = Atomics.load(words, HEAD);
      if (now === head) {
        return Atomics.load(words, TAIL) === (head | CLOSED_BIT);
      }
      head = now;
    }
  }
}

/**
 * The bytes a queue of this configuration occupies.
 *
 * @ignore
 */
export function mpmcBytes(config: QueueConfig): number {
  return bytesFor(...shortQueueConfig("mpmc_queue", config));
}

/**
 * Initializes an empty queue in unused memory.
 *
 * @ignore
 */
export function formatMpmc(
  memory: Memory,
  byteOffset: number | bigint,
  config: QueueConfig,
): void {
  const [capacity, elementSize] = shortQueueConfig("mpmc_queue", config);
  const bytes = bytesFor(capacity, elementSize);
  const stride = strideFor(elementSize);
  format(
    "mpmc_queue",
    MPMC_QUEUE,
    memory,
    byteOffset,
    bytes,
    [capacity, elementSize],
    (words) => {
      for (let i = 0; i < capacity; i++) words[SLOTS + i * stride] = i * ONE;
    },
  );
}

export function bytesFor(capacity: number, elementSize: number): number {
  assertShortFormatted(capacity, elementSize);
  return (SLOTS + capacity * strideFor(elementSize)) * 4;
}
