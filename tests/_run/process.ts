/**
 * Runs a test file in a process of its own, and judges how it ended.
 *
 * @module
 */

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundled } from "./bundle.ts";
import type { Counts, Note } from "./harness.ts";

/**
 * How many seconds a file may take unless it says otherwise. Only a hanging
 * file takes that long.
 */
export const LIMIT_SECONDS = 900;

/** The program that runs one file. */
export const CHILD: string = fileURLToPath(
  new URL("child.ts", import.meta.url),
);

/** The folder of this run's bundles for other platforms. */
export const BUNDLES: string = fileURLToPath(
  new URL(`../../.weft/bundles-${process.pid}`, import.meta.url),
);

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** How a test file ended. */
export interface Outcome extends Counts {
  /** How many tests were skipped, by the reason. */
  reasons: Readonly<Record<string, number>>;
  /** The number of scenarios of which `--all` explores more. */
  cut: number;
  /** Why there is no report of its own, or "". */
  problem: string;
  /** All it printed. */
  output: string;
  /** The seconds from its beginning to its end, if it has ended. */
  seconds?: number;
  /** The processor time that it used, in seconds, if its process has ended. */
  used?: number;
  /** Whether it was known, and nothing ran. */
  known?: boolean;
}

/**
 * Room for new objects. A search drops most of what it makes within a moment;
 * in little room, much of it would be copied first.
 */
const ROOM = "--v8-flags=--min-semi-space-size=32,--max-semi-space-size=64";

const alive = new Set<number>();

/** The program to run, and the most seconds it may take. */
export interface Program {
  readonly path: string;
  /** The folder that it is to test, if it can test several. */
  readonly folder?: string | undefined;
  /** The name of the process that it shares, if it does. */
  readonly shares?: string;
  readonly limit?: number;
}

/** Runs a test file under Deno, or its bundle by `command`, such as Node's. */
export async function runFile(
  program: Program,
  command?: readonly string[],
): Promise<Outcome> {
  return (await runFiles([program], command))[0]!;
}

/**
 * Runs test files one after the other in one process, which is warm for all but
 * the first.
 */
export async function runFiles(
  programs: readonly Program[],
  command?: readonly string[],
): Promise<Outcome[]> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-test-"));
  const report = path.join(folder, "report");
  fs.writeFileSync(report, "");
  const searches = programs.some(({ folder, shares }) => folder || shares);
  const words = command === undefined
    ? [process.execPath, "run", ...searches ? [ROOM] : [], "-A", CHILD]
    : [...command, bundled(CHILD, BUNDLES)];
  const files = programs.map(({ path, folder }): Program => ({
    path: command === undefined ? path : bundled(path, BUNDLES),
    folder,
  }));
  const { output, ending } = await start(
    [...words, JSON.stringify(files), report],
    programs.reduce((sum, { limit = LIMIT_SECONDS }) => sum + limit, 0),
  );
  const lines = fs.readFileSync(report, "utf8").trim().split("\n");
  fs.rmSync(folder, { recursive: true });
  const notes: Note[] = lines.filter(Boolean).map((line) => JSON.parse(line));
  const begun = notes.flatMap((note, i) => "begun" in note ? [i] : []);
  const right = endingOf(notes);
  return programs.map((_, i) => {
    const own = i < begun.length ? notes.slice(begun[i], begun[i + 1]) : [];
    const isLast = i + 1 >= begun.length;
    return { output, ...judge(own, isLast ? ending : right, right) };
  });
}

/** How a process ends that ran all its tests. */
function endingOf(notes: readonly Note[]): string {
  const failed = notes.some((it) => "finished" in it && it.finished.failed > 0);
  return `exit code ${failed ? 1 : 0}`;
}

/**
 * The result that follows from the `notes` of a file, and from the `ending` of
 * its process, which is `right` after tests that have finished.
 */
export function judge(
  notes: readonly Note[],
  ending: string,
  right: string = endingOf(notes),
): Omit<Outcome, "output"> {
  const reasons: Record<string, number> = {};
  let declared = 0, passed = 0, skipped = 0, cut = 0;
  let begun: number | undefined;
  const used = notes.find((note) => "used" in note)?.used;
  let last = "before its first test";
  for (const note of notes) {
    if ("begun" in note) begun = note.at;
    if ("declared" in note) declared = note.declared;
    if ("started" in note) last = `in "${note.started}"`;
    if ("passed" in note) passed++;
    if ("cut" in note) cut++;
    if ("skipped" in note) {
      skipped++;
      reasons[note.why] = (reasons[note.why] ?? 0) + 1;
    }
    if ("finished" in note) {
      const { failed } = note.finished;
      const own: Omit<Outcome, "output"> = {
        ...{ ...note.finished, cut, reasons, problem: "" },
        ...begun === undefined ? {} : { seconds: (note.at - begun) / 1000 },
        ...used === undefined ? {} : { used },
      };
      if (ending === right) return own;
      const problem = `${ending} after its tests`;
      return { ...own, failed: Math.max(failed, 1), problem };
    }
  }
  const failed = Math.max(declared - passed - skipped, 1);
  const problem = `${ending} ${last}`;
  return { passed, failed, skipped, cut, reasons, problem };
}

/** Without colours: tests compare what programs print. */
function plain(): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _, CLICOLOR_FORCE: __, ...env } = process.env;
  return { ...env, NO_COLOR: "1" };
}

/**
 * Runs a program in a process group of its own, and kills the group if it is
 * late.
 */
export function start(
  [program, ...args]: string[],
  limit: number,
): Promise<{ output: string; ending: string }> {
  return new Promise((resolve) => {
    let output = "", ending = "";
    const child = spawn(program!, args, {
      cwd: PROJECT,
      env: plain(),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const end = adopt(child.pid);
    const timer = setTimeout(() => {
      ending = `killed after ${limit} s`;
      end();
    }, limit * 1000);
    child.stdout.setEncoding("utf8");
    child.stderr.setEncoding("utf8");
    child.stdout.on("data", (text) => output += text);
    child.stderr.on("data", (text) => output += text);
    child.on("error", (error) => ending = error.message);
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      ending ||= signal ? `killed by ${signal}` : `exit code ${code}`;
      end(); // what it started holds its output open
    });
    child.on("close", () => resolve({ output, ending }));
  });
}

/**
 * Lets a process group end with this process; returns what ends it before.
 */
export function adopt(group: number | undefined): () => void {
  if (group) alive.add(group);
  return () => kill(group);
}

function kill(group: number | undefined) {
  if (!group) return;
  alive.delete(group);
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // None of its processes is left.
  }
}

/** Ends every process still running. */
export function killAll(): void {
  for (const group of alive) kill(group);
}
