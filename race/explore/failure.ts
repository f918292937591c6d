/**
 * Describes a failure: replays its interleaving, and draws what happened.
 *
 * @module
 */
import * as k from "../engine/kinds.ts";
import { Fault, scheduleText } from "../engine/kinds.ts";
import {
  type Picture,
  pictureOf,
  programText,
  tableOf,
} from "../report/print.ts";
import { switches } from "./runs/shrink.ts";
import type { Engine, Steps } from "../engine/step/replay.ts";
import {
  type Failure,
  type Options,
  type Program,
  type Result,
  withCause,
} from "../report/result.ts";
import { Fixed, Impossible, run } from "./runs/run.ts";
import type { Found } from "./runs/task.ts";
import { counted, resultOf } from "./verdict.ts";
import { pageOf } from "../report/page.ts";
import { svgOf } from "../report/svg.ts";
import { Trace } from "../report/trace.ts";
import { searchOptions } from "./asked.ts";

// ---- reports ----------------------------------------------------------------

/** Replays a failure and describes it. */
export function* report(
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

/** What the result says of a failure. */
export function failureOf(
  { kind, message, cause }: Fault,
  program: Program,
  schedule: readonly number[],
  picture: Picture,
): Failure {
  const failure = {
    kind,
    message,
    table: `${tableOf(picture)}\n(${picture.footer})`,
    program: tuplesOf(program),
    schedule: scheduleText(schedule),
    svg: () => svgOf(picture),
    page: () => pageOf(picture),
  };
  return withCause(failure, cause);
}

/** How many times a sleep of the schedule times out, or a timer fires. */
const firesIn = (schedule: readonly number[]): number =>
  schedule.filter((code) => {
    const action = k.actionOf(code);
    return action === k.TIMEOUT || action === k.TIMER;
  }).length;

/** Replays an interleaving, and draws it. */
export function* replayPicture(
  engine: Engine,
  schedule: readonly number[],
  o: Options,
  title: string,
  footer: string,
): Steps<Picture> {
  const { world } = engine;
  const trace = world.trace = new Trace();
  // Where every agent has its turns, timers fire beyond the bound of a search.
  const timeouts = Math.max(world.startBudget.timeouts, firesIn(schedule));
  world.startBudget = { ...world.startBudget, timeouts };
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
