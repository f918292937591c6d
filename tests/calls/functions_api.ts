type Fn<Result> = (n: number) => Result | Promise<Result>;

/** Functions that were kept, by the order of their calls. */
const kept: Fn<unknown>[] = [];

/** What the tests of functions serve. */
export const api = {
  /** The results of `n` calls back, one after the other. */
  async each<T>(n: number, fn: Fn<T>): Promise<T[]> {
    const results: T[] = [];
    for (let i = 0; i < n; i++) results.push(await fn(i));
    return results;
  },
  /** The results of `n` calls back, all at once. */
  all: <T>(n: number, fn: Fn<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: n }, (_, i) => fn(i))),
  /** Calls back, and does not wait for it. */
  fire(n: number, fn: Fn<unknown>): string {
    for (let i = 0; i < n; i++) void fn(i);
    return "fired";
  },
  /** The places of the arguments that are no numbers. */
  places: (...args: unknown[]): number[] =>
    [...args.keys()].filter((i) => typeof args[i] !== "number"),
  keep: (fn: Fn<unknown>): void => void kept.push(fn),
  tell: (n: number): Promise<unknown[]> => Promise.all(kept.map((fn) => fn(n))),
  /** Releases the first function that was kept. */
  release(): void {
    (kept.shift() as unknown as Disposable)[Symbol.dispose]();
  },
  clear: (): void => void kept.splice(0),
  /** Releases the first of several functions, and calls the last one. */
  async tellLast(n: number): Promise<unknown> {
    if (kept.length > 1) api.release();
    return await kept.at(-1)!(n);
  },
  released: async (fn: Fn<unknown>): Promise<unknown> => {
    (fn as unknown as Disposable)[Symbol.dispose]();
    return await fn(1);
  },
  odd: async (fn: (value: unknown) => unknown): Promise<unknown> =>
    await fn(Symbol("none")),
  async sum(numbers: AsyncIterable<number>, most: number): Promise<number> {
    let sum = 0;
    for await (const n of numbers) {
      sum += n;
      if (sum > most) break;
    }
    return sum;
  },
  /** For servers and callers that block. */
  eachNow(n: number, fn: (n: number) => unknown): unknown[] {
    return Array.from({ length: n }, (_, i) => fn(i));
  },
  sumNow(numbers: IterableIterator<number>, most: number): number {
    let sum = 0;
    for (const n of numbers) if ((sum += n) > most) break;
    return sum;
  },
  keepNow: (fn: (n: number) => unknown): void =>
    void kept.push(fn as Fn<unknown>),
  tellNow: (n: number): unknown[] => kept.map((fn) => fn(n)),
  async waitAfter(fn: Fn<unknown>, signal: AbortSignal): Promise<unknown> {
    await fn(1);
    answered++;
    if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }
    reasons.push(signal.reason);
    return undefined;
  },
  /** How many functions were answered that `waitAfter` called. */
  answers: (): number => answered,
  reasons: (): unknown[] => reasons.splice(0),
  /** Calls back with a text of `length` letters. */
  spell: async (
    length: number,
    fn: (text: string) => Promise<unknown>,
  ): Promise<unknown> => await fn("x".repeat(length)),
  /** Notes why a function could not be called. */
  async tried(fn: Fn<unknown>): Promise<void> {
    await Promise.resolve(fn(1)).catch((error) =>
      noted(() => {
        throw error;
      })
    );
  },
  triedNow: (fn: (n: number) => unknown): unknown => noted(() => fn(1)),
  failures: (): string[] => failures.splice(0),
};

const failures: string[] = [];

/** Calls `fn`, and notes what it throws. */
function noted<T>(fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    failures.push((error as Error).message);
    throw error;
  }
}

const reasons: unknown[] = [];
let answered = 0;
