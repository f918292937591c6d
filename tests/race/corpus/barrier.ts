/** A cyclic barrier: how many have arrived, and the generation. */
export class Barrier {
  readonly #s: Int32Array;
  readonly #n: number;
  constructor(sab: SharedArrayBuffer, off: number, parties: number) {
    this.#s = new Int32Array(sab, off, 2);
    this.#n = parties;
  }
  /** Returns true for exactly one party per generation. */
  arrive(): boolean {
    const s = this.#s;
    const gen = Atomics.load(s, 1);
    if (Atomics.add(s, 0, 1) === this.#n - 1) {
      Atomics.store(s, 0, 0);
      Atomics.add(s, 1, 1);
      Atomics.notify(s, 1);
      return true;
    }
    while (Atomics.load(s, 1) === gen) Atomics.wait(s, 1, gen);
    return false;
  }
}
