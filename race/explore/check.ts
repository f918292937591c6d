/**
 * Explores one program and reports what it finds. It searches all states if
 * there are not too many, and samples executions otherwise.
 *
 * @module
 */
import { judgeRaces } from "../judge/races.ts";
import { Clocks } from "../judge/clocks.ts";
import { NO_BUDGET, noCuts } from "../engine/state/core.ts";
import { begin } from "../engine/step/steps.ts";
import { rotate } from "../judge/fair.ts";
import { explore } from "./drive.ts";
import { Fault, scheduleText } from "../engine/kinds.ts";
import * as k from "../engine/kinds.ts";
import { realNow } from "../engine/platform/native.ts";
import {
  type Picture,
  pictureOf,
  programText,
  tableOf,
} from "../report/print.ts";
import { onTerminal } from "./progress.ts";
import { shrink, switches } from "./shrink.ts";
import { rehearse, scout } from "./rehearse.ts";
import type { Engine, Steps } from "../engine/step/replay.ts";
import { NotConstant } from "../engine/signals.ts";
import {
  type Failure,
  type Options,
  type Program,
  reduces,
  type Result,
} from "../report/result.ts";
import { Fixed, Impossible, run } from "./run.ts";
import { sampler } from "./sample.ts";
import { tryPromises } from "../engine/equal/promises.ts";
import { shadow } from "../engine/equal/shadow.ts";
import type { Tester } from "../engine/step/loops/spins.ts";
import type { Scenario } from "../engine/scenario.ts";
import { isReal, mayForget, search } from "./search.ts";
import { COMPARE, type Found, type SearchOptions } from "./task.ts";
import {
  begunOnly,
  counted,
  covered,
  nothing,
  resultOf,
  sampled,
  sum,
  TIME,
  times,
} from "./verdict.ts";
import { pageOf } from "../report/page.ts";
import { Counts } from "../report/coverage.ts";
import { svgOf } from "../report/svg.ts";
import { Trace } from "../report/trace.ts";
import { starve, starvedText } from "../judge/starve.ts";

/** Explores a program. */
export function check(
  scenario: Scenario,
  program: Program,
  o: Options,
): Result | Promise<Result> {
  return explore(
    scenario,
    program,
    o,
    (engine) => o.starvation === true ? fairly(engine, o) : usually(engine, o),
  );
}

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

/**
 * The histories of agents in which loops that count their rounds are looked for
 * if a search is not complete.
 */
const HISTORIES = 100;

/** The most states of the search by preemptions, if the options do not say. */
const FEW = 100_000;

/** Which part of a search's states and time the search by preemptions has. */
const BOUNDED = 2;

/**
 * Replays one interleaving of a program. If it is not possible, and `searches`,
 * a search learns first which words agents write, as the search did that found
 * the interleaving: a read of a word that nobody writes is no step.
 */
export function replay(
  scenario: Scenario,
  program: Program,
  schedule: readonly number[],
  o: Options,
  searches = true,
): Result | Promise<Result> {
  return explore(
    scenario,
    program,
    o,
    (engine) => replayOnce(engine, schedule, o, searches),
  );
}

/**
 * Explores the engine's program, from the end of the schedule `start` if given.
 */
