/**
 * Replays one interleaving of a program, and says what came of it.
 *
 * @module
 */
import { judgeRaces } from "../judge/races.ts";
import type { Clocks } from "../judge/clocks.ts";
import { NO_BUDGET } from "../engine/state/machine.ts";
import { failBusy, rotate } from "../judge/fair.ts";
import { explore } from "./runs/drive.ts";
import { type Fault, scheduleText } from "../engine/kinds.ts";
import * as k from "../engine/kinds.ts";
import { realNow } from "../engine/platform/native.ts";
import { type Picture, tableOf } from "../report/print.ts";
import { isBusy } from "./search/here.ts";
import { scout } from "./runs/rehearse.ts";
import type { Engine, Steps } from "../engine/step/replay.ts";
import { NotConstant } from "../engine/signals.ts";
import type { Options, Program, Result } from "../report/result.ts";
import { Impossible } from "./runs/run.ts";
import type { Scenario } from "../engine/scenario.ts";
import { nothing, resultOf, TIME, times } from "./verdict.ts";
import { examine } from "./check.ts";
import { clocksOf } from "./sampling.ts";
import { failureOf, replayPicture } from "./failure.ts";
import { searchOptions } from "./asked.ts";

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
  // Survivors sleep in another way. The schedule says that there are some.
  const kill = o.kill === true ||
    schedule.some((code) => k.actionOf(code) === k.KILL);
  const asked = { ...o, kill };
  return explore(
    scenario,
    program,
    asked,
    (engine) => replayOnce(engine, schedule, asked, searches),
  );
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
  const options = searchOptions(engine, o, false);
  const title = `schedule "${scheduleText(schedule)}"`;
  const perform = (clocks: Clocks | null) => {
    world.startBudget = {
      timeouts: times(o.timeouts ?? true, 2),
      spurious: times(o.spurious, 1),
      kills: o.kill === true ? 1 : 0,
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
  if (world.fault === null && o.polls === false && schedule.length > 0) {
    const agent = world.agents[k.agentOf(schedule.at(-1)!)]!;
    if (yield* isBusy(engine, agent)) failBusy(engine, agent);
  }
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
