/**
 * Looks for lost wakes: `deno run -A tests/_wait/stall.ts [SECONDS] [KIND]`.
 *
 * Agents work on each primitive in turn, in threads, for SECONDS each (20). The
 * look each second is switched off, so an agent whose wake was lost sleeps for
 * ever. A run ends when all agents move. If one does nothing for ten seconds,
 * that is a stall; on a busy machine, others may overtake it for seconds. How
 * many steps they made meanwhile tells the one from the other. The exit code is
 * 1 if there was a stall.
 *
 * @module
 */

import process from "node:process";
import { inspect } from "../../mod.ts";
import { spawn } from "../_run/workers.ts";
import { AGENTS, MADE, WORK } from "./stall_work.ts";
import type { StallJob } from "./stall_worker.ts";

const WORKER = new URL("./stall_worker.ts", import.meta.url);
const LIMIT = 10_000;

const passed = (ms: number) =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Runs one kind of work; whether all agents moved on. */
async function run(kind: string, seconds: number): Promise<boolean> {
  const stem = kind.split(",")[0]!;
  const agents = stem === "spsc_queue" ? 2 : AGENTS;
  const buffer = new SharedArrayBuffer(4 * agents);
  const counts = new Int32Array(buffer);
  const handles = MADE[stem]!();
  const threads = await Promise.all(
    Array.from({ length: agents }, (_, agent) => {
      const job: StallJob = { kind, handles, counts: buffer, agent };
      return spawn(WORKER, job);
    }),
  );
  while (counts.some((count) => count === 0)) await passed(50); // all are up
  const seen = counts.slice();
  const since = seen.slice().fill(0);
  /** How many steps all had made when an agent last moved. */
  const before = Array.from(seen, () => 0);
  let longest = 0;
  let overtaken = 0;
  let paused = 0;
  let ms = 0;
  let last = performance.now();
  const end = last + seconds * 1000;
  while (last < end || since.some((ms) => ms > 100)) {
    await passed(20);
    const now = performance.now();
    ms = now - last;
    last = now;
    const total = counts.reduce((sum, count) => sum + count, 0);
    for (let agent = 0; agent < agents; agent++) {
      const count = Atomics.load(counts, agent);
      const moved = count !== seen[agent];
      since[agent] = moved ? 0 : since[agent]! + ms;
      if (moved) before[agent] = total;
      seen[agent] = count;
      if (since[agent]! <= longest) continue;
      longest = since[agent]!;
      paused = agent;
      overtaken = total - before[agent]!;
    }
    if (longest > LIMIT) break;
  }
  const total = seen.reduce((sum, count) => sum + count, 0);
  const ok = longest <= LIMIT;
  console.log(
    `${ok ? "ok  " : "FAIL"} ${kind.padEnd(24)} ${total} steps, longest ` +
      `pause: agent ${paused}, ${
        Math.round(longest)
      } ms, in which the others ` +
      `made ${overtaken} steps`,
  );
  if (!ok) {
    console.log("     steps of each agent:", [...seen].join(", "));
    for (const handle of handles) {
      if (handle.kind !== "words") console.log(inspect(handle));
    }
  }
  for (const thread of threads) thread.stop();
  return ok;
}

const [, , seconds = "20", filter = ""] = process.argv;
let stalls = 0;
for (const kind of Object.keys(WORK)) {
  if (!kind.includes(filter)) continue;
  if (!await run(kind, Number(seconds))) stalls++;
}
console.log(`${stalls} stalls`);
process.exit(stalls === 0 ? 0 : 1);
