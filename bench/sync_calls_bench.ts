// How long does a call of an async function take that blocks, quietly and
// beside busy processes, against synckit? Here another program's load belongs
// to the question, so no turn is repeated for it: both take turns of 200 calls.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { syncWorker } from "../primitives/sync_worker.ts";
import { start } from "../tests/_run/workers.ts";
import type { Api } from "./_sync_calls.ts";
import { beside, busyProcesses } from "./busy.ts";
import { median, type Row, spread } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

/** Calls of a turn, those before them that do not count, and the turns. */
const CALLS = 200, WARM = 20, TURNS = 12;
/** Calls of each kind before the first turn: then the compilers are done. */
const FIRST = 1500;
const COLD_STARTS = 7;
const BUSY = [0, 1, 2, 4];

type Call = (name: keyof Api, ...args: unknown[]) => unknown;

interface Contestant {
  readonly name: "weft" | "synckit";
  /** Starts a worker; the number tells its starts apart. */
  start(number: number): Call;
}

const ours = (): Call => {
  const url = new URL("./_sync_calls_ours.ts", import.meta.url);
  const worker = syncWorker<Record<string, Call>>(() => start(url));
  return (name, ...args) => worker[name]!(...args as [keyof Api]);
};

/** A kind of call, and its arguments. */
const KINDS: [what: string, name: keyof Api, args: unknown[]][] = [
  ["two numbers, sync", "add", [1, 2]],
  ["two numbers, async", "addLater", [1, 2]],
  ["2 KB of JSON", "echo", [options()]],
  ["64 KB of text", "echo", ["abcdefgh".repeat(8192)]],
];

/** The options of a linter: 2 KB as JSON. */
function options(): object {
  const rules = Array.from({ length: 40 }, (_, i) =>
    [
      `rule-${i}`,
      { level: i % 3, options: ["always", i] },
    ] as const);
  return { rules: Object.fromEntries(rules) };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)]!;

/** The microseconds of each call of a turn, in order of size. */
function turn(call: Call, name: keyof Api, args: unknown[]): number[] {
  for (let i = 0; i < WARM; i++) call(name, ...args);
  const times = new Array<number>(CALLS);
  for (let i = 0; i < CALLS; i++) {
    const begin = performance.now();
    call(name, ...args);
    times[i] = (performance.now() - begin) * 1000;
  }
  return times.sort((a, b) => a - b);
}

/** The row of one figure of all turns. */
function row(
  name: string,
  all: Partial<Record<"weft" | "synckit", number[]>>,
): Row {
  const weft = all.weft!;
  const said = (values: readonly number[]) => `${median(values).toFixed(1)} us`;
  if (all.synckit === undefined) {
    return {
      name,
      figure: median(weft),
      unit: "us",
      ...spread(weft),
      from: `${weft.length} turns`,
    };
  }
  const each = weft.map((us, k) => us / all.synckit![k]!);
  return {
    name: `${name} / ${nameOf("synckit")}`,
    figure: median(each),
    unit: "x",
    ...spread(each),
    from: `${said(weft)} and ${said(all.synckit)}, ${each.length} turns`,
    target: { most: 1 },
  };
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const contestants: Contestant[] = [{ name: "weft", start: ours }];
  const theirs = "Deno" in globalThis ? undefined : peer("synckit");
  if (theirs !== undefined) {
    const { createSyncFn } = await import(theirs.href);
    const url = new URL("./_sync_calls_synckit.ts", import.meta.url);
    // It keeps one worker for each path.
    const start = (number: number) => {
      const file = fileURLToPath(url);
      const copy = file.replace(/(\.\w+)$/, `_${number}$1`);
      fs.copyFileSync(file, copy);
      return createSyncFn(copy);
    };
    contestants.push({ name: "synckit", start });
  }
  const rows: Row[] = [];
  const calls: [Contestant["name"], Call][] = [];
  for (const { name, start } of contestants) calls.push([name, start(0)]);
  for (const [, name, args] of KINDS) {
    for (const [, call] of calls) {
      for (let i = 0; i < FIRST; i++) call(name, ...args);
    }
  }
  for (const busy of BUSY) {
    const processes = await busyProcesses(busy);
    for (const [what, name, args] of KINDS) {
      const medians: Record<string, number[]> = {};
      const tails: Record<string, number[]> = {};
      for (let round = 0; round < TURNS; round++) {
        for (const [who, call] of calls) {
          const times = turn(call, name, args);
          (medians[who] ??= []).push(at(times, 0.5));
          (tails[who] ??= []).push(at(times, 0.99));
          await pause(1);
        }
      }
      const where = beside(busy);
      rows.push(row(`${what}, ${where}: median`, medians));
      rows.push(row(`${what}, ${where}: p99`, tails));
    }
    for (const it of processes) it.kill();
  }
  const cold: Record<string, number[]> = {};
  for (let i = 1; i <= COLD_STARTS; i++) {
    for (const { name, start } of contestants) {
      const begin = performance.now();
      start(i)("addLater", 1, 2);
      (cold[name] ??= []).push((performance.now() - begin) * 1000);
    }
  }
  rows.push(row("a worker's start and first call", cold));
  return rows;
}
