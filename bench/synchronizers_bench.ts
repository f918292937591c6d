// Do an Event, a Latch, a WaitGroup, a Condition, and waitAny take little
// longer there and back than the platform itself needs to wake a thread? Is a
// round of a Barrier as fast as that of a bare counter, and a finished Once as
// fast as a load? Do stripes pay if two threads count, and read locks if two
// read?
// Floors: bare Atomics.wait and waitAsync with notify, one shared Atomics.add,
// the Mutex. (Mutex and Semaphore: mutex_bench.ts and round_trip_bench.ts. A
// Latch opens once, so awaiting it costs what an Event does. `agentId` and
// `inspect` are on nobody's hot path.)
import {
  Barrier,
  Event,
  Latch,
  Mutex,
  Once,
  RwLock,
  StripedCounter,
  WaitGroup,
} from "../mod.ts";
import { bareRoundTrip, BY_TURNS, floorOf, TRIPS } from "./_floor.ts";
import { BACK, THERE } from "./_synchronizers.ts";
import {
  contest,
  type Contestant,
  ratio,
  type Row,
  threads,
  timed,
} from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_synchronizers.ts", import.meta.url);

function pair(make: string, data: Record<string, unknown>) {
  return [true, false].map((first) => ({ make, data: { ...data, first } }));
}

function eventMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(256);
  for (const at of [THERE, BACK]) Event.init(memory, at, { autoReset: true });
  return memory;
}

async function blocking(): Promise<Row[]> {
  const n = TRIPS;
  const latches = new SharedArrayBuffer(256);
  for (const at of [THERE, BACK]) Latch.init(latches, at, 1);
  const groups = new SharedArrayBuffer(256);
  for (const at of [THERE, BACK]) WaitGroup.init(groups, at).add();
  const results = await contest([
    await threads(
      "Event",
      MODULE,
      pair("events", { memory: eventMemory(), n }),
      BY_TURNS,
    ),
    await threads(
      "Latch",
      MODULE,
      pair("latches", { memory: latches, n }),
      BY_TURNS,
    ),
    await threads(
      "WaitGroup",
      MODULE,
      pair("groups", { memory: groups, n }),
      BY_TURNS,
    ),
    await threads(
      "Condition",
      MODULE,
      pair("conditions", { memory: new SharedArrayBuffer(384), n }),
      BY_TURNS,
    ),
    await bareRoundTrip("blocking"),
  ]);
  return (["Event", "Latch", "WaitGroup", "Condition"] as const).map((
    name,
  ) => ({
    name: `${name}, blocking round trip / ${floorOf("blocking")}`,
    ...ratio(results, name, "bare"),
    target: { most: 1.5 },
  }));
}

async function awaiting(): Promise<Row[]> {
  const n = TRIPS;
  const results = await contest([
    await threads(
      "Event",
      MODULE,
      pair("eventsAsync", { memory: eventMemory(), n }),
      BY_TURNS,
    ),
    await threads(
      "Condition",
      MODULE,
      pair("conditionsAsync", { memory: new SharedArrayBuffer(384), n }),
      BY_TURNS,
    ),
    await threads(
      "waitAny",
      MODULE,
      pair("eventsAny", { memory: eventMemory(), n }),
      BY_TURNS,
    ),
    await bareRoundTrip("async"),
  ]);
  const rows: Row[] = (["Event", "Condition"] as const).map((name) => ({
    name: `${name}, async round trip / ${floorOf("async")}`,
    ...ratio(results, name, "bare"),
    target: { most: 1.5 },
  }));
  rows.push({
    name: `waitAny of two Events, round trip / ${floorOf("async")}`,
    ...ratio(results, "waitAny", "bare"),
  });
  return rows;
}

async function barrierOfPeer(
  n: number,
): Promise<(Contestant & { name: "peer" })[]> {
  const url = peer("multithreading");
  if (url === undefined) return [];
  const shared = new URL("../lib/shared.js", url).href;
  const { Barrier } = await import(url.href);
  const { serialize } = await import(shared);
  const barrier = new Barrier(2);
  const roles = [true, false].map((first) => {
    const end = serialize(barrier)[0];
    const data = { url: url.href, shared, end, n, first };
    return { make: "barriersPeer", data };
  });
  return [await threads("peer", MODULE, roles, BY_TURNS)];
}

async function rounds(): Promise<Row[]> {
  const n = TRIPS;
  const { handle: barrier } = Barrier.create(2);
  const words = new Int32Array(new SharedArrayBuffer(8));
  const results = await contest([
    await threads(
      "Barrier",
      MODULE,
      pair("barriers", { barrier, n }),
      BY_TURNS,
    ),
    await threads(
      "bare",
      MODULE,
      pair("barriersBare", { words, parties: 2, n }),
      BY_TURNS,
    ),
    ...await barrierOfPeer(n),
  ]);
  const rows: Row[] = [{
    name: "Barrier, a round of 2 threads / bare counter and wait/notify",
    ...ratio(results, "Barrier", "bare"),
    target: { most: 1.5 },
  }];
  if ("peer" in results) {
    rows.push({
      name: `Barrier, 2 threads: rounds/s / ${nameOf("multithreading")}`,
      ...ratio(results, "peer", "Barrier"),
    });
  }
  return rows;
}

async function done(): Promise<Row[]> {
  const once = Once.create();
  once.run(() => {});
  const words = new Int32Array(new SharedArrayBuffer(4));
  const nothing = () => {};
  let loaded = 0;
  const results = await contest([
    timed("once", (n) => {
      for (let i = 0; i < n; i++) once.run(nothing);
    }),
    timed("load", (n) => {
      for (let i = 0; i < n; i++) loaded |= Atomics.load(words, 0);
    }),
  ]);
  return [{
    name: "Once that is done, run: time / a bare load",
    ...ratio(results, "once", "load"),
    target: { most: 1 },
  }];
}

async function counting(): Promise<Row[]> {
  const n = 1_000_000;
  const counter = StripedCounter.create().handle;
  const words = new Int32Array(new SharedArrayBuffer(4));
  const both = (
    make: string,
    data: unknown,
  ) => [{ make, data }, { make, data }];
  const results = await contest([
    await threads("striped", MODULE, both("striped", { counter, n })),
    await threads("shared", MODULE, both("shared", { words, n })),
    await threads("alone", MODULE, both("alone", { n })),
  ]);
  return [{
    name: "StripedCounter, 2 threads: adds/s / one shared Atomics.add",
    ...ratio(results, "shared", "striped"),
    target: { least: 3 },
  }, {
    name: "2 threads, each with a word of its own: adds/s / one shared word",
    ...ratio(results, "shared", "alone"),
  }];
}

async function reading(): Promise<Row[]> {
  const inside = 1_000; // about a microsecond
  const n = 50_000;
  const both = (
    make: string,
    data: unknown,
  ) => [{ make, data }, { make, data }];
  const rwLock = { lock: RwLock.create().handle, inside, n };
  const mutex = { lock: Mutex.create().handle, inside, n };
  const results = await contest([
    await threads("RwLock", MODULE, both("readRwLock", rwLock)),
    await threads("Mutex", MODULE, both("readMutex", mutex)),
  ]);
  return [{
    name: "RwLock, 2 threads that read for 1 us: sections/s / Mutex",
    ...ratio(results, "Mutex", "RwLock"),
    target: { least: 1.7 },
  }];
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [
    ...await blocking(),
    ...await awaiting(),
    ...await rounds(),
    ...await done(),
    ...await counting(),
    ...await reading(),
  ];
}
