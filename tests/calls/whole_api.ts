/** What its tests serve without an object around it. */
export const add = Object.assign((a: number, b: number) => a + b, {
  version: "1.2",
});

export class Account {
  static currency = "EUR";
  constructor(public sum = 0) {
    if (sum < 0) throw new RangeError(`a sum of ${sum}`);
  }
  put(n: number) {
    return this.sum += n;
  }
  static open() {
    return "opened";
  }
}
