/**
 * Models of three classes of esfx that block threads. Their packages are not in
 * the registry. Each method does to the words what the class does, and no more;
 * handles that are closed, arguments and timeouts are left out.
 *
 * @module
 */

type Words = Int32Array;

/** The words; word 1 is the most permits, of which no model asks. */
const LOCK = 0, COUNT = 2, WAITING = 3;

/**
 * The states of the semaphore's own lock, without the bit that names it. A lock
 * that is free has the number of one that others want.
 */
const FREE = 2, TAKEN = 1, WANTED = 2;

/** Takes the lock. `leave` leaves 0, which is none of the states. */
function enter(words: Words): void {
  let state = Atomics.compareExchange(words, LOCK, FREE, TAKEN);
  while (state !== FREE) {
    const before = Atomics.compareExchange(words, LOCK, TAKEN, WANTED);
    if (before !== FREE) Atomics.wait(words, LOCK, WANTED);
    state = Atomics.compareExchange(words, LOCK, FREE, WANTED);
  }
}

function leave(words: Words): void {
  if (Atomics.sub(words, LOCK, 1) === TAKEN) return;
  Atomics.store(words, LOCK, FREE);
  Atomics.notify(words, LOCK, 1);
}

/** A semaphore: its lock, the most permits, the free ones, and who waits. */
export class Semaphore {
  /** Bytes of a semaphore. */
  static readonly SIZE = 16;
  readonly #words: Words;

  /** The semaphore at the beginning of `memory`. */
  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory, 0, 4);
  }

  /** The memory of a semaphore with `count` of `most` permits. */
  static memory(count: number, most: number): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(Semaphore.SIZE);
    new Int32Array(memory).set([FREE, most, count, 0]);
    return memory;
  }

  /** Takes a permit. */
  wait(): void {
    const words = this.#words;
    enter(words);
    Atomics.add(words, WAITING, 1);
    for (;;) {
      const count = Atomics.load(words, COUNT);
      if (count > 0) break;
      leave(words);
      Atomics.wait(words, COUNT, count);
      enter(words);
    }
    Atomics.sub(words, COUNT, 1);
    Atomics.sub(words, WAITING, 1);
    leave(words);
  }

  /** Gives a permit back. */
  release(): void {
    const words = this.#words;
    enter(words);
    const count = Atomics.load(words, COUNT) + 1;
    const waiting = Atomics.load(words, WAITING);
    if (waiting > 1) Atomics.notify(words, WAITING);
    else if (waiting === 1 && count === 1) Atomics.notify(words, WAITING, 1);
    Atomics.store(words, COUNT, count);
    leave(words);
  }
}

/** What a condition variable unlocks and locks. */
export interface Lockable {
  lock(): void;
  unlock(): void;
}

/** A condition variable: one word that never changes. */
export class ConditionVariable {
  readonly #words: Words;

  /** The variable at the byte `at` of `memory`. */
  constructor(memory: SharedArrayBuffer, at: number) {
    this.#words = new Int32Array(memory, at, 1);
  }

  /** Waits until `condition` holds, and for a notification if it does not. */
  wait(mutex: Lockable, condition: () => boolean): void {
    while (!condition()) {
      mutex.unlock();
      Atomics.wait(this.#words, 0, 0);
      mutex.lock();
    }
  }

  /** Wakes one agent. */
  notifyOne(): void {
    Atomics.notify(this.#words, 0, 1);
  }
}

const UNSET = 0, NOTIFYING = 1, SET = 3;

/** An event that lets one agent pass each time it is set. */
export class AutoResetEvent {
  readonly #words: Words;

  /** The event at the byte `at` of `memory`. */
  constructor(memory: SharedArrayBuffer, at = 0) {
    this.#words = new Int32Array(memory, at, 1);
  }

  /** Sets it; false if it was set. */
  set(): boolean {
    const words = this.#words;
    const before = Atomics.compareExchange(words, 0, UNSET, NOTIFYING);
    if (before !== UNSET) return false;
    const woken = Atomics.notify(words, 0, 1);
    Atomics.store(words, 0, woken === 1 ? UNSET : SET);
    return true;
  }

  /** Waits until it is set, and resets it. */
  waitOne(): void {
    const words = this.#words;
    while (Atomics.wait(words, 0, UNSET) !== "ok") {
      if (Atomics.compareExchange(words, 0, SET, UNSET) === SET) return;
    }
  }
}
