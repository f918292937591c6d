/**
 * The race scenarios of every primitive with a twin in C, and their casts.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import type { Result } from "../../../race/mod.ts";
import { all, FIRST_SPINS } from "../depth.ts";
import { foldersWith, isPlayedInC } from "../folders.ts";
import { LOOKS, type Scenario, scenariosIn, STEPS } from "../scenario.ts";
import { weft } from "../weft.ts";
import { type Cast, CASTS, mixed } from "./cast.ts";
import { compileAll } from "./module.ts";

/** The folders whose scenarios agents of C can play: the rest awaits. */
export const TWINS: readonly string[] = foldersWith("scenarios.ts")
  .filter(isPlayedInC);

/** The folders in whose scenarios agents await: C has no form of that. */
export const AWAITING: readonly string[] = foldersWith("scenarios.ts")
  .filter((folder) => !isPlayedInC(folder));

const wasm = await compileAll();

/** The scenarios of a folder, played by a cast. */
export async function scenariosOf(
  cast: string,
  folder: string,
): Promise<Scenario[]> {
  const scenarios = await scenariosIn(folder);
  return scenarios(mixed(weft, wasm, CASTS[cast]!))
    .filter(({ notInC }) => notInC === undefined);
}

/**
 * The scenarios of a folder of {@linkcode AWAITING}: JavaScript plays the
 * agents that await, and C any of the others.
 */
export async function awaiting(
  folder: string,
): Promise<[cast: string, scenario: Scenario][]> {
  const scenarios = await scenariosIn(folder);
  return scenarios(weft).flatMap(({ agents, awaits = [] }, i) =>
    castsOf(agents.map((_, agent) => awaits.includes(agent)))
      .map((cast): [string, Scenario] => [
        cast.map((language) => language === "js" ? "JS" : "C").join("+"),
        scenarios(mixed(weft, wasm, cast))[i]!,
      ])
  );
}

/** The casts in which some agent is C, and none of `js`. */
function castsOf(js: readonly boolean[]): Cast[] {
  let casts: Cast[] = [[]];
  for (const only of js) {
    const languages = only ? ["js"] as const : ["js", "wasm"] as const;
    casts = casts.flatMap((cast) =>
      languages.map((language): Cast => [...cast, language])
    );
  }
  return casts.filter((cast) => cast.includes("wasm"));
}

/**
 * Explores a scenario; fails if anything is found. One that is not complete
 * within `most`, or within its own limit, is sampled, if it was made to be.
 */
export async function explore(
  { spec, agents, options = {}, sampled = false }: Scenario,
  most: { readonly states: number; readonly time?: number },
): Promise<Result> {
  const { failure, ...result } = await race.check(spec, ...agents, {
    looks: LOOKS,
    polls: false,
    maxSteps: STEPS,
    ...all() ? {} : { spins: FIRST_SPINS },
    ...options,
    ...most,
    states: Math.min(options.states ?? Infinity, most.states),
    runs: sampled ? 30 : 0,
  });
  if (failure === undefined) return result;
  throw new Error(
    `${failure.kind}: ${failure.message}\n\n${failure.table}\n` +
      `schedule "${failure.schedule}"`,
  );
}
