/**
 * Lets a number of workers do tasks in one way, again and again, and prints the
 * cost of each round.
 *
 * @module
 */

import process from "node:process";
import { meters, type Round, round } from "../meter.ts";
import { orderOf } from "../processes.ts";
import { messagesOf, RESULT, solve, type Tasks } from "./tasks.ts";
import { WAYS } from "./ways.ts";

/** The orders of the process. */
export interface Job {
  readonly ways: readonly string[];
  readonly tasks: Tasks;
  /** Numbers of workers, measured one after the other. */
  readonly workers: readonly number[];
  readonly rounds: number;
  /** How many ms to do rounds before those that count; at least one is done. */
  readonly warmUp: number;
  /** When to begin, by `Date.now()`, to begin together with another process. */
  readonly begin?: number;
}

/** The output of the process. */
export interface Printed extends Round {
  way: string;
  workers: number;
}

const { ways, tasks, workers, rounds, warmUp, begin } = orderOf<Job>();
const messages = messagesOf(tasks);
const expected = new Uint8Array(tasks.count * RESULT);
for (const [i, message] of messages.entries()) {
  expected.set(solve(tasks.kind, message), i * RESULT);
}

async function run(way: string, count: number) {
  const results = new Uint8Array(new SharedArrayBuffer(expected.length));
  const memory = meters(count);
  const setting = { tasks, messages, results, workers: count, meters: memory };
  const crew = await WAYS[way]!(setting);
  // With more workers than cores, rounds are long and similar.
  const most = count > 2 ? Math.ceil(rounds / 3) : rounds;
  // The first rounds only let the compilers work.
  const start = performance.now();
  let counts = false;
  for (let i = 0; i < most;) {
    results.fill(0);
    const it = await round(memory, count, () => crew.run());
    const wrong = results.findIndex((byte, at) => byte !== expected[at]);
    if (wrong >= 0) {
      throw new Error(
        `the result of task ${Math.floor(wrong / RESULT)} is off`,
      );
    }
    const metered = it.shares.reduce((sum, share) => sum + share.tasks, 0);
    const done = metered + (crew.elsewhere?.() ?? 0);
    if (done !== tasks.count) throw new Error(`${done} tasks were done`);
    if (counts) {
      console.log(JSON.stringify({ way, workers: count, ...it }));
      i++;
    }
    counts ||= performance.now() - start >= warmUp;
  }
  await crew.stop?.();
}

if (begin !== undefined) {
  const left = begin - Date.now();
  if (left < 0) throw new Error(`ready ${-left} ms too late`);
  await new Promise((resolve) => setTimeout(resolve, left));
}
for (const way of ways) {
  for (const count of workers) await run(way, count);
}
process.exit(0);
