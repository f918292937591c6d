/** A worker of the storm on a pool. */
import process from "node:process";
import { servePool, type TaskContext } from "../../primitives/pool.ts";
import { hello } from "../_run/workers.ts";
import { type Ask, ODD_VALUES, tasks } from "./_pool_tasks.ts";

/** What the storm tells a worker. */
export interface Orders {
  readonly blocking: boolean;
  readonly limit: number;
  /** How often each task was begun. */
  readonly begun: Int32Array;
}

const { data } = await hello<Orders>();
const { begun, blocking, limit } = data;
const begin = (
  { at, n, reports = 0 }: Ask,
  context?: TaskContext,
): number => {
  Atomics.add(begun, at, 1);
  for (let i = 0; i < reports; i++) context!.report(i);
  return n;
};

function spin(ms: number): number {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return ms;
}

/**
 * The message of the task's handle; it does not come if the task is given up
 * before the pool knows which worker does it.
 */
function heard(context: TaskContext): Promise<number> {
  return new Promise((resolve) => {
    context.listen(resolve);
    const { signal } = context;
    if (signal.aborted) resolve(-1);
    else signal.addEventListener("abort", () => resolve(-1));
  });
}

/** Ends this worker. */
function die(ask: Ask): null {
  begin(ask);
  if ("process" in globalThis && !("Deno" in globalThis)) process.exit(3);
  (globalThis as unknown as { close(): void }).close();
  return null;
}

await servePool(tasks, {
  text: (ask, context) => "x".repeat(begin(ask, context)),
  bytes: (bytes) => bytes.map((byte) => byte + 1),
  nap: (ask, context) => {
    const ms = begin(ask, context);
    if (ask.hears) return heard(context);
    if (blocking) return spin(ms);
    return new Promise((resolve) => setTimeout(resolve, ms, ms));
  },
  spin: (ask) => spin(begin(ask)),
  again: (ask) => "x".repeat(begin(ask)),
  odd: (ask) => ODD_VALUES[begin(ask) % ODD_VALUES.length],
  oddly: (ask) => {
    throw ODD_VALUES[begin(ask) % ODD_VALUES.length];
  },
  wait: (ask, { signal }) => {
    begin(ask);
    if (blocking) {
      while (!signal.aborted);
      return null;
    }
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(null));
    });
  },
  die,
  dieAgain: die,
  fail: (ask, context) => {
    throw new RangeError("x".repeat(begin(ask, context)));
  },
}, { blocking, limit });
