/**
 * Lets one pool do tasks again and again, in a process of its own, and prints
 * what a task costs.
 *
 * @module
 */

import { randomFillSync } from "node:crypto";
import process from "node:process";
import { Worker } from "node:worker_threads";
import { Job } from "../../primitives/_pool/jobs.ts";
import { Line } from "../../primitives/_pool/line.ts";
import { Pool } from "../../primitives/pool.ts";
import { median } from "../contest.ts";
import { orderOf } from "../workloads/processes.ts";
import { functions, STEPS, tasks } from "./tasks.ts";

/** What a process is to do. */
export interface Order {
  /** The module of piscina; without one, our pool does the tasks. */
  readonly peer?: string | undefined;
  /** How a worker of ours waits. */
  readonly blocking?: boolean;
  /**
   * "alone" hashes in this thread; "queue" only puts into a queue and takes;
   * "stats" asks a pool that has done tasks what it has done.
   */
  readonly task: keyof typeof tasks | "alone" | "queue" | "stats";
  /** Whether piscina has its other queue. */
  readonly fixed?: boolean;
  /** 0: as many as piscina makes unless told. */
  readonly workers: number;
  /** Tasks of a round. */
  readonly count: number;
  /** Bytes of a task, if it is a hash, or letters of a text. */
  readonly size?: number;
  /** Whether the data lie in the pool's memory. */
  readonly inPlace?: boolean;
  /** How many tasks are under way at a time; all of them unless given. */
  readonly limit?: number;
  readonly rounds: number;
  /**
   * How many ms to do rounds before those that count. A few thousand tasks pass
   * until the compilers are done; a thread that only hashes has nothing that
   * needs to be compiled.
   */
  readonly warmUp?: number;
  /** When to begin, by `Date.now()`, to begin together with another process. */
  readonly begin?: number;
  /** Whether the making of the pool and its end are part of each round. */
  readonly whole?: boolean;
}

/** What it prints: the medians of all rounds but the first. */
export interface Cost {
  /** ns of a task, and processor time of all threads for it. */
  ns: number;
  cpu: number;
}

/** A pool that is ready. */
interface Doer {
  run(name: keyof typeof tasks, request: unknown): Promise<unknown>;
  close(): unknown;
}

const WORKER = new URL("./worker.ts", import.meta.url);
const PEER = new URL("./peer_worker.ts", import.meta.url);

const order = orderOf<Order>();

interface Piscina {
  run(request: unknown, options: { name: string }): Promise<unknown>;
  destroy(): Promise<void>;
}

async function piscina(url: string): Promise<Doer> {
  const { Piscina, FixedQueue } = await import(url);
  const { workers } = order;
  const taskQueue = order.fixed ? { taskQueue: new FixedQueue() } : {};
  const threads = workers === 0
    ? {}
    : { minThreads: workers, maxThreads: workers };
  const pool: Piscina = new Piscina({
    filename: PEER.href,
    ...threads,
    ...taskQueue,
  });
  return {
    run: (name, request) => pool.run(request, { name }),
    close: () => pool.destroy(),
  };
}

/** The room of a task; texts go by the default. */
const ROOM = order.task === "text"
  ? {}
  : { bytes: Math.max(order.size ?? 0, 64) + 8 };

/** The pool and, behind it, data. */
const memory = order.inPlace
  ? new SharedArrayBuffer(Pool.byteLength(ROOM) + order.count * order.size!)
  : undefined;

function weft(): Doer {
  const { blocking = false, workers } = order;
  const make = () => new Worker(WORKER, { workerData: { blocking } });
  const options = { tasks, workers, ...ROOM, make, memory };
  return new Pool(options) as unknown as Doer;
}

function alone(): Doer {
  const run = (name: keyof typeof tasks, request: unknown) =>
    Promise.resolve(functions[name](request as never));
  return { run, close: () => {} };
}

const { task, count, size = 0, limit = count, rounds, whole = false } = order;
const asked = task === "stats" ? "small" : task;
const name = asked === "alone" || asked === "queue" ? "hash" : asked;

/** The requests: each has data of its own, more than the caches hold. */
function requestsOf(): unknown[] {
  if (task === "queue") return [];
  if (name === "add") {
    return Array.from({ length: count }, () => ({ a: 4, b: 6 }));
  }
  if (name === "small") {
    return Array.from({ length: count }, (_, i) => STEPS + i % 64);
  }
  if (name === "text") {
    return Array.from({ length: count }, (_, i) => `${i} `.padEnd(size, "x"));
  }
  const bytes = new Uint8Array(count * size);
  const part = 2 ** 28;
  for (let at = 0; at < bytes.length; at += part) {
    randomFillSync(bytes.subarray(at, at + part));
  }
  const data = memory ? new Uint8Array(memory, Pool.byteLength(ROOM)) : bytes;
  if (memory) data.set(bytes);
  return Array.from(
    { length: count },
    (_, i) => data.subarray(i * size, (i + 1) * size),
  );
}

