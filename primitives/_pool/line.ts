/**
 * What waits. Tasks stand in a line: those of a higher priority before others,
 * and else those that came first. Those of one priority are a list, and these
 * lists are a binary heap: a task of the priority that most have is put in line
 * and taken out in a few steps, however many wait. Producers of tasks wait
 * until there is room for another one.
 *
 * @module
 */

import {
  assertOptions,
  assertSignal,
  assertTimeout,
} from "../_memory/options.ts";
import { offAbort, onAbort } from "../_wait/aborts.ts";

/** An entry of the line. */
export interface Standing<T> {
  readonly priority: number;
  /** An entry that came earlier has a lower number. */
  readonly order: number;
  /** Its neighbours of the same priority; the line writes them. */
  before: T | undefined;
  after: T | undefined;
}

/** The entries of one priority, linked in their order. */
class Row<T extends Standing<T>> {
  first: T;
  #last: T;
  /** Its place in the heap; the line writes it. */
  rank = 0;

  /** A row that has one entry. */
  constructor(it: T) {
    this.first = this.#last = it;
  }

  get priority(): number {
    return this.first.priority;
  }

  /** Adds an entry. One that comes back stood before most of them. */
  put(it: T): void {
    let before: T | undefined, after: T | undefined;
    if (this.#last.order < it.order) before = this.#last;
    else after = this.first;
    while (after !== undefined && after.order < it.order) {
      before = after;
      after = after.after;
    }
    it.before = before;
    it.after = after;
    if (before === undefined) this.first = it;
    else before.after = it;
    if (after === undefined) this.#last = it;
    else after.before = it;
  }

  /** Takes one out; false if no other is left, and it stays. */
  remove(it: T): boolean {
    const { before, after } = it;
    if (before === undefined && after === undefined) return false;
    if (before === undefined) this.first = after!;
    else before.after = after;
    if (after === undefined) this.#last = before!;
    else after.before = before;
    it.before = it.after = undefined;
    return true;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let it: T | undefined = this.first; it !== undefined; it = it.after) {
      yield it;
    }
  }
}

/** A line of jobs. */
export class Line<T extends Standing<T>> {
  readonly #rows = new Map<number, Row<T>>();
  /** The same rows, the highest priority first. */
  readonly #heap: Row<T>[] = [];
  #size = 0;

  /** How many stand there. */
  get size(): number {
    return this.#size;
  }

  /** The first of them. */
  get first(): T | undefined {
    return this.#heap[0]?.first;
  }

  /** The first of those that are like this; it may look at all. */
  firstOf(isLike: (it: T) => boolean): T | undefined {
    let first: T | undefined;
    for (const row of this.#heap) {
      if (first !== undefined && row.priority < first.priority) continue;
      for (const it of row) {
        if (!isLike(it)) continue;
        first = it;
        break;
      }
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
    this.#size++;
    const row = this.#rows.get(it.priority);
    if (row !== undefined) return row.put(it);
    const own = new Row(it);
    this.#rows.set(it.priority, own);
    this.#sift(own, this.#heap.push(own) - 1);
  }

  /** Takes one out that stands there. */
  remove(it: T): void {
    this.#size--;
    const row = this.#rows.get(it.priority)!;
    if (row.remove(it)) return;
    this.#rows.delete(it.priority);
    const last = this.#heap.pop()!;
    if (last !== row) this.#sift(last, row.rank);
  }

  /** Moves a row up or down from `rank` to its place. */
  #sift(row: Row<T>, rank: number): void {
    const heap = this.#heap;
    const { priority } = row;
    while (rank > 0) {
      const next = rank - 1 >> 1;
      const above = heap[next]!;
      if (above.priority > priority) break;
      (heap[rank] = above).rank = rank;
      rank = next;
    }
    for (;;) {
      let next = 2 * rank + 1;
      if (next >= heap.length) break;
      const other = heap[next + 1];
      if (other !== undefined && other.priority > heap[next]!.priority) next++;
      const below = heap[next]!;
      if (below.priority < priority) break;
      (heap[rank] = below).rank = rank;
      rank = next;
    }
    (heap[rank] = row).rank = rank;
  }

  /** All of them, in any order. */
  *[Symbol.iterator](): IterableIterator<T> {
    for (const row of this.#heap) yield* row;
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
    if (signal !== undefined) onAbort(signal, abort, abort);
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
      if (signal !== undefined) offAbort(signal, abort);
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
