/**
 * Runs agents that take a mutex or permits, and checks that never too many were
 * inside.
 *
 * @module
 */

import * as assert from "uvu/assert";
import type { Handle } from "../../mod.ts";
import type { HolderJob, HolderResult, Manner } from "./holder.ts";
import { Crew } from "../_run/workers.ts";

const crew = new Crew(new URL("./holder.ts", import.meta.url));

/**
 * Runs an agent for each manner, until each had `count` turns. A lost wake
 * shows as a wait of a second. A busy machine may stand still for as long, but
 * not each time.
 */
export async function contend(
  handle: Handle,
  manners: Manner[],
  count: number,
  limit = 1,
): Promise<void> {
  const long: number[] = [];
  while (long.length < 3) {
    long.push(await longWaits(handle, manners, count, limit));
    if (long.at(-1)! <= 2) return;
  }
  throw new Error(`${long} waits took a second`);
}

/** Lets the agents contend once, and returns how many waits took a second. */
async function longWaits(
  handle: Handle,
  manners: Manner[],
  count: number,
  limit: number,
): Promise<number> {
  const inside = new SharedArrayBuffer(8);
  const threads = await Promise.all(manners.map((manner) => {
    const job: HolderJob = { handle, manner, count, limit, inside };
    return crew.begin(job);
  }));
  for (const thread of threads) await thread.next(); // up
  for (const thread of threads) thread.post("go");
  const results = await Promise.all(
    threads.map((thread) => thread.next<HolderResult>()),
  );
  for (const thread of threads) crew.end(thread);
  const [left, turns] = new Int32Array(inside);
  assert.is(left, 0);
  if (limit === 1) assert.is(turns, count * manners.length, "counts got lost");
  return results.reduce((sum, result) => sum + result.long, 0);
}
