/**
 * Breaks each ordering that the primitives' TypeScript relies on; the race
 * scenarios must notice. `deno run -A tests/_run/mutants.ts [--quick] [FILTER]`
 *
 * Some are the classic mistakes that `race/corpus/bugs.ts` makes in textbook
 * algorithms, and bear their names. Where ours differ:
 *
 * ```text
 * MX8   no loop around the sleep: a wake is taken for the lock
 * MQ8   turns are compared for equality, so no difference can fail to wrap:
 *       a slot's place is computed from a ticket that does not wrap
 * SP4   as the cache only saves loads, the word itself is never looked at
 * ```
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { wordsOf } from "./usage.ts";
import { type Options, race, type Result } from "../../race/mod.ts";
import { all } from "./depth.ts";
import { complainOf, foldersWith, load, TESTS } from "./folders.ts";
import { changesOf, diffOf, loadWeft, type Mutant, unload } from "./mutant.ts";
import { FINDING, type Scenario, scenariosIn, type Weft } from "./scenario.ts";

const USAGE = `usage: deno task mutants [--quick | --write] [FILTER]
Makes each mistake of TypeScript whose name contains FILTER, and prints which
race scenario found it; --quick explores few states. --write takes only mistakes
that name no scenario, and writes the name into their rows.`;

/** The folders that have mutants. */
export const MUTATED: readonly string[] = foldersWith("mutants.ts");

/** The mutants of a folder. */
export async function mutantsIn(folder: string): Promise<readonly Mutant[]> {
  const { MUTANTS } = await load<{ MUTANTS: Mutant[] }>(folder, "mutants.ts");
  for (const { source, what, c, equivalent } of MUTANTS) {
    if (c === undefined && equivalent === undefined) {
      throw new Error(`${source}: ${what}: it has no C, and says no reason`);
    }
  }
  return MUTANTS;
}

/** The mutants of a folder that have edits in `language`. */
export async function mutantsOf(
  folder: string,
  language: "ts" | "c",
): Promise<Mutant[]> {
  const all = await mutantsIn(folder);
  return all.filter((mutant) => changesOf(mutant[language]) !== undefined);
}

/** The verdict on a mutant. */
export interface Verdict {
  /** The scenario that killed it, as `"folder: name"`. */
  readonly by: string | undefined;
  readonly kind: string | undefined;
  /** The processor time it took, in milliseconds. */
  readonly ms: number;
  readonly text: string;
}

/** The scenarios that may kill a mutant, by `"folder: name"`. */
async function scenariosFor(
  { scenarios: folders, by: named, equivalent }: Mutant,
  weft: Weft,
): Promise<[string, Scenario][]> {
  const by = equivalent !== undefined && all() ? undefined : named;
  const found: [string, Scenario][] = [];
  for (const folder of folders) {
    for (const scenario of (await scenariosIn(folder))(weft)) {
      const { name } = scenario;
      if (by !== undefined && by !== name) continue;
      found.push([`${folder}: ${name}`, scenario]);
    }
  }
  if (found.length === 0) throw new Error(`there is no scenario "${by}"`);
  return found;
}

/**
 * Explore more and more states of all scenarios: most mutants show early in
 * some.
 */
const BUDGETS: readonly Options[] = [
  { states: 300, runs: 0 },
  { states: 3_000, runs: 0 },
  { states: 30_000, runs: 0 },
  { states: 200_000, time: 800_000 },
];

/** Of the scenario that finds it: random executions are quick. */
const LIKELY: readonly Options[] = [
  { states: 300, runs: 100 },
  ...BUDGETS.slice(1),
];

/** Of a sampled scenario: random executions are quick, then all of its own. */
const SAMPLED: readonly Options[] = [
  { states: 30, runs: 100 },
  { states: 200_000, time: 800_000 },
];

/** Explores a mutant of TypeScript until something is found. */
export async function judge(
  mutant: Mutant,
  quick = false,
): Promise<Verdict> {
  const before = process.cpuUsage();
  const took = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const left = new Map(await scenariosFor(mutant, await loadWeft(mutant)));
  const brief = quick || mutant.equivalent !== undefined;
  let budgets = mutant.by === undefined ? BUDGETS : LIKELY;
  if (quick) budgets = BUDGETS.slice(0, 2);
  else if (brief) {
    budgets = [BUDGETS[all() || mutant.by !== undefined ? 1 : 0]!];
  }
  // Where the scenario is too large for a search, samples find the mutant.
  const likely = [...left.values()].every(({ sampled }) => sampled === true);
  if (!brief && mutant.by !== undefined && likely) budgets = SAMPLED;
  for (const budget of budgets) {
    for (const [name, { spec, agents, options }] of left) {
      const result: Result = await race.check(spec, ...agents, {
        ...FINDING,
        ...options,
        ...budget,
      });
      if (result.complete) left.delete(name);
      if (result.failure === undefined) continue;
      const { kind, message, table } = result.failure;
      const text = `${kind}: ${message}\n${table}`;
      return { by: name, kind, ms: took(), text };
    }
  }
  const text = diffOf(mutant, "ts");
  return { by: undefined, kind: undefined, ms: took(), text };
}