function* examine(
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
  engine.rehearsing = true;
  yield* rehearse(engine, o);
  engine.rehearsing = false;
  if (world.fault !== null) {
    return yield* report(engine, o, nothing(world), "in rehearsal");
  }
  engine.until = realNow() + time / 4;
  engine.late = false;
  if (start.length === 0) yield* turns(engine);
  if (world.fault !== null && engine.resumed) {
    engine.keepsStacks = engine.resumed = false;
    yield* turns(engine);
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
  if (believed.fault !== null) {
    return yield* report(engine, o, { ...total, ...faultOf(believed) });
  }
  const whole = believed.complete ? covered(engine, o, believed) : undefined;
  const few = yield* bounded(engine, o);
  if (few.fault !== null) {
    return yield* report(engine, o, { ...total, ...faultOf(few) });
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

/**
 * Searches, and begins again as often as it turns out that the search relied on
 * something that does not hold, such as that nobody writes a word.
 */
function* surely(engine: Engine, o: SearchOptions): Steps<Found> {
  const { world, scenario } = engine;
  engine.gaveUp = false;
  for (;;) {
    const reduce = o.reduce === true;
    engine.until = realNow() + o.time;
    engine.late = engine.resumed = false;
    engine.setTwins(o.twins === true && o.start?.length === 0);
    world.keepsPlain = reduce && o.races && !scenario.async &&
      !engine.clocked && world.lead + world.tail === 0;
    engine.spins.begin(!o.minimal && !scenario.async);
    try {
      const searched = yield* search(engine, o);
      const found = keepsPromises(engine, searched);
      const again = searched.fault === null && readsTooMany(engine) ||
        keepsInside(engine) ||
        !(yield* happens(engine, o, searched)) ||
        !(yield* repeats(engine, o, searched)) ||
        found.fault === null && !o.minimal && counts(engine, found);
      if (!again) {
        if (!engine.late) return found;
        const limits = [...new Set([...found.limits, "time" as const])];
        return { ...found, complete: false, limits };
      }
    } catch (error) {
      if (!(error instanceof NotConstant)) throw error;
      readsTooMany(engine);
    }
    engine.forget();
    engine.futures.clear();
    engine.rounds.clear();
  }
}

/** The same, or a fault: an agent kept more than it said. */
function keepsPromises(engine: Engine, found: Found): Found {
  if (!engine.drops.used || found.fault !== null) return found;
  const { broken, runs } = tryPromises(engine, engine.drops);
  engine.tried = runs;
  if (broken === undefined) return found;
  return {
    ...found,
    fault: new Fault("nondeterministic", broken),
    schedule: [],
  };
}

/**
 * Whether an agent has read as many old values of hints as it may, and states
 * did not tell apart how many. Then the search begins again, and they do.
 */
function readsTooMany(engine: Engine): boolean {
  const { world } = engine;
  if (!world.cuts.stale || world.countsOld) return false;
  world.cuts.stale = false;
  return engine.countsOld = true;
}

/**
 * Whether it was found that an agent depends on what it saw in an operation of
 * a primitive that has returned. Then the search begins again, and takes none
 * of its states for one that differ in that.
 */
function keepsInside(engine: Engine): boolean {
  const { returns } = engine;
  if (!returns.used) return false;
  const { places, inside, values } = returns;
  const isKept = [places, inside].every((places) =>
    tryPromises(engine, { places, values }).broken === undefined
  );
  if (isKept) return false;
  returns.begin(false);
  return true;
}

/**
 * Whether a fault happens, too, if agents keep what they saw in operations of
 * primitives. If not, the search begins again, and leaves nothing out.
 */
function* happens(
  engine: Engine,
  o: SearchOptions,
  found: Found,
): Steps<boolean> {
  const { returns } = engine;
  if (found.fault === null || !returns.used) return true;
  if (yield* isReal(engine, o, found)) return true;
  returns.begin(false);
  return false;
}

/**
 * Whether a fault happens, too, if no agent is suspended on the stack. If not,
 * the search begins again without that.
 */
function* repeats(
  engine: Engine,
  o: SearchOptions,
  found: Found,
): Steps<boolean> {
  if (found.fault === null || !engine.resumed) return true;
  engine.keepsStacks = false;
  return engine.keepsStacks = yield* isReal(engine, o, found);
}

/**
 * Whether a loop was found to count its rounds, and the search must begin again
 * to tell them apart. Samples tell them apart, too.
 */
function counts(engine: Engine, { complete }: Found): boolean {
  const { world, scenario, spins } = engine;
  const tester: Tester = {
    world,
    scenario,
    tryOut: (agent, state, event) => shadow(engine, agent, state, event, null),
  };
  if (complete) return spins.check(tester);
  spins.check(tester, HISTORIES);
  return false;
}

/** The executions that are run from the start for each step. */
const REPEATED = 2;

/** Looks for livelocks in executions in which every agent gets its turns. */
function* turns(engine: Engine): Steps<void> {
  const { world } = engine;
  world.startBudget = NO_BUDGET;
  world.clocks = null;
  engine.overdue = null;
  for (let i = 0; i < 6; i++) {
    engine.trusts = i >= REPEATED;
    yield* begin(engine);
    const lead = (i & 1) * engine.count;
    yield* rotate(engine, { turn: 1 + (i >> 1), lead }, new Set());
    if ((world.fault as Fault | null)?.kind === "livelock") return;
    world.fault = null;
  }
}

/** Samples executions. */
function* sample(engine: Engine, o: Options, before: Found): Steps<Result> {
  const { world } = engine;
  const options = searchOptions(engine, o, false);
  const runs = o.runs ?? (o.sample === undefined ? 300 : Infinity);
  const end = engine.until = realNow() + options.time;
  engine.late = false;
  let total = { ...before, complete: false };
  let ran = 0;
  for (let i = 0; i < runs && realNow() < end; i++) {
    ran++;
    if (options.races) world.clocks ??= clocksOf(engine);
    const length = Math.max(20, world.steps);
    const chooser = sampler(o, i, engine.count, length);
    yield* run(engine, chooser, options);
    if (engine.learned) throw new NotConstant();
    total = {
      ...total,
      executions: total.executions + 1,
      steps: total.steps + world.steps,
    };
    if (world.fault === null) continue;
    yield* mustRepeat(engine, options);
    if (o.shorten !== false) yield* shrink(engine, options);
    const { fault, schedule } = world;
    const how = `sampled, execution ${i + 1}`;
    return yield* report(engine, o, { ...total, fault, schedule }, how);
  }
  return sampled(engine, o, total, ran, ran < runs);
}

/** How many executions look for races of what only a hint guards. */
const GUARDED = 100;

/**
 * Looks for a data race of what only a hint guards: to read a hint orders
 * nothing, but the other access may never come next to it. Clocks find that.
 */
function* behindHints(
  engine: Engine,
  o: Options,
): Steps<Result | undefined> {
  const { world, scenario } = engine;
  if (scenario.hints === null || o.races === false) return;
  const runs = Math.min(o.runs ?? GUARDED, GUARDED);
  const result = yield* sample(engine, { ...o, runs }, nothing(world));
  world.clocks = null;
  return result.failure?.kind === "data-race" ? result : undefined;
}

/** Clocks that find the data races of one execution. */
function clocksOf(engine: Engine): Clocks {
  const { world } = engine;
  return new Clocks(
    world.agents,
    (address) => world.hints?.isHint(address) ?? false,
    (address) => world.hints?.isWritten(address) ?? false,
    engine.racy,
    (address) => engine.learn(address),
  );
}

/**
 * Runs an execution that failed once more, from its start each time. If it does
 * not fail, the exploration begins again, and no agent stays on the stack.
 */
function* mustRepeat(engine: Engine, o: SearchOptions): Steps<void> {
  if (!engine.resumed) return;
  const { world } = engine;
  const { fault, schedule } = world;
  engine.keepsStacks = false;
  try {
    yield* run(engine, new Fixed(schedule), o);
  } catch (error) {
    if (!(error instanceof Impossible)) throw error;
  }
  if (world.fault?.kind !== fault!.kind) throw new NotConstant();
  engine.keepsStacks = true;
  world.fault = fault;
  world.schedule = schedule;
}

// ---- reports ----------------------------------------------------------------

/** Replays a failure and describes it. */
function* report(
  engine: Engine,
  o: Options,
  found: Found,
  how?: string,
): Steps<Result> {
  try {
    return yield* describe(engine, o, found, how);
  } catch (error) {
    if (!(error instanceof Impossible)) throw error;
    const fault = new Fault(
      "nondeterministic",
      `an interleaving that ended in "${found.fault!.kind}: ` +
        `${found.fault!.message}" cannot be repeated: the code under test ` +
        `keeps state outside shared memory, such as in a module; create ` +
        `that state in agent()`,
    );
    return yield* describe(engine, o, { ...found, fault, schedule: [] }, how);
  }
}

function* describe(
  engine: Engine,
  o: Options,
  found: Found,
  how: string | undefined,
): Steps<Result> {
  const { fault } = found;
  const schedule = [...found.schedule];
  const program = engine.world.agents.slice(0, engine.count)
    .map(({ own }) => own);
  const extent = how ?? `exhaustive, ${counted(found.states, "state")}`;
  const picture = yield* replayPicture(
    engine,
    schedule,
    o,
    `${fault!.kind}: ${fault!.message}`,
    `${extent}; ${counted(switches(schedule), "context switch", "es")}; ` +
      `program ` +
      `${programText(program, o)}; schedule "${scheduleText(schedule)}"`,
  );
  const failure = failureOf(fault!, program, schedule, picture);
  return resultOf(found, extent, [], failure);
}

/** A program as `race.replay` takes it. */
const tuplesOf = (program: Program): Failure["program"] =>
  program.map((calls) =>
    calls.map(({ op, arg }) => arg === undefined ? [op] : [op, arg])
  );

function failureOf(
  { kind, message }: Fault,
  program: Program,
  schedule: readonly number[],
  picture: Picture,
): Failure {
  return {
    kind,
    message,
    table: `${tableOf(picture)}\n(${picture.footer})`,
    program: tuplesOf(program),
    schedule: scheduleText(schedule),
    svg: () => svgOf(picture),
    page: () => pageOf(picture),
  };
}

function* replayPicture(
  engine: Engine,
  schedule: readonly number[],
  o: Options,
  title: string,
  footer: string,
): Steps<Picture> {
  const { world } = engine;
  const trace = world.trace = new Trace();
  const { sites, coverage } = engine;
  engine.until = Infinity;
  engine.sites = o.lines ?? true;
  engine.coverage = null;
  for (const agent of world.agents) agent.site = ""; // of an earlier check
  try {
    yield* run(
      engine,
      new Fixed(schedule),
      searchOptions(engine, o, false),
    );
    return pictureOf(world, trace, engine.count, title, footer);
  } finally {
    world.trace = null;
    engine.sites = sites;
    engine.coverage = coverage;
  }
}

// ---- one interleaving -------------------------------------------------------

/** Replays one interleaving and reports its result. */
function* replayOnce(
  engine: Engine,
  schedule: readonly number[],
  o: Options,
  searches: boolean,
): Steps<Result> {
  const { world } = engine;
  const kills = schedule.filter((code) => k.actionOf(code) === k.KILL).length;
  const options = searchOptions(engine, o, false);
  const title = `schedule "${scheduleText(schedule)}"`;
  const perform = (clocks: Clocks | null) => {
    world.startBudget = {
      timeouts: times(o.timeouts ?? true, 2),
      spurious: times(o.spurious, 1),
      kills: o.kill === true || kills > 0 ? 1 : 0,
    };
    world.clocks = clocks;
    world.keepsPlain = !engine.scenario.async && world.lead + world.tail === 0;
    return replayLooking(engine, schedule, o, title);
  };
  let picture: Picture;
  try {
    picture = yield* perform(null);
  } catch (error) {
    if (!searches || !(error instanceof Impossible)) throw error;
    yield* learn(engine, o);
    picture = yield* perform(null);
  }
  if (world.fault === null) {
    expect(engine);
    if (options.races) judgeRaces(engine);
  }
  if (world.fault === null) {
    // Where a schedule ends too late, no step is impossible.
    yield* glance(engine);
    try {
      // A sample may have found a race of two accesses that lie far apart.
      picture = yield* perform(options.races ? clocksOf(engine) : null);
      if (engine.learned) throw new NotConstant();
    } catch (error) {
      if (!(error instanceof Impossible)) throw error;
      picture = yield* perform(null); // there is one before its end
    }
  }
  const { steps } = world;
  if (world.fault === null && o.then === undefined) yield* goesOn(engine);
  if (world.fault === null && o.then === "explore") {
    return yield* examine(engine, o, schedule);
  }
  const found = { ...nothing(world), steps, complete: false };
  const { fault } = found;
  const program = world.agents.slice(0, engine.count).map(({ own }) => own);
  const failure = fault === null
    ? undefined
    : failureOf(fault, program, schedule, {
      ...picture,
      title: `${fault.kind}: ${fault.message}`,
    });
  const result = resultOf(found, title, [], failure);
  return { ...result, table: tableOf(picture) };
}

/**
 * Learns by some executions which words agents write. If the replay relied on
 * something else, it begins again.
 */
function* glance(engine: Engine): Steps<void> {
  if (engine.scenario.async) return;
  engine.world.startBudget = NO_BUDGET;
  yield* scout(engine);
}

/** Looks for a livelock: every agent gets its turns from here on. */
function* goesOn(engine: Engine): Steps<void> {
  const { world } = engine;
  engine.overdue = null;
  engine.until = realNow() + TIME / 4;
  yield* rotate(engine, { turn: 1, lead: 0 }, new Set());
  if ((world.fault as Fault | null)?.kind !== "livelock") world.fault = null;
}

/**
 * Learns what the exploration learned that found the failure: which words
 * agents write, and which loops count.
 */
function* learn(engine: Engine, o: Options): Steps<void> {
  const { world } = engine;
  yield* examine(engine, { ...o, lines: false, shorten: false });
  engine.recalls = engine.trusts = false;
  engine.setTwins(false);
  engine.forget();
  world.fault = null;
}

/**
 * Learns which words agents will use next. If the replay relied on something
 * else, it begins again.
 */
function expect({ world: { agents, memory } }: Engine): void {
  for (const { id, status, target, kind, address, size } of agents) {
    if (status !== k.READY || target === null) continue;
    const writes = k.writes(kind);
    memory.use(target.region, 1 << id, address, size, writes);
    if (writes) memory.touch(target.region, address, size);
  }
  if (!memory.surprised) return;
  memory.surprised = false;
  throw new NotConstant();
}

/**
 * Replays an interleaving. If that is impossible, agents may also go on with a
 * loop that sees nothing new: it may be one that counts its rounds.
 */
function* replayLooking(
  engine: Engine,
  schedule: readonly number[],
  o: Options,
  title: string,
): Steps<Picture> {
  const { spins } = engine;
  try {
    return yield* replayPicture(engine, schedule, o, title, title);
  } catch (first) {
    if (!(first instanceof Impossible)) throw first;
    spins.looks = true;
    try {
      return yield* replayPicture(engine, schedule, o, title, title);
    } catch (error) {
      throw error instanceof Impossible ? first : error;
    }
  }
}

// ---- what was asked, and what was found -------------------------------------

function searchOptions(
  { scenario, looks }: Engine,
  o: Options,
  minimal: boolean,
): SearchOptions {
  const usual = o.kill !== true && times(o.spurious, 1) === 0;
  const isWhole = o.primitives === "atomic";
  const declared = [...scenario.operations.values()]
    .some(({ lockFree }) => lockFree);
  const lockFree = o.progress === "lock-free"
    ? "all"
    : declared
    ? "declared"
    : "no";
  return {
    states: minimal ? 2 * FEW : o.states ?? COMPARE.states,
    time: o.time ?? TIME,
    minimal,
    lockFree,
    races: o.races !== false,
    rescue: o.rescue === true,
    looks,
    polls: o.polls !== false,
    results: scenario.finalResults,
    progress: minimal ? null : onTerminal(),
    reduce: reduces(o, "order") && usual,
    groups: reduces(o, "groups") && usual && lockFree === "no" && !isWhole,
    mayGroup: (o.reduce ?? true) === true && usual && lockFree === "no" &&
      !isWhole && o.polls !== false,
    twins: reduces(o, "alike") && usual,
    merge: reduces(o, "unused") && usual,
    compares: o.reduce === "unused",
    memoryless: o.memoryless === true && usual,
  };
}

const faultOf = (
  { fault, schedule }: Pick<Found, "fault" | "schedule">,
): Pick<Found, "fault" | "schedule"> => ({
  fault,
  schedule,
});
