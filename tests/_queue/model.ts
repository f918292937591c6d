/**
 * Checks every operation of both bounded queues against a plain array.
 *
 * @module
 */

import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  ClosedError,
  type Elements,
  LockFreeQueue,
  MpmcQueue,
  type Queue,
  SpscQueue,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import type { Waiting } from "../../primitives/_wait/wait.ts";
import { wordsOf } from "../_run/model.ts";

/** A queue with what the model needs to start it anywhere. */
export interface QueueKind {
  /** An empty queue whose next element has the number `start`, modulo 2^32. */
  startAt(capacity: number, size: number, start: number): Queue;
  /** Another view of a queue. */
  again(queue: Queue): Queue;
  /** An element that was peeked at no longer takes up room. */
  readonly peekMakesRoom?: boolean;
  /** Elements may have 1 or 2 bytes. */
  readonly short?: boolean;
}

/** An {@linkcode SpscQueue}, as a kind. */
export const SPSC: QueueKind = {
  startAt(capacity, size, start) {
    const queue = SpscQueue.create({ capacity, elementSize: size });
    const { tail, head, head_cache, tail_cache } = LAYOUT.spsc_queue;
    const words = wordsOf(queue);
    for (const index of [tail, head, head_cache, tail_cache]) {
      words[index] = start * 4;
    }
    return queue;
  },
  again: (queue) => new SpscQueue(queue.buffer, queue.byteOffset),
  short: true,
};

/** An {@linkcode MpmcQueue}, as a kind. */
export const MPMC: QueueKind = {
  startAt(capacity, size, start) {
    const queue = MpmcQueue.create({ capacity, elementSize: size });
    const { tail, head, length: slots } = LAYOUT.mpmc_queue;
    const words = wordsOf(queue);
    const stride = (words.length - slots) / capacity;
    words[tail] = words[head] = start * 2;
    for (let n = start; n < start + capacity; n++) {
      words[slots + n % capacity * stride] = n * 2; // free for ticket n
    }
    return queue;
  },
  again: (queue) => new MpmcQueue(queue.buffer, queue.byteOffset),
  short: true,
};

/** A {@linkcode LockFreeQueue}, as a kind. */
export const LOCK_FREE: QueueKind = {
  startAt(capacity, size, start) {
    const queue = LockFreeQueue.create({ capacity, elementSize: size });
    const { tail, head, free_tail, free_head, length: entries } =
      LAYOUT.lock_free_queue;
    const words = wordsOf(queue);
    const n = Math.max(2 * queue.capacity, 16);
    words[tail] = words[head] = words[free_head] = start;
    words[free_tail] = start + n - 1;
    for (let i = 0; i < n; i++) {
      const at = entries + (start + i & n - 1);
      const lap = (start + i & -n) << 1;
      words[at] = lap;
      words[at + n] = i < n - 1 ? lap | n | i : lap;
    }
    return queue;
  },
  again: (queue) => new LockFreeQueue(queue.buffer, queue.byteOffset),
  peekMakesRoom: true,
};

/**
 * Numbers of elements at which some 32-bit word of a queue is about to wrap.
 */
const STARTS = [0, 2 ** 29, 2 ** 30, 2 ** 31, 2 ** 32];

/** The bytes of element number `i`: no two are alike for a long time. */
export function element(i: number, size: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(size / 4));
  for (let w = 0; w < words.length; w++) {
    words[w] = Math.imul(i + 1, 0x9e3779b1) + w * 0x01010101;
  }
  return new Uint8Array(words.buffer, 0, size);
}

/** Makes an array of `bytes` bytes, of a kind and at an offset. */
type Maker = (bytes: number) => Elements;

