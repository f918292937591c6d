/**
 * What all guards share: a `using` block ends what they hold.
 *
 * @module
 */

/** Where the platform has no `Symbol.dispose`, compilers of `using` use this. */
const DISPOSE: typeof Symbol.dispose = /* @__PURE__ */ disposeSymbol();

function disposeSymbol(): typeof Symbol.dispose {
  return Symbol.dispose ?? Symbol.for("Symbol.dispose");
}

/** A class whose dispose method calls the method named `end`. */
// A function, because bundlers keep an unused class with a computed name.
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
