/**
 * Runs one test program, and appends what happens to a report:
 * `child.ts FILE REPORT [FOLDER]`. Started by `run.ts`.
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

// Deno's Worker.terminate() does not stop a thread asleep in Atomics.wait, and
// the process would wait for it.
process.exit(failed === 0 ? 0 : 1);