/** Arrays of all kinds and alignments, private and shared. */
export const MAKERS: Record<string, Maker> = {
  "Uint8Array": (n) => new Uint8Array(n),
  "Uint8Array at 1": (n) => new Uint8Array(new ArrayBuffer(n + 8), 1, n),
  "Uint8Array at 4": (n) => new Uint8Array(new ArrayBuffer(n + 8), 4, n),
  "Int8Array at 3": (n) => new Int8Array(new ArrayBuffer(n + 8), 3, n),
  "Uint16Array at 2": (n) => new Uint16Array(new ArrayBuffer(n + 8), 2, n >> 1),
  "Int32Array": (n) => new Int32Array(n >> 2),
  "Int32Array at 4": (n) => new Int32Array(new ArrayBuffer(n + 8), 4, n >> 2),
  "Uint32Array": (n) => new Uint32Array(n >> 2),
  "Float32Array": (n) => new Float32Array(n >> 2),
  "Float64Array": (n) =>
    n % 8 ? new Float32Array(n >> 2) : new Float64Array(n >> 3),
  "BigInt64Array": (n) =>
    n % 8 ? new Int32Array(n >> 2) : new BigInt64Array(n >> 3),
  "DataView at 5": (n) => new DataView(new ArrayBuffer(n + 8), 5, n),
  "DataView at 8": (n) => new DataView(new ArrayBuffer(n + 8), 8, n),
  "shared Uint8Array at 1": (n) =>
    new Uint8Array(new SharedArrayBuffer(n + 8), 1, n),
  "shared Int32Array": (n) => new Int32Array(new SharedArrayBuffer(n)),
};

/** The same, but of bytes if the number of bytes does not fit its kind. */
const exact = (make: Maker): Maker => (n) => {
  const whole = n % 4 === 0 ? make(n) : make(n + 4 - n % 4);
  if (whole.byteLength === n) return whole;
  const { buffer, byteOffset } = whole;
  return whole instanceof Uint16Array && n % 2 === 0
    ? new Uint16Array(buffer, byteOffset, n / 2)
    : new Uint8Array(buffer, byteOffset, n);
};

/** All bytes of the buffer under `array`, including those around it. */
function around({ buffer }: Elements): Uint8Array {
  return new Uint8Array(buffer);
}

/** The bytes of `array` itself. */
export function inside(array: Elements): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

const CALLS = [
  "tryPush",
  "tryPop",
  "push",
  "pop",
  "tryPushMany",
  "tryPopMany",
  "reserve",
  "peek",
  "reserve, pop, commit",
  "peek, push, consume",
  "reserveMany",
  "peekMany",
  "ints",
  "close",
] as const;

const call = fc.record({
  // Seldom closed, so that most runs fill and drain the ring a few times.
  op: fc.constantFrom(...CALLS, ...CALLS.slice(0, -1), ...CALLS.slice(0, -1)),
  n: fc.nat({ max: 12 }),
  maker: fc.constantFrom(...Object.keys(MAKERS)),
});

/**
 * The sizes of elements that every queue may have; the usual one is frequent.
 */
const SIZES = [4, 4, 8, 12, 16, 20, 24, 32, 64, 260];

/** Runs random calls on a queue and on a plain array, and compares. */
export function obeysTheModel(
  kind: QueueKind,
  runs = 300,
  sizes: readonly number[] = SIZES,
): void {
  const capacity = fc.constantFrom(1, 1, 2, 4, 8);
  const size = fc.constantFrom(...sizes);
  const start = fc.tuple(fc.constantFrom(...STARTS), fc.nat({ max: 12 }))
    .map(([wrap, before]) => (wrap - before) >>> 0);
  const calls = fc.array(call, { minLength: 5, maxLength: 60 });
  fc.assert(
    fc.property(
      capacity,
      size,
      start,
      calls,
      (capacity, size, start, calls) => {
        const model = new Model(kind, capacity, size, start);
        for (const { op, n, maker } of calls) model.call(op, n, MAKERS[maker]!);
        model.drain();
      },
    ),
    { numRuns: runs },
  );
}

class Model {
  readonly #size: number;
  readonly #capacity: number;
  readonly #peekMakesRoom: boolean;
  readonly #producer: Queue;
  readonly #consumer: Queue;
  /** Numbers of the elements in the queue. */
  readonly #held: number[] = [];
  #closed = false;
  #next = 0;
  /** Whether an element is reserved or peeked at. */
  #halfway = false;

