/**
 * Explores race scenarios, for tests (`parts/scenarios.ts`) and for the task
 * that prints what each took (`race.ts`).
 *
 * @module
 */
import type { Options, Result } from "../../race/mod.ts";
import { race } from "../../race/mod.ts";
import { Spins } from "../../race/engine/step/loops/spins.ts";
import {
  FIRST_PLACES,
  FIRST_SPINS,
  FIRST_STATES,
  FIRST_TRIALS,
} from "./depth.ts";
import { LOOKS, type Scenario, STEPS } from "./scenario.ts";

/** The states of each scenario that this process has explored. */
const explored = new Map<string, number>();

/** What a scenario is called, beside those of other folders. */
const titleOf = (folder: string, name: string) => `${folder}: ${name}`;

/** Those of them whose loops were all tried, and none of which counts. */
const countless = new Set<string>();

/** Whether a loop was found to count its rounds in the present exploration. */
let counts = false;

/** The most histories in which loops are tried. */
let trials = Infinity;

const { check: tryLoops } = Spins.prototype;
Spins.prototype.check = function (tester, most = Infinity, places) {
  const begins = trials === Infinity
    ? tryLoops.call(this, tester, most, places)
    : tryLoops.call(this, tester, Math.min(most, trials), FIRST_PLACES);
  counts ||= begins;
  return begins;
};

/**
 * How many states of the scenario `name` of `folder` this process has explored,
 * with all reductions: without them, there are more.
 */
export const statesExplored = (folder: string, name: string): number =>
  explored.get(titleOf(folder, name)) ?? 0;

/**
 * Does `work` on the scenario `name` of `folder`; no loop is tried that is
 * known not to count.
 */
export function withoutTrials<T>(
  folder: string,
  name: string,
  work: () => T,
): T {
  if (!countless.has(titleOf(folder, name))) return work();
  const { check } = Spins.prototype;
  Spins.prototype.check = () => false;
  try {
    return work();
  } finally {
    Spins.prototype.check = check;
  }
}

/** Does `work` on scenarios whose loops are tried in the first histories. */
export async function withFirstTrials<T>(
  work: () => T | Promise<T>,
): Promise<T> {
  trials = FIRST_TRIALS;
  try {
    return await work();
  } finally {
    trials = Infinity;
  }
}

/** The share of a scenario's random executions that it tries. */
const FIRST_RUNS = 1 / 4;

/**
 * Explores one scenario of `folder`; fails unless it is complete and without
 * failure.
 */
export async function explore(
  scenario: Scenario,
  folder: string,
): Promise<Result> {
  const { options, sampled = false } = scenario;
  const most = { states: 2_000_000, ...options };
  const result = await check(scenario, folder, most);
  if (!result.complete && !sampled) {
    throw new Error(`not complete: ${result.summary}`);
  }
  return result;
}

/**
 * Explores the first states of one scenario of `folder`; fails if a failure is
 * found, or if anything but the number of states ends the search.
 */
export async function exploreFirst(
  scenario: Scenario,
  folder: string,
): Promise<Result> {
  const { options = {}, sampled = false } = scenario;
  const { states = Infinity, runs = 300 } = options;
  const most = {
    spins: FIRST_SPINS,
    ...options,
    states: Math.min(states, sampled ? FIRST_STATES / 2 : FIRST_STATES),
    runs: sampled ? Math.ceil(runs * FIRST_RUNS) : 0,
  };
  const result = await withFirstTrials(() => check(scenario, folder, most));
  if (!result.complete && !sampled && result.states < FIRST_STATES) {
    throw new Error(`not complete: ${result.summary}`);
  }
  return result;
}

/** Explores one scenario; fails if a failure is found. */
async function check(
  scenario: Scenario,
  folder: string,
  options: Options,
): Promise<Result> {
  const { spec, agents, name } = scenario;
  const title = titleOf(folder, name);
  counts = false;
  const result = await race.check(spec, ...agents, {
    time: 800_000,
    states: 200_000,
    looks: LOOKS,
    polls: false,
    maxSteps: STEPS,
    ...options,
  });
  const { failure } = result;
  explored.set(title, result.states);
  if (result.complete && !counts) countless.add(title);
  if (failure === undefined) return result;
  throw new Error(
    `${failure.kind}: ${failure.message}\n\n${failure.table}\n` +
      `schedule "${failure.schedule}"`,
  );
}
