/**
 * The options and the results of an exploration.
 *
 * @module
 */
import type { FailureKind } from "../engine/kinds.ts";
import type { Call } from "../engine/model.ts";
import type { Coverage } from "./coverage.ts";

/**
 * A reduction of the search: steps that commute are taken in one order; agents
 * that concern no others take their steps first; agents that do the same count
 * as equal; what an agent saw and does not use is left out; what agents did
 * before is remembered.
 */
export type Reduction =
  | "order"
  | "groups"
  | "alike"
  | "unused"
  | "remembered";

/** Whether `o` asks for a reduction. */
export function reduces({ reduce = true }: Options, name: Reduction): boolean {
  // Groups come on top of all others. By default, they are used where no agent
  // is in a loop that changes memory: see `mayGroup`.
  if (name === "groups" || typeof reduce === "boolean") {
    return reduce === (name === "groups" ? name : true);
  }
  return reduce === "groups" || reduce === name;
}

/** A way to sample executions. */
export type Sampling = "random" | "order" | "pct";

/** How to explore. */
export interface Options {
  /** "lock-free": every operation must finish wherever the others stop. */
  readonly progress?: "lock-free" | undefined;
  /** Whether any one agent may be terminated at any step; false by default. */
  readonly kill?: boolean | undefined;
  /**
   * How many sleeps of an execution may end without a reason; 0 by default,
   * `true` means 1.
   */
  readonly spurious?: boolean | number | undefined;
  /**
   * How many timed waits of an execution may time out although other agents
   * can run; 2 by default, `true` means 2.
   */
  readonly timeouts?: boolean | number | undefined;
  /**
   * The most states to search, 1 or more; 1,500,000 by default (20,000 for each
   * program of `assert`). If there are more, executions are sampled.
   */
  readonly states?: number | undefined;
  /**
   * The most executions to sample, 0 or more; 300 by default, and no bound with
   * `sample`.
   */
  readonly runs?: number | undefined;
  /**
   * Searches no states and samples executions only, until `time` is over or
   * there were `runs` of them. "random": each step is equally likely. "order":
   * partial order sampling. "pct": agents have priorities, which change at
   * `depth - 1` steps.
   */
  readonly sample?: Sampling | undefined;
  /**
   * With `sample: "pct"`: how many orders of two steps a failure may need, 1 to
   * 1,000; 3 by default.
   */
  readonly depth?: number | undefined;
  /** An integer with which the random samples begin; 1 by default. */
  readonly seed?: number | undefined;
  /**
   * The most milliseconds for the search, and again for the samples; 20,000 by
   * default.
   */
  readonly time?: number | undefined;
  /**
   * Whether data races are failures; true by default. A function says it for
   * each byte offset: give one to go on behind a race that is known.
   */
  readonly races?: boolean | ((byteOffset: number) => boolean) | undefined;
  /** Whether a timeout excuses a lost wake-up; false by default. */
  readonly rescue?: boolean | undefined;
  /**
   * Milliseconds of a blocking sleep after which the code under test only looks
   * again. Without a model, an agent in a sleep of exactly this length counts
   * as asleep for ever.
   */
  readonly looks?: number | undefined;
  /**
   * Whether an agent may wait without sleeping; true by default. If false, an
   * agent that would go round a loop for ever until another agent goes on is a
   * livelock, even if the model says that its operation may wait. Only the
   * search checks this, not the samples.
   */
  readonly polls?: boolean | undefined;
  /**
   * How many steps an operation may take before the tester gives every agent
   * its turns; 1,000 by default. If the operation then takes twice as many and
   * does not end, it is a livelock.
   */
  readonly maxSteps?: number | undefined;
  /**
   * Whether tables name the source lines of steps (default true). Looking for
   * them can take longer than the exploration that found a failure.
   */
  readonly lines?: boolean | undefined;
  /**
   * Whether the tester looks for a shorter execution that fails (default true).
   * That can take longer than finding the first one.
   */
  readonly shorten?: boolean | undefined;
  /**
   * If false, steps that commute are explored in every order, too, agents that
   * do the same are told apart, and agents are run for every step. A name says
   * which reduction alone is used.
   */
  readonly reduce?: boolean | Reduction | undefined;
  /**
   * Whether loops of agents remember nothing: what an agent does after a round
   * depends on what it sees from then on, and not on the rounds before. The
   * tester tries that on random walks.
   */
  readonly memoryless?: boolean | undefined;
  /**
   * "atomic": whole operations of the primitives of this library are one step
   * each. The reference says of which. Not with `kill` or lock-freedom; in
   * asynchronous code, it has no effect.
   */
  readonly primitives?: "atomic" | undefined;
  /**
   * Whether it is a failure if an agent can be kept in a call for ever while
   * calls of others end again and again, although every agent that can go on
   * does (weak fairness); false by default. For this, every agent repeats its
   * calls for ever. Not with `kill`, `begin`, `end`, `sample` or `primitives`.
   */
  readonly starvation?: boolean | undefined;
  /**
   * Whether it is counted which operations are reached, and what comes of them:
   * `result.coverage`. Agents are then run for every step, which takes several
   * times as long.
   */
  readonly coverage?: boolean | undefined;
  /** With `race.replay`: "explore" searches what can follow the schedule. */
  readonly then?: "explore" | undefined;
  /**
   * How many operations of a loop that sees nothing new are followed before the
   * loop counts as endless; 100,000 by default. A loop that ends sooner is
   * explored past its end.
   */
  readonly spins?: number | undefined;
  /**
   * How many of agent 0's calls, from its first on, run before all other agents
   * begin; 0 by default. `assert` generates up to this number.
   */
  readonly begin?: number | undefined;
  /**
   * How many of agent 0's calls, up to its last, run after all other agents are
   * done; 0 by default. `assert` generates up to this number.
   */
  readonly end?: number | undefined;
}

