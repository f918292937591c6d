/**
 * Adds to the operations of a queue that never wait: the forms that block and
 * await, iteration, and the errors of a closed queue.
 *
 * @module
 */

import { Copier, type CopyingClass, type Elements } from "./elements.ts";
import { DISPOSE } from "../_memory/dispose.ts";
import { iterate } from "../_wait/iterate.ts";
import type { Queue } from "./methods.ts";
import type { End, QueueCore } from "./queue_core.ts";
import type { Memory, Region } from "../_memory/region.ts";
import { LONGEST_DELAY, spin, spinning, STREAM } from "../_wait/spin.ts";
import { awaitOn, tryAwaitOn, waitOn } from "../_wait/pending.ts";
import {
  assertMayBlock,
  assertMayTry,
  type AsyncOptions,
  block,
  type TryAsyncOptions,
  type Waiting,
} from "../_wait/wait.ts";

export type { Queue } from "./methods.ts";

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

  /** `message` says what could not be done. */
  constructor(message = "The queue is closed") {
    super(message);
  }
}

/** A class of queues whose operations never wait. */
export type CoreClass<Core> = abstract new (
  memory: Memory,
  byteOffset: number | bigint | undefined,
  Copier: CopyingClass,
) => Core;

/**
 * A core with its methods declared as concrete. TypeScript does not let `super`
 * call abstract methods.
 */
export declare abstract class Operating extends QueueCore {
  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    Copier: CopyingClass,
  );
  override tryPushInt(value: number): boolean;
  override tryPopInt(): number | undefined;
  override tryPush(src: Elements): boolean;
  override tryPopInto(dst: Elements): boolean;
  override tryPushMany(src: Elements, n: number): number;
  override tryPopMany(dst: Elements, n: number): number;
}

/** The methods of a queue that wait at one of its ends. */
type AtEnds = Pick<
  Queue,
  "readiness" | "waitAt" | "blockAt" | "asyncAt" | "tryAsyncAt"
>;

/** The class that `waitingEnds` returns. */
type EndsClass<Kind extends string, More = unknown> = new (
  memory: Memory,
  byteOffset?: number | bigint,
) => QueueCore<Kind> & AtEnds & More;

/**
 * Returns a subclass of a core that waits at the two ends of the queue. A
 * channel needs no more, so a bundle of it contains no more. `what` is what its
 * errors call it.
 */
