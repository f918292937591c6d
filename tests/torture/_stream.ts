/**
 * One of two threads that send each other everything they can, and check the
 * sums: nothing is lost, doubled or torn, and the memory stays flat.
 */
import process from "node:process";
import {
  Barrier,
  type Handle,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  SpscQueue,
} from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { matches, type Row } from "./_row.ts";

interface Order {
  /** 0 sends, 1 receives. */
  readonly side: number;
  readonly time: number;
  readonly only: string;
  readonly start: Handle<"barrier">;
  readonly spsc: Handle<"spsc_queue">;
  readonly mpmc: Handle<"mpmc_queue">;
  readonly lockFree: Handle<"lock_free_queue">;
  readonly ring: Handle<"record_ring">;
  /** What each sender tells of its stream: how many, and their sum. */
  readonly sums: SharedArrayBuffer;
}

const { data, post } = await hello<Order>();
const start = Barrier.from(data.start);
const sums = new Float64Array(data.sums);
const rows: Row[] = [];
const BATCH = 64;
/** Milliseconds that either side sleeps until it looks at the time again. */
const PATIENCE = 20;

/** One kind of stream. */
interface Stream {
  readonly name: string;
  /** Sends numbers from `first` on; how many went. */
  send(first: number): number;
  /** Receives numbers into `got`; how many came. */
  receive(): number;
}

const batch = new Int32Array(BATCH);
const got = new Int32Array(BATCH);
const one = new Int32Array(1);

function streams(): Stream[] {
  const spsc = SpscQueue.from(data.spsc);
  const mpmc = MpmcQueue.from(data.mpmc);
  const lockFree = LockFreeQueue.from(data.lockFree);
  const ring = RecordRing.from(data.ring);
  const fill = (first: number) => {
    for (let i = 0; i < BATCH; i++) batch[i] = first + i | 0;
  };
  const batches = (queue: SpscQueue | MpmcQueue | LockFreeQueue) => ({
    send(first: number) {
      fill(first);
      return queue.tryPushMany(batch, BATCH) ||
        Number(queue.tryPushInt(first | 0, PATIENCE));
    },
    receive() {
      const count = queue.tryPopMany(got, BATCH);
      if (count > 0) return count;
      const item = queue.tryPopInt(PATIENCE);
      if (item === undefined) return 0;
      got[0] = item;
      return 1;
    },
  });
  return [
    { name: "SpscQueue", ...batches(spsc) },
    { name: "MpmcQueue", ...batches(mpmc) },
    { name: "LockFreeQueue", ...batches(lockFree) },
    {
      name: "RecordRing",
      send(first) {
        one[0] = first;
        return ring.tryPush(one, PATIENCE) ? 1 : 0;
      },
      receive: () => {
        const length = ring.tryPopInto(got, PATIENCE);
        return length === undefined || length < 0 ? 0 : 1;
      },
    },
  ];
}

const all = streams().filter(({ name }) => matches(name, data.only));
const heap = () => process.memoryUsage().rss / 2 ** 20;

for (const [at, { name, send, receive }] of all.entries()) {
  start.arriveAndWait();
  const end = performance.now() + data.time / all.length;
  let count = 0;
  let wrong = 0;
  let before = 0;
  if (data.side === 0) {
    while (performance.now() < end) {
      for (let i = 0; i < 200; i++) count += send(count);
    }
    sums[at] = count;
    start.arriveAndWait();
    start.arriveAndWait();
    continue;
  }
  const take = () => {
    const n = receive();
    for (let i = 0; i < n; i++) {
      if (got[i] !== (count + i | 0)) wrong++;
    }
    count += n;
    return n;
  };
  while (performance.now() < end) {
    for (let i = 0; i < 200; i++) take();
    if (before === 0 && count > 1e6) before = heap();
  }
  start.arriveAndWait();
  while (take() > 0);
  const problems: string[] = [];
  if (wrong > 0) problems.push(`${name}: ${wrong} elements are wrong`);
  if (count !== sums[at]) {
    problems.push(`${name}: ${sums[at]} were sent, ${count} came`);
  }
  const growth = before === 0 ? 0 : heap() - before;
  if (growth > 64) problems.push(`${name}: memory grew by ${growth} MB`);
  rows.push({
    what: `${name}: streamed between two threads`,
    volume: count,
    unit: "messages",
    lost: sums[at]! - count,
    allowed: 0,
    problems,
  });
  start.arriveAndWait();
}
post(rows);
