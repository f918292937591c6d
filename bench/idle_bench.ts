// Do waiting agents use hardly any processor time? Eight agents sleep for three
// seconds in each kind of wait.
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { KINDS } from "./_idle.ts";
import type { Row } from "./contest.ts";

const PROGRAM = fileURLToPath(new URL("./_idle_process.ts", import.meta.url));

function percent(kind: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const args = ["run", "-A", PROGRAM, kind];
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
    const figures = await Promise.all(some.map(percent));
    some.forEach((kind, k) => {
      rows.push({
        name: `8 agents asleep for 3 s in ${kind}: processor time`,
        figure: figures[k]!,
        unit: "% of a core",
        target: { most: 1 },
        from: "this process alone, its runtime's own threads included",
      });
    });
  }
  return rows;
}
