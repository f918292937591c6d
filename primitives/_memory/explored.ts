/**
 * What the primitives tell the race tester while it explores code that uses
 * them, so that nobody has to set anything up: where their words are, which
 * agent runs, and what a setting must be there. The tester puts an object under
 * a symbol of the global registry for that time. So every copy of this library
 * finds it, in a bundle, too. Outside an exploration there is none.
 *
 * @module
 */

/** A setting, and what it must be in an exploration. */
type Setting = readonly [now: object, explored: object];

/** What a module keeps for its agent, and how it begins. */
interface Own<T> {
  /** What it keeps now. */
  now: T;
  /** Makes what an agent has that has done nothing. */
  readonly fresh: () => T;
}

/** What a copy of the library keeps: settings, and what is its agent's own. */
type Kept = (Setting | Own<unknown>)[];

/** The race tester, as the primitives see it. */
interface Explorer {
  /** The identity of the agent that runs; `undefined` outside agents. */
  identity(): { id: number } | undefined;
  /**
   * Is told that `words` belong to a primitive, and what this copy of the
   * library keeps.
   */
  enter(words: Int32Array, kept: Kept): void;
  /** Is told of a view of a primitive. Older testers lack this method. */
  meet?(primitive: object): void;
  /** Is told what a waiting operation keeps. Older testers lack this method. */
  keep?(values: readonly unknown[]): void;
  /** The same, of its next sleep. Older testers lack this method. */
  keepAsleep?(values: readonly unknown[]): void;
}

/** The race tester, while it explores. */
export const explorer = (): Explorer | undefined =>
  (globalThis as { [key: symbol]: Explorer | undefined })[
    Symbol.for("@weft/sync/race")
  ];

/** What this copy of the library keeps. */
export const kept: Kept = [];

/** Makes a setting; the race tester gives it the values of `explored`. */
export function setting<T extends object>(now: T, explored: Partial<T>): T {
  kept.push([now, explored]);
  return now;
}

/**
 * Tells the race tester all that an operation keeps at this place: its local
 * variables that may still be read and are not the same in all its calls. What
 * it saw before need then not be told apart. `values` begins with the name of
 * the place. Only where `told.explored`.
 */
export function keeps(...values: unknown[]): void {
  explorer()?.keep?.(values);
}

/**
 * The same of the sleep that comes next: all that the operation still keeps
 * when it sleeps, and so when it is woken. The value on which it goes to sleep
 * need not be told.
 */
export function keepsAsleep(...values: unknown[]): void {
  explorer()?.keepAsleep?.(values);
}

/**
 * Whether the race tester explores this copy of the library: loops that are run
 * often look here, since to look for the tester takes longer than an atomic
 * operation.
 */
export const told: { explored: boolean } = /* @__PURE__ */ setting<
  { explored: boolean }
>({ explored: false }, { explored: true });

/**
 * Makes what a module keeps for its agent. In explored code, many agents run in
 * one module: the race tester changes what `now` is.
 */
export function ownOf<T>(fresh: () => T): Own<T> {
  const own = { now: fresh(), fresh };
  kept.push(own);
  return own;
}
