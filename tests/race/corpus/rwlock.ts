const STATE = 0, WWAIT = 1, WSEQ = 2;

/**
 * A lock that prefers writers: -1 for a writer or the number of readers; how
 * many writers wait; and a count that writers sleep on.
 */
export class RwLock {
  readonly #s: Int32Array;
  constructor(sab: SharedArrayBuffer, off = 0) {
    this.#s = new Int32Array(sab, off, 3);
  }
  readLock(): void {
    const s = this.#s;
    for (;;) {
      const c = Atomics.load(s, STATE);
      const w = Atomics.load(s, WWAIT);
      if (c >= 0 && w === 0) {
        if (Atomics.compareExchange(s, STATE, c, c + 1) === c) return;
        continue;
      }
      if (c < 0) Atomics.wait(s, STATE, -1);
      else Atomics.wait(s, WWAIT, w);
    }
  }
  readUnlock(): void {
    const s = this.#s;
    if (Atomics.sub(s, STATE, 1) === 1 && Atomics.load(s, WWAIT) > 0) {
      Atomics.add(s, WSEQ, 1);
      Atomics.notify(s, WSEQ, 1);
    }
  }
  writeLock(): void {
    const s = this.#s;
    if (Atomics.compareExchange(s, STATE, 0, -1) === 0) return;
    Atomics.add(s, WWAIT, 1);
    for (;;) {
      const seq = Atomics.load(s, WSEQ);
      if (Atomics.compareExchange(s, STATE, 0, -1) === 0) break;
      Atomics.wait(s, WSEQ, seq);
    }
    Atomics.sub(s, WWAIT, 1);
    Atomics.notify(s, WWAIT);
  }
  writeUnlock(): void {
    const s = this.#s;
    Atomics.store(s, STATE, 0);
    Atomics.notify(s, STATE);
    Atomics.add(s, WSEQ, 1);
    Atomics.notify(s, WSEQ, 1);
  }
}
