// How many more typed calls are answered in a second than by comlink, which
// sends messages, and than by messages sent by hand: one at a time, and with 16
// callers at once?
import { CallRing } from "../mod.ts";
import type { PortSide, Side } from "./_calls.ts";
import { contest, medians, type Row, threads } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_calls.ts", import.meta.url);

/** Both sides of calls over shared memory. */
function shared(n: number, callers: number) {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const data: Side = { ring: ring.handle, n, callers };
  return [{ make: "called", data }, { make: "served", data }];
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
  const contestants = [
    await threads("weft", MODULE, shared(n, callers), byTurns),
    await threads("messages", MODULE, ports("messages", n, callers), byTurns),
  ];
  if (comlink !== undefined) {
    const roles = ports("comlink", n, callers, comlink);
    contestants.push(await threads("comlink", MODULE, roles, byTurns));
  }
  const results = await contest(contestants);
  const flight = callers === 1 ? "one at a time" : `${callers} in flight`;
  const against = (name: string, what: string, least?: number): Row => ({
    name: `serve and connect, ${flight}: calls/s / ${what}`,
    figure: results[name]!.medians.ns! / results.weft!.medians.ns!,
    unit: "x",
    ...least === undefined ? {} : { target: { least } },
    from: medians(results, ["weft", name]),
  });
  const rows = [against("messages", "postMessage by hand")];
  if (comlink === undefined) return rows;
  return [against("comlink", nameOf("comlink"), least), ...rows];
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [...await callsBy(1, 3), ...await callsBy(16, 5)];
}
