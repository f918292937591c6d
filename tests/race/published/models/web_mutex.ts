/**
 * A model of the locks of web-mutex. Each method does to the words what the
 * class does, and no more.
 *
 * @module
 */

/** A word on which agents wait. */
class Cell {
  readonly #word: Int32Array;

  constructor(memory: SharedArrayBuffer, at: number) {
    this.#word = new Int32Array(memory, at, 1);
  }

  load = () => Atomics.load(this.#word, 0);
  store = (value: number) => void Atomics.store(this.#word, 0, value);
  add = (n: number) => Atomics.add(this.#word, 0, n);
  notify = (count?: number) => void Atomics.notify(this.#word, 0, count);

  /** Is meant to wait until the word is 0; it sleeps while the word is 0. */
  untilZero(): void {
    while (Atomics.wait(this.#word, 0, 0) !== "ok");
  }
}

/** A mutex: a word that counts who has it, or tries to. */
export class Mutex {
  readonly #count: Cell;

  /** The mutex at the byte `at` of `memory`. */
  constructor(memory: SharedArrayBuffer, at = 0) {
    this.#count = new Cell(memory, at);
  }

  /** Locks it. */
  lock(): void {
    for (;;) {
      if (this.#count.load() > 0) this.#count.untilZero();
      if (this.#count.add(1) === 0) return;
      this.#count.add(-1);
    }
  }

  /** Unlocks it. */
  unlock(): void {
    this.#count.add(-1);
    this.#count.notify(1);
  }
}

/** A lock for readers and writers: two mutexes, and who reads and writes. */
export class ReadWriterMutex {
  readonly #reads: Mutex;
  readonly #writes: Mutex;
  readonly #readers: Cell;
  readonly #writers: Cell;

  /** The lock at the beginning of `memory`. */
  constructor(memory: SharedArrayBuffer) {
    this.#reads = new Mutex(memory, 0);
    this.#writes = new Mutex(memory, 4);
    this.#readers = new Cell(memory, 8);
    this.#writers = new Cell(memory, 12);
  }

  /** Locks it for a reader. */
  readLock(): void {
    for (;;) {
      this.#reads.lock();
      if (this.#writers.load() === 0) break;
      this.#reads.unlock();
      this.#writers.untilZero();
    }
    this.#readers.add(1);
    this.#reads.unlock();
  }

  /** Unlocks it for a reader. */
  readUnlock(): void {
    this.#readers.add(-1);
    this.#readers.notify();
  }

  /** Locks it for a writer. */
  writeLock(): void {
    this.#writes.lock();
    this.#writers.store(1);
    for (;;) {
      this.#reads.lock();
      if (this.#readers.load() === 0) return;
      this.#reads.unlock();
      this.#readers.untilZero();
    }
  }

  /** Unlocks it for a writer. */
  writeUnlock(): void {
    this.#writers.store(0);
    this.#writers.notify();
    this.#reads.unlock();
    this.#writes.unlock();
  }
}
