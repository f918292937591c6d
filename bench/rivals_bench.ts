// Are calls and pools faster than those of the other libraries, quietly and
// beside other programs? How much processor time does a call take on the side
// that awaits and serves? Here another program's load belongs to the question,
// so no turn is repeated for it.
import process from "node:process";
import { CallRing, serve } from "../mod.ts";
import { syncWorker } from "../primitives/sync_worker.ts";
import { spawn, start } from "../tests/_run/workers.ts";
import { asked, medianCall } from "./_rivals.ts";
import type { Api } from "./_sync_calls.ts";
import { beside, busyProcesses, longer, rounds } from "./busy.ts";
import {
  type Contestant,
  median,
  type Row,
  spread,
  threads,
} from "./contest.ts";
import { nameOf, type Peer, peer } from "./peers.ts";
import type { Cost, Order } from "./pool/process.ts";
import { ask, type Host } from "./workloads/processes.ts";

const CALLS = new URL("./_calls.ts", import.meta.url);
const TIMED = new URL("./_rivals.ts", import.meta.url);
const POOLS = new URL("./pool/process.ts", import.meta.url);

const BUSY = [0, 2];
const TURNS = 7;
const isDeno = "Deno" in globalThis;
const HOST: Host = isDeno ? "Deno" : "Node";

type Named<Name extends string> = Contestant & { readonly name: Name };

// ---- both sides await -------------------------------------------------------

const N = 500;

async function calls(busy: number): Promise<Row[]> {
  const comlink = peer("comlink");
  if (comlink === undefined) return [];
  const ring = CallRing.create({ request: 64, reply: 64 }).handle;
  const side = { ring, n: N, callers: 1 };
  const { port1, port2 } = new MessageChannel();
  const end = (make: string, port: MessagePort) => ({
    make,
    data: { port, n: N, callers: 1, peer: comlink.href },
    ports: [port],
  });
  const options = { laps: 1 };
  const contestants = [
    await threads(
      "weft",
      CALLS,
      [{ make: "called", data: side }, { make: "served", data: side }],
      options,
    ),
    await threads(
      "comlink",
      CALLS,
      [end("comlinkCalled", port1), end("comlinkServed", port2)],
      options,
    ),
  ];
  await rounds(contestants, 3);
  const times = await rounds(contestants, TURNS);
  for (const it of contestants) it.stop?.();
  return [{
    name: `serve and connect, one at a time, ${beside(busy)}: calls/s / ` +
      nameOf("comlink"),
    ...longer(times, "comlink", "weft"),
    target: { least: 1 },
  }];
}

/** The processor time of a call in the thread that serves it. */
async function processorTime(): Promise<Row[]> {
  const comlink = peer("comlink");
  if (process.platform !== "linux" || comlink === undefined) return [];
  const ring = CallRing.create({ request: 64, reply: 64 }).handle;
  const side = { ring, n: N, callers: 1 };
  const { port1, port2 } = new MessageChannel();
  const end = (make: string, port: MessagePort) => ({
    make,
    data: { port, n: N, callers: 1, peer: comlink.href },
    ports: [port],
  });
  const bare = { words: new Int32Array(new SharedArrayBuffer(512)), n: N };
  // The figures are those of the first role.
  const ours = await threads("weft", TIMED, [
    { make: "servedTimed", data: side },
    { make: "called", data: side },
  ], { laps: 1 });
  const contestants = [
    ours,
    await threads("comlink", TIMED, [
      end("comlinkServedTimed", port2),
      end("comlinkCalled", port1),
    ], { laps: 1 }),
    await threads("bare", TIMED, [
      { make: "bareServed", data: bare },
      { make: "bareCalled", data: bare },
    ], { laps: 1 }),
  ];
  const all: Record<string, number[]> = {};
  for (let round = 0; round < 5 + 2 * TURNS; round++) {
    for (const { name, turn } of contestants) {
      const { cpu } = await turn();
      if (round >= 5) (all[name] ??= []).push(cpu!);
    }
  }
  for (const it of contestants) it.stop?.();
  const { weft = [], comlink: theirs = [], bare: floor = [] } = all;
  const said = (name: string, values: readonly number[]) =>
    `${name} ${median(values).toFixed(1)} us`;
  const over = (values: readonly number[], name: string): Row => {
    const each = weft.map((us, k) => us / values[k]!);
    return {
      name: `serve, awaiting: processor time of a call / ${name}`,
      figure: median(each),
      unit: "x",
      ...spread(each),
      from: `${said("weft", weft)}, ${said(name, values)}`,
    };
  };
  return [
    {
      name: "serve, awaiting: processor time of a call in its thread",
      figure: median(weft),
      unit: "us",
      ...spread(weft),
      from: `${weft.length} turns`,
      target: { most: 12 },
    },
    { ...over(theirs, nameOf("comlink")), target: { most: 1 } },
    {
      ...over(floor, "bare waitAsync"),
    },
  ];
}

// ---- one side blocks --------------------------------------------------------

