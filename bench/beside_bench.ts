// What do a channel that only has a capacity, a lock and a round trip cost
// where other programs want the cores, too? Each row is measured quietly, and
// beside two and four processes that compute. The channel's first messages are
// measured apart, with fresh workers: most programs send few.
import { Channel, type Handle, Mutex, Semaphore } from "../mod.ts";
import { BATCH, CODECS, DEFAULT, type End } from "./_channel.ts";
import { bareRoundTrip, floorOf } from "./_floor.ts";
import type { Contended } from "./_mutex.ts";
import { LARGE, ROWS, SMALL } from "./_values.ts";
import { beside, busyProcesses, longer, rounds } from "./busy.ts";
import { type Row, threads } from "./contest.ts";

const CHANNEL = new URL("./_channel.ts", import.meta.url);
const LOCK = new URL("./_mutex.ts", import.meta.url);
const TRIP = new URL("./_round_trip.ts", import.meta.url);

const BUSY = [0, 2, 4];
const TURNS = 7;

/** A value, its codec, the messages of a turn, and the targets. */
interface Kind {
  readonly what: string;
  readonly value: unknown;
  readonly codec?: string;
  readonly n: number;
  readonly quiet: number;
  readonly busy: number;
}

const KINDS: readonly Kind[] = [
  { what: "a small object", value: SMALL, n: 10_000, quiet: 5, busy: 2 },
  { what: "an object of 40 names", value: LARGE, n: 2000, quiet: 2, busy: 1.2 },
  { what: "100 objects of one shape", value: ROWS, n: 200, quiet: 4, busy: 2 },
  {
    what: "100 letters",
    value: "letters ab".repeat(10),
    n: 10_000,
    quiet: 3,
    busy: 1.5,
  },
  {
    what: "a record of three numbers",
    value: { x: 1, y: 2.5, z: -3.5 },
    codec: "record",
    n: 20_000,
    quiet: 8,
    busy: 3,
  },
];

/** Two fresh threads with a channel between them. */
function channel({ value, codec = DEFAULT }: Kind, n: number) {
  const own = CODECS[codec];
  const capacity = 1024;
  const { handle } = own === undefined
    ? Channel.create<unknown>({ capacity })
    : Channel.create({ codec: own, capacity });
  const data: End = { handle, codec, n, value, usual: true };
  const roles = [{ make: "send", data }, { make: "receive", data }];
  return threads("channel", CHANNEL, roles, { laps: 1 });
}

/** The same with `postMessage`, of arrays of values if `make` says so. */
function messages({ value }: Kind, n: number, make = "post") {
  const { port1, port2 } = new MessageChannel();
  return threads(make, CHANNEL, [
    { make, data: { port: port1, n, value }, ports: [port1] },
    { make: "take", data: { port: port2, n, value }, ports: [port2] },
  ], { laps: 1 });
}

async function sustained(kind: Kind, busy: number): Promise<Row[]> {
  const { what, n } = kind;
  const batched = kind === KINDS[0];
  const contestants = [
    await channel(kind, n),
    await messages(kind, n),
    ...batched ? [await messages(kind, Math.ceil(n / BATCH), "postMany")] : [],
  ];
  await rounds(contestants, 3);
  const times = await rounds(contestants, TURNS);
  for (const it of contestants) it.stop?.();
  const name = `Channel, ${what}, ${beside(busy)}: throughput / `;
  const least = busy === 0 ? kind.quiet : kind.busy;
  const rows: Row[] = [{
    name: `${name}postMessage`,
    ...longer(times, "post", "channel"),
    target: { least },
  }];
  if (batched) {
    rows.push({
      name: `${name}arrays of ${BATCH} by postMessage`,
      ...longer(times, "postMany", "channel"),
      target: { least: busy === 0 ? 1.5 : 1 },
    });
  }
  return rows;
}

/** The first messages of workers that have just started. */
async function first(n: number, turns: number, busy: number): Promise<Row> {
  const kind = KINDS[0]!;
  const times: Record<"channel" | "post", number[]> = { channel: [], post: [] };
  for (let k = 0; k < turns; k++) {
    for (const start of [channel, messages]) {
      const fresh = await start(kind, n);
      const once = await rounds([fresh], 1);
      times[fresh.name as "channel" | "post"].push(...once[fresh.name]!);
      fresh.stop?.();
    }
  }
  return {
    name: `Channel, the first ${n.toLocaleString("en")} small objects, ` +
      `${beside(busy)}: throughput / postMessage`,
    ...longer(times, "post", "channel"),
  };
}

async function locks(busy: number): Promise<Row> {
  const lock = Mutex.create().handle;
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const data: Contended = {
    lock,
    count: counter,
    inside: 50,
    outside: 50,
    n: Infinity,
  };
  const sharing = <Name extends string>(name: Name, make: string) =>
    threads(name, LOCK, [{ make, data }, { make, data }], { ms: 100 });
  const contestants = [
    await sharing("mutex", "contendedWeft"),
    await sharing("plain", "contendedPlain"),
  ];
  await rounds(contestants, 1);
  const times = await rounds(contestants, TURNS);
  for (const it of contestants) it.stop?.();
  return {
    name: `Mutex, 2 threads, short sections, ${beside(busy)}: throughput / ` +
      "a lock that always notifies",
    ...longer(times, "plain", "mutex"),
    target: { least: 1 },
  };
}

async function roundTrips(busy: number): Promise<Row[]> {
  const all: Row[] = [];
  for (const form of ["blocking", "async"] as const) {
    const place = (): Handle => Semaphore.create(0).handle;
    const data = { there: place(), back: place(), n: 500 };
    const make = `semaphores${form === "async" ? "Async" : ""}`;
    const roles = [true, false].map((first) => ({
      make,
      data: { ...data, first },
    }));
    const contestants = [
      await threads("semaphore", TRIP, roles, { laps: 1 }),
      await bareRoundTrip(form),
    ];
    await rounds(contestants, 1);
    const times = await rounds(contestants, TURNS);
    for (const it of contestants) it.stop?.();
    all.push({
      name: `Semaphore, ${form} round trip, ${beside(busy)} / ${floorOf(form)}`,
      ...longer(times, "semaphore", "bare"),
    });
  }
  return all;
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const busy of BUSY) {
    const processes = await busyProcesses(busy);
    try {
      for (const kind of KINDS) rows.push(...await sustained(kind, busy));
      rows.push(await first(10_000, 5, busy));
      rows.push(await first(100_000, 3, busy));
      if (busy === 0) rows.push(await first(1_000_000, 2, busy));
      rows.push(await locks(busy), ...await roundTrips(busy));
    } finally {
      for (const it of processes) it.kill();
    }
  }
  return rows;
}
