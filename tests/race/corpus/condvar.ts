import type { Mutex } from "./mutex.ts";
/** A condition variable that counts its notifications. */
export class Condvar {
  readonly #s: Int32Array;
  constructor(sab: SharedArrayBuffer, off = 0) {
    this.#s = new Int32Array(sab, off, 1);
  }
  wait(m: Mutex): void {
    const seq = Atomics.load(this.#s, 0);
    m.unlock();
    Atomics.wait(this.#s, 0, seq);
    m.lock();
  }
  notifyOne(): void {
    Atomics.add(this.#s, 0, 1);
    Atomics.notify(this.#s, 0, 1);
  }
  notifyAll(): void {
    Atomics.add(this.#s, 0, 1);
    Atomics.notify(this.#s, 0);
  }
}
