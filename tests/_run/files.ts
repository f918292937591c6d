/**
 * The test programs, found by the names of folders and files.
 *
 * A test file lies in a folder of `tests/` and is named `*_test.ts`, or
 * `unit.ts`, `threads.ts` or `twin.ts`, or begins with one of these words and a
 * `_`. Programs in `_run/parts` test any folder that has what they need, such
 * as `scenarios.ts`. Comments in the first lines of a program say
 *
 * ```text
 * // limit: 1800 s          how long the file may take, instead of 900 s
 * // about: mutex, event    which folders it also tests, on any lines
 * // also: node             that it runs under Node and Bun as well
 * // also: node, browsers   and in a worker of a page
 * // it waits               that it uses little of a processor
 * // it explores            in one process with others of its folder
 * // it is long             that it runs by name, or with `--all`
 * ```
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { folders, has, TESTS } from "./folders.ts";
import { LIMIT_SECONDS } from "./process.ts";

const COMPILER = fileURLToPath(new URL("../../wasm/emcc.ts", import.meta.url));
/** Keeps the library from telling the race tester about itself. */
const SILENT = fileURLToPath(new URL("./weft.ts", import.meta.url));
const PARTS = fileURLToPath(new URL("./parts", import.meta.url));

/** A test program. */
export interface File {
  path: string;
  /** What it is called: its folder, and its part of what is tested there. */
  name: string;
  /** The folder that a program of `_run/parts` is to test, or "". */
  folder: string;
  /** The folders that it tests. */
  about: ReadonlySet<string>;
  /** How long it may take, in seconds. */
  limit: number;
  /** Where it runs, beside Deno. */
  also: ReadonlySet<string>;
  /** Whether its threads and processes sleep most of the time. */
  waits: boolean;
  /**
   * The name of the process that it shares with others, or "". It is not the
   * same for those that keep the library from telling the race tester about
   * itself.
   */
  shares: string;
  /** Whether it takes long by its nature. */
  long: boolean;
  /** Whether it compiles C. */
  needsCompiler: boolean;
}

/** The names of test files. */
const TEST = /^((unit|threads|twin)(_\w+)?|\w+_test)\.ts$/;

/** Which folders a program of `_run/parts` tests. */
const NEEDS: Readonly<Record<string, (folder: string) => boolean>> = {
  "scenarios.ts": (folder) => has(folder, "scenarios.ts"),
  // The modules of agents of C are compiled without WEFT_NAMED_AGENTS.
  "scenarios_c.ts": (folder) =>
    has(folder, "scenarios.ts") && folder !== "deadlocks",
  "mutants.ts": (folder) => has(folder, "mutants.ts"),
  "mutants_c.ts": (folder) => has(folder, "mutants.ts"),
  "native.ts": (folder) => has(folder, "native.c"),
  "page.ts": (folder) => has(folder, `../../docs/primitives/${folder}.md`),
};

/** The names that test programs are found by. */
export const NAMES: readonly string[] = ["_run", ...folders(), "examples"];

/** All test programs, by folder. */
function all(): File[] {
  return ["_run", ...folders()].flatMap((folder) => [
    ...fs.readdirSync(path.join(TESTS, folder)).sort()
      .filter((name) => TEST.test(name))
      .map((name) => fileOf(path.join(TESTS, folder, name), folder)),
    ...Object.keys(NEEDS)
      .filter((part) => folder !== "_run" && NEEDS[part]!(folder))
      .map((part) => fileOf(path.join(PARTS, part), folder, folder)),
  ]);
}

/** The test programs of a folder, or those whose names contain `name`. */
export function find(name: string): File[] {
  const files = all();
  const about = files.filter((file) => file.about.has(name));
  return about.length > 0
    ? about
    : files.filter((file) => file.name.includes(name));
}

function fileOf(file: string, shown: string, folder = ""): File {
  const head = fs.readFileSync(file, "utf8").split("\n", 10).join("\n");
  const wrong = wrongIn(head);
  if (wrong !== undefined) throw new Error(`${file}: ${wrong}`);
  const limit = head.match(/^\/\/ limit: (\d+) s$/m)?.[1];
  const imported = imports(file);
  const apart = imported.has(SILENT) ? "silent" : "telling";
  return {
    path: file,
    name: `${shown}/${path.basename(file, ".ts").replace(/_test$/, "")}`,
    folder,
    about: new Set([shown, ...foldersNamed(head)]),
    limit: limit ? Number(limit) : LIMIT_SECONDS,
    also: new Set(head.match(/^\/\/ also: (.+)$/m)?.[1]?.split(", ")),
    waits: /^\/\/ it waits$/m.test(head),
    shares: /^\/\/ it explores$/m.test(head) ? `${shown}, ${apart}` : "",
    long: /^\/\/ it is long$/m.test(head),
    needsCompiler: imported.has(COMPILER),
  };
}

/**
 * What is wrong with the comments that begin a program, such as two that became
 * one line; it would silently not run somewhere.
 */
export function wrongIn(head: string): string | undefined {
  for (const line of head.split("\n")) {
    if (!SAYS.test(line) || RIGHT.test(line)) continue;
    return `what does "${line}" say?`;
  }
  const named = foldersNamed(head).find((name) => !folders().includes(name));
  return named === undefined ? undefined : `it is about no folder "${named}"`;
}

/** A line of comment with the words that are looked for, and a right one. */
const SAYS = /^\/\/ .*(\b(about|also|limit): |\bit (waits|explores|is long)\b)/;
const RIGHT = RegExp(
  "^// (about: \\w+(, \\w+)*|also: (node|browsers)(, browsers)?|" +
    "limit: \\d+ s|it (waits|explores|is long))$",
);

/** The folders that a program says it is about. */
const foldersNamed = (head: string): string[] =>
  [...head.matchAll(/^\/\/ about: (.+)$/gm)]
    .flatMap(([, names]) => names!.split(", "));

/** All modules of this project that `file` imports, and what those import. */
function imports(file: string, all = new Set<string>()): Set<string> {
  if (all.has(file)) return all;
  all.add(file);
  for (const other of named(file)) imports(other, all);
  return all;
}

/** What each module names, for all that import it; a missing one: nothing. */
const known = new Map<string, readonly string[]>();

function named(file: string): readonly string[] {
  let files = known.get(file);
  if (files === undefined) {
    const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
    files = [...text.matchAll(/ from "(\.[^"]+)"/g)]
      .map(([, reference]) => path.resolve(path.dirname(file), reference!));
    known.set(file, files);
  }
  return files;
}
