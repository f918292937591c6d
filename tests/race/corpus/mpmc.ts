const TAIL = 0, HEAD = 1, SLOTS = 2;

/**
 * Vyukov's bounded queue: tail, head, then a sequence and a value a slot. Its
 * answers "empty" and "full" may be wrong while another operation runs.
 */
export class Mpmc {
  readonly #q: Int32Array;
  readonly #mask: number;
  constructor(sab: SharedArrayBuffer, off: number, capacity: number) {
    this.#q = new Int32Array(sab, off, SLOTS + 2 * capacity);
    this.#mask = capacity - 1;
  }
  static bytes(capacity: number): number {
    return 4 * (SLOTS + 2 * capacity);
  }
  static init(sab: SharedArrayBuffer, off: number, capacity: number): void {
    const q = new Int32Array(sab, off, SLOTS + 2 * capacity);
    for (let i = 0; i < capacity; i++) Atomics.store(q, SLOTS + 2 * i, i);
  }
  tryPush(value: number): boolean {
    const q = this.#q;
    let pos = Atomics.load(q, TAIL);
    for (;;) {
      const slot = SLOTS + 2 * (pos & this.#mask);
      const dif = (Atomics.load(q, slot) - pos) | 0;
      if (dif === 0) {
        const seen = Atomics.compareExchange(q, TAIL, pos, (pos + 1) | 0);
        if (seen === pos) {
          q[slot + 1] = value;
          Atomics.store(q, slot, (pos + 1) | 0);
          return true;
        }
        pos = seen;
      } else if (dif < 0) {
        return false;
      } else {
        pos = Atomics.load(q, TAIL);
      }
    }
  }
  tryPop(): number | undefined {
    const q = this.#q;
    let pos = Atomics.load(q, HEAD);
    for (;;) {
      const slot = SLOTS + 2 * (pos & this.#mask);
      const dif = (Atomics.load(q, slot) - ((pos + 1) | 0)) | 0;
      if (dif === 0) {
        const seen = Atomics.compareExchange(q, HEAD, pos, (pos + 1) | 0);
        if (seen === pos) {
          const value = q[slot + 1];
          Atomics.store(q, slot, (pos + this.#mask + 1) | 0);
          return value;
        }
        pos = seen;
      } else if (dif < 0) {
        return undefined;
      } else {
        pos = Atomics.load(q, HEAD);
      }
    }
  }
  /** Blocking pop that spins until an element arrives. */
  popSpin(): number {
    for (;;) {
      const v = this.tryPop();
      if (v !== undefined) return v;
    }
  }
}
