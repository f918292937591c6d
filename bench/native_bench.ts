// Are the native primitives as fast as those that C++ programs use now? Rivals:
// pthreads and POSIX semaphores, rigtorp's and moodycamel's queues. Those whose
// headers are not installed, or in a folder of CPLUS_INCLUDE_PATH, are left out.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { contest, program, ratio, type Row } from "./contest.ts";

const SOURCE = fileURLToPath(new URL("./native/rivals.cpp", import.meta.url));
const OUT = fileURLToPath(new URL("../.weft/bench/", import.meta.url));
const PROGRAM = `${OUT}rivals`;

/** The most that ours may take of a rival's time; by default as long. */
const MOST: Readonly<Record<string, number>> = {
  "SpscQueue, push and pop alone / rigtorp": 1.2,
  "SpscQueue, two threads that poll / rigtorp": 0.9,
  "SpscQueue, two threads that poll / moodycamel": 0.9,
  "MpmcQueue, push and pop alone / rigtorp": 1.1,
  "MpmcQueue, push and pop alone / moodycamel": 0.95,
};

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  fs.mkdirSync(OUT, { recursive: true });
  execFileSync("g++", [
    "-std=c++20",
    "-O2",
    "-w",
    "-pthread",
    SOURCE,
    "-o",
    PROGRAM,
  ]);
  const pairs = execFileSync(PROGRAM, { encoding: "utf8" }).trim().split("\n")
    .map((line) => line.split("\t") as [question: string, whose: string]);
  const rows: Row[] = [];
  for (const question of new Set(pairs.map(([question]) => question))) {
    const all = pairs.filter(([asked]) => asked === question)
      .map(([, whose]) => program(whose, PROGRAM, [question, whose]));
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
