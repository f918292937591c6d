// What does a typed message cost, compared with postMessage of the same value,
// with its codec in one thread, and with one copy of its bytes? One agent sends
// and one receives.
import { Channel, oneToOne } from "../mod.ts";
import { BATCH, CODECS, DEFAULT } from "./_channel.ts";
import { LARGE, ROWS, SMALL } from "./_values.ts";
import {
  contest,
  ratio,
  type Role,
  type Row,
  threads,
  timed,
} from "./contest.ts";

const MODULE = new URL("./_channel.ts", import.meta.url);

/**
 * A value, and the target: how many times as many messages as by postMessage.
 */
const VALUES: [codec: string, what: string, value: unknown, least: number][] = [
  ["f64", "a number", 0.5, 20],
  ["record", "a record of three numbers", { x: 1, y: 2.5, z: -3.5 }, 15],
  ["text", "100 letters", "letters ab".repeat(10), 5],
  ["json", "a small object in JSON", SMALL, 1.8],
];

/** The same for a channel that names no codec and no carrier. */
const ANY: [what: string, value: unknown, least: number, n: number][] = [
  ["a small object", SMALL, 5, 2048],
  ["an object of 40 names", LARGE, 2, 512],
  ["100 objects of one shape", ROWS, 4, 64],
  ["100 letters", "letters ab".repeat(10), 3, 2048],
];

/** The two ends of a `MessageChannel`, each for a thread. */
function ports(
  n: number,
  value: unknown,
  transfer = false,
): [Omit<Role, "make">, Omit<Role, "make">] {
  const { port1, port2 } = new MessageChannel();
  return [
    { data: { port: port1, n, value, transfer }, ports: [port1] },
    { data: { port: port2, n, value }, ports: [port2] },
  ];
}

/** Two threads that use a channel of these messages. */
function channels(
  codec: string,
  n: number,
  value: unknown,
  room: { capacity: number; messageSize?: number },
) {
  const config = { codec: CODECS[codec]!, carrier: oneToOne };
  const { handle } = Channel.create<unknown>({ ...config, ...room });
  return { handle, codec, n, value };
}

/** The figures of each message. */
async function throughput(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [codec, what, value, least] of VALUES) {
    const n = 2000;
    const data = channels(codec, n, value, { capacity: 1024 });
    const [sender, receiver] = ports(n, value);
    const results = await contest([
      await threads("channel", MODULE, [
        { make: "send", data },
        { make: "receive", data },
      ]),
      await threads("postMessage", MODULE, [
        { make: "post", ...sender },
        { make: "take", ...receiver },
      ]),
    ]);
    rows.push({
      name: `Channel, ${what}: throughput / postMessage`,
      ...ratio(results, "postMessage", "channel"),
      target: { least },
    });
  }
  return rows;
}

/** Threads that post arrays of the value. */
async function batches(n: number, value: unknown) {
  const [sender, receiver] = ports(n / BATCH, value);
  return await threads("batches", MODULE, [
    { make: "postMany", ...sender },
    { make: "take", ...receiver },
  ]);
}

/** The figures of a channel of values that only has a capacity. */
async function values(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [what, value, least, n] of ANY) {
    const { handle } = Channel.create<unknown>({ capacity: 1024 });
    const data = { handle, codec: DEFAULT, n, value };
    const [sender, receiver] = ports(n, value);
    const results = await contest([
      await threads("channel", MODULE, [
        { make: "send", data },
        { make: "receive", data },
      ]),
      await threads("postMessage", MODULE, [
        { make: "post", ...sender },
        { make: "take", ...receiver },
      ]),
      ...what === ANY[0]![0] ? [await batches(n, value)] : [],
    ]);
    const name = `Channel of any values, ${what}: throughput / postMessage`;
    rows.push({
      name,
      ...ratio(results, "postMessage", "channel"),
      target: { least },
    });
    if (what !== ANY[0]![0]) continue;
    rows.push({
      name: `${name} of arrays of ${BATCH}`,
      ...ratio(results, "batches", "channel"),
      target: { least: 1.5 },
    });
  }
  return rows;
}

