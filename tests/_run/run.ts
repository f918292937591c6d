/**
 * Runs the tests, or those of a folder or of a name: see {@linkcode USAGE}. The
 * examples in the comments of the library count as one more file. Files that
 * say `also: node` run under the machine's Node, too, but for those of a name
 * without `--node`; `platforms.ts` runs them elsewhere.
 *
 * A file runs in a process of its own, or with others that explore. If it takes
 * too long, the process is killed from outside: a thread that sleeps in
 * `Atomics.wait` can be ended in no other way.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";
import { prepareCompiler } from "./compiler.ts";
import { VARIABLE } from "./depth.ts";
import { type File, find, NAMES } from "./files.ts";
import {
  BUNDLES,
  CHILD,
  LIMIT_SECONDS,
  type Outcome,
  runFile,
  runFiles,
  start,
} from "./process.ts";
import { explores, type Known, knownOf } from "./verdicts.ts";
import {
  end,
  fail,
  inParallel,
  type Job as Ready,
  show,
  showTimes,
  skipped,
  times,
} from "./report.ts";
import { complain, wordsOf } from "./usage.ts";

const USAGE = `usage: deno task test [--all] [NAME]
Runs the tests, or those of one folder of tests/: \`deno task test latch\` is what
there is about the latch. Where no folder bears the name, it runs the tests whose
names contain it.

--all    also what is long by nature: the torture, the workloads, pages, packages,
         sites, every compiler and way to build, and each scenario to its end
--node   with a NAME, runs what is portable under Node, too, as all tests do
--times  prints the processor time of folders and of files, the largest first
--fresh  explores again what has not changed since it passed; so does CI=true`;

/** Runs files, or the examples, and prints a row for each. */
interface Job extends Ready {
  /** Whether it uses little of a processor. */
  readonly waits: boolean;
  /** How long it may take, in seconds, as far as that is known. */
  readonly seconds: number;
}

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** For how long it waits for a compiler that is probably there, in ms. */
const SOON = 500;

/** The jobs of `files` and `examples` under Deno. */
async function underDeno(files: File[], examples: string[]): Promise<Job[]> {
  let isReady = false;
  const ready = files.some((file) => file.needsCompiler)
    ? prepareCompiler().then(() => isReady = true)
    : Promise.resolve();
  // If it must be fetched, others run meanwhile.
  await Promise.race([ready, new Promise((end) => setTimeout(end, SOON))]);
  const jobs = inGroups(files)
    .map((group): Job => {
      const needs = group.some((file) => file.needsCompiler);
      return {
        waits: group.every((file) => file.waits),
        seconds: group.reduce((sum, file) => sum + secondsOf(file), 0),
        isReady: () => isReady || !needs,
        run: async () => {
          if (needs) await ready;
          await runGroup(group);
        },
      };
    });
  if (examples.length > 0) {
    const run = () => show("examples", () => runExamples(examples));
    const seconds = times.of("examples") ?? 1;
    jobs.push({ run, seconds, waits: false });
  }
  return jobs;
}

/** What a file took when it ran last; else what its limit lets one expect. */
function secondsOf({ name, limit, long }: File): number {
  return times.of(name) ?? limit / 60 + (long ? LIMIT_SECONDS : 0);
}

/**
 * Puts the files together that one process runs: what explores, since a search
 * is slow until its process is warm. If there are fewer folders than
 * processors, scenarios and mutants apart. A file that says nothing else has
 * threads of its own, and a process of its own.
 */
function inGroups(files: readonly File[]): File[][] {
  const folders = new Set(files.filter(explores).map(({ folder }) => folder));
  const apart = folders.size < availableParallelism();
  const groups = new Map<string, File[]>();
  for (const file of files) {
    const part = apart ? file.name.replace(/_c$/, "") : file.folder;
    const key = explores(file) ? part : file.shares || file.name;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [file]);
    else group.push(file);
  }
  const all = [...groups.values()];
  const ofFolders = all.filter(([file]) => explores(file!));
  return [
    ...apart ? ofFolders : packed(ofFolders),
    ...all.filter(([file]) => !explores(file!))
      .flatMap((group) => packed(group.map((file) => [file]))),
  ];
}

/** How many groups that explore each processor gets, if there are so many. */
const GROUPS_EACH = 2;

/** Puts groups together until there are few, which take about as long. */
function packed(groups: readonly File[][]): File[][] {
  const length = Math.min(groups.length, GROUPS_EACH * availableParallelism());
  const bins = Array.from(
    { length },
    () => ({ seconds: 0, files: [] as File[] }),
  );
  const known = groups.map((files) => ({
    files,
    seconds: files.reduce((sum, file) => sum + secondsOf(file), 0),
  }));
  for (const group of known.toSorted((a, b) => b.seconds - a.seconds)) {
    const shortest = bins.reduce((a, b) => b.seconds < a.seconds ? b : a);
    shortest.seconds += group.seconds;
    shortest.files.push(...group.files);
  }
  return bins.map(({ files }) => files);
}

