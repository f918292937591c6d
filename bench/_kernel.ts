// One operation in one thread, by a class of `@weft/sync` or of
// `@weft/sync/kernel`. Each contestant has a thread of its own: if both classes
// came to one call, the engine could not inline it, and both would be slower.
import * as js from "../mod.ts";
import * as kernel from "../primitives/kernel/kernel.ts";
import { kernelOf } from "../primitives/kernel/_instance.ts";
import * as TEXT from "../primitives/kernel/_text.ts";
import { type Loop, short } from "./beats.ts";
import type { Run } from "./contest.ts";

/** The data of a thread. */
export interface Order {
  operation: keyof typeof OPERATIONS;
}

const record = new Uint8Array(100);
const element = new Int32Array(4);

/** The keys of a map. */
const KEYS = 1024;

/** A map from each of the first numbers to itself. */
function numbersIn({ HashMap }: typeof kernel) {
  const codecs = { key: js.codec.i32, value: js.codec.i32 };
  const map = HashMap.create({ ...codecs, capacity: 2 * KEYS });
  for (let i = 0; i < KEYS; i++) map.set(i, i);
  return map;
}

/** Pushes and pops ints. */
function ints(
  queue: Pick<js.MpmcQueue, "tryPushInt" | "tryPopInt">,
): Loop {
  return (n) => {
    for (let i = 0; i < n; i++) {
      queue.tryPushInt(i);
      queue.tryPopInt();
    }
  };
}

/** The operations, as a function that does one of them `n` times. */
const OPERATIONS = {
  mpmc: ({ MpmcQueue }) => ints(MpmcQueue.create({ capacity: 64 })),
  lockFree: ({ LockFreeQueue }) => ints(LockFreeQueue.create({ capacity: 64 })),
  spsc: ({ SpscQueue }) => ints(SpscQueue.create({ capacity: 64 })),
  mpmc16: ({ MpmcQueue }) => {
    const queue = MpmcQueue.create({ capacity: 64, elementSize: 16 });
    return (n) => {
      for (let i = 0; i < n; i++) {
        queue.tryPush(element);
        queue.tryPopInto(element);
      }
    };
  },
  ring: ({ RecordRing }) => {
    const ring = RecordRing.create({ capacity: 4096 });
    return (n) => {
      for (let i = 0; i < n; i++) {
        ring.tryPush(record);
        ring.tryPopInto(record);
      }
    };
  },
  mutex: ({ Mutex }) => {
    const mutex = Mutex.create();
    return (n) => {
      for (let i = 0; i < n; i++) {
        mutex.lock();
        mutex.unlock();
      }
    };
  },
  semaphore: ({ Semaphore }) => {
    const semaphore = Semaphore.create(1);
    return (n) => {
      for (let i = 0; i < n; i++) {
        semaphore.acquire();
        semaphore.release();
      }
    };
  },
  next: ({ WorkCounter }) => {
    let counter = WorkCounter.create(2 ** 30);
    let left = 2 ** 30;
    return (n) => {
      if ((left -= n) < 0) {
        counter = WorkCounter.create(2 ** 30);
        left = 2 ** 30 - n;
      }
      for (let i = 0; i < n; i++) counter.next();
    };
  },
  deque: ({ WorkDeque }) => {
    const deque = WorkDeque.create({ capacity: 64 });
    return (n) => {
      for (let i = 0; i < n; i++) {
        deque.push(i);
        deque.pop();
      }
    };
  },
  mapGet: (library) => {
    const map = numbersIn(library);
    return (n) => {
      for (let i = 0; i < n; i++) map.get(i & KEYS - 1);
    };
  },
  mapSet: (library) => {
    const map = numbersIn(library);
    return (n) => {
      for (let i = 0; i < n; i++) map.set(i & KEYS - 1, i | 0);
    };
  },
  mapAdd: (library) => {
    const map = numbersIn(library);
    return (n) => {
      for (let i = 0; i < n; i++) map.add(i & KEYS - 1, 1);
    };
  },
} satisfies Record<string, (library: typeof kernel) => Loop>;

export function inJavaScript({ operation }: Order): Run {
  const library = js as unknown as typeof kernel;
  return short(OPERATIONS[operation](library));
}

export function inKernel({ operation }: Order): Run {
  return short(OPERATIONS[operation](kernel));
}

// ---- floors -----------------------------------------------------------------

export function twoExchanges(): Run {
  const words = new Int32Array(new SharedArrayBuffer(4));
  return short((n) => {
    for (let i = 0; i < n; i++) {
      Atomics.compareExchange(words, 0, 0, 1);
      Atomics.compareExchange(words, 0, 1, 0);
    }
  });
}

/** The kernel's two functions alone, without the class. */
export function bareMutex(): Run {
  const { buffer } = kernel.Mutex.create().handle;
  const { functions, base } = kernelOf<{
    lock(at: number, id: number): number;
    unlock(at: number, id: number): number;
  }>("mutex", TEXT.MUTEX, buffer)!;
  return short((n) => {
    for (let i = 0; i < n; i++) {
      functions.lock(base, 1);
      functions.unlock(base, 1);
    }
  });
}
