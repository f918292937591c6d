/**
 * The race scenarios of every primitive with a twin in C, and their casts.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import type { Options, Result } from "../../race/mod.ts";
import { all } from "../scenarios/all.ts";
import type { Scenario } from "../scenarios/_scenario.ts";
import { weft } from "../weft.ts";
import { CASTS, mixed } from "./cast.ts";
import { compile } from "./module.ts";

/** Whose classes have no twin here: what they are made of is tested above. */
const WITHOUT = new Set(["wait", "select"]);

/** The stems that have twins. */
export const STEMS: readonly string[] = Object.keys(all)
  .filter((stem) => !WITHOUT.has(stem));

const wasm = await compile();

/** The scenarios of all stems, or of one, played by a cast. */
export function scenariosOf(
  cast: string,
  stems: readonly string[] = STEMS,
): [stem: string, scenario: Scenario][] {
  const library = mixed(weft, wasm, CASTS[cast]!);
  return stems.flatMap((stem) =>
    all[stem]!(library)
      .filter(({ deep }) => !deep)
      .map((scenario): [string, Scenario] => [stem, scenario])
  );
}

/**
 * Explores a scenario; fails if anything is found. One that is not complete
 * within `most` is sampled, if it was made to be.
 */
export function explore(
  { spec, agents, options, sampled }: Scenario,
  most: Options,
): Result {
  const result = race.check(spec, ...agents, {
    ...options,
    ...most,
    runs: sampled ? 30 : 0,
  });
  if (result instanceof Promise) throw new Error("it awaits");
  const { failure } = result;
  if (failure === undefined) return result;
  throw new Error(
    `${failure.kind}: ${failure.message}\n\n${failure.table}\n` +
      `schedule "${failure.schedule}"`,
  );
}
