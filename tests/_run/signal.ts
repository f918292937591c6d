/**
 * An AbortSignal that calls its listeners directly. The platform's own signal
 * reports errors of its listeners, and the tester suspends an agent by
 * throwing.
 *
 * @module
 */

/** An AbortSignal, as far as the library uses it. */
export class Signal {
  aborted = false;
  readonly reason = new Error("aborted");
  readonly #listeners = new Set<(event: unknown) => void>();
  addEventListener(_: string, listener: (event: unknown) => void): void {
    this.#listeners.add(listener);
  }
  removeEventListener(_: string, listener: (event: unknown) => void): void {
    this.#listeners.delete(listener);
  }
  abort(): void {
    this.aborted = true;
    for (const listener of [...this.#listeners]) {
      listener({ target: this });
    }
  }
}

/** A signal for an agent of a scenario, and the options with it. */
export function signalled(): {
  signal: Signal;
  options: { signal: AbortSignal };
} {
  const signal = new Signal();
  return { signal, options: { signal: signal as unknown as AbortSignal } };
}
