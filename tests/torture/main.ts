/**
 * Tortures the library for as long as it is told, and prints what was done and
 * what was lost: `deno task torture [--minutes N] [--only NAME] [--seed N]`.
 *
 * @module
 */
import { execFile } from "node:child_process";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundle, bundled } from "../_run/bundle.ts";
import { whySkipped } from "../_run/missing.ts";
import { complain, wordsOf } from "../_run/usage.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { matches, type Row, type Tell } from "./_row.ts";
import {
  damage,
  libFuzzer,
  processes,
  type Runner,
  soak,
  wrongArguments,
} from "./native.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const WEFT = fileURLToPath(new URL("../../.weft/torture/", import.meta.url));
const SUPERVISOR = path.join(HERE, "supervisor.ts");
const EMSCRIPTEN = path.join(HERE, "emscripten.ts");
const STORMS = path.join(HERE, "storms.ts");

/** Runs one part of `supervisor.ts` in Node. */
function threads(part: string): Runner {
  return (ms, seed, only, tell) => {
    const program = bundled(SUPERVISOR, WEFT);
    return lines("node", [program, part, `${ms}`, `${seed}`, only], ms, tell);
  };
}

/** Kills threads of Emscripten. */
const emscripten: Runner = async (ms, seed, only, tell) => {
  const module = path.join(WEFT, "kills.mjs");
  await emcc({
    sources: [path.join(HERE, "kills.c")],
    args: [
      ...PTHREADS,
      "-sEXPORTED_RUNTIME_METHODS=wasmMemory,PThread",
      "-sPTHREAD_POOL_SIZE=6",
      "-sPTHREAD_POOL_SIZE_STRICT=0",
      "-sINITIAL_MEMORY=64MB", // each kill leaves a little behind
      `-I${fileURLToPath(new URL("../../wasm", import.meta.url))}`,
    ],
    out: module,
    quiet: true,
  });
  const program = bundled(EMSCRIPTEN, WEFT);
  await lines("node", [program, module, `${ms}`, `${seed}`, only], ms, tell);
};

/** Lets C in WebAssembly and JavaScript send each other numbers. */
const mixed: Runner = (ms, seed, only, tell) => {
  // It takes a while to build, so a short form leaves it to the twin tests.
  if (only !== "" || ms < 4000) return Promise.resolve();
  const words = ["run", "-A", path.join(HERE, "mixed.ts"), `${ms}`, `${seed}`];
  return lines(process.execPath, words, ms, tell);
};

/** Lets 64 threads of Node use one primitive. */
const crowd: Runner = async (ms, seed, only, tell) => {
  // It takes seconds to start them, so a short form leaves it to C.
  if (ms >= 4000) await threads("load")(ms, seed, only, tell);
};

/** Plays a storm in Node, and then in Deno. */
function storm(name: string): Runner {
  return async (ms, seed, only, tell) => {
    if (!matches(name, only)) return;
    const words = [name, `${ms / 2}`, `${seed}`];
    const told = (where: string): Tell => (row) =>
      tell({ ...row, what: `${where}: ${row.what}` });
    const program = bundled(STORMS, WEFT);
    const node = ["--expose-gc", program, ...words];
    await lines("node", node, ms, told("Node"));
    const flags = ["run", "-A", "--v8-flags=--expose-gc", STORMS];
    await lines(process.execPath, [...flags, ...words], ms, told("Deno"));
  };
}

/** Runs a program; each line of its output that begins with `{` is a row. */
function lines(
  program: string,
  words: string[],
  ms: number,
  tell: Tell,
): Promise<void> {
  return new Promise((resolve) => {
    const limits = {
      timeout: ms * 2 + 240_000,
      killSignal: "SIGKILL",
      maxBuffer: 2 ** 26,
    } as const;
    execFile(program, words, limits, (error, stdout, stderr) => {
      for (const line of stdout.split("\n")) {
        if (line.startsWith("{")) tell(JSON.parse(line));
        if (line.startsWith("skipped")) console.log(`     ${line}`);
      }
      if (error !== null) {
        const problems = [`it ended early: ${error.message}\n${stderr}`];
        tell({ what: words.join(" "), volume: 0, unit: "rows", problems });
      }
      resolve();
    });
  });
}

/** What each part runs, and the share of the time that it takes. */
const PARTS: Readonly<Record<string, readonly (readonly [number, Runner])[]>> =
  {
    kills: [
      [0.2, processes],
      [0.16, threads("kills")],
      [0.06, emscripten],
    ],
    waits: [[0.08, soak("waits")], [0.08, threads("aborts")]],
    stream: [
      [0.08, soak("stream")],
      [0.08, threads("stream")],
      [0.04, mixed],
    ],
    load: [[0.06, soak("load")], [0.06, crowd]],
    damage: [
      [0.1, damage],
      [0.1, threads("damage")],
      [0.04, libFuzzer],
    ],
    arguments: [[0.06, wrongArguments], [0.06, threads("arguments")]],
    storms: [
      [0.1, storm("pool")],
      [0.08, storm("calls")],
      [0.1, storm("channels")],
      [0.06, storm("select")],
      [0.04, storm("locks")],
      [0.04, storm("gates")],
      [0.04, storm("shop")],
      [0.04, storm("values")],
    ],
  };

