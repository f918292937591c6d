// Does the Mutex cost little more than its two atomics if nobody else wants it?
// If others do, does it pass more sections than a lock that notifies at every
// unlock, and does nobody wait for long? Floor: two bare compareExchange calls.
import { cpus } from "node:os";
import { Mutex } from "../mod.ts";
import type { Contended } from "./_mutex.ts";
import { beats, paired, type Results } from "./beats.ts";
import {
  contest,
  type Contestant,
  medians,
  plain,
  ratio,
  type Row,
  threads,
} from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_mutex.ts", import.meta.url);

/** Lock and unlock, in one thread that is alone. */
async function alone(): Promise<Row[]> {
  const url = peer("multithreading");
  const one = (name: string, make: string, data?: { url: string }) =>
    threads(name, MODULE, [{ make, data }]);
  const [results] = await beats([[
    await one("guard", "aloneWeft"),
    await one("using", "aloneUsing"),
    await one("bare", "aloneBare"),
    await one("bareUsing", "aloneBareUsing"),
    ...url === undefined
      ? []
      : [await one("peer", "alonePeer", { url: url.href })],
  ]]) as [Results];
  const rows: Row[] = [
    {
      name: "Mutex lock + guard.unlock / two bare compareExchange",
      ...paired(results, "guard", "bare"),
      target: { most: 1.4 },
    },
    {
      name: "Mutex `using lock` / `using` two bare compareExchange",
      ...paired(results, "using", "bareUsing"),
    },
  ];
  if ("peer" in results) {
    rows.push({
      name: `Mutex lock + guard.unlock / ${
        nameOf("multithreading")
      } blockingLock`,
      ...paired(results, "guard", "peer"),
      target: { most: 0.1 },
    });
  }
  return rows;
}

/** A contestant whose `count` threads share one lock. */
async function sharing<Name extends string>(
  name: Name,
  make: string,
  count: number,
  { inside, outside, n = Infinity, ms }: {
    inside: number;
    outside: number;
    /**
     * Sections of one thread in a lap. Without it, a turn is one lap of `ms`.
     */
    n?: number;
    ms?: number;
  },
): Promise<Contestant & { readonly name: Name }> {
  const lock = Mutex.create().handle;
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const roles = Array.from({ length: count }, (_, k) => {
    const data: Contended = {
      lock,
      count: counter,
      inside,
      outside,
      n: k === 0 ? n : Infinity,
    };
    return { make, data };
  });
  return await threads(name, MODULE, roles, {
    ...ms === undefined ? {} : { ms },
    check(did) {
      const sections = did.reduce((sum, { ops }) => sum + ops, 0);
      if (counter[0] !== sections) throw new Error(`${name} let two in`);
      counter[0] = 0;
    },
  });
}

async function contended(perNs: number): Promise<Row[]> {
  const rows: Row[] = [];
  const cases = [[0, 0], [50, 50], [1000, 200]] as const;
  for (const count of [2, 4]) {
    for (const [inside, outside] of cases) {
      const how = {
        inside: Math.round(inside / perNs),
        outside: Math.round(outside / perNs),
        // With more threads than cores, a lap must outlast their time slices.
        ...count <= cpus().length
          ? { n: Math.ceil(500_000 / (inside + outside + 50)) }
          : { ms: 200 },
      };
      const results = await contest([
        await sharing("mutex", "contendedWeft", count, how),
        await sharing("plain", "contendedPlain", count, how),
        // The floor: a thread that need not share the lock.
        await sharing("alone", "contendedWeft", 1, {
          inside: how.inside,
          outside: 0,
          ms: 100,
        }),
      ]);
      const title = `Mutex, ${count} threads, ${inside} ns sections, ` +
        `${outside} ns apart`;
      rows.push({
        name: `${title}: throughput / a lock that always notifies`,
        ...ratio(results, "plain", "mutex"),
        target: { least: 1.4 },
      }, {
        name: `${title}: most / least sections of a thread`,
        ...plain(results, "mutex", "share", "x"),
        target: { most: 1.8 },
        from: medians(results, ["mutex", "plain"], "share", "x"),
      }, {
        name: `${title}: throughput / one thread's sections without a pause`,
        ...ratio(results, "alone", "mutex"),
      });
    }
  }
  return rows;
}

async function longest(perNs: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of [2, 4]) {
    const inside = Math.round(27_000 / perNs);
    const how = { inside, outside: 0, ms: 300 };
    const results = await contest([
      await sharing("mutex", "longestWeft", count, how),
      await sharing("plain", "longestPlain", count, how),
    ]);
    rows.push({
      name: `Mutex, ${count} threads, 27 us sections, no gap: longest wait`,
      ...plain(results, "mutex", "longest", "ms"),
      ...count === 2 ? { target: { most: 5 } } : {},
      from: `${medians(results, ["mutex", "plain"], "longest", "ms")}; ` +
        medians(results),
    });
  }
  return rows;
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const { work } = await contest([
    await threads("work", MODULE, [{ make: "timeWork" }]),
  ], 3);
  const perNs = work.medians.ns!;
  return [
    ...await alone(),
    ...await contended(perNs),
    ...await longest(perNs),
  ];
}
