/**
 * A queue whose elements are records of a struct, written and read in place.
 *
 * @module
 */

import { disposedBy, type Disposer, iterated } from "../_memory/dispose.ts";
import type { RecordOf, StructType, ViewOf } from "../_message/field.ts";
import type { MPMC_QUEUE } from "../_memory/layout.ts";
import type { Queue } from "./queue.ts";
import { wholeRecord } from "../_message/record.ts";
import { Cursor } from "../_message/record_fields.ts";
import type { Handle } from "../_memory/region.ts";
import type { AsyncOptions, TryAsyncOptions, Waiting } from "../_wait/wait.ts";

/**
 * The memory of a view that has no element. It has no bytes, so accessors
 * throw.
 */
const NOWHERE: DataView = /* @__PURE__ */ new DataView(
  /* @__PURE__ */ new ArrayBuffer(0),
);

/** This word is the same in each kind of queue. */
const SHAPE: typeof MPMC_QUEUE.shape = 4;
const HEAD = 5;

/** The queue of bytes under a typed queue. */
export interface BytesQueue<Kind extends string = string> extends Queue {
  /** Names the queue's algorithm and layout. */
  readonly kind: Kind;
  /** The value to post to another agent, which attaches with `from`. */
  readonly handle: Handle<Kind>;
  /** Of an `SpscQueue`: ends the roles of an agent. */
  abandon?(id: number): number;
}

/** A view that an end of a queue moves from element to element. */
class Place<F> {
  readonly view: ViewOf<F>;
  readonly #cursor = new Cursor(NOWHERE, 0);
  readonly #data: DataView;

