/**
 * The functions of `race`: everything that users of the tester call.
 *
 * @module
 */
import type fc from "fast-check";
import {
  check as checkProgram,
  replay as replayProgram,
} from "./explore/check.ts";
import { parseSchedule } from "./engine/kinds.ts";
import type { Call } from "./engine/model.ts";
import {
  assert as assertProperty,
  type Generated,
  property as propertyOf,
  type PropertyOptions,
  raise,
} from "./property.ts";
import type { Options, Program, Result } from "./report/result.ts";
import type { Memory } from "./engine/scenario.ts";
import { type OperationSpec, Spec, type SpecDefinition } from "./spec.ts";
import { Wasm, type WasmOptions } from "./wasm/wasm.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A call in a program: an operation's name, and its argument. */
export type CallTuple = readonly [op: string, arg?: unknown];

/** What an exploration returns: a promise if operations are asynchronous. */
export type Outcomes<Async extends boolean, T> = false extends Async ? T
  : Promise<T>;

function toCalls(calls: readonly CallTuple[]): Call[] {
  return calls.map(([op, arg]) => arg === undefined ? { op } : { op, arg });
}

/** Takes the options off the end of a list of arguments. */
function split<T, O>(rest: readonly (T | O)[], isItem: (x: T | O) => boolean): [
  items: T[],
  options: O,
] {
  const last = rest[rest.length - 1];
  return rest.length === 0 || isItem(last!)
    ? [[...rest] as T[], {} as O]
    : [rest.slice(0, -1) as T[], last as O];
}

/** What the code under test is, and what it is to do. */
export function spec<M extends Memory, H, S, A extends Record<string, unknown>>(
  definition: SpecDefinition<M, H, S, A> & { readonly async: true },
): Spec<true>;
/** What the code under test is, and what it is to do. */
export function spec<M extends Memory, H, S, A extends Record<string, unknown>>(
  definition: SpecDefinition<M, H, S, A>,
): Spec<false>;
export function spec(definition: SpecDefinition<Any, Any, Any, Any>): Spec {
  return new Spec(definition);
}

/** Explores one program: a list of calls for each agent, options last. */
export function check<Async extends boolean>(
  spec: Spec<Async>,
  ...rest: (readonly CallTuple[] | Options)[]
): Outcomes<Async, Result> {
  const [agents, options] = split<readonly CallTuple[], Options>(
    rest,
    Array.isArray,
  );
  return checkProgram(spec.scenario, agents.map(toCalls), options) as Any;
}

/** Replays one interleaving of a program. */
export function replay<Async extends boolean>(
  spec: Spec<Async>,
  program: readonly (readonly CallTuple[])[],
  schedule: string,
  options: Options = {},
): Outcomes<Async, Result> {
  return replayProgram(
    spec.scenario,
    program.map(toCalls),
    parseSchedule(schedule),
    options,
  ) as Any;
}

/** An ordinary property of fast-check: no program goes wrong. */
export function property(
  spec: Spec,
  options: PropertyOptions = {},
): fc.IRawProperty<[Generated], boolean> {
  return propertyOf(spec, options);
}

/** Throws a {@linkcode RaceError} with the smallest program that goes wrong. */
export function assert<Async extends boolean>(
  spec: Spec<Async>,
  options: PropertyOptions = {},
): Outcomes<Async, void> {
  return assertProperty(spec, options) as Any;
}

/** What an agent of the free form does; what it returns is its result. */
export type Body<M extends Memory> = (memory: M, id: number) => unknown;

/** The memory of the free form. */
export interface AgentsDefinition<M extends Memory> extends
  Pick<
    SpecDefinition<M, M, never, never>,
    "hints" | "words" | "invariant"
  > {
  /** Allocates and initializes the memory. */
  readonly memory: () => M;
}

/** What holds after the agents, and how to explore. */
export interface AgentsOptions<M extends Memory> extends Options {
  /** Throws, or says what is wrong, once all agents are done. */
  readonly after?: (
    memory: M,
    results: unknown[],
  ) => string | undefined | void;
}

/** A promise, if one of the functions returns one. */
export type AnyAsync<B extends readonly unknown[]> = true extends {
  [K in keyof B]: B[K] extends (...args: never[]) => infer R
    ? R extends PromiseLike<unknown> ? true : false
    : false;
}[number] ? Promise<Result>
  : Result;

/**
 * Explores agents in free form: each runs its function once. Throws a
 * {@linkcode RaceError} if they go wrong.
 */
export function agents<
  M extends Memory,
  B extends readonly (Body<M> | AgentsOptions<M>)[],
>(definition: AgentsDefinition<M>, ...rest: B): AnyAsync<B> {
  const [bodies, { after, ...options }] = split<Body<M>, AgentsOptions<M>>(
    rest,
    (item) => typeof item === "function",
  );
  const ops: Record<string, OperationSpec<M, Any, Any>> = {};
  bodies.forEach((body, id) => ops[`agent${id}`] = { run: (m) => body(m, id) });
  const free = new Spec({
    ...definition,
    agent: (memory: M) => memory,
    ops,
    stateless: true,
    async: bodies.some((body) => body.constructor.name === "AsyncFunction"),
    ...after && {
      final: (memory: M, results: unknown[][]) =>
        after(memory, results.map(([result]) => result)),
    },
  });
  const program: Program = bodies.map((_, id) => [{ op: `agent${id}` }]);
  const result = checkProgram(free.scenario, program, options);
  const finish = (result: Result) => raise(result, program);
  return (result instanceof Promise ? result.then(finish) : finish(result)) as
    & Any
    & AnyAsync<B>;
}

/** A compiled module that agents can run: see {@linkcode Wasm}. */
export function wasm(
  bytes: Uint8Array | ArrayBuffer,
  options: WasmOptions = {},
): Wasm {
  return new Wasm(bytes, options);
}

export { contended, either, timedOut } from "./spec.ts";
export { stress } from "./stress.ts";
