/**
 * One listener of an AbortSignal for all that it ends. Programs have signals
 * that live as long as they do, and Node 20 warns where one has more than ten
 * listeners.
 *
 * @module
 */

/** What a signal ends, each with the function that ends it. */
class Heeds extends Map<unknown, (it: never) => void> {
  handleEvent(): void {
    for (const [it, end] of this) end(it as never);
  }
}

const all = /* @__PURE__ */ new WeakMap<AbortSignal, Heeds>();

/**
 * Calls `end` of `it` when `signal` aborts, until {@linkcode offAbort} is
 * called.
 */
export function onAbort<T>(
  signal: AbortSignal,
  it: T,
  end: (it: T) => void,
): void {
  let heeds = all.get(signal);
  if (heeds === undefined) {
    all.set(signal, heeds = new Heeds());
    signal.addEventListener("abort", heeds);
  }
  heeds.set(it, end);
}

/** Ends what {@linkcode onAbort} began. */
export function offAbort(signal: AbortSignal, it: unknown): void {
  const heeds = all.get(signal);
  if (!heeds?.delete(it) || heeds.size > 0) return;
  all.delete(signal);
  signal.removeEventListener("abort", heeds);
}
