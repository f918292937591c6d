/** A class that is served. */
export class Counter {
  static made = 0;
  static names(): string[] {
    return ["Counter"];
  }
  count: number;
  constructor(count = 0) {
    Counter.made++;
    if (count < 0) throw new RangeError(`a count of ${count}`);
    this.count = count;
  }
  add(n: number): number {
    return this.count += n;
  }
  get twice(): number {
    return 2 * this.count;
  }
}

/** What the tests of objects serve. */
export const api = {
  math: { add: (a: number, b: number) => a + b, deep: { one: () => 1 } },
  version: "1.2",
  settings: { wide: true, sizes: [1, 2] },
  nothing: undefined,
  Counter,
  counter: new Counter(5),
  echo: <T>(...args: T[]): T[] => args,
  count: (...args: unknown[]) => args.length,
  /** Blocks its server for `ms`, and leaves the processor to others. */
  busy(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  },
  fails: () => {
    throw undefined;
  },
};
