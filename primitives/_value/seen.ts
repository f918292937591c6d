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
  /** Where the bytes of the first few begin and end. */
  readonly #ranges: number[] = [];
  /**
   * The last one of each chain, and for each one the one before it. In these,
   * the first one of a message has the number `#first`. It is higher than all
   * of the messages before, so chains need not be cleared. A chain that is in
   * the map ends with `-#first`.
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
    if (count < FEW) {
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

  /**
   * The number of a container if it is there; else adds it and returns -1. Its
   * bytes lie from `from` to `to` of `data`, where a message begins at `base`.
   * After the first few, one is found if it has the same bytes as before: only
   * a getter can change them meanwhile.
   */
  find(
    container: unknown,
    data: DataView,
    base: number,
    from: number,
    to: number,
  ): number {
    const count = this.#count;
    const all = this.#all;
    if (count >= FEW) {
      if (count === FEW) this.#chainFew(data, base);
      const found = this.#chain(container, hashOf(data, from, to), count);
      if (found >= 0) return found;
    } else {
      for (let i = 0; i < count; i++) if (all[i] === container) return i;
      this.#ranges[2 * count] = from - base;
      this.#ranges[2 * count + 1] = to - base;
    }
    all[count] = container;
    this.#count = count + 1;
    return -1;
  }

  /** Puts the first few into chains. */
  #chainFew(data: DataView, base: number): void {
    this.#last ??= new Int32Array(CHAINS);
    for (let i = 0; i < FEW; i++) {
      const from = base + this.#ranges[2 * i]!;
      const to = base + this.#ranges[2 * i + 1]!;
      this.#chain(this.#all[i], hashOf(data, from, to), i);
    }
  }

  /** The number of a container in its chain; else adds it as `count` there. */
  #chain(container: unknown, hash: number, count: number): number {
    const first = this.#first;
    const chains = this.#last!;
    const chain = hash & CHAINS - 1;
    const last = chains[chain]!;
    if (last >= first || last === -first) {
      return this.#compare(container, chain, count);
    }
    this.#before[count] = last;
    chains[chain] = first + count;
    return -1;
  }

  /** The same in a chain that has containers already. */
  #compare(container: unknown, chain: number, count: number): number {
    const first = this.#first;
    const all = this.#all;
    const before = this.#before;
    const chains = this.#last!;
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

/** A number that depends on the first and the last bytes of a container. */
function hashOf(data: DataView, from: number, to: number): number {
  let hash = to - from;
  if (hash >= 8) {
    hash += Math.imul(data.getInt32(from, true), 0x01000193);
    hash = Math.imul(hash ^ data.getInt32(from + 4, true), 0x01000193);
    hash = Math.imul(hash ^ data.getInt32(to - 4, true), 0x01000193);
  } else {
    for (; from < to; from++) hash = Math.imul(hash, 31) + data.getUint8(from);
  }
  return hash ^ hash >>> 10 ^ hash >>> 20;
}
