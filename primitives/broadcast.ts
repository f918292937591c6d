/**
 * A ring of which every subscriber sees every element.
 *
 * @module
 */

import { BROADCAST } from "./_layout.ts";
import { describe } from "./_memory/describe.ts";
import { disposedBy, type Disposer, iterated } from "./_memory/dispose.ts";
import {
  byteLengthOf,
  bytesOf,
  Copier,
  type Elements,
} from "./_queue/elements.ts";
import {
  awaitOn,
  blockOn,
  type PendingResult,
  tryAwaitOn,
  tryBlockOn,
  waitersOf,
  waitOn,
  wake,
} from "./_wait/event_count.ts";
import { ClosedError } from "./_queue/queue.ts";
import {
  assertFormatted,
  type ElementOf,
  QUEUE_CONFIG,
  type QueueConfig,
  queueConfig,
  refuseInt,
} from "./_queue/queue_core.ts";
import { NO_AGENT, type WordsProblems } from "./_memory/problems.ts";
import { iterate } from "./_wait/iterate.ts";
import {
  allocate,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_memory/region.ts";
import { leaveRole, takeRole } from "./_memory/roles.ts";
import {
  assertMayBlock,
  type AsyncOptions,
  type TryAsyncOptions,
  type Waiting,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

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

const SHAPE: typeof BROADCAST.shape = 1;
const ELEMENT_SIZE: typeof BROADCAST.element_size = 2;
const TAIL: typeof BROADCAST.tail = 32;
const SLOWEST: typeof BROADCAST.slowest = 33;
const PRODUCER: typeof BROADCAST.producer = 34;
const POP_EPOCH: typeof BROADCAST.pop_epoch = 64;
const PUSH_EPOCH: typeof BROADCAST.push_epoch = 96;
const SEATS: typeof BROADCAST.length = 128;

/**
 * The parts of `shape`: the capacity's logarithm, DROP, and the number of
 * seats.
 */
const ORDER_MASK = 31; // BROADCAST_BITS.ORDER
const DROP_BIT = 32; // BROADCAST_BITS.DROP
const SEATS_SHIFT = 6; // BROADCAST_BITS.SEATS
const MAX_SUBSCRIBERS = 1024;

/** The words of a seat, and the distance from one seat to the next. */
const CURSOR = 0;
const OWNER = 1;
const DROPPED = 2;
const SEAT = 32;
/**
 * A bit of an owner word: the producer need not wait for this subscriber yet.
 */
const JOINING_BIT = 0x1000_0000; // BROADCAST_BITS.JOINING
/** The bits of an agent in `producer`, and in an owner word. */
const OWNER_MASK = 0x0fff_ffff; // BROADCAST_BITS.OWNER

/**
 * A bit of `tail`: the broadcast is closed, and nothing is appended any more.
 */
const CLOSED_BIT = 1; // BROADCAST_BITS.CLOSED
/** Positions count in steps of two. */
const ONE = 2; // BROADCAST_BITS.POSITION

/** The configuration of a broadcast. */
export interface BroadcastConfig<Size extends number = number>
  extends Omit<QueueConfig<Size>, "element"> {
  /**
   * How many subscribers there may be at the same time: 1 to 1024; 16 unless
   * given.
   */
  readonly subscribers?: number;
  /**
   * What happens if a subscriber is `capacity` elements late. With "block", the
   * producer waits for it. With "drop", the subscriber loses the oldest
   * elements, and they are counted. "block" unless given.
   */
  readonly slow?: "block" | "drop";
}

/**
 * The facts that `inspect` shows of a broadcast.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: BROADCAST,
  waiters: (words) =>
    waitersOf(words, POP_EPOCH) + waitersOf(words, PUSH_EPOCH),
};

/**
 * The facts by which `inspect` finds problems.
 *
 * @ignore
 */
export const PROBLEMS: WordsProblems = {
  byteLength: (shape, elementSize) => bytesFor(shape, elementSize),
  problems: (words, tell) =>
    tell((words[PRODUCER]! & ~OWNER_MASK) !== 0, PRODUCER, NO_AGENT),
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

type RegionClass = abstract new (
  kind: "broadcast",
  words: Int32Array<SharedArrayBuffer>,
  inspection: WordsInspection,
) => Region<"broadcast">;

/**
 * The base of {@linkcode Broadcast}: disposing closes it.
 *
 * @ignore
 */
export const BroadcastBase: abstract new (
  ...args: ConstructorParameters<RegionClass>
) => Region<"broadcast"> & Disposer = /* @__PURE__ */ disposedBy(
  Region as unknown as RegionClass,
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
 * producer was abandoned, a new one continues from the shared words. Wrap: positions have
 * 31 bits and are compared by their difference. A subscriber mistakes one
 * element for another only if it stands still inside a pop while exactly a
 * multiple of 2^31 elements are pushed.
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
  /** The most elements that the ring can hold. */
  readonly capacity: number;
  /** The size of an element, in bytes. */
  readonly elementSize: number;
  /** How many subscribers there may be at the same time. */
  readonly seats: number;
  /**
   * Whether a late subscriber loses elements; otherwise the producer waits for
   * it.
   */
  readonly drops: boolean;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;
  readonly #copier: Copier;
  readonly #per: number;
  /** Whether this view knows that its agent is the producer. */
  #produces = false;
  /** `capacity`, in units of a position. */
  readonly #span: number;
  /**
   * Private memory for one element, used where words are accessed atomically.
   */
  readonly #scratch: Int32Array<ArrayBuffer>;
  readonly #scratchBytes: Uint8Array<ArrayBuffer>;

  /**
   * Attaches to the broadcast at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no broadcast of this
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = attach("broadcast", BROADCAST, memory, byteOffset, bytesFor);
    super("broadcast", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
    this.#copier = new Copier(words);
    const shape = words[SHAPE]!;
    this.capacity = 2 ** (shape & ORDER_MASK);
    this.drops = (shape & DROP_BIT) !== 0;
    this.seats = shape >>> SEATS_SHIFT;
    this.elementSize = words[ELEMENT_SIZE]!;
    this.#per = this.elementSize / 4;
    this.#span = this.capacity * ONE;
    this.#scratch = new Int32Array(this.drops ? this.#per : 0);
    this.#scratchBytes = new Uint8Array(this.#scratch.buffer);
  }

  /**
   * The bytes a broadcast of this configuration occupies.
   *
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

  /** Whether `close` was called; subscribers may still have elements to pop. */
  get closed(): boolean {
    return (Atomics.load(this.#words, TAIL) & CLOSED_BIT) !== 0;
  }

  /** How many subscribers there are. */
  get subscribers(): number {
    let count = 0;
    for (let seat = 0; seat < this.seats; seat++) {
      if (Atomics.load(this.#words, this.#seat(seat) + OWNER) !== 0) count++;
    }
    return count;
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
    if (!this.#pushInt(value)) blockOn(this.#roomForInt(value));
  }

  /**
   * As `pushInt`, but waits at most `timeout` ms; false if no room came free.
   */
  tryPushInt(value: number, timeout = 0): boolean {
    if (timeout === 0) return this.#pushInt(value);
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
    if (!this.#push(src)) blockOn(this.#room(src));
  }

  /** As `push`, but waits at most `timeout` ms; false if no room came free. */
  tryPush(src: Elements, timeout = 0): boolean {
    if (timeout === 0) return this.#push(src);
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
    const words = this.#words;
    for (let seat = 0; seat < this.seats; seat++) {
      const at = this.#seat(seat);
      if (words[at + OWNER] !== 0) continue; // a hint; the exchange checks it
      const joining = this.#id | JOINING_BIT;
      if (Atomics.compareExchange(words, at + OWNER, 0, joining) !== 0) {
        continue;
      }
      const first = Atomics.load(words, TAIL) & ~CLOSED_BIT;
      Atomics.store(words, at + DROPPED, 0);
      Atomics.store(words, at + CURSOR, first);
      // (J) Pairs with (S): a producer that does not see us yet knows no cursor
      // after the tail that we look at next, so it overwrites nothing from
      // there on. A producer that sees us waits for `first`.
      Atomics.store(words, at + OWNER, this.#id);
      const next = Atomics.load(words, TAIL) & ~CLOSED_BIT;
      Atomics.compareExchange(words, at + CURSOR, first, next);
      if (next !== first) wake(words, PUSH_EPOCH, Infinity);
      return new Subscription<E>(this, words, at);
    }
    throw new RangeError(
      `Cannot subscribe: all ${this.seats} seats are taken`,
    );
  }

  /**
   * Closes the broadcast for good, and wakes every sleeper. Pushes fail from
   * now on. Subscribers pop the elements that are left, and then fail.
   */
  close(): void {
    const words = this.#words;
    if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;
    wake(words, POP_EPOCH, Infinity);
    wake(words, PUSH_EPOCH, Infinity);
  }

  /**
   * Ends the subscriptions of agent `id`, which is known never to run again;
   * returns how many there were. If it was the producer, the next agent that
   * pushes is. A producer may give its role up by its own id, if it has no
   * subscription.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   */
  abandon(id: number): number {
    this.abandonRoles(id);
    const words = this.#words;
    let count = 0;
    if (id === 0) return 0;
    for (let seat = 0; seat < this.seats; seat++) {
      const at = this.#seat(seat) + OWNER;
      const owner = Atomics.load(words, at);
      if ((owner & ~JOINING_BIT) !== id) continue;
      if (Atomics.compareExchange(words, at, owner, 0) === owner) count++;
    }
    if (count > 0) wake(words, PUSH_EPOCH, Infinity);
    return count;
  }

  /**
   * Ends the role of agent `id` as the producer, and nothing else; returns how
   * many roles that was. `abandon` does it, too.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   * @internal
   */
  abandonRoles(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    if (id === this.#id) this.#produces = false;
    return leaveRole(this.#words, PRODUCER, id);
  }

  #seat(seat: number): number {
    return SEATS + seat * SEAT;
  }

  /** The index of the first word of the element at a position. */
  #element(position: number): number {
    const place = position >>> 1 & this.capacity - 1;
    return SEATS + this.seats * SEAT + place * this.#per;
  }

  /** The position to push at; undefined if there is no room. */
  #claim(): number | undefined {
    const words = this.#words;
    if (!this.#produces) {
      this.#produces = takeRole(words, PRODUCER, this.#id, "producer");
    }
    const tail = words[TAIL]!; // our own: only `close` changes it meanwhile
    if (tail & CLOSED_BIT) throw new ClosedError("The broadcast is closed");
    if ((tail - words[SLOWEST]! | 0) < this.#span) return tail;
    const slowest = this.#scan(tail);
    words[SLOWEST] = slowest;
    if ((tail - slowest | 0) < this.#span) return tail;
    if (this.closed) throw new ClosedError("The broadcast is closed");
    return undefined;
  }

  /**
   * The slowest cursor. With "drop", it first moves the cursors that are too
   * late.
   */
  #scan(tail: number): number {
    const words = this.#words;
    let slowest = tail;
    for (let seat = 0; seat < this.seats; seat++) {
      const at = this.#seat(seat);
      const owner = Atomics.load(words, at + OWNER); // (S) pairs with (J)
      if (owner === 0 || owner & JOINING_BIT) continue;
      let cursor = Atomics.load(words, at + CURSOR);
      while (this.drops && (tail - cursor | 0) >= this.#span) {
        const next = tail - this.#span + ONE | 0;
        const seen = Atomics.compareExchange(words, at + CURSOR, cursor, next);
        if (seen === cursor) {
          Atomics.add(words, at + DROPPED, (next - cursor | 0) >>> 1);
          cursor = next;
        } else cursor = seen;
      }
      if ((cursor - slowest | 0) < 0) slowest = cursor;
    }
    return slowest;
  }

  /** (P) Makes an element visible to the subscribers. */
  #publish(tail: number): void {
    const words = this.#words;
    const next = tail + ONE | 0;
    if (Atomics.compareExchange(words, TAIL, tail, next) !== tail) {
      throw new ClosedError("The broadcast is closed");
    }
    wake(words, POP_EPOCH, Infinity);
  }

  #pushInt(value: number): boolean {
    this.#assertInt(value);
    const tail = this.#claim();
    if (tail === undefined) return false;
    const at = this.#element(tail);
    if (this.drops) Atomics.store(this.#words, at, value); // published by (P)
    else this.#words[at] = value; // published by (P)
    this.#publish(tail);
    return true;
  }

  #push(src: Elements): boolean {
    const byteLength = byteLengthOf(src);
    if (byteLength !== this.elementSize) {
      throw new RangeError(
        `An element is ${this.elementSize} bytes: received ${byteLength}`,
      );
    }
    const tail = this.#claim();
    if (tail === undefined) return false;
    const at = this.#element(tail);
    if (this.drops) {
      const scratch = this.#scratch;
      this.#scratchBytes.set(bytesOf(src));
      for (let i = 0; i < this.#per; i++) {
        Atomics.store(this.#words, at + i, scratch[i]!); // published by (P)
      }
    } else this.#copier.put(src, 0, at, this.#per); // published by (P)
    this.#publish(tail);
    return true;
  }

  #assertInt(value: number): void {
    if (this.elementSize !== 4) {
      throw new TypeError(
        `Elements here are ${this.elementSize} bytes: use the forms without ` +
          "Int",
      );
    }
    if (typeof value !== "number" || value !== (value | 0)) refuseInt(value);
  }

  #roomForInt(value: number): PendingResult<true> {
    return this.#roomFor(() => this.#pushInt(value));
  }

  #room(src: Elements): PendingResult<true> {
    return this.#roomFor(() => this.#push(src));
  }

  #roomFor(attempt: () => boolean): PendingResult<true> {
    return {
      words: this.#words,
      epoch: PUSH_EPOCH,
      attempt: () => attempt() || undefined,
      pass: () => {}, // nobody: there is one producer
    };
  }
}

/**
 * The base of {@linkcode Subscription}: disposing leaves the seat.
 *
 * @ignore
 */
export const SubscriptionBase: abstract new <E>() =>
  & Disposer
  & AsyncIterable<E, void, void> = /* @__PURE__ */ iterated(
    /* @__PURE__ */ disposedBy(Object, "leave"),
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
  readonly broadcast: Broadcast<E>;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #copier: Copier;
  /** The index of the seat's first word, or 0 after `leave`. */
  #at: number;
  readonly #id: number;
  readonly #mask: number;
  readonly #per: number;
  readonly #elements: number;
  /** The value of `tail` that this subscriber saw last. */
  #tail: number;
  /**
   * Private memory for one element, used where words are accessed atomically.
   */
  readonly #scratch: Int32Array<ArrayBuffer>;
  readonly #scratchBytes: Uint8Array<ArrayBuffer>;
  /**
   * The array for `pop` to fill next: one that an earlier `pop` did not need.
   */
  #spare: Uint8Array<ArrayBuffer> | undefined;

  /**
   * Made by {@linkcode Broadcast.subscribe}.
   *
   * @internal
   */
  constructor(
    broadcast: Broadcast<E>,
    words: Int32Array<SharedArrayBuffer>,
    at: number,
  ) {
    super();
    this.broadcast = broadcast;
    this.#words = words;
    this.#copier = new Copier(words);
    this.#at = at;
    this.#id = Atomics.load(words, at + OWNER);
    this.#mask = broadcast.capacity - 1;
    this.#per = broadcast.elementSize / 4;
    this.#elements = SEATS + broadcast.seats * SEAT;
    this.#tail = Atomics.load(words, at + CURSOR);
    this.#scratch = new Int32Array(broadcast.drops ? this.#per : 0);
    this.#scratchBytes = new Uint8Array(this.#scratch.buffer);
  }

  /**
   * How many elements this subscriber lost because it was late, modulo 2^32.
   */
  get dropped(): number {
    this.#assertHere();
    return Atomics.load(this.#words, this.#at + DROPPED) >>> 0;
  }

  /**
   * How many elements this subscriber can pop; a moment later it may be another
   * number.
   */
  get size(): number {
    this.#assertHere();
    const cursor = Atomics.load(this.#words, this.#at + CURSOR);
    const tail = Atomics.load(this.#words, TAIL) & ~CLOSED_BIT;
    return Math.min(tail - cursor >>> 1, this.#mask + 1);
  }

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
    return this.#popInt() ?? blockOn(this.#coming(() => this.#popInt()));
  }

  /** As `popInt`, but waits at most `timeout` ms; undefined if none came. */
  tryPopInt(timeout = 0): number | undefined {
    if (timeout === 0) return this.#popInt();
    const next = this.#coming(() => this.#popInt());
    return tryBlockOn(next, "tryPopInt", timeout);
  }

  /** As `popInt`, awaiting instead of blocking. */
  popIntAsync(options?: AsyncOptions): Promise<number> {
    return awaitOn(this.#coming(() => this.#popInt()), options);
  }

  /** As `tryPopInt`, awaiting instead of blocking. */
  tryPopIntAsync(options?: TryAsyncOptions): Promise<number | undefined> {
    return tryAwaitOn(this.#coming(() => this.#popInt()), options);
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
    return this.#take() ?? blockOn(this.#coming(() => this.#take()));
  }

  /** As `pop`, but waits at most `timeout` ms; undefined if none came. */
  tryPop(timeout = 0): Uint8Array<ArrayBuffer> | undefined {
    if (timeout === 0) return this.#take();
    return tryBlockOn(this.#coming(() => this.#take()), "tryPop", timeout);
  }

  /** As `pop`, awaiting instead of blocking. */
  popAsync(options?: AsyncOptions): Promise<Uint8Array<ArrayBuffer>> {
    return awaitOn(this.#coming(() => this.#take()), options);
  }

  /** As `tryPop`, awaiting instead of blocking. */
  tryPopAsync(
    options?: TryAsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return tryAwaitOn(this.#coming(() => this.#take()), options);
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
    if (!this.#popInto(dst)) blockOn(this.#comingInto(dst));
  }

  /** As `popInto`, but waits at most `timeout` ms; false if none came. */
  tryPopInto(dst: Elements, timeout = 0): boolean {
    if (timeout === 0) return this.#popInto(dst);
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
    const ints = this.#per === 1;
    const take = () => ints ? this.#popInt() : this.#take();
    return iterate<number | Uint8Array>({
      take,
      takeAsync: () =>
        awaitOn(this.#coming<number | Uint8Array>(take), options),
      isEnd: (error) => error instanceof ClosedError,
    }, options) as AsyncGenerator<E, void, void>;
  }

  /**
   * Gives the seat up. The subscription sees nothing afterwards. Calling it
   * again does nothing.
   */
  leave(): void {
    const at = this.#at;
    if (at === 0) return;
    this.#at = 0;
    const words = this.#words;
    const owner = this.#id;
    if (Atomics.compareExchange(words, at + OWNER, owner, 0) !== owner) return;
    wake(words, PUSH_EPOCH, Infinity);
  }

  #popInt(): number | undefined {
    if (this.#per !== 1) {
      throw new TypeError(
        `Elements here are ${this.#per * 4} bytes: use the forms without Int`,
      );
    }
    const words = this.#words;
    for (;;) {
      const cursor = this.#next();
      if (cursor === undefined) return undefined;
      const at = this.#element(cursor);
      const value = this.broadcast.drops ? Atomics.load(words, at) : words[at]!; // published by (P)
      if (this.#advance(cursor)) return value;
    }
  }

  /** The next element in a fresh array; undefined if there is none. */
  #take(): Uint8Array<ArrayBuffer> | undefined {
    const element = this.#spare ?? new Uint8Array(this.#per * 4);
    this.#spare = element; // keep it, as there was nothing to take
    if (!this.#popInto(element)) return undefined;
    this.#spare = undefined;
    return element;
  }

  #popInto(dst: Elements): boolean {
    const byteLength = byteLengthOf(dst);
    if (byteLength < this.#per * 4) {
      throw new RangeError(
        `An element of ${this.#per * 4} bytes does not fit an array of ` +
          `${byteLength} bytes`,
      );
    }
    const { drops } = this.broadcast;
    const scratch = this.#scratch;
    for (;;) {
      const cursor = this.#next();
      if (cursor === undefined) return false;
      const at = this.#element(cursor);
      if (!drops) this.#copier.get(dst, 0, at, this.#per); // published by (P)
      else {
        for (let i = 0; i < this.#per; i++) {
          scratch[i] = Atomics.load(this.#words, at + i); // published by (P)
        }
      }
      if (!this.#advance(cursor)) continue;
      if (drops) bytesOf(dst).set(this.#scratchBytes);
      return true;
    }
  }

  #assertHere(): void {
    if (this.#at === 0) throw new TypeError("The subscription was left");
  }

  #element(position: number): number {
    return this.#elements + (position >>> 1 & this.#mask) * this.#per;
  }

  /** The position to read next; undefined if there is nothing yet. */
  #next(): number | undefined {
    this.#assertHere();
    const words = this.#words;
    // Our own cursor. If the producer drops, `#advance` checks it.
    const cursor = words[this.#at + CURSOR]!;
    if ((this.#tail - cursor | 0) > 0) return cursor;
    const tail = Atomics.load(words, TAIL);
    this.#tail = tail & ~CLOSED_BIT;
    if ((this.#tail - cursor | 0) > 0) return cursor;
    if (tail & CLOSED_BIT) throw new ClosedError("The broadcast is closed");
    return undefined;
  }

  /**
   * Moves the cursor on; false if the producer moved it first, so that the
   * element that was read is not valid.
   */
  #advance(cursor: number): boolean {
    const words = this.#words;
    const at = this.#at + CURSOR;
    const next = cursor + ONE | 0;
    if (this.broadcast.drops) {
      return Atomics.compareExchange(words, at, cursor, next) === cursor;
    }
    Atomics.store(words, at, next);
    wake(words, PUSH_EPOCH, Infinity);
    return true;
  }

  /**
   * Waits until a pop would not wait.
   *
   * @internal
   */
  readiness(): Waiting<boolean | undefined> {
    return waitOn(
      this.#coming(() => this.size > 0 || this.broadcast.closed || undefined),
    );
  }

  /**
   * The path that waits until `attempt`, which takes an element, returns a
   * result.
   *
   * @throws Whatever `attempt` throws, when the path runs.
   * @internal
   */
  waitAt<T>(
    _end: "push" | "pop",
    attempt: () => T | false | undefined,
  ): Waiting<T | undefined> {
    return waitOn(this.#coming(() => attempt() || undefined));
  }

  #comingInto(dst: Elements): PendingResult<true> {
    return this.#coming(() => this.#popInto(dst) || undefined);
  }

  #coming<T>(attempt: () => T | undefined): PendingResult<T> {
    return {
      words: this.#words,
      epoch: POP_EPOCH,
      attempt,
      pass: () => {}, // all sleepers are woken together, so no wake is lost
    };
  }
}

/** Checks `config` and packs it: returns `[shape, elementSize]`. */
function checked(
  config: BroadcastConfig,
): [shape: number, elementSize: number] {
  const known = [...QUEUE_CONFIG, "subscribers", "slow"];
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

function bytesFor(shape: number, elementSize: number): number {
  const seats = shape >>> SEATS_SHIFT;
  const capacity = 2 ** (shape & ORDER_MASK);
  assertFormatted(capacity, elementSize);
  inRange("subscribers", seats, 1, MAX_SUBSCRIBERS);
  return (SEATS + seats * SEAT) * 4 + capacity * elementSize;
}
