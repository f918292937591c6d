/**
 * Failures that are kept in a file, so that they are run again first.
 *
 * @module
 */
import { keyOf, show } from "./engine/values.ts";
import { checkProgram } from "./options.ts";
import type { Failure } from "./report/result.ts";

/** What is done with files, where the runtime has a process. */
interface Files {
  existsSync(path: string): boolean;
  readFileSync(path: string, encoding: "utf8"): string;
  writeFileSync(path: string, text: string): void;
}

/** The globals of such a runtime. */
interface Globals {
  readonly process: { getBuiltinModule(name: "node:fs"): Files };
}

const files = (): Files =>
  (globalThis as unknown as Globals).process.getBuiltinModule("node:fs");

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
  if (!files().existsSync(file)) return [];
  const text = files().readFileSync(file, "utf8");
  try {
    const all = JSON.parse(text) as Kept[];
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
  } catch (error) {
    throw new TypeError(
      `Cannot run the failures in ${file} again: ` +
        `${(error as Error).message}. Delete what is no longer of use`,
      { cause: error },
    );
  }
}

const isCount = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0;

/**
 * Adds a failure at the top of a file, unless it is there. Returns what became
 * of it, in words.
 */
export function keep(
  file: string,
  failure: Kept,
  kept: readonly Kept[],
): string {
  const line = lineOf(failure);
  if (line === undefined) {
    return `not kept in ${file}, because an argument is not JSON`;
  }
  const lines = kept.map((other) => JSON.stringify(other));
  if (lines.includes(line)) return `kept in ${file}`;
  try {
    files().writeFileSync(file, `[\n${[line, ...lines].join(",\n")}\n]\n`);
  } catch (error) {
    // What failed is worth more than the file.
    return `not kept in ${file}: ${(error as Error).message}`;
  }
  return `kept in ${file}`;
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
