/**
 * Tortures the library: kills, waits given up, streams and damaged words, for
 * as long as it is told, and says what was lost:
 * `deno task torture [--minutes N] [--only NAME] [--seed N]`.
 *
 * @module
 */
import { execFile, spawnSync } from "node:child_process";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundle, bundled } from "../_run/bundle.ts";
import { build, run } from "../_run/native.ts";
import type { Row } from "./supervisor.ts";

const USAGE = `usage: deno task torture [--minutes N] [--only NAME] [--seed N]

Kills threads and processes that use the primitives, gives up waits, streams
numbers with checksums, and damages words, for N minutes in all (2 unless
given). Prints how much was done and what was lost, and ends with exit code 1
if a promise of docs/reliability.md was broken.

--only NAME  one part (native, sanitized, kills, damage, stream, aborts), or
             the primitives whose name contains NAME
--seed N     other random numbers`;

const HERE = fileURLToPath(new URL(".", import.meta.url));
const WEFT = fileURLToPath(new URL("../../.weft/torture/", import.meta.url));
const WASM = fileURLToPath(new URL("../../wasm", import.meta.url));

/** Parts, and the share of the time that each takes. */
const PARTS = {
  native: 0.25,
  sanitized: 0.2,
  kills: 0.2,
  damage: 0.15,
  stream: 0.1,
  aborts: 0.1,
} as const;
type Part = keyof typeof PARTS;

/** What `kills.c` can torture. */
const NATIVE = [
  "mutex",
  "rw_lock",
  "spsc_queue",
  "lock_free_queue",
  "record_ring",
  "work_deque",
  "slab_pool",
];

const number = new Intl.NumberFormat("en");

function parse(words: string[]) {
  const { values } = parseArgs({
    args: words,
    options: {
      minutes: { type: "string", default: "2" },
      only: { type: "string", default: "" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) {
    throw new Error(`--minutes must be above 0: received ${values.minutes}`);
  }
  return { ...values, minutes, seed: Number(values.seed) };
}

async function native(ms: number, seed: number, only: string) {
  const names = NATIVE.filter((name) => name.includes(only));
  if (names.length === 0) return [];
  const program = await builtWith("kills", ["-O2"]);
  if (program === undefined) return [];
  const rows: Row[] = [];
  for (const name of names) {
    const seconds = ms / 1000 / names.length;
    const words = [name, `${seconds}`, `${seed}`];
    const { code, output } = await run(program, words, Math.ceil(seconds + 60));
    const last = output.trim().split("\n").findLast((l) => l.startsWith("{"));
    const told = last === undefined ? undefined : JSON.parse(last);
    const problems = code === 0 ? [] : [output.trim()];
    const { kills = 0, lost, allowed, operations = 0 } = told ?? {};
    rows.push({
      what: `weft_${name}: processes killed`,
      volume: kills,
      unit: "kills",
      ...(allowed > 0 && { lost, allowed }),
      problems,
    }, {
      what: `weft_${name}: steps beside kills`,
      volume: operations,
      unit: "operations",
      problems: [],
    });
  }
  return rows;
}

/** Damages words under the sanitizers: C's side of the part "damage". */
async function sanitized(ms: number, seed: number, only: string) {
  const program = await builtWith("damage", [
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
  ]);
  if (program === undefined) return [];
  const seconds = ms / 1000;
  const words = [`${seconds}`, `${seed}`, only];
  const { code, output } = await run(
    program,
    words,
    Math.ceil(seconds * 2 + 120),
  );
  const last = output.trim().split("\n").findLast((l) => l.startsWith("{"));
  const { calls = 0 } = last === undefined ? {} : JSON.parse(last);
  if (code === 0 && calls === 0) return []; // nothing bears that name
  const row: Row = {
    what: "C: calls on damaged words, sanitized",
    volume: calls,
    unit: "calls",
    problems: code === 0 ? [] : [output.trim()],
  };
  return [row];
}

/** Builds a program of C of this folder, if there is a compiler. */
async function builtWith(
  name: string,
  flags: string[],
): Promise<string | undefined> {
  if (spawnSync("gcc", ["--version"]).status === 0) {
    return await build({
      name: `torture-${name}`,
      compiler: "gcc",
      words: ["-std=gnu11", "-pthread", `-I${WASM}`, ...flags],
      sources: [path.join(HERE, `${name}.c`)],
    });
  }
  console.log(`     skipped: no gcc here to build ${name}.c`);
}

function threads(
  part: Part,
  ms: number,
  seed: number,
  only: string,
): Promise<Row[]> {
  const program = bundled(path.join(HERE, "supervisor.ts"), WEFT);
  const words = [program, part, `${ms}`, `${seed}`, only];
  return new Promise((resolve) => {
    const limits = {
      timeout: ms * 2 + 240_000,
      killSignal: "SIGKILL",
      maxBuffer: 2 ** 26,
    } as const;
    execFile("node", words, limits, (error, stdout, stderr) => {
      const rows: Row[] = stdout.split("\n").filter((l) => l.startsWith("{"))
        .map((line) => JSON.parse(line));
      if (error !== null) {
        const problems = [`it ended early: ${error.message}\n${stderr}`];
        rows.push({ what: part, volume: 0, unit: "", problems });
      }
      resolve(rows);
    });
  });
}

function print(row: Row): boolean {
  const { what, volume, unit, lost, allowed, problems } = row;
  const loss = lost === undefined
    ? ""
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

async function main(): Promise<number> {
  let options;
  try {
    options = parse(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const { minutes, only, seed, help } = options;
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const parts = Object.keys(PARTS) as Part[];
  const chosen = parts.includes(only as Part) ? [only as Part] : parts;
  const filter = parts.includes(only as Part) ? "" : only;
  const whole = chosen.reduce((sum, part) => sum + PARTS[part], 0);
  await bundle([path.join(HERE, "supervisor.ts")], WEFT);
  let broken = 0;
  let rows = 0;
  for (const part of chosen) {
    const ms = Math.round(minutes * 60_000 * PARTS[part] / whole);
    const begin = performance.now();
    const found = part === "native"
      ? await native(ms, seed, filter)
      : part === "sanitized"
      ? await sanitized(ms, seed, filter)
      : await threads(part, ms, seed, filter);
    const seconds = (performance.now() - begin) / 1000;
    console.log(`---- ${part}, ${seconds.toFixed(0)} s`);
    for (const row of found) {
      rows++;
      if (!print(row)) broken++;
    }
  }
  if (rows === 0) {
    console.error(`nothing here is called ${only}\n\n${USAGE}`);
    return 2;
  }
  console.log(`${rows - broken} passed, ${broken} failed`);
  return broken === 0 ? 0 : 1;
}

process.exitCode = await main();
