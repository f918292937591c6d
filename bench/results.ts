/**
 * The results of benchmarks as `docs/bench/NAME.json` holds them. Each group of
 * each runtime says itself when and where it was measured, so that groups can
 * be measured one by one.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { versionOf } from "../tests/_run/bun.ts";
import { disturbed, reached, type Row, show } from "./contest.ts";

/** One measurement of a group, in one runtime. */
export interface Measurement {
  /** When it began, as in `2026-11-22 14:05`; in UTC. */
  readonly date: string;
  /** The commit, with a `+` if files were changed since. */
  readonly commit: string;
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
  /** How long it took. */
  readonly seconds: number;
  /** A hash of each source file that decides about the figures. */
  readonly sources: Readonly<Record<string, string>>;
  /** Whether that code had changed when the page was last written. */
  readonly old?: true;
  readonly rows: readonly Row[];
}

/** All measurements of a group, by the runtime. */
export interface Group {
  readonly name: string;
  readonly runs: Readonly<Record<string, Measurement>>;
}

/** Where the results are that the page shows. */
export const FOLDER: URL = new URL("../docs/bench/", import.meta.url);

/** All groups: `bench/NAME_bench.ts`. */
export const NAMES: readonly string[] = fs.readdirSync(
  new URL("./", import.meta.url),
).filter((name) => name.endsWith("_bench.ts"))
  .map((name) => name.replace("_bench.ts", "")).sort();

/** The results in a folder, or in one file. */
export function read(place: URL | string): Group[] {
  if (!fs.existsSync(place)) return [];
  if (!fs.statSync(place).isDirectory()) return parse(place);
  const folder = place instanceof URL ? fileURLToPath(place) : place;
  return fs.readdirSync(folder).filter((name) => name.endsWith(".json")).sort()
    .flatMap((name) => parse(path.join(folder, name)));
}

/** The groups in a file: one of docs/bench, or one of `--json`. */
function parse(file: URL | string): Group[] {
  const groups = contentOf(file);
  for (const group of groups) {
    if (typeof group?.name !== "string" || typeof group.runs !== "object") {
      throw new TypeError(`${file} holds no results of a benchmark`);
    }
  }
  return groups;
}

function contentOf(file: URL | string): Group[] {
  try {
    return [JSON.parse(fs.readFileSync(file, "utf8"))].flat();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [{} as Group]; // no JSON at all
  }
}

/** Puts a measurement in its group's file, in place of the last one. */
export function put(name: string, runtime: string, run: Measurement): void {
  fs.mkdirSync(FOLDER, { recursive: true });
  const file = new URL(`${name}.json`, FOLDER);
  const runs = fs.existsSync(file) ? parse(file)[0]!.runs : {};
  const merged = Object.entries({ ...runs, [runtime]: run }).sort();
  save({ name, runs: Object.fromEntries(merged) });
}

function save(group: Group): void {
  const file = new URL(`${group.name}.json`, FOLDER);
  fs.writeFileSync(file, JSON.stringify(group, null, 2) + "\n");
}

/** Notes in each group's file which of its measurements are old. */
export async function mark(
  isOld: (name: string, run: Measurement) => Promise<boolean>,
): Promise<void> {
  for (const { name, runs } of read(FOLDER)) {
    const marked: Record<string, Measurement> = {};
    for (const [runtime, run] of Object.entries(runs)) {
      const { old: _, ...rest } = run;
      const old = await isOld(name, run);
      marked[runtime] = old ? { ...rest, old } : rest;
    }
    save({ name, runs: marked });
  }
}

/** As in `at least 1.4 x`. */
export function targetOf({ target, unit }: Row): string {
  if (target?.most !== undefined) return `at most ${target.most} ${unit}`;
  if (target?.least !== undefined) return `at least ${target.least} ${unit}`;
  return "";
}

/** `yes`, `no`, or nothing where there is no target; `?` says disturbed. */
export function verdict(row: Row): string {
  const met = reached(row);
  if (met === undefined) return "";
  return (met ? "yes" : "no") + (disturbed(row) ? " ?" : "");
}

/** As in `1.40 x (1.35 to 1.52)`. */
export function figureOf({ figure, unit, low, high }: Row): string {
  if (low === undefined || high === undefined) return `${show(figure)} ${unit}`;
  return `${show(figure)} ${unit} (${show(low)} to ${show(high)})`;
}

/** The versions that the figures depend on. */
export function versions(
  others: Readonly<Record<string, readonly string[] | undefined>> = {},
): Record<string, string> {
  const node = firstLine("node", ["--version"])?.replace("v", "");
  const gcc = firstLine("gcc", ["--version"]);
  return {
    Deno: Deno.version.deno,
    V8: Deno.version.v8,
    ...node === undefined ? {} : { Node: node },
    ...Object.fromEntries(
      Object.entries(others)
        .filter(([name]) => name !== "Deno" && name !== "Node")
        .map(([name, command]) => [name, versionOf(command ?? []) ?? "?"]),
    ),
    ...gcc === undefined ? {} : { gcc: gcc.match(/\d+\.\d+\.\d+/)?.[0] ?? gcc },
  };
}

/** The first line that a program prints, if it can be run. */
function firstLine(program: string, args: string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: "utf8" }).split("\n")[0];
  } catch {
    return undefined;
  }
}

/** As in `2 x some processor, 24 GiB, Linux x64`. */
export function machine(): string {
  const cpus = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  return `${cpus.length} x ${cpus[0]?.model.trim()}, ${memory} GiB, ` +
    `${os.type()} ${process.arch}`;
}

/** The commit, with a `+` if files were changed since; or `""`. */
export function commit(): string {
  const short = firstLine("git", ["rev-parse", "--short=10", "HEAD"]);
  if (short === undefined) return "";
  const changed = firstLine("git", ["status", "--porcelain", "-uno"]);
  return changed ? `${short}+` : short;
}
