/**
 * Explores some executions of a program, where there are too many for all.
 *
 * @module
 */
import { Clocks } from "../judge/clocks.ts";
import { realNow } from "../engine/platform/native.ts";
import { shrink } from "./runs/shrink.ts";
import type { Engine, Steps } from "../engine/step/replay.ts";
import { NotConstant } from "../engine/signals.ts";
import type { Options, Result } from "../report/result.ts";
import { Fixed, Impossible, run } from "./runs/run.ts";
import { sampler } from "./runs/sample.ts";
import type { Found, SearchOptions } from "./runs/task.ts";
import { nothing, sampled } from "./verdict.ts";
import { report } from "./failure.ts";
import { searchOptions } from "./asked.ts";

/** Samples executions. */
export function* sample(
  engine: Engine,
  o: Options,
  before: Found,
): Steps<Result> {
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
    const chooser = sampler(o, i, engine.count, world.steps);
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
export function* behindHints(
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
export function clocksOf(engine: Engine): Clocks {
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
