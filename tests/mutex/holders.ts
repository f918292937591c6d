/**
 * Runs agents that take a mutex or permits, and checks that never too many were
 * inside.
 *
 * @module
 */

import * as assert from "uvu/assert";
import type { Handle } from "../../mod.ts";
import type { HolderJob, HolderResult, Manner } from "./holder.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./holder.ts", import.meta.url);

/** Runs an agent for each manner, until each had `count` turns. */
export async function contend(
  handle: Handle,
  manners: Manner[],
  count: number,
  limit = 1,
): Promise<void> {
  const inside = new SharedArrayBuffer(8);
  const threads = await Promise.all(manners.map((manner) => {
    const job: HolderJob = { handle, manner, count, limit, inside };
    return spawn(AGENT, job);
  }));
  for (const thread of threads) await thread.next(); // up
  for (const thread of threads) thread.post("go");
  const results = await Promise.all(
    threads.map((thread) => thread.next<HolderResult>()),
  );
  for (const thread of threads) thread.stop();
  const [left, turns] = new Int32Array(inside);
  assert.is(left, 0);
  if (limit === 1) assert.is(turns, count * manners.length, "counts got lost");
  // A lost wake shows as a wait of a second. A busy machine may stand still for
  // as long, but not often.
  const long = results.reduce((sum, result) => sum + result.long, 0);
  assert.ok(long <= 2, `${long} waits took a second`);
}
