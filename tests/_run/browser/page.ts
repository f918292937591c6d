/// <reference lib="dom" />
/**
 * On a page: runs each test file in a worker of its own, one after the other,
 * then the page's own suite, and then goes to a page that is not isolated.
 *
 * @module
 */

import type { Note } from "../harness.ts";

/** A test file to be run. */
export interface Job {
  readonly title: string;
  readonly url: string;
  /** How long it may take, in seconds. */
  readonly limit: number;
}

/** A message of the page: how a file ended, why it cannot go on, or the end. */
export type Said =
  | {
    readonly title: string;
    readonly notes: Note[];
    readonly output: string;
    readonly ending: string;
  }
  | { readonly failed: string }
  | { readonly end: true };

/** A message of the worker of a file. */
export type FromWorker =
  | { readonly ready: true }
  | { readonly note: Note }
  | { readonly output: string }
  | { readonly ended: true };

/** Sends `what`. */
export async function say(what: Said): Promise<void> {
  await fetch("/said", { method: "POST", body: JSON.stringify(what) });
}

/** The form in which a process ends, for the code that judges it. */
const endingOf = (notes: Note[]) =>
  notes.some((note) => "finished" in note && note.finished.failed === 0)
    ? "exit code 0"
    : "exit code 1";

/** Runs a file in a worker. */
function run({ title, url, limit }: Job): Promise<Said> {
  const notes: Note[] = [];
  let output = "";
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    type: "module",
  });
  return new Promise((resolve) => {
    const end = (ending: string) => {
      clearTimeout(timer);
      worker.terminate();
      resolve({ title, notes, output, ending });
    };
    const timer = setTimeout(end, limit * 1000, `terminated after ${limit} s`);
    worker.onerror = ({ message }) => end(message || "it does not load");
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if ("ready" in data) worker.postMessage(url);
      else if ("note" in data) notes.push(data.note);
      else if ("output" in data) output += `${data.output}\n`;
      else end(endingOf(notes));
    };
  });
}

/** Runs the suite of the module `load` gets on this page. */
export async function runHere(
  title: string,
  load: () => Promise<unknown>,
): Promise<void> {
  const notes: Note[] = [];
  const lines: string[] = [];
  console.log = console.error = (...words) => {
    lines.push(words.map((word) => word?.stack ?? `${word}`).join(" "));
  };
  // Only now, because uvu keeps the console that it finds when it loads.
  const { runAll, runFor } = await import("../harness.ts");
  runFor((note) => notes.push(note));
  await load();
  await runAll();
  const output = lines.join("\n");
  await say({ title, notes, output, ending: endingOf(notes) });
}

async function main() {
  if (!crossOriginIsolated) throw new Error("the page is not isolated");
  const jobs: Job[] = await (await fetch("/jobs")).json();
  for (const job of jobs) await say(await run(job));
  await runHere("page", () => import("./page_suite.ts"));
  location.href = "/plain";
}

if (location.pathname === "/") {
  main().catch((error) => say({ failed: `${error.stack}` }));
}