  constructor(element: StructType<F>, buffer: SharedArrayBuffer) {
    this.#data = new DataView(buffer);
    this.view = element.field.view(this.#cursor, 0, "") as ViewOf<F>;
  }

  /** Moves the view to the element in these bytes. */
  enter(bytes: Uint8Array): ViewOf<F> {
    this.#cursor.data = this.#data;
    this.#cursor.at = bytes.byteOffset;
    return this.view;
  }

  /** Takes the element away from the view. From now on its accessors throw. */
  leave(): void {
    this.#cursor.data = NOWHERE;
    this.#cursor.at = 0;
  }
}

/**
 * The base of {@linkcode TypedQueue}: disposing closes it.
 *
 * @ignore
 */
export const TypedQueueBase: abstract new <T>() =>
  & Disposer
  & AsyncIterable<T, void, void> = /* @__PURE__ */ iterated(
    /* @__PURE__ */ disposedBy(Object, "close"),
  );

/**
 * A queue of records: see `create({ capacity, element })` of each queue.
 * `push` and `pop` copy plain objects; `reserve` and `peek` give a view of the
 * element in place.
 *
 * @example Points, written and read in place
 * ```ts
 * import { MpmcQueue, struct } from "@weft/sync";
 *
 * const Point = struct({ x: "f64", y: "f64" });
 * const points = MpmcQueue.create({ capacity: 64, element: Point });
 * points.push({ x: 1, y: 2 });
 * const point = points.reserve()!; // its fields lie in the queue
 * point.x = 3;
 * point.y = 4;
 * points.commit();
 * if (points.pop().y !== 2) throw new Error("another point");
 * if (points.peek()?.x !== 3) throw new Error("another point");
 * points.consume();
 * ```
 */
export class TypedQueue<F, Kind extends string = string>
  extends TypedQueueBase<RecordOf<F>>
  implements AsyncIterable<RecordOf<F>> {
  /** The struct type of the elements. */
  readonly element: StructType<F>;
  /** The same queue, with its elements as bytes. */
  readonly untyped: BytesQueue<Kind>;
  readonly #field: ReturnType<typeof wholeRecord>;
  /** Private memory for the element that is pushed or popped. */
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #data: DataView<ArrayBuffer>;
  /** The views that `reserve` and `peek` return, once they were called. */
  #reserved: Place<F> | undefined;
  #peeked: Place<F> | undefined;

  /**
   * Gives the elements of a queue a type.
   *
   * @throws {TypeError} If the elements have another size, or other fields.
   */
  constructor(
    queue: BytesQueue<Kind>,
    element: StructType<F>,
    isNew = false,
  ) {
    const size = Math.ceil(element.size / 4) * 4;
    if (size !== queue.elementSize) {
      throw new TypeError(
        `The elements of this queue have ${queue.elementSize} bytes: a ` +
          `record of this type needs ${size}`,
      );
    }
    const { shape } = element;
    const words = new Int32Array(queue.buffer, queue.byteOffset, HEAD);
    if (isNew) Atomics.store(words, SHAPE, shape);
    const theirs = Atomics.load(words, SHAPE);
    // What knows no fields, such as C, leaves it 0.
    if (theirs !== shape && theirs !== 0) {
      throw new TypeError("The elements of this queue have other fields");
    }
    super();
    this.untyped = queue;
    this.element = element;
    this.#field = wholeRecord(element.field);
    this.#words = new Int32Array(size / 4);
    this.#data = new DataView(this.#words.buffer);
  }

  /** The kind of the queue. */
  get kind(): Kind {
    return this.untyped.kind;
  }

  /** The value to post to another agent, which attaches with `from`. */
  get handle(): Handle<Kind> {
    return this.untyped.handle;
  }

  /** The memory the queue lies in. */
  get buffer(): SharedArrayBuffer {
    return this.untyped.buffer;
  }

  /** Where it begins in `buffer`, in bytes. */
  get byteOffset(): number {
    return this.untyped.byteOffset;
  }

  /** The bytes it occupies. */
  get byteLength(): number {
    return this.untyped.byteLength;
  }

  /** The most elements that the queue can hold. */
  get capacity(): number {
    return this.untyped.capacity;
  }

  /** The size of an element, in bytes. */
  get elementSize(): number {
    return this.untyped.elementSize;
  }

  /** Elements in the queue; a moment later it may be another number. */
  get size(): number {
    return this.untyped.size;
  }

  /** Whether `close` was called; elements may still be in the queue. */
  get closed(): boolean {
    return this.untyped.closed;
  }

  /**
   * Appends a record, blocking while the queue is full. Every field must be
   * given.
   *
   * @throws {ClosedError} If the queue is closed.
   * @throws {TypeError} If a field is missing, unknown or of another type, or
   * this agent may not block.
   * @throws {RangeError} If a value does not fit its field.
   */
  push(record: RecordOf<F>): void {
    this.untyped.push(this.#packed(record));
  }

  /** As `push`, but waits at most `timeout` ms; false if no room came free. */
  tryPush(record: RecordOf<F>, timeout = 0): boolean {
    return this.untyped.tryPush(this.#packed(record), timeout);
  }

  /**
   * As `push`, awaiting instead of blocking. The record is copied at the call.
   */
  async pushAsync(
    record: RecordOf<F>,
    options?: AsyncOptions,
  ): Promise<void> {
    await this.untyped.pushAsync(this.#packed(record).slice(), options);
  }

  /** As `tryPush`, awaiting instead of blocking. */
  async tryPushAsync(
    record: RecordOf<F>,
    options?: TryAsyncOptions,
  ): Promise<boolean> {
    const packed = this.#packed(record).slice();
    return await this.untyped.tryPushAsync(packed, options);
  }

  /**
   * Takes the oldest record, blocking while there is none.
   *
   * @throws {ClosedError} If the queue is closed and empty.
   * @throws {TypeError} If this agent may not block.
   */
  pop(): RecordOf<F> {
    this.untyped.popInto(this.#words);
    return this.#unpacked(this.#data);
  }

  /** As `pop`, but waits at most `timeout` ms; undefined if none came. */
  tryPop(timeout = 0): RecordOf<F> | undefined {
    if (!this.untyped.tryPopInto(this.#words, timeout)) return undefined;
    return this.#unpacked(this.#data);
  }

  /** As `pop`, awaiting instead of blocking. */
  async popAsync(options?: AsyncOptions): Promise<RecordOf<F>> {
    return this.#unpacked(dataOf(await this.untyped.popAsync(options)));
  }

  /** As `tryPop`, awaiting instead of blocking. */
  async tryPopAsync(
    options?: TryAsyncOptions,
  ): Promise<RecordOf<F> | undefined> {
    const bytes = await this.untyped.tryPopAsync(options);
    return bytes && this.#unpacked(dataOf(bytes));
  }

  /**
   * Reserves room for one record. Returns a view of its fields, or undefined if
   * the queue is full. Write all fields, then call `commit`; after that, the
   * view throws.
   *
   * @throws {ClosedError} If the queue is closed.
   * @throws {TypeError} If a record is reserved already.
   */
  reserve(): ViewOf<F> | undefined {
    const bytes = this.untyped.reserve();
    if (bytes === undefined) return undefined;
    this.#reserved ??= new Place(this.element, this.buffer);
    return this.#reserved.enter(bytes);
  }

  /**
   * Appends the reserved record.
   *
   * @throws {TypeError} If no record is reserved.
   */
  commit(): void {
    this.#reserved?.leave();
    this.untyped.commit();
  }

  /**
   * Shows the oldest record in place. Returns a view of its fields, or
   * undefined if the queue is empty. Read the fields, then call `consume`;
   * after that, the view throws.
   *
   * @throws {ClosedError} If the queue is closed and empty.
   */
  peek(): ViewOf<F> | undefined {
    const bytes = this.untyped.peek();
    if (bytes === undefined) return undefined;
    this.#peeked ??= new Place(this.element, this.buffer);
    return this.#peeked.enter(bytes);
  }

  /**
   * Removes the record that `peek` returned.
   *
   * @throws {TypeError} If `peek` returned no record.
   */
  consume(): void {
    this.#peeked?.leave();
    this.untyped.consume();
  }

  /**
   * Closes the queue for good, and wakes every sleeper. Pushes fail from now
   * on. Pops take the records that are left, and then fail.
   */
  close(): void {
    this.untyped.close();
  }

  /**
   * Ends the roles of agent `id`, known never to run again; returns how many
   * those were: see `SpscQueue`. The agents of other queues have no roles.
   */
  abandon(id: number): number {
    return this.untyped.abandon?.(id) ?? 0;
  }

  /**
   * Takes records as they come, until the queue is closed and empty. If
   * `signal` aborts, the iteration throws `signal.reason`.
   *
   * @throws {TypeError} If an option is unknown or of the wrong type.
   */
  values(options?: AsyncOptions): AsyncGenerator<RecordOf<F>, void, void> {
    const elements = this.untyped.values(options);
    const next = elements.next.bind(elements);
    return Object.assign(elements, {
      next: async () => {
        const { done, value } = await next();
        if (done === true) return { done, value };
        return { done: false, value: this.#unpacked(dataOf(value)) };
      },
    }) as AsyncGenerator<RecordOf<F>, void, void>;
  }

  // What `select` and `waitAny` need: see `Selectable`.

  /** @internal */
  readiness(awaits = true): Waiting<boolean | undefined> {
    return this.untyped.readiness(awaits);
  }

  /** @internal */
  gongAt(end: "push" | "pop"): number | undefined {
    return this.untyped.gongAt?.(end);
  }

  /** @internal */
  waitAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    awaits = true,
  ): Waiting<T | undefined> {
    return this.untyped.waitAt(end, attempt, awaits);
  }

  #packed(record: RecordOf<F>): Int32Array<ArrayBuffer> {
    const checked = this.#field.check(record, "");
    this.#field.set(this.#data, 0, checked as never);
    return this.#words;
  }

  #unpacked(data: DataView): RecordOf<F> {
    return this.#field.get(data, 0) as RecordOf<F>;
  }
}

/** The bytes of an element, which is a number if it has 4 bytes. */
function dataOf(element: unknown): DataView {
  const { buffer, byteOffset, byteLength } = typeof element === "number"
    ? Int32Array.of(element)
    : element as Uint8Array;
  return new DataView(buffer, byteOffset, byteLength);
}
