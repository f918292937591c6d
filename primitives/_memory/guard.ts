/**
 * The base classes of guards: at the end of a `using` block, a guard unlocks or
 * releases what it holds.
 *
 * @module
 */

import type { Disposer, DisposeSymbol } from "./dispose.ts";

/**
 * Compilers of `using` look for this symbol if there is no `Symbol.dispose`.
 */
const DISPOSE: DisposeSymbol = /* @__PURE__ */ disposeSymbol();

function disposeSymbol(): DisposeSymbol {
  return Symbol.dispose ?? Symbol.for("Symbol.dispose");
}

/** Makes a class whose dispose method calls the method named `end`. */
// This is a function because bundlers keep an unused class with a computed
// name.
function baseEndedBy<Name extends string>(
  end: Name,
): abstract new () => Disposer {
  abstract class Guard implements Disposable {
    [DISPOSE](): void {
      (this as unknown as Record<Name, () => void>)[end]();
    }
  }
  return Guard;
}

/**
 * The base of the guards of locks: a `using` block calls `unlock` at its end.
 *
 * @ignore
 */
export const LockGuard: abstract new () => Disposer =
  /* @__PURE__ */ baseEndedBy("unlock");

/**
 * The base of the guards of permits: a `using` block calls `release` at its
 * end.
 *
 * @ignore
 */
export const PermitGuard: abstract new () => Disposer =
  /* @__PURE__ */ baseEndedBy("release");

/**
 * The base of the ends of channels: a `using` block calls `leave` at its end.
 *
 * @ignore
 */
export const EndGuard: abstract new () => Disposer =
  /* @__PURE__ */ baseEndedBy("leave");
