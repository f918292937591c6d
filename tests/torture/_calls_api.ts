/** The object that the storm on calls serves. */
import process from "node:process";

/** Whether an agent can end at once: a thread of Node. */
export const CAN_DIE: boolean = !("Deno" in globalThis);

/** The greatest number of words that count, and of calls among them. */
export const MOST = 256, CALLS = 254;
/** How many iterators were made, and how many have ended. */
export const OPENED = 254, ENDED = 255;

const pause = <T>(ms: number, value: T) =>
  new Promise<T>((resolve) => setTimeout(resolve, ms, value));

/** A function of a caller. */
export type Fn = (i: number) => number | Promise<number>;

/** A function of a member: it is told a text, and gives its length. */
export type Hear = (text: string) => number | Promise<number>;

/** Why a function of a member may fail. */
const GONE = /released|given up|blocks|2 slots|closed|ended/;

/** An iterator that counts itself, and is told once that it has ended. */
export class Rows {
  readonly #n: number;
  readonly #counts: Int32Array;
  #at = 0;
  #over = false;

  constructor(n: number, counts: Int32Array) {
    this.#n = n;
    this.#counts = counts;
    Atomics.add(counts, OPENED, 1);
  }

  next(): IteratorResult<number, undefined> {
    if (this.#at < this.#n) return { done: false, value: this.#at++ };
    return this.return();
  }

  return(): { done: true; value: undefined } {
    if (!this.#over) Atomics.add(this.#counts, ENDED, 1);
    this.#over = true;
    return { done: true, value: undefined };
  }

  [Symbol.iterator](): this {
    return this;
  }
}

/** The same, whose steps take a while. */
class LateRows {
  readonly #rows: Rows;

  constructor(n: number, counts: Int32Array) {
    this.#rows = new Rows(n, counts);
  }

  async next(): Promise<IteratorResult<number, undefined>> {
    const step = this.#rows.next();
    if (!step.done && step.value % 3 === 2) await pause(1, null);
    return step;
  }

  return(): Promise<IteratorResult<number, undefined>> {
    return Promise.resolve(this.#rows.return());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/**
 * The methods. Those of a server that blocks return no promises. `begun` counts
 * how often each call was begun. `lend` is told of each instance.
 */
export function apiOf(
  begun: Int32Array,
  blocks: boolean,
  lend: (it: object) => void = () => {},
) {
  const begin = (at: number) => void Atomics.add(begun, at, 1);
  class Counter {
    count: number;

    constructor(at: number, count: number) {
      begin(at);
      lend(this);
      this.count = count;
    }

    add(n: number): number {
      return this.count += n;
    }
  }
  const members = new Set<Hear & Partial<Disposable>>();
  /** The sum of what a function returns, called one after the other. */
  async function sumOf(n: number, fn: Fn): Promise<number> {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += await fn(i);
    return sum;
  }
  /** The same; a server that blocks collects no garbage, so this releases. */
  function sumNow(n: number, fn: Fn & Partial<Disposable>): number {
    let sum = 0;
    try {
      for (let i = 0; i < n; i++) sum += fn(i) as number;
    } finally {
      fn[Symbol.dispose]?.();
    }
    return sum;
  }
  return {
    Counter,
    version: "1.2",
    math: {
      deep: {
        double(at: number, n: number): number {
          begin(at);
          return 2 * n;
        },
      },
    },
    /** Calls back `n` times; the sum. */
    back(at: number, n: number, fn: Fn, _?: AbortSignal) {
      begin(at);
      return blocks ? sumNow(n, fn) : sumOf(n, fn);
    },
    /** Returns, and then calls back `n` times. */
    keep(at: number, n: number, fn: Fn & Partial<Disposable>): number {
      begin(at);
      if (blocks) sumNow(n, fn);
      else {
        void pause(n % 3, null).then(() => sumOf(n, fn)).catch(() => {}).then(
          () => fn[Symbol.dispose]?.(),
        );
      }
      return n;
    },
    /** Keeps a function for `ms`; others let it be called. */
    join(
      at: number,
      ms: number,
      fn: Hear & Partial<Disposable>,
      _?: AbortSignal,
    ): number {
      begin(at);
      if (blocks) return fn[Symbol.dispose]?.(), ms;
      members.add(fn);
      void pause(ms, fn).then((fn) => {
        members.delete(fn);
        fn[Symbol.dispose]?.();
      });
      return ms;
    },
    /** Calls the functions of all members; how many there are. */
    tell(at: number, text: string, _?: AbortSignal): number | Promise<number> {
      begin(at);
      if (blocks) return 0;
      const all = [...members].map(async (fn) => await fn(text));
      return Promise.allSettled(all).then((ends) => {
        for (const end of ends) {
          if (end.status === "rejected") {
            if (!GONE.test(end.reason.message)) throw end.reason;
          } else if (end.value !== text.length) {
            throw new Error(`a member has heard ${end.value} letters`);
          }
        }
        return ends.length;
      });
    },
    /** The sum of an iterator that is an argument; it is left above `most`. */
    sum(
      at: number,
      most: number,
      numbers: Iterable<number> | AsyncIterable<number>,
      _?: AbortSignal,
    ): number | Promise<number> {
      begin(at);
      let sum = 0;
      if (!blocks) {
        return (async () => {
          for await (const n of numbers) if ((sum += n) > most) break;
          return sum;
        })();
      }
      const now = numbers as Iterable<number>;
      for (const n of now) if ((sum += n) > most) break;
      return sum;
    },
    rows(at: number, n: number, _?: AbortSignal): AsyncIterable<number> {
      begin(at);
      const Made = blocks ? Rows : LateRows;
      return new Made(n, begun) as unknown as AsyncIterable<number>;
    },
    /** Returns the text twice. */
    echo(at: number, text: string): string {
      begin(at);
      return text + text;
    },
    nap(at: number, ms: number): number | Promise<number> {
      begin(at);
      if (!blocks) return pause(ms, ms);
      for (const end = performance.now() + ms; performance.now() < end;);
      return ms;
    },
    fail(at: number, text: string): never {
      begin(at);
      throw new RangeError(text);
    },
    /** Returns when its caller gives up. */
    wait(at: number, signal: AbortSignal): null | Promise<null> {
      begin(at);
      if (blocks) {
        while (!signal.aborted);
        return null;
      }
      return new Promise((resolve) => {
        if (signal.aborted) resolve(null);
        signal.addEventListener("abort", () => resolve(null));
      });
    },
    /** Ends its server. */
    die(at: number): null {
      begin(at);
      process.exit(3);
    },
  };
}

/** What is served. */
export type Api = ReturnType<typeof apiOf>;
