// What does a typed message cost beside its bare bytes, and beside postMessage
// of the same value?
import { Channel, type Codec, f64, json, RecordRing, text } from "../mod.ts";
import { contest, medians, type Row, threads } from "./contest.ts";

const MODULE = new URL("./_channel.ts", import.meta.url);
const CAPACITY = 1 << 16;

/** 100 characters; an object with as many; a number. */
const VALUES: [codec: Codec<unknown>, what: string, value: unknown][] = [
  [text as Codec<unknown>, "100 letters", "letters ab".repeat(10)],
  [json as Codec<unknown>, "a small object in JSON", {
    id: 12345,
    name: "somebody of some name",
    tags: ["one", "two", "three"],
    at: { x: 0.5, y: -1.25 },
  }],
  [f64 as Codec<unknown>, "a number", 0.5],
];

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [codec, what, value] of VALUES) {
    const n = 2000;
    const size = codec.size === 0 ? CAPACITY : 1024;
    const channel = Channel.create({ codec, capacity: size });
    const length = codec.encode(value).byteLength;
    const ring = RecordRing.create({ capacity: CAPACITY });
    const data = { handle: channel.handle, codec: codec.name, n, value };
    const bare = { handle: ring.handle, n, length };
    const { port1, port2 } = new MessageChannel();
    const results = await contest([
      await threads("channel", MODULE, [
        { make: "send", data },
        { make: "receive", data },
      ]),
      await threads("bytes", MODULE, [
        { make: "push", data: bare },
        { make: "pop", data: bare },
      ]),
      await threads("postMessage", MODULE, [
        { make: "post", data: { port: port1, n, value }, ports: [port1] },
        { make: "take", data: { port: port2, n, value }, ports: [port2] },
      ]),
    ]);
    const ns = (name: keyof typeof results) => results[name].medians.ns!;
    rows.push({
      name: `Channel, ${what}: throughput / postMessage`,
      figure: ns("postMessage") / ns("channel"),
      unit: "x",
      from: medians(results, ["channel", "postMessage"]),
    }, {
      name: `Channel, ${what}: time / its bytes in a RecordRing`,
      figure: ns("channel") / ns("bytes"),
      unit: "x",
      from: medians(results, ["channel", "bytes"]),
    });
  }
  return rows;
}
