// Does the Mutex cost little more than its two atomics when nobody else wants
// it, pass more sections than a lock that notifies at every unlock when others
// do, and let nobody wait for long? Floor: two bare compareExchange.
import { Mutex } from "../mod.ts";
import type { Contended } from "./_mutex.ts";
import {
  contest,
  type Contestant,
  medians,
  type Row,
  threads,
} from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_mutex.ts", import.meta.url);

/** Lock and unlock, in one thread that is alone. */
async function alone(): Promise<Row[]> {
  const n = 3_000_000;
  const url = peer("multithreading");
  const results = await contest([
    await threads("guard", MODULE, [{ make: "aloneWeft", data: n }]),
    await threads("using", MODULE, [{ make: "aloneUsing", data: n / 9 }]),
    await threads("bare", MODULE, [{ make: "aloneBare", data: n }]),
    await threads("bareUsing", MODULE, [{
      make: "aloneBareUsing",
      data: n / 9,
    }]),
    ...url === undefined ? [] : [
      await threads("peer", MODULE, [
        { make: "alonePeer", data: { url: url.href, n: n / 30 } },
      ]),
    ],
  ]);
  const { guard, using, bare, bareUsing, peer: other } = results;
  const ns = (summary: typeof guard) => summary.medians.ns!;
  const rows: Row[] = [
    {
      name: "Mutex lock + guard.unlock / two bare compareExchange",
      figure: ns(guard) / ns(bare),
      unit: "x",
      target: { most: 1.4 },
      from: medians(results, ["guard", "bare"]),
    },
    {
      name: "Mutex `using lock` / `using` two bare compareExchange",
      figure: ns(using) / ns(bareUsing),
      unit: "x",
      from: medians(results, ["using", "bareUsing"]),
    },
  ];
  if (other !== undefined) {
    rows.push({
      name: `Mutex lock + guard.unlock / ${
        nameOf("multithreading")
      } blockingLock`,
      figure: ns(guard) / ns(other),
      unit: "x",
      target: { most: 0.1 },
      from: medians(results, ["guard", "peer"]),
    });
  }
  return rows;
}

/** A contestant whose `count` threads share one lock, for 200 ms a turn. */
async function sharing<Name extends string>(
  name: Name,
  make: string,
  count: number,
  inside: number,
  outside: number,
  ms = 200,
): Promise<Contestant & { readonly name: Name }> {
  const data: Contended = {
    lock: Mutex.create().handle,
    count: new Int32Array(new SharedArrayBuffer(4)),
    inside,
    outside,
  };
  const roles = Array.from({ length: count }, () => ({ make, data }));
  return await threads(name, MODULE, roles, {
    ms,
    check(did) {
      const sections = did.reduce((sum, { ops }) => sum + ops, 0);
      if (data.count[0] !== sections) throw new Error(`${name} let two in`);
      data.count[0] = 0;
    },
  });
}

async function contended(perNs: number): Promise<Row[]> {
  const rows: Row[] = [];
  const cases = [[0, 0], [50, 50], [1000, 200]] as const;
  for (const count of [2, 4]) {
    for (const [inside, outside] of cases) {
      const rounds = [inside, outside].map((ns) => Math.round(ns / perNs)) as [
        number,
        number,
      ];
      const results = await contest([
        await sharing("mutex", "contendedWeft", count, ...rounds),
        await sharing("plain", "contendedPlain", count, ...rounds),
      ]);
      const { mutex, plain } = results;
      const title = `Mutex, ${count} threads, ${inside} ns sections, ` +
        `${outside} ns apart`;
      rows.push({
        name: `${title}: throughput / a lock that always notifies`,
        figure: plain.medians.ns! / mutex.medians.ns!,
        unit: "x",
        target: { least: 1.4 },
        from: medians(results),
      }, {
        name: `${title}: most / least sections of a thread`,
        figure: mutex.medians.share!,
        unit: "x",
        target: { most: 1.8 },
        from: `the other lock ${plain.medians.share!.toFixed(2)}`,
      });
    }
  }
  return rows;
}

async function longest(perNs: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of [2, 4]) {
    const rounds = Math.round(27_000 / perNs);
    const results = await contest([
      await sharing("mutex", "longestWeft", count, rounds, 0, 300),
      await sharing("plain", "longestPlain", count, rounds, 0, 300),
    ]);
    rows.push({
      name: `Mutex, ${count} threads, 27 us sections, no gap: longest wait`,
      figure: results.mutex.medians.longest!,
      unit: "ms",
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
