/**
 * A ring of which every subscriber sees every element.
 *
 * @module
 */

import { describe } from "./_memory/describe.ts";
import { disposedBy, type Disposer, iterated } from "./_memory/dispose.ts";
import {
  BroadcastCore,
  BROADCASTS,
  bytesFor,
  CLOSED_BIT,
  CURSOR,
  DROP_BIT,
  JOINING_BIT,
  MAX_SUBSCRIBERS,
  OWNER,
  SEAT,
  SeatCore,
  SEATS,
  SEATS_SHIFT,
  SHAPE,
  TAIL,
} from "./_queue/broadcast_core.ts";
import { BROADCAST } from "./_memory/layout.ts";
import type { Elements } from "./_queue/elements.ts";
import {
  awaitOn,
  blockOn,
  type PendingResult,
  tryAwaitOn,
  tryBlockOn,
  waitOn,
} from "./_wait/pending.ts";
import { ClosedError } from "./_queue/queue.ts";
import {
  type ElementOf,
  type QueueConfig,
  queueConfig,
} from "./_queue/queue_core.ts";
import { NO_AGENT, type WordsProblems } from "./_memory/problems.ts";
import { iterate } from "./_wait/iterate.ts";
import {
  allocate,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  type WordsInspection,
} from "./_memory/region.ts";
import {
  assertMayBlock,
  type AsyncOptions,
  type TryAsyncOptions,
  type Waiting,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export { BroadcastCore, SeatCore } from "./_queue/broadcast_core.ts";
export type { Elements } from "./_queue/elements.ts";
export { ClosedError } from "./_queue/queue.ts";
export type { ElementOf, QueueConfig } from "./_queue/queue_core.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/** The configuration of a broadcast. */
export interface BroadcastConfig<Size extends number = number>
  extends Omit<QueueConfig<Size>, "element"> {
  /**
   * How many subscribers there may be at the same time: 1 to 1024; 16 unless
   * given.
   */
  readonly subscribers?: number | undefined;
  /**
   * What happens if a subscriber is `capacity` elements late. With "block", the
   * producer waits for it. With "drop", the subscriber loses the oldest
   * elements, and they are counted. "block" unless given.
   */
  readonly slow?: "block" | "drop" | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = BROADCASTS;

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (shape, elementSize) => bytesFor(shape, elementSize),
  behind: (region, tell) => {
    for (let seat = 0; seat < region[SHAPE]! >>> SEATS_SHIFT; seat++) {
      const at = SEATS + seat * SEAT;
      const owner = Atomics.load(region, at + OWNER);
      const known = JOINING_BIT | JOINING_BIT - 1;
      if ((owner & ~known) !== 0) {
        tell(at + OWNER, `seat ${seat}`, owner, NO_AGENT);
      }
      if (owner === 0 || (owner & JOINING_BIT) !== 0) continue;
      const cursor = Atomics.load(region, at + CURSOR);
      const tail = Atomics.load(region, TAIL) & ~CLOSED_BIT;
      if ((tail - cursor | 0) >= 0 && (cursor & 1) === 0) continue;
      const text = "Its position is odd, or beyond `tail`.";
      tell(at + CURSOR, `seat ${seat}`, cursor, text);
    }
  },
};

/**
 * The base of {@linkcode Broadcast}: disposing closes it.
 *
 * @ignore
 */
export const BroadcastBase: abstract new (
  ...args: ConstructorParameters<typeof BroadcastCore>
) => BroadcastCore & Disposer = /* @__PURE__ */ disposedBy(
  BroadcastCore,
  "close",
);

/**
 * A ring with one producer: the first agent that pushes. Every subscriber sees
 * every element that is pushed after it subscribed.
 *
 * Ticks for whoever listens:
 *
 * ```ts
 * import { Broadcast } from "@weft/sync";
 *
 * const ticks = Broadcast.create({ capacity: 64, slow: "drop" });
 * using one = ticks.subscribe(); // in any agent: post ticks.handle
 * using two = ticks.subscribe();
 * ticks.tryPushInt(7);
 * if (one.tryPopInt() !== 7 || two.tryPopInt() !== 7) throw new Error("lost");
 * ```
 *
 * With "drop", the producer moves the cursor of a late subscriber before it
 * overwrites the element which that subscriber would read next. The subscriber
 * reads an element first, and then moves its cursor by an exchange. If the
 * exchange fails, the element was overwritten, and the subscriber discards what
 * it read. So with "drop" the words of elements are accessed atomically.
 *
 * Invariant: tail - capacity <= cursor <= tail for every seat that is taken.
 * Progress: with "block", the `try` forms are wait-free; a push answers "full"
 * if a subscriber is too late. With "drop" they are lock-free: they retry only
 * because the other side moved the same cursor. `subscribe` and `leave` never
 * wait. A terminated subscriber holds up the producer until `abandon(id)`; with
 * "drop" it only costs the producer a look at each push. After a terminated
 * producer was abandoned, a new one continues from the shared words. Wrap:
 * positions have 31 bits and are compared by their difference. A subscriber
 * mistakes one element for another only if it stands still inside a pop while
 * exactly a multiple of 2^31 elements are pushed.
 * Freed when: every operation of every agent has returned, `close` included,
 * and none will begin. That it is closed and empty does not say so.
 * Fairness: first in, first out, for each subscriber. C twin: `weft_broadcast`.
 * Source: Thompson and others' Disruptor 2011, with seats that come and go.
 *
 * Its words in memory:
 *
 * ```text
 * word 0    magic         Kind and layout version.
 * word 1    shape         bits 0-4   the logarithm of the capacity
 *                         bit 5      DROP
 *                         bits 6-31  the number of seats
 * word 2    element_size  Bytes of an element, a multiple of 4.
 * word 3    seal          Check word over the configuration.
 * word 32   tail          bit 0      CLOSED
 *                         bits 1-31  the next position to push
 * word 33   slowest       The slowest cursor, as the producer saw it last.
 * word 34   producer      The agent that pushes, from its first push on, or 0.
 * word 64   pop_epoch     Changes when sleeping subscribers must look again.
 *                         sleepers: subscribers
 * word 65   pop_waiters   bits 0-30  subscribers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 96   push_epoch    Changes when the sleeping producer must look again.
 *                         sleepers: the producer
 * word 97   push_waiters  bits 0-30  waits of the producer that sleep, or are
 *                                    about to
 *                         bit 31     one of them awaits, or did
 * word 128  Seats of 32 words each. A seat has the next position to pop, times
 *           2; then the agent id of the subscriber, with bit 28 set while it
 *           joins, or 0; and how many elements it lost. The elements lie behind
 *           the seats: position `p` is in place `p mod capacity`.
 * ```
 */
export class Broadcast<E = number> extends BroadcastBase {
  /**
   * Attaches to the broadcast at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no broadcast of this
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    super(memory, byteOffset, agentId());
  }

  /**
   * The bytes a broadcast of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not a broadcast's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config: BroadcastConfig): number {
    return bytesFor(...checked(config));
  }

  /**
   * Allocates a broadcast without subscribers.
   *
   * @throws {TypeError} If `config` is not a broadcast's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create<const Size extends number = 4>(
    config: BroadcastConfig<Size>,
  ): Broadcast<ElementOf<NoInfer<Size>>> {
    return Broadcast.init(allocate(Broadcast.byteLength(config)), 0, config);
  }

  /**
   * Initializes a broadcast without subscribers in unused memory.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not a
   * broadcast's configuration.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init<const Size extends number = 4>(
    memory: Memory,
    byteOffset: number | bigint,
    config: BroadcastConfig<Size>,
  ): Broadcast<ElementOf<NoInfer<Size>>> {
    const [shape, size] = checked(config);
    const bytes = bytesFor(shape, size);
    format("broadcast", BROADCAST, memory, byteOffset, bytes, [shape, size]);
    return new Broadcast(memory, byteOffset);
  }

  /**
   * Attaches to the broadcast whose handle came in a message.
   *
   * @throws {TypeError} If the handle names another kind, or no broadcast is
   * there.
   */
  static from<E = number>(handle: Handle<"broadcast">): Broadcast<E> {
    return new Broadcast(...fromHandle("broadcast", handle));
  }

  /**
   * Appends a 4-byte element. With "block", it blocks while a subscriber is
   * `capacity` elements late. The first agent that pushes is the producer.
   *
   * @throws {ClosedError} If the broadcast is closed.
   * @throws {RangeError} If `value` is not an integer of 32 bits, signed.
   * @throws {TypeError} If elements are not 4 bytes, another agent is the
   * producer, or this agent may not block.
   */
  pushInt(value: number): void {
    assertMayBlock("pushInt");
    if (!super.tryPushInt(value)) blockOn(this.#roomForInt(value));
  }

  /**
   * As `pushInt`, but waits at most `timeout` ms; false if no room came free.
   */
  override tryPushInt(value: number, timeout = 0): boolean {
    if (timeout === 0) return super.tryPushInt(value);
    return tryBlockOn(this.#roomForInt(value), "tryPushInt", timeout) === true;
  }

  /** As `pushInt`, awaiting instead of blocking. */
  pushIntAsync(value: number, options?: AsyncOptions): Promise<void> {
    return awaitOn(this.#roomForInt(value), options).then(() => {});
  }

  /** As `tryPushInt`, awaiting instead of blocking. */
  tryPushIntAsync(
    value: number,
    options?: TryAsyncOptions,
  ): Promise<boolean> {
    return tryAwaitOn(this.#roomForInt(value), options)
      .then((done) => done === true);
  }

  /**
   * Appends the element in `src`. With "block", it blocks while a subscriber is
   * `capacity` elements late. The first agent that pushes is the producer.
   *
   * @throws {ClosedError} If the broadcast is closed.
   * @throws {RangeError} If `src` is not as long as an element.
   * @throws {TypeError} If `src` is neither a typed array nor a DataView,
   * another agent is the producer, or this agent may not block.
   */
  push(src: Elements): void {
    assertMayBlock("push");
    if (!super.tryPush(src)) blockOn(this.#room(src));
  }

  /** As `push`, but waits at most `timeout` ms; false if no room came free. */
  override tryPush(src: Elements, timeout = 0): boolean {
    if (timeout === 0) return super.tryPush(src);
    return tryBlockOn(this.#room(src), "tryPush", timeout) === true;
  }

  /**
   * As `push`, awaiting instead of blocking. Do not change `src` before the
   * promise settles: it may be copied at any moment until then.
   */
  pushAsync(src: Elements, options?: AsyncOptions): Promise<void> {
    return awaitOn(this.#room(src), options).then(() => {});
  }

  /** As `tryPush`, awaiting instead of blocking: see `pushAsync`. */
  tryPushAsync(src: Elements, options?: TryAsyncOptions): Promise<boolean> {
    return tryAwaitOn(this.#room(src), options).then((done) => done === true);
  }

  /**
   * Takes a seat. The subscription sees every element that is pushed from now
   * on.
   *
   * @throws {RangeError} If all seats are taken.
   */
  subscribe(): Subscription<E> {
    return new Subscription<E>(this, ...this.takeSeat());
  }

  #roomForInt(value: number): PendingResult<true> {
    return this.pending(() => super.tryPushInt(value));
  }

  #room(src: Elements): PendingResult<true> {
    return this.pending(() => super.tryPush(src));
  }
}

/**
 * The base of {@linkcode Subscription}: disposing leaves the seat.
 *
 * @ignore
 */
export const SubscriptionBase: abstract new <E>(
  ...args: ConstructorParameters<typeof SeatCore>
) =>
  & SeatCore
  & Disposer
  & AsyncIterable<E, void, void> = /* @__PURE__ */ iterated(
    /* @__PURE__ */ disposedBy(SeatCore, "leave"),
  );

/**
 * A seat at a {@linkcode Broadcast}. It sees every element that is pushed after
 * `subscribe`. Call `leave` at the end: the producer may wait for this seat.
 *
 * @example See all there is, then leave
 * ```ts
 * import { Broadcast } from "@weft/sync";
 *
 * const ticks = Broadcast.create({ capacity: 8 });
 * {
 *   using seat = ticks.subscribe();
 *   ticks.tryPushInt(7);
 *   if (seat.size !== 1 || seat.popInt() !== 7) throw new Error("lost");
 * }
 * if (ticks.subscribers !== 0) throw new Error("did not leave");
 * ```
 */
export class Subscription<E = number> extends SubscriptionBase<E> {
  /** The broadcast that this subscription belongs to. */
  declare readonly broadcast: Broadcast<E>;
  /**
   * The array for `pop` to fill next: one that an earlier `pop` did not need.
   */
  #spare: Uint8Array<ArrayBuffer> | undefined;

  /**
   * Takes the next 4-byte element, blocking while there is none.
   *
   * @throws {ClosedError} If the broadcast is closed and this subscriber saw
   * every element.
   * @throws {TypeError} If elements are not 4 bytes, the seat was left, or this
   * agent may not block.
   */
  popInt(): number {
    assertMayBlock("popInt");
    return super.tryPopInt() ?? blockOn(this.pending(() => super.tryPopInt()));
  }

  /** As `popInt`, but waits at most `timeout` ms; undefined if none came. */
  override tryPopInt(timeout = 0): number | undefined {
    if (timeout === 0) return super.tryPopInt();
    const next = this.pending(() => super.tryPopInt());
    return tryBlockOn(next, "tryPopInt", timeout);
  }

  /** As `popInt`, awaiting instead of blocking. */
  popIntAsync(options?: AsyncOptions): Promise<number> {
    return awaitOn(this.pending(() => super.tryPopInt()), options);
  }

  /** As `tryPopInt`, awaiting instead of blocking. */
  tryPopIntAsync(options?: TryAsyncOptions): Promise<number | undefined> {
    return tryAwaitOn(this.pending(() => super.tryPopInt()), options);
  }

  /**
   * Takes the next element, blocking while there is none. Returns a new array,
   * which the caller may keep.
   *
   * @throws {ClosedError} If the broadcast is closed and this subscriber saw
   * every element.
   * @throws {TypeError} If the seat was left, or this agent may not block.
   */
  pop(): Uint8Array<ArrayBuffer> {
    assertMayBlock("pop");
    return this.#take() ?? blockOn(this.pending(() => this.#take()));
  }

  /** As `pop`, but waits at most `timeout` ms; undefined if none came. */
  tryPop(timeout = 0): Uint8Array<ArrayBuffer> | undefined {
    if (timeout === 0) return this.#take();
    return tryBlockOn(this.pending(() => this.#take()), "tryPop", timeout);
  }

  /** As `pop`, awaiting instead of blocking. */
  popAsync(options?: AsyncOptions): Promise<Uint8Array<ArrayBuffer>> {
    return awaitOn(this.pending(() => this.#take()), options);
  }

  /** As `tryPop`, awaiting instead of blocking. */
  tryPopAsync(
    options?: TryAsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return tryAwaitOn(this.pending(() => this.#take()), options);
  }

  /**
   * Moves the next element into the beginning of `dst`, blocking while there is
   * none.
   *
   * @throws {ClosedError} If the broadcast is closed and this subscriber saw
   * every element.
   * @throws {RangeError} If `dst` is shorter than an element.
   * @throws {TypeError} If `dst` is neither a typed array nor a DataView, the
   * seat was left, or this agent may not block.
   */
  popInto(dst: Elements): void {
    assertMayBlock("popInto");
    if (!super.tryPopInto(dst)) blockOn(this.#comingInto(dst));
  }

  /** As `popInto`, but waits at most `timeout` ms; false if none came. */
  override tryPopInto(dst: Elements, timeout = 0): boolean {
    if (timeout === 0) return super.tryPopInto(dst);
    return tryBlockOn(this.#comingInto(dst), "tryPopInto", timeout) === true;
  }

  /** As `popInto`, awaiting instead of blocking. */
  popIntoAsync(dst: Elements, options?: AsyncOptions): Promise<void> {
    return awaitOn(this.#comingInto(dst), options).then(() => {});
  }

  /** As `tryPopInto`, awaiting instead of blocking. */
  tryPopIntoAsync(dst: Elements, options?: TryAsyncOptions): Promise<boolean> {
    return tryAwaitOn(this.#comingInto(dst), options)
      .then((done) => done === true);
  }

  /**
   * Takes elements as they come, until the broadcast is closed and every
   * element was seen. Each element is a number if elements have 4 bytes, and a
   * Uint8Array otherwise. If `signal` aborts, the iteration throws
   * `signal.reason`.
   *
   * @throws {TypeError} If an option is unknown or of the wrong type, or the
   * seat was left.
   */
  values(options?: AsyncOptions): AsyncGenerator<E, void, void> {
    const ints = this.broadcast.elementSize === 4;
    const take = () => ints ? super.tryPopInt() : this.#take();
    return iterate<number | Uint8Array>({
      take,
      takeAsync: (options) =>
        awaitOn(this.pending<number | Uint8Array>(take), options),
      isEnd: (error) => error instanceof ClosedError,
    }, options) as AsyncGenerator<E, void, void>;
  }

  // What `select` and `waitAny` need: see `Selectable`.

  /** @internal */
  readiness(): Waiting<boolean | undefined> {
    return this.waitAt("pop", () => this.size > 0 || this.broadcast.closed);
  }

  /** @internal */
  waitAt<T>(
    _end: "push" | "pop",
    attempt: () => T | false | undefined,
  ): Waiting<T | undefined> {
    return waitOn(this.pending(attempt));
  }

  /** The next element in a fresh array; undefined if there is none. */
  #take(): Uint8Array<ArrayBuffer> | undefined {
    const element = this.#spare ?? new Uint8Array(this.broadcast.elementSize);
    this.#spare = element; // keep it, as there was nothing to take
    if (!super.tryPopInto(element)) return undefined;
    this.#spare = undefined;
    return element;
  }

  #comingInto(dst: Elements): PendingResult<true> {
    return this.pending(() => super.tryPopInto(dst));
  }
}

/** Checks `config` and packs it: returns `[shape, elementSize]`. */
function checked(
  config: BroadcastConfig,
): [shape: number, elementSize: number] {
  const known = ["capacity", "elementSize", "subscribers", "slow"];
  const [capacity, elementSize] = queueConfig("broadcast", config, known);
  const { subscribers = 16, slow = "block" } = config;
  inRange("subscribers", subscribers, 1, MAX_SUBSCRIBERS);
  if (slow !== "block" && slow !== "drop") {
    throw new RangeError(
      `slow must be "block" or "drop": received ${describe(slow)}`,
    );
  }
  const order = 31 - Math.clz32(capacity);
  const drop = slow === "drop" ? DROP_BIT : 0;
  return [order | drop | subscribers << SEATS_SHIFT, elementSize];
}
