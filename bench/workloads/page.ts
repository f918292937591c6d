/**
 * Writes `docs/workloads.md` from the figures. Only the studies' own numbers
 * are typed by hand.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import process from "node:process";
import { WORKLOADS } from "./all.ts";
import { story } from "./story.ts";
import { detailsOf, tableOf } from "./text.ts";
import type { Results, Table } from "./workload.ts";

const INTRODUCTION = `# Workloads

Two published studies measured what stops workers and threads: this page runs
their programs on Weft's primitives, beside the studies' own methods and the
packages that people use today.
`;

const ORIGIN = `
One study hashes messages with Node's threads, and builds the parts of a pool of
workers by hand: shared memory, a counter, slots with a lock. The other finds two
places where threads in WebAssembly stop to scale: allocators, and files.

\`deno task workloads [NAME]\` measures, and writes the figures, the charts and
this page. Figures marked as cited are from the studies and their machines. All
other figures come from the files in [workloads](workloads/). In the charts, the
names of Weft's ways are blue and bold.
`;

function pictureOf({ id, title }: Table): string {
  return `<picture>
  <source media="(prefers-color-scheme: dark)" srcset="workloads/${id}-dark.svg">
  <img alt="${title}" src="workloads/${id}-light.svg">
</picture>`;
}

function sectionOf(results: Results): string {
  const { name, title, date, command, machine, versions, tables } = results;
  const named = Object.entries(versions).map((pair) => pair.join(" "));
  const shown = tables.map((table) => {
    const details = detailsOf(table);
    return [pictureOf(table), tableOf(table), ...details ? [details] : []]
      .join("\n\n");
  });
  return `## ${title}

${story(results)}

${shown.join("\n\n")}

- Machine: ${machine}
- Versions: ${named.join(", ")}
- Date: ${date}
- Command: \`${command}\`
- Figures: [${name}.json](workloads/${name}.json)
`;
}

/** A row of a table of targets. */
const TARGET =
  /^\| .+? \|\s*([\d.,]+) \| (at most|at least) ([\d.]+)\s*\| (yes|no)\s*\|$/gm;

/**
 * How many targets each section has and reaches, and how far the others get.
 */
function summaryOf(sections: readonly string[]): string {
  let reached = 0;
  let all = 0;
  const rows = sections.flatMap((text) => {
    const [, title] = /^## (.*)$/m.exec(text)!;
    const targets = [...text.matchAll(TARGET)];
    if (targets.length === 0) return [];
    const missed = targets.filter(([, , , , met]) => met === "no")
      .map(([, figure, way, wanted]) => {
        const part = Number(figure!.replaceAll(",", "")) / Number(wanted);
        return Math.round(100 * (way === "at most" ? 1 / part : part));
      });
    const met = targets.length - missed.length;
    reached += met;
    all += targets.length;
    const ends = [...new Set([Math.min(...missed), Math.max(...missed)])];
    const rest = missed.length === 0 ? "" : `${ends.join(" to ")} %`;
    const place = title!.toLowerCase().replaceAll(/[^\w ]/g, "")
      .replaceAll(" ", "-");
    return `| [${title}](#${place}) | ${targets.length} | ${met} | ${rest} |`;
  });
  return `## In short

Each section lists what was wanted and what was reached. Of ${all} targets,
${reached} are reached:

| section | targets | reached | what the others reach of their targets |
| --- | ---: | ---: | ---: |
${rows.join("\n")}

The other sections have no targets. An empty cell of a table means that the
program did not finish, or that its way of working has no such figure.
`;
}

/** The page, from the figures in a folder. */
export function pageFrom(folder: URL): string {
  const sections = WORKLOADS.flatMap(({ name }) => {
    const file = new URL(`${name}.json`, folder);
    if (!fs.existsSync(file)) return [];
    return [sectionOf(JSON.parse(fs.readFileSync(file, "utf8")))];
  });
  const input = [INTRODUCTION, summaryOf(sections), ORIGIN, ...sections].join(
    "\n",
  );
  const words = ["fmt", "--ext", "md", "-"];
  return execFileSync(process.execPath, words, { input, encoding: "utf8" });
}

/** Writes the page beside the folder of figures. */
export function write(folder: URL): void {
  fs.writeFileSync(new URL("../workloads.md", folder), pageFrom(folder));
}
