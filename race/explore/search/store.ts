/**
 * The table of states that a search has met. Of each state it keeps only 64
 * bits of hash and how the state was reached.
 *
 * @module
 */
import { I32, U8 } from "../../engine/platform/native.ts";

/**
 * A slot of the table: 1 + the number of a state, its hashes, and the agents
 * that sleep there. These lie together, since most slots are in no cache.
 */
const SLOT = 4;
const NUMBER = 0, KEY1 = 1, KEY2 = 2, ASLEEP = 3;

/** Stands beside the agents that sleep: the state was probed. */
const PROBED = 1 << 30;

/** The states that were met, by number. */
export class States {
  /** How many there are. */
  size = 0;
  /** How many numbers are given, also to states that were passed through. */
  #count = 0;
  #slots = new I32(SLOT << 12);
  #mask = (1 << 12) - 1;
  /** The slot of the state that was sought last, or where it would be. */
  #at = 0;
  #key1 = 0;
  #key2 = 0;
  #parent = new I32(1 << 11);
  #code = new I32(1 << 11);
  #cost = new U8(1 << 11);

  /**
   * The number of a state, or -1 if it was not met. The next call of `add` or
   * use of `asleep` concerns this state.
   */
  find(key1: number, key2: number): number {
    this.#key1 = key1;
    this.#key2 = key2;
    this.#at = this.#probe(key1, key2);
    return this.#slots[this.#at + NUMBER]! - 1;
  }

  /** Adds the state that was sought; it is reached from `parent` by `code`. */
  add(parent: number, code: number): number {
    if (4 * ++this.size > 3 * this.#mask) {
      this.#widen();
      this.#at = this.#probe(this.#key1, this.#key2);
    }
    const id = this.pass(parent, code);
    const at = this.#at;
    this.#slots[at + NUMBER] = id + 1;
    this.#slots[at + KEY1] = this.#key1;
    this.#slots[at + KEY2] = this.#key2;
    return id;
  }

  /** Numbers a state that is only passed through, so that it is never found. */
  pass(parent: number, code: number): number {
    const id = this.#count++;
    if (id === this.#parent.length) this.#grow();
    this.via(id, parent, code, 0);
    return id;
  }

  /** Notes a way to reach a state, and what it costs. */
  via(id: number, parent: number, code: number, cost: number): void {
    this.#parent[id] = parent;
    this.#code[id] = code;
    this.#cost[id] = Math.min(cost, 255);
  }

  /** The agents whose steps from the state are known to lead nowhere new. */
  get asleep(): number {
    return this.#slots[this.#at + ASLEEP]! & ~PROBED;
  }

  set asleep(mask: number) {
    this.#slots[this.#at + ASLEEP] &= PROBED;
    this.#slots[this.#at + ASLEEP] |= mask;
  }

  /** Whether every agent was given its turns from the state; it now is. */
  probe(): boolean {
    const known = this.#slots[this.#at + ASLEEP]! & PROBED;
    this.#slots[this.#at + ASLEEP] |= PROBED;
    return known !== 0;
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
    for (let slot = (key1 ^ Math.imul(key2, 0x9e3779b1)) & mask;;) {
      const at = slot * SLOT;
      if (slots[at + NUMBER] === 0) return at;
      if (slots[at + KEY1] === key1 && slots[at + KEY2] === key2) return at;
      slot = (slot + 1) & mask;
    }
  }

  /** Makes the table twice as large. */
  #widen(): void {
    const old = this.#slots;
    this.#slots = new I32(old.length * 2);
    this.#mask = 2 * this.#mask + 1;
    for (let from = 0; from < old.length; from += SLOT) {
      if (old[from + NUMBER] === 0) continue;
      const at = this.#probe(old[from + KEY1]!, old[from + KEY2]!);
      for (let i = 0; i < SLOT; i++) this.#slots[at + i] = old[from + i]!;
    }
  }

  #grow(): void {
    const length = this.#parent.length * 2;
    const bigger = <T extends Int32Array | Uint8Array>(
      old: T,
      fresh: T,
    ): T => (fresh.set(old), fresh);
    this.#parent = bigger(this.#parent, new I32(length));
    this.#code = bigger(this.#code, new I32(length));
    this.#cost = bigger(this.#cost, new U8(length));
  }
}
