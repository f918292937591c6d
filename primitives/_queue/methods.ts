/**
 * The methods that every bounded queue has.
 *
 * @module
 */

import type { Elements } from "./elements.ts";
import type { Disposer } from "../_memory/dispose.ts";
import type { End } from "./queue_core.ts";
import type { Handle } from "../_memory/region.ts";
import type {
  AsyncOptions,
  Selectable,
  TryAsyncOptions,
} from "../_wait/wait.ts";

/**
 * The methods that every bounded queue has. Each operation has up to four
 * forms: `x` blocks until it is done; `tryX` waits at most `timeout` ms, which
 * is 0 unless given; `xAsync` and `tryXAsync` await instead of blocking.
 *
 * A push on a closed queue throws a {@linkcode ClosedError} in every form, and
 * so does a pop once the queue is empty. A push of a second producer of an
 * `SpscQueue`, or a pop of a second consumer, throws a TypeError. A form that
 * waits at an `MpmcQueue` throws a {@linkcode DamagedError} if an agent keeps
 * the slot that it waits for.
 *
 * @example Whichever queue it is
 * ```ts
 * import { MpmcQueue, type Queue, SpscQueue } from "@weft/sync";
 *
 * const fill = (queue: Queue) => {
 *   for (let n = 0; queue.tryPushInt(n); n++);
 *   return queue.size;
 * };
 * const spsc = fill(SpscQueue.create({ capacity: 4 }));
 * const mpmc = fill(MpmcQueue.create({ capacity: 4 }));
 * if (spsc !== 4 || mpmc !== 4) throw new Error("not full");
 * ```
 */