/** Writes the scenario that finds a mutant into the row of its folder. */
function writeBy(folder: string, mutant: Mutant, by: string): void {
  const files = fs.readdirSync(path.join(TESTS, folder))
    .filter((name) => /^mutants(_\w+)?\.ts$/.test(name))
    .map((name) => path.join(TESTS, folder, name));
  const words = mutant.what.split(" ")
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  // A long one goes on in the next line, as another string.
  const what = words.join(`(?: |"\\s*\\+\\s*" ?| "\\s*\\+\\s*")`);
  const row = RegExp(`^( *)what:\\s*"${what}",\\n(?! *by:)`, "gm");
  const found = files.flatMap((file) =>
    (fs.readFileSync(file, "utf8").match(row) ?? []).map(() => file)
  );
  const [file] = found;
  if (file === undefined || found.length > 1) {
    throw new Error(`${folder}: ${found.length} rows say only: ${mutant.what}`);
  }
  const line = (whole: string, space: string) =>
    `${whole}${space}by: ${JSON.stringify(by)},\n`;
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(row, line));
}

/** Writes the scenarios that find mistakes of C alone; how many survive. */
async function writeThoseOfC(filter: string): Promise<number> {
  let survived = 0;
  for (const folder of MUTATED) {
    const todo = (await mutantsOf(folder, "c")).filter((mutant) =>
      changesOf(mutant.ts) === undefined && mutant.by === undefined &&
      `${mutant.source}: ${mutant.what}`.includes(filter)
    );
    if (todo.length === 0) continue;
    const { compiled, judge } = await import("./mixed/judge.ts");
    const moduleOf = compiled(todo);
    for (const mutant of todo) {
      const found = await judge(await moduleOf(mutant), mutant, "C+C");
      const title = `${mutant.header}.h: ${mutant.what}`;
      console.log(`${found ? "ok  " : "FAIL"} ${title}  ${found?.by}`);
      if (found === undefined) survived++;
      else writeBy(folder, mutant, found.by);
    }
  }
  return survived;
}

if (import.meta.main) {
  const words = wordsOf(USAGE, { quick: "boolean", write: "boolean" });
  const { values: { quick, write }, positionals: [filter = ""] } = words;
  let failed = 0;
  let equivalent = 0;
  const times: number[] = [];
  const all = await Promise.all(
    MUTATED.map(async (folder) =>
      (await mutantsOf(folder, "ts")).map((mutant) => ({ folder, mutant }))
    ),
  );
  for (const { folder, mutant } of all.flat()) {
    const title = `${mutant.source}: ${mutant.what}`;
    if (!title.includes(filter)) continue;
    if (write && (mutant.by ?? mutant.equivalent) !== undefined) continue;
    let verdict;
    try {
      verdict = await judge(mutant, quick === true);
      const [, name] = /: (.*)/.exec(verdict.by ?? "") ?? [];
      if (write && name !== undefined) writeBy(folder, mutant, name);
    } catch (error) {
      console.log(`FAIL ${title}: ${(error as Error).message}`);
      failed++;
      continue;
    }
    const { by, kind, ms, text } = verdict;
    const right = (by === undefined) === (mutant.equivalent !== undefined);
    if (!right) failed++;
    if (mutant.equivalent === undefined) times.push(ms);
    else equivalent++;
    console.log(
      `${right ? "ok  " : "FAIL"} ${title.padEnd(72)} ` +
        `${`${Math.round(ms)}`.padStart(6)} ms  ` +
        (by === undefined ? mutant.equivalent ?? "survived" : `${kind}, ${by}`),
    );
    if (!right) console.log(text);
  }
  if (write) failed += await writeThoseOfC(filter);
  else if (times.length + failed + equivalent === 0) complainOf(filter);
  times.sort((a, b) => a - b);
  const median = times[times.length >> 1] ?? 0;
  const total = times.reduce((a, b) => a + b, 0);
  console.log(
    `${times.length} mutants, ${failed} wrong, median ${Math.round(median)} ` +
      `ms, total ${Math.round(total / 1000)} s`,
  );
  await unload();
  process.exit(failed === 0 ? 0 : 1);
}
