/**
 * Runs one test program, and appends each event to a report: `child.ts FILE
 * REPORT [FOLDER]`. `run.ts` starts it.
 *
 * @module
 */

import { appendFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { runAll, runFor } from "./harness.ts";

const [file, report] = process.argv.slice(2);
runFor((note) => appendFileSync(report!, JSON.stringify(note) + "\n"));
await import(pathToFileURL(file!).href);
const { failed } = await runAll();

// Deno's Worker.terminate() does not stop a thread that sleeps in Atomics.wait,
// and the process would wait for that thread.
process.exit(failed === 0 ? 0 : 1);
