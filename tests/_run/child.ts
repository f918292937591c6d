/**
 * Runs test programs one after the other, and appends each event to a report:
 * `child.ts PROGRAMS REPORT`, where PROGRAMS is a list in JSON. `run.ts` starts
 * it.
 *
 * @module
 */

import { appendFileSync, readFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { type Counts, type Note, runAll, runFor } from "./harness.ts";
import { whySkipped } from "./missing.ts";
import type { Program } from "./process.ts";

const [programs, report] = process.argv.slice(2);
const note = (note: Note) =>
  appendFileSync(report!, JSON.stringify(note) + "\n");
runFor(note);
let failed = 0;
let before = 0;
for (const program of JSON.parse(programs!) as Program[]) {
  note({ begun: program.path, at: Date.now() });
  failed += (await runFile(program)).failed;
  const used = cpuSeconds();
  note({ used: used - before });
  before = used;
}

// Deno's Worker.terminate() does not stop a thread that sleeps in Atomics.wait,
// and the process would wait for that thread.
process.exit(failed === 0 ? 0 : 1);

/**
 * Runs the tests of the file. If the file needs a program that is missing here,
 * none runs, and the counts say that one was skipped.
 */
async function runFile({ path, folder }: Program): Promise<Counts> {
  const { href } = pathToFileURL(path);
  try {
    // The program is another module for each folder that it tests.
    await import(folder ? `${href}?${folder}` : href);
  } catch (error) {
    const why = whySkipped(error);
    if (why === undefined) throw error;
    const finished = { passed: 0, failed: 0, skipped: 1 };
    note({ skipped: "all its tests", why });
    note({ finished, at: Date.now() });
    return finished;
  }
  return await runAll();
}

/** The processor time of this process, and of those it waited for. */
function cpuSeconds(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, it) => sum + Number(it), 0);
    return ticks / 100; // the unit of this file, on every Linux
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
