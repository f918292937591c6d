/**
 * A program that prints how many bytes each operation of `realtime.ts`
 * allocates, as JSON: `{ "SpscQueue.tryPushInt": 0, ... }`. Its first argument
 * says how often it calls each; it leaves out operations whose names match its
 * second argument. It needs `--expose-gc`, and a young generation that a round
 * does not fill.
 *
 * @module
 */

import process from "node:process";
import {
  Event,
  Latch,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  Semaphore,
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  WaitGroup,
  WorkCounter,
  WorkDeque,
} from "../../primitives/realtime.ts";

/** Operations by name; those of a line are measured together. */
export type Operations = Record<string, () => void>;

const block = new Float32Array(128);
const words = new Int32Array(128);
const bytes = new Uint8Array(512);

let seen: unknown; // what an operation answers must not be thought useless

function ofQueue(
  name: string,
  make: typeof SpscQueue | typeof MpmcQueue | typeof LockFreeQueue,
): Operations {
  const ints = make.create({ capacity: 4 });
  const wide = make.create({ capacity: 4, elementSize: 512 });
  const long = make.create({ capacity: 16, elementSize: 32 });
  return {
    [`${name}.tryPushInt tryPopInt`]: () => {
      ints.tryPushInt(7);
      seen = ints.tryPopInt();
    },
    [`${name}.tryPopInt`]: () => seen = ints.tryPopInt(),
    [`${name}.size closed`]: () => seen = ints.size + Number(ints.closed),
    [`${name}.tryPush tryPopInto`]: () => {
      wide.tryPush(words);
      seen = wide.tryPopInto(words);
    },
    [`${name}.tryPush tryPopInto of floats`]: () => {
      wide.tryPush(block);
      seen = wide.tryPopInto(block);
    },
    [`${name}.tryPush tryPopInto of bytes`]: () => {
      wide.tryPush(bytes);
      seen = wide.tryPopInto(bytes);
    },
    [`${name}.tryPush tryPopInto of both`]: () => {
      wide.tryPush(block);
      wide.tryPush(bytes);
      wide.tryPush(words);
      while (wide.tryPopInto(block));
    },
    [`${name}.tryPushMany tryPopMany`]: () => {
      long.tryPushMany(words, 15);
      seen = long.tryPopMany(words, 15);
    },
    [`${name}.reserve commit peek consume`]: () => {
      wide.reserve()![0] = 7;
      wide.commit();
      seen = wide.peek()![0];
      wide.consume();
    },
    [`${name}.close`]: () => long.close(),
  };
}

/** What a channel does with its queue. */
function ofPlaces(): Operations {
  const ints = SpscQueue.create({ capacity: 4 });
  return {
    "SpscQueue.placeToPush pushPlaced placeToPop popPlaced": () => {
      seen = ints.placeToPush();
      ints.pushPlaced();
      seen = ints.placeToPop();
      ints.popPlaced();
    },
    "SpscQueue.placesToPush pushPlaces placesToPop popPlaces": () => {
      seen = ints.placesToPush(3);
      ints.pushPlaces(2);
      seen = ints.placesToPop(3);
      ints.popPlaces(2);
    },
  };
}

function ofRing(): Operations {
  const rings = [false, true].map((singleProducer) =>
    RecordRing.create({ capacity: 16384, singleProducer })
  );
  const all: Operations = {};
  for (const ring of rings) {
    const name = ring.singleProducer
      ? "RecordRing of one producer"
      : "RecordRing";
    all[`${name}.tryPush tryPopInto`] = () => {
      ring.tryPush(block);
      seen = ring.tryPopInto(block);
      ring.tryPush(bytes);
      seen = ring.tryPopInto(bytes);
      ring.tryPush(words);
      seen = ring.tryPopInto(words);
    };
    all[`${name}.tryPopInto`] = () => seen = ring.tryPopInto(words);
    all[`${name}.used size closed claimant`] = () =>
      seen = ring.used + ring.size + ring.claimant + Number(ring.closed);
    const filled = RecordRing.create({
      capacity: 1024,
      singleProducer: ring.singleProducer,
    });
    filled.tryPush(bytes.subarray(0, 3));
    filled.tryPush(bytes.subarray(0, 8));
    all[`${name}.size of records`] = () => seen = filled.size;
    const closing = RecordRing.create({
      capacity: 64,
      singleProducer: ring.singleProducer,
    });
    all[`${name}.close`] = () => closing.close();
  }
  return all;
}

