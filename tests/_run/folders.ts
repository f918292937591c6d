/**
 * Finds the folders of `tests/`. A folder has the name of a file of
 * `primitives/`, and the tests of that file lie there, in files with fixed
 * names. No list names the folders.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { complain } from "./usage.ts";

/** The folder of the tests. */
export const TESTS: string = fileURLToPath(new URL("..", import.meta.url));

/** The folders of the tests but for this one. */
export function folders(): string[] {
  return fs.readdirSync(TESTS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "_run")
    .map(({ name }) => name)
    .sort();
}

/** Whether `folder` has a file named `file`. */
export const has = (folder: string, file: string): boolean =>
  fs.existsSync(path.join(TESTS, folder, file));

/** The folders that have a file named `file`. */
export const foldersWith = (file: string): string[] =>
  folders().filter((folder) => has(folder, file));

/** Whether the primitive of `folder` also exists in C. */
export const isTwin = (folder: string): boolean =>
  !folder.startsWith("_") &&
  fs.existsSync(path.join(TESTS, "../wasm/weft", `${folder}.h`));

/**
 * Whether agents of C can play its scenarios: of a pool, C has the workers, but
 * not the agent that submits.
 */
export const isPlayedInC = (folder: string): boolean =>
  isTwin(folder) && has(folder, "kind.ts");

/** Imports the module `file` of `folder`. */
export async function load<T>(folder: string, file: string): Promise<T> {
  const url = pathToFileURL(path.join(TESTS, folder, file));
  return await import(url.href) as T;
}

/**
 * The folder that a program of `_run/parts` is to test: the query of its URL,
 * or the last argument of the process.
 */
export const thisFolder = (url: string): string =>
  new URL(url).search.slice(1) || process.argv.at(-1)!;

/** Ends the process with one line: no scenario or mutant is named like that. */
export function complainOf(filter: string): never {
  const names = foldersWith("scenarios.ts").join(", ");
  complain(`no name contains "${filter}"; names begin with one of ${names}`);
}