export function waitingEnds<Kind extends string, More>(
  Core: CoreClass<QueueCore<Kind> & More>,
  what = "queue",
): EndsClass<Kind, More> {
  abstract class WaitingEnds extends (Core as unknown as typeof Operating) {
    /**
     * The position of this view's end when it last spun, and the first delay it
     * used.
     */
    #spunAt = 0;
    #initialDelay = 1;

    constructor(memory: Memory, byteOffset?: number | bigint) {
      super(memory, byteOffset, Copier);
    }

    readiness(awaits = true): Waiting<boolean | undefined> {
      return this.waitAt("pop", () => this.poppable(), awaits);
    }

    protected override refuse(): never {
      throw new ClosedError(`The ${what} is closed`);
    }

    /**
     * How many microseconds to spin before the first look. Each look takes a
     * cache line from the other side. In a stream of elements, an end that
     * follows the other too closely looks more often, so there the delay grows
     * to 16.
     */
    #delayAt(end: End): number {
      const at = this.position(end);
      const moved = at - this.#spunAt | 0;
      this.#spunAt = at;
      return this.#initialDelay = moved < STREAM
        ? 1
        : Math.min(2 * this.#initialDelay, LONGEST_DELAY);
    }

    blockAt<T>(
      end: End,
      attempt: () => T | false | undefined,
      timeout?: number,
    ): T | undefined {
      if (spinning.rounds > 0) {
        const result = spin(attempt, this.#delayAt(end));
        if (result !== undefined) return result;
      }
      return block(this.waitAt(end, attempt, false), timeout);
    }

    asyncAt<T>(
      end: End,
      attempt: () => T | false | undefined,
      options: AsyncOptions | undefined,
    ): Promise<T> {
      return awaitOn(this.pendingAt(end, attempt), options);
    }

    tryAsyncAt<T>(
      end: End,
      attempt: () => T | false | undefined,
      options: TryAsyncOptions | undefined,
    ): Promise<T | undefined> {
      return tryAwaitOn(this.pendingAt(end, attempt), options);
    }

    waitAt<T>(
      end: End,
      attempt: () => T | false | undefined,
      awaits = true,
    ): Waiting<T | undefined> {
      return waitOn(this.pendingAt(end, attempt), awaits);
    }
  }
  return WaitingEnds as unknown as EndsClass<Kind, More>;
}

/** What `waitingEnds` returns, with its methods declared as concrete. */
declare abstract class Ending extends Operating implements AtEnds {
  constructor(memory: Memory, byteOffset?: number | bigint);
  readiness: AtEnds["readiness"];
  waitAt: AtEnds["waitAt"];
  blockAt: AtEnds["blockAt"];
  asyncAt: AtEnds["asyncAt"];
  tryAsyncAt: AtEnds["tryAsyncAt"];
}

/**
 * The class that `waiting` returns; `More` are methods that only this core has.
 */
export type WaitingClass<Kind extends string, More = unknown> = new <E>(
  memory: Memory,
  byteOffset?: number | bigint,
) => Region<Kind> & Queue<E> & More;

/**
 * Returns a subclass of a core with all methods of {@linkcode Queue}. This is a
 * function so that a bundle of the core alone contains nothing that waits.
 */
export function waiting<Kind extends string, More>(
  Core: CoreClass<QueueCore<Kind> & More>,
): WaitingClass<Kind, More> {
  const Ends = waitingEnds(Core) as unknown as typeof Ending;
  abstract class WaitingQueue extends Ends {
    /**
     * The array for `pop` to fill next: one that an earlier `pop` did not need.
     */
    #spare: Uint8Array<ArrayBuffer> | undefined;

    pushInt(value: number): void {
      assertMayBlock("pushInt");
      if (!super.tryPushInt(value)) this.#pushIntSlow(value);
    }

    override tryPushInt(value: number, timeout = 0): boolean {
      if (timeout === 0) return super.tryPushInt(value);
      assertMayTry("tryPushInt", timeout);
      return super.tryPushInt(value) || this.#pushIntSlow(value, timeout);
    }

    pushIntAsync(value: number, options?: AsyncOptions): Promise<void> {
      return this.asyncAt("push", () => super.tryPushInt(value), options)
        .then(nothing);
    }

    tryPushIntAsync(value: number, options?: TryAsyncOptions) {
      return this.tryAsyncAt("push", () => super.tryPushInt(value), options)
        .then(isDone);
    }

    popInt(): number {
      assertMayBlock("popInt");
      return super.tryPopInt() ?? this.#popIntSlow()!;
    }

    override tryPopInt(timeout = 0): number | undefined {
      if (timeout === 0) return super.tryPopInt();
      assertMayTry("tryPopInt", timeout);
      return super.tryPopInt() ?? this.#popIntSlow(timeout);
    }

    popIntAsync(options?: AsyncOptions): Promise<number> {
      return this.asyncAt("pop", () => super.tryPopInt(), options);
    }

    tryPopIntAsync(options?: TryAsyncOptions): Promise<number | undefined> {
      return this.tryAsyncAt("pop", () => super.tryPopInt(), options);
    }

    push(src: Elements): void {
      assertMayBlock("push");
      if (!super.tryPush(src)) this.#pushSlow(src);
    }

    override tryPush(src: Elements, timeout = 0): boolean {
      if (timeout === 0) return super.tryPush(src);
      assertMayTry("tryPush", timeout);
      return super.tryPush(src) || this.#pushSlow(src, timeout);
    }

    pushAsync(src: Elements, options?: AsyncOptions): Promise<void> {
      return this.asyncAt("push", () => super.tryPush(src), options)
        .then(nothing);
    }

    tryPushAsync(src: Elements, options?: TryAsyncOptions): Promise<boolean> {
      return this.tryAsyncAt("push", () => super.tryPush(src), options)
        .then(isDone);
    }

    pop(): Uint8Array<ArrayBuffer> {
      assertMayBlock("pop");
      return this.#take() ?? this.#popSlow()!;
    }

    tryPop(timeout = 0): Uint8Array<ArrayBuffer> | undefined {
      if (timeout === 0) return this.#take();
      assertMayTry("tryPop", timeout);
      return this.#take() ?? this.#popSlow(timeout);
    }

    popAsync(options?: AsyncOptions): Promise<Uint8Array<ArrayBuffer>> {
      return this.asyncAt("pop", () => this.#take(), options);
    }

    tryPopAsync(
      options?: TryAsyncOptions,
    ): Promise<Uint8Array<ArrayBuffer> | undefined> {
      return this.tryAsyncAt("pop", () => this.#take(), options);
    }

    popInto(dst: Elements): void {
      assertMayBlock("popInto");
      if (!super.tryPopInto(dst)) this.#popIntoSlow(dst);
    }

    override tryPopInto(dst: Elements, timeout = 0): boolean {
      if (timeout === 0) return super.tryPopInto(dst);
      assertMayTry("tryPopInto", timeout);
      return super.tryPopInto(dst) || this.#popIntoSlow(dst, timeout);
    }

    popIntoAsync(dst: Elements, options?: AsyncOptions): Promise<void> {
      return this.asyncAt("pop", () => super.tryPopInto(dst), options)
        .then(nothing);
    }

    tryPopIntoAsync(
      dst: Elements,
      options?: TryAsyncOptions,
    ): Promise<boolean> {
      return this.tryAsyncAt("pop", () => super.tryPopInto(dst), options)
        .then(isDone);
    }

    values(options?: AsyncOptions): AsyncGenerator<unknown, void, void> {
      const take: () => number | Uint8Array | undefined = this.elementSize === 4
        ? () => super.tryPopInt()
        : () => this.#take();
      return iterate({
        take,
        takeAsync: (options) => this.asyncAt("pop", take, options),
        isEnd: (error) => error instanceof ClosedError,
      }, options);
    }

    [Symbol.asyncIterator](): AsyncGenerator<unknown, void, void> {
      return this.values();
    }

    [DISPOSE](): void {
      this.close();
    }

    /** The oldest element in a fresh array; undefined if there is none. */
    #take(): Uint8Array<ArrayBuffer> | undefined {
      const element = this.#spare ?? new Uint8Array(this.elementSize);
      this.#spare = element; // keep it, as the queue was empty
      if (!super.tryPopInto(element)) return undefined;
      this.#spare = undefined;
      return element;
    }

    // The slow paths are functions of their own: otherwise each call of a fast
    // path would pay for the closure.

    #pushIntSlow(value: number, timeout?: number): boolean {
      return this.blockAt("push", () => super.tryPushInt(value), timeout) ===
        true;
    }

    #popIntSlow(timeout?: number): number | undefined {
      return this.blockAt("pop", () => super.tryPopInt(), timeout);
    }

    #pushSlow(src: Elements, timeout?: number): boolean {
      return this.blockAt("push", () => super.tryPush(src), timeout) === true;
    }

    #popSlow(timeout?: number): Uint8Array<ArrayBuffer> | undefined {
      return this.blockAt("pop", () => this.#take(), timeout);
    }

    #popIntoSlow(dst: Elements, timeout?: number): boolean {
      return this.blockAt("pop", () => super.tryPopInto(dst), timeout) === true;
    }
  }
  return WaitingQueue as unknown as WaitingClass<Kind, More>;
}

const nothing = (): void => {};
const isDone = (result: unknown): boolean => result === true;
