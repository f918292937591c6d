/**
 * What a search is asked, and what it finds.
 *
 * @module
 */
import type { Fault } from "../../engine/kinds.ts";
import type { Engine } from "../../engine/step/replay.ts";
import type { Patience } from "../../judge/progress.ts";
import type { Progress } from "./progress.ts";

/** How to search. */
export interface SearchOptions extends Patience {
  /** The most states to visit. */
  readonly states: number;
  /** The most milliseconds the search may take. */
  readonly time: number;
  /** Whether to report a failure with the fewest preemptions. */
  readonly minimal: boolean;
  /** Which operations must be lock-free: all, the declared ones, or none. */
  readonly lockFree: "all" | "declared" | "no";
  readonly races: boolean;
  /** Whether steps that commute with all others are taken in one order only. */
  readonly reduce?: boolean | undefined;
  /** Whether groups of agents that concern no others go first. */
  readonly groups?: boolean | undefined;
  /**
   * Whether they do without being asked for, where they surely lose nothing.
   */
  readonly mayGroup?: boolean | undefined;
  /** Whether agents that do the same are taken for equal. */
  readonly twins?: boolean | undefined;
  /** Whether states of agents with the same future are one. */
  readonly merge?: boolean | undefined;
  /** Whether that was asked for by its name. */
  readonly compares?: boolean | undefined;
  /** Whether loops of agents remember nothing. */
  readonly memoryless?: boolean | undefined;
  /** Whether nothing else is searched if that cannot be made use of. */
  readonly only?: boolean | undefined;
  /** Whether it is made to learn what agents do, before another search. */
  readonly learns?: boolean | undefined;
  /**
   * Whether it ends when no groups are looked for any more, or when a sixth of
   * its states is only a small share of all.
   */
  readonly soon?: boolean | undefined;
  /** Shows how far the search has come. */
  readonly progress?: Progress | null | undefined;
  /** The steps that lead to the state to begin with. */
  readonly start?: readonly number[] | undefined;
  /** Whether results are part of a state. */
  readonly results: boolean;
  /**
   * Called at each end of an execution, also at a deadlock. Tests compare
   * these.
   */
  readonly onEnd?: ((engine: Engine) => void) | undefined;
}

/**
 * Why a search left something out: there were more states than it may visit,
 * its time was over, or a call took more steps than it follows.
 */
export type Limit = "states" | "time" | "steps";

/** What a search found. */
export interface Found {
  readonly fault: Fault | null;
  readonly schedule: readonly number[];
  /** Whether nothing was left out. */
  readonly complete: boolean;
  /** The limits that left something out. */
  readonly limits: readonly Limit[];
  readonly states: number;
  /**
   * How many ends of executions were met, and how many steps between states.
   */
  readonly executions: number;
  readonly steps: number;
  /** The most steps of its own that an operation took. */
  readonly maxOpSteps: number;
  /**
   * Of a search that reports the fewest preemptions: up to how many of them, it
   * has covered everything; -1 if it has covered nothing, or is another search.
   */
  readonly preemptions: number;
}

/**
 * When agents are compared: after `after` states, because fewer are searched in
 * less time without that; and for as much work as `patience` times the steps to
 * those. The work is counted, and not timed, so that the same program has the
 * same result; the clock ends it only after `longest` times the time of those
 * states, or three quarters of the search's time, and the result says so.
 * Before that, `walks` random walks learn which words agents use, and up to
 * `soon` states are searched by what agents can still do. Loops are tried after
 * `learn` states. Old values of hints that make no difference are left out
 * after `hints` states, and what agents can still do is relied on after
 * `relies` states. `states` is the most states of a search, if the options do
 * not say it. Tests also search without sleep sets.
 */
export const COMPARE = {
  after: 50_000,
  soon: 300_000,
  patience: 12,
  longest: 20,
  walks: 100,
  learn: 20_000,
  hints: 2000,
  relies: 1000,
  states: 1_500_000,
  asleep: true,
};
