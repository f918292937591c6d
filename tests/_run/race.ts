/**
 * Explores all race scenarios and prints what each took:
 * `deno task race [--reach [--plain]] [--compare] [FILTER]`.
 *
 * @module
 */
import process from "node:process";
import { wordsOf } from "./usage.ts";
import { compareAll } from "./compare.ts";
import { explore } from "./explore.ts";
import { complainOf, foldersWith } from "./folders.ts";
import { scenariosIn } from "./scenario.ts";
import { REACH, type Reach } from "../race/corpus/reach.ts";
import { weft } from "./weft.ts";

const USAGE = `usage: deno task race [--reach [--plain]] [--compare] [FILTER]
Explores the race scenarios whose names contain FILTER, and prints the processor
time of each. --reach takes the programs that say how far the search reaches;
--plain explores them without reductions.
--compare explores corpus, scenarios and mutants with and without each reduction
and compares what it finds; with the name of a primitive, those of that one.`;

const words = wordsOf(USAGE, {
  reach: "boolean",
  plain: "boolean",
  compare: "boolean",
});
const { values: { reach, plain, compare } } = words;
const [filter = ""] = words.positionals;
if (compare) process.exit(await compareAll(filter) ? 0 : 1);

if (reach) {
  const lineOf = ({ name, run }: Reach) => {
    const begin = performance.now();
    const { failure, complete, states, steps } = run({
      states: 5_000_000,
      time: 60_000,
      runs: 0,
      reduce: plain !== true,
    });
    const ms = performance.now() - begin;
    const how = failure?.kind ?? (complete ? "complete" : "not complete");
    return `${name.padEnd(40)} ${how.padEnd(12)} ${
      `${states}`.padStart(8)
    } states ` +
      `${`${Math.round(ms)}`.padStart(6)} ms ${Math.round(steps / ms)} k/s`;
  };
  for (const program of REACH) {
    if (program.name.includes(filter)) console.log(lineOf(program));
  }
  process.exit(0);
}

let passed = 0;
let failed = 0;
for (const stem of foldersWith("scenarios.ts")) {
  for (const scenario of (await scenariosIn(stem))(weft)) {
    if (!`${stem}: ${scenario.name}`.includes(filter)) continue;
    const before = process.cpuUsage();
    const title = `${stem}: ${scenario.name}`.padEnd(52);
    try {
      const { states, complete } = await explore(scenario, stem);
      const { user, system } = process.cpuUsage(before);
      const ms = Math.round((user + system) / 1000);
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
