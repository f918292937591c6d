/**
 * What a reviewer runs: the checks, the demo, and all tests. It ends with the
 * first of them that fails.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { takesNoWords } from "./usage.ts";

takesNoWords(
  "usage: deno task ok\nRuns the checks, the demo and all tests, and ends at " +
    "the first that fails.",
);

for (const task of [["check"], ["demo"], ["test", "--all"]]) {
  const words = ["task", "-q", ...task];
  const { status } = spawnSync(process.execPath, words, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
