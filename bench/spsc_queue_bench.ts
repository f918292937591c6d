// Does the SpscQueue move single elements, batches and records between two
// threads faster than ringbuf.js, although its ends can wait for each other?
// Floor: Lamport's ring on bare atomics.
import { SpscQueue } from "../mod.ts";
import * as kernel from "../primitives/kernel/kernel.ts";
import type { End } from "./_spsc_queue.ts";
import { contest, ratio, type Row, threads } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const MODULE = new URL("./_spsc_queue.ts", import.meta.url);
const CAPACITY = 1024;

interface Case {
  title: string;
  least: number;
  /** The target in the kernel. */
  kernel?: number;
  push: string;
  pop: string;
  words: number;
  batch: number;
  n: number;
  bare: boolean;
}

const CASES: readonly Case[] = [
  {
    title: "one int at a time, blocking",
    least: 6,
    kernel: 8,
    push: "pushInts",
    pop: "popInts",
    words: 1,
    batch: 1,
    n: 12_000,
    bare: true,
  },
  {
    title: "batches of 64 ints",
    least: 1.1,
    kernel: 1.5,
    push: "pushMany",
    pop: "popMany",
    words: 1,
    batch: 64,
    n: 128_000,
    bare: false,
  },
  {
    title: "64-byte records, blocking",
    least: 2,
    push: "pushRecords",
    pop: "popRecords",
    words: 16,
    batch: 1,
    n: 12_000,
    bare: false,
  },
];

/** Both ends in the kernel, with their batches in the same memory. */
function ends({ words, batch, n }: Case): [End, End] {
  const config = { capacity: CAPACITY, elementSize: words * 4 };
  const memory = kernel.arena(1 << 20);
  const { handle: queue } = memory.create(kernel.SpscQueue, config);
  const end = (): End => ({
    queue,
    n,
    words,
    batch,
    kernel: true,
    ...batch === 1 ? {} : { place: memory.allocate(batch * 4) },
  });
  return [end(), end()];
}

async function compare(one: Case): Promise<Row[]> {
  const { title, least, push, pop, words, batch, n, bare } = one;
  const queue = SpscQueue.create({
    capacity: CAPACITY,
    elementSize: words * 4,
  });
  const data: End = { queue: queue.handle, n, words, batch };
  const url = peer("ringbuf.js")?.href;
  const storage = new SharedArrayBuffer(8 + (CAPACITY * words + 1) * 4);
  const floor = { buffer: new SharedArrayBuffer((64 + CAPACITY) * 4) };
  const [first, second] = ends(one);
  const results = await contest([
    await threads("kernel", MODULE, [
      { make: push, data: first },
      { make: pop, data: second },
    ]),
    await threads("queue", MODULE, [
      { make: push, data },
      { make: pop, data },
    ]),
    ...url === undefined ? [] : [
      await threads("ringbuf", MODULE, [
        { make: "pushRing", data: { ...data, url, storage } },
        { make: "popRing", data: { ...data, url, storage } },
      ]),
    ],
    ...bare
      ? [
        await threads("bare", MODULE, [
          { make: "pushBare", data: { ...data, queue: floor } },
          { make: "popBare", data: { ...data, queue: floor } },
        ]),
      ]
      : [],
  ]);
  const rows: Row[] = [];
  if (url !== undefined) {
    rows.push({
      name: `SpscQueue, ${title}: throughput / ${nameOf("ringbuf.js")}`,
      ...ratio(results, "ringbuf", "queue"),
      target: { least },
    }, {
      name: `SpscQueue in the kernel, ${title}: throughput / ${
        nameOf("ringbuf.js")
      }`,
      ...ratio(results, "ringbuf", "kernel"),
      ...one.kernel === undefined ? {} : { target: { least: one.kernel } },
    });
  }
  if (bare) {
    rows.push({
      name: `SpscQueue, ${title}: throughput / a ring of bare atomics`,
      ...ratio(results, "bare", "queue"),
    });
  }
  return rows;
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const one of CASES) rows.push(...await compare(one));
  return rows;
}
