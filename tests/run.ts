/**
 * Runs the test files whose name contains a filter, or all:
 * `deno run -A tests/run.ts [FILTER]`. The examples in the documentation count
 * as one more file, named examples. What `files.ts` says a file also runs on is
 * the machine's Node here, and the rest in `platforms.ts`.
 *
 * A file runs in a process of its own that is killed from outside when it takes
 * too long: a thread asleep in `Atomics.wait` listens to nothing softer.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { emcc, PTHREADS } from "../wasm/emcc.ts";
import { bundle } from "./bundle.ts";
import { type File, find } from "./files.ts";
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

const total: Counts = { passed: 0, failed: 0 };

async function runUnderDeno(files: File[], filter: string) {
  const ready = files.some((file) => file.needsCompiler)
    ? prepareCompiler()
    : Promise.resolve();
  // Long ones first, so that nothing long runs alone at the end.
  const jobs = files.toSorted((a, b) => b.limit - a.limit)
    .toSorted((a, b) => Number(a.needsCompiler) - Number(b.needsCompiler))
    .map(({ path, name, limit, needsCompiler }) => async () => {
      if (needsCompiler) await ready;
      await show(name, () => runFile(path, limit));
    });
  if ("examples".includes(filter)) {
    jobs.unshift(() => show("examples", runExamples));
  }
  if (jobs.length === 0) fail(`no test file's name contains "${filter}"`);
  await inParallel(jobs);
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
    console.log(indent((error as Error).message));
  }
}

/** Runs the examples of the README and the comments. */
async function runExamples(): Promise<Outcome> {
  const words = [process.execPath, "test", "--doc", "-A", "--quiet"];
  const { output, ending } = await start(words, LIMIT_SECONDS);
  const counts = output.match(/(\d+) passed.*?(\d+) failed/);
  const [passed, failed] = counts ? counts.slice(1).map(Number) : [0, 0];
  const problem = passed === 0 ? "no example ran" : ending;
  const bad = passed === 0 || ending !== "exit code 0";
  return { passed, failed: failed || (bad ? 1 : 0), problem, output };
}

async function runUnderNode(files: File[]) {
  if (files.length === 0) return;
  const { status } = spawnSync("node", ["--version"]);
  if (status !== 0) {
    console.log("     no node here: skipped the files that also run there");
    return;
  }
  try {
    await bundle([CHILD, ...files.map((file) => file.path)], BUNDLES);
  } catch (error) {
    fail(`bundling for Node: ${(error as Error).message}`);
    return;
  }
  const jobs = files.map(({ path, name, limit }) => () =>
    show(`node ${name}`, () => runFile(path, limit, "node"))
  );
  await inParallel(jobs);
}

/** Runs `jobs`, as many at once as there are cores. */
async function inParallel(jobs: (() => Promise<void>)[]) {
  const left = jobs.values();
  const lane = async () => {
    for (const job of left) await job();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}

/** Runs a file and prints its row. */
async function show(title: string, run: () => Promise<Outcome>) {
  const begin = performance.now();
  const { passed, failed, problem, output } = await run();
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const mark = failed ? "FAIL" : "ok  ";
  const failures = failed ? `, ${failed} failed` : "";
  console.log(`${mark} ${title}  ${passed} passed${failures}  ${seconds} s`);
  if (failed) console.log(indent(`${problem}\n${output}`));
  // What a machine lacks is said even if all is well.
  const skipped = failed ? [] : output.match(/^skipped: .*$/gm) ?? [];
  for (const line of skipped) console.log(indent(line));
  total.passed += passed;
  total.failed += failed;
}

function fail(why: string) {
  console.log(`FAIL ${why}`);
  total.failed++;
}

function indent(text: string): string {
  return text.trim().replace(/^(?=.)/gm, "     ");
}

function cleanUp() {
  killAll();
  fs.rmSync(BUNDLES, { recursive: true, force: true });
}

process.on("exit", cleanUp);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => process.exit(130));
}

const [, , filter = ""] = process.argv;
const files = find(filter);
await runUnderDeno(files, filter);
await runUnderNode(files.filter(({ also }) => also.has("node")));
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);
