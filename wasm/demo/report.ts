/**
 * Reports what the threads did.
 *
 * @module
 */

import { availableParallelism } from "node:os";
import type { Alone } from "./alone.ts";
import type { Row, Size } from "./arena.ts";
import type { Checked } from "./check.ts";
import type { Options } from "./options.ts";

/** The result of a run. */
export interface Report {
  options: Options;
  size: Size;
  /** Milliseconds from the first chunk streamed to the last one hashed. */
  time: number;
  /** Milliseconds of CPU time of all threads in that time. */
  cpu: number;
  /** The same of all other programs; missing where the system does not tell. */
  elsewhere?: number;
  /** What all agents did, as they counted together. */
  together: Row;
  agents: (Row & { name: string; isJs: boolean })[];
  /** One thread of JavaScript alone. */
  js?: Alone;
  /** One thread of wasm alone. */
  wasm?: Alone;
  files: Checked[];
}

const MIB = 2 ** 20;

/** Shorter runs, in ms, are not compared with the least time. */
const LEAST_TOLD = 50;

/** The part of a core that other programs may take. */
const OTHERS = 0.2;

/** MiB per second; 0 if there was nothing to measure. */
const rate = (bytes: number, ms: number): number =>
  ms > 0 ? bytes / MIB / ms * 1000 : 0;

const rateAlone = (alone: Alone | undefined): number =>
  alone ? rate(alone.bytes, alone.copy + alone.hash) : 0;

/**
 * The least possible time in ms for this division of the bytes: no core is ever
 * idle, each agent hashes as fast as one thread alone, and the bytes that an
 * agent gets in a slot are copied once.
 */
function leastTime({ agents, js, wasm, options }: Report): number {
  let sum = 0;
  for (const { name, isJs, bytes } of agents) {
    const alone = isJs ? js : wasm;
    if (!alone || alone.bytes === 0) continue;
    const copy = name === "main" ? 0 : alone.copy;
    sum += bytes / alone.bytes * (alone.hash + copy);
  }
  // More threads than cores, or fewer.
  return sum / Math.min(availableParallelism(), options.js + options.wasm + 1);
}

/** Whether other programs took more time than a verdict allows. */
const disturbed = ({ elsewhere = 0, time }: Report): boolean =>
  elsewhere > time * OTHERS;

/** All figures, for programs. */
export function printJson(report: Report): void {
  const { options, size, time, cpu, together, agents, files } = report;
  const least = leastTime(report);
  const alone = (times: Alone | undefined) =>
    times && { ...times, mibPerSecond: rateAlone(times) };
  console.log(JSON.stringify(
    {
      cores: availableParallelism(),
      jsWorkers: options.js,
      wasmThreads: options.wasm,
      chunkBytes: options.chunk,
      slots: size.slots,
      files: files.length,
      bytes: together.bytes,
      chunks: together.chunks,
      ms: time,
      cpuMs: cpu,
      elsewhereMs: report.elsewhere,
      disturbed: disturbed(report),
      mibPerSecond: rate(together.bytes, time),
      leastMs: least,
      overLeast: least > 0 ? time / least - 1 : 0,
      alone: { js: alone(report.js), wasm: alone(report.wasm) },
      agents: agents.map((agent) => ({
        agent: agent.name,
        language: agent.isJs ? "JavaScript" : "C",
        chunks: agent.chunks,
        bytes: agent.bytes,
        busyMs: agent.busy,
        mibPerSecond: rate(agent.bytes, agent.busy),
        share: agent.bytes / (together.bytes || 1),
      })),
      equal: files.every(({ differences }) => differences.length === 0),
      digests: files,
    },
    null,
    2,
  ));
}

/** All figures, for people. */
export function print(report: Report): void {
  const { options, together, agents, files, time } = report;
  if (options.paths.length > 0) {
    for (const { blake2b, name } of files) console.log(`${blake2b}  ${name}`);
    console.log();
  }
  console.log(
    `${count(files.length, "file")}, ${mib(together.bytes)} MiB in ` +
      `${count(together.chunks, "chunk")} of up to ${options.chunk} bytes\n`,
  );
  table([
    ["agent", "language", "chunks", "MiB/s", "share"],
    ...agents.map((agent) => [
      agent.name,
      agent.isJs ? "JavaScript" : "C",
      `${agent.chunks}`,
      speed(rate(agent.bytes, agent.busy)),
      percent(agent.bytes / (together.bytes || 1)),
    ]),
    [
      "together",
      "",
      `${together.chunks}`,
      speed(rate(together.bytes, time)),
      percent(1),
    ],
  ]);
  console.log(
    `\n${
      time.toFixed(0)
    } ms from the first chunk streamed to the last hashed;\n` +
      "up to 32 MiB of files had been read before",
  );
  printAlone(report);
  console.log(check(files));
}

