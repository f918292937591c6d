/**
 * What a `using` block ends. A program that is compiled without the library
 * `esnext.disposable` knows no such symbol: then this has no members, where
 * `Disposable` would be an error, and would take all members of a class with
 * it.
 */
export type Disposer = {
  [
    Key in Extract<
      SymbolConstructor["dispose" & keyof SymbolConstructor],
      symbol
    >
  ]: () => void;
};

/** The same of `await using`. */
export type AsyncDisposer = {
  [
    Key in Extract<
      SymbolConstructor["asyncDispose" & keyof SymbolConstructor],
      symbol
    >
  ]: () => Promise<void>;
};

/** The type of {@linkcode DISPOSE}. */
export type DisposeSymbol = keyof Disposer;

/**
 * `Symbol.dispose`, or, if the platform has none (as in Safari), the symbol
 * that transpiled `using` looks for.
 */
export const DISPOSE: DisposeSymbol = /* @__PURE__ */ disposeSymbol();

function disposeSymbol(): DisposeSymbol {
  return Symbol.dispose ?? Symbol.for("Symbol.dispose");
}

/**
 * Extends `Base` so that disposing of an object calls its method `end`. This is
 * a function because no bundler drops an unused class that has a method under a
 * computed symbol.
 */
export function disposedBy<Args extends unknown[], Instance extends object>(
  Base: abstract new (...args: Args) => Instance,
  end: string,
): abstract new (...args: Args) => Instance & Disposer {
  type AnyClass = abstract new (...args: Args) => object;
  abstract class Disposed extends (Base as AnyClass) {
    [DISPOSE](): void {
      (this as unknown as Record<string, () => void>)[end]!();
    }
  }
  return Disposed as abstract new (...args: Args) => Instance & Disposer;
}

/**
 * Extends `Base` so that `for await` calls the method `values`. A function for
 * the same reason.
 */
export function iterated<Args extends unknown[], Instance extends object>(
  Base: abstract new (...args: Args) => Instance,
): abstract new (...args: Args) => Instance & AsyncIterable<never, void, void> {
  type Result = AsyncGenerator<never, void, void>;
  type AnyClass = abstract new (...args: Args) => object;
  abstract class Iterated extends (Base as AnyClass) {
    [Symbol.asyncIterator](): Result {
      return (this as unknown as { values(): Result }).values();
    }
  }
  return Iterated as unknown as abstract new (
    ...args: Args
  ) => Instance & AsyncIterable<never, void, void>;
}

/** Extends `Base` so that `await using` calls its async method `end`. */
export function asyncDisposedBy<
  Args extends unknown[],
  Instance extends object,
>(
  Base: abstract new (...args: Args) => Instance,
  end: string,
): abstract new (...args: Args) => Instance & AsyncDisposer {
  type AnyClass = abstract new (...args: Args) => object;
  const dispose: keyof AsyncDisposer = Symbol.asyncDispose ??
    Symbol.for("Symbol.asyncDispose");
  abstract class Disposed extends (Base as AnyClass) {
    async [dispose](): Promise<void> {
      await (this as unknown as Record<string, () => unknown>)[end]!();
    }
  }
  return Disposed as unknown as abstract new (
    ...args: Args
  ) => Instance & AsyncDisposer;
}