/** Runs those files of a group of which no verdict is known. */
async function runGroup(group: readonly File[]): Promise<void> {
  const left: [File, Known][] = [];
  for (const file of group) {
    const known = await knownOf(file);
    const { outcome } = known;
    if (trusts && outcome !== undefined) await show(file.name, () => outcome);
    else left.push([file, known]);
  }
  if (left.length === 0) return;
  const outcomes = await runFiles(left.map(([file]) => file));
  for (const [i, [file, known]] of left.entries()) {
    known.keep(outcomes[i]!);
    await show(file.name, () => outcomes[i]!);
  }
}

/** Runs the examples in the comments and documents at `places`. */
async function runExamples(places: string[]): Promise<Outcome> {
  // Their types are checked by `deno task check`.
  const options = ["--doc", "--no-check", "-A", "--quiet"];
  const words = [process.execPath, "test", ...options, ...places];
  const { output, ending } = await start(words, 600);
  const counts = output.match(/(\d+) passed.*?(\d+) failed/);
  const [passed, failed] = counts ? counts.slice(1).map(Number) : [0, 0];
  const problem = passed === 0 ? "no example ran" : ending;
  const bad = passed === 0 || ending !== "exit code 0";
  return {
    passed,
    failed: failed || (bad ? 1 : 0),
    skipped: 0,
    cut: 0,
    reasons: {},
    problem,
    output,
  };
}

/** The jobs of `files` under Node. */
function underNode(files: File[]): Job[] {
  if (files.length === 0) return [];
  const { status } = spawnSync("node", ["--version"]);
  if (status !== 0) {
    skipped(files.length, "no node");
    return [];
  }
  // All are bundled at once, when the first of them begins.
  let bundled: Promise<boolean> | undefined;
  const bundleAll = () =>
    bundle([CHILD, ...files.map((file) => file.path)], BUNDLES, {
      shares: true,
    }).then(
      () => true,
      (error) => {
        fail(`bundling for Node: ${(error as Error).message}`);
        return false;
      },
    );
  return files.map((file): Job => ({
    waits: file.waits,
    seconds: times.of(`node ${file.name}`) ?? secondsOf(file),
    run: async () => {
      if (!await (bundled ??= bundleAll())) return;
      await show(`node ${file.name}`, () => runFile(file, ["node"]));
    },
  }));
}

/** The places of the examples that a name stands for. */
function placesOf(name: string): string[] {
  if (name === "" || name === "examples") return ["."];
  return [
    `primitives/${name}.ts`,
    `primitives/tools/${name}.ts`,
    `primitives/kernel/${name}.ts`,
    `docs/primitives/${name}.md`,
  ]
    .filter((file) => fs.existsSync(path.join(PROJECT, file)))
    .filter((file) =>
      /^[ *]*```ts$/m.test(fs.readFileSync(path.join(PROJECT, file), "utf8"))
    );
}

const { values, positionals: [name = "", ...more] } = wordsOf(USAGE, {
  all: "boolean",
  fresh: "boolean",
  node: "boolean",
  times: "boolean",
});
const trusts = !values.fresh && !process.env.CI;
if (more.length > 0) complain("deno task test takes one name");
if (values.all) process.env[VARIABLE] = "1";
const found = find(name);
const short = found.filter(({ long }) => !long);
// What is long runs by its name, too.
const files = values.all || short.length === 0 ? found : short;
const isBrief = name === "" && !values.all;
const examples = isBrief ? [] : placesOf(name);
if (files.length === 0 && examples.length === 0) {
  complain(`no test bears the name "${name}"; there are ${NAMES.join(", ")}`);
}
const portable = files.filter(({ also }) => also.has("node"));
const inNode = name === "" || values.all || values.node ? portable : [];
const jobs = [...await underDeno(files, examples), ...underNode(inNode)]
  // The line ends in short ones, so that no core idles for long.
  .toSorted((a, b) => b.seconds - a.seconds);
await inParallel(
  jobs.filter(({ waits }) => !waits),
  jobs.filter(({ waits }) => waits),
);
const left = found.length - files.length + Number(isBrief);
if (left > 0) console.log(`not run without --all: ${left} files`);
const notInNode = portable.length - inNode.length;
if (notInNode > 0) console.log(`not run without --node: ${notInNode} files`);
if (values.times) showTimes();
end();
