/**
 * The sequential model of a specification: calls, and the answers they may
 * give.
 *
 * @module
 */

/** One call of an operation of the specification. */
export interface Call {
  /** The operation's name. */
  readonly op: string;
  /** Its argument, if it takes one. */
  readonly arg?: unknown;
}

/** The next state of the model, and what the operation answers. */
export type Outcome<S> = readonly [state: S, result: unknown, when?: When];

/** When an outcome is allowed. */
export interface When {
  /** Only if another operation overlapped this one. */
  readonly contended?: boolean;
  /**
   * Only as the end of a timed wait. It does not count as completing the call.
   */
  readonly timedOut?: boolean;
}

/** Several outcomes, each of which is right. */
export class Either<S> {
  /** Holds the `outcomes`. */
  constructor(readonly outcomes: readonly Outcome<S>[]) {}
}

/** The answer of a model: one outcome, several, or `null` for "must wait". */
export type Answer<S> = Outcome<S> | Either<S> | null;

/** The sequential model of a specification. */
export interface Model {
  /** The state at the start. */
  readonly init: unknown;
  /** What `call` by `agent` does in `state`. */
  step(state: unknown, call: Call, agent: number): Answer<unknown>;
}
