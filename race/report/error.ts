/**
 * The error that a failure is thrown as.
 *
 * @module
 */
import type { FailureKind } from "../engine/kinds.ts";
import type { Failure, Result } from "./result.ts";

/**
 * Thrown when code under test went wrong. The message contains the interleaving
 * as a table, because some test runners show nothing but the message.
 */
export class RaceError extends Error {
  /** The class's name. */
  override name = "RaceError";
  /** The kind of the failure. */
  readonly kind: FailureKind;
  /** The program that went wrong. */
  readonly program: string;
  /** The interleaving for `race.replay`. */
  readonly schedule: string;
  /** The interleaving as a table. */
  readonly table: string;
  /** The whole result. */
  readonly result: Result;
  /** The result's failure. */
  readonly failure: Failure;

  /** Makes the error for `result`, which must have a failure. */
  constructor(result: Result, program: string, how = "") {
    const failure = result.failure!;
    const { kind, message, table, schedule } = failure;
    super(
      `${kind}: ${message}\n\n${table}` + (how === "" ? "" : `\n(${how})`),
      ...failure.cause === undefined ? [] : [{ cause: failure.cause }],
    );
    this.kind = kind;
    this.program = program;
    this.schedule = schedule;
    this.table = table;
    this.result = result;
    this.failure = failure;
    // Node prints every property that can be listed, and the message has these.
    for (const name of ["table", "result", "failure"]) {
      Object.defineProperty(this, name, { enumerable: false });
    }
    if ("UVU_QUEUE" in globalThis) this.#showTableOnce();
  }

  /**
   * Takes the table out of the stack, which uvu prints below the message. Who
   * prints the error alone gets both.
   */
  #showTableOnce(): void {
    const { message, stack } = this;
    if (typeof stack !== "string") return; // the program makes its own
    const at = stack.indexOf(message);
    if (at < 0) return; // a stack of frames alone
    const frames = stack.slice(at + message.length);
    const [first] = message.split("\n");
    const hidden = { enumerable: false, configurable: true, writable: true };
    const value = `${this.name}: ${first}${frames}`;
    Object.defineProperty(this, "stack", { ...hidden, value });
    const whole = () => `${this.name}: ${message}${frames}`;
    for (const name of ["nodejs.util.inspect.custom", "Deno.customInspect"]) {
      Object.defineProperty(this, Symbol.for(name), {
        ...hidden,
        value: whole,
      });
    }
  }
}
