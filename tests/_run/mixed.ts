/**
 * Explores all race scenarios with agents of C, and of both languages, and
 * prints what each took: `deno run -A tests/_run/mixed.ts [FILTER]`. As many
 * are explored side by side as there are processors. The tests in
 * `parts/scenarios_c.ts` look at the first states of each scenario.
 *
 * @module
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { wordsOf } from "./usage.ts";
import { complainOf } from "./folders.ts";
import { CASTS } from "./mixed/cast.ts";
import {
  AWAITING,
  awaiting,
  explore,
  scenariosOf,
  TWINS,
} from "./mixed/explore.ts";
import type { Scenario } from "./scenario.ts";

/** How far a scenario is explored, whatever its own options say. */
const MOST = { states: 150_000, time: 20_000 };

/** How many scenarios ended in each way. */
type Counts = Record<"complete" | "sampled" | "cut" | "failed", number>;

const USAGE = `usage: deno task mixed [FILTER]
Explores the race scenarios whose names contain FILTER with agents of C, and of
both languages, and prints what each took.`;

const given = wordsOf(USAGE, { part: "string" });
const { positionals: [filter = ""] } = given;
const part = given.values.part as string | undefined;
const counts: Counts = { complete: 0, sampled: 0, cut: 0, failed: 0 };

async function play(title: string, scenario: Scenario): Promise<void> {
  const begin = performance.now();
  try {
    const { states, complete } = await explore(scenario, MOST);
    const ms = Math.round(performance.now() - begin);
    const end = complete ? "complete" : scenario.sampled ? "sampled" : "cut";
    counts[end]++;
    console.log(
      `ok   ${title.padEnd(68)} ${`${states}`.padStart(7)} states ` +
        `${`${ms}`.padStart(6)} ms  ${end}`,
    );
  } catch (error) {
    counts.failed++;
    console.log(`FAIL ${title}\n${(error as Error).message}`);
  }
}

/** Explores every `of`-th that `filter` names, beginning with the `nth`. */
async function here(nth: number, of: number): Promise<void> {
  const all: [cast: string, folder: string, scenario: Scenario][] = [];
  for (const cast of Object.keys(CASTS).filter((cast) => cast !== "JS+JS")) {
    for (const folder of TWINS) {
      for (const scenario of await scenariosOf(cast, folder)) {
        all.push([cast, folder, scenario]);
      }
    }
  }
  for (const folder of AWAITING) {
    for (const [cast, scenario] of await awaiting(folder)) {
      all.push([cast, folder, scenario]);
    }
  }
  const titled = all.map(([cast, folder, scenario]) =>
    [`${cast} ${folder}: ${scenario.name}`, scenario] as const
  ).filter(([title]) => title.includes(filter));
  for (let i = nth; i < titled.length; i += of) await play(...titled[i]!);
}

/** Explores in a process of its own. */
function apart(nth: number, of: number): Promise<void> {
  const words = [filter, "--part", `${nth}/${of}`];
  const child = fork(fileURLToPath(import.meta.url), words);
  return new Promise((resolve) => {
    let ended = false;
    child.on("message", (theirs: Counts) => {
      ended = true;
      for (const end of Object.keys(theirs) as (keyof Counts)[]) {
        counts[end] += theirs[end];
      }
    });
    child.on("close", (code) => {
      if (!ended) {
        console.log(`FAIL part ${nth} ended with ${code}`);
        counts.failed++;
      }
      resolve();
    });
  });
}

if (part !== undefined) {
  const [nth, of] = part.split("/").map(Number);
  await here(nth!, of!);
  if (process.send === undefined) console.log(counts); // run by hand
  else process.send(counts, () => process.disconnect());
} else {
  const begun = performance.now();
  const of = availableParallelism();
  await Promise.all(Array.from({ length: of }, (_, nth) => apart(nth, of)));
  const seconds = Math.round((performance.now() - begun) / 1000);
  const { complete, sampled, cut, failed } = counts;
  if (complete + sampled + cut + failed === 0) complainOf(filter);
  console.log(
    `${complete + sampled + cut} passed (${complete} complete, ${sampled} ` +
      `sampled, ${cut} cut), ${failed} failed, ${seconds} s`,
  );
  // At least one scenario must be explored.
  process.exit(failed === 0 && complete > 0 ? 0 : 1);
}
