/**
 * The functions of `race`: everything that users of the tester call.
 *
 * @module
 */
import type fc from "fast-check";
import { check as checkProgram } from "./explore/check.ts";
import { replay as replayProgram } from "./explore/replay.ts";
import { parseSchedule } from "./engine/kinds.ts";
import { FREED } from "./engine/state/memory.ts";
import type { Call } from "./engine/model.ts";
import {
  assert as assertProperty,
  type AssertOptions,
  type Explored,
  type Generated,
  property as propertyOf,
  type PropertyOptions,
  raise,
} from "./property.ts";
import {
  ASSERT,
  checkBodies,
  checkIsSpec,
  checkMemory,
  checkOptions,
  checkProgram as checkCalls,
  checkSpec,
  FREE,
  OPTIONS,
  PROGRAMS,
  REPLAY,
  WASM,
} from "./options.ts";
import { junitOf, type Outcome } from "./report/junit.ts";
import type { Options, Program, Result } from "./report/result.ts";
import type { Memory } from "./engine/scenario.ts";
import { type OperationSpec, Spec, type SpecDefinition } from "./spec.ts";
import { takesAtMost } from "./engine/state/twins.ts";
import { show } from "./engine/values.ts";
import { Wasm } from "./wasm/wasm.ts";
import type { WasmOptions } from "./wasm/instance.ts";
import { Workers, type WorkerScope } from "./workers.ts";

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

/** Takes the options, if any, off the end of a list of arguments. */
function split<T, O>(rest: readonly (T | O)[], isItem: (x: T | O) => boolean): [
  items: T[],
  options: O,
] {
  if (rest.length > 0 && rest.at(-1) === undefined) rest = rest.slice(0, -1);
  const last = rest[rest.length - 1];
  return rest.length === 0 || isItem(last!)
    ? [[...rest] as T[], {} as O]
    : [rest.slice(0, -1) as T[], last as O];
}

/**
 * Makes a specification: it says which memory the code under test uses, which
 * operations there are, and what each does to a model.
 *
 * @throws {TypeError} If `memory` or `ops` is missing, or another name is there
 * that a specification does not have; if an operation has no `run`, or is
 * called "recover" where there is a `recover`; if some operations have models
 * but there is no `init`; if `agents` names anything but "js" and "wasm", or
 * names "wasm" without a module.
 *
 * @example A lock whose model knows its owner
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const lock = race.spec({
 *   memory: () => new SharedArrayBuffer(4),
 *   agent: (memory) => new Int32Array(memory),
 *   init: -1, // nobody
 *   ops: {
 *     tryLock: {
 *       run: (words) => Atomics.compareExchange(words, 0, 0, 1) === 0,
 *       model: (owner: number, _, id) =>
 *         owner < 0 ? [id, true] : [owner, false],
 *     },
 *   },
 * });
 * race.assert(lock, { agents: 3, ops: 1 });
 * ```
 */
export function spec<M extends Memory, H, S, A extends Record<string, unknown>>(
  definition: SpecDefinition<M, H, S, A> & { readonly async: true },
): Spec<true>;
/** Makes a specification whose operations are not asynchronous. */
export function spec<M extends Memory, H, S, A extends Record<string, unknown>>(
  definition: SpecDefinition<M, H, S, A>,
): Spec<false>;
export function spec(definition: SpecDefinition<Any, Any, Any, Any>): Spec {
  checkSpec(definition);
  return new Spec(definition);
}

/**
 * Explores one program: a list of calls for each agent, then the options. It
 * returns what it found and does not throw a failure: look at `result.ok`.
 *
 * @throws {TypeError} If a call names an unknown operation, if the program is
 * not a list of calls for each agent, or if an option is unknown or of the
 * wrong type.
 * @throws {RangeError} If there are more than 16 agents, or an option is out of
 * range.
 * @throws {Error} "Unsupported", if the code does what cannot be simulated.
 *
 * @example Two agents, and how far the search went
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const counter = race.spec({
 *   memory: () => new SharedArrayBuffer(4),
 *   agent: (memory) => new Int32Array(memory),
 *   init: 0,
 *   ops: {
 *     add: { run: (w) => Atomics.add(w, 0, 1), model: (n) => [n + 1, n] },
 *   },
 * });
 * const result = race.check(counter, [["add"]], [["add"]], { states: 1000 });
 * console.log(result.summary); // "complete: 4 states"
 * ```
 */
