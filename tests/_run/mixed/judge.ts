/**
 * What becomes of a mutant of C.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import type { Options } from "../../../race/mod.ts";
import { isTwin } from "../folders.ts";
import { headerOf, type Mutant, mutatedHeader } from "../mutant.ts";
import { FINDING, type Scenario, scenariosIn } from "../scenario.ts";
import { weft } from "../weft.ts";
import { type Cast, CASTS, mixed } from "./cast.ts";
import { compileMutants, type Mistaken, type Module } from "./module.ts";

/** The mixes in which it must be found; of two languages, in either order. */
export const MIXES: Readonly<Record<string, readonly Cast[]>> = {
  "C+C": [CASTS["C+C"]!],
  "JS+C": [CASTS["JS+C"]!, CASTS["C+JS"]!],
};

/** Ever more states: most mutants need few. */
const BUDGETS: readonly Options[] = [
  { states: 300, runs: 0 },
  { states: 3_000, runs: 0 },
  { states: 30_000, runs: 0 },
  { time: 800_000 },
];

/** Of the scenario that is likely to notice: random executions are quick. */
const LIKELY: readonly Options[] = [
  { states: 300, runs: 500 },
  BUDGETS[1]!,
  { states: 100_000, runs: 0 },
  { states: 300, runs: 10_000 },
];

/** The folder whose scenarios notice a mutant of C. */
const playedIn = ({ scenarios }: Mutant): string => scenarios.find(isTwin)!;

/** Prepares to compile mutants: returns what gives the module of each. */
export function compiled(
  mutants: readonly Mutant[],
): (mutant: Mutant) => Promise<Module> {
  const fitting = new Map<Mutant, Mistaken>();
  for (const mutant of mutants) {
    const words = mutant.what.replace(/\W+/g, "_");
    const name = `mutant_${mutant.header}_${words}`;
    const stem = playedIn(mutant);
    try {
      fitting.set(mutant, { stem, name, text: mutatedHeader(mutant, stem) });
    } catch {
      // The one whose edits do not fit fails by itself, below.
    }
  }
  const moduleOf = compileMutants(fitting, headerOf);
  return async (mutant) => {
    if (!fitting.has(mutant)) mutatedHeader(mutant, playedIn(mutant));
    return await moduleOf(mutant);
  };
}

/** How a mutant was found. */
export interface Found {
  readonly kind: string;
  /** The scenario's name. */
  readonly by: string;
}

/** What finds it in a mix; nothing if it survives. `by` is explored first. */
export async function judge(
  wasm: Module,
  mutant: Mutant,
  mix: string,
  by?: string,
): Promise<Found | undefined> {
  const of = await scenariosIn(playedIn(mutant));
  const scenarios = MIXES[mix]!.flatMap((cast) => of(mixed(weft, wasm, cast)))
    .filter(({ notInC }) => notInC === undefined);
  const likely = scenarios.filter(({ name }) => name === by);
  return found(likely, LIKELY) ?? found(scenarios, BUDGETS);
}

function found(
  scenarios: readonly Scenario[],
  budgets: readonly Options[],
): Found | undefined {
  const left = new Set(scenarios);
  for (const budget of budgets) {
    for (const scenario of left) {
      const { name, spec, agents, options } = scenario;
      const result = race.check(spec, ...agents, {
        ...FINDING,
        ...options,
        ...budget,
      });
      if (result instanceof Promise) throw new Error("it awaits");
      if (result.complete) left.delete(scenario);
      if (result.failure !== undefined) {
        const { kind, message } = result.failure;
        // Of that, every mutant would seem to die.
        if (message.includes("is not a function")) throw new Error(message);
        return { kind, by: name };
      }
    }
  }
  return undefined;
}

/** Whether who awaits in JavaScript, in `waitAny`, notices a mistake of C. */
export async function isNoticed(wasm: Module, name: string): Promise<boolean> {
  const scenarios = await scenariosIn("wait_any");
  const scenario = scenarios(mixed(weft, wasm, ["js", "wasm"]))
    .find((scenario) => scenario.name === name)!;
  const { failure } = await race.check(scenario.spec, ...scenario.agents, {
    ...scenario.options,
    ...BUDGETS[1],
  });
  return failure?.kind === "lost-wakeup";
}