export interface Queue<E = unknown>
  extends AsyncIterable<E>, Disposer, Selectable {
  /** The value to post to another agent, which attaches with `from`. */
  readonly handle: Handle;
  /** The memory the queue lies in. */
  readonly buffer: SharedArrayBuffer;
  /** Where it begins in `buffer`, in bytes. */
  readonly byteOffset: number;
  /** The bytes it occupies. */
  readonly byteLength: number;
  /** The most elements that the queue can hold. */
  readonly capacity: number;
  /** The size of an element, in bytes. */
  readonly elementSize: number;
  /** Elements in the queue; a moment later it may be another number. */
  readonly size: number;
  /** Whether `close` was called; elements may still be in the queue. */
  readonly closed: boolean;

  /**
   * Appends a 4-byte element, blocking while the queue is full.
   *
   * @throws {ClosedError} If the queue is closed.
   * @throws {RangeError} If `value` is not an integer of 32 bits, signed.
   * @throws {TypeError} If elements are not 4 bytes, or this agent may not
   * block.
   */
  pushInt(value: number): void;
  /**
   * As `pushInt`, but waits at most `timeout` ms; false if no room came free.
   */
  tryPushInt(value: number, timeout?: number): boolean;
  /** As `pushInt`, awaiting instead of blocking. */
  pushIntAsync(value: number, options?: AsyncOptions): Promise<void>;
  /** As `tryPushInt`, awaiting instead of blocking. */
  tryPushIntAsync(value: number, options?: TryAsyncOptions): Promise<boolean>;

  /**
   * Takes the oldest 4-byte element, blocking while there is none.
   *
   * @throws {ClosedError} If the queue is closed and empty.
   * @throws {TypeError} If elements are not 4 bytes, or this agent may not
   * block.
   */
  popInt(): number;
  /** As `popInt`, but waits at most `timeout` ms; undefined if none came. */
  tryPopInt(timeout?: number): number | undefined;
  /** As `popInt`, awaiting instead of blocking. */
  popIntAsync(options?: AsyncOptions): Promise<number>;
  /** As `tryPopInt`, awaiting instead of blocking. */
  tryPopIntAsync(options?: TryAsyncOptions): Promise<number | undefined>;

  /**
   * Appends the element in `src`, blocking while the queue is full.
   *
   * @throws {ClosedError} If the queue is closed.
   * @throws {RangeError} If `src` is not as long as an element.
   * @throws {TypeError} If `src` is neither a typed array nor a DataView, or
   * this agent may not block.
   */
  push(src: Elements): void;
  /** As `push`, but waits at most `timeout` ms; false if no room came free. */
  tryPush(src: Elements, timeout?: number): boolean;
  /**
   * As `push`, awaiting instead of blocking. Do not change `src` before the
   * promise settles: it may be copied at any moment until then.
   */
  pushAsync(src: Elements, options?: AsyncOptions): Promise<void>;
  /** As `tryPush`, awaiting instead of blocking: see `pushAsync`. */
  tryPushAsync(src: Elements, options?: TryAsyncOptions): Promise<boolean>;

  /**
   * Takes the oldest element, blocking while there is none. Returns a new
   * array, which the caller may keep.
   *
   * @throws {ClosedError} If the queue is closed and empty.
   * @throws {TypeError} If this agent may not block.
   */
  pop(): Uint8Array<ArrayBuffer>;
  /** As `pop`, but waits at most `timeout` ms; undefined if none came. */
  tryPop(timeout?: number): Uint8Array<ArrayBuffer> | undefined;
  /** As `pop`, awaiting instead of blocking. */
  popAsync(options?: AsyncOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** As `tryPop`, awaiting instead of blocking. */
  tryPopAsync(
    options?: TryAsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined>;

  /**
   * Moves the oldest element into the beginning of `dst`, blocking while there
   * is none.
   *
   * @throws {ClosedError} If the queue is closed and empty.
   * @throws {RangeError} If `dst` is shorter than an element.
   * @throws {TypeError} If `dst` is neither a typed array nor a DataView, or
   * this agent may not block.
   */
  popInto(dst: Elements): void;
  /** As `popInto`, but waits at most `timeout` ms; false if none came. */
  tryPopInto(dst: Elements, timeout?: number): boolean;
  /** As `popInto`, awaiting instead of blocking. */
  popIntoAsync(dst: Elements, options?: AsyncOptions): Promise<void>;
  /** As `tryPopInto`, awaiting instead of blocking. */
  tryPopIntoAsync(dst: Elements, options?: TryAsyncOptions): Promise<boolean>;

  /**
   * Appends up to `n` elements from `src`, as many as there is room for,
   * without waiting. They lie one behind the other in `src`. Returns how many
   * were appended.
   *
   * @throws {ClosedError} If the queue is closed.
   * @throws {RangeError} If `src` is shorter than `n` elements.
   */
  tryPushMany(src: Elements, n: number): number;
  /**
   * Moves up to `n` of the oldest elements into `dst`, one behind the other,
   * without waiting. Returns how many were moved.
   *
   * @throws {ClosedError} If the queue is closed and empty.
   * @throws {RangeError} If `dst` is shorter than `n` elements.
   */
  tryPopMany(dst: Elements, n: number): number;

  /**
   * Reserves room for one element, without waiting. Returns the element's
   * bytes, or undefined if the queue is full. Write the bytes, then call
   * `commit`, and do not use them afterwards.
   *
   * @throws {ClosedError} If the queue is closed.
   * @throws {TypeError} If this view has a reservation already.
   */
  reserve(): Uint8Array | undefined;
  /**
   * Appends the reserved element.
   *
   * @throws {ClosedError} If the queue was closed since the element was
   * reserved; an `MpmcQueue` still takes it.
   * @throws {TypeError} If nothing is reserved.
   */
  commit(): void;
  /**
   * Shows the oldest element in place, without waiting. Returns the element's
   * bytes, or undefined if the queue is empty. Read the bytes, then call
   * `consume`, and do not use them afterwards.
   *
   * @throws {ClosedError} If the queue is closed and empty.
   */
  peek(): Uint8Array | undefined;
  /**
   * Removes the element that `peek` returned.
   *
   * @throws {TypeError} If `peek` returned no element.
   */
  consume(): void;

  /**
   * Takes elements as they come, until the queue is closed and empty. Each
   * element is a number if elements have 4 bytes, and a Uint8Array otherwise.
   * If `signal` aborts, the iteration throws `signal.reason`.
   */
  values(options?: AsyncOptions): AsyncGenerator<E, void, void>;
  /** As `values()`. */
  [Symbol.asyncIterator](): AsyncGenerator<E, void, void>;

  /**
   * Closes the queue for good, and wakes every sleeper. Pushes fail from now
   * on. Pops take the elements that are left, and then fail.
   */
  close(): void;

  /**
   * Blocks until `attempt`, an operation at this end of the queue, returns a
   * result; waits at most `timeout` ms.
   *
   * @internal
   */
  blockAt<T>(
    end: End,
    attempt: () => T | false | undefined,
    timeout?: number,
  ): T | undefined;
  /**
   * As `blockAt`, awaiting instead of blocking, and without a timeout.
   *
   * @internal
   */
  asyncAt<T>(
    end: End,
    attempt: () => T | false | undefined,
    options?: AsyncOptions,
  ): Promise<T>;
  /**
   * As `asyncAt`, with a timeout.
   *
   * @internal
   */
  tryAsyncAt<T>(
    end: End,
    attempt: () => T | false | undefined,
    options?: TryAsyncOptions,
  ): Promise<T | undefined>;
}
