/**
 * Tries what `race.forget()` promises: after all histories that led to one
 * place with the same values, an agent does the same on the same random walks.
 * The same holds of operations of primitives that have returned, and of calls
 * that have returned to handles without state.
 *
 * @module
 */
import { startOf } from "./classes.ts";
import { Trials } from "./trials.ts";
import type { Dropped, Drops } from "../step/drops.ts";
import type { Engine } from "../step/replay.ts";

/** How many walks compare two histories. */
const WALKS = 14;

/** How many do where calls have returned, and the most runs of agents then. */
const FEW = 3;
const RUNS = 3000;

/** What promises came to. */
export interface Kept {
  /** What is wrong with one of them, if that was found. */
  readonly broken: string | undefined;
  /** How often agents were run. */
  readonly runs: number;
}

/** Compares the histories that were taken for one. */
export function tryPromises(
  engine: Engine,
  drops: {
    readonly places: ReadonlyMap<unknown, Dropped>;
    readonly values: Drops["values"];
  },
): Kept {
  const { world, recoverer } = engine;
  let runs = 0;
  for (const { agent, oi, first, site, histories } of drops.places.values()) {
    if (agent === recoverer) continue;
    const start = { ...startOf(agent, oi), first };
    const count = world.agents.length;
    const trials = new Trials(
      engine,
      agent,
      count,
      start,
      drops.values,
      engine.clocked,
    );
    const [one, ...others] = histories;
    const same = others.every((other) => trials.agree(one!, other, WALKS));
    runs += trials.runs;
    if (same) continue;
    const where = site === "" ? "" : ` at ${site}`;
    return {
      broken: `agent ${agent.id}: what it does after race.forget()${where} ` +
        "depends on what it saw before, and not only on the values given: " +
        "give what it keeps",
      runs,
    };
  }
  return { broken: undefined, runs };
}

/**
 * Whether agents seem to keep nothing of the calls that have returned: then
 * handles have no state.
 */
export function keepsNothing(engine: Engine): boolean {
  const { between, world, clocked } = engine;
  const count = world.agents.length;
  let runs = 0;
  for (const { agent, oi, first, histories } of between.places.values()) {
    const [one, ...others] = histories;
    for (let at = oi; at < agent.calls.length; at++) {
      const start = { ...startOf(agent, at), first };
      const { values } = between;
      const trials = new Trials(engine, agent, count, start, values, clocked);
      for (const other of others) {
        if (!trials.agree(one!, other, FEW)) return false;
        if (runs + trials.runs > RUNS) return true;
      }
      runs += trials.runs;
    }
  }
  return true;
}
