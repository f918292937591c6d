/**
 * Suites of tests that others wrote, and what came out of each of their tests.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { BUILT, Pool, run } from "../native.ts";

/** The folder of our headers that stand in for those of others. */
export const SHIMS: string = fileURLToPath(
  new URL("./include", import.meta.url),
);

/** Seconds for a test: some sleep for several. */
const LIMIT = 60;

/**
 * How a test ended: `passed`, or `KIND: why`. What `cannot be said` is, or was
 * `not run`, is no failure.
 */
export type Verdict = string;

/** A test of a suite. */
export interface Case {
  /** Its name in the suite. */
  readonly name: string;
  /** Why nobody should run it by chance. */
  readonly dangerous?: string;
  /** Why it does not pass with Weft, as docs/conformance.md has it. */
  readonly unsaid?: string | undefined;
  /** Runs it on Weft, or on what it was written for. */
  run(on: "weft" | "theirs"): Promise<Verdict>;
}

/** A suite. */
export interface Suite {
  /** What it is, for users. */
  readonly title: string;
  /** A file or folder that only this suite has. */
  readonly mark: string;
  /** What it was written for. */
  readonly theirs: string;
  /** The tests of the suite in the folder `root`. */
  cases(root: string): Promise<Case[]> | Case[];
}

/** A program to compile. */
export interface Source {
  readonly compiler: string;
  readonly words: readonly string[];
  readonly files: readonly string[];
}

/** Compilers side by side; but only one test runs, as some look at a clock. */
const compilers = new Pool(2);
const clock = new Pool(1);
let programs = 0;

const places: string[] = [];
process.on("exit", () => {
  for (const place of places) {
    fs.rmSync(place, { recursive: true, force: true });
  }
});

/** Removes it when this process ends. */
export function removeAtEnd(place: string): string {
  places.push(place);
  return place;
}

/** The first error of what a compiler said, without the place. */
export function firstError(output: string): string {
  return output.match(/error: .*/)?.[0].replace(/ \[-f.*\]$/, "") ||
    lastLine(output) || "it does not link";
}

/** Compiles `source` alone; what the compiler said, or null if it went well. */
export async function refusal(source: Source): Promise<string | null> {
  const { code, output } = await compilers.run(() =>
    run(source.compiler, [
      ...[...source.words, "-fsyntax-only", ...source.files],
    ], 200)
  );
  return code === 0 ? null : output;
}

/** A program, or what the compiler said. */
export interface Compiled {
  readonly program?: string;
  readonly said: string;
}

/** Compiles and links `source`. */
export async function compile(source: Source): Promise<Compiled> {
  fs.mkdirSync(BUILT, { recursive: true });
  const name = `suite-${process.pid}-${programs++}`;
  const program = removeAtEnd(path.join(BUILT, name));
  const words = [...source.words, ...source.files, "-o", program];
  const { code, output } = await compilers.run(() =>
    run(source.compiler, words, 500)
  );
  return code === 0 ? { program, said: output } : { said: output };
}

/** Runs `program`; its exit code, and what it printed. */
export const runAlone = (program: string, words: readonly string[] = []) =>
  clock.run(() => run(program, words, LIMIT));

/** The last line that is not empty. */
const lastLine = (text: string): string =>
  text.trim().split("\n").at(-1)?.trim().slice(0, 200) ?? "";

/** How often a test runs that fails: some want to be awake within 50 ms. */
const RUNS = 4;

/** What a program says by its exit code: 0 is that all is well. */
export async function endOf(
  program: string,
  words: readonly string[] = [],
): Promise<Verdict> {
  let first = "";
  for (let runs = 1; runs <= RUNS; runs++) {
    const { code, output } = await runAlone(program, words);
    if (code === 0) return runs === 1 ? "passed" : `passed later: ${first}`;
    const why = lastLine(output);
    first ||= code === undefined
      ? `stopped, or never ended: ${why}`
      : `failed: exit code ${code}: ${why}`;
    if (/killed after/.test(why)) break; // it hangs
  }
  return first;
}

/** Verdicts that are no failure. */
const HARMLESS =
  /^(passed|passed later|cannot be said|not run|un(resolved|supported|tested))\b/;

/** What came out of a test. */
export interface Row {
  readonly name: string;
  readonly ours: Verdict;
  readonly theirs: Verdict;
}

/** Whether a test fails with Weft that passes without it. */
export const isOurs = ({ ours, theirs }: Row): boolean =>
  theirs.startsWith("passed") && !HARMLESS.test(ours);

/** Runs the tests; each row as soon as it and those before are there. */
export async function* rows(cases: readonly Case[]): AsyncGenerator<Row> {
  const lanes = new Pool(4);
  const all = cases.map((it) => lanes.run(() => rowOf(it)));
  for (const row of all) row.catch(() => {}); // it is thrown below
  for (const row of all) yield await row;
}

async function rowOf(test: Case): Promise<Row> {
  const { name, dangerous, unsaid } = test;
  if (dangerous !== undefined) {
    const not = `not run: ${dangerous}`;
    return { name, ours: not, theirs: not };
  }
  const found = await test.run("weft");
  const ours = unsaid !== undefined && found !== "passed"
    ? `cannot be said: ${unsaid}`
    : found;
  return { name, ours, theirs: await test.run("theirs") };
}

/** The kind of a verdict, without the reason. */
const kindOf = (verdict: Verdict): string => verdict.replace(/:.*/s, "");

/** How many tests ended in which way, with Weft and with theirs. */
export function summary(found: readonly Row[], theirs: string): string[] {
  const kinds = new Map<string, { ours: number; theirs: number }>();
  const count = (verdict: Verdict, whose: "ours" | "theirs") => {
    const kind = kindOf(verdict);
    const counts = kinds.get(kind) ?? { ours: 0, theirs: 0 };
    counts[whose]++;
    kinds.set(kind, counts);
  };
  for (const row of found) {
    count(row.ours, "ours");
    count(row.theirs, "theirs");
  }
  return [...kinds].map(([kind, counts]) =>
    `${kind}: ${counts.ours}; ${theirs}: ${counts.theirs}`
  );
}
