/**
 * How far does the race tester's search come? Explores the programs for which
 * there are goals, twice each, and writes the table into
 * docs/race_comparison.md:
 * `deno run -A bench/race_goals.ts [--write] [FILTER]`.
 *
 * Seconds are seconds of processor time, so that other work on the machine
 * changes them little. The row with two cores is by the clock, of the fastest
 * of several runs.
 *
 * @module
 */
import * as fs from "node:fs";
import * as os from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isMainThread, Worker } from "node:worker_threads";
import type { Result } from "../race/mod.ts";
import { type Goal, GOALS } from "../tests/race/corpus/goals.ts";

const DOCUMENT = fileURLToPath(
  new URL("../docs/race_comparison.md", import.meta.url),
);
/** Far more than any search takes: the number of states ends it. */
const LIMITS = { states: 3_000_000, time: 3_600_000, runs: 0 };
/** How often searches are timed by the clock. */
const CLOCKED = 4;
/** The program that says how fast a search is. */
const SPEED = "Michael-Scott queue, 3 x 2";

interface Run {
  readonly result: Result;
  readonly seconds: number;
}

function once({ run, options }: Goal): Run {
  const begin = process.cpuUsage();
  const result = run({ ...LIMITS, ...options });
  const { user, system } = process.cpuUsage(begin);
  return { result, seconds: (user + system) / 1e6 };
}

/** What two runs of one program must have in common. */
const shape = ({ result: { ok, states, steps, summary } }: Run) =>
  JSON.stringify({ ok, states, steps, summary });

const outcome = ({ failure, complete }: Result): string =>
  failure !== undefined ? failure.kind.toUpperCase() : complete ? "yes" : "no";

const time = (seconds: number): string => seconds.toFixed(seconds < 1 ? 2 : 1);

const rate = (steps: number, seconds: number): string =>
  `${(steps / seconds / 1e6).toFixed(2)} million`;

/** Seconds by the clock that `count` workers need for a search each. */
async function searches(count: number): Promise<number> {
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: count }, () =>
      new Promise<void>((done, fail) => {
        const worker = new Worker(new URL(import.meta.url));
        worker.on("exit", () => done());
        worker.on("error", fail);
      })),
  );
  return (performance.now() - begin) / 1000;
}

/** Explores the program that says how fast a search is. */
function speed(): Run {
  return once(GOALS.find(({ name }) => name === SPEED)!);
}

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const filter = words.find((word) => !word.startsWith("--")) ?? "";
  const rows: string[][] = [];
  const add = (...cells: string[]) => {
    rows.push(cells);
    console.log(cells.join(" | "));
  };
  let fastest: Run | undefined;
  for (const goal of GOALS) {
    if (!goal.name.includes(filter)) continue;
    const [first, second] = [once(goal), once(goal)];
    const { result } = second;
    if (goal.name === SPEED) fastest = second;
    add(
      goal.name,
      result.states.toLocaleString("en"),
      outcome(result),
      `${time(first.seconds)}, ${time(second.seconds)}`,
      shape(first) === shape(second) ? "yes" : "NO",
      goal.goal,
    );
  }
  if (fastest !== undefined) {
    const { steps } = fastest.result;
    const one = rate(steps, fastest.seconds);
    add("steps a second", one, "", "", "", "2 million");
    // Other work makes a run longer, and never shorter.
    let [alone, both] = [Infinity, Infinity];
    for (let i = 0; i < CLOCKED; i++) {
      alone = Math.min(alone, await searches(1));
      both = Math.min(both, await searches(2));
    }
    const gain = (2 * alone / both).toFixed(1);
    add(
      "the same, two searches at once",
      `${gain} times as many`,
      "",
      "",
      "",
      "1.7 times as many",
    );
  }
  if (!words.includes("--write")) return;
  if (filter !== "") throw new Error("a part of the table is not written");
  const cpu = os.cpus()[0]?.model ?? "unknown processor";
  const table = [
    "| program | states | complete | seconds | same twice | goal |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
    "",
    `${cpu}, Deno ${globalThis.Deno?.version.deno}, ` +
    `${new Date().toISOString().slice(0, 10)}; ` +
    "`deno run -A bench/race_goals.ts --write`.",
  ].join("\n");
  const text = fs.readFileSync(DOCUMENT, "utf8");
  const between = /(<!-- goals -->\n)[^]*?(\n<!-- end -->)/;
  if (!between.test(text)) throw new Error("no place for the table");
  fs.writeFileSync(DOCUMENT, text.replace(between, `$1\n${table}\n$2`));
}

if (!isMainThread) speed();
else if (import.meta.main) await main();
