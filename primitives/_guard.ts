/**
 * The base classes of guards: at the end of a `using` block, a guard unlocks or
 * releases what it holds.
 *
 * @module
 */

/**
 * Compilers of `using` look for this symbol if there is no `Symbol.dispose`.
 */
const DISPOSE: typeof Symbol.dispose = /* @__PURE__ */ disposeSymbol();

function disposeSymbol(): typeof Symbol.dispose {
  return Symbol.dispose ?? Symbol.for("Symbol.dispose");
}

/** Makes a class whose dispose method calls the method named `end`. */
// This is a function because bundlers keep an unused class with a computed
// name.
function baseEndedBy<Name extends string>(
  end: Name,
): abstract new () => Disposable {
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
export const LockGuard: abstract new () => Disposable =
  /* @__PURE__ */ baseEndedBy("unlock");

/**
 * The base of the guards of permits: a `using` block calls `release` at its
 * end.
 *
 * @ignore
 */
export const PermitGuard: abstract new () => Disposable =
  /* @__PURE__ */ baseEndedBy("release");
