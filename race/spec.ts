/**
 * The types by which a user describes the code under test.
 *
 * @module
 */
import { Misuse } from "./engine/kinds.ts";
import { type Answer, Either, type Outcome } from "./engine/model.ts";
import { keyOf, show } from "./engine/values.ts";
import type { Memory, Operation, Scenario } from "./engine/scenario.ts";
import { RECOVER } from "./engine/scenario.ts";
import { takesAtMost } from "./engine/state/twins.ts";
import type { Wasm } from "./wasm/wasm.ts";
import type { WasmExports } from "./wasm/instance.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The part of fast-check's `Arbitrary` type that specifications need. */
export interface Arbitrary<A> {
  /** Makes a value, with what fast-check needs to shrink it. */
  generate(random: never, bias: number | undefined): { readonly value: A };
}

/** One operation of a specification: `H` its handle, `S` the model's state. */
export interface OperationSpec<H, S, A> {
  /** Generates the argument. An operation without `arg` takes no argument. */
  readonly arg?: Arbitrary<A> | undefined;
  /** Calls it. It must return plain data, or a promise of plain data. */
  // A method: TypeScript takes no handle from `agent` for a property whose
  // parameters have written types.
  run(handle: H, arg: A, id: number): unknown;
  /**
   * What the operation does to the model. It returns the next state and the
   * answer, or `null` if the operation must wait in this state.
   */
  readonly model?: ((state: S, arg: A, id: number) => Answer<S>) | undefined;
  /** The ids of the agents that may call it; all agents by default. */
  readonly agents?: readonly number[] | undefined;
  /** If true, the operation must finish wherever the other agents stop. */
  readonly lockFree?: boolean | undefined;
}

/** A specification: see {@linkcode race}. */
export interface SpecDefinition<M extends Memory, H, S, A> {
  /**
   * Allocates and initializes the memory. It is called once; the tester keeps a
   * copy of the contents.
   */
  readonly memory: () => M;
  /**
   * Makes an agent's handle, and sets whatever identifies the agent. It is
   * called again whenever the agent's code is run again, and must do the same
   * each time. An agent that is declared "wasm" receives the module's exports.
   */
  readonly agent: (memory: M, id: number, wasm?: WasmExports) => H;
  /** The module that agents declared "wasm" run. */
  readonly wasm?: Wasm | undefined;
  /** What each agent is. Agents beyond the list are like its last entry. */
  readonly agents?: readonly ("js" | "wasm")[] | undefined;
  /** The model's first state. A specification without `init` has no model. */
  readonly init?: S | undefined;
  /** The operations. */
  readonly ops: { readonly [K in keyof A]: OperationSpec<H, S, A[K]> };
  /** Checks the memory while no agent is inside a call; says what is wrong. */
  readonly invariant?: ((memory: M) => string | undefined | void) | undefined;
  /** Checks the memory at the end: says what is wrong, or throws. */
  readonly final?:
    | ((memory: M, results: unknown[][]) => string | undefined | void)
    | undefined;
  /** Called by a survivor after agent `deadId` was terminated. */
  readonly recover?: ((handle: H, deadId: number) => unknown) | undefined;
  /**
   * What `recover` does to the model. Without it, the model ends at the kill.
   */
  readonly recovered?: ((state: S, deadId: number) => S) | undefined;
  /**
   * Words that agents may read plainly while others write them atomically, or,
   * with "written", while another agent writes them plainly.
   */
  readonly hints?:
    | ((byteOffset: number) => boolean | "written")
    | readonly (readonly [from: number, to: number, how?: "written"])[]
    | undefined;
  /** Byte offsets of words by name; tables and messages show the names. */
  readonly words?: Readonly<Record<string, number>> | undefined;
  /**
   * Whether handles have no state of their own. The tester finds out if this is
   * not given.
   */
  readonly stateless?: boolean | undefined;
  /** Whether operations return promises; false by default. */
  readonly async?: boolean | undefined;
}

/** A specification that can be explored. */
export class Spec<Async extends boolean = boolean> {
  /**
   * What the engine explores.
   *
   * @internal
   */
  readonly scenario: Scenario;
  /** The definition the specification was made from. */
  // deno-lint-ignore no-explicit-any
  readonly definition: SpecDefinition<any, any, any, any>;
  /** Whether results are promises. It is never set; only types use it. */
  declare readonly isAsync: Async;

  /** Checks `definition` and keeps it. */
  constructor(definition: SpecDefinition<Any, Any, Any, Any>) {
    this.definition = definition;
    this.scenario = scenarioOf(definition);
  }
}

function scenarioOf(d: SpecDefinition<Any, Any, Any, Any>): Scenario {
  const hasOps = typeof d.ops === "object" && d.ops !== null;
  if (typeof d.memory !== "function" || !hasOps) {
    throw new TypeError("A specification needs memory() and ops");
  }
  const operations = new Map<string, Operation>();
  const kinds: Kind[] = [];
  for (
    const [name, op] of Object.entries<OperationSpec<Any, Any, Any>>(d.ops)
  ) {
    if (typeof op?.run !== "function") {
      throw new TypeError(`The operation "${name}" has no run()`);
    }
    if (name === RECOVER && d.recover !== undefined) {
      throw new TypeError(`No operation may be called "${RECOVER}"`);
    }
    const { run, same = run, model } = op as Any;
    const lockFree = op.lockFree === true;
    operations.set(name, {
      run: op.run,
      lockFree,
      same: takesAtMost(same, same === run ? 2 : 1)
        ? kindOf(kinds, { does: same, model, lockFree })
        : null,
    });
  }
  const modelled = Object.values<OperationSpec<Any, Any, Any>>(d.ops)
    .some((op) => op.model !== undefined);
  if (modelled && !("init" in d)) {
    throw new TypeError("Operations have models, but there is no init");
  }
  return {
    memory: d.memory,
    agent: agentOf(d),
    operations,
    model: "init" in d && modelled
      ? { init: d.init, step: (s, call, id) => stepOf(d, s, call, id) }
      : null,
    invariant: d.invariant ?? null,
    final: d.final ?? null,
    recover: d.recover ?? null,
    recoverModelled: d.recovered !== undefined,
    hints: hintsOf(d.hints),
    alike: takesAtMost(d.agent, 1) && d.wasm === undefined &&
      d.recover === undefined && d.hints === undefined &&
      Object.values<OperationSpec<Any, Any, Any>>(d.ops).every(({ model }) =>
        model === undefined || takesAtMost(model, 2)
      ) &&
      (d.final === undefined || takesAtMost(d.final, 1)),
    finalResults: d.final !== undefined && !takesAtMost(d.final, 1),
    words: d.words ?? {},
    stateless: d.stateless,
    hire: null,
    async: d.async === true || isAsync(d),
  };
}

