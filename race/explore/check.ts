/**
 * Explores one program and reports what it finds. It searches all states if
 * there are not too many, and samples executions otherwise.
 *
 * @module
 */
import { NO_BUDGET, noCuts } from "../engine/state/machine.ts";
import { begin } from "../engine/step/steps.ts";
import { rotate } from "../judge/fair.ts";
import { judgeQuiet } from "../judge/progress.ts";
import { explore, exploreNow } from "./runs/drive.ts";
import type { Fault } from "../engine/kinds.ts";
import { realNow } from "../engine/platform/native.ts";
import { rehearse } from "./runs/rehearse.ts";
import type { Engine, Steps } from "../engine/step/replay.ts";
import {
  type Options,
  type Program,
  reduces,
  type Result,
} from "../report/result.ts";
import type { Scenario } from "../engine/scenario.ts";
import { mayForget } from "./search/search.ts";
import { COMPARE, type Found } from "./runs/task.ts";
import {
  begunOnly,
  counted,
  covered,
  faultOf,
  nothing,
  sum,
  TIME,
  times,
} from "./verdict.ts";
import { Counts } from "../report/coverage.ts";
import { starve, starvedText } from "../judge/starve.ts";
import { FEW, searchOptions } from "./asked.ts";
import { surely } from "./again.ts";
import { behindHints, sample } from "./sampling.ts";
import { report } from "./failure.ts";

/** Explores a program. */
export function check(
  scenario: Scenario,
  program: Program,
  o: Options,
): Result | Promise<Result> {
  return explore(scenario, program, o, (engine) => work(engine, o));
}

/**
 * The same at once; undefined if operations turn out to return promises, which
 * the scenario says then.
 */
export function checkNow(
  scenario: Scenario,
  program: Program,
  o: Options,
): Result | undefined {
  if (scenario.async) return undefined;
  return exploreNow(scenario, program, o, (engine) => work(engine, o));
}

const work = (engine: Engine, o: Options): Steps<Result> =>
  o.starvation === true ? fairly(engine, o) : usually(engine, o);

/** Explores the engine's program, and counts what it reaches if asked to. */
const usually = (engine: Engine, o: Options): Steps<Result> =>
  o.coverage === true ? covering(engine, o) : examine(engine, o);

/**
 * Explores the engine's program, and then looks for agents that starve if
 * every agent repeats its calls for ever.
 */
function* fairly(engine: Engine, o: Options): Steps<Result> {
  const result = yield* usually(engine, o);
  if (!result.ok) return result;
  const states = o.states ?? COMPARE.states;
  const starved = yield* starve(engine, { states, time: o.time ?? TIME });
  if (starved.fault !== null) {
    const how = `program repeated for ever, ${
      counted(starved.states, "state")
    }`;
    const found = { ...nothing(engine.world), ...faultOf(starved) };
    return yield* report(engine, o, found, how);
  }
  const { limit, unjudged } = starved;
  const text = starvedText(starved);
  const { summary, bounds, complete } = result;
  if (limit === undefined && unjudged === undefined) {
    return { ...result, summary: `${summary}; ${text}` };
  }
  const shorter = complete ? summary.replace(/^complete[^:]*/, "") : summary;
  return {
    ...result,
    complete: false,
    bounds: [...bounds, text],
    summary: `${complete ? "not complete" : ""}${shorter}; ${text}`,
  };
}

/** Explores the engine's program, and counts what it reaches. */
function* covering(engine: Engine, o: Options): Steps<Result> {
  const counts = new Counts();
  engine.coverage = counts;
  engine.sites = true;
  const result = yield* examine(engine, o);
  return { ...result, coverage: counts.told() };
}

/** Which part of a search's states and time the search by preemptions has. */
const BOUNDED = 2;

/**
 * Explores the engine's program, from the end of the schedule `start` if given.
 */
