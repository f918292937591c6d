/**
 * Models of two rings of audio samples that are not in the registry. Each
 * method does to the words what the class does, for one channel, and no more.
 *
 * @module
 */

const READ = 0, WRITE = 1;
const HEADER = 8;

/** FreeQueue: blocks of samples, with one place more than it can hold. */
export class FreeQueue {
  readonly #states: Uint32Array;
  readonly #samples: Float32Array;
  readonly #places: number;

  /** The queue in `memory`. */
  constructor(memory: SharedArrayBuffer) {
    this.#states = new Uint32Array(memory, 0, 2);
    this.#samples = new Float32Array(memory, HEADER);
    this.#places = this.#samples.length;
  }

  /** The memory of a queue for `size` samples. */
  static memory(size: number): SharedArrayBuffer {
    return new SharedArrayBuffer(HEADER + 4 * (size + 1));
  }

  /** Appends a block; false if there is no room for all of it. */
  push(block: Float32Array): boolean {
    const read = Atomics.load(this.#states, READ);
    const write = Atomics.load(this.#states, WRITE);
    const places = this.#places;
    const free = (read - write - 1 + places) % places;
    const { length } = block;
    if (free < length) return false;
    const end = write + length;
    if (end > places) {
      const first = places - write;
      this.#samples.set(block.subarray(0, first), write);
      // The end of the rest is reckoned from 0, and not from `first`.
      this.#samples.set(block.subarray(first, length - first + 1), 0);
    } else {
      this.#samples.set(block, write);
    }
    Atomics.store(this.#states, WRITE, end % places);
    return true;
  }

  /** Takes a block of `length` samples; undefined if there are fewer. */
  pull(length: number): number[] | undefined {
    const read = Atomics.load(this.#states, READ);
    const write = Atomics.load(this.#states, WRITE);
    const places = this.#places;
    if ((write - read + places) % places < length) return undefined;
    const block = Array.from(
      { length },
      (_, i) => this.#samples[(read + i) % places]!,
    );
    Atomics.store(this.#states, READ, (read + length) % places);
    return block;
  }
}

/** A ring whose indexes keep a bit that says whether it is closed. */
export class Float32RingBuffer {
  readonly #states: Int32Array;
  readonly #samples: Float32Array;

  /** The ring in `memory`. */
  constructor(memory: SharedArrayBuffer) {
    this.#states = new Int32Array(memory, 0, 2);
    this.#samples = new Float32Array(memory, HEADER);
  }

  /**
   * The memory of a ring for `capacity` samples, a power of two, through which
   * `before` samples have gone.
   */
  static memory(capacity: number, before: number): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(HEADER + 4 * capacity);
    new Int32Array(memory, 0, 2).fill(before << 1);
    return memory;
  }

  /** Appends as many of the samples as there is room for, and counts them. */
  push(samples: Float32Array): number {
    const { length: capacity } = this.#samples;
    const [read, write] = this.#ends();
    // The indexes have 31 bits, and their difference is taken in 32.
    const used = (write - read) >>> 0;
    const count = Math.min(capacity - used, samples.length);
    if (count === 0) return 0;
    for (let i = 0; i < count; i++) {
      this.#samples[(write + i) & (capacity - 1)] = samples[i]!;
    }
    Atomics.add(this.#states, WRITE, count << 1);
    Atomics.notify(this.#states, WRITE);
    return count;
  }

  /** Takes at most `most` samples. */
  pop(most: number): number[] {
    const { length: capacity } = this.#samples;
    const [read, write] = this.#ends();
    const count = Math.min((write - read) >>> 0, most);
    if (count === 0) return [];
    const samples = Array.from(
      { length: count },
      (_, i) => this.#samples[(read + i) & (capacity - 1)]!,
    );
    Atomics.add(this.#states, READ, count << 1);
    Atomics.notify(this.#states, READ);
    return samples;
  }

  #ends(): [read: number, write: number] {
    return [
      Atomics.load(this.#states, READ) >>> 1,
      Atomics.load(this.#states, WRITE) >>> 1,
    ];
  }
}