/** The figures of a channel in which each sender waits for a receiver. */
async function handOff(): Promise<Row> {
  const n = 1000;
  const { handle } = Channel.create<unknown>({ capacity: 0 });
  const data = { handle, codec: DEFAULT, n, value: SMALL };
  const [sender, receiver] = ports(n, SMALL);
  const results = await contest([
    await threads("channel", MODULE, [
      { make: "send", data },
      { make: "receive", data },
    ]),
    await threads("postMessage", MODULE, [
      { make: "post", ...sender },
      { make: "take", ...receiver },
    ]),
  ]);
  return {
    name: "Channel of capacity 0, a small object: throughput / postMessage",
    ...ratio(results, "postMessage", "channel"),
  };
}

/** The time of JSON in one thread, and the time that the channel adds. */
async function json(): Promise<Row> {
  const n = 2000;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const data = channels("json", n, SMALL, { capacity: 1024 });
  const results = await contest([
    await threads("channel", MODULE, [
      { make: "send", data },
      { make: "receive", data },
    ]),
    timed("one thread", (n) => {
      for (; n > 0; n--) {
        const bytes = encoder.encode(JSON.stringify(SMALL));
        JSON.parse(decoder.decode(bytes));
      }
    }),
  ]);
  return {
    name: "Channel, a small object in JSON: time / its JSON in one thread",
    ...ratio(results, "channel", "one thread"),
    target: { most: 1.3 },
  };
}

/** 64 KiB, compared with one copy and with a transfer. */
async function bytes(): Promise<Row[]> {
  const n = 200;
  const length = 65536;
  const value = new Uint8Array(length);
  // A ring of 1 MiB, which is also what the plain copies go to.
  const room = { capacity: 14, messageSize: length };
  const channel = async <Make extends string>(make: Make) => {
    const data = channels("binary", n, value, room);
    return await threads(make, MODULE, [{ make: "send", data }, {
      make,
      data,
    }]);
  };
  const shared = new Uint8Array(new SharedArrayBuffer(16 * length));
  const [sender, receiver] = ports(n, value, true);
  const results = await contest([
    await channel("receive"),
    await channel("receiveInto"),
    await channel("peek"),
    await threads("transfer", MODULE, [
      { make: "post", ...sender },
      { make: "take", ...receiver },
    ]),
    timed("one copy", (n) => {
      for (; n > 0; n--) shared.set(value, n % 16 * length);
    }),
  ]);
  const name = "Channel, 64 KiB of bytes";
  return [{
    name: `${name}, read in place: time / one copy`,
    ...ratio(results, "peek", "one copy"),
    target: { most: 1.2 },
  }, {
    name: `${name}, received into one array: time / one copy`,
    ...ratio(results, "receiveInto", "one copy"),
  }, {
    name: `${name}, each a new array: time / one copy`,
    ...ratio(results, "receive", "one copy"),
  }, {
    name: `${name}, each a new array: throughput / postMessage with a transfer`,
    ...ratio(results, "transfer", "receive"),
    target: { least: 1 },
  }];
}

/** One message there and one back, both sides idle before. */
async function latency(): Promise<Row[]> {
  const n = 100;
  const there = channels("json", n, SMALL, { capacity: 4 });
  const back = channels("json", n, SMALL, { capacity: 4 });
  const [here, other] = ports(n, SMALL);
  const data = { there, back };
  const byTurns = { byTurns: true };
  const results = await contest([
    await threads("channel", MODULE, [
      { make: "ping", data },
      { make: "pong", data },
    ], byTurns),
    await threads("postMessage", MODULE, [
      { make: "pingPort", ...here },
      { make: "pongPort", ...other },
    ], byTurns),
  ]);
  return ["p50", "p99"].map((share) => ({
    name: `Channel, a small object there and back, both sides idle before: ` +
      `${share} / postMessage`,
    ...ratio(results, "channel", "postMessage", share),
    target: { most: 1 },
  }));
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [
    ...await throughput(),
    ...await values(),
    await handOff(),
    await json(),
    ...await bytes(),
    ...await latency(),
  ];
}
