/**
 * The part of every bounded queue that never waits. `./realtime` exports it as
 * it is; `waiting` of `_queue.ts` adds the forms that block and await.
 *
 * @module
 */

import { describe } from "./_describe.ts";
import {
  byteLengthOf,
  type Copying,
  type CopyingClass,
  type Elements,
} from "./_elements.ts";
import {
  assertConfig,
  inRange,
  Region,
  type WordsInspection,
} from "./_region.ts";
import type { StructType } from "./_field.ts";
import type { Sleep } from "./_wait.ts";

/** How a queue is made. */
export interface QueueConfig<Size extends number = number, F = never> {
  /** Elements it holds, 1 to 2^30 / elementSize; rounded up to a power of 2. */
  readonly capacity: number;
  /** Bytes an element has, a multiple of 4; 4 unless given. */
  readonly elementSize?: Size;
  /**
   * The struct that each element is. With it a `TypedQueue` is made, which has
   * `reserve` and `peek` give views of the fields.
   */
  readonly element?: StructType<F> | undefined;
}

/**
 * What iterating over a queue gives: numbers where an element has 4 bytes, and
 * otherwise a Uint8Array of its own for each element.
 */
export type ElementOf<Size extends number> = number extends Size
  ? number | Uint8Array<ArrayBuffer>
  : Size extends 4 ? number
  : Uint8Array<ArrayBuffer>;

/** The names in {@linkcode QueueConfig}. */
export const QUEUE_CONFIG: readonly string[] = ["capacity", "elementSize"];

/** The most bytes that the elements of a queue may have together. */
const MAX_BYTES = /* @__PURE__ */ (() => 2 ** 30)();

/** `config` checked and rounded: `[capacity, elementSize]`. */
export function queueConfig(
  kind: string,
  config: QueueConfig,
  known: readonly string[] = QUEUE_CONFIG,
): [capacity: number, elementSize: number] {
  assertConfig(kind, config, known);
  const { capacity, elementSize = 4 } = config;
  inRange("elementSize", elementSize, 4, MAX_BYTES);
  if (elementSize % 4) {
    throw new RangeError(
      `elementSize must be a multiple of 4: received ${elementSize}`,
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

/**
 * Refuses a configuration that no queue is made with, although its seal fits.
 *
 * @throws {RangeError} If so.
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

/** So many slots of a queue keep the views that were made of them. */
const KEPT_VIEWS = 4096;

/**
 * The operations of a queue that never wait.
 *
 * On a closed queue they answer as on a full or an empty one; `closed` tells
 * the difference. The classes of `@weft/sync` throw a `ClosedError` there.
 */
export abstract class QueueCore<Kind extends string = string>
  extends Region<Kind> {
  /** Elements it holds at most. */
  readonly capacity: number;
  /** Bytes an element has. */
  readonly elementSize: number;
  /**
   * Copies elements in and out.
   *
   * @internal
   */
  protected readonly copier: Copying;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** The views that `reserve` and `peek` gave, by slot. */
  readonly #views: Uint8Array[] = [];

  /** Views a queue whose words were checked. */
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
   * Appends up to `n` elements, which lie one behind the other in `src`, while
   * there is room; returns how many.
   *
   * @throws {RangeError} If `src` is shorter than `n` elements.
   */
  abstract tryPushMany(src: Elements, n: number): number;
  /**
   * Moves up to `n` of the oldest elements into `dst`, one behind the other;
   * returns how many.
   *
   * @throws {RangeError} If `dst` is shorter than `n` elements.
   */
  abstract tryPopMany(dst: Elements, n: number): number;
  /**
   * Begins to append an element in place: its bytes, or undefined if the queue
   * is full. Write them, then call `commit`. Do not use them afterwards.
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
   * Begins to take the oldest element in place: its bytes, or undefined if the
   * queue is empty. Read them, then call `consume`. Do not use them afterwards.
   */
  abstract peek(): Uint8Array | undefined;
  /**
   * Takes the element that `peek` gave.
   *
   * @throws {TypeError} If `peek` gave none.
   */
  abstract consume(): void;
  /**
   * Closes the queue for good: pushes fail from now on, pops take what is
   * there and then fail, and every sleeper wakes.
   */
  abstract close(): void;

  /**
   * Says that the queue is closed. Nothing here; `waiting` throws.
   *
   * @internal
   */
  protected refuse(): void {}

  /**
   * How far an end has come: a hint.
   *
   * @internal
   */
  protected abstract position(end: End): number;
  /**
   * Announces that this agent is about to sleep at `end`, and on what. The
   * caller looks once more after this. Undefined if it need not sleep.
   *
   * @internal
   */
  protected abstract announce(end: End, awaits: boolean): Sleep | undefined;
  /**
   * Takes an announcement back.
   *
   * @internal
   */
  protected abstract withdraw(end: End): void;
  /**
   * Passes a wake on, if others can go on after this waiter, too.
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
   * How many slots there are for elements.
   *
   * @internal
   */
  protected get slots(): number {
    return this.capacity;
  }

  /**
   * The word where the element in `slot` begins.
   *
   * @internal
   */
  protected abstract wordOfSlot(slot: number): number;

  /**
   * The bytes of the element in `slot`. The view is kept, as making one takes
   * longer than writing a short element.
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
   * does, so that no index reaches another word.
   *
   * @internal
   */
  protected newViewOfSlot(slot: number): Uint8Array {
    const { buffer, byteOffset } = this.#words;
    const at = byteOffset + this.wordOfSlot(slot) * 4;
    return new Uint8Array(buffer, at, this.elementSize);
  }

  /**
   * Checks that elements are single words.
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
   * Checks that `value` fits a word.
   *
   * @internal
   */
  protected assertInt(value: number): void {
    if (typeof value !== "number" || value !== (value | 0)) refuseInt(value);
  }

  /**
   * Checks that `src` is one element.
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
   * Checks that an element fits `dst`.
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

/** Says why `value` is no 4-byte element. */
export function refuseInt(value: unknown): never {
  const Refusal = typeof value === "number" ? RangeError : TypeError;
  throw new Refusal(
    "An element must be an integer from -2^31 to 2^31 - 1: " +
      `received ${describe(value)}`,
  );
}
