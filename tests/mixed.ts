/**
 * Explores all race scenarios with agents of C, and of both languages, and
 * prints what each took: `deno run -A tests/mixed.ts [FILTER]`. Without a
 * filter, the casts play side by side, as many as there are processors. The
 * tests in `mixed_race.ts` look at the first states of each scenario.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CASTS } from "./mixed/cast.ts";
import { explore, scenariosOf } from "./mixed/explore.ts";
import type { Scenario } from "./scenarios/_scenario.ts";

const { positionals: [filter = ""] } = parseArgs({ allowPositionals: true });
const begun = performance.now();
const PLAYED = Object.keys(CASTS).filter((cast) => cast !== "JS+JS");
let passed = 0;
let failed = 0;

/** Explores what `filter` names, here. */
function here(): void {
  for (const cast of Object.keys(CASTS)) {
    for (const [stem, scenario] of scenariosOf(cast)) {
      const title = `${cast} ${stem}: ${scenario.name}`;
      if (title.includes(filter)) play(title, scenario);
    }
  }
}

function play(title: string, scenario: Scenario): void {
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

/** Each cast in a process of its own. */
async function apart(): Promise<void> {
  const left = [...PLAYED];
  const program = fileURLToPath(import.meta.url);
  const run = (cast: string) =>
    new Promise<void>((resolve) => {
      const words = ["run", "-A", program, `${cast} `];
      const child = spawn(process.execPath, words, { stdio: "inherit" });
      child.on("close", (code) => {
        if (code === 0) passed++;
        else failed++;
        resolve();
      });
    });
  const lane = async () => {
    for (let cast; (cast = left.shift()) !== undefined;) await run(cast);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}

if (filter === "") await apart();
else here();
const seconds = Math.round((performance.now() - begun) / 1000);
console.log(`${passed} passed, ${failed} failed, ${seconds} s`);
process.exit(failed === 0 ? 0 : 1);
