// limit: 300 s
// Agents of C, and of both languages, in the scenarios of every primitive: the
// first states of each. `tests/mixed.ts` takes its time.
import { suite } from "./harness.ts";
import { CASTS } from "./mixed/cast.ts";
import { explore, scenariosOf, STEMS } from "./mixed/explore.ts";

const BUDGET = { states: 4_000, time: 20_000 };

for (const stem of STEMS) {
  const test = suite(`${stem}, agents of C`, 60_000);
  for (const cast of Object.keys(CASTS)) {
    if (cast === "JS+JS") continue; // has tests of its own
    for (const [, scenario] of scenariosOf(cast, [stem])) {
      test(`${cast}: ${scenario.name}`, () => {
        explore(scenario, BUDGET);
      });
    }
  }
}
