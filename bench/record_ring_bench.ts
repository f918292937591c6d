// Does the RecordRing move records of 100 bytes several times as fast as
// ringbuf.js moves the same bytes? ringbuf.js has no records: if their lengths
// differ, each length must be sent, too. Floor: Lamport's ring on bare atomics.
import { RecordRing } from "../mod.ts";
import * as kernel from "../primitives/kernel/kernel.ts";
import type { End } from "./_record_ring.ts";
import { contest, ratio, type Row, threads } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_record_ring.ts", import.meta.url);
const CAPACITY = 1 << 17;
const BYTES = 100;

/** A producer and a consumer in the kernel; its record lies in its memory. */
function inKernel(n: number, pop: string) {
  const config = { capacity: CAPACITY, singleProducer: true };
  const memory = kernel.arena(CAPACITY + (1 << 16));
  const { handle: ring } = memory.create(kernel.RecordRing, config);
  const data: End = { ring, n, bytes: BYTES, kernel: true };
  const place = memory.allocate(BYTES);
  return [
    { make: "push", data: { ...data, place } },
    { make: pop, data },
  ];
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const n = 200_000;
  const url = peer("ringbuf.js")?.href;
  // A ring has one consumer for ever, so each pair of threads has its own.
  const single = () =>
    RecordRing.create({ capacity: CAPACITY, singleProducer: true });
  const many = RecordRing.create({ capacity: CAPACITY });
  const ends = ({ handle }: RecordRing, pop: string) => {
    const data = { ring: handle, n, bytes: BYTES };
    return [{ make: "push", data }, { make: pop, data }];
  };
  const storage = new SharedArrayBuffer(8 + CAPACITY + 1);
  const data = { url, storage, n, bytes: BYTES };
  const framed = { ...data, storage: new SharedArrayBuffer(8 + CAPACITY + 1) };
  const bare = { ...data, storage: new SharedArrayBuffer(CAPACITY) };
  const results = await contest([
    await threads("kernel", MODULE, inKernel(n, "pop")),
    await threads("kernel, in place", MODULE, inKernel(n, "read")),
    await threads("one", MODULE, ends(single(), "pop")),
    await threads("in place", MODULE, ends(single(), "read")),
    await threads("many", MODULE, ends(many, "pop")),
    await threads("bare", MODULE, [
      { make: "pushBare", data: bare },
      { make: "popBare", data: bare },
    ]),
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
  const title = "RecordRing, 100-byte records";
  const rows: Row[] = [{
    name: `${title}, one producer: throughput / a ring of bare atomics`,
    ...ratio(results, "bare", "one"),
  }];
  if (!("ringbuf" in results)) return rows;
  for (
    const [name, what, least] of [
      ["one", "one producer", 3],
      ["in place", "one producer, read in place", undefined],
      ["many", "any producers", undefined],
      ["kernel", "one producer, in the kernel", 3],
      ["kernel, in place", "one producer, in the kernel, read in place", 3],
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
