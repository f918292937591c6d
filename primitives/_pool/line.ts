/**
 * What waits. Tasks stand in a line: those of a higher priority before others,
 * and else those that came first. It is a binary heap, of which any member can
 * be taken out. Producers of tasks wait until there is room for another one.
 *
 * @module
 */

import {
  assertOptions,
  assertSignal,
  assertTimeout,
} from "../_memory/options.ts";

/** An entry of the line. */
export interface Standing {
  readonly priority: number;
  /** An entry that came earlier has a lower number. */
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

  /** The first of those that are like this; it looks at all. */
  firstOf(isLike: (it: T) => boolean): T | undefined {
    let first: T | undefined;
    for (const it of this.#heap) {
      if (!isLike(it)) continue;
      if (first === undefined || isBefore(it, first)) first = it;
    }
    return first;
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

/** How to wait for room. */
export interface RoomOptions {
  /** Ends the wait: it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest wait in ms, `Infinity` unless given. Then it rejects with a
   * DOMException named `TimeoutError`.
   */
  readonly timeout?: number | undefined;
}

/** Producers that wait. */
export class Producers {
  readonly #isFull: () => boolean;
  /** Wakes each producer that sleeps. */
  readonly #wakes = new Set<() => void>();

  /** Makes a room in which nobody waits. */
  constructor(isFull: () => boolean) {
    this.#isFull = isFull;
  }

  /** Resolves once there is room. */
  async wait(options: RoomOptions | undefined): Promise<void> {
    assertOptions(options, ["signal", "timeout"]);
    const { signal, timeout = Infinity } = options ?? {};
    assertTimeout(timeout);
    assertSignal(signal);
    if (signal?.aborted) throw signal.reason;
    if (!this.#isFull()) return;
    /** Why this producer has given up, if it has. */
    let end: { readonly reason: unknown } | undefined;
    let wake = () => {};
    const giveUp = (reason: unknown) => {
      end ??= { reason };
      wake();
    };
    const abort = () => giveUp(signal!.reason);
    const late = () => giveUp(timeoutError(timeout));
    const timer = timeout === Infinity
      ? undefined
      : setTimeout(late, Math.min(timeout, 0x7fff_ffff));
    signal?.addEventListener("abort", abort);
    try {
      do {
        await new Promise<void>((resolve) => {
          wake = resolve;
          this.#wakes.add(wake);
        });
        this.#wakes.delete(wake);
        // It may have given up when it had been woken, but did not run yet.
        if (end !== undefined) throw end.reason;
      } while (this.#isFull()); // others were first
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Wakes all that wait, if there is room. */
  tell(): void {
    if (this.#wakes.size === 0 || this.#isFull()) return;
    for (const wake of this.#wakes) wake();
    this.#wakes.clear();
  }
}

const timeoutError = (timeout: number): DOMException =>
  new DOMException(
    `There was no room for a task within ${timeout} ms`,
    "TimeoutError",
  );
