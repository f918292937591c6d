/**
 * Measures, and says which targets are reached: `deno task bench [NAME ...]
 * [--json FILE]`. A NAME is the stem of a `bench/*_bench.ts`; without names,
 * all of them run.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import process from "node:process";
import { disturbed, reached, type Row, show } from "./contest.ts";

/** The results that a run writes and `report.ts` reads. */
export interface Results {
  readonly date: string;
  readonly command: string;
  readonly machine: string;
  readonly versions: Record<string, string>;
  readonly groups: { readonly name: string; readonly rows: Row[] }[];
}

const FOLDER = new URL("./", import.meta.url);

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

/** The versions that the figures depend on. */
export function versions(): Record<string, string> {
  const gcc = firstLine("gcc", ["--version"]);
  return {
    Deno: Deno.version.deno,
    V8: Deno.version.v8,
    ...gcc === undefined ? {} : { gcc: gcc.match(/\d+\.\d+\.\d+/)?.[0] ?? gcc },
  };
}

/** The first line that a program prints, if it can be run. */
export function firstLine(program: string, args: string[]): string | undefined {
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
    `${os.type()} ${os.arch()}`;
}

const USAGE = `usage: deno task bench [NAME ...] [--json FILE]
Runs the benchmarks, or those of bench/*_bench.ts that are named, and says which
targets are reached; --json writes the results to FILE.`;

async function main(args: string[]) {
  if (args.includes("--help")) return console.log(USAGE);
  const at = args.indexOf("--json");
  const file = at < 0 ? undefined : args.splice(at, 2)[1];
  if (at >= 0 && file === undefined) return fail("--json needs a file");
  const all = fs.readdirSync(FOLDER).filter((name) => /_bench\.ts$/.test(name))
    .map((name) => name.replace("_bench.ts", "")).sort();
  const unknown = args.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    return fail(`no bench "${unknown}"; there are ${all.join(", ")}`);
  }
  const results: Results = {
    date: new Date().toISOString().slice(0, 10),
    command: ["deno task bench", ...args].join(" "),
    machine: machine(),
    versions: versions(),
    groups: [],
  };
  console.log(results.machine);
  console.log(
    Object.entries(results.versions).map((pair) => pair.join(" ")).join(", "),
  );
  let missed = 0;
  for (const name of args.length > 0 ? args : all) {
    const url = new URL(`${name}_bench.ts`, FOLDER).href;
    const { rows } = await import(url) as { rows(): Promise<Row[]> };
    console.log(`\n${name}`);
    const group = { name, rows: await rows() };
    results.groups.push(group);
    for (const row of group.rows) {
      const { figure, unit, from } = row;
      if (reached(row) === false) missed++;
      const mark = verdict(row).padEnd(6);
      const wanted = targetOf(row) && ` (${targetOf(row)})`;
      console.log(`${mark}${row.name}: ${show(figure)} ${unit}${wanted}`);
      console.log(`      ${from}`);
    }
  }
  if (file !== undefined) {
    fs.writeFileSync(file, JSON.stringify(results, null, 2) + "\n");
  }
  console.log(`\n${missed} target${missed === 1 ? "" : "s"} missed`);
  process.exit(0);
}

function fail(message: string) {
  console.error(message);
  process.exit(2);
}

if (import.meta.main) await main(process.argv.slice(2));
