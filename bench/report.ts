/**
 * Writes docs/benchmarks.md, the README's chart and the figures in other pages
 * from the results in docs/bench: `deno run -A bench/report.ts`. `deno task
 * bench --write` does it, too.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import process from "node:process";
import { chart } from "./chart.ts";
import { disturbed, reached, type Row } from "./contest.ts";
import { noteOn, NOTES } from "./notes.ts";
import { pages } from "./pages.ts";
import {
  figureOf,
  FOLDER,
  type Group,
  mark,
  NAMES,
  read,
  targetOf,
  verdict,
} from "./results.ts";
import { changedSince } from "./sources.ts";

const PAGE = new URL("../docs/benchmarks.md", import.meta.url);
const CHART = new URL("../docs/figures.svg", import.meta.url);

const escaped = (text: string) => text.replaceAll("|", "\\|");

const line = (cells: readonly string[]) =>
  `| ${cells.map(escaped).join(" | ")} |`;

function table(heads: readonly string[], rows: readonly string[][]): string {
  const bars = heads.map(() => "---").join(" | ");
  return [line(heads), `| ${bars} |`, ...rows.map(line)].join("\n");
}

/** `yes` or `no` in front of a figure that has a target. */
function cell(row: Row | undefined): string {
  if (row === undefined) return "";
  const word = verdict(row);
  return (word && `${word}: `) + figureOf(row);
}

/** The rows of all runtimes, in the order in which they first come. */
function names({ runs }: Group): string[] {
  const all = Object.values(runs).flatMap(({ rows }) => rows);
  return [...new Set(all.map(({ name }) => name))];
}

/** The tables of a group, by their titles: that of the first one is empty. */
function parts(group: Group): Map<string, string[]> {
  const rows = Object.values(group.runs).flatMap(({ rows }) => rows);
  return Map.groupBy(
    names(group),
    (name) => rows.find((row) => row.name === name)?.part ?? "",
  );
}

function section(group: Group): string {
  const runtimes = Object.keys(group.runs);
  const find = (runtime: string, name: string) =>
    group.runs[runtime]!.rows.find((row) => row.name === name);
  const row = (name: string) => {
    const found = runtimes.map((runtime) => find(runtime, name));
    const from = runtimes.flatMap((runtime, k) =>
      found[k] === undefined ? [] : [`${runtime}: ${found[k].from}`]
    );
    const target = found.find((row) => row?.target !== undefined);
    const aim = target === undefined ? "" : targetOf(target);
    return [name, aim, ...found.map(cell), from.join("; ")];
  };
  const notes = runtimes.map((runtime) => {
    const { date, commit, old } = group.runs[runtime]!;
    return `${runtime}: ${date}` + (commit && `, commit ${commit}`) +
      (old ? ", **older than the code**" : "");
  });
  const heads = ["what", "target", ...runtimes, "medians"];
  const bounds = boundsOf(group);
  const tables = [...parts(group)].flatMap(([title, names]) => [
    ...title === "" ? [] : [`### ${title}`],
    table(heads, names.map(row)),
  ]);
  return [
    `## ${group.name}`,
    ...tables,
    ...bounds.length > 0 ? [`What bounds these figures:`, bounds] : [],
    notes.join("; "),
  ].join("\n\n");
}

/** The findings about a group, and the rows that they are about. */
function boundsOf(group: Group): string {
  const all = names(group);
  return NOTES.filter((note) => note.group === group.name).flatMap((note) => {
    const about = all.filter((name) => noteOn(group.name, name) === note);
    const [first, ...more] = about;
    if (first === undefined) return [];
    const others = more.length > 0 ? ` (and ${more.length} more)` : "";
    return [`- *${first}*${others}: ${note.text}`];
  }).join("\n");
}