/** The row of the medians of turns. */
function rowOf(name: string, ours: number[], theirs: number[]): Row {
  const each = ours.map((us, k) => us / theirs[k]!);
  const said = (values: number[]) => `${median(values).toFixed(1)} us`;
  return {
    name,
    figure: median(each),
    unit: "x",
    ...spread(each),
    from: `${said(ours)} and ${said(theirs)}, ${each.length} turns`,
    target: { most: 1 },
  };
}

type Turn = () => number | Promise<number>;

/** Turns of both, one after the other. */
async function turns(ours: Turn, theirs: Turn): Promise<[number[], number[]]> {
  const all: [number[], number[]] = [[], []];
  for (let round = 0; round < 10 + 2 * TURNS; round++) {
    for (const [k, turn] of [ours, theirs].entries()) {
      const us = await turn();
      if (round >= 10) all[k]!.push(us);
    }
  }
  return all;
}

/** Blocking calls of an async function in a worker. */
async function makeSynchronous(): Promise<
  ((busy: number) => Promise<Row>) | undefined
> {
  const theirs = isDeno ? undefined : peer("make-synchronous");
  if (theirs === undefined) return undefined;
  const { default: made } = await import(theirs.href);
  const add = made(async (a: number, b: number) => {
    await undefined;
    return a + b;
  });
  const url = new URL("./_sync_calls_ours.ts", import.meta.url);
  const ours = syncWorker<Api>(() => start(url));
  return async (busy) => {
    const us = await turns(
      () => medianCall(ours.addLater),
      () => medianCall(add),
    );
    return rowOf(
      `syncWorker, two numbers, async, ${beside(busy)}: median / ` +
        nameOf("make-synchronous"),
      ...us,
    );
  };
}

/** How long coincident may take to start a worker, in ms, and how often. */
const START_MS = 5000;
const STARTS = 5;

/**
 * Starts a worker of coincident. In Deno, one that loads slowly misses the
 * first message, and waits for it for ever; then another one is started.
 */
async function coincidentWorker(href: string) {
  const { default: made } = await import(href);
  const { Worker } = made();
  const url = new URL("./_rivals_coincident.ts", import.meta.url);
  for (let start = 0; start < STARTS; start++) {
    const worker = new Worker(url);
    worker.proxy.add = asked.add;
    const isReady = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(resolve, START_MS, false);
      worker.proxy.ready = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
    if (isReady) return worker;
    worker.terminate();
  }
  throw new Error(`coincident started no worker in ${STARTS} attempts`);
}

/** A worker that blocks until the thread that has made it answers. */
async function coincident(): Promise<
  ((busy: number) => Promise<Row>) | undefined
> {
  const theirs = isDeno ? peer("coincident") : undefined;
  if (theirs === undefined) return undefined;
  const worker = await coincidentWorker(theirs.href);
  const ring = CallRing.create({ request: 64, reply: 64 });
  void serve(ring, asked);
  const asker = new URL("./_rivals_asker.ts", import.meta.url);
  const ours = await spawn(asker, ring.handle);
  await ours.next();
  const turn = () => {
    ours.post("go");
    return ours.next<number>();
  };
  return async (busy) => {
    const us = await turns(turn, () => worker.proxy.turn());
    return rowOf(
      `connect.blocking to the thread that made it, ${beside(busy)}: median ` +
        `/ ${nameOf("coincident")}`,
      ...us,
    );
  };
}

// ---- pools ------------------------------------------------------------------

/** A pool in a process of its own in each turn. */
const pool = <Name extends string>(
  name: Name,
  rival?: Peer,
): Named<Name> | undefined => {
  let url = rival === undefined ? undefined : peer(rival)?.href;
  if (rival !== undefined && url === undefined) return undefined;
  // It has the methods and the options of piscina, under another name.
  if (rival === "tinypool") {
    const module = `export { default as Piscina } from ${JSON.stringify(url)};`;
    url = `data:text/javascript,${encodeURIComponent(module)}`;
  }
  const order: Order = {
    task: "small",
    workers: 2,
    count: 5000,
    rounds: 5,
    peer: url,
  };
  const turn = async () => {
    // The rivals are Node's.
    const host = url === undefined ? HOST : "Node";
    const [cost] = await ask<Cost>(host, POOLS, order, 60);
    return { ...cost! };
  };
  return { name, turn };
};

async function pools(busy: number): Promise<Row[]> {
  const ours = pool("weft");
  const rivals = (["tinypool", "piscina"] as const)
    .map((name) => pool(name, name)).filter((it) => it !== undefined);
  const times = await rounds([ours!, ...rivals], 3);
  return rivals.map(({ name }) => ({
    name: `Pool, tasks of 1 us, 2 workers, ${beside(busy)}: tasks/s / ` +
      nameOf(name),
    ...longer(times, name, "weft"),
    target: { least: 1 },
  }));
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const rows = await processorTime();
  const one = await makeSynchronous();
  const two = await coincident();
  for (const busy of BUSY) {
    const processes = await busyProcesses(busy);
    try {
      if (one !== undefined) rows.push(await one(busy));
      if (two !== undefined) rows.push(await two(busy));
      rows.push(...await calls(busy), ...await pools(busy));
    } finally {
      for (const it of processes) it.kill();
    }
  }
  return rows;
}
