// Do waiting agents use hardly any processor time? Eight agents sleep for three
// seconds in each kind of wait.
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { KINDS } from "./_idle.ts";
import { median, programWords, type Row, spread } from "./contest.ts";

const PROGRAM = fileURLToPath(new URL("./_idle_process.ts", import.meta.url));

const ROUNDS = 3;

function percent(kind: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const args = [...programWords(PROGRAM), kind];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 60_000,
    });
    let text = "";
    child.stdout.on("data", (bytes) => text += bytes);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(text).percent);
      else reject(new Error(`${kind}: ended with ${code}`));
    });
  });
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (let i = 0; i < KINDS.length; i += 4) {
    // Sleeping agents do not disturb each other.
    const some = KINDS.slice(i, i + 4);
    const rounds: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push(await Promise.all(some.map(percent)));
    }
    some.forEach((kind, k) => {
      rows.push({
        name: `8 agents asleep for 3 s in ${kind}: processor time`,
        figure: median(rounds.map((round) => round[k]!)),
        unit: "% of a core",
        ...spread(rounds.map((round) => round[k]!)),
        target: { most: 1 },
        from: "this process alone, its runtime's own threads included",
      });
    });
  }
  return rows;
}
