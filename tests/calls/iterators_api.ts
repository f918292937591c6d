/** How the iterators that are served have ended. */
export const ends: string[] = [];

const pause = () => new Promise((resolve) => setTimeout(resolve));

/** What the tests of iterators serve. */
export const api = {
  /** Numbers from 0 to below `n`, of which `made` counts how many were made. */
  async *rows(n: number): AsyncGenerator<number, string, number> {
    let sum = 0;
    try {
      for (let i = 0; i < n; i++) {
        if (i % 8 === 7) await pause();
        api.made++;
        sum += (yield i) ?? 0;
      }
      return `sum ${sum}`;
    } catch (error) {
      ends.push(`threw ${(error as Error).message}`);
      yield -1;
      throw new RangeError("again", { cause: error });
    } finally {
      ends.push(`end of ${n}`);
    }
  },
  *texts(length: number, n: number): Generator<string> {
    try {
      for (let i = 0; i < n; i++) yield `${i}`.padEnd(length, "x");
    } finally {
      ends.push("end of texts");
    }
  },
  async *fails(): AsyncGenerator<number> {
    yield 1;
    await pause();
    throw new RangeError("no more", { cause: "the disk" });
  },
  /** As a stream of the platform has it: without `return`. */
  bare(n: number): AsyncIterable<number> {
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const done = n-- <= 0;
          return Promise.resolve({ done, value: done ? undefined : n } as //
          IteratorResult<number>);
        },
      }),
    };
  },
  list: (): number[] => [1, 2, 3],
  numbers: (): ReadonlyMap<number, number> => new Map([[1, 2]]),
  nothing: (): undefined => undefined,
  made: 0,
  howEnded: (): string[] => ends.splice(0),
};
