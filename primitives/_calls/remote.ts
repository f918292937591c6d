/**
 * Objects that stand for others in another agent.
 *
 * @module
 */

/** A method that takes whatever it is given. */
export type AnyMethod = (...args: unknown[]) => unknown;

/** An object that has whatever method it is asked for: `make` makes it. */
export function methodsBy(make: (name: string) => AnyMethod): object {
  // The proxy is asked once for each name: the method is kept in front of it.
  const unknown = new Proxy({}, {
    get(_, name, methods) {
      // `await` asks for "then".
      if (typeof name !== "string" || name === "then") return undefined;
      const value = make(name);
      Object.defineProperty(methods, name, { value, enumerable: true });
      return value;
    },
  });
  return Object.create(unknown);
}
