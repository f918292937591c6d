/**
 * The part of every bounded queue that never waits. `./realtime` exports this
 * part unchanged; `waiting` in `_queue/queue.ts` adds the forms that block and
 * await.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import {
  byteLengthOf,
  type Copying,
  type CopyingClass,
  type Elements,
} from "./elements.ts";
import {
  assertConfig,
  inRange,
  Region,
  type WordsInspection,
} from "../_memory/region.ts";
import type { StructType } from "../_message/field.ts";
import type { PendingResult } from "../_wait/pending.ts";

/** The configuration of a queue. */
export interface QueueConfig<Size extends number = number, F = never> {
  /**
   * How many elements fit: 1 to 2^28, rounded up to a power of 2. Together they
   * have at most 2^30 bytes.
   */
  readonly capacity: number;
  /**
   * The size of an element in bytes, a multiple of 4; 4 unless given. Elements
   * of an `SpscQueue` and an `MpmcQueue` may also have 1 or 2 bytes.
   */
  readonly elementSize?: Size | undefined;
  /**
   * The struct type of the elements. If it is given, the result is a
   * `TypedQueue`, whose `reserve` and `peek` return views of the fields.
   */
  readonly element?: StructType<F> | undefined;
}

/**
 * The type that iterating over a queue yields: a number if elements have 4
 * bytes, and otherwise a new Uint8Array for each element.
 */
export type ElementOf<Size extends number> = number extends Size
  ? number | Uint8Array<ArrayBuffer>
  : Size extends 4 ? number
  : Uint8Array<ArrayBuffer>;

/** The names of the settings in {@linkcode QueueConfig}. */
export const QUEUE_CONFIG: readonly string[] = [
  "capacity",
  "elementSize",
  "element",
];

/** The most bytes that the elements of a queue may have together. */
const MAX_BYTES = /* @__PURE__ */ (() => 2 ** 30)();

/**
 * Checks `config` and rounds it: returns `[capacity, elementSize]`. `few` says
 * which other sizes the queue takes.
 */
export function queueConfig(
  kind: string,
  config: QueueConfig,
  known: readonly string[] = QUEUE_CONFIG,
  few = "",
): [capacity: number, elementSize: number] {
  assertConfig(kind, config, known);
  const { capacity, elementSize = 4, element } = config;
  // A class whose queues may be typed has taken it out.
  if (element !== undefined) {
    throw new TypeError("This class has no element: give it an elementSize");
  }
  inRange("elementSize", elementSize, 1, MAX_BYTES);
  if (elementSize % 4) {
    throw new RangeError(
      `elementSize must be ${few}a multiple of 4: received ${elementSize}`,
    );
  }
  const most = Math.floor(MAX_BYTES / elementSize);
  inRange("A queue's capacity", capacity, 1, most);
  const rounded = 2 ** Math.ceil(Math.log2(capacity));
  if (rounded * elementSize > MAX_BYTES) {
    throw new RangeError(
      `A queue's capacity is rounded up to a power of two: ${rounded} ` +
        `elements of ${elementSize} bytes are more than 2^30: received ` +
        capacity,
    );
  }
  return [rounded, elementSize];
}

/** Whether elements are smaller than a word. */
function isShort(size: unknown): size is 1 | 2 {
  return size === 1 || size === 2;
}

/**
 * The same for a queue whose elements may have 1 or 2 bytes. An index tells
 * apart 2^28 elements at most, so these are counted as if they had 4.
 */
export function shortQueueConfig(
  kind: string,
  config: QueueConfig,
): [capacity: number, elementSize: number] {
  const size = config?.elementSize;
  const counted = isShort(size) ? { ...config, elementSize: 4 } : config;
  const [capacity, words] = queueConfig(
    kind,
    counted,
    QUEUE_CONFIG,
    "1, 2 or ",
  );
  return [capacity, isShort(size) ? size : words];
}

/**
 * Refuses a configuration that no such queue can have: see `assertFormatted`.
 *
 * @throws {RangeError} If it is such a configuration.
 */
export function assertShortFormatted(capacity: number, size: number): void {
  assertFormatted(capacity, isShort(size) ? 4 : size);
}

/**
 * The elements between the indices in the words `head` and `tail`, whose flags
 * are below `one`. If `head` moves on during each of many looks, this counts
 * only those that were there at the last look.
 */
