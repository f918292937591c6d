/**
 * Prints the page of results: `deno run -A bench/report.ts FILE.json >
 * docs/benchmarks.md`, from what `deno task bench --json FILE.json` wrote.
 *
 * @module
 */

import * as fs from "node:fs";
import process from "node:process";
import { show } from "./contest.ts";
import { type Results, targetOf, verdict } from "./run.ts";

const file = process.argv[2];
if (file === undefined) {
  console.error("bench/report.ts needs a file of results");
  process.exit(2);
}
const { date, command, machine, versions, groups }: Results = JSON.parse(
  fs.readFileSync(file, "utf8"),
);

const escaped = (text: string) => text.replaceAll("|", "\\|");

console.log(`# Benchmarks

The figures are ratios within one run. Each is computed from medians of turns
that the rivals took one after the other. Turns during which other programs were
busy do not count. If too few turns were quiet, the table says so, and the
verdict has a question mark: run that benchmark again. Times are from this
machine, and only have a meaning beside each other.

- Machine: ${machine}
- Versions: ${Object.entries(versions).map((pair) => pair.join(" ")).join(", ")}
- Date: ${date}
- Command: \`${command}\`

\`bench/report.ts\` writes this page from the JSON of a run.`);
for (const { name, rows } of groups) {
  console.log(`\n## ${name}\n
| what | figure | target | reached | from |
| --- | ---: | --- | --- | --- |`);
  for (const row of rows) {
    const figure = `${show(row.figure)} ${row.unit}`;
    const cells = [row.name, figure, targetOf(row), verdict(row), row.from];
    console.log(`| ${cells.map(escaped).join(" | ")} |`);
  }
}
