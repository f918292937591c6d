// Two agents in each role of each primitive, as `create` makes it: both work,
// or the second one is refused. A primitive that is not in the table fails.
import * as assert from "uvu/assert";
import {
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  codec,
  HashMap,
  LockFreeQueue,
  manyToOne,
  MpmcQueue,
  oneToOne,
  RecordRing,
  Semaphore,
  ShapeTable,
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import type { KIND } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, wordsOf } from "../_run/model.ts";

const test = suite("two in each role");

/** What two agents of a role do, on what `make` made. */
interface Role<View> {
  readonly make: () => View;
  readonly attach: (view: View) => View;
  /** What one of them does; all that both do is checked by `ends`. */
  readonly one: (view: View) => unknown;
  /** Whether the second one is refused. Otherwise both results must be true. */
  readonly refused?: boolean;
  /** What the second one does first, once it may. */
  readonly again?: (view: View) => void;
}

// deno-lint-ignore no-explicit-any
type AnyRole = Role<any>;

/** Two agents that do the same, one after the other, and both succeed. */
const both = (
  Class: { from(handle: never): unknown },
  make: () => unknown,
  one: AnyRole["one"],
  more: Partial<AnyRole> = {},
): AnyRole => ({
  make,
  attach: (view) => Class.from(view.handle as never),
  one,
  ...more,
});

/** The codecs of a map. */
const NUMBERS = { key: codec.i32, value: codec.i32 };

const bytes = Uint8Array.of(1);
const word = Int32Array.of(7);
const filled = <Q extends { tryPushInt(n: number): boolean }>(queue: Q): Q => {
  for (let n = 0; n < 2; n++) queue.tryPushInt(n);
  return queue;
};

/** A channel of a carrier with two messages in it, or none. */
const channels = (
  carrier: typeof oneToOne | undefined,
  sends: boolean,
  refused: boolean,
): AnyRole => {
  const config = { codec: codec.text, carrier };
  return {
    make: () => {
      const channel = Channel.create({ ...config, capacity: 8 });
      if (sends) return channel;
      const sender = asAgent(9, () => Channel.from(channel.handle, config));
      for (let n = 0; n < 2; n++) sender.send("a");
      return channel;
    },
    attach: (channel) => Channel.from(channel.handle, config),
    one: (channel) =>
      sends ? channel.trySend("b") : channel.tryReceive() === "a",
    refused,
  };
};

/** A channel of numbers for one sender and one receiver. */
const numbers = (sends: boolean): AnyRole => {
  const config = { codec: codec.i32, carrier: oneToOne };
  return {
    make: () => {
      const channel = Channel.create({ ...config, capacity: 8 });
      if (sends) return channel;
      const sender = asAgent(9, () => Channel.from(channel.handle, config));
      for (let n = 0; n < 2; n++) sender.send(7);
      return channel;
    },
    attach: (channel) => Channel.from(channel.handle, config),
    one: (channel) => sends ? channel.trySend(7) : channel.tryReceive() === 7,
    refused: true,
  };
};

const ROOM = { capacity: 8 };