export function check<Async extends boolean>(
  spec: Spec<Async>,
  ...rest: (readonly CallTuple[] | Options)[]
): Outcomes<Async, Result> {
  checkIsSpec(spec);
  const [agents, options] = split<readonly CallTuple[], Options>(
    rest,
    Array.isArray,
  );
  checkOptions(options, OPTIONS);
  checkCalls(agents);
  return checkProgram(spec.scenario, agents.map(toCalls), options) as Any;
}

/**
 * Replays one interleaving of a program: `schedule` is that of a failure. The
 * result has a `table` and, if the interleaving fails, the `failure`.
 *
 * @throws {SyntaxError} If the text is not a schedule.
 * @throws {RangeError} If the program cannot follow the schedule, or ends
 * before it, or if an option is out of range.
 *
 * @example Two reads before two writes
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const counter = race.spec({
 *   memory: () => new SharedArrayBuffer(4),
 *   agent: (memory) => new Int32Array(memory),
 *   init: 0,
 *   ops: {
 *     add: {
 *       run: (w) => Atomics.store(w, 0, Atomics.load(w, 0) + 1),
 *       model: (n) => [n + 1, n + 1],
 *     },
 *   },
 * });
 * const result = race.replay(counter, [[["add"]], [["add"]]], "0 1*2 0");
 * console.log(result.failure?.kind); // "not-linearizable"
 * ```
 */
export function replay<Async extends boolean>(
  spec: Spec<Async>,
  program: readonly (readonly CallTuple[])[],
  schedule: string,
  options: Options = {},
): Outcomes<Async, Result> {
  checkIsSpec(spec);
  checkOptions(options, REPLAY);
  checkCalls(program);
  if (typeof schedule !== "string") {
    throw new TypeError(
      `A schedule is a text such as "0 1*2": received ${show(schedule)}`,
    );
  }
  return replayProgram(
    spec.scenario,
    program.map(toCalls),
    parseSchedule(schedule),
    options,
  ) as Any;
}

/**
 * Makes a property of fast-check: every program of the specification is
 * correct. Use it if you want fast-check's own parameters; else `assert`.
 *
 * @throws {TypeError} If an option is unknown or of the wrong type.
 * @throws {RangeError} If an option is out of range.
 *
 * @example
 * ```ts
 * import fc from "fast-check";
 * import { race } from "@weft/sync/race";
 *
 * const counter = race.spec({
 *   memory: () => new SharedArrayBuffer(4),
 *   agent: (memory) => new Int32Array(memory),
 *   init: 0,
 *   ops: {
 *     add: { run: (w) => Atomics.add(w, 0, 1), model: (n) => [n + 1, n] },
 *   },
 * });
 * fc.assert(race.property(counter), { numRuns: 20 });
 * ```
 */
export function property(
  spec: Spec,
  options: PropertyOptions = {},
): fc.IRawProperty<[Generated], boolean> {
  checkIsSpec(spec);
  checkOptions(options, PROGRAMS);
  return propertyOf(spec, options);
}

/**
 * Explores generated programs. If one fails, it throws a {@linkcode RaceError}
 * for the smallest program that fails. Returns how far they were explored.
 *
 * @throws {RaceError} If a program fails.
 * @throws {TypeError} If an option is unknown or of the wrong type, or if the
 * file of `failures` is not a list of failures of this specification.
 * @throws {RangeError} If an option is out of range.
 * @throws {Error} "Unsupported", if the code does what cannot be simulated.
 *
 * @example
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const counter = race.spec({
 *   memory: () => new SharedArrayBuffer(4),
 *   agent: (memory) => new Int32Array(memory),
 *   init: 0,
 *   ops: {
 *     add: { run: (w) => Atomics.add(w, 0, 1), model: (n) => [n + 1, n] },
 *   },
 * });
 * race.assert(counter, { agents: 3, ops: 2, programs: 20 });
 * ```
 */
export function assert<Async extends boolean>(
  spec: Spec<Async>,
  options: AssertOptions = {},
): Outcomes<Async, Explored> {
  checkIsSpec(spec);
  checkOptions(options, ASSERT);
  return assertProperty(spec, options) as Any;
}

/**
 * The function of an agent in the free form; it returns the agent's result. A
 * worker also receives its scope.
 */
export type Body<M extends Memory> = (
  memory: M,
  id: number,
  scope: WorkerScope,
) => unknown;

/** The memory of the free form. */
export interface AgentsDefinition<M extends Memory> extends
  Pick<
    SpecDefinition<M, M, never, never>,
    "hints" | "words" | "invariant"
  > {
  /** Allocates and initializes the memory. */
  readonly memory: () => M;
  /**
   * The agents that are workers, by the end of the address from which they are
   * made, such as `{ "worker.js": 1 }`. Such an agent begins when another one
   * makes a `Worker` of that address.
   */
  readonly workers?: Readonly<Record<string, number>> | undefined;
}

