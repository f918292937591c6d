/** A counting semaphore: permits, and agents in the slow path. */
export class Semaphore {
  readonly #s: Int32Array;
  constructor(sab: SharedArrayBuffer, off = 0) {
    this.#s = new Int32Array(sab, off, 2);
  }
  static init(sab: SharedArrayBuffer, off: number, permits: number): void {
    Atomics.store(new Int32Array(sab, off, 2), 0, permits);
  }
  tryAcquire(): boolean {
    let c = Atomics.load(this.#s, 0);
    while (c > 0) {
      const seen = Atomics.compareExchange(this.#s, 0, c, c - 1);
      if (seen === c) return true;
      c = seen;
    }
    return false;
  }
  acquire(): void {
    if (this.tryAcquire()) return;
    Atomics.add(this.#s, 1, 1);
    while (!this.tryAcquire()) Atomics.wait(this.#s, 0, 0);
    Atomics.sub(this.#s, 1, 1);
  }
  release(n = 1): void {
    Atomics.add(this.#s, 0, n);
    if (Atomics.load(this.#s, 1) > 0) Atomics.notify(this.#s, 0, n);
  }
}