/** What an operation does, and how it is judged. */
interface Kind {
  readonly does: unknown;
  readonly model: unknown;
  readonly lockFree: boolean;
}

/** The one among `kinds` that is `kind`, which is added if there is none. */
function kindOf(kinds: Kind[], kind: Kind): Kind {
  const known = kinds.find(({ does, model, lockFree }) =>
    does === kind.does && model === kind.model && lockFree === kind.lockFree
  );
  if (known === undefined) kinds.push(kind);
  return known ?? kind;
}

function agentOf(
  { agent, agents = [], wasm }: SpecDefinition<Any, Any, Any, Any>,
): Scenario["agent"] {
  if (agent === undefined) return (memory) => memory;
  const known = agents.every((kind) => kind === "js" || kind === "wasm");
  if (!known) {
    throw new TypeError(`Agents are "js" or "wasm": received ${agents.join()}`);
  }
  if (wasm === undefined && agents.includes("wasm")) {
    throw new TypeError('An agent is "wasm", but there is no module');
  }
  return (memory, id) =>
    (agents[id] ?? agents[agents.length - 1]) === "wasm"
      ? agent(memory, id, wasm!.enter(memory, id))
      : agent(memory, id);
}

function isAsync({ ops }: SpecDefinition<Any, Any, Any, Any>): boolean {
  return Object.values<OperationSpec<Any, Any, Any>>(ops)
    .some(({ run }) => run.constructor?.name === "AsyncFunction");
}

function stepOf(
  { ops, recovered }: SpecDefinition<Any, Any, Any, Any>,
  state: unknown,
  { op, arg }: { op: string; arg?: unknown },
  id: number,
): Answer<unknown> {
  if (op === RECOVER && recovered !== undefined) {
    return [recovered(state, arg as number), undefined];
  }
  const model = ops[op]?.model;
  if (model === undefined) {
    throw new TypeError(
      `The operation "${op}" needs a model, as others have one`,
    );
  }
  const before = keyOf(state, true);
  const answer = model(state, arg, id);
  if (!Object.is(keyOf(state, true), before)) {
    throw new Misuse(
      `The model of "${op}" changes the state that it is given: it must ` +
        `return a new state, such as [...state, item], and leave that one`,
    );
  }
  checkAnswer(op, answer);
  return answer;
}

function checkAnswer(op: string, answer: unknown): void {
  const outcomes = answer instanceof Either ? answer.outcomes : [answer];
  for (const outcome of outcomes) {
    if (outcome === null || outcome === undefined) continue;
    if (Array.isArray(outcome) && outcome.length > 0) continue;
    throw new Misuse(
      `The model of "${op}" must return [state, answer], null if it has to ` +
        `wait, or what race.either() returns: it returned ${show(outcome)}`,
    );
  }
}

function hintsOf(
  hints: SpecDefinition<Any, Any, Any, Any>["hints"],
): Scenario["hints"] {
  if (hints === undefined || typeof hints === "function") return hints ?? null;
  // Each read of a word asks, and there are few words.
  const known = new Map<number, boolean | "written">();
  return (at) => {
    let hinted = known.get(at);
    if (hinted === undefined) {
      const range = hints.find(([from, to]) => at >= from && at < to);
      hinted = range?.[2] ?? range !== undefined;
      known.set(at, hinted);
    }
    return hinted;
  };
}

/**
 * An answer of a model: any of these outcomes is right. `null` outcomes are
 * ignored; if all are `null`, the operation must wait.
 *
 * @example An attempt that may fail for no reason
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const model = (n: number) => race.either([n + 1, true], [n, false]);
 * ```
 */
export function either<S>(...outcomes: (Answer<S>)[]): Either<S> {
  return new Either(
    outcomes.flatMap((outcome) =>
      outcome === null
        ? []
        : outcome instanceof Either
        ? outcome.outcomes
        : [outcome]
    ),
  );
}

/**
 * An outcome that is right only if another operation overlaps this one.
 *
 * @example An attempt that may fail while others are at work
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const model = (n: number) =>
 *   race.either([n + 1, true], race.contended([n, false]));
 * ```
 */
export function contended<S>([state, result]: Outcome<S>): Outcome<S> {
  return [state, result, { contended: true }];
}

/**
 * An outcome that only the end of a timed wait may bring. It does not excuse an
 * operation that sleeps although the model would complete it.
 *
 * @example A semaphore's `tryAcquire` with a timeout
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const model = (permits: number) =>
 *   race.either(
 *     permits > 0 ? [permits - 1, true] : null,
 *     race.timedOut([permits, false]),
 *   );
 * ```
 */
export function timedOut<S>([state, result]: Outcome<S>): Outcome<S> {
  return [state, result, { timedOut: true }];
}
