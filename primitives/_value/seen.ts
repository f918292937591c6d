/**
 * The objects and arrays of a message that is being written.
 *
 * @module
 */

/** Up to this number, they are compared one by one. */
const FEW = 4;
/** More are in chains, by a hash of their bytes. */
const CHAINS = 1024;
/**
 * A chain that is full goes to a Map. Equal objects are all in one chain: rows
 * that have an empty list each, for example.
 */
const LONGEST = 16;
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
   * messages before, so chains need not be cleared. A chain that is in the map
   * ends with `-#first`.
   */
  #last: Int32Array | undefined;
  readonly #before: number[] = [];
  #first = 1;
  /** The containers of full chains. */
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
    const count = this.#count;
    const first = this.#first;
    const all = this.#all;
    const before = this.#before;
    const chains = this.#last ??= new Int32Array(CHAINS);
    const chain = hash & CHAINS - 1;
    const last = chains[chain]!;
    let length = 0;
    for (let i = last; i >= first; i = before[i - first]!) {
      if (all[i - first] === container) return i - first;
      length++;
    }
    const isInMap = last === -first;
    const found = isInMap ? this.#map!.get(container) : undefined;
    if (found !== undefined) return found;
    before[count] = last; // always: V8 keeps a list with large gaps as a table
    if (!isInMap && length < LONGEST) chains[chain] = first + count;
    else {
      this.#toMap(last).set(container, count);
      chains[chain] = -first;
    }
    return -1;
  }

  /** Puts the containers of a chain into the map; returns the map. */
  #toMap(last: number): Map<unknown, number> {
    const map = this.#map ??= new Map();
    const first = this.#first;
    for (let i = last; i >= first; i = this.#before[i - first]!) {
      map.set(this.#all[i - first], i - first);
    }
    return map;
  }

  /** Whether a container is there. */
  has(container: unknown): boolean {
    return this.#all.includes(container);
  }
}
