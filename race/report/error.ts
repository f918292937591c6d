/**
 * How a failure is thrown.
 *
 * @module
 */
import type { FailureKind } from "../engine/kinds.ts";
import type { Failure, Result } from "./result.ts";

/**
 * Code under test went wrong. The message holds the interleaving as a table,
 * since a message is all that some test runners show.
 */
export class RaceError extends Error {
  /** The class's name. */
  override name = "RaceError";
  /** What is wrong. */
  readonly kind: FailureKind;
  /** The program that went wrong. */
  readonly program: string;
  /** The interleaving for `race.replay`. */
  readonly schedule: string;
  /** The interleaving as a table. */
  readonly table: string;
  /** All that was found. */
  readonly result: Result;
  /** The failure of the result. */
  readonly failure: Failure;

  /** The failure of `result`. */
  constructor(result: Result, program: string, how = "") {
    const failure = result.failure!;
    const { kind, message, table, schedule } = failure;
    super(
      `${kind}: ${message}\n\n${table}` + (how === "" ? "" : `\n(${how})`),
    );
    this.kind = kind;
    this.program = program;
    this.schedule = schedule;
    this.table = table;
    this.result = result;
    this.failure = failure;
  }
}