/** Something wrong with the code under test, and the interleaving. */
export interface Failure {
  /** The kind of failure: see the guide's table. */
  readonly kind: FailureKind;
  /** What is wrong, in one or two sentences. */
  readonly message: string;
  /**
   * What the code under test or a check threw, if it did. It is not listed
   * among the properties: JSON and logs have no use for it.
   */
  readonly cause?: unknown;
  /** The interleaving: a column for each agent, a row for each step. */
  readonly table: string;
  /** The calls of each agent, for `race.replay`. */
  readonly program: readonly (readonly (readonly [
    op: string,
    arg?: unknown,
  ])[])[];
  /** The interleaving for `race.replay`. */
  readonly schedule: string;
  /** The interleaving as a picture: the text of an SVG file. */
  svg(): string;
  /** The interleaving as an HTML page, which needs no other file. */
  page(): string;
}

/** A failure with what was thrown, if something was. */
export const withCause = (failure: Failure, cause: unknown): Failure =>
  cause === undefined
    ? failure
    : Object.defineProperty(failure, "cause", { value: cause });

/** What an exploration found. */
export interface Result {
  /** Whether no failure was found. */
  readonly ok: boolean;
  /** Whether every interleaving was covered that `bounds` leave. */
  readonly complete: boolean;
  /**
   * The bounds that left something out, such as "2 timeouts", or "200000
   * states" of a search that is not complete. Of a failure, none.
   */
  readonly bounds: readonly string[];
  /**
   * If the search is not complete: every interleaving with at most this number
   * of preemptions was covered. Each timeout, spurious wake, terminated agent
   * and old value of a hint counts as one, too.
   */
  readonly preemptions?: number;
  /** How many states were searched. */
  readonly states: number;
  /** How many executions came to their end. */
  readonly executions: number;
  /** How many steps were taken. */
  readonly steps: number;
  /** The most steps of its own that one operation took. */
  readonly maxOpSteps: number;
  /** How far the tester looked, such as "complete: 64 states". */
  readonly summary: string;
  /** What was reached, and what never was; with `coverage: true`. */
  readonly coverage?: Coverage;
  /** The interleaving as a table; `race.replay` alone gives it. */
  readonly table?: string;
  /** The failure that was found, if any. */
  readonly failure?: Failure;
}

/** A program: the calls of each agent. */
export type Program = readonly (readonly Call[])[];
