/**
 * Files, from threads of C.
 *
 * @module
 */

import { fileURLToPath, pathToFileURL } from "node:url";
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
import type { Hung, Job, Printed } from "./process.ts";

const PROGRAM = new URL("./process.ts", import.meta.url);

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The file systems of Emscripten: the flags that choose them. */
const SYSTEMS = {
  js: [],
  raw: ["-sNODERAWFS"],
  wasm: ["-sWASMFS", "-DWASMFS"],
} as const;

type System = keyof typeof SYSTEMS;

async function build(system: System, scale: Scale): Promise<string> {
  const out = fileOf(`../../../.weft/workloads/file_io_${system}.mjs`);
  await emcc({
    sources: [fileOf("./file_io.c")],
    args: [
      ...PTHREADS,
      optimization(scale),
      ...SYSTEMS[system],
      "-sINITIAL_MEMORY=256MB",
      "-sPTHREAD_POOL_SIZE=4",
    ],
    out,
  });
  return pathToFileURL(out).href;
}

/** A way to reach files, and how much work a process does. */
interface Way extends Pick<Job, "what" | "onHost" | "count"> {
  readonly system: System;
}

const PROXIED = 5000, MANY = 200_000;

const LINES: Readonly<Record<string, Way>> = {
  "JS FS, write": {
    system: "js",
    what: "write",
    onHost: false,
    count: PROXIED,
  },
  "host's files, proxied, write": {
    system: "raw",
    what: "write",
    onHost: true,
    count: PROXIED,
  },
  "WasmFS, write": {
    system: "wasm",
    what: "write",
    onHost: false,
    count: MANY,
  },
  "WasmFS, host's files, write": {
    system: "wasm",
    what: "write",
    onHost: true,
    count: MANY,
  },
  "WasmFS, host's files, fwrite": {
    system: "wasm",
    what: "fwrite",
    onHost: true,
    count: MANY,
  },
  "RecordRing, host's files": {
    system: "js",
    what: "ring",
    onHost: true,
    count: MANY,
  },
  "RecordRing, 64 lines a record": {
    system: "js",
    what: "gathered",
    onHost: true,
    count: MANY,
  },
};

/** Lines of a thread for which the main thread waits. */
const FEW = 20_000;

const PIECES = 5000;

const STEPS: Readonly<Record<string, Way>> = {
  "JS FS": { system: "js", what: "steps", onHost: false, count: PIECES },
  "host's files, proxied": {
    system: "raw",
    what: "steps",
    onHost: true,
    count: PIECES,
  },
  WasmFS: { system: "wasm", what: "steps", onHost: false, count: PIECES },
  "WasmFS, host's files": {
    system: "wasm",
    what: "steps",
    onHost: true,
    count: PIECES,
  },
  "CallRing, host's files": {
    system: "js",
    what: "calls",
    onHost: true,
    count: PIECES,
  },
};

interface Plan {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly ways: Readonly<Record<string, Way>>;
  readonly threads: readonly number[];
  /** How many steps a process does for each unit of its count. */
  readonly each: number;
}

const PLANS: readonly Plan[] = [
  {
    id: "lines",
    title: "Log lines of 64 bytes",
    unit: "µs a line",
    ways: LINES,
    threads: [1, 2, 4],
    each: 1,
  },
  {
    id: "pieces",
    title: "Pieces of 64 bytes read and written, stat, open",
    unit: "µs a step",
    ways: STEPS,
    threads: [0, 1],
    each: 3.2,
  },
];

async function measure(
  { ways, threads, each, id, title, unit }: Plan,
  host: Host,
  scale: Scale,
): Promise<Table> {
  const { tiny } = scale;
  const findings: Finding[] = [];
  for (const [way, { system, what, onHost, count }] of Object.entries(ways)) {
    const job: Job = {
      module: await build(system, scale),
      what,
      onHost,
      // The main thread waits neither for the threads it serves nor for calls.
      threads: threads.filter((many) => many > 0 || what !== "calls"),
      count: tiny ? 200 : count,
      rounds: tiny ? 1 : 2,
    };
    const printed = await ask<Printed>(host, PROGRAM, job, 120);
    for (const many of job.threads) {
      const own = printed.filter(({ threads }) => threads === many);
      const middle = (figure: (round: Printed) => number) =>
        Math.round(median(own.map(figure)) * 1000) / 1000;
      findings.push({
        way,
        threads: many === 0 ? "main thread" : many,
        each: middle(({ wall }) => wall * 1000 / (job.count * each)),
        pause: middle(({ pause }) => pause),
        cpu: middle(({ cpu }) => cpu * 1000 / (job.count * each)),
      });
    }
  }
  return {
    id: `${id}_${host.toLowerCase()}`,
    title: `${title}, ${host}`,
    of: "way",
    by: "threads",
    figure: "each",
    unit,
    chart: threads.map((many) => many === 0 ? "main thread" : many),
    logarithmic: true,
    details: {
      at: 1,
      columns: {
        each: unit,
        cpu: "all threads' processor time, µs",
        pause: "main thread's longest pause, ms",
      },
    },
    findings,
  };
}

/**
 * A thread writes lines while the main thread blocks until it is done. If the
 * main thread must make the thread's calls, both wait for ever.
 */
export async function block(host: Host, scale: Scale): Promise<Table> {
  const findings: Finding[] = [];
  const ways = Object.entries(LINES)
    .filter(([, { system }], k) => !scale.tiny || k === 0 || system === "wasm");
  for (const [way, { system, what, onHost }] of ways) {
    const count = scale.tiny ? 200 : FEW;
    const job: Job = {
      module: await build(system, scale),
      what,
      onHost,
      threads: [1],
      count,
      rounds: scale.tiny ? 1 : 3,
      blocks: true,
    };
    const printed = await ask<Printed | Hung>(host, PROGRAM, job, 120);
    const done = printed.flatMap((it) => "hung" in it ? [] : [it.wall]);
    const hung = done.length < printed.length ? 100 : 0;
    const each = Math.round(median(done) * 1e6 / count) / 1000;
    findings.push({ way, threads: 1, ...hung ? {} : { each }, hung });
  }
  return {
    id: `blocked_${host.toLowerCase()}`,
    title: `Log lines of a thread for which the main thread blocks, ${host}`,
    of: "way",
    by: "threads",
    figure: "each",
    unit: "µs a line",
    chart: [1],
    logarithmic: true,
    details: {
      at: 1,
      columns: { each: "µs a line", hung: "runs without an end, %" },
    },
    findings,
  };
}

/** Files from threads. */
export const fileIo: Workload = {
  name: "file_io",
  title: "Files from threads",
  async measure(scale) {
    const tables: Table[] = [];
    const hosts = scale.tiny ? ["Node"] as const : ["Node", "Deno"] as const;
    for (const host of hosts) {
      for (const plan of PLANS) tables.push(await measure(plan, host, scale));
      tables.push(await block(host, scale));
    }
    return tables;
  },
};
