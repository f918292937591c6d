import { Copier, type Elements } from "./_elements.ts";
import { inRange, Region, type WordsInspection } from "./_region.ts";
import { LONGEST_LULL, spin, spinning, STREAM } from "./_spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type Sleep,
  type Waiting,
} from "./_wait.ts";

/**
 * Thrown by operations on a queue that was closed (C: `EPIPE`).
 *
 * @example Until the queue is closed
 * ```ts
 * import { ClosedError, MpmcQueue } from "@weft/sync";
 *
 * const jobs = MpmcQueue.create({ capacity: 4 });
 * jobs.close();
 * try {
 *   for (;;) console.log(jobs.popInt());
 * } catch (error) {
 *   if (!(error instanceof ClosedError)) throw error;
 * }
 * ```
 */
export class ClosedError extends Error {
  /** `"ClosedError"`. */
  override readonly name = "ClosedError";

  /** Says what could not be done. */
  constructor(message = "The queue is closed") {
    super(message);
  }
}

/** How a queue is made. */
export interface QueueConfig {
  /** Elements it holds, 1 to 2^30 / size; rounded up to a power of two. */
  readonly capacity: number;
  /** Bytes an element has, a multiple of 4; 4 unless given. */
  readonly size?: number;
}

/** The most bytes the elements of a queue may have together. */
const MAX_BYTES = 2 ** 30;

/** `config` checked and rounded: `[capacity, size]`. */
export function queueConfig(
  { capacity, size = 4 }: QueueConfig,
): [capacity: number, size: number] {
  if (!Number.isInteger(size) || size < 4 || size % 4 || size > MAX_BYTES) {
    throw new RangeError(
      "An element's size must be a multiple of 4 from 4 to 2^30 bytes: " +
        `received ${size}`,
    );
  }
  inRange("A queue's capacity", capacity, 1, Math.floor(MAX_BYTES / size));
  const rounded = 2 ** Math.ceil(Math.log2(capacity));
  if (rounded * size > MAX_BYTES) {
    throw new RangeError(
      `A queue's capacity is rounded up to a power of two: ${rounded} ` +
        `elements of ${size} bytes are more than 2^30: received ${capacity}`,
    );
  }
  return [rounded, size];
}

/** Which end of a queue an operation works on. */
export type End = "push" | "pop";

/**
 * What every queue has, made from the non-waiting operations of each: blocking
 * and async forms, and iteration.
 *
 * @example Whichever queue it is
 * ```ts
 * import { MpmcQueue, type Queue, SpscQueue } from "@weft/sync";
 *
 * const fill = (queue: Queue<string>) => {
 *   for (let n = 0; queue.tryPushInt(n); n++);
 *   return queue.size;
 * };
 * const spsc = fill(SpscQueue.create({ capacity: 4 }));
 * const mpmc = fill(MpmcQueue.create({ capacity: 4 }));
 * if (spsc !== 4 || mpmc !== 4) throw new Error("not full");
 * ```
 */
