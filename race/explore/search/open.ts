/**
 * The states whose successors are still to be visited. A search may have
 * hundreds of thousands of them, so they are not objects: their numbers lie one
 * after the other in a few arrays.
 *
 * @module
 */
import type { Snapshot } from "../../engine/state/agent/snapshot.ts";
import type { Around } from "../../engine/state/machine.ts";
import { ALL } from "../../engine/step/groups.ts";
import type { Memory } from "../../engine/state/memory.ts";
import { F64, I32 } from "../../engine/platform/native.ts";

/** A state whose successors are still to be visited. */
export class Open {
  /** Its number. */
  id = 0;
  /** The agent that took the last step, or -1. */
  last = -1;
  /** The cost of the way to it. */
  cost = 0;
  /**
   * The agents whose steps need not be taken, and those whose steps are left.
   */
  asleep = 0;
  left = ALL;
  /** The hashes of memory. */
  memory1 = 0;
  memory2 = 0;
  /** The judge's frontier. */
  frontier = 0;
  /** How many words of memory were ever written, and what they hold. */
  known = 0;
  words: Int32Array = new I32(16);
  /** Its share of the tree of states. */
  share = 0;
  around: Around | null = null;
  readonly agents: Snapshot[] = [];
}

/** How many numbers a state has besides its words; `known` is the last. */
const NUMBERS = 9;

const bigger = <T extends Int32Array | Float64Array>(
  old: T,
  fresh: T,
): T => (fresh.set(old), fresh);

/** Open states; the one that was pushed last comes next. */
export class Stack {
  /** How many there are. */
  size = 0;
  #top = 0;
  #numbers = new I32(1 << 12);
  #shares = new F64(1 << 8);
  readonly #arounds: Around[] = [];
  readonly #agents: Snapshot[] = [];

  /** Pushes a state with the present content of memory. */
  push(open: Open, memory: Memory): void {
    const { size: known } = memory;
    const end = this.#top + known + NUMBERS;
    if (end > this.#numbers.length) {
      this.#numbers = bigger(this.#numbers, new I32(2 * end));
    }
    if (this.size === this.#shares.length) {
      this.#shares = bigger(this.#shares, new F64(2 * this.size));
    }
    const numbers = this.#numbers;
    memory.save(numbers, this.#top);
    let at = this.#top + known;
    numbers[at++] = open.id;
    numbers[at++] = open.last;
    numbers[at++] = open.cost;
    numbers[at++] = open.asleep;
    numbers[at++] = open.left;
    numbers[at++] = open.memory1;
    numbers[at++] = open.memory2;
    numbers[at++] = open.frontier;
    numbers[at++] = known;
    this.#top = at;
    this.#shares[this.size] = open.share;
    this.#arounds[this.size] = open.around!;
    const { agents } = open;
    const first = this.size * agents.length;
    for (let i = 0; i < agents.length; i++) {
      this.#agents[first + i] = agents[i]!;
    }
    this.size++;
  }

  /** Takes the last state, of `count` agents. */
  pop(open: Open, count: number): void {
    const numbers = this.#numbers;
    const known = numbers[this.#top - 1]!;
    const begin = this.#top -= known + NUMBERS;
    if (open.words.length < known) open.words = new I32(2 * known);
    for (let i = 0; i < known; i++) open.words[i] = numbers[begin + i]!;
    let at = begin + known;
    open.known = known;
    open.id = numbers[at++]!;
    open.last = numbers[at++]!;
    open.cost = numbers[at++]!;
    open.asleep = numbers[at++]!;
    open.left = numbers[at++]!;
    open.memory1 = numbers[at++]!;
    open.memory2 = numbers[at++]!;
    open.frontier = numbers[at++]!;
    const size = --this.size;
    open.share = this.#shares[size]!;
    open.around = this.#arounds[size]!;
    for (let i = 0; i < count; i++) {
      open.agents[i] = this.#agents[size * count + i]!;
    }
  }

  /** Divides the shares of the states from number `from` on by `by`. */
  divide(from: number, by: number): void {
    for (let i = from; i < this.size; i++) this.#shares[i]! /= by;
  }
}
