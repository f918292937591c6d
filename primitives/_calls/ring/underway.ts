/**
 * The answers that a server awaits side by side.
 *
 * @module
 */

/**
 * The answers that a server has begun, and that have not ended, with their
 * slots. A `race` of their promises would leave something at each of them every
 * time. At an answer that takes days, that would add up.
 */
export class Underway extends Map<Promise<unknown>, number> {
  /** Ends the wait for the next one. */
  wake = (): void => {};

  /**
   * Adds the answer of the call in slot `at`. Its promise never rejects. `over`
   * is called when it has ended.
   */
  add(answer: Promise<unknown>, at: number, over?: () => void): void {
    this.set(answer, at);
    answer.then(() => {
      this.delete(answer);
      over?.();
      this.wake();
    });
  }

  /**
   * Resolves when the next one ends, or at the next `wake`. One function awaits
   * that at a time.
   */
  next(): Promise<void> {
    return new Promise((resolve) => this.wake = resolve);
  }
}