/** The roles of each kind of primitive that is configured. */
const ROLES: Readonly<Record<keyof typeof KIND, Record<string, AnyRole>>> = {
  semaphore: {
    acquires: both(Semaphore, () => Semaphore.create(2), (s) => s.tryAcquire()),
  },
  latch: {},
  barrier: {
    arrives: both(Barrier, () => Barrier.create(3), (b) => b.parties === 3),
  },
  snapshot: {
    reads: both(
      Snapshot,
      () => Snapshot.create({ size: 4 }),
      (s) => s.read(new Int32Array(1)) === 0,
    ),
    writes: both(
      Snapshot,
      () => Snapshot.create({ size: 4 }),
      (s) => (s.write(word), true),
      { refused: true },
    ),
    "reads, single": both(
      Snapshot,
      () => Snapshot.create({ size: 4, singleReader: true }),
      (s) => s.read(new Int32Array(1)) === 0,
      { refused: true },
    ),
  },
  spsc_queue: {
    produces: both(
      SpscQueue,
      () => SpscQueue.create(ROOM),
      (q) => q.tryPushInt(1),
      { refused: true },
    ),
    consumes: both(
      SpscQueue,
      () => filled(SpscQueue.create(ROOM)),
      (q) => q.tryPopInt() !== undefined,
      { refused: true },
    ),
  },
  mpmc_queue: {
    produces: both(
      MpmcQueue,
      () => MpmcQueue.create(ROOM),
      (q) => q.tryPushInt(1),
    ),
    consumes: both(
      MpmcQueue,
      () => filled(MpmcQueue.create(ROOM)),
      (q) => q.tryPopInt() !== undefined,
    ),
  },
  lock_free_queue: {
    produces: both(
      LockFreeQueue,
      () => LockFreeQueue.create(ROOM),
      (q) => q.tryPushInt(1),
    ),
    consumes: both(
      LockFreeQueue,
      () => filled(LockFreeQueue.create(ROOM)),
      (q) => q.tryPopInt() !== undefined,
    ),
  },
  record_ring: {
    produces: both(
      RecordRing,
      () => RecordRing.create({ capacity: 64 }),
      (r) => r.tryPush(bytes),
    ),
    consumes: both(
      RecordRing,
      () => {
        const ring = RecordRing.create({ capacity: 64 });
        for (let n = 0; n < 2; n++) ring.push(bytes);
        return ring;
      },
      (r) => r.tryPop() !== undefined,
      { refused: true },
    ),
    "produces, single": both(
      RecordRing,
      () => RecordRing.create({ capacity: 64, singleProducer: true }),
      (r) => r.tryPush(bytes),
      { refused: true },
    ),
  },
  broadcast: {
    subscribes: both(
      Broadcast,
      () => Broadcast.create(ROOM),
      (b) => b.subscribe() !== undefined,
    ),
    produces: both(
      Broadcast,
      () => Broadcast.create(ROOM),
      (b) => b.tryPushInt(1),
      { refused: true },
    ),
  },
  channel: {
    sends: channels(undefined, true, false),
    receives: channels(undefined, false, false),
    "sends, manyToOne": channels(manyToOne, true, false),
    "receives, manyToOne": channels(manyToOne, false, true),
    "sends, oneToOne, i32": numbers(true),
    "receives, oneToOne, i32": numbers(false),
    "sends, oneToOne": channels(oneToOne, true, true),
    "receives, oneToOne": channels(oneToOne, false, true),
  },
  call_ring: {
    calls: both(
      CallRing,
      () => CallRing.create({ request: 8, reply: 8 }),
      (ring) => ring.tryPost(bytes) !== undefined,
    ),
    serves: both(
      CallRing,
      () => {
        const ring = CallRing.create({ request: 8, reply: 8 });
        for (let n = 0; n < 2; n++) ring.tryPost(bytes);
        return ring;
      },
      (ring) => ring.tryServeOne(() => bytes),
    ),
  },
  work_counter: {
    takes: both(WorkCounter, () => WorkCounter.create(2), (c) => c.next() >= 0),
  },
  work_deque: {
    steals: both(
      WorkDeque,
      () => {
        const deque = WorkDeque.create({ capacity: 4 });
        deque.push(1);
        deque.push(2);
        return deque;
      },
      (deque) => deque.steal() > 0,
    ),
    owns: both(
      WorkDeque,
      () => WorkDeque.create({ capacity: 4 }),
      (deque) => deque.push(1),
      { refused: true, again: (deque) => deque.adopt() },
    ),
  },
  shape_table: {
    adds: both(
      ShapeTable,
      () => ShapeTable.create({ bytes: 100 }),
      (table) => table.add(bytes) >= 0,
    ),
  },
  slab_pool: {
    allocates: both(
      SlabPool,
      () => SlabPool.create({ capacity: 4, blockSize: 8 }),
      (pool) => pool.allocate() >= 0,
    ),
  },
  hash_map: {
    writes: both(
      { from: (handle) => HashMap.from(handle, NUMBERS) },
      () => HashMap.create({ ...NUMBERS, capacity: 4 }),
      (map) => map.set(1, 2),
    ),
    reads: both(
      { from: (handle) => HashMap.from(handle, NUMBERS) },
      () => HashMap.create({ ...NUMBERS, capacity: 4 }),
      (map) => map.get(1) === undefined,
    ),
  },
  striped_counter: {
    adds: both(
      StripedCounter,
      () => StripedCounter.create(),
      (counter) => (counter.add(1), true),
    ),
  },
};

for (const [stem, roles] of Object.entries(ROLES)) {
  for (const [name, role] of Object.entries(roles)) {
    const how = role.refused ? "is refused" : "works";
    test(`${stem}: a second agent that ${name} ${how}`, () => {
      const made = role.make();
      const [one, two] = [1, 2].map((id) =>
        asAgent(id, () => role.attach(made))
      );
      assert.is(role.one(one), true);
      if (!role.refused) assert.is(role.one(two), true);
      else {
        const before = wordsOf(made).slice();
        assert.throws(
          () => role.one(two),
          (error: Error) =>
            error instanceof TypeError &&
            /which is agent 1/.test(error.message),
        );
        assert.equal(wordsOf(made), before);
        two.abandon(1);
        role.again?.(two);
        assert.is(role.one(two), true);
      }
    });
  }
}
