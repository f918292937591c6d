/**
 * Programs as data. fast-check generates which agent calls what, and shrinks
 * it; the explorer alone decides the schedule. Each candidate is explored anew,
 * so shrinking never depends on a lucky schedule.
 *
 * @module
 */
import fc from "fast-check";
import { check, checkNow } from "./explore/check.ts";
import { replay } from "./explore/replay.ts";
import { parseSchedule } from "./engine/kinds.ts";
import { keep, type Kept, keptIn } from "./kept.ts";
import { RaceError } from "./report/error.ts";
import type { Call } from "./engine/model.ts";
import { programText } from "./report/print.ts";
import { Counts, type Coverage } from "./report/coverage.ts";
import type { Options, Program, Result } from "./report/result.ts";
import type { OperationSpec, Spec } from "./spec.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** How to generate and explore programs. */
export interface PropertyOptions extends Options {
  /** The most agents a program may have, 1 to 16; 2 by default. */
  readonly agents?: number | undefined;
  /** The most calls one agent may make, 1 to 10,000; 3 by default. */
  readonly ops?: number | undefined;
  /** How many programs to try; 100 by default. */
  readonly programs?: number | undefined;
  /** Whether a program that was only sampled is a failure; false by default. */
  readonly complete?: boolean | undefined;
}

/** How `assert` generates and explores programs. */
export interface AssertOptions extends PropertyOptions {
  /**
   * The path of a file in which failures are kept. Those in it are run again
   * before programs are generated. The file is made when something fails.
   */
  readonly failures?: string | undefined;
}

/** How far the programs of `assert` were explored. */
export interface Explored {
  /** How many programs were explored. */
  readonly programs: number;
  /** How many of these were explored completely. */
  readonly complete: number;
  /** The same in words, with the bounds that left something out. */
  readonly summary: string;
  /** What was reached in any of the programs; with `coverage: true`. */
  readonly coverage?: Coverage;
}

/** Counts what was explored. */
class Tally {
  programs = 0;
  complete = 0;
  readonly counts: Counts = new Counts();
  /** Of the programs that were explored completely, and of the others. */
  readonly bounds: Set<string> = new Set();
  readonly others: Set<string> = new Set();
  /** Of the others: up to how many preemptions all of them are complete. */
  #preemptions = Infinity;

  /** Counts a program; throws if it was to be complete and is not. */
  add(result: Result, program: Generated, { complete }: PropertyOptions): void {
    this.programs++;
    if (result.coverage !== undefined) this.counts.include(result.coverage);
    if (result.complete) this.complete++;
    else if (complete === true) {
      throw new Error(`not complete: ${program}: ${result.summary}`);
    }
    const bounds = result.complete ? this.bounds : this.others;
    for (const bound of result.bounds) bounds.add(bound);
    if (!result.complete) {
      this.#preemptions = Math.min(this.#preemptions, result.preemptions ?? -1);
    }
  }

  get summary(): string {
    const { programs, complete, bounds, others } = this;
    const most = this.#preemptions;
    const some = most < 0 || most === Infinity
      ? ""
      : `, and complete up to ${most} preemption${most === 1 ? "" : "s"}`;
    const upTo = (bounds: Set<string>) =>
      bounds.size === 0 ? "" : ` up to ${[...bounds].join(", ")}`;
    return `${programs} programs, ${complete} of them complete${upTo(bounds)}` +
      (others.size === 0 ? "" : `; the others${upTo(others)}${some}`);
  }
}

/** A generated program. It prints as one line. */
export class Generated {
  /** The calls of each agent. */
  readonly calls: Program;
  /** How many of agent 0's calls run before all other agents begin. */
  readonly begin: number;
  /** How many of agent 0's calls run after all other agents are done. */
  readonly end: number;

  /** Wraps `calls`. */
  constructor(calls: Program, begin = 0, end = 0) {
    this.calls = calls;
    this.begin = begin;
    this.end = end;
  }

  /** The program on one line. */
  toString(): string {
    return programText(this.calls, this);
  }

  /** The same text, for fast-check's reports. */
  [fc.toStringMethod](): string {
    return this.toString();
  }
}

/** Generates the programs a specification allows. */
export function programs(
  spec: Spec,
  { agents = 2, ops = 3, begin = 0, end = 0 }: PropertyOptions,
): fc.Arbitrary<Generated> {
  const entries = Object.entries<OperationSpec<Any, Any, Any>>(
    spec.definition.ops,
  );
  const ofAgent = (id: number, most = ops): fc.Arbitrary<Call[]> => {
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
    return fc.array(call, { maxLength: most, size: "max" });
  };
  const idle = entries.every(([, op]) =>
    op.agents?.every((id) => id >= agents) ?? false
  );
  if (idle) {
    throw new TypeError(
      `No agent may call an operation: programs have ${agents} agents at most`,
    );
  }
  const all = Array.from({ length: agents }, (_, id) => ofAgent(id));
  if (begin + end === 0) {
    return fc.tuple(...all).map((calls) => new Generated(calls));
  }
  return fc.tuple(ofAgent(0, begin), fc.tuple(...all), ofAgent(0, end))
    .map(([before, [first = [], ...others], after]) =>
      new Generated(
        [[...before, ...first, ...after], ...others],
        before.length,
        after.length,
      )
    );
}

/** Throws the result's failure, if it has one; else returns the result. */
export function raise(
  result: Result,
  program: Program,
  o: Options = {},
  how?: string,
): Result {
  if (result.ok) return result;
  throw new RaceError(result, programText(program, o), how);
}

