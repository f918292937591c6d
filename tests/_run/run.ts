/**
 * Runs the test files whose name contains a filter, or all:
 * `deno run -A tests/_run/run.ts [FILTER]`. The examples in the documentation count
 * as one more file, named examples. What `files.ts` says a file also runs on is
 * the machine's Node here, and the rest in `platforms.ts`.
 *
 * A file runs in a process of its own that is killed from outside when it takes
 * too long: a thread asleep in `Atomics.wait` listens to nothing softer.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { bundle } from "./bundle.ts";
import { type File, find } from "./files.ts";
import {
  BUNDLES,
  CHILD,
  LIMIT_SECONDS,
  type Outcome,
  runFile,
  start,
} from "./process.ts";
import { end, fail, indent, inParallel, show } from "./report.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

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
      sources: [path.join(PROJECT, "tests/project/fixtures/thread.c")],
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
    show(`node ${name}`, () => runFile(path, limit, ["node"]))
  );
  await inParallel(jobs);
}

const [, , filter = ""] = process.argv;
const files = find(filter);
await runUnderDeno(files, filter);
await runUnderNode(files.filter(({ also }) => also.has("node")));
end();
