/**
 * The objects and arrays of a message that is being written.
 *
 * @module
 */

/** Up to this number, they are compared one by one. */
const FEW = 4;
/** More are in chains, by a hash of their bytes. */
const CHAINS = 1024;
/** If a chain is longer, a Map is faster. */
const LONGEST = 128;
/** Lists are made anew after a message that had more. */
const MOST_KEPT = 4096;
/** Before numbers become larger, they begin anew. */
const MOST = 2 ** 29;

/** Numbers of containers, in the order in which they begin. */
export class Seen {
  #count = 0;
  readonly #all: unknown[] = [];
  /**
   * The last one of each chain, and for each one the one before it. In these, the
   * first one of a message has the number `#first`. It is higher than all of the
   * messages before, so chains need not be cleared.
   */
  #last: Int32Array | undefined;
  readonly #before: number[] = [];
  #first = 1;
  #map: Map<unknown, number> | undefined;

  /** Forgets all. */
  clear(): void {
    const count = this.#count;
    const all = this.#all;
    this.#count = 0;
    this.#map = undefined;
    if (count <= FEW) {
      for (let i = 0; i < count; i++) all[i] = undefined;
      return;
    }
    this.#first += count;
    if (this.#first > MOST) {
      this.#last?.fill(0);
      this.#first = 1;
    }
    if (count > MOST_KEPT) all.length = this.#before.length = 0;
    else all.fill(undefined, 0, count);
  }

  /** Whether a hash is needed to find a container. */
  get isMany(): boolean {
    return this.#count >= FEW;
  }

  /**
   * The number of a container if it is there; else adds it and returns -1. Those
   * after the first few are found if their hash is the same as before: only a
   * getter can change it meanwhile.
   */
  find(container: unknown, hash: number): number {
    const count = this.#count;
    const all = this.#all;
    const few = count < FEW ? count : FEW;
    for (let i = 0; i < few; i++) if (all[i] === container) return i;
    if (count >= FEW) {
      const found = this.#amongMany(container, hash);
      if (found >= 0) return found;
    }
    all[count] = container;
    this.#count = count + 1;
    return -1;
  }

  #amongMany(container: unknown, hash: number): number {
    if (this.#map !== undefined) return this.#inMap(this.#map, container);
    const chains = this.#last ??= new Int32Array(CHAINS);
    const chain = hash & CHAINS - 1;
    const last = chains[chain]!;
    if (last >= this.#first) {
      const found = this.#inChain(container, last);
      if (found >= 0) return found;
    }
    this.#before[this.#count] = last;
    chains[chain] = this.#first + this.#count;
    return -1;
  }

  #inChain(container: unknown, last: number): number {
    const first = this.#first;
    const all = this.#all;
    let length = 0;
    for (let i = last; i >= first; i = this.#before[i - first]!) {
      if (all[i - first] === container) return i - first;
      length++;
    }
    if (length > LONGEST) {
      this.#map = new Map();
      for (let i = FEW; i < this.#count; i++) this.#map.set(all[i], i);
      this.#map.set(container, this.#count);
    }
    return -1;
  }

  #inMap(map: Map<unknown, number>, container: unknown): number {
    const found = map.get(container);
    if (found !== undefined) return found;
    map.set(container, this.#count);
    return -1;
  }

  /** Whether a container is there. */
  has(container: unknown): boolean {
    return this.#all.includes(container);
  }
}
