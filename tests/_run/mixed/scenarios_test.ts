// limit: 300 s
// Agents of C, and of both languages, in the scenarios of every primitive: the
// first states of each. `mixed.ts` takes its time.
import { suite } from "../harness.ts";
import { CASTS } from "./cast.ts";
import { awaiting, explore, scenariosOf, STEMS } from "./explore.ts";

const BUDGET = { states: 4_000, time: 20_000 };
/** Those of JavaScript alone have tests of their own. */
const PLAYED = Object.keys(CASTS).filter((cast) => cast !== "JS+JS");

for (const stem of STEMS) {
  const test = suite(`${stem}, agents of C`, 60_000);
  for (const cast of PLAYED) {
    for (const [, scenario] of scenariosOf(cast, [stem])) {
      test(`${cast}: ${scenario.name}`, async () => {
        await explore(scenario, BUDGET);
      });
    }
  }
}

const test = suite("who awaits, beside agents of C", 60_000);
for (const [cast, stem, scenario] of awaiting()) {
  test(`${cast}, ${stem}: ${scenario.name}`, async () => {
    await explore(scenario, BUDGET);
  });
}
