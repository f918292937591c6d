/**
 * Measures in each runtime, and says which targets are reached. `deno task
 * bench --help` lists the options.
 *
 * @module
 */

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bun, versionOf } from "../tests/_run/bun.ts";
import { programOf } from "../tests/_run/browser/server.ts";
import { bundle, bundled } from "../tests/_run/bundle.ts";
import { node24 } from "../tests/_run/node24.ts";
import { measureInChromium } from "./chromium.ts";
import { compare, told } from "./compare.ts";
import { reached, type Row } from "./contest.ts";
import { write } from "./report.ts";
import * as results from "./results.ts";
import { hashesOf } from "./sources.ts";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const BUILT = fileURLToPath(
  new URL(`../.weft/bench-${process.pid}/`, import.meta.url),
);
const CHILD = path.join(HERE, "_child.ts");

/** The groups, and the runtimes that measure them. */
const ALL = results.NAMES;
const RUNTIMES = ["Deno", "Node", "Node 24", "Bun", "Chromium"];
/** The runtimes that the targets are for, and that are measured by default. */
const TARGETED = ["Deno", "Node"];
/** Its figures are those of C, not of a runtime. */
const DENO_ONLY = ["native", "twins"];
/** A page starts no processes, and gets no packages. */
const NOT_IN_PAGES = [
  ...["beside", "calls", "idle", "memory", "pool", "rivals", "sync_calls"],
];
/** Its processes run in Deno or Node. */
const NOT_IN_BUN = ["pool", "rivals"];
/** How long a group takes that was never measured. */
const UNKNOWN = 30;

const USAGE = `usage: deno task bench [NAME ...] [--on RUNTIME] [--write]
                       [--json FILE] [--compare OLD]
Measures the groups, which are bench/NAME_bench.ts, in Deno and in Node, for which
the targets are.
  --on RUNTIME   measures in Deno, Node, "Node 24", Bun or Chromium alone; npm gets
                 Node 24, and Bun if it is not installed
  --write        writes docs/bench/NAME.json for each group that was measured,
                 and docs/benchmarks.md from all of them
  --json FILE    writes the results to FILE
  --compare OLD  compares with an older docs/bench, or with a file of results,
                 and says which figures changed by more than noise
Groups: ${ALL.join(", ")}`;

/** A group to be measured. */
interface Task {
  readonly name: string;
  readonly runtime: string;
  /** How many seconds it took the last time. */
  readonly expected: number;
}

function fail(message: string): never {
  console.error(`${message}; see deno task bench --help`);
  process.exit(2);
}

/** Takes `--name VALUE` out of the words. */
function option(words: string[], name: string): string | undefined {
  const at = words.indexOf(name);
  if (at < 0) return undefined;
  const [, value] = words.splice(at, 2);
  if (value === undefined) fail(`${name} needs a value`);
  return value;
}

/** The results in a folder or a file that the user named. */
function resultsIn(place: string): results.Group[] {
  try {
    return results.read(place);
  } catch (error) {
    if (error instanceof TypeError) fail(error.message);
    throw error;
  }
}

/** Bundles the groups for Node and Bun: Node cannot read TypeScript. */
async function forNode(names: readonly string[]) {
  const files = names.map((name) => path.join(HERE, `${name}_bench.ts`));
  await bundle([CHILD, ...files], BUILT);
}

/** Measures a group in a process of its own. */
async function measure(
  { name, runtime }: Task,
  command: readonly string[],
): Promise<Row[]> {
  const out = path.join(BUILT, "rows.json");
  fs.mkdirSync(BUILT, { recursive: true });
  const file = path.join(HERE, `${name}_bench.ts`);
  if (runtime === "Chromium") return await measureInChromium(file, BUILT);
  const [program, words] = runtime === "Deno"
    ? [process.execPath, ["run", "-A", "--no-check", CHILD, file]]
    : [command[0]!, [
      ...command.slice(1),
      bundled(CHILD, BUILT),
      bundled(file, BUILT),
    ]];
  const child = spawn(program!, [...words, out], { stdio: "inherit" });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`${name} ended with ${code} in ${runtime}`);
  return JSON.parse(fs.readFileSync(out, "utf8"));
}

