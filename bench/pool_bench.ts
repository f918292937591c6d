// Under Node: how many more tasks of a microsecond does the pool do in a second
// than piscina? Are hashes of much data done as fast as by two processes that
// share nothing? Is any case of piscina's own benchmarks slower? Each figure
// comes from processes that take turns. (Under Deno piscina does not start.)
import { contest, type Contestant, ratio, type Row } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";
import type { Cost, Order } from "./pool/process.ts";
import { ask } from "./workloads/processes.ts";

const PROGRAM = new URL("./pool/process.ts", import.meta.url);

const TURNS = 3;

/** Seconds that a process may take. */
const LIMIT = 60;

/** A contestant that is a process of its own in each turn. */
function apart<Name extends string>(
  name: Name,
  order: Order,
): Contestant & { readonly name: Name } {
  const turn = async () => {
    const [cost] = await ask<Cost>("Node", PROGRAM, order, LIMIT);
    return { ...cost! };
  };
  return { name, turn };
}

/** Ms until two processes begin together: they make their data first. */
const SOON = 8000;

/** Two processes with one thread each, which share nothing. */
function two(order: Order): Contestant & { readonly name: "two" } {
  const turn = async () => {
    const begin = Date.now() + SOON;
    const alone: Order = { ...order, task: "alone", begin };
    const both = await Promise.all(
      [1, 2].map(() => ask<Cost>("Node", PROGRAM, alone, LIMIT)),
    );
    const [a, b] = both.map(([cost]) => cost!);
    return { ns: (a!.ns + b!.ns) / 4, cpu: (a!.cpu + b!.cpu) / 2 };
  };
  return { name: "two", turn };
}

/** The same order for our pool, awaiting and blocking, and for piscina. */
function rivals(order: Order, url: string, theirs: Partial<Order> = {}) {
  return [
    apart("weft", order),
    apart("blocking", { ...order, blocking: true }),
    apart("piscina", { ...order, ...theirs, peer: url }),
  ];
}

async function small(url: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const workers of [1, 2]) {
    const order: Order = { task: "small", workers, count: 20_000, rounds: 7 };
    const results = await contest(rivals(order, url), TURNS);
    const row = (name: "weft" | "blocking", how: string): Row => ({
      name: `tasks of 1 us, ${workers} workers, ${how}: tasks/s / ` +
        nameOf("piscina"),
      ...ratio(results, "piscina", name),
      target: { least: 6 },
    });
    rows.push(row("weft", "awaiting"), row("blocking", "blocking"));
  }
  return rows;
}

async function hashes(url: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const size of [2 ** 16, 2 ** 20]) {
    const count = 2 ** 25 / size;
    const limit = size === 2 ** 16 ? 32 : 8;
    const order: Order = {
      task: "hash",
      workers: 2,
      count,
      size,
      limit,
      rounds: 7,
    };
    const all = [...rivals(order, url), two(order)] as const;
    const results = await contest(all, TURNS);
    const name = `SHA-256 of ${size / 1024} KiB, 2 workers`;
    rows.push({
      name: `${name}: time / two processes that share nothing`,
      ...ratio(results, "blocking", "two"),
      target: { most: 1.05 },
    }, {
      name: `${name}: tasks/s / ${nameOf("piscina")}`,
      ...ratio(results, "piscina", "blocking"),
      target: { least: 1 },
    });
  }
  return rows;
}

/** What piscina's own benchmarks do, with as many workers as it starts. */
async function theirOwn(url: string): Promise<Row[]> {
  const one: Order = {
    task: "add",
    workers: 1,
    count: 4000,
    rounds: 7,
    limit: 1,
  };
  const all: Order = {
    task: "add",
    workers: 2,
    count: 100_000,
    rounds: 2,
    whole: true,
  };
  const queue: Order = {
    task: "queue",
    workers: 0,
    count: 100_000,
    rounds: 21,
  };
  const cases: [string, Order, Partial<Order>][] = [
    ["one task after the other", one, { workers: 0 }],
    ["one after the other, FixedQueue", one, { workers: 0, fixed: true }],
    ["a pool for 100,000 tasks", all, { workers: 0 }],
    ["a pool for 100,000 tasks, FixedQueue", all, { workers: 0, fixed: true }],
    ["100,000 into the queue and out of it", queue, {}],
    ["100,000 into the FixedQueue and out of it", queue, { fixed: true }],
  ];
  const rows: Row[] = [];
  for (const [name, order, theirs] of cases) {
    const results = await contest(rivals(order, url, theirs), TURNS);
    rows.push({
      name: `piscina's own benchmark, ${name}: tasks/s / ${nameOf("piscina")}`,
      ...ratio(results, "piscina", "blocking"),
      target: { least: 1 },
    });
  }
  return rows;
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const url = peer("piscina")?.href;
  if (url === undefined) return [];
  return [...await small(url), ...await hashes(url), ...await theirOwn(url)];
}