  constructor(
    { startAt, again, peekMakesRoom = false }: QueueKind,
    capacity: number,
    size: number,
    start: number,
  ) {
    this.#capacity = capacity;
    this.#peekMakesRoom = peekMakesRoom;
    this.#size = size;
    this.#producer = startAt(capacity, size, start);
    this.#consumer = again(this.#producer);
  }

  call(op: typeof CALLS[number], n: number, maker: Maker): void {
    const make = exact(maker);
    switch (op) {
      case "tryPush":
      case "push":
        return this.#push(
          1,
          make,
          (queue, src) =>
            (op === "push" ? queue.tryPush(src, 0.01) : queue.tryPush(src))
              ? 1
              : 0,
        );
      case "tryPop":
      case "pop":
        return this.#pop(
          1,
          make,
          (queue, dst) =>
            (op === "pop" ? queue.tryPopInto(dst, 0.01) : queue.tryPopInto(dst))
              ? 1
              : 0,
        );
      case "tryPushMany":
        return this.#push(n, make, (queue, src) => queue.tryPushMany(src, n));
      case "tryPopMany":
        return this.#pop(n, make, (queue, dst) => queue.tryPopMany(dst, n));
      case "reserve":
      case "reserve, pop, commit":
        return this.#push(1, make, (queue, src) => {
          const place = queue.reserve();
          if (place === undefined) return 0;
          assert.is(place.length, this.#size);
          place.set(inside(src));
          if (op !== "reserve") this.#meanwhile("tryPop", make);
          queue.commit();
          return 1;
        });
      case "peek":
      case "peek, push, consume":
        return this.#pop(1, make, (queue, dst) => {
          const place = queue.peek();
          if (place === undefined) return 0;
          assert.is(place.length, this.#size);
          assert.is(
            queue.peek()!.byteOffset,
            place.byteOffset,
            "peek() moved on",
          );
          if (op !== "peek") this.#meanwhile("tryPush", make);
          inside(dst).set(place);
          queue.consume();
          return 1;
        });
      case "reserveMany":
        return this.#push(n, make, (queue, src) => {
          if (!(queue instanceof SpscQueue) || n === 0) {
            return queue.tryPushMany(src, n);
          }
          const pieces = queue.reserveMany(n);
          if (pieces === undefined) return 0;
          const count = this.#countIn(pieces);
          const [first, second] = pieces;
          first.set(inside(src).subarray(0, first.length));
          second.set(inside(src).subarray(first.length, count * this.#size));
          assert.throws(() => queue.commitMany(count + 1), isRangeError);
          queue.commitMany(count);
          return count;
        });
      case "peekMany":
        return this.#pop(n, make, (queue, dst) => {
          if (!(queue instanceof SpscQueue) || n === 0) {
            return queue.tryPopMany(dst, n);
          }
          const pieces = queue.peekMany(n);
          if (pieces === undefined) return 0;
          const count = this.#countIn(pieces);
          const [first, second] = pieces;
          inside(dst).set(first);
          inside(dst).set(second, first.length);
          assert.throws(() => queue.consumeMany(count + 1), isRangeError);
          queue.consumeMany(count);
          return count;
        });
      case "ints":
        return this.#ints(n);
      case "close":
        (n % 2 ? this.#producer : this.#consumer).close();
        this.#closed = true;
    }
    this.#compare();
  }

  /** Takes all elements, and checks the end of a closed queue. */
  drain(): void {
    const make = MAKERS["Int32Array"]!;
    while (this.#held.length > 0) this.call("tryPop", 1, make);
    const last = ["tryPop", "close", ...CALLS, "close"] as const;
    for (const op of last) this.call(op, 1, make);
  }

  #countIn(pieces: readonly Uint8Array[]): number {
    return pieces.reduce((sum, { length }) => sum + length / this.#size, 0);
  }

  #meanwhile(op: "tryPush" | "tryPop", make: Maker): void {
    this.#halfway = true;
    this.call(op, 1, make);
    this.#halfway = false;
  }

  #push(
    n: number,
    make: Maker,
    push: (queue: Queue, src: Elements) => number,
  ): void {
    const size = this.#size;
    const src = make(n * size);
    const numbers = Array.from({ length: n }, (_, i) => this.#next + i);
    numbers.forEach((k, i) => inside(src).set(element(k, size), i * size));
    const before = around(src).slice();
    const gone = this.#halfway && this.#peekMakesRoom ? 1 : 0;
    const room = this.#capacity + gone - this.#held.length;
    if (this.#closed && n > 0) {
      assert.throws(() => push(this.#producer, src), isClosed);
    } else {
      const count = push(this.#producer, src);
      assert.is(count, Math.min(n, room));
      this.#held.push(...numbers.slice(0, count));
      this.#next += count;
    }
    assert.equal(around(src), before, "a push changed its source");
    this.#compare();
  }

  #pop(
    n: number,
    make: Maker,
    pop: (queue: Queue, dst: Elements) => number,
  ): void {
    const size = this.#size;
    const dst = make(n * size);
    around(dst).fill(0xee);
    const expected = around(dst).slice();
    if (this.#closed && this.#held.length === 0 && n > 0) {
      assert.throws(() => pop(this.#consumer, dst), isClosed);
    } else {
      const numbers = this.#held.slice(0, n);
      assert.is(pop(this.#consumer, dst), numbers.length);
      this.#held.splice(0, numbers.length);
      numbers.forEach((k, i) =>
        expected.set(element(k, size), dst.byteOffset + i * size)
      );
    }
    assert.equal(around(dst), expected, "not the bytes that were pushed");
    this.#compare();
  }

  /** Pushes and pops `n` numbers, where elements have four bytes. */
  #ints(n: number): void {
    if (this.#size !== 4) {
      assert.throws(() => this.#producer.tryPushInt(n), isTypeError);
      assert.throws(() => this.#consumer.tryPopInt(), isTypeError);
      return;
    }
    const toInt = (bytes: Uint8Array) =>
      new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);
    const blocks = n % 2 === 0;
    for (let i = 0; i < n; i++) {
      this.#push(1, MAKERS["Uint8Array"]!, (queue, src) => {
        const int = toInt(inside(src));
        return queue.tryPushInt(int, blocks ? 0.01 : 0) ? 1 : 0;
      });
      if (i % 3 === 2) continue;
      this.#pop(1, MAKERS["Uint8Array"]!, (queue, dst) => {
        const int = queue.tryPopInt(blocks ? 0.01 : 0);
        if (int === undefined) return 0;
        const { buffer, byteOffset } = dst;
        new DataView(buffer, byteOffset).setInt32(0, int, true);
        return 1;
      });
    }
  }

  #compare(): void {
    for (const queue of [this.#producer, this.#consumer]) {
      assert.is(queue.closed, this.#closed);
      assert.is(queue.capacity, this.#capacity);
      assert.is(queue.elementSize, this.#size);
      if (!this.#halfway) assert.is(queue.size, this.#held.length);
    }
    if (this.#halfway) return;
    assert.is(
      isReady(this.#consumer),
      this.#held.length > 0 || this.#closed,
    );
  }
}

/** Whether one who waits for an element, as `select` does, goes on at once. */
export function isReady(queue: {
  readiness(awaits?: boolean): Waiting<boolean | undefined>;
}): boolean {
  const path = queue.readiness(false);
  const { done, value } = path.next();
  path.return(undefined as never);
  return done === true && value === true;
}

const isClosed = (error: unknown): boolean =>
  error instanceof ClosedError && error.name === "ClosedError";
const isRangeError = (error: unknown): boolean => error instanceof RangeError;
const isTypeError = (error: unknown): boolean => error instanceof TypeError;