export abstract class Queue<Kind extends string, E = number>
  extends Region<Kind> {
  /** Elements it holds at most. */
  readonly capacity: number;
  /** Bytes an element has. */
  readonly elementSize: number;
  /** The bytes that `reserve` and `peek` point into. */
  readonly bytes: Uint8Array;
  /**
   * Copies elements in and out.
   *
   * @internal
   */
  protected readonly copier: Copier;
  /** Where this view stood when it last spun, and for how long it waited. */
  #spunAt = 0;
  #lull = 1;

  /** Views a queue whose words were checked. */
  protected constructor(
    kind: Kind,
    words: Int32Array,
    shown: WordsInspection,
    capacity: number,
    elementSize: number,
  ) {
    super(kind, words, shown);
    this.capacity = capacity;
    this.elementSize = elementSize;
    this.bytes = new Uint8Array(this.buffer, this.byteOffset, this.byteLength);
    this.copier = new Copier(words as Int32Array<SharedArrayBuffer>);
  }

  /** Elements in the queue; a moment later it may be another number. */
  abstract get size(): number;
  /** Whether `close` was called; elements may still be in the queue. */
  abstract get closed(): boolean;

  /**
   * Appends a 4-byte element without waiting; false if the queue is full.
   *
   * @throws {ClosedError} If the queue was closed.
   * @throws {RangeError} If `value` is not an integer of 32 bits, signed.
   * @throws {TypeError} If elements are not 4 bytes.
   */
  abstract tryPushInt(value: number): boolean;
  /**
   * Takes the oldest 4-byte element, without waiting; undefined if there is
   * none.
   *
   * @throws {ClosedError} If the queue was closed and is empty.
   * @throws {TypeError} If elements are not 4 bytes.
   */
  abstract tryPopInt(): number | undefined;
  /**
   * Appends the element in `src` without waiting; false if the queue is full.
   *
   * @throws {ClosedError} If the queue was closed.
   * @throws {RangeError} If `src` is not as long as an element.
   */
  abstract tryPush(src: Elements): boolean;
  /**
   * Moves the oldest element into `dst`, without waiting; false if there is
   * none.
   *
   * @throws {ClosedError} If the queue was closed and is empty.
   * @throws {RangeError} If `dst` is shorter than an element.
   */
  abstract tryPop(dst: Elements): boolean;
  /**
   * Appends up to `n` elements that lie one behind the other in `src`, as far
   * as there is room; answers how many.
   *
   * @throws {ClosedError} If the queue was closed.
   * @throws {RangeError} If `src` is shorter than `n` elements.
   */
  abstract tryPushMany(src: Elements, n: number): number;
  /**
   * Moves up to `n` of the oldest elements into `dst`, one behind the other;
   * answers how many there were.
   *
   * @throws {ClosedError} If the queue was closed and is empty.
   * @throws {RangeError} If `dst` is shorter than `n` elements.
   */
  abstract tryPopMany(dst: Elements, n: number): number;
  /**
   * Begins to append an element in place: where it goes in `bytes`, or -1 if
   * the queue is full. Write it there, then `commit`.
   *
   * @throws {ClosedError} If the queue was closed.
   * @throws {TypeError} If this view has a reservation already.
   */
  abstract reserve(): number;
  /**
   * Appends the reserved element.
   *
   * @throws {ClosedError} If an `SpscQueue` was closed since it was reserved;
   * a `MpmcQueue` takes it still.
   * @throws {TypeError} If nothing is reserved.
   */
  abstract commit(): void;
  /**
   * Begins to take the oldest element in place: where it lies in `bytes`, or
   * -1 if there is none. Read it there, then `consume`.
   *
   * @throws {ClosedError} If the queue was closed and is empty.
   */
  abstract peek(): number;
  /**
   * Takes the element that was peeked at.
   *
   * @throws {TypeError} If nothing was.
   */
  abstract consume(): void;
  /**
   * Closes the queue for good: pushes fail from now on, pops take what is
   * there and then fail, and every sleeper wakes.
   */
  abstract close(): void;

  /**
   * How far an end has come, for what is worth knowing of it: a hint.
   *
   * @internal
   */
  protected position(_end: End): number {
    return 0;
  }

  /**
   * Announces that this agent is about to sleep at `end`, and on what. The
   * caller looks once more after this. Undefined if it need not sleep.
   *
   * @internal
   */
  protected abstract announce(end: End): Sleep | undefined;
  /**
   * Takes an announcement back.
   *
   * @internal
   */
  protected abstract withdraw(end: End): void;
  /**
   * Passes a wake on, if after this waiter others can go on, too.
   *
   * @internal
   */
  protected abstract pass(end: End): void;

  /**
   * Whether a pop would end now: with an element, or as the queue is closed.
   *
   * @internal
   */
  protected abstract poppable(): boolean;

  /**
   * Waits until a pop would end.
   *
   * @internal
   */
  readiness(): Waiting<boolean | undefined> {
    return this.#wait("pop", () => this.poppable());
  }

  /**
   * As `tryPushInt`, blocking up to `timeout` ms; false if no room came free.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  pushInt(value: number, timeout = Infinity): boolean {
    this.#assertMayWait("pushInt", timeout);
    return this.tryPushInt(value) || this.#pushIntSlow(value, timeout);
  }

  /**
   * As `tryPopInt`, blocking up to `timeout` ms; undefined if nothing came.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  popInt(timeout = Infinity): number | undefined {
    this.#assertMayWait("popInt", timeout);
    return this.tryPopInt() ?? this.#popIntSlow(timeout);
  }

  /**
   * As `tryPush`, blocking up to `timeout` ms; false if no room came free.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  push(src: Elements, timeout = Infinity): boolean {
    this.#assertMayWait("push", timeout);
    return this.tryPush(src) || this.#pushSlow(src, timeout);
  }

  /**
   * As `tryPop`, blocking up to `timeout` ms; false if nothing came.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  pop(dst: Elements, timeout = Infinity): boolean {
    this.#assertMayWait("pop", timeout);
    return this.tryPop(dst) || this.#popSlow(dst, timeout);
  }

  /** As `pushInt`, awaiting instead of blocking. */
  pushIntAsync(value: number, options?: AsyncOptions): Promise<boolean> {
    return this.#await("push", () => this.tryPushInt(value), options)
      .then((done) => done === true);
  }

  /** As `popInt`, awaiting instead of blocking. */
  popIntAsync(options?: AsyncOptions): Promise<number | undefined> {
    return this.#await("pop", () => this.tryPopInt(), options);
  }

  /**
   * As `push`, awaiting instead of blocking: `src` must not change until it is
   * pushed.
   */
  pushAsync(src: Elements, options?: AsyncOptions): Promise<boolean> {
    return this.#await("push", () => this.tryPush(src), options)
      .then((done) => done === true);
  }

  /** As `pop`, awaiting instead of blocking. */
  popAsync(dst: Elements, options?: AsyncOptions): Promise<boolean> {
    return this.#await("pop", () => this.tryPop(dst), options)
      .then((done) => done === true);
  }

  /**
   * Takes elements as they come, until the queue is closed and empty: numbers
   * where an element has 4 bytes, else a fresh Uint8Array for each.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, void> {
    const { elementSize } = this;
    try {
      for (;;) {
        if (elementSize === 4) yield await this.popIntAsync() as E;
        else {
          const element = new Uint8Array(elementSize);
          await this.popAsync(element);
          yield element as E;
        }
      }
    } catch (error) {
      if (!(error instanceof ClosedError)) throw error;
    }
  }

  #assertMayWait(operation: string, timeout: number): void {
    assertMayBlock(operation);
    if (timeout !== Infinity) assertTimeout(timeout);
  }

  // Apart from the fast paths, each call of which would pay for the closure.

  #pushIntSlow(value: number, timeout: number): boolean {
    return this.#block("push", () => this.tryPushInt(value), timeout) === true;
  }

  #popIntSlow(timeout: number): number | undefined {
    return this.#block("pop", () => this.tryPopInt(), timeout);
  }

  #pushSlow(src: Elements, timeout: number): boolean {
    return this.#block("push", () => this.tryPush(src), timeout) === true;
  }

  #popSlow(dst: Elements, timeout: number): boolean {
    return this.#block("pop", () => this.tryPop(dst), timeout) === true;
  }

  /**
   * For how many microseconds to look away before the first look. In a stream
   * of elements each look takes a cache line from the other side, and an end
   * that comes too close behind the other takes it more often.
   */
  #lullAt(end: End): number {
    const at = this.position(end);
    const moved = at - this.#spunAt | 0;
    this.#spunAt = at;
    const streams = moved >= STREAM;
    return this.#lull = streams ? Math.min(2 * this.#lull, LONGEST_LULL) : 1;
  }

  #block<T>(
    end: End,
    attempt: () => T | false | undefined,
    timeout: number,
  ): T | undefined {
    if (timeout > 0 && spinning.rounds > 0) {
      const result = spin(attempt, this.#lullAt(end));
      if (result !== undefined) return result;
    }
    return block(this.#wait(end, attempt), timeout);
  }

  #await<T>(
    end: End,
    attempt: () => T | false | undefined,
    options: AsyncOptions | undefined,
  ): Promise<T | undefined> {
    return blockAsync(() => this.#wait(end, attempt), options);
  }

  *#wait<T>(
    end: End,
    attempt: () => T | false | undefined,
  ): Waiting<T | undefined> {
    let result = attempt();
    if (result !== false && result !== undefined) return result;
    try {
      for (;;) {
        const sleep = this.announce(end);
        let outcome;
        try {
          result = attempt();
          if (result !== false && result !== undefined) return result;
          if (sleep !== undefined) outcome = yield sleep;
        } finally {
          this.withdraw(end);
        }
        if (outcome !== "timed-out") continue;
        result = attempt();
        return result === false ? undefined : result;
      }
    } finally {
      this.pass(end);
    }
  }

  /** Checks that elements are single words. */
  protected assertInts(): void {
    if (this.elementSize === 4) return;
    throw new TypeError(
      `Elements here are ${this.elementSize} bytes: use tryPush and tryPop`,
    );
  }

  /** Checks that `value` fits a word. */
  protected assertInt(value: number): void {
    if (value === (value | 0)) return;
    throw new RangeError(
      "An element must be an integer from -2^31 to 2^31 - 1: " +
        `received ${value}`,
    );
  }

  /** Checks that `src` is one element. */
  protected assertElement(src: Elements): void {
    if (src.byteLength === this.elementSize) return;
    throw new RangeError(
      `An element is ${this.elementSize} bytes: received ${src.byteLength}`,
    );
  }

  /** Checks that `n` elements fit `array`. */
  protected assertRoom(array: Elements, n: number): void {
    inRange("The number of elements", n, 0, 2 ** 30);
    if (array.byteLength >= n * this.elementSize) return;
    throw new RangeError(
      `${n} elements of ${this.elementSize} bytes do not fit an array of ` +
        `${array.byteLength} bytes`,
    );
  }
}
