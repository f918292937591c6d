/**
 * The part of the torture in which C in WebAssembly and JavaScript send each
 * other numbers, on threads of both: `deno run -A mixed.ts MILLISECONDS SEED`.
 * Each line of the output is a {@linkcode Row}, as JSON.
 *
 * @module
 */
import process from "node:process";
import { MpmcQueue, SpscQueue } from "../../mod.ts";
import { whySkipped } from "../_run/missing.ts";
import { NEAR_WRAP } from "../_run/model.ts";
import { PLAY, type Role } from "../_twin/plays.ts";
import { type Player, Stage } from "../_twin/stage.ts";
import { wind } from "../_twin/wind.ts";
import type { Row } from "./_row.ts";

const COUNT = 50_000;

/** Producers and consumers. */
const CASTS: readonly (readonly [Player[], Player[]])[] = [
  [["C"], ["JS"]],
  [["JS"], ["C"]],
  [["C", "JS"], ["C", "JS"]],
];

const megabytes = () => process.memoryUsage().rss / 2 ** 20;

/** Sends numbers from all producers to all consumers; what was wrong. */
async function round(
  stage: Stage,
  [producers, consumers]: readonly [Player[], Player[]],
  number: number,
): Promise<string | undefined> {
  stage.clear();
  const single = producers.length === 1;
  const Queue = single ? SpscQueue : MpmcQueue;
  const config = { capacity: 256, elementSize: number % 2 === 0 ? 4 : 20 };
  const at = stage.place(Queue.byteLength(config));
  const queue = Queue.init(stage.memory, at, config);
  wind(queue, [0, ...NEAR_WRAP][number % 3]! - COUNT | 0);
  const stem = single ? "spsc" : "mpmc";
  const total = COUNT * producers.length;
  const extra = stage.place(4 * total);
  const parts = { at, count: COUNT };
  const taken = await Promise.all(
    consumers.map((by) =>
      stage.start({ by, role: `${stem} consume` as Role, extra, ...parts })
    ),
  );
  await stage.perform(producers.map((by, number) => ({
    ...{ by, role: `${stem} produce` as Role, number, ...parts },
  })));
  queue.close();
  await Promise.all(taken.map(({ over }) => over));
  const sum = taken.reduce((n, { words }) => n + words[PLAY.result]!, 0);
  const seen = stage.heap.subarray(extra / 4, extra / 4 + total);
  if (sum !== total) return `${total} were sent, ${sum} came`;
  if (!seen.every((times) => times === 1)) return "one did not come once";
}

async function soak(stage: Stage, time: number): Promise<Row> {
  const end = performance.now() + time;
  const problems: string[] = [];
  let volume = 0;
  let before = 0;
  for (let i = 0; i === 0 || performance.now() < end; i++) {
    const cast = CASTS[i % CASTS.length]!;
    try {
      const wrong = await round(stage, cast, i);
      if (wrong !== undefined) problems.push(wrong);
    } catch (error) {
      problems.push(`${error}`);
    }
    if (problems.length > 0) break;
    volume += COUNT * cast[0].length;
    if (i === 12) before = megabytes();
  }
  const growth = before === 0 ? 0 : megabytes() - before;
  if (growth > 64) problems.push(`memory grew by ${growth} MB`);
  return {
    what: "queues: between C in WebAssembly and JavaScript",
    volume,
    unit: "messages",
    ...(before !== 0 && { note: `memory grew by ${Math.round(growth)} MB` }),
    problems,
  };
}

try {
  const stage = await Stage.open();
  const [, , time = "1000"] = process.argv;
  console.log(JSON.stringify(await soak(stage, Number(time))));
} catch (error) {
  const why = whySkipped(error);
  if (why === undefined) throw error;
  console.log(`skipped: ${why}`);
}
process.exit(0); // the threads of C would go on