export function sizeOf(
  words: Int32Array<SharedArrayBuffer>,
  head: number,
  tail: number,
  one: number,
  capacity: number,
): number {
  let from = Atomics.load(words, head) & -one;
  for (let looks = 8;; looks--) {
    const to = Atomics.load(words, tail) & -one;
    const was = from;
    from = Atomics.load(words, head) & -one;
    // (C) Otherwise elements came and went meanwhile.
    if (from === was || looks === 1) {
      return Math.min(Math.max(to - from | 0, 0) / one, capacity);
    }
  }
}

/**
 * Refuses a configuration that no queue can have. Somebody may have written
 * such words together with a seal that matches them.
 *
 * @throws {RangeError} If it is such a configuration.
 */
export function assertFormatted(capacity: number, elementSize: number): void {
  if (
    capacity > 0 && (capacity & capacity - 1) === 0 &&
    elementSize > 0 && elementSize % 4 === 0 &&
    capacity * elementSize <= MAX_BYTES
  ) return;
  throw new RangeError(
    `there is no queue of ${capacity} elements of ${elementSize} bytes`,
  );
}

/** The end of a queue that an operation works on. */
export type End = "push" | "pop";

/** How many slots of a queue keep the views that were made of them. */
const KEPT_VIEWS = 4096;

/**
 * The operations of a queue that never wait.
 *
 * On a closed queue they return the same as on a full or an empty one; read
 * `closed` to know the difference. The classes of `@weft/sync` throw a
 * `ClosedError` instead.
 */
