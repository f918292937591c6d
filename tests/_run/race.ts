/**
 * Explores all race scenarios and prints what each took:
 * `deno run -A tests/_run/race.ts [--deep] [FILTER]`.
 *
 * @module
 */
import process from "node:process";
import { wordsOf } from "./usage.ts";
import { explore } from "./explore.ts";
import { complainOf, foldersWith } from "./folders.ts";
import { scenariosIn } from "./scenario.ts";
import { weft } from "./weft.ts";

const USAGE = `usage: deno task race [--deep] [FILTER]
Explores the race scenarios whose names contain FILTER, and prints what each
took; --deep takes those, too, that take minutes.`;

const words = wordsOf(USAGE, { deep: "boolean" });
const { values: { deep }, positionals: [filter = ""] } = words;

let passed = 0;
let failed = 0;
for (const stem of foldersWith("scenarios.ts")) {
  for (const scenario of (await scenariosIn(stem))(weft)) {
    if (scenario.deep && !deep) continue;
    if (!`${stem}: ${scenario.name}`.includes(filter)) continue;
    const begin = performance.now();
    const title = `${stem}: ${scenario.name}`.padEnd(52);
    try {
      const { states, complete } = await explore(scenario);
      const ms = Math.round(performance.now() - begin);
      console.log(
        `ok   ${title} ${`${states}`.padStart(9)} states ` +
          `${`${ms}`.padStart(7)} ms  ${complete ? "complete" : "sampled"}`,
      );
      passed++;
    } catch (error) {
      console.log(`FAIL ${title}\n${(error as Error).message}`);
      failed++;
    }
  }
}
if (passed + failed === 0) complainOf(filter);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
