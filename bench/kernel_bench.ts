// How much time does the kernel save? Each operation runs in one thread, by the
// class of `@weft/sync` and by that of `@weft/sync/kernel`, which take turns.
// The floor of a lock is two bare compareExchange calls of JavaScript.
import * as js from "../mod.ts";
import * as kernel from "../primitives/kernel.ts";
import { contest, ratio, type Row, timed } from "./contest.ts";

/**
 * A measurement: a target, and a function that does the operation `n` times.
 */
interface Case {
  readonly name: string;
  readonly least?: number;
  run(library: typeof kernel): (n: number) => void;
}

const record = new Uint8Array(100);
const element = new Int32Array(4);

const CASES: readonly Case[] = [
  {
    name: "MpmcQueue, push and pop an int",
    least: 2.5,
    run: ({ MpmcQueue }) => {
      const queue = MpmcQueue.create({ capacity: 64 });
      return (n) => {
        for (let i = 0; i < n; i++) {
          queue.tryPushInt(i);
          queue.tryPopInt();
        }
      };
    },
  },
  {
    name: "LockFreeQueue, push and pop an int",
    least: 2,
    run: ({ LockFreeQueue }) => {
      const queue = LockFreeQueue.create({ capacity: 64 });
      return (n) => {
        for (let i = 0; i < n; i++) {
          queue.tryPushInt(i);
          queue.tryPopInt();
        }
      };
    },
  },
  {
    name: "SpscQueue, push and pop an int",
    least: 1.8,
    run: ({ SpscQueue }) => {
      const queue = SpscQueue.create({ capacity: 64 });
      return (n) => {
        for (let i = 0; i < n; i++) {
          queue.tryPushInt(i);
          queue.tryPopInt();
        }
      };
    },
  },
  {
    name: "MpmcQueue, push and pop 16 bytes",
    run: ({ MpmcQueue }) => {
      const queue = MpmcQueue.create({ capacity: 64, elementSize: 16 });
      return (n) => {
        for (let i = 0; i < n; i++) {
          queue.tryPush(element);
          queue.tryPopInto(element);
        }
      };
    },
  },
  {
    name: "RecordRing, push and pop 100 bytes",
    run: ({ RecordRing }) => {
      const ring = RecordRing.create({ capacity: 4096 });
      return (n) => {
        for (let i = 0; i < n; i++) {
          ring.tryPush(record);
          ring.tryPopInto(record);
        }
      };
    },
  },
  {
    name: "Mutex, lock and unlock",
    least: 1.8,
    run: ({ Mutex }) => {
      const mutex = Mutex.create();
      return (n) => {
        for (let i = 0; i < n; i++) {
          mutex.lock();
          mutex.unlock();
        }
      };
    },
  },
  {
    name: "Semaphore, acquire and release",
    least: 1.8,
    run: ({ Semaphore }) => {
      const semaphore = Semaphore.create(1);
      return (n) => {
        for (let i = 0; i < n; i++) {
          semaphore.acquire();
          semaphore.release();
        }
      };
    },
  },
  {
    name: "WorkCounter, next",
    least: 1.8,
    run: ({ WorkCounter }) => {
      const counter = WorkCounter.create(2 ** 30);
      return (n) => {
        for (let i = 0; i < n; i++) counter.next();
      };
    },
  },
  {
    name: "WorkDeque, push and pop",
    run: ({ WorkDeque }) => {
      const deque = WorkDeque.create({ capacity: 64 });
      return (n) => {
        for (let i = 0; i < n; i++) {
          deque.push(i);
          deque.pop();
        }
      };
    },
  },
];

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, least, run } of CASES) {
    const results = await contest([
      timed("kernel", run(kernel)),
      timed("JavaScript", run(js as unknown as typeof kernel)),
    ]);
    rows.push({
      name: `${name}: time in JavaScript / in the kernel`,
      ...ratio(results, "JavaScript", "kernel"),
      ...least === undefined ? {} : { target: { least } },
    });
  }
  const words = new Int32Array(new SharedArrayBuffer(4));
  const results = await contest([
    timed("kernel", CASES.find(({ name }) => /^Mutex/.test(name))!.run(kernel)),
    timed("bare", (n) => {
      for (let i = 0; i < n; i++) {
        Atomics.compareExchange(words, 0, 0, 1);
        Atomics.compareExchange(words, 0, 1, 0);
      }
    }),
  ]);
  rows.push({
    name: "Mutex in the kernel, lock and unlock: time / two compareExchange",
    ...ratio(results, "kernel", "bare"),
    target: { most: 0.7 },
  });
  return rows;
}