const USAGE = `usage: deno task torture [--minutes N] [--only NAME] [--seed N]

Tortures the primitives for N minutes in all (2 unless given), prints how much
was done and what was lost, and ends with exit code 1 if a promise of
docs/reliability.md was broken. The parts:

kills      threads and processes are killed at any step, and replaced
waits      waits are given up in the moment in which others serve them
stream     threads of C, of JavaScript and of both send each other numbers
load       64 threads use one primitive, and each must get its turn
damage     words of primitives are changed; then everything is called
arguments  everything is called with arguments of all kinds
storms     plans of random steps are played on a layer; each promise must end.
           Values of all kinds must arrive as structuredClone copies them

--only NAME  one part, or the primitives whose name contains NAME
--seed N     other random numbers`;

/** The primitives and the storms, such as `spscqueue`. */
const NAMES = [
  ...Object.keys(LAYOUT).map((stem) => stem.replaceAll("_", "")),
  "pool",
  "calls",
  "channels",
  "select",
  "locks",
  "gates",
  "shop",
  "values",
];

const number = new Intl.NumberFormat("en");

/** Prints a row; whether all was well. */
function print(row: Row): boolean {
  const { what, volume, unit, lost, allowed, note = "", problems } = row;
  const loss = lost === undefined
    ? note
    : `${number.format(lost)} lost of ${number.format(allowed!)} allowed`;
  const mark = problems.length === 0 ? "ok  " : "FAIL";
  console.log(
    `${mark} ${what.padEnd(44)} ${number.format(volume).padStart(15)} ` +
      `${unit.padEnd(10)} ${loss}`.trimEnd(),
  );
  for (const problem of problems) {
    console.log(problem.replace(/^(?=.)/gm, "     "));
  }
  return problems.length === 0;
}

/** Prints how much was done in all. */
function printSums(rows: readonly Row[]): void {
  const sums = new Map<string, number>();
  const add = (unit: string, n: number) =>
    sums.set(unit, (sums.get(unit) ?? 0) + n);
  for (const { unit, volume, lost = 0, problems } of rows) {
    add(unit, volume);
    add("lost", Math.max(lost, 0));
    add("problems", problems.length);
  }
  const all = [...sums].map(([unit, n]) => `${number.format(n)} ${unit}`);
  console.log(`---- in all: ${all.join(", ")}`);
}

/** A number above 0 from the words. */
function positive(name: string, word: unknown, otherwise: number): number {
  if (word === undefined) return otherwise;
  const value = word === "" ? NaN : Number(word);
  if (value > 0 && value < Infinity) return value;
  return complain(`--${name} must be a number above 0: received ${word}`);
}

async function main(): Promise<number> {
  const { values, positionals } = wordsOf(USAGE, {
    minutes: "string",
    only: "string",
    seed: "string",
  });
  if (positionals.length > 0) {
    complain(`unexpected word ${positionals[0]}; --help says what there is`);
  }
  const minutes = positive("minutes", values.minutes, 2);
  const seed = positive("seed", values.seed, 1);
  const only = `${values.only ?? ""}`;
  if (!(only in PARTS) && !NAMES.some((name) => matches(name, only))) {
    complain(`no part or primitive is called ${only}`);
  }
  const chosen = only in PARTS ? [only] : Object.keys(PARTS);
  const filter = only in PARTS ? "" : only;
  const runners = chosen.flatMap((part) => PARTS[part]!);
  const whole = runners.reduce((sum, [share]) => sum + share, 0);
  await bundle([SUPERVISOR, EMSCRIPTEN, STORMS], WEFT);
  const rows: Row[] = [];
  let broken = 0;
  for (const part of chosen) {
    const begin = performance.now();
    console.log(`---- ${part}`);
    for (const [share, runner] of PARTS[part]!) {
      const ms = Math.round(minutes * 60_000 * share / whole);
      const tell = (row: Row) => {
        rows.push(row);
        if (!print(row)) broken++;
      };
      await runner(ms, seed, filter, tell).catch((error) => {
        const why = whySkipped(error);
        if (why === undefined) throw error;
        console.log(`     skipped: ${why}`);
      });
    }
    const seconds = (performance.now() - begin) / 1000;
    console.log(`     ${seconds.toFixed(0)} s`);
  }
  printSums(rows);
  console.log(`${rows.length - broken} passed, ${broken} failed`);
  return broken === 0 ? 0 : 1;
}

process.exitCode = await main();
