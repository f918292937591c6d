const TAIL = 0, HEAD = 1, DATA = 2;

/** The pushing side of a ring. It remembers the other side's position. */
export class SpscProducer {
  readonly #q: Int32Array;
  readonly #cap: number;
  #headCache = 0;
  constructor(sab: SharedArrayBuffer, off: number, capacity: number) {
    this.#q = new Int32Array(sab, off, DATA + capacity);
    this.#cap = capacity;
  }
  tryPush(v: number): boolean {
    const q = this.#q;
    const tail = Atomics.load(q, TAIL);
    if (tail - this.#headCache >= this.#cap) {
      this.#headCache = Atomics.load(q, HEAD);
      if (tail - this.#headCache >= this.#cap) return false;
    }
    q[DATA + (tail % this.#cap)] = v;
    Atomics.store(q, TAIL, tail + 1);
    return true;
  }
}

/** The popping side. */
export class SpscConsumer {
  readonly #q: Int32Array;
  readonly #cap: number;
  #tailCache = 0;
  constructor(sab: SharedArrayBuffer, off: number, capacity: number) {
    this.#q = new Int32Array(sab, off, DATA + capacity);
    this.#cap = capacity;
  }
  tryPop(): number | undefined {
    const q = this.#q;
    const head = Atomics.load(q, HEAD);
    if (head === this.#tailCache) {
      this.#tailCache = Atomics.load(q, TAIL);
      if (head === this.#tailCache) return undefined;
    }
    const v = q[DATA + (head % this.#cap)];
    Atomics.store(q, HEAD, head + 1);
    return v;
  }
}
