/**
 * A scenario has as many states in C as in TypeScript: both take the same
 * steps. Where they do not, the scenario's `differs` says why.
 *
 * @module
 */
import * as k from "../../../race/engine/kinds.ts";
import { type Memory, race, type WasmExports } from "../../../race/mod.ts";
import { Engine } from "../../../race/engine/step/replay.ts";
import type { Scenario } from "../scenario.ts";
import { all, FIRST_SPINS } from "../depth.ts";
import { statesExplored, withFirstTrials, withoutTrials } from "../explore.ts";
import { scenariosOf } from "./explore.ts";

const { operate } = Engine.prototype;

/**
 * C knows no hints: what TypeScript reads plainly, where an exchange checks it,
 * is an atomic load in wasm. Here it is in TypeScript, too.
 */
function loadHints(isHint: (address: number) => boolean): void {
  Engine.prototype.operate = function (kind, target, index, a, b, timeout) {
    const hint = kind === k.READ && target !== null &&
      isHint(target.base + index * target.size);
    return operate.call(
      this,
      hint ? k.LOAD : kind,
      target,
      index,
      a,
      b,
      timeout,
    );
  };
}

/** The most states of a scenario that is compared. */
const MOST = all() ? 6_000 : 3_000;

/** How many states there are; nothing if they are too many. */
function statesOf({ spec, agents, options }: Scenario): number | undefined {
  const { hints: _, agent, ...rest } = spec.definition;
  const definition = {
    ...rest,
    // Asking for the number tells agents apart: compiled agents always are.
    agent: (memory: Memory, id: number, wasm?: WasmExports) =>
      agent(memory, id, wasm),
  };
  const isHint = spec.scenario.hints;
  if (isHint !== null) loadHints((address) => isHint(address) !== false);
  try {
    const result = race.check(race.spec(definition), ...agents, {
      ...all() ? {} : { spins: FIRST_SPINS },
      ...options,
      states: MOST,
      races: false,
      runs: 0,
      reduce: "remembered", // to count all orders of the steps
    });
    if (result instanceof Promise) throw new Error("it awaits");
    if (result.failure !== undefined) throw new Error(result.failure.message);
    return result.complete ? result.states : undefined;
  } finally {
    Engine.prototype.operate = operate;
  }
}

/** Does `work`; loops are tried in all histories with `--all` only. */
const deeply = async <T>(work: () => T): Promise<T> =>
  all() ? work() : await withFirstTrials(work);

/** Throws unless the scenarios of a folder have as many states in C. */
export async function compareStates(folder: string): Promise<void> {
  const theirs = await scenariosOf("C+C", folder);
  const wrong: string[] = [];
  let compared = 0;
  const ours = await scenariosOf("JS+JS", folder);
  for (const [i, scenario] of ours.entries()) {
    const { name, differs, sampled } = scenario;
    if (sampled) {
      if (differs !== undefined) wrong.push(`${name}: not compared`);
      continue;
    }
    // The same code was explored before, and its loops were tried then.
    const here = statesExplored(folder, name) < MOST
      ? await deeply(() =>
        withoutTrials(folder, name, () => statesOf(scenario))
      )
      : undefined;
    const there = here && await deeply(() => statesOf(theirs[i]!));
    if (here === undefined || there === undefined) {
      const known = differs !== undefined && all();
      if (known) wrong.push(`${name}: not compared`);
      continue;
    }
    compared++;
    if (here !== there && differs === undefined) {
      wrong.push(`${name}: TypeScript ${here}, C ${there}`);
    } else if (here === there && differs !== undefined) {
      wrong.push(`${name}: no difference that "${differs}" would explain`);
    }
  }
  const playsInC = ours.some(({ notInC }) => notInC === undefined);
  if (compared === 0 && playsInC) wrong.push("no scenario was compared");
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}
