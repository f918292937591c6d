/**
 * Runs jobs side by side, and prints a row for each test file.
 *
 * @module
 */

import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import process from "node:process";
import { FIRST_STATES } from "./depth.ts";
import { type Counts, summaryOf } from "./harness.ts";
import { BUNDLES, killAll, type Outcome } from "./process.ts";
import { Times } from "./times.ts";

const total: Counts = { passed: 0, failed: 0, skipped: 0 };

/** The number of scenarios of which `--all` explores more. */
let cuts = 0;

/** How many tests were skipped in all, by the reason. */
const skips = new Map<string, number>();

/** The rows so far, with the processor time of each. */
const rows: { title: string; used: number; seconds: number }[] = [];

/** How long each row took, in earlier runs. */
export const times = new Times();

/** Runs files, or the examples, and prints a row for each. */
export interface Job {
  readonly run: () => Promise<void>;
  /** Whether what it needs is there; else others begin before it. */
  readonly isReady?: () => boolean;
}

/** The counts of all rows so far. */
export const counted = (): Counts => ({ ...total });

/** How many jobs run side by side that leave the cores to others. */
const IDLE = 3;

/**
 * Runs `jobs`, as many at once as there are cores, and one more, because each
 * waits now and then. Beside them run `idle`, which leave the cores to others
 * most of the time: that one more begins when none of these is left to begin.
 */
export async function inParallel(
  jobs: readonly Job[],
  idle: readonly Job[] = [],
): Promise<void> {
  const runAll = async (left: Job[]) => {
    while (left.length > 0) {
      const ready = left.findIndex(({ isReady }) => isReady?.() ?? true);
      const [job] = left.splice(Math.max(ready, 0), 1);
      await job!.run();
    }
  };
  const left = [...jobs];
  const idleLeft = [...idle];
  const runIdle = () => runAll(idleLeft);
  const run = async () => {
    await runAll(left);
    await runIdle();
  };
  await Promise.all([
    runIdle().then(run),
    ...Array.from({ length: IDLE - 1 }, runIdle),
    ...Array.from({ length: availableParallelism() }, run),
  ]);
}

/** Prints the row of a file that `run` runs, or that ran since `begin`. */
export async function show(
  title: string,
  run: () => Outcome | Promise<Outcome>,
  begin: number = performance.now(),
) {
  const outcome = await run();
  const { problem, output, reasons, known, cut, ...counts } = outcome;
  const { failed } = counts;
  const { seconds = (performance.now() - begin) / 1000 } = outcome;
  const mark = failed ? "FAIL" : "ok  ";
  const summary = summaryOf(counts).replace(", 0 failed", "");
  rows.push({ title, used: outcome.used ?? 0, seconds });
  if (!known) times.note(title, seconds);
  const took = known ? "known" : `${seconds.toFixed(1)} s`;
  console.log(`${mark} ${title}  ${summary}  ${took}`);
  if (failed) console.log(indent(`${problem}\n${output}`));
  // Print tables even if all tests pass.
  const told = failed ? [] : output.match(/^\| .*$/gm) ?? [];
  for (const line of told) console.log(indent(line));
  for (const [why, count] of Object.entries(reasons)) {
    console.log(indent(skipping(why, count)));
    note(why, count);
  }
  cuts += cut;
  total.passed += counts.passed;
  total.failed += failed;
}

/** The one form in which tests are told as skipped. */
const skipping = (why: string, count: number) => `skipped: ${why}: ${count}`;

function note(why: string, count: number) {
  skips.set(why, (skips.get(why) ?? 0) + count);
  total.skipped += count;
}

/** Counts and prints what kept tests from running. */
export function fail(why: string) {
  console.log(`FAIL ${why}`);
  total.failed++;
}

/** Counts and prints what this machine cannot run. */
export function skipped(count: number, why: string) {
  console.log(skipping(why, count));
  note(why, count);
}

/** `text` as part of the row before. */
export function indent(text: string): string {
  return text.trim().replace(/^(?=.)/gm, "     ");
}

/** Prints what used most of the processors: folders, kinds of files, files. */
export function showTimes(): void {
  const sum = (of: (title: string) => string) => {
    const sums = new Map<string, number>();
    for (const { title, used } of rows) {
      sums.set(of(title), (sums.get(of(title)) ?? 0) + used);
    }
    return [...sums].sort(([, a], [, b]) => b - a).slice(0, 30);
  };
  const words = (title: string) => title.split(/[ /]/);
  const tables = {
    "folder": sum((title) => words(title).at(-2) ?? title),
    "kind": sum((title) => words(title).at(-1)!),
    "file": sum((title) => title),
  };
  for (const [name, table] of Object.entries(tables)) {
    console.log(`processor time by ${name}:`);
    for (const [what, seconds] of table) {
      console.log(`${seconds.toFixed(1).padStart(8)} s  ${what}`);
    }
  }
  const all = rows.reduce((all, { used }) => all + used, 0);
  console.log(`${all.toFixed(1).padStart(8)} s  in all`);
}

/** Prints the sums, and ends the process. */
export function end(): never {
  times.keep();
  if (cuts > 0) {
    console.log(
      `explored to ${FIRST_STATES} states without --all: ${cuts} scenarios`,
    );
  }
  for (const why of [...skips.keys()].sort()) {
    console.log(skipping(why, skips.get(why)!));
  }
  // The last line always has the same form, because other programs read it.
  console.log(summaryOf({ ...total, skipped: 0 }));
  process.exit(total.failed === 0 ? 0 : 1);
}

function cleanUp() {
  killAll();
  fs.rmSync(BUNDLES, { recursive: true, force: true });
}

process.on("exit", cleanUp);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => process.exit(130));
}
