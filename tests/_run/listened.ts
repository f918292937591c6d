/**
 * A signal that counts its listeners.
 *
 * @module
 */

/** How many listeners a signal has now, and had at most. */
export interface Listeners {
  now: number;
  most: number;
}

/** A signal, what aborts it, and how many listeners it has. */
export function listened(): {
  control: AbortController;
  signal: AbortSignal;
  listeners: Listeners;
} {
  const control = new AbortController();
  const { signal } = control;
  const listeners = { now: 0, most: 0 };
  const count = (name: "addEventListener" | "removeEventListener") => {
    const call = signal[name].bind(signal) as (...args: unknown[]) => void;
    const value = (...args: unknown[]) => {
      listeners.now += name === "addEventListener" ? 1 : -1;
      listeners.most = Math.max(listeners.most, listeners.now);
      call(...args);
    };
    Object.defineProperty(signal, name, { value });
  };
  count("addEventListener");
  count("removeEventListener");
  return { control, signal, listeners };
}
