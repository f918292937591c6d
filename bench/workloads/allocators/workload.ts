/**
 * Threads of C that compute, and that allocate.
 *
 * @module
 */

import * as fs from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { emcc, PTHREADS } from "../../../wasm/emcc.ts";
import { median } from "../../contest.ts";
import { ask, type Host } from "../processes.ts";
import {
  type Finding,
  optimization,
  type Scale,
  type Table,
  type Workload,
} from "../workload.ts";
import type { Job, Printed } from "./process.ts";

const PROGRAM = new URL("./process.ts", import.meta.url);

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The allocators of Emscripten. */
const MALLOCS = ["dlmalloc", "emmalloc", "mimalloc"] as const;

/** Compiles for an allocator; returns the path of the module. */
async function build(
  malloc: typeof MALLOCS[number],
  scale: Scale,
): Promise<string> {
  const out = fileOf(`../../../.weft/workloads/${malloc}.mjs`);
  await emcc({
    sources: [fileOf("./allocators.c")],
    args: [
      ...PTHREADS,
      optimization(scale),
      `-sMALLOC=${malloc}`,
      "-sINITIAL_MEMORY=256MB",
      "-sPTHREAD_POOL_SIZE=8",
    ],
    out,
  });
  return pathToFileURL(out).href;
}

/** A comparison: an allocator, and the job that threads do with it. */
type Way = Pick<Job, "what" | "script"> & { malloc: typeof MALLOCS[number] };

const CHURN: Readonly<Record<string, Way>> = {
  dlmalloc: { malloc: "dlmalloc", what: "malloc" },
  emmalloc: { malloc: "emmalloc", what: "malloc" },
  mimalloc: { malloc: "mimalloc", what: "malloc" },
  SlabPool: { malloc: "dlmalloc", what: "slab" },
};

const EXCHANGE: Readonly<Record<string, Way>> = {
  dlmalloc: { malloc: "dlmalloc", what: "exchange malloc" },
  emmalloc: { malloc: "emmalloc", what: "exchange malloc" },
  mimalloc: { malloc: "mimalloc", what: "exchange malloc" },
  SlabPool: { malloc: "dlmalloc", what: "exchange slab" },
  "SlabPool, JS frees": {
    malloc: "dlmalloc",
    what: "exchange slab",
    script: "frees",
  },
  "SlabPool, JS takes": {
    malloc: "dlmalloc",
    what: "exchange slab",
    script: "takes",
  },
};

const SUMS: Readonly<Record<string, Way>> = {
  "all threads": { malloc: "dlmalloc", what: "sums" },
};

interface Plan {
  readonly id: string;
  readonly title: string;
  readonly ways: Readonly<Record<string, Way>>;
  readonly threads: readonly number[];
  readonly total: number;
}

function plansOf({ tiny }: Scale): Plan[] {
  const some = tiny ? [1, 2] : [1, 2, 3, 4, 8];
  const even = tiny ? [2] : [2, 4, 8];
  return [
    {
      id: "sums",
      title: "Sums of 100 M steps",
      ways: SUMS,
      threads: some,
      total: tiny ? 1e4 : 1e8,
    },
    {
      id: "churn",
      title: "A million blocks freed and allocated by the same thread",
      ways: CHURN,
      threads: some,
      total: tiny ? 1e4 : 1e6,
    },
    {
      id: "exchange",
      title: "200,000 blocks freed by another thread",
      ways: EXCHANGE,
      threads: even,
      total: tiny ? 8000 : 2e5,
    },
  ];
}

async function measure(
  { ways, threads, total, ...names }: Plan,
  host: Host,
  scale: Scale,
): Promise<Table> {
  const rounds = scale.tiny ? 1 : 2;
  const findings: Finding[] = [];
  for (const [way, { malloc, ...what }] of Object.entries(ways)) {
    const module = await build(malloc, scale);
    const job: Job = { ...what, module, threads, total, rounds };
    const printed = await ask<Printed>(host, PROGRAM, job, 120);
    for (const count of threads) {
      const own = printed.filter(({ threads }) => threads === count);
      const ms = rounded(median(own.map(({ ms }) => ms)));
      const heap = rounded(own.at(-1)!.heap / 2 ** 20);
      findings.push({ way, threads: count, ms, heap });
    }
  }
  return {
    id: `${names.id}_${host.toLowerCase()}`,
    title: `${names.title}, ${host}`,
    of: "way",
    by: "threads",
    figure: "ms",
    unit: "ms",
    chart: "lines",
    logarithmic: names.id !== "sums",
    findings,
  };
}

const rounded = (figure: number) => Math.round(figure * 100) / 100;

/** The heap after each number of threads, in one process. */
function heapOf(table: Table, host: Host): Table {
  return {
    ...table,
    id: `heap_${host.toLowerCase()}`,
    title: `Heap after these blocks, ${host}`,
    figure: "heap",
    unit: "MiB",
    logarithmic: false,
    findings: table.findings.map(({ way, threads, heap }) => ({
      way: way!,
      threads: threads!,
      heap: heap!,
    })),
  };
}

/** How large the program's module is with each allocator. */
async function sizes(scale: Scale): Promise<Table> {
  const findings: Finding[] = [];
  for (const malloc of MALLOCS) {
    const module = fileURLToPath(await build(malloc, scale));
    const bytes = fs.readFileSync(module.replace(/\.mjs$/, ".wasm"));
    const kib = (length: number) => rounded(length / 1024);
    findings.push(
      { way: malloc, file: "module", size: kib(bytes.length) },
      { way: malloc, file: "by gzip", size: kib(gzipSync(bytes).length) },
    );
  }
  return {
    id: "modules",
    title: "The program by its allocator",
    of: "way",
    by: "file",
    figure: "size",
    unit: "KiB",
    chart: ["module", "by gzip"],
    findings,
  };
}

/** Threads that compute, and allocate. */
export const allocators: Workload = {
  name: "allocators",
  title: "Allocators",
  async measure(scale) {
    const tables = [await sizes(scale)];
    const hosts = scale.tiny ? ["Deno"] as const : ["Node", "Deno"] as const;
    for (const host of hosts) {
      for (const plan of plansOf(scale)) {
        const table = await measure(plan, host, scale);
        tables.push(table);
        if (plan.id === "churn") tables.push(heapOf(table, host));
      }
    }
    return tables;
  },
};
