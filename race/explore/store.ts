/**
 * The table of states that a search has met. Of each state it keeps only 64
 * bits of hash and how the state was reached.
 *
 * @module
 */
import { I32, U32, U8 } from "../engine/native.ts";

/** The states that were met, by number. */
export class States {
  /** How many there are. */
  size = 0;
  /** How many numbers are given, also to states that were passed through. */
  #count = 0;
  /** Two numbers each: 1 + the number of a state, and its first hash. */
  #slots = new I32(1 << 13);
  #mask = (1 << 12) - 1;
  #key1 = new U32(1 << 11);
  #key2 = new U32(1 << 11);
  #parent = new I32(1 << 11);
  #code = new I32(1 << 11);
  #cost = new U8(1 << 11);
  #passed = new U8(1 << 11);
  #asleep = new U32(1 << 11);

  /** The number of a state, or -1 if it was not met. */
  find(key1: number, key2: number): number {
    return this.#slots[this.#probe(key1, key2)]! - 1;
  }

  /** Adds a new state, which is reached from `parent` by `code`. */
  add(key1: number, key2: number, parent: number, code: number): number {
    const id = this.#next(parent, code);
    this.size++;
    this.#key1[id] = key1;
    this.#key2[id] = key2;
    this.#enter(id, key1, key2);
    return id;
  }

  /** Adds a state that is only passed through, so that it is never found. */
  pass(parent: number, code: number): number {
    const id = this.#next(parent, code);
    this.#passed[id] = 1;
    return id;
  }

  #next(parent: number, code: number): number {
    if (this.#count === this.#key1.length) this.#grow();
    const id = this.#count++;
    this.via(id, parent, code, 0);
    return id;
  }

  /** Notes a way to reach a state, and what it costs. */
  via(id: number, parent: number, code: number, cost: number): void {
    this.#parent[id] = parent;
    this.#code[id] = code;
    this.#cost[id] = Math.min(cost, 255);
  }

  /** The agents whose steps from a state are known to lead nowhere new. */
  asleep(id: number): number {
    return this.#asleep[id]!;
  }

  /** Sets them. */
  setAsleep(id: number, mask: number): void {
    this.#asleep[id] = mask;
  }

  /** The cost of the way to a state. */
  cost(id: number): number {
    return this.#cost[id]!;
  }

  /** The choices that lead to a state. */
  path(id: number): number[] {
    const codes: number[] = [];
    for (let at = id; this.#parent[at]! >= 0; at = this.#parent[at]!) {
      codes.push(this.#code[at]!);
    }
    return codes.reverse();
  }

  /** The slot of a state, or the one where it would be. */
  #probe(key1: number, key2: number): number {
    const slots = this.#slots;
    const mask = this.#mask;
    const first = key1 | 0;
    const second = key2 >>> 0;
    let at = (key1 ^ Math.imul(key2, 0x9e3779b1)) & mask;
    for (;;) {
      const id = slots[2 * at]! - 1;
      if (id < 0) return 2 * at;
      if (slots[2 * at + 1] === first && this.#key2[id] === second) {
        return 2 * at;
      }
      at = (at + 1) & mask;
    }
  }

  #enter(id: number, key1: number, key2: number): void {
    const at = this.#probe(key1, key2);
    this.#slots[at] = id + 1;
    this.#slots[at + 1] = key1;
  }

  #grow(): void {
    const length = this.#count * 2;
    const bigger = <T extends Int32Array | Uint32Array | Uint8Array>(
      old: T,
      fresh: T,
    ): T => (fresh.set(old), fresh);
    this.#key1 = bigger(this.#key1, new U32(length));
    this.#key2 = bigger(this.#key2, new U32(length));
    this.#parent = bigger(this.#parent, new I32(length));
    this.#code = bigger(this.#code, new I32(length));
    this.#cost = bigger(this.#cost, new U8(length));
    this.#passed = bigger(this.#passed, new U8(length));
    this.#asleep = bigger(this.#asleep, new U32(length));
    this.#slots = new I32(length * 4);
    this.#mask = length * 2 - 1;
    for (let id = 0; id < this.#count; id++) {
      if (this.#passed[id] === 1) continue;
      this.#enter(id, this.#key1[id]!, this.#key2[id]!);
    }
  }
}
