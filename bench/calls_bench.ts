// How many more typed calls are answered in a second than by comlink, which
// sends messages, and than by messages sent by hand: one at a time, and with 16
// callers at once?
import { CallRing } from "../mod.ts";
import type { PortSide, Side } from "./_calls.ts";
import { contest, ratio, type Row, threads } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_calls.ts", import.meta.url);

/** Both sides of calls over shared memory. */
function shared(n: number, callers: number, make = "served") {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const data: Side = { ring: ring.handle, n, callers };
  return [{ make: "called", data }, { make, data }];
}

/** Both sides of calls over a port. */
function ports(by: string, n: number, callers: number, peer?: URL) {
  const { port1, port2 } = new MessageChannel();
  const side = (make: string, port: MessagePort) => {
    const data: PortSide = { port, n, callers };
    if (peer !== undefined) data.peer = peer.href;
    return { make, data, ports: [port] };
  };
  return [side(`${by}Called`, port1), side(`${by}Served`, port2)];
}

async function callsBy(callers: number, least: number): Promise<Row[]> {
  const n = callers === 1 ? 500 : 2000;
  const comlink = peer("comlink");
  const byTurns = { byTurns: callers === 1 };
  const over = (by: string, peer?: URL) =>
    threads<string>(by, MODULE, ports(by, n, callers, peer), byTurns);
  const contestants = [
    await threads<string>("weft", MODULE, shared(n, callers), byTurns),
    await threads<string>(
      "blocking",
      MODULE,
      shared(n, callers, "servedBlocking"),
      byTurns,
    ),
    await over("messages"),
    ...comlink === undefined ? [] : [await over("comlink", comlink)],
  ];
  const results = await contest(contestants);
  const flight = callers === 1 ? "one at a time" : `${callers} in flight`;
  const row = (how: string, name: string, peer: string, what: string): Row => ({
    name: `${how} and connect, ${flight}: calls/s / ${what}`,
    ...ratio(results, peer, name),
    ...peer === "comlink" ? { target: { least } } : {},
  });
  const against = (peer: string, what: string) => [
    row("serve", "weft", peer, what),
    row("serve.blocking", "blocking", peer, what),
  ];
  return [
    ...comlink === undefined ? [] : against("comlink", nameOf("comlink")),
    ...against("messages", "postMessage by hand"),
  ];
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [...await callsBy(1, 3), ...await callsBy(16, 5)];
}
