// limit: 300 s
// Agents of C, and of both languages, in the scenarios of every primitive.
import { race } from "../race/mod.ts";
import { suite } from "./harness.ts";
import { CASTS, mixed } from "./mixed/cast.ts";
import { compile } from "./mixed/module.ts";
import { all } from "./scenarios/all.ts";
import { weft } from "./weft.ts";

const wasm = await compile();
/** Whose classes have no twin here: what they are made of is tested above. */
const WITHOUT = new Set(["wait", "select", "channel", "call_ring"]);
/** What a scenario may take here: `tests/mixed.ts` takes its time. */
const BUDGET = { states: 5_000, time: 20_000 };

for (const [stem, scenarios] of Object.entries(all)) {
  if (WITHOUT.has(stem)) continue;
  const test = suite(`${stem}, agents of C`);
  for (const cast of ["C+C", "JS+C", "C+JS"]) {
    for (const scenario of scenarios(mixed(weft, wasm, CASTS[cast]!))) {
      const { name, spec, agents, options, deep, sampled } = scenario;
      if (deep) continue;
      test(`${cast}: ${name}`, () => {
        const result = race.check(spec, ...agents, {
          ...options,
          ...BUDGET,
          runs: sampled ? 30 : 0,
        });
        if (result instanceof Promise) throw new Error("it awaits");
        const { failure } = result;
        if (failure === undefined) return;
        throw new Error(
          `${failure.kind}: ${failure.message}\n\n${failure.table}\n` +
            `schedule "${failure.schedule}"`,
        );
      });
    }
  }
}
