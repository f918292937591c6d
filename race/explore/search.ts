/**
 * The exhaustive search. It visits every reachable state once, first with all
 * states told apart, and then, if there are many, with those of agents that
 * have the same future taken for one.
 *
 * @module
 */
import { Choices, choices } from "../engine/choices.ts";
import type { Fault } from "../engine/kinds.ts";
import { realNow } from "../engine/native.ts";
import type { Patience } from "../judge/progress.ts";
import { Apart, Futures, HOPELESS } from "../engine/futures.ts";
import type { Engine, Steps } from "../engine/replay.ts";
import { apply, begin } from "../engine/steps.ts";
import type { Progress } from "./progress.ts";
import { judgeHere, Visit } from "./visit.ts";

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
  /** Whether agents that do the same are taken for equal. */
  readonly twins?: boolean | undefined;
  /** Whether states of agents with the same future are one. */
  readonly merge?: boolean | undefined;
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

/** What a search found. */
export interface Found {
  readonly fault: Fault | null;
  readonly schedule: readonly number[];
  /** Whether nothing was left out. */
  readonly complete: boolean;
  readonly states: number;
  /**
   * How many ends of executions were met, and how many steps between states.
   */
  readonly executions: number;
  readonly steps: number;
  /** The most steps of its own that an operation took. */
  readonly maxOpSteps: number;
}

/**
 * When agents are compared: after so many states, because fewer are searched in
 * less time without that; and for six times the time of those, but at least
 * so many milliseconds. Tests also search without sleep sets.
 */
export const COMPARE: { after: number; least: number; asleep: boolean } = {
  after: 50_000,
  least: 100,
  asleep: true,
};

/**
 * So many steps may be lost by searches that took different states for the same
 * and begin again; beginning again counts as so many steps, too.
 */
const MOST_WASTED = 200_000;
const WASTED = 5000;

/** Visits every state. */
export function* search(engine: Engine, o: SearchOptions): Steps<Found> {
  try {
    for (;;) {
      const found = yield* merged(engine, o);
      const { judge } = engine.world;
      // After each round, the judge knows one more operation that may wait.
      if (found.fault !== null || judge === null || !judge.regrets()) {
        return found;
      }
    }
  } finally {
    o.progress?.clear();
  }
}

/** Visits every state; those of agents that have the same future are one. */
function* merged(engine: Engine, o: SearchOptions): Steps<Found> {
  const began = realNow();
  const end = began + o.time;
  const few = Math.min(o.states, COMPARE.after);
  if (!mayMerge(engine, o)) return yield* new Visit(engine, o, null, end).run();
  // Most programs have so few states that comparing agents takes longer.
  const first = yield* new Visit(engine, { ...o, states: few }, null, end)
    .run();
  if (few === o.states || first.states < few || first.fault !== null) {
    return first;
  }
  let wasted = 0;
  let futures: Futures | null = null;
  const now = realNow();
  const patience = Math.max(COMPARE.least, 6 * (now - began));
  const until = Math.min((now + end) / 2, now + patience);
  while (wasted < MOST_WASTED && mayMerge(engine, o)) {
    futures = new Futures(engine, o.results, until, futures);
    try {
      const found = yield* new Visit(engine, o, futures, end).run();
      if (found.fault === null || (yield* isReal(engine, o, found))) {
        return found;
      }
      break;
    } catch (error) {
      if (error instanceof RangeError) break; // the stack was too small
      if (!(error instanceof Apart)) throw error;
      if (error === HOPELESS) break;
      wasted += WASTED + futures.steps;
    }
  }
  // The states now have the hashes of their groups.
  engine.forget();
  return yield* new Visit(engine, o, null, end).run();
}

/** Whether what an agent does depends on nothing but the answers it gets. */
function mayMerge(engine: Engine, o: SearchOptions): boolean {
  const { world, scenario, clocked, apart, recoverer } = engine;
  return o.merge === true && !o.minimal && engine.remembers &&
    !scenario.async && !clocked && !apart && recoverer === null &&
    world.hints === null;
}

/** Whether a fault that was found is there without merged states, too. */
function* isReal(
  engine: Engine,
  o: SearchOptions,
  found: Found,
): Steps<boolean> {
  const { world } = engine;
  const here = new Choices();
  engine.forget();
  yield* begin(engine);
  for (const code of found.schedule) {
    if (world.fault !== null) break;
    choices(engine, here);
    if (!here.has(code)) return false;
    yield* apply(engine, code, false);
  }
  if (world.fault === null) judgeHere(engine, o, here);
  return world.fault?.kind === found.fault!.kind;
}