function printAlone(report: Report): void {
  const { together, time, elsewhere, js, wasm } = report;
  const ours = rate(together.bytes, time);
  const told = !disturbed(report);
  for (const [name, alone] of [["JavaScript", js], ["C", wasm]] as const) {
    const one = rateAlone(alone);
    if (one === 0) continue;
    const times = told
      ? `; together ${(ours / one).toFixed(2)} times that`
      : "";
    console.log(
      `one thread of ${name} alone: ${speed(one)} MiB/s with copying${times}`,
    );
  }
  if (!told) {
    console.log(
      `no verdict: other programs took ${percent(elsewhere! / time)} of a core`,
    );
    return;
  }
  const least = leastTime(report);
  if (least < LEAST_TOLD) return;
  const cores = availableParallelism();
  console.log(
    `the least time for this division on ${count(cores, "core")}: ` +
      `${least.toFixed(0)} ms; ours is ${percent(time / least)} of it`,
  );
  printLimit(report);
}

/** Says what keeps the threads from being faster. */
function printLimit(report: Report): void {
  const { options, agents, js, wasm, time } = report;
  const cores = availableParallelism();
  const threads = options.js + options.wasm + 1;
  const on = threads > cores
    ? `${threads} threads share ${count(cores, "core")}`
    : `${count(threads, "thread")}, each on a core of its own`;
  let copying = 0;
  for (const { name, isJs, bytes } of agents) {
    const alone = isJs ? js : wasm;
    if (!alone || alone.bytes === 0 || name === "main") continue;
    copying += bytes / alone.bytes * alone.copy;
  }
  const copies = copying / (time * Math.min(cores, threads));
  console.log(
    `the limit: ${on}; copying into slots takes ${percent(copies)} of them`,
  );
  const ofJs = rateAlone(js), ofWasm = rateAlone(wasm);
  if (ofJs === 0 || ofWasm === 0) return;
  const [fast, slow] = ofJs > ofWasm
    ? ["JavaScript", "C"]
    : ["C", "JavaScript"];
  const factor = Math.max(ofJs, ofWasm) / Math.min(ofJs, ofWasm);
  if (factor < 1.5) return;
  console.log(
    `and ${slow} hashes ${factor.toFixed(1)} times slower than ${fast}`,
  );
}

/** The result of the check. */
function check(files: Checked[]): string {
  const wrong = files.filter(({ differences }) => differences.length > 0);
  if (wrong.length > 0) {
    return `check: ${wrong.length} of ${count(files.length, "file")} differ`;
  }
  const equal = "check: every digest equals that of an independent pass over " +
    "the whole file";
  const large = files.filter(({ chunks }) => chunks > 1);
  if (large.length === 0) return equal;
  const chunks = large.reduce((sum, file) => sum + file.chunks, 0);
  return `${equal}\n(of ${count(large.length, "file")} larger than a chunk: ` +
    `those of its ${chunks} chunks do; its BLAKE2b is that of the pass)`;
}

const count = (n: number, what: string): string =>
  `${n} ${what}${n === 1 ? "" : "s"}`;

const speed = (mibPerSecond: number): string =>
  mibPerSecond.toFixed(mibPerSecond < 10 ? 1 : 0);

const mib = (bytes: number): string => (bytes / MIB).toFixed(1);

const percent = (part: number): string => `${(100 * part).toFixed(0)} %`;

/** Prints rows in columns: the first two to the left, numbers to the right. */
function table(rows: string[][]): void {
  const widths = rows[0]!.map((_, i) =>
    Math.max(...rows.map((row) => row[i]!.length))
  );
  for (const row of rows) {
    const cells = row.map((cell, i) =>
      i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]! + 2)
    );
    console.log(cells.join("  ").trimEnd());
  }
}