/** Puts all jobs into a queue, and takes them. */
async function queueRounds(): Promise<() => Promise<unknown[]>> {
  if (order.peer === undefined) {
    const end = { resolve: () => {}, reject: () => {} };
    const jobs = Array.from(
      { length: count },
      (_, i) => new Job(undefined, 0, i, 0, end),
    );
    const line = new Line<Job>();
    return () => {
      for (const job of jobs) line.put(job);
      for (let job; (job = line.first) !== undefined;) line.remove(job);
      return Promise.resolve([]);
    };
  }
  const { FixedQueue, ArrayTaskQueue } = await import(order.peer);
  const queue = order.fixed ? new FixedQueue() : new ArrayTaskQueue();
  return () => {
    for (let i = 0; i < count; i++) queue.push(i);
    for (let i = 0; i < count; i++) queue.shift();
    return Promise.resolve([]);
  };
}

/** Has a pool do all tasks, then asks it as often for its figures. */
async function statsRounds(): Promise<() => Promise<unknown[]>> {
  const pool = weft() as unknown as Pool<typeof tasks>;
  await round(pool as unknown as Doer);
  return () => {
    let seen = 0;
    for (let i = 0; i < count; i++) seen += pool.stats().done;
    if (seen !== count * count) throw new Error(`${seen} tasks were counted`);
    return Promise.resolve([]);
  };
}

const requests = requestsOf();
const expected = requests.map((it) => functions[name](it as never));

/** Whether two results are equal. */
function same(a: unknown, b: unknown): boolean {
  if (!ArrayBuffer.isView(a)) return a === b;
  const [x, y] = [a, b] as Uint8Array[];
  return x!.length === y!.length && x!.every((byte, i) => byte === y![i]);
}

/** Does all tasks once; returns their results. */
async function round(pool: Doer): Promise<unknown[]> {
  // Piscina clones all memory behind a view, so it gets a copy.
  const of = order.peer !== undefined && name === "hash"
    ? (i: number) => (requests[i] as Uint8Array).slice()
    : (i: number) => requests[i];
  if (limit >= count) {
    const all = Array.from({ length: count }, (_, i) => pool.run(name, of(i)));
    return await Promise.all(all);
  }
  const results: unknown[] = new Array(count);
  let next = 0;
  const caller = async () => {
    for (let i; (i = next++) < count;) {
      results[i] = await pool.run(name, of(i));
    }
  };
  await Promise.all(Array.from({ length: limit }, caller));
  return results;
}

const make = () =>
  task === "alone" ? alone() : order.peer ? piscina(order.peer) : weft();

async function measured(run: () => Promise<unknown[]>): Promise<Cost> {
  const before = process.cpuUsage();
  const begin = performance.now();
  const results = await run();
  const wall = performance.now() - begin;
  const { user, system } = process.cpuUsage(before);
  const wrong = results.findIndex((it, i) => !same(it, expected[i]));
  if (wrong >= 0) throw new Error(`the result of task ${wrong} is off`);
  return { ns: wall * 1e6 / count, cpu: (user + system) * 1e3 / count };
}

const costs: Cost[] = [];
const wholeRound = async () => {
  const pool = await make();
  const results = await round(pool);
  await pool.close();
  return results;
};
async function rounded(): Promise<() => Promise<unknown[]>> {
  if (task === "queue") return await queueRounds();
  if (task === "stats") return await statsRounds();
  if (whole) return wholeRound;
  const pool = await make();
  return () => round(pool);
}
const once = await rounded();
const { begin, warmUp = 0 } = order;
if (!whole) {
  const start = performance.now();
  // The compilers work, and the workers start.
  do await once(); while (performance.now() - start < warmUp);
}
if (begin !== undefined) {
  const left = begin - Date.now();
  if (left < 0) throw new Error(`ready ${-left} ms too late`);
  await new Promise((resolve) => setTimeout(resolve, left));
}
for (let i = 0; i < rounds; i++) costs.push(await measured(once));
const middle = (key: keyof Cost) => median(costs.map((cost) => cost[key]));
console.log(JSON.stringify({ ns: middle("ns"), cpu: middle("cpu") }));
process.exit(0);
