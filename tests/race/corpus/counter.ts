/** Counts work to be done; wait() returns when none is left. */
export class WorkCounter {
  readonly #s: Int32Array;
  constructor(sab: SharedArrayBuffer, off = 0) {
    this.#s = new Int32Array(sab, off, 1);
  }
  add(n: number): void {
    Atomics.add(this.#s, 0, n);
  }
  done(): void {
    if (Atomics.sub(this.#s, 0, 1) === 1) Atomics.notify(this.#s, 0);
  }
  wait(): void {
    for (;;) {
      const c = Atomics.load(this.#s, 0);
      if (c === 0) return;
      Atomics.wait(this.#s, 0, c);
    }
  }
}
