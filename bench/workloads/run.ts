/**
 * Measures the workloads, and writes the figures, their charts and the page
 * about them: `deno task workloads [NAME ...]`; without names, all of them.
 * `deno task workloads --page` only draws and writes again.
 *
 * @module
 */

import * as fs from "node:fs";
import process from "node:process";
import { findCompiler } from "../../wasm/emcc.ts";
import { machine, versions } from "../results.ts";
import { drawAll } from "./charts.ts";
import { write } from "./page.ts";
import { tableOf } from "./text.ts";
import { WORKLOADS } from "./all.ts";
import type { Results, Workload } from "./workload.ts";

/** Where the figures and charts go. */
const FOLDER = new URL("../../docs/workloads/", import.meta.url);

async function measure(workload: Workload): Promise<Results> {
  const { name, title } = workload;
  const tables = await workload.measure({ tiny: false });
  return {
    name,
    title,
    date: new Date().toISOString().slice(0, 10),
    command: `deno task workloads ${name}`,
    machine: machine(),
    versions: {
      ...versions(),
      Emscripten: (await findCompiler()).version,
    },
    tables,
  };
}

const USAGE = `usage: deno task workloads [NAME ...] [--page]
Measures the workloads, or those that are named, and writes docs/workloads.md;
--page writes the page alone.`;

async function main(names: string[]) {
  if (names.includes("--help")) return console.log(USAGE);
  const only = names.includes("--page");
  const known = WORKLOADS.map(({ name }) => name);
  const unknown = names.find((name) =>
    name !== "--page" && !known.includes(name)
  );
  if (unknown !== undefined) {
    console.error(`no workload "${unknown}"; there are ${known.join(", ")}`);
    process.exit(2);
  }
  fs.mkdirSync(FOLDER, { recursive: true });
  for (const workload of WORKLOADS) {
    const file = new URL(`${workload.name}.json`, FOLDER);
    const wanted = names.length === 0 || names.includes(workload.name);
    if (wanted && !only) {
      const results = await measure(workload);
      fs.writeFileSync(file, JSON.stringify(results, null, 2) + "\n");
      for (const table of results.tables) console.log(tableOf(table));
    }
    if (!fs.existsSync(file) || !wanted && !only) continue;
    const results: Results = JSON.parse(fs.readFileSync(file, "utf8"));
    await drawAll(results.tables, FOLDER);
  }
  write(FOLDER);
  process.exit(0);
}

if (import.meta.main) await main(process.argv.slice(2));
