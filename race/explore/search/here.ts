/**
 * What is asked of one state: whether it is the end of an execution, and
 * whether it must be judged with its agents.
 *
 * @module
 */
import type { Agent } from "../../engine/state/agent/agent.ts";
import type { Snapshot } from "../../engine/state/agent/snapshot.ts";
import { type Choices, choices } from "../../engine/step/choices.ts";
import * as k from "../../engine/kinds.ts";
import type { Engine, Steps } from "../../engine/step/replay.ts";
import { judgeEnd, judgeLockFree, judgeQuiet } from "../../judge/progress.ts";
import { judgeRaces, raceAmong } from "../../judge/races.ts";
import { goesRound } from "../../judge/fair.ts";
import type { SearchOptions } from "../runs/task.ts";

/** Judges the present state; returns whether it is the end of an execution. */
export function judgeHere(
  engine: Engine,
  o: SearchOptions,
  here: Choices,
): boolean {
  const { world } = engine;
  const live = choices(engine, here);
  if (o.races && live > 0) judgeRaces(engine);
  if (o.lockFree !== "no") judgeLockFree(engine, o.lockFree === "all");
  if (live > 0 || world.fault !== null) return false;
  if (o.onEnd === undefined) judgeQuiet(engine, o);
  if (!here.over) return false;
  if (world.fault === null) {
    judgeEnd(engine);
    o.onEnd?.(engine);
  }
  return true;
}

/** Whether states may be followed without the agents, as `Quick` does. */
export const isUsual = (engine: Engine, o: SearchOptions): boolean =>
  engine.remembers && engine.world.clocks === null && isPlain(engine, o);

/** Whether nothing but shared memory lies between agents. */
export function isPlain(
  { world, scenario }: Engine,
  { minimal }: SearchOptions,
): boolean {
  return !minimal && !scenario.async &&
    world.lead + world.tail === 0;
}

/** Whether there is nothing to judge in this state but that it goes on. */
export function goesOn(
  engine: Engine,
  o: SearchOptions,
  here: Choices,
  agents: readonly Snapshot[],
): boolean {
  return o.lockFree === "no" && choices(engine, here, agents) > 0 &&
    !(o.races && raceAmong(engine, agents) !== null);
}

/** Whether an agent is in an endless loop in which it never sleeps. */
export function* isBusy(engine: Engine, agent: Agent): Steps<boolean> {
  if (agent.status === k.SPINNING) return true;
  if (!agent.looping) return false;
  for (let i = agent.n - agent.period; i < agent.n; i++) {
    if (agent.sig[i]! % 32 === k.WAIT && agent.res[i] !== "not-equal") {
      return false;
    }
  }
  return yield* goesRound(engine, agent);
}
