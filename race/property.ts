/**
 * Programs as data: fast-check generates who calls what and shrinks it, the
 * explorer owns the schedule. Each candidate is explored anew, so shrinking
 * never hangs on a lucky schedule.
 *
 * @module
 */
import fc from "fast-check";
import { check } from "./explore/check.ts";
import { RaceError } from "./report/error.ts";
import type { Call } from "./engine/model.ts";
import { programText } from "./report/print.ts";
import type { Options, Program, Result } from "./report/result.ts";
import type { OperationSpec, Spec } from "./spec.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** How to generate and explore programs. */
export interface PropertyOptions extends Options {
  /** Agents in a program, at most; 2 unless given. */
  readonly agents?: number | undefined;
  /** Calls of one agent, at most; 3 unless given. */
  readonly ops?: number | undefined;
  /** Programs to try; 100 unless given. */
  readonly programs?: number | undefined;
}

/** A generated program, which prints as one. */
export class Generated {
  /** The calls of each agent. */
  readonly calls: Program;

  /** Wraps `calls`. */
  constructor(calls: Program) {
    this.calls = calls;
  }

  /** Says it on one line. */
  toString(): string {
    return programText(this.calls);
  }

  /** The same, for fast-check's reports. */
  [fc.toStringMethod](): string {
    return this.toString();
  }
}

/** Generates the programs a specification allows. */
export function programs(
  spec: Spec,
  { agents = 2, ops = 3 }: PropertyOptions,
): fc.Arbitrary<Generated> {
  const entries = Object.entries<OperationSpec<Any, Any, Any>>(
    spec.definition.ops,
  );
  const ofAgent = (id: number): fc.Arbitrary<Call[]> => {
    const allowed = entries.filter(([, op]) =>
      op.agents === undefined || op.agents.includes(id)
    );
    if (allowed.length === 0) return fc.constant([]);
    const call = fc.oneof(
      ...allowed.map(([op, { arg }]) =>
        arg === undefined
          ? fc.constant<Call>({ op })
          : (arg as unknown as fc.Arbitrary<unknown>).map((arg): Call => ({
            op,
            arg,
          }))
      ),
    );
    return fc.array(call, { maxLength: ops, size: "max" });
  };
  const all = Array.from({ length: agents }, (_, id) => ofAgent(id));
  return fc.tuple(...all).map((calls) => new Generated(calls));
}

/** Throws what is wrong, if anything is. */
export function raise(result: Result, program: Program): Result {
  if (result.ok) return result;
  throw new RaceError(result, programText(program));
}

/** The options of one program of a property. */
const optionsOf = (o: PropertyOptions): Options => ({
  ...o,
  states: o.states ?? 20_000,
});

/** A property: no program of the specification goes wrong. */
export function property(
  spec: Spec,
  o: PropertyOptions,
): fc.IRawProperty<[Generated], boolean> {
  const programOf = programs(spec, o);
  if (spec.scenario.async) {
    return fc.asyncProperty(programOf, async ({ calls }) => {
      raise(await check(spec.scenario, calls, optionsOf(o)), calls);
    }) as Any;
  }
  return fc.property(programOf, ({ calls }) => {
    raise(check(spec.scenario, calls, optionsOf(o)) as Result, calls);
  }) as Any;
}

/** Throws the smallest program that goes wrong, if any does. */
export function assert(
  spec: Spec,
  o: PropertyOptions,
): void | Promise<void> {
  const parameters: fc.Parameters<Any> = {
    numRuns: o.programs ?? 100,
    ...o.seed !== undefined && { seed: o.seed },
  };
  const verdict = (details: fc.RunDetails<Any>): void => {
    if (!details.failed) return;
    const { errorInstance, seed, numRuns, numShrinks } = details;
    if (!(errorInstance instanceof RaceError)) throw errorInstance;
    throw new RaceError(
      errorInstance.result,
      errorInstance.program,
      `found in program ${numRuns}, shrunk ${numShrinks} times; seed ${seed}`,
    );
  };
  const details = fc.check(property(spec, o) as Any, parameters);
  return details instanceof Promise ? details.then(verdict) : verdict(details);
}
