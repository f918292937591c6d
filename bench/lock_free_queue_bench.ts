// How much more does a LockFreeQueue, which no agent can block, cost than the
// MpmcQueue? It is also compared with a channel of npm's `multithreading`.
import { LockFreeQueue, MpmcQueue } from "../mod.ts";
import {
  contest,
  type Contestant,
  ratio,
  type Row,
  threads,
} from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_lock_free_queue.ts", import.meta.url);
const PEER = new URL("./_mpmc_queue.ts", import.meta.url);
const CAPACITY = 1024;

function ends(pairs: number, make: (k: number) => unknown, n: number) {
  return Array.from({ length: 2 * pairs }, (_, k) => ({
    make: k % 2 === 0 ? "push" : "pop",
    data: { ...make(k) as Record<string, unknown>, n },
  }));
}

async function channel(
  pairs: number,
  n: number,
): Promise<(Contestant & { name: "peer" })[]> {
  const url = peer("multithreading");
  if (url === undefined) return [];
  const shared = new URL("../lib/shared.js", url).href;
  const { channel } = await import(url.href);
  const { serialize } = await import(shared);
  const [sender, receiver] = channel(CAPACITY);
  // A handle can be sent only once, so each thread gets its own.
  const make = (k: number) => ({
    url: url.href,
    shared,
    end: serialize((k % 2 === 0 ? sender : receiver).clone())[0],
  });
  const roles = ends(pairs, make, n)
    .map((role) => ({ ...role, make: `${role.make}Peer` }));
  return [await threads("peer", PEER, roles)];
}

async function compare(pairs: number): Promise<Row[]> {
  const n = 200_000 / pairs;
  const { handle } = LockFreeQueue.create({ capacity: CAPACITY });
  const { handle: fast } = MpmcQueue.create({ capacity: CAPACITY });
  const results = await contest([
    await threads("queue", MODULE, ends(pairs, () => ({ queue: handle }), n)),
    await threads("mpmc", MODULE, ends(pairs, () => ({ queue: fast }), n)),
    ...await channel(pairs, 20_000 / pairs),
  ]);
  const title = `LockFreeQueue, ${pairs} to ${pairs}, ints: throughput`;
  const rows: Row[] = [{
    name: `${title} / MpmcQueue`,
    ...ratio(results, "mpmc", "queue"),
    target: { least: 0.4 },
  }];
  if ("peer" in results) {
    rows.push({
      name: `${title} / ${nameOf("multithreading")} channel`,
      ...ratio(results, "peer", "queue"),
      target: { least: 20 },
    });
  }
  return rows;
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [...await compare(1), ...await compare(2)];
}