function print(rows: readonly Row[]) {
  for (const row of rows) {
    const mark = results.verdict(row).padEnd(6);
    const target = results.targetOf(row);
    const wanted = target && ` (${target})`;
    console.log(`${mark}${row.name}: ${results.figureOf(row)}${wanted}`);
    console.log(`      ${row.from}`);
  }
}

function minutes(seconds: number): string {
  return seconds < 90
    ? `${Math.round(seconds)} seconds`
    : `${Math.round(seconds / 60)} minutes`;
}

async function main(words: string[]) {
  if (words.includes("--help")) return console.log(USAGE);
  const on = option(words, "--on");
  const old = option(words, "--compare");
  const json = option(words, "--json");
  const writes = words.includes("--write");
  const names = words.filter((word) => word !== "--write");
  const unknown = names.find((name) => !ALL.includes(name));
  if (unknown !== undefined) fail(`no group "${unknown}"`);
  if (on !== undefined && !RUNTIMES.includes(on)) fail(`no runtime "${on}"`);
  if (old !== undefined && !fs.existsSync(old)) fail(`no file "${old}"`);
  const before = old === undefined ? undefined : resultsIn(old);
  const known = results.read(results.FOLDER);
  const commands: Record<string, readonly string[] | undefined> = {
    Deno: [process.execPath],
    Node: versionOf(["node"]) === undefined ? undefined : ["node"],
    "Node 24": on === "Node 24" ? node24() : undefined,
    Bun: on === "Bun" ? bun({ fetches: true }) : undefined,
    Chromium: on === "Chromium" ? [programOf("chromium")] : undefined,
  };
  if (!commands.Node) console.log("no node here");
  const tasks = (names.length > 0 ? names : ALL).flatMap((name) =>
    RUNTIMES.filter((runtime) =>
      (on ?? runtime) === runtime && commands[runtime] !== undefined &&
      (runtime === "Deno" || !DENO_ONLY.includes(name)) &&
      (runtime !== "Bun" || !NOT_IN_BUN.includes(name)) &&
      (runtime !== "Chromium" || !NOT_IN_PAGES.includes(name))
    ).map((runtime): Task => {
      const group = known.find((it) => it.name === name);
      return {
        name,
        runtime,
        expected: group?.runs[runtime]?.seconds ?? UNKNOWN,
      };
    })
  );
  if (tasks.length === 0) fail("nothing to measure");
  const versions = results.versions(
    on === undefined ? {} : { [on]: commands[on] },
  );
  console.log(results.machine());
  console.log(
    Object.entries(versions).map((pair) => pair.join(" ")).join(", "),
  );
  const expected = tasks.reduce((sum, { expected }) => sum + expected, 0);
  console.log(
    `This takes about ${minutes(expected)} on a quiet machine, and longer ` +
      `beside other programs.`,
  );
  if (tasks.some(({ runtime }) => runtime !== "Deno")) {
    await forNode([...new Set(tasks.map(({ name }) => name))]);
  }
  const after: results.Group[] = [];
  let [missed, left] = [0, expected];
  for (const [k, task] of tasks.entries()) {
    const { name, runtime } = task;
    console.log(
      `\n${name}, ${runtime} (${k + 1} of ${tasks.length}, about ` +
        `${minutes(left)} left)`,
    );
    const begin = performance.now();
    const date = new Date().toISOString().slice(0, 16).replace("T", " ");
    const all = await measure(task, commands[runtime]!);
    const rows = TARGETED.includes(runtime)
      ? all
      : all.map(({ target: _, ...row }) => row);
    print(rows);
    missed += rows.filter((row) => reached(row) === false).length;
    left -= task.expected;
    const run: results.Measurement = {
      date,
      commit: results.commit(),
      machine: results.machine(),
      versions,
      seconds: Math.round((performance.now() - begin) / 1000),
      sources: await hashesOf(name),
      rows,
    };
    after.push({ name, runs: { [runtime]: run } });
    if (writes) results.put(name, runtime, run);
  }
  if (writes) await write();
  if (json !== undefined) {
    fs.writeFileSync(json, JSON.stringify(after, null, 2) + "\n");
  }
  if (before !== undefined) console.log(`\n${told(compare(before, after))}`);
  console.log(`\n${missed} target${missed === 1 ? "" : "s"} missed`);
  fs.rmSync(BUILT, { recursive: true, force: true });
  process.exit(0);
}

if (import.meta.main) await main(process.argv.slice(2));