/** A section for each group, measured or not. */
function sections(groups: readonly Group[]): string[] {
  return NAMES.map((name) => {
    const group = groups.find((it) => it.name === name);
    if (group !== undefined) return section(group);
    return `## ${name}\n\nNot measured yet: \`deno task bench ${name} --write\`.`;
  });
}

/** What missed its target, and what could not be measured well. */
function missed(groups: readonly Group[]): string {
  const all = groups.flatMap(({ name, runs }) =>
    Object.entries(runs).flatMap(([runtime, { rows }]) =>
      rows.map((row) => ({ name, runtime, row }))
    )
  );
  const aimed = all.filter(({ row }) => row.target !== undefined);
  const not = aimed.filter(({ row }) => reached(row) === false);
  const unsure = all.filter(({ row }) => disturbed(row)).length;
  const open = not.filter(({ name, row }) => !noteOn(name, row.name))
    .map(({ name }) => name);
  const unexplained = open.length === 0
    ? ""
    : ` Nothing is written yet about ${open.length} of them, in ${
      [...new Set(open)].join(", ")
    }.`;
  const rows = not.map(({ name, runtime, row }) => [
    `[${name}](#${name})`,
    row.name,
    runtime,
    figureOf(row) + (disturbed(row) ? " ?" : ""),
    targetOf(row),
  ]);
  return `${
    aimed.length - not.length
  } of ${aimed.length} figures that have a ` +
    `target reach it. Of all ${all.length} figures, ${unsure} come from turns ` +
    `that other programs disturbed; they have a question mark. Below the ` +
    `table of each group, the page says what bounds the figures that missed ` +
    `their target. Times in these texts come from profiles and other runs, ` +
    `on two cores of a Xeon or of an EPYC.${unexplained}\n\n` +
    table(["group", "what", "runtime", "figure", "target"], rows);
}

/** The machines and versions, each once. */
function places(groups: readonly Group[]): string {
  const runs = groups.flatMap(({ runs }) => Object.values(runs));
  const all = runs.map(({ machine, versions }) =>
    `- ${machine}; ` +
    Object.entries(versions).map((pair) => pair.join(" ")).join(", ")
  );
  return [...new Set(all)].join("\n");
}

/** The page, as `deno fmt` leaves it. */
export function page(groups: readonly Group[]): string {
  const text = `# Benchmarks

\`deno task bench --write\` writes this page from the results in \`docs/bench\`.

Most figures are ratios. The rivals took turns, one after the other, and a ratio
is that of their medians. The numbers in brackets are the smallest and the
largest ratio of a round, in which each rival took one turn; there are five
rounds unless the text says otherwise. Turns during which other programs were
busy do not count. If too few turns were quiet, the text says so, and the
verdict has a question mark. Below each table stand the day and the commit of
its figures, and whether the code has changed since then. In the groups kernel and mutex, rivals of one thread
each take 25 turns of a millisecond in a round, and the ratio is the median of
those between neighbouring turns. Times have a meaning only beside the others of
their row, as they depend on the machine. An empty cell means that the row was
not measured in that runtime, or has no target. [Scaling](scaling.md) says what
limits each primitive on more cores than these.

All round trips have the same floor: a bare \`Atomics.wait\` and \`notify\` each
way. How long it takes depends on whether the system puts both threads on one
core; its spread shows that. A ratio far below 1 means that the agents of Weft
did not sleep, because each looks for its answer for some microseconds first.

${places(groups)}

## What misses its target

${missed(groups)}

${sections(groups).join("\n\n")}
`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["fmt", "--ext", "md", "-"],
    { input: text, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Notes which figures are old, and writes the pages and the chart. */
export async function write(): Promise<void> {
  await mark(async (name, run) => (await changedSince(name, run)).length > 0);
  const groups = read(FOLDER);
  fs.writeFileSync(PAGE, page(groups));
  fs.writeFileSync(CHART, chart(groups));
  for (const [file, text] of pages(groups)) fs.writeFileSync(file, text);
}

if (import.meta.main) await write();
