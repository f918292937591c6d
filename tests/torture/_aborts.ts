/**
 * One of two threads that begin waits and give them up, by timeouts and by
 * signals, in the very moments in which the other one serves them: no permit,
 * item or turn may be lost.
 */
import {
  Barrier,
  type Handle,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  Semaphore,
  SpscQueue,
} from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { matches, type Row } from "./_row.ts";

interface Order {
  readonly side: number;
  readonly time: number;
  readonly only: string;
  readonly seed: number;
  readonly start: Handle<"barrier">;
  readonly spsc: Handle<"spsc_queue">;
  readonly mpmc: Handle<"mpmc_queue">;
  readonly lockFree: Handle<"lock_free_queue">;
  readonly mutex: Handle<"mutex">;
  readonly semaphore: Handle<"semaphore">;
  readonly sums: SharedArrayBuffer;
}

const { data, post } = await hello<Order>();
const start = Barrier.from(data.start);
const sums = new Int32Array(data.sums);
const rows: Row[] = [];
const AT_ONCE = 16;

let state = data.seed * 2 + data.side;
function random(n: number): number {
  state = Math.imul(state, 1664525) + 1013904223 | 0;
  return (state >>> 8) % n;
}

/** How a wait is given up. */
function options(): { timeout?: number; signal?: AbortSignal } {
  if (random(2) === 0) return { timeout: random(3) };
  const controller = new AbortController();
  const when = random(3);
  if (when === 0) queueMicrotask(() => controller.abort("enough"));
  else setTimeout(() => controller.abort("enough"), when - 1);
  return { signal: controller.signal };
}

/** Waits, and is not told why it failed. */
async function attempt<T>(it: Promise<T>): Promise<T | undefined> {
  try {
    return await it;
  } catch (error) {
    if (error !== "enough") throw error;
    return undefined;
  }
}

interface Storm {
  readonly name: string;
  /** One wait that is often given up. */
  once(): Promise<void>;
  /** What is wrong once all waits are over; only one side is asked. */
  check(): string | undefined;
}

/** One side pushes numbers, the other one pops them, and both give up. */
function queueStorm(
  name: string,
  queue: SpscQueue | MpmcQueue | LockFreeQueue,
  at: number,
): Storm {
  return {
    name,
    async once() {
      if (data.side === 0) {
        if (await attempt(queue.tryPushIntAsync(1, options()))) {
          Atomics.add(sums, at, 1);
        }
      } else if (await attempt(queue.tryPopIntAsync(options())) === 1) {
        Atomics.add(sums, at + 1, 1);
      }
    },
    check() {
      let left = 0;
      while (queue.tryPopInt() !== undefined) left++;
      const lost = sums[at]! - sums[at + 1]! - left;
      return lost === 0 ? undefined : `${lost} items are lost`;
    },
  };
}

const mutex = Mutex.from(data.mutex);
const semaphore = Semaphore.from(data.semaphore);
const storms: Storm[] = [{
  name: "Mutex",
  async once() {
    const guard = await attempt(mutex.tryLockAsync(options()));
    if (guard === undefined) return;
    if (random(4) === 0) await null;
    guard.unlock();
  },
  check: () => mutex.owner === 0 ? undefined : "the mutex is still locked",
}, {
  name: "Semaphore",
  async once() {
    if (!await attempt(semaphore.tryAcquireAsync(1, options()))) return;
    if (random(4) === 0) await null;
    semaphore.release();
  },
  check: () =>
    semaphore.available === 1
      ? undefined
      : `${semaphore.available} permits instead of 1`,
}];
storms.push(
  queueStorm("SpscQueue", SpscQueue.from(data.spsc), 0),
  queueStorm("MpmcQueue", MpmcQueue.from(data.mpmc), 2),
  queueStorm("LockFreeQueue", LockFreeQueue.from(data.lockFree), 4),
);

const chosen = storms.filter(({ name }) => matches(name, data.only));
for (const { name, once, check } of chosen) {
  await start.arriveAndWaitAsync();
  const end = performance.now() + data.time / chosen.length;
  // One agent is the producer, or the consumer, of an SpscQueue: any number
  // of its waits may be pending at a time.
  let waits = 0;
  const loop = async () => {
    while (performance.now() < end) {
      await once();
      waits++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
  await start.arriveAndWaitAsync();
  const wrong = data.side === 1 ? check() : undefined;
  rows.push({
    what: `${name}: waits given up, or served`,
    volume: waits,
    unit: "waits",
    problems: wrong === undefined ? [] : [`${name}: ${wrong}`],
  });
  await start.arriveAndWaitAsync();
}
post(rows);
