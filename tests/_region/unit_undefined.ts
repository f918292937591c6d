// A program hands options on that it may not have got itself. So an option that
// is undefined is none: the types take it, and memory is the same without it.
import * as assert from "uvu/assert";
import {
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  codec,
  Event,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  RwLock,
  Semaphore,
  Snapshot,
  SpscQueue,
  StripedCounter,
  struct,
  WorkCounter,
} from "../../mod.ts";
import { Pool, task } from "../../primitives/pool.ts";
import { watch } from "../../primitives/tools/watch.ts";
import { race } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("Undefined options");

const none = undefined;
const Pair = struct({ a: "i32", b: "i32" });
const queue = { capacity: 4, elementSize: none };
const shape = { request: 8, reply: 8 };
const kinds: Record<string, readonly [given: object, missing: object]> = {
  Barrier: [Barrier.create(2, { tracked: none }), Barrier.create(2)],
  Broadcast: [
    Broadcast.create({ ...queue, subscribers: none, slow: none }),
    Broadcast.create({ capacity: 4 }),
  ],
  CallRing: [
    CallRing.create({ ...shape, slots: none }),
    CallRing.create(shape),
  ],
  Channel: [
    Channel.create({ capacity: 4, codec: codec.i32, carrier: none }),
    Channel.create({ capacity: 4, codec: codec.i32 }),
  ],
  Event: [Event.create({ autoReset: none }), Event.create()],
  LockFreeQueue: [
    LockFreeQueue.create({ ...queue, agents: none }),
    LockFreeQueue.create({ capacity: 4 }),
  ],
  MpmcQueue: [MpmcQueue.create(queue), MpmcQueue.create({ capacity: 4 })],
  "MpmcQueue of records": [
    MpmcQueue.create({ ...queue, element: Pair }),
    MpmcQueue.create({ capacity: 4, element: Pair }),
  ],
  RecordRing: [
    RecordRing.create({
      capacity: 64,
      manyConsumers: none,
      most: none,
      singleProducer: none,
    }),
    RecordRing.create({ capacity: 64 }),
  ],
  RwLock: [RwLock.create({ tracked: none }), RwLock.create()],
  Semaphore: [
    Semaphore.create(1, { tracked: none, max: none }),
    Semaphore.create(1),
  ],
  Snapshot: [
    Snapshot.create({ size: 8, singleReader: none }),
    Snapshot.create({ size: 8 }),
  ],
  SpscQueue: [SpscQueue.create(queue), SpscQueue.create({ capacity: 4 })],
  StripedCounter: [
    StripedCounter.create({ stripes: none }),
    StripedCounter.create(),
  ],
  WorkCounter: [
    WorkCounter.create(9, {
      chunk: none,
      schedule: none,
      agents: none,
      tracked: none,
    }),
    WorkCounter.create(9),
  ],
};

for (const [name, both] of Object.entries(kinds)) {
  test(name, () => {
    const [given, missing] = both.map((one) => {
      const { buffer } = one as { buffer: SharedArrayBuffer };
      return [...new Uint8Array(buffer)];
    });
    assert.equal(given, missing);
  });
}

test("a watch, a task and a specification take them, too", () => {
  watch([Event.create()], { every: none, signal: none, write: () => {} })();
  const plain = task({ request: none, reply: none, idempotent: none });
  assert.equal(plain, task());
  const tasks = { plain };
  assert.throws(() => new Pool({ tasks, make: none, workers: 1 }), /make/);
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    init: none,
    invariant: none,
    final: none,
    recover: none,
    recovered: none,
    hints: none,
    words: none,
    stateless: none,
    async: none,
    wasm: none,
    agents: none,
    ops: {
      add: {
        run: (w) => Atomics.add(w, 0, 1),
        model: none,
        agents: none,
        lockFree: none,
        arg: none,
      },
    },
  });
  assert.ok(race.check(spec, [["add"]], [["add"]]).complete);
});
