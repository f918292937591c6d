// Do an Event, a Latch and a Condition take little longer there and back than
// the platform's own way to wake a thread? Do stripes pay for two threads that
// count, and read locks for two that read? Floors: bare Atomics.wait and
// waitAsync with notify, one shared Atomics.add, the Mutex.
import { Event, Latch, Mutex, RwLock, StripedCounter } from "../mod.ts";
import { BACK, THERE } from "./_synchronizers.ts";
import { contest, medians, type Row, threads } from "./contest.ts";

const MODULE = new URL("./_synchronizers.ts", import.meta.url);
const FLOOR = new URL("./_round_trip.ts", import.meta.url);

function pair(make: string, data: Record<string, unknown>) {
  return [true, false].map((first) => ({ make, data: { ...data, first } }));
}

function eventMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(256);
  for (const at of [THERE, BACK]) Event.init(memory, at, { autoReset: true });
  return memory;
}

async function blocking(): Promise<Row[]> {
  const n = 2_000;
  const latches = new SharedArrayBuffer(256);
  for (const at of [THERE, BACK]) Latch.init(latches, at, 1);
  const words = new Int32Array(new SharedArrayBuffer(256));
  const results = await contest([
    await threads(
      "Event",
      MODULE,
      pair("events", { memory: eventMemory(), n }),
    ),
    await threads("Latch", MODULE, pair("latches", { memory: latches, n })),
    await threads(
      "Condition",
      MODULE,
      pair("conditions", { memory: new SharedArrayBuffer(384), n }),
    ),
    await threads("bare", FLOOR, pair("bare", { words, n })),
  ]);
  return (["Event", "Latch", "Condition"] as const).map((name) => ({
    name: `${name}, blocking round trip / bare wait/notify`,
    figure: results[name].medians.ns! / results.bare.medians.ns!,
    unit: "x",
    target: { most: 1.5 },
    from: medians(results, [name, "bare"]),
  }));
}

async function awaiting(): Promise<Row[]> {
  const n = 2_000;
  const words = new Int32Array(new SharedArrayBuffer(256));
  const results = await contest([
    await threads(
      "Event",
      MODULE,
      pair("eventsAsync", { memory: eventMemory(), n }),
    ),
    await threads(
      "Condition",
      MODULE,
      pair("conditionsAsync", { memory: new SharedArrayBuffer(384), n }),
    ),
    await threads("bare", FLOOR, pair("bareAsync", { words, n })),
  ]);
  return (["Event", "Condition"] as const).map((name) => ({
    name: `${name}, async round trip / bare waitAsync`,
    figure: results[name].medians.ns! / results.bare.medians.ns!,
    unit: "x",
    target: { most: 1.5 },
    from: medians(results, [name, "bare"]),
  }));
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
  ]);
  return [{
    name: "StripedCounter, 2 threads: adds/s / one shared Atomics.add",
    figure: results.shared.medians.ns! / results.striped.medians.ns!,
    unit: "x",
    target: { least: 3 },
    from: medians(results),
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
    figure: results.Mutex.medians.ns! / results.RwLock.medians.ns!,
    unit: "x",
    target: { least: 1.7 },
    from: medians(results),
  }];
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [
    ...await blocking(),
    ...await awaiting(),
    ...await counting(),
    ...await reading(),
  ];
}
