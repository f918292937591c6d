/**
 * Simplifies a sampled failure: finds a schedule with fewer context switches.
 *
 * @module
 */
import * as k from "../../engine/kinds.ts";
import { realNow } from "../../engine/platform/native.ts";
import type { Engine, Steps } from "../../engine/step/replay.ts";
import { Loose, run } from "./run.ts";
import type { SearchOptions } from "./task.ts";

/** The most executions to try, and the most milliseconds to take. */
const TRIES = 2_000;
const TIME = 30_000;

/** How often the schedule switches to another agent. */
export function switches(schedule: readonly number[]): number {
  let n = 0;
  for (let i = 1; i < schedule.length; i++) {
    if (k.agentOf(schedule[i]!) !== k.agentOf(schedule[i - 1]!)) n++;
  }
  return n;
}

/** The parts of a schedule in which one agent runs. */
function partsOf(schedule: readonly number[]): number[][] {
  const parts: number[][] = [];
  for (const code of schedule) {
    const part = parts[parts.length - 1];
    if (part !== undefined && k.agentOf(part[0]!) === k.agentOf(code)) {
      part.push(code);
    } else parts.push([code]);
  }
  return parts;
}

/** Schedules with one or two switches fewer. */
function* simpler(schedule: readonly number[]): Generator<number[]> {
  const parts = partsOf(schedule);
  for (let size = parts.length; size >= 1; size >>= 1) {
    for (let i = 0; i < parts.length; i += size) {
      yield [...parts.slice(0, i), ...parts.slice(i + size)].flat();
    }
  }
  for (let i = 0; i < parts.length; i++) {
    const who = k.agentOf(parts[i]![0]!);
    const j = parts.findIndex((part, at) =>
      at > i && k.agentOf(part[0]!) === who
    );
    if (j < 0) continue;
    const between = parts.slice(i + 1, j);
    const head = parts.slice(0, i);
    const tail = parts.slice(j + 1);
    yield [...head, parts[i]!, parts[j]!, ...between, ...tail].flat();
    yield [...head, ...between, parts[i]!, parts[j]!, ...tail].flat();
  }
  for (let i = 0; i < schedule.length; i++) {
    const action = k.actionOf(schedule[i]!);
    if (action !== k.STEP && action !== k.SETTLE) {
      yield schedule.toSpliced(i, 1);
    }
  }
}

/** The simplest schedule found that fails in the same way. */
export function* shrink(
  engine: Engine,
  o: SearchOptions,
): Steps<void> {
  const { world } = engine;
  const end = engine.until = realNow() + TIME;
  engine.late = false;
  let fault = world.fault!;
  let best: readonly number[] = world.schedule.slice();
  let tries = 0;
  for (let better = true; better;) {
    better = false;
    for (const candidate of simpler(best)) {
      if (++tries > TRIES || realNow() > end) break;
      yield* run(engine, new Loose(candidate), o);
      if (world.fault?.kind !== fault.kind) continue;
      const { schedule } = world;
      const gain = switches(best) - switches(schedule) ||
        (best.length - schedule.length) / 1e6;
      if (gain <= 0) continue;
      best = schedule.slice();
      fault = world.fault;
      better = true;
      break;
    }
  }
  world.fault = fault;
  world.schedule = [...best];
}
