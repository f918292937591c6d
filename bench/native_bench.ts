// Are the native primitives as fast as those that C++ programs use now? Rivals:
// pthreads and POSIX semaphores, rigtorp's and moodycamel's queues, libcuckoo's
// and TBB's maps. Those whose headers are not installed, or in a folder of
// CPLUS_INCLUDE_PATH, are left out, and the bench says so.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { contest, program, ratio, type Row } from "./contest.ts";

const OUT = fileURLToPath(new URL("../.weft/bench/", import.meta.url));

/** The programs: each prints its questions, and whose answers it has. */
const SOURCES: Readonly<Record<string, URL>> = {
  rivals: new URL("./native/rivals.cpp", import.meta.url),
  maps: new URL("./native/maps.cpp", import.meta.url),
};

/**
 * Rivals that are not on each machine, and the packages of Debian with them.
 */
const OPTIONAL: Readonly<Record<string, string>> = {
  libcuckoo: "libcuckoo-dev",
  TBB: "libtbb-dev",
};

/** The most that ours may take of a rival's time; by default as long. */
const MOST: Readonly<Record<string, number>> = {
  "SpscQueue, push and pop alone / rigtorp": 1.2,
  "spsc_queue<int> of C++, push and pop alone / rigtorp": 1.2,
  "mpmc_queue<int> of C++, push and pop alone / rigtorp": 1.1,
  "mpmc_queue<int> of C++, push and pop alone / moodycamel": 0.95,
  "SpscQueue, two threads that poll / rigtorp": 0.9,
  "SpscQueue, two threads that poll / moodycamel": 0.9,
  "MpmcQueue, push and pop alone / rigtorp": 1.1,
  "MpmcQueue, push and pop alone / moodycamel": 0.95,
};

/** A question, and the program that answers it for someone. */
interface Pair {
  readonly question: string;
  readonly whose: string;
  readonly program: string;
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  fs.mkdirSync(OUT, { recursive: true });
  const pairs = Object.keys(SOURCES).flatMap(pairsOf);
  for (const [name, of] of Object.entries(OPTIONAL)) {
    if (pairs.some(({ whose }) => whose === name)) continue;
    console.log(`      ${of} is not installed: no figures for ${name}`);
  }
  const rows: Row[] = [];
  for (const question of new Set(pairs.map(({ question }) => question))) {
    const all = pairs.filter((pair) => pair.question === question).map((
      { whose, program: file },
    ) => program(whose, file, [question, whose]));
    const results = await contest(all);
    for (const { name } of all) {
      if (name === "weft") continue;
      const title = `${question} / ${name}`;
      const target = { most: MOST[title] ?? 1 };
      rows.push({ name: title, ...ratio(results, "weft", name), target });
    }
  }
  return rows;
}

/** Builds a program; all that it can answer. */
function pairsOf(name: string): Pair[] {
  const out = OUT + name;
  try {
    build(name, out, ["-ltbb"], "ignore");
  } catch { // where TBB is missing, or only its headers are there
    build(name, out, ["-DNO_TBB"], "inherit");
  }
  return execFileSync(out, { encoding: "utf8" }).trim().split("\n")
    .map((line) => line.split("\t") as [question: string, whose: string])
    .map(([question, whose]) => ({ question, whose, program: out }));
}

function build(
  name: string,
  out: string,
  more: readonly string[],
  stdio: "ignore" | "inherit",
): void {
  const source = fileURLToPath(SOURCES[name]!);
  const words = ["-std=c++20", "-O2", "-w", "-pthread", source, "-o", out];
  execFileSync("g++", [...words, ...more], { stdio });
}
