/**
 * An AbortSignal that calls its listeners directly. The platform's own signal
 * reports errors of its listeners, and the tester suspends an agent by
 * throwing.
 *
 * @module
 */

type Listener = ((event: unknown) => void) | {
  handleEvent(event: unknown): void;
};

/** An AbortSignal, as far as the library uses it. */
export class Signal {
  aborted = false;
  readonly reason = new Error("aborted");
  readonly #listeners = new Set<Listener>();
  addEventListener(_: string, listener: Listener): void {
    this.#listeners.add(listener);
  }
  removeEventListener(_: string, listener: Listener): void {
    this.#listeners.delete(listener);
  }
  abort(): void {
    this.aborted = true;
    for (const listener of [...this.#listeners]) {
      if (typeof listener === "function") listener({ target: this });
      else listener.handleEvent({ target: this });
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
