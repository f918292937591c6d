/**
 * Explores all race scenarios and prints what each took:
 * `deno run -A tests/_run/race.ts [--deep] [FILTER]`.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { explore } from "./explore.ts";
import { all } from "./all.ts";
import { weft } from "./weft.ts";

const { values: { deep }, positionals: [filter = ""] } = parseArgs({
  options: { deep: { type: "boolean", default: false } },
  allowPositionals: true,
});

let passed = 0;
let failed = 0;
for (const [stem, scenarios] of Object.entries(all)) {
  for (const scenario of scenarios(weft)) {
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
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
