// What does it cost to get a task? Floor: a bare Atomics.add for each task, or
// for each chunk of tasks. There is no peer on npm.
import { WorkCounter } from "../mod.ts";
import type { Chunks } from "./_work_counter.ts";
import { contest, ratio, type Row, threads } from "./contest.ts";

const MODULE = new URL("./_work_counter.ts", import.meta.url);
/** More tasks than all turns need. */
const TOTAL = 2 ** 30;
const CHUNK = 64;

async function compare(agents: number): Promise<Row[]> {
  const n = agents === 1 ? 4_000_000 : 400_000 / agents;
  const roles = (make: string, data: Chunks) =>
    Array.from({ length: agents }, () => ({ make, data }));
  const ours = (chunk: number) => {
    const { handle: counter } = WorkCounter.create(TOTAL, { chunk });
    return roles("next", { counter, n, chunk });
  };
  const bare = (chunk: number) => {
    const words = new Int32Array(new SharedArrayBuffer(4));
    return roles("bare", { words, n, chunk });
  };
  const results = await contest([
    await threads("next", MODULE, ours(1)),
    await threads("add", MODULE, bare(1)),
    await threads("next, chunks", MODULE, ours(CHUNK)),
    await threads("add, chunks", MODULE, bare(CHUNK)),
  ]);
  const title = `WorkCounter, ${agents} thread${agents === 1 ? "" : "s"}`;
  const of = (suffix: "" | ", chunks", what: string): Row => ({
    name: `${title}, ${what}: time / bare Atomics.add`,
    ...ratio(results, `next${suffix}`, `add${suffix}`),
  });
  return [of("", "single tasks"), of(", chunks", `chunks of ${CHUNK}`)];
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [...await compare(1), ...await compare(2)];
}