function ofSnapshots(): Operations {
  const all: Operations = {};
  for (const single of [false, true]) {
    const it = Snapshot.create({ size: 512, singleReader: single });
    const name = single ? "Snapshot single" : "Snapshot";
    all[`${name}.write read`] = () => {
      it.write(words);
      seen = it.read(words);
    };
    all[`${name}.write read of floats`] = () => {
      it.write(block);
      seen = it.read(block);
    };
    all[`${name}.version`] = () => seen = it.version;
  }
  return all;
}

function useEvent(event: Event) {
  event.set();
  seen = event.isSet;
  seen = event.tryWait();
  event.reset();
  seen = event.tryWait() && event.autoReset;
}

function ofOthers(): Operations {
  const semaphore = Semaphore.create(1);
  const flag = Event.create();
  const signal = Event.create({ autoReset: true });
  const latch = Latch.create(2 ** 30 - 1);
  const group = WaitGroup.create();
  const work = WorkCounter.create(2 ** 30);
  const guided = WorkCounter.create(9, { schedule: "guided", agents: 2 });
  const over = WorkCounter.create(1);
  const deque = WorkDeque.create({ capacity: 8 });
  const pool = SlabPool.create({ capacity: 8, blockSize: 64 });
  const counter = StripedCounter.create();
  return {
    "Semaphore.tryAcquire drain release available": () => {
      semaphore.tryAcquire();
      seen = semaphore.tryAcquire();
      semaphore.release();
      seen = semaphore.drain();
      semaphore.release();
      seen = semaphore.available;
    },
    "Event.set reset isSet tryWait autoReset": () => {
      useEvent(flag);
      useEvent(signal);
    },
    "Latch.countDown count tryWait": () => {
      latch.countDown();
      seen = latch.count;
      seen = latch.tryWait();
    },
    "WaitGroup.add done count tryWait": () => {
      group.add();
      seen = group.count;
      group.done();
      seen = group.tryWait();
    },
    "WorkCounter.next done remaining completed cancelled": () => {
      seen = work.next();
      work.done();
      seen = work.remaining - work.completed + Number(work.cancelled);
    },
    "WorkCounter.next guided": () => {
      if (guided.next() < 0) seen = guided.remaining;
    },
    "WorkCounter.next over": () => seen = over.next(),
    "WorkDeque.push pop steal size": () => {
      deque.push(7);
      deque.push(8);
      seen = deque.size;
      seen = deque.steal();
      seen = deque.pop();
      seen = deque.pop();
    },
    "SlabPool.allocate free available": () => {
      const at = pool.allocate();
      seen = pool.available;
      pool.free(at);
    },
    "SlabPool.allocate none": () => {
      while (pool.allocate() >= 0);
    },
    "StripedCounter.add sum stripes": () => {
      counter.add(1);
      seen = counter.sum() + counter.stripes;
    },
  };
}

/** The methods of the realtime classes. */
export const OPERATIONS: Operations = {
  ...ofQueue("SpscQueue", SpscQueue),
  ...ofPlaces(),
  ...ofQueue("MpmcQueue", MpmcQueue),
  ...ofQueue("LockFreeQueue", LockFreeQueue),
  ...ofRing(),
  ...ofSnapshots(),
  ...ofOthers(),
};

/** An operation that allocates, which must be noticed. */
export const CONTROLS: Operations = {
  "an object": () => seen = { one: 1 },
  "a view": () => seen = words.subarray(1, 2),
  "a closure": () => seen = () => seen,
};

/**
 * Bytes for each operation that the measurement itself allocates; they do not
 * count.
 */
export const NOISE = 4;

/** How often an operation is called in a round. */
const TIMES = Number(process.argv[2] ?? 10_000);
const { gc } = globalThis as { gc?: () => void };

/**
 * Bytes that a call of `operation` allocates, in the best of several rounds.
 * One round without an allocation is enough. While the operation allocates
 * there are more rounds, because the compiler may still be at work.
 */
function bytesOf(operation: () => void): number {
  for (let i = 0; i < TIMES; i++) operation(); // what compiles, compiles now
  let least = Infinity;
  for (let round = 0; round < 40 && least >= NOISE * TIMES; round++) {
    gc!();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < TIMES; i++) operation();
    const used = process.memoryUsage().heapUsed - before;
    // The collector ran in a round that ends with less; it says nothing.
    if (used > -NOISE * TIMES) least = Math.min(least, used);
  }
  return least / TIMES;
}

if (import.meta.main) {
  if (gc === undefined) throw new Error("needs --expose-gc");
  const leftOut = new RegExp(process.argv[3] ?? "^$");
  bytesOf(() => {}); // the first measurement has allocations of its own
  const found: Record<string, number> = {};
  for (const [name, call] of Object.entries({ ...OPERATIONS, ...CONTROLS })) {
    if (!leftOut.test(name)) found[name] = bytesOf(call);
  }
  console.log(JSON.stringify(found));
}
