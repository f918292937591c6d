// Does the MpmcQueue move ints between any number of threads many times faster
// than a channel of npm's `multithreading`, and than postMessage? Floor:
// Vyukov's queue on bare atomics, which neither sleeps nor closes.
import { MpmcQueue } from "../mod.ts";
import * as kernel from "../primitives/kernel/kernel.ts";
import {
  contest,
  type Contestant,
  ratio,
  type Role,
  type Row,
  threads,
} from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_mpmc_queue.ts", import.meta.url);
const CAPACITY = 1024;

/** Roles of `pairs` producers and consumers, `n` elements each. */
function roles(
  pairs: number,
  n: number,
  push: Role,
  pop: Role,
): Role[] {
  return Array.from({ length: 2 * pairs }, (_, k) => {
    const { make, data } = k % 2 === 0 ? push : pop;
    return { make, data: { ...data as Record<string, unknown>, n } };
  });
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
  const ends = Array.from({ length: 2 * pairs }, (_, k) => ({
    make: k % 2 === 0 ? "pushPeer" : "popPeer",
    data: {
      url: url.href,
      shared,
      n,
      end: serialize((k % 2 === 0 ? sender : receiver).clone())[0],
    },
  }));
  return [await threads("peer", MODULE, ends)];
}

async function compare(pairs: number): Promise<Row[]> {
  const n = pairs === 1 ? 12_000 : 40_000 / pairs;
  const few = pairs === 1 ? 500 : 1_000 / pairs;
  const queue = MpmcQueue.create({ capacity: CAPACITY }).handle;
  const words = new Int32Array(new SharedArrayBuffer((64 + 2 * CAPACITY) * 4));
  for (let i = 0; i < CAPACITY; i++) words[64 + 2 * i] = i;
  const ports = Array.from({ length: pairs }, () => new MessageChannel());
  const inKernel = {
    queue: kernel.MpmcQueue.create({ capacity: CAPACITY }).handle,
    kernel: true,
  };
  const results = await contest([
    await threads(
      "kernel",
      MODULE,
      roles(pairs, n, { make: "push", data: inKernel }, {
        make: "pop",
        data: inKernel,
      }),
    ),
    await threads(
      "queue",
      MODULE,
      roles(pairs, n, { make: "push", data: { queue } }, {
        make: "pop",
        data: { queue },
      }),
    ),
    ...await channel(pairs, few),
    await threads(
      "postMessage",
      MODULE,
      ports.flatMap(({ port1, port2 }) => [
        {
          make: "pushPort",
          data: { port: port1, n: few },
          ports: [port1],
        },
        {
          make: "popPort",
          data: { port: port2, n: few },
          ports: [port2],
        },
      ]),
    ),
    await threads(
      "bare",
      MODULE,
      roles(pairs, n, { make: "pushBare", data: { words } }, {
        make: "popBare",
        data: { words },
      }),
    ),
  ]);
  const ends = `${pairs} producer${pairs > 1 ? "s" : ""}, ` +
    `${pairs} consumer${pairs > 1 ? "s" : ""}, ints: throughput`;
  const rows: Row[] = [];
  if ("peer" in results) {
    const peer = `${nameOf("multithreading")} channel`;
    rows.push({
      name: `MpmcQueue, ${ends} / ${peer}`,
      ...ratio(results, "peer", "queue"),
      target: { least: 40 },
    }, {
      name: `MpmcQueue in the kernel, ${ends} / ${peer}`,
      ...ratio(results, "peer", "kernel"),
      target: { least: 100 },
    });
  }
  rows.push({
    name: `MpmcQueue, ${ends} / postMessage`,
    ...ratio(results, "postMessage", "queue"),
    target: { least: 8 },
  }, {
    name: `MpmcQueue in the kernel, ${ends} / postMessage`,
    ...ratio(results, "postMessage", "kernel"),
    target: { least: 40 },
  }, {
    name: `MpmcQueue, ${ends} / Vyukov's queue on bare atomics`,
    ...ratio(results, "bare", "queue"),
  });
  return rows;
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [...await compare(1), ...await compare(2), ...await compare(4)];
}