/** The options of the free form, and a check for the end. */
export interface AgentsOptions<M extends Memory> extends Options {
  /** Called when all agents are done: throws, or returns what is wrong. */
  readonly after?:
    | ((memory: M, results: unknown[]) => string | undefined | void)
    | undefined;
}

/** A promise, if one of the functions returns one. */
export type AnyAsync<B extends readonly unknown[]> = true extends {
  [K in keyof B]: B[K] extends (...args: never[]) => infer R
    ? R extends PromiseLike<unknown> ? true : false
    : false;
}[number] ? Promise<Result>
  : Result;

/**
 * Explores agents in free form: there is no model, and each agent runs its
 * function once. Returns the result, or throws it if it is a failure.
 *
 * @throws {RaceError} If the agents fail.
 * @throws {TypeError} If an option is unknown or of the wrong type, or is given
 * beside the memory instead of at the end.
 * @throws {RangeError} If an option is out of range.
 * @throws {Error} "Unsupported", if the code does what cannot be simulated.
 *
 * @example
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const add = (memory: SharedArrayBuffer) =>
 *   Atomics.add(new Int32Array(memory), 0, 1);
 * race.agents({ memory: () => new SharedArrayBuffer(4) }, add, add, {
 *   after: (memory) => {
 *     const [sum] = new Int32Array(memory);
 *     if (sum !== 2) return `the sum is ${sum}`;
 *   },
 * });
 * ```
 */
export function agents<
  M extends Memory,
  B extends readonly (Body<M> | AgentsOptions<M>)[],
>(
  definition: AgentsDefinition<M> & {
    readonly workers: Readonly<Record<string, number>>;
  },
  ...rest: B
): Promise<Result>;
/** Explores agents none of which is a worker. */
export function agents<
  M extends Memory,
  B extends readonly (Body<M> | AgentsOptions<M>)[],
>(definition: AgentsDefinition<M>, ...rest: B): AnyAsync<B>;
export function agents<M extends Memory>(
  definition: AgentsDefinition<M>,
  ...rest: (Body<M> | AgentsOptions<M>)[]
): Result | Promise<Result> {
  checkMemory(definition);
  const { workers: roles, ...defined } = definition;
  const [given, asked] = split<Body<M>, AgentsOptions<M>>(
    rest,
    (item) => typeof item === "function",
  );
  checkOptions(asked, FREE);
  const { after, ...options } = asked;
  checkBodies(given);
  const workers = roles && new Workers(roles, given.length);
  const bodies = workers?.bodies(given) ?? given;
  const ops: Record<string, OperationSpec<M, Any, Any>> = {};
  bodies.forEach((body: Any, id) => {
    const same = body; // agents with the same function do the same
    ops[`agent${id}`] = { run: (m) => body(m, id), same } as OperationSpec<
      M,
      Any,
      Any
    >;
  });
  const free = new Spec({
    ...defined,
    ...workers && { memory: workers.before(definition.memory) },
    agent: (memory: M) => memory,
    ops,
    stateless: true,
    async: bodies.some((body) => body.constructor.name === "AsyncFunction"),
    ...after && {
      final: takesAtMost(after, 1)
        ? (memory: M) => (after as (memory: M) => string | void)(memory)
        : (memory: M, results: unknown[][]) =>
          after(memory, results.map(([result]) => result)),
    },
  });
  if (workers !== undefined) free.scenario.hire = (url) => workers.hire(url);
  const program: Program = bodies.map((_, id) => [{ op: `agent${id}` }]);
  const result = checkProgram(free.scenario, program, options);
  const finish = (result: Result) => raise(result, program);
  return result instanceof Promise ? result.then(finish) : finish(result);
}

/**
 * Makes a compiled module into one that agents can run: see {@linkcode Wasm}.
 * Each access to shared memory becomes a step of the scheduler.
 *
 * The module is read when it is first used. That throws "BadModule" if it does
 * not import its memory, or uses vectors, 64-bit memory, or an instruction that
 * is not known.
 *
 * @throws {TypeError} If `bytes` is something else, or an option is unknown or
 * of the wrong type.
 * @throws {RangeError} If `from` is no address.
 *
 * @example
 * ```ts ignore
 * const module = race.wasm(Deno.readFileSync("mailbox.wasm"));
 * const mail = race.spec({
 *   memory: () => new SharedArrayBuffer(8),
 *   wasm: module,
 *   agents: ["wasm"],
 *   agent: (_, __, exports) => exports!,
 *   ops: { put: { run: (exports) => exports.try_put!(module.at, 7) } },
 * });
 * ```
 */
