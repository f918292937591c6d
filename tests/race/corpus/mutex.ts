/**
 * Drepper's third mutex: 0 free, 1 held, 2 held with possible sleepers.
 *
 * Source: Drepper, Futexes Are Tricky, 2011.
 */
export class Mutex {
  readonly #s: Int32Array;
  constructor(sab: SharedArrayBuffer, off = 0) {
    this.#s = new Int32Array(sab, off, 1);
  }
  lock(): void {
    let c = Atomics.compareExchange(this.#s, 0, 0, 1);
    if (c === 0) return;
    if (c !== 2) c = Atomics.exchange(this.#s, 0, 2);
    while (c !== 0) {
      Atomics.wait(this.#s, 0, 2);
      c = Atomics.exchange(this.#s, 0, 2);
    }
  }
  tryLock(): boolean {
    return Atomics.compareExchange(this.#s, 0, 0, 1) === 0;
  }
  /** Returns false if `ms` elapsed first. */
  lockFor(ms: number): boolean {
    if (Atomics.compareExchange(this.#s, 0, 0, 1) === 0) return true;
    const deadline = performance.now() + ms;
    while (Atomics.exchange(this.#s, 0, 2) !== 0) {
      const left = deadline - performance.now();
      if (left <= 0) return false;
      Atomics.wait(this.#s, 0, 2, left);
    }
    return true;
  }
  unlock(): void {
    if (Atomics.sub(this.#s, 0, 1) !== 1) {
      Atomics.store(this.#s, 0, 0);
      Atomics.notify(this.#s, 0, 1);
    }
  }
}
