/**
 * A queue whose elements are records of a struct, written and read in place.
 *
 * @module
 */

import { disposedBy } from "./_dispose.ts";
import type { RecordOf, StructType, ViewOf } from "./_field.ts";
import { ClosedError, type Queue } from "./_queue.ts";
import { Cursor, wholeRecord } from "./_record.ts";
import type { Handle } from "./_region.ts";
import type { AsyncOptions, TryAsyncOptions, Waiting } from "./_wait.ts";

/** Memory that a view points to while it has no element: it has no bytes. */
const NOWHERE: DataView = /* @__PURE__ */ new DataView(
  /* @__PURE__ */ new ArrayBuffer(0),
);

/** A queue of bytes, which a type is given to. */
export interface BytesQueue<Kind extends string = string> extends Queue {
  /** Names the queue's algorithm and layout. */
  readonly kind: Kind;
  /** What `postMessage` can take to another agent. */
  readonly handle: Handle<Kind>;
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

  /** Takes the element from the view, which throws from now on. */
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
export const TypedQueueBase: abstract new () => Disposable =
  /* @__PURE__ */ disposedBy(Object, "close");

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
export class TypedQueue<F, Kind extends string = string> extends TypedQueueBase
  implements AsyncIterable<RecordOf<F>> {
  /** What each element is. */
  readonly element: StructType<F>;
  /** The queue that it is a view of, for its elements as bytes. */
  readonly untyped: BytesQueue<Kind>;
  readonly #field: ReturnType<typeof wholeRecord>;
  /** The element that is pushed or popped. */
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #data: DataView<ArrayBuffer>;
  /** Where `reserve` and `peek` point, once they were called. */
  #reserved: Place<F> | undefined;
  #peeked: Place<F> | undefined;

  /**
   * Gives the elements of a queue a type.
   *
   * @throws {TypeError} If the elements have another size.
   */
  constructor(
    queue: BytesQueue<Kind>,
    element: StructType<F>,
  ) {
    const size = Math.ceil(element.size / 4) * 4;
    if (size !== queue.elementSize) {
      throw new TypeError(
        `The elements of this queue have ${queue.elementSize} bytes: a ` +
          `record of this type needs ${size}`,
      );
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

  /** What `postMessage` can take to another agent. */
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

  /** Elements it holds at most. */
  get capacity(): number {
    return this.untyped.capacity;
  }

  /** Bytes an element has. */
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
   * Appends a record, of which every field must be given, blocking while the
   * queue is full.
   *
   * @throws {ClosedError} If the queue is closed.
   * @throws {TypeError} If a field is missing, unknown or of another type, or
   * this agent may not block.
   * @throws {RangeError} If a value does not fit its field.
   */
  push(record: RecordOf<F>): void {
    this.untyped.push(this.#packed(record));
  }

  /** As `push`, waiting `timeout` ms at most; false if no room came free. */
  tryPush(record: RecordOf<F>, timeout = 0): boolean {
    return this.untyped.tryPush(this.#packed(record), timeout);
  }

  /** As `push`, awaiting instead of blocking: the record is copied at once. */
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

  /** As `pop`, waiting `timeout` ms at most; undefined if none came. */
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
   * Begins to append a record in place: a view of its fields, or undefined if
   * the queue is full. Write all of them, then call `commit`: after it, the
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
   * @throws {TypeError} If none is reserved.
   */
  commit(): void {
    this.#reserved?.leave();
    this.untyped.commit();
  }

  /**
   * Begins to take the oldest record in place: a view of its fields, or
   * undefined if the queue is empty. Read them, then call `consume`: after it,
   * the view throws.
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
   * Takes the record that `peek` gave.
   *
   * @throws {TypeError} If `peek` gave none.
   */
  consume(): void {
    this.#peeked?.leave();
    this.untyped.consume();
  }

  /**
   * Closes the queue for good: pushes fail from now on, pops take what is
   * there and then fail, and every sleeper wakes.
   */
  close(): void {
    this.untyped.close();
  }

  /**
   * Takes records as they come, until the queue is closed and empty. If `signal`
   * aborts, the iteration throws `signal.reason`.
   *
   * @throws {TypeError} If an option is unknown or of the wrong type.
   */
  async *values(
    options?: AsyncOptions,
  ): AsyncGenerator<RecordOf<F>, void, void> {
    try {
      for (;;) yield await this.popAsync(options);
    } catch (error) {
      if (!(error instanceof ClosedError)) throw error;
    }
  }

  /** As `values()`. */
  [Symbol.asyncIterator](): AsyncGenerator<RecordOf<F>, void, void> {
    return this.values();
  }

  /**
   * Waits until a pop would end.
   *
   * @internal
   */
  readiness(): Waiting<boolean | undefined> {
    return this.untyped.readiness();
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

const dataOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);
