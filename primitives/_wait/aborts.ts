/**
 * One listener of an AbortSignal for all that it ends. Programs have signals
 * that live as long as they do, and Node 20 warns where one has more than ten
 * listeners. Waits have the same in `wait.ts`.
 *
 * @module
 */

/** What a signal calls when it aborts. */
class Heeds extends Set<() => void> {
  handleEvent(): void {
    for (const heed of this) heed();
  }
}

const all = /* @__PURE__ */ new WeakMap<AbortSignal, Heeds>();

/** Calls `heed` when `signal` aborts, until {@linkcode offAbort} is called. */
export function onAbort(signal: AbortSignal, heed: () => void): void {
  let heeds = all.get(signal);
  if (heeds === undefined) {
    all.set(signal, heeds = new Heeds());
    signal.addEventListener("abort", heeds);
  }
  heeds.add(heed);
}

/** Ends what {@linkcode onAbort} began. */
export function offAbort(signal: AbortSignal, heed: () => void): void {
  const heeds = all.get(signal);
  if (!heeds?.delete(heed) || heeds.size > 0) return;
  all.delete(signal);
  signal.removeEventListener("abort", heeds);
}