export function wasm(
  bytes: Uint8Array | ArrayBuffer,
  options: WasmOptions = {},
): Wasm {
  if (typeof (bytes as Partial<Uint8Array> | null)?.byteLength !== "number") {
    throw new TypeError(
      `A module's bytes must be a Uint8Array: received ${show(bytes)}`,
    );
  }
  checkOptions(options, WASM);
  return new Wasm(bytes, options);
}

/**
 * Gives memory back, in an operation: any later access to a word of `words`, by
 * any agent, is a failure, "use-after-free". `Atomics.notify` is not an
 * access, as it uses the address alone. With this, explore when an agent may
 * free what others have used.
 *
 * @throws {TypeError} If `words` is not an `Int32Array`.
 *
 * @example The agent that was let go frees the word; the other must not use it
 * ```ts
 * import { race, type RaceError } from "@weft/sync/race";
 *
 * const memory = () => new SharedArrayBuffer(8);
 * try {
 *   race.agents(
 *     { memory },
 *     (memory) => {
 *       const words = new Int32Array(memory);
 *       Atomics.store(words, 0, 1); // lets the other agent go
 *       if (Atomics.load(words, 1) > 0) Atomics.notify(words, 0);
 *     },
 *     (memory) => {
 *       const words = new Int32Array(memory);
 *       Atomics.store(words, 1, 1);
 *       Atomics.wait(words, 0, 0);
 *       race.free(words);
 *     },
 *   );
 * } catch (error) {
 *   console.log((error as RaceError).kind); // "use-after-free"
 * }
 * ```
 */
export function free(words: Int32Array): void {
  if (Object.prototype.toString.call(words) !== "[object Int32Array]") {
    throw new TypeError(
      `race.free takes an Int32Array: received ${show(words)}`,
    );
  }
  for (let i = 0; i < words.length; i++) Atomics.store(words, i, FREED);
}

/**
 * Says, in explored code, that what the agent does from here on in its call
 * depends on nothing that it saw there before, but for the values `kept`. Then
 * states that differ only in what it saw are one: a loop that tries again has
 * few states, and a search may end that would not end otherwise. Outside an
 * exploration it does nothing.
 *
 * It is a promise. After the search, the tester compares the histories that
 * were taken for one on random walks; an agent that kept more is a failure,
 * "nondeterministic".
 *
 * @example
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * function addTwice(memory: SharedArrayBuffer) {
 *   const words = new Int32Array(memory);
 *   for (let i = 0; i < 2; i++) {
 *     for (;;) {
 *       race.forget(i); // the next attempt begins anew
 *       const n = Atomics.load(words, 0);
 *       if (Atomics.compareExchange(words, 0, n, n + 1) === n) break;
 *     }
 *   }
 * }
 * const memory = () => new SharedArrayBuffer(4);
 * race.agents({ memory }, addTwice, addTwice, addTwice);
 * ```
 */
export function forget(...kept: unknown[]): void {
  const explorer = (globalThis as Any)[Symbol.for("@weft/sync/race")];
  explorer?.forget?.(...kept);
}

/**
 * Results as a document of JUnit XML, for servers that show such files: a test
 * of the suite `suite` for each outcome, by its name. An outcome is a result,
 * or an error that was thrown, such as a {@linkcode RaceError}.
 *
 * @throws {TypeError} If an outcome is neither, or `suite` is no text.
 *
 * @example
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const add = (memory: SharedArrayBuffer) =>
 *   Atomics.add(new Int32Array(memory), 0, 1);
 * const memory = () => new SharedArrayBuffer(4);
 * const sum = race.agents({ memory }, add, add);
 * console.log(race.junit("counter", { "two agents add": sum }));
 * ```
 */
export function junit(
  suite: string,
  outcomes: Readonly<Record<string, Outcome>>,
): string {
  if (typeof suite !== "string") {
    throw new TypeError(`A suite needs a name: received ${show(suite)}`);
  }
  if (typeof outcomes !== "object" || outcomes === null) {
    throw new TypeError(
      `The outcomes must be an object: received ${show(outcomes)}`,
    );
  }
  for (const [name, outcome] of Object.entries(outcomes)) {
    const told = outcome as { summary?: unknown } | null;
    if (outcome instanceof Error || typeof told?.summary === "string") continue;
    throw new TypeError(
      `The outcome "${name}" must be a result or an error: ` +
        `received ${show(outcome)}`,
    );
  }
  return junitOf(suite, outcomes);
}

export { contended, either, timedOut } from "./spec.ts";
export { stress } from "./stress.ts";