export function* examine(
  engine: Engine,
  o: Options,
  start: readonly number[] = [],
): Steps<Result> {
  const { world } = engine;
  const unusual = {
    timeouts: times(o.timeouts ?? true, 2),
    spurious: times(o.spurious, 1),
    kills: 0,
  };
  const { time } = searchOptions(engine, o, false);
  engine.until = realNow() + time / 4;
  engine.late = false;
  engine.rehearsing = true;
  yield* rehearse(engine, o);
  engine.rehearsing = false;
  if (world.fault !== null) {
    return yield* report(engine, o, nothing(world), "in rehearsal");
  }
  engine.until = realNow() + time / 4;
  engine.late = false;
  if (start.length === 0) yield* turns(engine, o);
  if (world.fault !== null && engine.resumed) {
    engine.keepsStacks = engine.resumed = false;
    yield* turns(engine, o);
    engine.keepsStacks = (world.fault as Fault | null) !== null;
  }
  if (world.fault !== null) {
    return yield* report(
      engine,
      o,
      nothing(world),
      "every agent took its turn",
    );
  }
  // Until here, agents were run for each step: that shows whether they repeat.
  // To compare what agents use, it must be known what they did.
  engine.recalls = reduces(o, "remembered") || reduces(o, "unused");
  engine.trusts = engine.recalls;
  world.cuts = noCuts();
  const budgets = [unusual];
  if (o.kill === true) budgets.push({ ...unusual, kills: 1 });
  let total = nothing(world);
  if (o.sample !== undefined) {
    world.startBudget = budgets.at(-1)!;
    return yield* sample(engine, o, total);
  }
  for (const budget of budgets) {
    world.startBudget = budget;
    const full = { ...searchOptions(engine, o, false), start };
    const found = yield* surely(engine, full);
    total = sum(total, found);
    if (found.fault !== null) {
      let best = found;
      if (o.shorten !== false) {
        const minimal = { ...searchOptions(engine, o, true), start };
        const least = yield* surely(engine, minimal);
        if (least.fault !== null) best = least;
      }
      return yield* report(engine, o, { ...total, ...faultOf(best) });
    }
  }
  if (total.complete) {
    const race = yield* behindHints(engine, o);
    if (race !== undefined) return race;
    return covered(engine, o, total);
  }
  if (start.length > 0) return begunOnly(engine, o, total);
  const believed = yield* believing(engine, o);
  const first = `after the first ${counted(total.states, "state")}`;
  if (believed.fault !== null) {
    const how = `as if loops remembered nothing, ${first}`;
    return yield* report(engine, o, { ...total, ...faultOf(believed) }, how);
  }
  const whole = believed.complete ? covered(engine, o, believed) : undefined;
  const few = yield* bounded(engine, o);
  if (few.fault !== null) {
    const how = `by preemptions, ${first}`;
    return yield* report(engine, o, { ...total, ...faultOf(few) }, how);
  }
  const { preemptions } = few;
  const result = yield* sample(engine, o, { ...total, preemptions });
  return result.ok && whole !== undefined ? whole : result;
}

/**
 * Searches as if loops remembered nothing, where a search has not ended and
 * nobody has said how many states it may have. Each loop is tried. The result
 * names this bound.
 */
function* believing(engine: Engine, o: Options): Steps<Found> {
  const usual = searchOptions(engine, o, false);
  const asked = { ...usual, memoryless: true, only: true };
  const not = { ...nothing(engine.world), complete: false };
  if (o.states !== undefined || o.memoryless !== undefined) return not;
  if (o.kill === true || !mayForget(engine, asked)) return not;
  // What agents did in the other search would need much memory.
  engine.forget();
  engine.futures.clear();
  engine.rounds.clear();
  return yield* surely(engine, asked);
}

/**
 * Searches the executions with the fewest preemptions first, for a part of the
 * states and the time of a search that did not end. So the result can name a
 * bound up to which everything was covered (Musuvathi and Qadeer 2007).
 */
function bounded(engine: Engine, o: Options): Steps<Found> {
  const minimal = searchOptions(engine, o, true);
  const states = Math.ceil(o.states === undefined ? FEW : o.states / BOUNDED);
  return surely(engine, { ...minimal, states, time: minimal.time / BOUNDED });
}

/** The executions that are run from the start for each step. */
const REPEATED = 2;

/** Looks for livelocks in executions in which every agent gets its turns. */
function* turns(engine: Engine, o: Options): Steps<void> {
  const { world } = engine;
  const patience = searchOptions(engine, o, false);
  const mayPass = () => {
    // Asynchronous agents are run from their start for every step.
    if (engine.scenario.async) return false;
    judgeQuiet(engine, patience);
    return world.fault === null; // the search finds it, too
  };
  world.startBudget = NO_BUDGET;
  world.clocks = null;
  engine.overdue = null;
  for (let i = 0; i < 6; i++) {
    engine.trusts = i >= REPEATED;
    yield* begin(engine);
    const lead = (i & 1) * engine.count;
    yield* rotate(engine, { turn: 1 + (i >> 1), lead }, new Set(), mayPass);
    if ((world.fault as Fault | null)?.kind === "livelock") return;
    world.fault = null;
  }
}