export abstract class QueueCore<Kind extends string = string>
  extends Region<Kind> {
  /** The most elements that the queue can hold. */
  readonly capacity: number;
  /** The size of an element, in bytes. */
  readonly elementSize: number;
  /**
   * Copies elements in and out.
   *
   * @internal
   */
  protected readonly copier: Copying;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** The views that `reserve` and `peek` returned, by slot. */
  readonly #views: Uint8Array[] = [];

  /** Attaches to a queue whose words were checked. */
  protected constructor(
    kind: Kind,
    words: Int32Array<SharedArrayBuffer>,
    inspection: WordsInspection,
    capacity: number,
    elementSize: number,
    Copier: CopyingClass,
  ) {
    super(kind, words, inspection);
    this.capacity = capacity;
    this.elementSize = elementSize;
    this.copier = new Copier(words);
    this.#words = words;
  }

  /** Elements in the queue; a moment later it may be another number. */
  abstract get size(): number;
  /** Whether `close` was called; elements may still be in the queue. */
  abstract get closed(): boolean;

  /**
   * Appends a 4-byte element; false if the queue is full.
   *
   * @throws {RangeError} If `value` is not an integer of 32 bits, signed.
   * @throws {TypeError} If elements are not 4 bytes.
   */
  abstract tryPushInt(value: number): boolean;
  /**
   * Takes the oldest 4-byte element; undefined if the queue is empty.
   *
   * @throws {TypeError} If elements are not 4 bytes.
   */
  abstract tryPopInt(): number | undefined;
  /**
   * Appends the element in `src`; false if the queue is full.
   *
   * @throws {RangeError} If `src` is not as long as an element.
   */
  abstract tryPush(src: Elements): boolean;
  /**
   * Moves the oldest element into the beginning of `dst`; false if the queue is
   * empty.
   *
   * @throws {RangeError} If `dst` is shorter than an element.
   */
  abstract tryPopInto(dst: Elements): boolean;
  /**
   * Appends up to `n` elements from `src`, as many as there is room for. They
   * lie one behind the other in `src`. Returns how many were appended.
   *
   * @throws {RangeError} If `src` is shorter than `n` elements.
   */
  abstract tryPushMany(src: Elements, n: number): number;
  /**
   * Moves up to `n` of the oldest elements into `dst`, one behind the other.
   * Returns how many were moved.
   *
   * @throws {RangeError} If `dst` is shorter than `n` elements.
   */
  abstract tryPopMany(dst: Elements, n: number): number;
  /**
   * Reserves room for one element. Returns the element's bytes, or undefined if
   * the queue is full. Write the bytes, then call `commit`, and do not use them
   * afterwards.
   *
   * @throws {TypeError} If this view has a reservation already.
   */
  abstract reserve(): Uint8Array | undefined;
  /**
   * Appends the reserved element; false if the queue was closed meanwhile.
   *
   * @throws {TypeError} If nothing is reserved.
   */
  abstract commit(): boolean;
  /**
   * Shows the oldest element in place. Returns the element's bytes, or
   * undefined if the queue is empty. Read the bytes, then call `consume`, and
   * do not use them afterwards.
   */
  abstract peek(): Uint8Array | undefined;
  /**
   * Removes the element that `peek` returned.
   *
   * @throws {TypeError} If `peek` returned no element.
   */
  abstract consume(): void;
  /**
   * Closes the queue for good, and wakes every sleeper. Pushes fail from now
   * on. Pops take the elements that are left, and then fail.
   */
  abstract close(): void;

  /**
   * Called when the queue is closed. Here it does nothing; the class that
   * `waiting` returns throws.
   *
   * @internal
   */
  protected refuse(): void {}

  /**
   * The position of an end of the queue, as a hint.
   *
   * @internal
   */
  protected abstract position(end: End): number;
  /**
   * What an agent waits for at an end, of which `attempt` is the operation.
   *
   * @internal
   */
  protected abstract pendingAt<T>(
    end: End,
    attempt: () => T | false | undefined,
  ): PendingResult<T>;
  /**
   * The gong of an end, in words from the beginning of the buffer; undefined if
   * it has none.
   *
   * @internal
   */
  gongAt?(end: End): number | undefined;
  /**
   * Whether a pop would not wait: there is an element, or the queue is closed.
   *
   * @internal
   */
  protected abstract poppable(): boolean;

  /**
   * The number of slots for elements.
   *
   * @internal
   */
  protected get slots(): number {
    return this.capacity;
  }

  /**
   * The index of the word at which the element in `slot` begins.
   *
   * @internal
   */
  protected abstract wordOfSlot(slot: number): number;

  /**
   * The bytes of the element in `slot`. The view is kept for the next call,
   * because making one takes longer than writing a short element.
   *
   * @internal
   */
  protected viewOfSlot(slot: number): Uint8Array {
    const kept = this.#views[slot];
    if (kept !== undefined) return kept;
    const view = this.newViewOfSlot(slot);
    if (slot < KEPT_VIEWS) this.#views[slot] = view;
    return view;
  }

  /**
   * A new view of the bytes of the element in `slot`. It ends where the element
   * ends, so that no index can reach another word.
   *
   * @internal
   */
  protected newViewOfSlot(slot: number): Uint8Array {
    const { buffer, byteOffset } = this.#words;
    const at = byteOffset + this.wordOfSlot(slot) * 4;
    return new Uint8Array(buffer, at, this.elementSize);
  }

  /**
   * Checks that elements have 4 bytes.
   *
   * @internal
   */
  protected assertInts(): void {
    if (this.elementSize === 4) return;
    throw new TypeError(
      `Elements here are ${this.elementSize} bytes: use the forms without Int`,
    );
  }

  /**
   * Checks that `value` is an integer that fits a word.
   *
   * @internal
   */
  protected assertInt(value: number): void {
    if (typeof value !== "number" || value !== (value | 0)) refuseInt(value);
  }

  /**
   * Checks that `src` is as long as one element.
   *
   * @internal
   */
  protected assertElement(src: Elements): void {
    const byteLength = byteLengthOf(src);
    if (byteLength === this.elementSize) return;
    throw new RangeError(
      `An element is ${this.elementSize} bytes: received ${byteLength}`,
    );
  }

  /**
   * Checks that one element fits `dst`.
   *
   * @internal
   */
  protected assertRoomForOne(dst: Elements): void {
    if (byteLengthOf(dst) < this.elementSize) this.assertRoom(dst, 1);
  }

  /**
   * Checks that `n` elements fit `array`.
   *
   * @internal
   */
  protected assertRoom(array: Elements, n: number): void {
    const byteLength = byteLengthOf(array);
    inRange("The number of elements", n, 0, MAX_BYTES);
    if (byteLength >= n * this.elementSize) return;
    throw new RangeError(
      `${n} elements of ${this.elementSize} bytes do not fit an array of ` +
        `${byteLength} bytes`,
    );
  }
}

/** Throws the error that says why `value` is not a 4-byte element. */
export function refuseInt(value: unknown): never {
  const Refusal = typeof value === "number" ? RangeError : TypeError;
  throw new Refusal(
    "An element must be an integer from -2^31 to 2^31 - 1: " +
      `received ${describe(value)}`,
  );
}
