/**
 * A line in which those of a higher priority stand before others, and else
 * those that came first: a binary heap, of which any member can be taken out.
 *
 * @module
 */

/** What stands in line. */
export interface Standing {
  readonly priority: number;
  /** Who came first has the lower number. */
  readonly order: number;
  /** Its place in the heap; the line writes it. */
  rank: number;
}

const isBefore = (a: Standing, b: Standing): boolean =>
  a.priority === b.priority ? a.order < b.order : a.priority > b.priority;

/** A line of jobs. */
export class Line<T extends Standing> {
  readonly #heap: T[] = [];

  /** How many stand there. */
  get size(): number {
    return this.#heap.length;
  }

  /** The first of them. */
  get first(): T | undefined {
    return this.#heap[0];
  }

  /** The lowest priority of all; `Infinity` if nobody stands there. */
  get lowest(): number {
    return this.#heap.reduce(
      (lowest, { priority }) => Math.min(lowest, priority),
      Infinity,
    );
  }

  /** Puts one in line. */
  put(it: T): void {
    this.#sift(it, this.#heap.push(it) - 1);
  }

  /** Takes one out that stands there. */
  remove(it: T): void {
    const last = this.#heap.pop()!;
    if (last !== it) this.#sift(last, it.rank);
  }

  /** Moves `it` up or down from `rank` to its place. */
  #sift(it: T, rank: number): void {
    const heap = this.#heap;
    while (rank > 0) {
      const above = heap[rank - 1 >> 1]!;
      if (!isBefore(it, above)) break;
      const next = rank - 1 >> 1;
      (heap[rank] = above).rank = rank;
      rank = next;
    }
    for (;;) {
      let next = 2 * rank + 1;
      if (next >= heap.length) break;
      if (next + 1 < heap.length && isBefore(heap[next + 1]!, heap[next]!)) {
        next++;
      }
      const below = heap[next]!;
      if (!isBefore(below, it)) break;
      (heap[rank] = below).rank = rank;
      rank = next;
    }
    (heap[rank] = it).rank = rank;
  }

  /** All of them, in any order. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#heap.values();
  }
}
