// Does a call take little longer than the platform itself needs to wake a
// thread and be woken by it? And how many times as many calls as by postMessage
// are answered, with 16 under way?
import { CallRing } from "../mod.ts";
import { IN_FLIGHT, type Side } from "./_call_ring.ts";
import { bareRoundTrip, BY_TURNS, TRIPS } from "./_floor.ts";
import { contest, ratio, type Row, threads } from "./contest.ts";

const MODULE = new URL("./_call_ring.ts", import.meta.url);

function sides(call: string, n: number) {
  const ring = CallRing.create({ slots: IN_FLIGHT, request: 8, reply: 8 });
  const data: Side = { ring: ring.handle, n };
  return [{ make: call, data }, { make: "serve", data }];
}

async function roundTrip(): Promise<Row> {
  const results = await contest([
    await threads("call", MODULE, sides("call", TRIPS), BY_TURNS),
    await bareRoundTrip("blocking"),
  ]);
  return {
    name: "CallRing, blocking call / bare wait/notify round trip",
    ...ratio(results, "call", "bare"),
    target: { most: 2.2 },
  };
}

async function inFlight(): Promise<Row[]> {
  const n = 4000;
  const { port1, port2 } = new MessageChannel();
  const messages = [
    { make: "messagesCall", data: { port: port1, n }, ports: [port1] },
    { make: "messagesServe", data: { port: port2, n }, ports: [port2] },
  ];
  const results = await contest([
    await threads("ahead", MODULE, sides("callAhead", n)),
    await threads("awaiting", MODULE, sides("callAsync", n)),
    await threads("messages", MODULE, messages),
  ]);
  const of = (name: "ahead" | "awaiting", what: string): Row => ({
    name: `CallRing, ${IN_FLIGHT} in flight, ${what}: calls/s / postMessage`,
    ...ratio(results, "messages", name),
    target: { least: 5 },
  });
  return [of("ahead", "posted ahead"), of("awaiting", "awaiting")];
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [await roundTrip(), ...await inFlight()];
}
