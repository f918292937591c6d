/**
 * Explores all race scenarios with agents of C, and of both languages, and
 * prints what each took: `deno run -A tests/mixed.ts [FILTER]`. The tests in
 * `mixed_race.ts` look at the first states of each.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { CASTS } from "./mixed/cast.ts";
import { explore, scenariosOf } from "./mixed/explore.ts";

const { positionals: [filter = ""] } = parseArgs({ allowPositionals: true });
const begun = performance.now();
let passed = 0;
let failed = 0;
for (const cast of Object.keys(CASTS)) {
  for (const [stem, scenario] of scenariosOf(cast)) {
    const title = `${cast} ${stem}: ${scenario.name}`;
    if (!title.includes(filter)) continue;
    const begin = performance.now();
    try {
      const { states, complete } = explore(scenario, {
        states: 150_000,
        time: 20_000,
      });
      const ms = Math.round(performance.now() - begin);
      console.log(
        `ok   ${title.padEnd(68)} ${`${states}`.padStart(7)} states ` +
          `${`${ms}`.padStart(6)} ms  ${complete ? "complete" : "sampled"}`,
      );
      passed++;
    } catch (error) {
      console.log(`FAIL ${title}\n${(error as Error).message}`);
      failed++;
    }
  }
}
const seconds = Math.round((performance.now() - begun) / 1000);
console.log(`${passed} passed, ${failed} failed, ${seconds} s`);
process.exit(failed === 0 ? 0 : 1);
