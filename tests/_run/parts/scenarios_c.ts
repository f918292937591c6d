// limit: 1800 s
// Agents of C, and of both languages, in the race scenarios of one folder: the
// first states of each, and with `--all` some more. `mixed.ts` takes its time.
import { all } from "../depth.ts";
import { withFirstTrials } from "../explore.ts";
import { thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import { CASTS } from "../mixed/cast.ts";
import { awaiting, explore, scenariosOf, TWINS } from "../mixed/explore.ts";
import { compareStates } from "../mixed/states.ts";
import type { Scenario } from "../scenario.ts";

const BUDGET = { states: all() ? 4_000 : 300, time: 120_000 };
/** Only a hanging test takes this long: the machine may be busy. */
const LIMIT = 900_000;

const folder = thisFolder(import.meta.url);

/** Explores a scenario, as a cast plays it. */
async function play(scenario: Scenario): Promise<void> {
  const work = () => explore(scenario, BUDGET);
  await (all() ? work() : withFirstTrials(work));
}

if (TWINS.includes(folder)) {
  const test = suite(`${folder}, agents of C`, LIMIT);
  for (const cast of Object.keys(CASTS)) {
    if (cast === "JS+JS") continue; // `scenarios.ts` explores these
    for (const scenario of await scenariosOf(cast, folder)) {
      test(`${cast}: ${scenario.name}`, () => play(scenario));
    }
  }
  test(`scenarios of ${folder} have as many states in C`, async () => {
    await compareStates(folder);
  });
} else {
  const test = suite(`${folder}, beside agents of C`, LIMIT);
  for (const [cast, scenario] of await awaiting(folder)) {
    test(`${cast}: ${scenario.name}`, () => play(scenario));
  }
}
