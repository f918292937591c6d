/**
 * Runs the test files whose name contains a filter, or all:
 * `deno run -A tests/run.ts [FILTER]`. The examples in the documentation count
 * as one more file, named examples.
 *
 * A file is `tests/*_test.ts` or `tests/*_race.ts`, and runs in a process of
 * its own that is killed from outside when it takes too long: a thread asleep
 * in `Atomics.wait` listens to nothing softer. Comments in its first lines say
 *
 * ```text
 * // limit: 300 s    how long the file may take, instead of 120 s
 * // also: node      that it runs under the machine's Node as well
 * ```
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { emcc, NoCompiler, PTHREADS } from "../wasm/emcc.ts";
import { bundle } from "./bundle.ts";
import type { Counts } from "./harness.ts";
import {
  BUNDLES,
  CHILD,
  killAll,
  LIMIT_SECONDS,
  type Outcome,
  runFile,
  start,
} from "./process.ts";

const TESTS = fileURLToPath(new URL(".", import.meta.url));
const PROJECT = path.dirname(path.resolve(TESTS));

/** A test file. */
interface File {
  path: string;
  name: string;
  limit: number;
  alsoNode: boolean;
  needsCompiler: boolean;
}

/** Runs the examples of the README and the comments. */
async function runExamples(): Promise<Outcome> {
  const words = [process.execPath, "test", "--doc", "-A", "--quiet"];
  const { output, ending } = await start(words, LIMIT_SECONDS);
  const [, passed, failed] = output.match(/(\d+) passed.*?(\d+) failed/) ??
    ["", "0", "0"];
  const bad = ending !== "exit code 0" || passed === "0";
  return {
    passed: Number(passed),
    failed: Math.max(Number(failed), bad ? 1 : 0),
    problem: passed === "0" ? `${ending}, no example ran` : "",
    output,
  };
}

function find(filter: string): File[] {
  return fs.readdirSync(TESTS)
    .filter((name) => /_(test|race)\.ts$/.test(name) && name.includes(filter))
    .sort()
    .map((name) => {
      const file = path.join(TESTS, name);
      const text = fs.readFileSync(file, "utf8");
      const head = text.split("\n", 10).join("\n");
      return {
        path: file,
        name: name.replace(/\.ts$/, ""),
        limit: Number(head.match(/^\/\/ limit: (\d+) s$/m)?.[1] ?? 0) ||
          LIMIT_SECONDS,
        alsoNode: /^\/\/ also: node$/m.test(head),
        needsCompiler: imports(file).has(path.join(PROJECT, "wasm/emcc.ts")),
      };
    });
}

/** All modules of this project that `file` imports, and what those import. */
function imports(file: string, all = new Set<string>()): Set<string> {
  if (all.has(file) || !fs.existsSync(file)) return all;
  all.add(file);
  const text = fs.readFileSync(file, "utf8");
  for (const [, reference] of text.matchAll(/ from "(\.[^"]+)"/g)) {
    imports(path.resolve(path.dirname(file), reference!), all);
  }
  return all;
}

/**
 * Fetches a compiler and builds its library, once for all files and outside of
 * their time limits.
 */
async function prepareCompiler() {
  try {
    await emcc({
      sources: [path.join(TESTS, "fixtures", "thread.c")],
      args: [...PTHREADS, "-sPTHREAD_POOL_SIZE=1"],
      out: path.join(PROJECT, ".weft", "thread.mjs"),
    });
  } catch (error) {
    // The files that need it fail one by one.
    console.log(
      indent(error instanceof NoCompiler ? error.message : `${error}`),
    );
  }
}

async function main(filter = "") {
  const files = find(filter);
  const total: Counts = { passed: 0, failed: 0 };
  const prepared = files.some((file) => file.needsCompiler)
    ? prepareCompiler()
    : Promise.resolve();

  const show = async (title: string, run: () => Promise<Outcome>) => {
    const begin = performance.now();
    const { passed, failed, problem, output } = await run();
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    const counts = `${passed} passed${failed ? `, ${failed} failed` : ""}`;
    console.log(
      `${failed ? "FAIL" : "ok  "} ${title}  ${counts}  ${seconds} s`,
    );
    if (failed) console.log(indent(`${problem}\n${output}`));
    total.passed += passed;
    total.failed += failed;
  };
  const underDeno = async (file: File) => {
    if (file.needsCompiler) await prepared;
    await show(file.name, () => runFile(file.path, file.limit));
  };
  const underNode = (file: File) =>
    show(`node ${file.name}`, () => runFile(file.path, file.limit, "node"));

  // Long ones first, so that nothing long runs alone at the end.
  const jobs = files.toSorted((a, b) => b.limit - a.limit)
    .toSorted((a, b) => Number(a.needsCompiler) - Number(b.needsCompiler))
    .map((file) => () => underDeno(file));
  if ("examples".includes(filter)) {
    jobs.unshift(() => show("examples", runExamples));
  }
  await inParallel(jobs);

  const again = files.filter((file) => file.alsoNode);
  if (again.length > 0) {
    const node = spawnSync("node", ["--version"], { encoding: "utf8" });
    if (node.status === 0) {
      await bundle([CHILD, ...again.map((file) => file.path)], BUNDLES);
      await inParallel(again.map((file) => () => underNode(file)));
    } else {console.log(
        "     no node here: skipped the files that also run there",
      );}
  }

  if (jobs.length === 0) {
    console.log(`FAIL no test file's name contains "${filter}"`);
    total.failed++;
  }
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exit(total.failed === 0 ? 0 : 1);
}

/** Runs `jobs`, as many at once as there are cores. */
async function inParallel(jobs: (() => Promise<void>)[]) {
  const left = jobs.values();
  const lane = async () => {
    for (const job of left) await job();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}

function indent(text: string): string {
  return text.trim().replace(/^(?=.)/gm, "     ");
}

if (import.meta.main) {
  process.on(
    "exit",
    () => fs.rmSync(BUNDLES, { recursive: true, force: true }),
  );
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      killAll();
      process.exit(130);
    });
  }
  await main(process.argv[2]);
}
