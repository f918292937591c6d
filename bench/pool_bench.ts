// How many more tasks of a microsecond does the pool do in a second than
// piscina? Are hashes of much data done as fast as by two processes that share
// nothing? Is any case of piscina's own benchmarks slower? What does it take to
// ask a pool for its figures? Each figure comes from processes that take turns.
// Piscina always runs in Node: it does not start under Deno.
import {
  contest,
  type Contestant,
  medians,
  plain,
  ratio,
  type Row,
} from "./contest.ts";
import { nameOf, peer } from "./peers.ts";
import type { Cost, Order } from "./pool/process.ts";
import { ask, Failed, type Host } from "./workloads/processes.ts";

const PROGRAM = new URL("./pool/process.ts", import.meta.url);

/** Where our own pool runs: in this runtime. */
const HOST: Host = "Deno" in globalThis ? "Deno" : "Node";

const TURNS = 3;

/** Seconds that a process may take. */
const LIMIT = 60;

type Named<Name extends string> = Contestant & { readonly name: Name };

/**
 * A contestant whose turns are processes, which warm up by themselves. So its
 * first turn, which does not count, does nothing.
 */
function turns<Name extends string>(
  name: Name,
  turn: () => Promise<Cost>,
): Named<Name> {
  let first = true;
  return {
    name,
    turn: async () => {
      const cost = first ? { ns: 0, cpu: 0 } : await turn();
      first = false;
      return { ...cost };
    },
  };
}

/** A contestant that is a process of its own in each turn. */
const apart = <Name extends string>(name: Name, order: Order): Named<Name> =>
  turns(name, async () => {
    const host = order.peer === undefined ? HOST : "Node";
    const [cost] = await ask<Cost>(host, PROGRAM, order, LIMIT);
    return cost!;
  });

/** Ms until two processes begin together: they make their data first. */
let soon = 1500;

/** Two processes with one thread each, which share nothing. */
const two = (order: Order): Named<"two"> =>
  turns("two", async () => {
    for (;;) {
      const begin = Date.now() + (order.warmUp ?? 0) + soon;
      const alone: Order = { ...order, task: "alone", begin };
      try {
        const both = await Promise.all(
          [1, 2].map(() => ask<Cost>(HOST, PROGRAM, alone, LIMIT)),
        );
        const [a, b] = both.map(([cost]) => cost!);
        return { ns: (a!.ns + b!.ns) / 4, cpu: (a!.cpu + b!.cpu) / 2 };
      } catch (error) {
        if (!(error instanceof Failed) || soon > 10_000) throw error;
        soon *= 2; // one of them was not ready in time
      }
    }
  });

/** The same order for our pool, awaiting and blocking, and for piscina. */
const rivals = (order: Order, url: string) =>
  [
    apart("weft", order),
    apart("blocking", { ...order, blocking: true }),
    apart("piscina", { ...order, peer: url }),
  ] as const;

async function small(url: string): Promise<Row[]> {
  const order: Order = { task: "small", workers: 2, count: 5000, rounds: 5 };
  const results = await contest(rivals(order, url), TURNS);
  const row = (name: "weft" | "blocking", how: string): Row => ({
    name: `tasks of 1 us, 2 workers, ${how}: tasks/s / ${nameOf("piscina")}`,
    ...ratio(results, "piscina", name),
    target: { least: 6 },
  });
  return [row("weft", "awaiting"), row("blocking", "blocking")];
}

/** Workers, and histograms with tasks of many lengths, are what it reads. */
async function stats(): Promise<Row> {
  const order: Order = { task: "stats", workers: 2, count: 5000, rounds: 15 };
  const { turn } = apart("stats", order);
  const micros = async () => {
    const { ns, ...it } = await turn();
    return { ns: ns!, us: ns! / 1000, ...it };
  };
  const results = await contest([{ name: "stats", turn: micros }], TURNS);
  return {
    name: "pool.stats(), 2 workers, after 5,000 tasks: time of a call",
    ...plain(results, "stats", "us", "us"),
    target: { most: 2 },
    from: medians(results),
  };
}

async function hashes(url: string): Promise<Row[]> {
  const order: Order = {
    task: "hash",
    workers: 2,
    count: 512,
    size: 2 ** 16,
    limit: 32,
    rounds: 9,
    warmUp: 2000,
    blocking: true,
  };
  const results = await contest([
    apart("in place", { ...order, inPlace: true }),
    apart("copied", order),
    apart("piscina", { ...order, peer: url }),
    two(order),
  ], TURNS);
  const name = "SHA-256 of 64 KiB, 2 workers";
  return [{
    name: `${name}, in place: time / two processes that share nothing`,
    ...ratio(results, "in place", "two"),
    target: { most: 1.05 },
  }, {
    name: `${name}, copied: time / two processes that share nothing`,
    ...ratio(results, "copied", "two"),
  }, {
    name: `${name}, copied: tasks/s / ${nameOf("piscina")}`,
    ...ratio(results, "piscina", "copied"),
    target: { least: 1 },
  }];
}

/** Texts of 64 KiB, by pools to which nobody told how long requests are. */
async function texts(url: string): Promise<Row> {
  const order: Order = {
    task: "text",
    workers: 2,
    count: 512,
    size: 2 ** 16,
    limit: 32,
    rounds: 9,
    warmUp: 1000,
  };
  const results = await contest([
    apart("weft", order),
    apart("piscina", { ...order, peer: url }),
  ], TURNS);
  return {
    name: `texts of 64 KiB, 2 workers: tasks/s / ${nameOf("piscina")}`,
    ...ratio(results, "piscina", "weft"),
    target: { least: 1 },
  };
}

/**
 * What piscina's own benchmarks do, with as many workers as it starts, and with
 * both of its queues. Its default queue takes seconds for 100,000 tasks, so one
 * round of it is enough.
 */
async function theirOwn(url: string): Promise<Row[]> {
  const one: Order = {
    task: "add",
    workers: 1,
    count: 3000,
    rounds: 7,
    limit: 1,
  };
  const all: Order = {
    task: "add",
    workers: 2,
    count: 100_000,
    rounds: 1,
    whole: true,
  };
  const queue: Order = {
    task: "queue",
    workers: 0,
    count: 100_000,
    rounds: 15,
  };
  const once: Partial<Order> = { rounds: 1, whole: true };
  const cases: [string, Order, Partial<Order>][] = [
    ["one task after the other", one, {}],
    ["a pool for 100,000 tasks", all, {}],
    ["100,000 into the queue and out of it", queue, once],
  ];
  const rows: Row[] = [];
  for (const [name, order, theirs] of cases) {
    const peer: Order = { ...order, workers: 0, peer: url };
    const results = await contest([
      apart("weft", { ...order, blocking: true }),
      apart("piscina", { ...peer, ...theirs }),
      apart("FixedQueue", { ...peer, fixed: true }),
    ], TURNS);
    for (const rival of ["piscina", "FixedQueue"] as const) {
      rows.push({
        name: `piscina's own benchmark, ${name}: tasks/s / ` +
          nameOf("piscina") + (rival === "piscina" ? "" : ", FixedQueue"),
        ...ratio(results, rival, "weft"),
        target: { least: 1 },
      });
    }
  }
  return rows;
}

/** All rows of this bench. It takes one to three minutes. */
export async function rows(): Promise<Row[]> {
  const url = peer("piscina")?.href;
  if (url === undefined) return [await stats()];
  return [
    ...await small(url),
    ...await hashes(url),
    await texts(url),
    ...await theirOwn(url),
    await stats(),
  ];
}
