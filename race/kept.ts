/**
 * Failures that are kept in a file, so that they are run again first.
 *
 * @module
 */
import { realNow } from "./engine/platform/native.ts";
import { keyOf, show } from "./engine/values.ts";
import { checkProgram } from "./options.ts";
import type { Failure } from "./report/result.ts";

/** What is done with files, where the runtime has a process. */
interface Files {
  existsSync(path: string): boolean;
  readFileSync(path: string, encoding: "utf8"): string;
  realpathSync(path: string): string;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options: { readonly force: boolean }): void;
  writeFileSync(
    path: string,
    text: string,
    options?: { readonly flag: "wx" },
  ): void;
}

/** The globals of such a runtime. */
interface Globals {
  readonly process?: { getBuiltinModule?(name: "node:fs"): Files };
}

function files(): Files {
  const { process } = globalThis as unknown as Globals;
  const found = process?.getBuiltinModule?.("node:fs");
  if (found !== undefined) return found;
  throw new TypeError(
    'The option "failures" needs a runtime that has files: Deno, Node or Bun',
  );
}

/** A failure in the file. */
export interface Kept {
  readonly kind: string;
  readonly program: Failure["program"];
  /** How many calls of agent 0 run alone, at the beginning and at the end. */
  readonly begin: number;
  readonly end: number;
  readonly schedule: string;
}

/**
 * The failures in a file, the newest first; none if there is no such file.
 * `operations` are the names that calls may have.
 */
export function keptIn(
  file: string,
  operations: ReadonlySet<string>,
): readonly Kept[] {
  const { existsSync } = files();
  try {
    return existsSync(file) ? read(file, operations) : [];
  } catch (error) {
    throw new TypeError(
      `Cannot run the failures in ${file} again: ` +
        `${(error as Error).message}. Delete what is no longer of use`,
      { cause: error },
    );
  }
}

/** The failures in a file, if they are some. */
function read(file: string, operations: ReadonlySet<string>): Kept[] {
  const all = JSON.parse(files().readFileSync(file, "utf8"));
  if (!Array.isArray(all)) throw new TypeError("it has no list of failures");
  for (const one of all) {
    const { program, schedule, begin, end } = one ?? {};
    if (!Array.isArray(program)) {
      throw new TypeError("a failure needs a program");
    }
    checkProgram(program);
    const unknown = program.flat().find(([op]) => !operations.has(op));
    if (unknown !== undefined) {
      throw new TypeError(
        `the specification has no operation ${show(unknown[0])}`,
      );
    }
    if (typeof schedule !== "string" || !isCount(begin) || !isCount(end)) {
      throw new TypeError("a failure needs a schedule, begin and end");
    }
  }
  return all;
}

const isCount = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0;

/**
 * Adds a failure at the top of a file, unless it is there. Returns what became
 * of it, in words.
 */
export function keep(file: string, failure: Kept): string {
  const line = lineOf(failure);
  if (line === undefined) {
    return `not kept in ${file}, because an argument is not JSON`;
  }
  try {
    add(file, line);
  } catch (error) {
    // What failed is worth more than the file.
    return `not kept in ${file}: ${(error as Error).message}`;
  }
  return `kept in ${file}`;
}

/** Milliseconds after which nobody is at work any more on a file. */
const LONGEST = 2000;

/**
 * Adds a line to the list in a file. Another process may do so, too: the new
 * file is made beside the old one, which one process can do at a time, and
 * takes its place at once.
 */
function add(file: string, line: string): void {
  const fs = files();
  const path = fs.existsSync(file) ? fs.realpathSync(file) : file;
  const fresh = `${path}.new`;
  let mine = make(fresh);
  try {
    const all: unknown[] = fs.existsSync(path)
      ? JSON.parse(fs.readFileSync(path, "utf8"))
      : [];
    const lines = all.map((one) => JSON.stringify(one));
    if (lines.includes(line)) return;
    const text = `[\n${[line, ...lines].join(",\n")}\n]\n`;
    fs.writeFileSync(mine ? fresh : path, text);
    if (mine) fs.renameSync(fresh, path);
    mine = false; // one of that name is by now another process's
  } finally {
    if (mine) fs.rmSync(fresh, { force: true });
  }
}

/**
 * Makes an empty file, once no other process has made it. False if this process
 * must not, as one of Deno that may write the file of failures alone.
 */
function make(fresh: string): boolean {
  const end = realNow() + LONGEST;
  for (;;) {
    try {
      files().writeFileSync(fresh, "", { flag: "wx" });
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST") return false;
      // Whoever made it was terminated.
      if (realNow() > end) return true;
    }
  }
}

/** The failure on one line; undefined if it is not what JSON can hold. */
function lineOf(failure: Kept): string | undefined {
  try {
    const line = JSON.stringify(failure);
    return keyOf(JSON.parse(line)) === keyOf(failure) ? line : undefined;
  } catch {
    return undefined; // an integer of any size, or an object within itself
  }
}
