// Does the RecordRing move records of 100 bytes several times as fast as
// ringbuf.js moves the same bytes? ringbuf.js has no records: if their lengths
// differ, each length must be sent, too.
import { RecordRing } from "../mod.ts";
import { contest, ratio, type Row, threads } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_record_ring.ts", import.meta.url);
const CAPACITY = 1 << 17;
const BYTES = 100;

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const n = 200_000;
  const url = peer("ringbuf.js")?.href;
  const one = RecordRing.create({ capacity: CAPACITY, singleProducer: true });
  const many = RecordRing.create({ capacity: CAPACITY });
  const ends = ({ handle }: RecordRing, pop: string) => {
    const data = { ring: handle, n, bytes: BYTES };
    return [{ make: "push", data }, { make: pop, data }];
  };
  const storage = new SharedArrayBuffer(8 + CAPACITY + 1);
  const data = { url, storage, n, bytes: BYTES };
  const framed = { ...data, storage: new SharedArrayBuffer(8 + CAPACITY + 1) };
  const results = await contest([
    await threads("one", MODULE, ends(one, "pop")),
    await threads("in place", MODULE, ends(one, "read")),
    await threads("many", MODULE, ends(many, "pop")),
    ...url === undefined ? [] : [
      await threads("ringbuf", MODULE, [
        { make: "pushPeer", data },
        { make: "popPeer", data },
      ]),
      await threads("with lengths", MODULE, [
        { make: "pushFramedPeer", data: framed },
        { make: "popFramedPeer", data: framed },
      ]),
    ],
  ]);
  const rows: Row[] = [];
  if (!("ringbuf" in results)) return rows;
  const title = "RecordRing, 100-byte records";
  for (
    const [name, what, least] of [
      ["one", "one producer", 3],
      ["in place", "one producer, read in place", undefined],
      ["many", "any producers", undefined],
    ] as const
  ) {
    rows.push({
      name: `${title}, ${what}: throughput / ${nameOf("ringbuf.js")}`,
      ...ratio(results, "ringbuf", name),
      ...least === undefined ? {} : { target: { least } },
    });
  }
  rows.push({
    name: `${title}, one producer: throughput / ${nameOf("ringbuf.js")} ` +
      `with lengths`,
    ...ratio(results, "with lengths", "one"),
  });
  return rows;
}