/** The options of one program of a property. */
const optionsOf = (
  o: PropertyOptions,
  { begin, end }: Generated,
): Options => ({
  ...o,
  begin,
  end,
  states: o.states ?? 20_000,
});

/** A property of fast-check: every program of the specification is correct. */
export function property(
  spec: Spec,
  o: PropertyOptions,
  tally: Tally = new Tally(),
): fc.IRawProperty<[Generated], boolean> {
  const programOf = programs(spec, o);
  if (spec.scenario.async) {
    return fc.asyncProperty(programOf, async (program) => {
      const { calls } = program;
      const options = optionsOf(o, program);
      const result = await check(spec.scenario, calls, options);
      tally.add(raise(result, calls, program), program, o);
    }) as Any;
  }
  return fc.property(programOf, (program) => {
    const { calls } = program;
    const options = optionsOf(o, program);
    const result = checkNow(spec.scenario, calls, options);
    if (result === undefined) throw new Undeclared();
    tally.add(raise(result, calls, program), program, o);
  }) as Any;
}

/** Operations return promises, which the specification does not say. */
class Undeclared extends TypeError {
  constructor() {
    super(
      "The operations return promises: say `async: true` in the specification",
    );
  }
}

/** Does `then` with a value, at once if it is there. */
const after = <T, R>(
  value: T | Promise<T>,
  then: (value: T) => R | Promise<R>,
): R | Promise<R> => value instanceof Promise ? value.then(then) : then(value);

/**
 * Runs the failures of a file again: first their interleavings, as far as they
 * are still possible, and then their programs.
 */
function again(
  spec: Spec,
  o: AssertOptions,
  tally: Tally,
  kept: readonly Kept[],
  at = 0,
): void | Promise<void> {
  if (at === kept.length) return;
  const { program, schedule, begin, end } = kept[at]!;
  const calls = program.map((calls) =>
    calls.map(([op, arg]) => arg === undefined ? { op } : { op, arg })
  );
  const generated = new Generated(calls, begin, end);
  const options = optionsOf(o, generated);
  const how = `kept in ${o.failures}, and failed again`;
  const judge = (result: Result) => raise(result, calls, generated, how);
  let first: Result | Promise<Result> | null;
  try {
    const codes = parseSchedule(schedule);
    first = replay(spec.scenario, calls, codes, options, false);
  } catch (error) {
    first = unlessImpossible(error);
  }
  if (first instanceof Promise) first = first.catch(unlessImpossible) as Any;
  const explored = after(first, (result) => {
    if (result !== null) judge(result);
    return check(spec.scenario, calls, options);
  });
  const next = after(explored as Result | Promise<Result>, (result) => {
    tally.add(judge(result), generated, o);
    return again(spec, o, tally, kept, at + 1);
  });
  return next;
}

/** Null if code has changed, so that a schedule is no longer possible. */
function unlessImpossible(error: unknown): null {
  if (error instanceof RangeError || error instanceof SyntaxError) return null;
  throw error;
}

/**
 * Throws the smallest program that fails, if any program does; else says how
 * far the programs were explored.
 */
export function assert(
  spec: Spec,
  o: AssertOptions,
): Explored | Promise<Explored> {
  const tally = new Tally();
  const { failures } = o;
  if (failures === undefined) return generate(spec, o, tally, () => "");
  const names = new Set(spec.scenario.operations.keys());
  const kept = keptIn(failures, names);
  const keepIt = ({ failure }: RaceError, { begin, end }: Generated) => {
    const { kind, program, schedule } = failure;
    const fresh = { kind, program, begin, end, schedule };
    return `; ${keep(failures, fresh)}`;
  };
  return after(
    again(spec, o, tally, kept) as Any,
    () => generate(spec, o, tally, keepIt),
  );
}

/** Explores generated programs; `keepIt` says what became of a failure. */
function generate(
  spec: Spec,
  o: AssertOptions,
  tally: Tally,
  keepIt: (error: RaceError, program: Generated) => string,
): Explored | Promise<Explored> {
  const parameters: fc.Parameters<Any> = {
    numRuns: o.programs ?? 100,
    ...o.seed !== undefined && { seed: o.seed },
  };
  const verdict = (
    details: fc.RunDetails<Any>,
  ): Explored | Promise<Explored> => {
    const { programs, complete, summary, counts } = tally;
    if (!details.failed) {
      const coverage = o.coverage === true ? counts.told() : undefined;
      return { programs, complete, summary, ...coverage && { coverage } };
    }
    const { errorInstance, seed, numRuns, numShrinks } = details;
    if (details.interrupted && errorInstance === null) {
      throw new Error(`fast-check was interrupted after ${summary}`);
    }
    // By now, it is known that they are asynchronous.
    if (errorInstance instanceof Undeclared) {
      return generate(spec, o, new Tally(), keepIt);
    }
    if (!(errorInstance instanceof RaceError)) throw errorInstance;
    const kept = keepIt(errorInstance, details.counterexample[0]);
    throw new RaceError(
      errorInstance.result,
      errorInstance.program,
      `found in program ${numRuns}, shrunk ${numShrinks} times; ` +
        `seed ${seed}${kept}`,
    );
  };
  const details = fc.check(property(spec, o, tally) as Any, parameters);
  return details instanceof Promise ? details.then(verdict) : verdict(details);
}
