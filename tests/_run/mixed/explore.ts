/**
 * The race scenarios of every primitive with a twin in C, and their casts.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import type { Result } from "../../../race/mod.ts";
import { all } from "../all.ts";
import { LOOKS, type Scenario } from "../scenario.ts";
import { weft } from "../weft.ts";
import { type Cast, CASTS, mixed } from "./cast.ts";
import { compile } from "./module.ts";

/** What awaits: agents of C meet it, and have no twin of it. */
const AWAITING = ["wait", "wait_any"];

/** The stems that have twins. */
export const STEMS: readonly string[] = Object.keys(all)
  .filter((stem) => !AWAITING.includes(stem));

const wasm = await compile();

type Named = [stem: string, scenario: Scenario];

/** The scenarios of all stems, or of one, played by a cast. */
export function scenariosOf(
  cast: string,
  stems: readonly string[] = STEMS,
): Named[] {
  const library = mixed(weft, wasm, CASTS[cast]!);
  return stems.flatMap((stem) =>
    all[stem]!(library)
      .filter(({ deep }) => !deep)
      .map((scenario): Named => [stem, scenario])
  );
}

/**
 * The scenarios in which some agents await: JavaScript plays those, and C any
 * of the others.
 */
export function awaiting(): [cast: string, ...Named][] {
  return AWAITING.flatMap((stem) =>
    all[stem]!(weft).flatMap(({ deep, agents, awaits = [] }, i) =>
      deep ? [] : castsOf(agents.map((_, agent) => awaits.includes(agent)))
        .map((cast): [string, ...Named] => [
          cast.map((language) => language === "js" ? "JS" : "C").join("+"),
          stem,
          all[stem]!(mixed(weft, wasm, cast))[i]!,
        ])
    )
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
