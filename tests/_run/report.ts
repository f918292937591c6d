/**
 * Runs jobs side by side, and prints a row for each test file.
 *
 * @module
 */

import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import process from "node:process";
import { type Counts, summaryOf } from "./harness.ts";
import { BUNDLES, killAll, type Outcome } from "./process.ts";

const total: Counts = { passed: 0, failed: 0, skipped: 0 };

/** The counts of all rows so far. */
export const counted = (): Counts => ({ ...total });

/**
 * Runs `jobs`, as many at once as there are cores, and one more, because each
 * waits now and then. That one first runs `idle`, which leave the cores to
 * others most of the time.
 */
export async function inParallel(
  jobs: readonly (() => Promise<void>)[],
  idle: readonly (() => Promise<void>)[] = [],
): Promise<void> {
  const left = jobs.values();
  const idleLeft = idle.values();
  const runIdle = async () => {
    for (const job of idleLeft) await job();
  };
  const run = async () => {
    for (const job of left) await job();
    await runIdle();
  };
  await Promise.all([
    runIdle().then(run),
    ...Array.from({ length: availableParallelism() }, run),
  ]);
}

/** Prints the row of a file that `run` runs, or that ran since `begin`. */
export async function show(
  title: string,
  run: () => Outcome | Promise<Outcome>,
  begin: number = performance.now(),
) {
  const { problem, output, ...counts } = await run();
  const { failed } = counts;
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const mark = failed ? "FAIL" : "ok  ";
  const summary = summaryOf(counts).replace(", 0 failed", "");
  console.log(`${mark} ${title}  ${summary}  ${seconds} s`);
  if (failed) console.log(indent(`${problem}\n${output}`));
  // Print what the machine lacks, and tables, even if all tests pass.
  const told = failed ? [] : output.match(/^(?:skipped: |\| ).*$/gm) ?? [];
  for (const line of told) console.log(indent(line));
  total.passed += counts.passed;
  total.failed += failed;
  total.skipped += counts.skipped;
}

/** Counts and prints what kept tests from running. */
export function fail(why: string) {
  console.log(`FAIL ${why}`);
  total.failed++;
}

/** Counts and prints what this machine cannot run. */
export function skipped(count: number, why: string) {
  console.log(`skipped: ${count}: ${why}`);
  total.skipped += count;
}

/** `text` as part of the row before. */
export function indent(text: string): string {
  return text.trim().replace(/^(?=.)/gm, "     ");
}

/** Prints the sums, and ends the process. */
export function end(): never {
  const { skipped } = total;
  // The last line has the same form in both cases, because other programs read
  // it.
  if (skipped > 0) console.log(`${skipped} skipped`);
  console.log(summaryOf({ ...total, skipped: 0 }));
  process.exit(total.failed === 0 ? 0 : 1);
}

function cleanUp() {
  killAll();
  fs.rmSync(BUNDLES, { recursive: true, force: true });
}

process.on("exit", cleanUp);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => process.exit(130));
}
