// also: node, browsers
// it waits
import * as assert from "uvu/assert";
import {
  agentId,
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  codec,
  DamagedError,
  Event,
  type Finding,
  HashMap,
  layout,
  MpmcQueue,
  Mutex,
  onAgentExit,
  Once,
  oneToOne,
  RecordRing,
  recover,
  RwLock,
  Semaphore,
  SlabPool,
  Snapshot,
  SpscQueue,
  type View,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { planFor } from "../../primitives/_map/plan.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, refuses, wordsOf } from "../_run/model.ts";
import { MPMC } from "../_queue/model.ts";

const test = suite("recover");

/** Two agents that have ended. */
const A = 1001;
const B = 1002;

/** Findings without the views, in short. */
const told = (findings: Finding[]): unknown[] =>
  findings.map(({ kind, what, id, count }) => [kind, what, id, count]);

test("recover() takes back what two dead agents held, the locks last", () => {
  const mutex = Mutex.create();
  const rw = RwLock.create();
  const once = Once.create();
  const semaphore = Semaphore.create(1);
  const ring = RecordRing.create({ capacity: 256 });
  const broadcast = Broadcast.create({ capacity: 8, subscribers: 4 });
  const calls = CallRing.create({ slots: 4, request: 8, reply: 8 });
  const pool = SlabPool.create({ capacity: 8, blockSize: 8 });
  asAgent(A, () => new Mutex(mutex.buffer)).lock();
  asAgent(B, () => new RwLock(rw.buffer)).write();
  const { runner } = { runner: A };
  wordsOf(once)[LAYOUT.once.state] = runner;
  const { permits, claim, claimant } = LAYOUT.semaphore;
  wordsOf(semaphore)[permits] = 2 << 2 | 3; // it lacks two
  wordsOf(semaphore)[claim] = 3;
  wordsOf(semaphore)[claimant] = B;
  for (const id of [A, B]) {
    asAgent(id, () => new RecordRing(ring.buffer)).reserve(9);
    asAgent(id, () => new Broadcast(broadcast.buffer).subscribe());
    const theirs = asAgent(id, () => new SlabPool(pool.buffer, 0));
    theirs.free(theirs.allocate()); // it lies in a cache
  }
  asAgent(B, () => new CallRing(calls.buffer)).tryPost(new Uint8Array(4));
  const numbers = { key: codec.i32, value: codec.i32 };
  const map = HashMap.create({ ...numbers, capacity: 1 });
  const { buckets } = planFor(LAYOUT.hash_map.length, 1, 1, 1);
  wordsOf(map)[buckets] = B; // it holds the only bucket
  const idle = Event.create();
  const counter = WorkCounter.create(5); // it can be iterated over
  const all: View[] = [
    mutex,
    rw,
    once,
    semaphore,
    ring,
    broadcast,
    calls,
    pool,
    idle,
    counter,
    map,
  ];
  const findings = recover([A, B, A], all);
  const pools = findings.filter(({ kind }) => kind === "slab_pool");
  assert.ok(pools.every(({ what }) => what === "blocks freed"));
  assert.equal(told(findings.filter((finding) => !pools.includes(finding))), [
    ["hash_map", "writes ended", B, 1],
    ["record_ring", "records skipped", A, 1],
    ["record_ring", "records skipped", B, 1],
    ["broadcast", "subscriptions ended", A, 1],
    ["broadcast", "subscriptions ended", B, 1],
    ["call_ring", "calls ended", B, 1],
    ["semaphore", "permits returned", B, 3],
    ["once", "function abandoned", A, 1],
    ["rw_lock", "lock abandoned", B, 1],
    ["mutex", "lock abandoned", A, 1],
  ]);
  assert.is(findings.at(-1)!.primitive, mutex);
  assert.ok(map.set(1, 2));
  assert.ok(mutex.tryLock()!.abandoned);
  assert.ok(rw.tryWrite()!.abandoned);
  assert.is(semaphore.available, 1);
  assert.ok(ring.tryPush(new Uint8Array(9)));
  assert.is(ring.tryPop()!.length, 9);
  assert.equal(recover([A, B], all), []); // once, and not again
});

test("recover() frees the roles that dead agents had, and tells them", () => {
  const queue = SpscQueue.create({ capacity: 4 });
  const ring = RecordRing.create({ capacity: 64, singleProducer: true });
  const shared = RecordRing.create({ capacity: 64, manyConsumers: true });
  const config = { codec: codec.i32, carrier: oneToOne };
  const ints = Channel.create({ ...config, capacity: 4 });
  const texts = Channel.create({ codec: codec.text, capacity: 4 });
  const record = Uint8Array.of(1);
  asAgent(A, () => SpscQueue.from(queue.handle)).tryPushInt(1);
  asAgent(B, () => SpscQueue.from(queue.handle)).tryPopInt();
  asAgent(A, () => Channel.from(ints.handle, config)).send(1);
  asAgent(B, () => Channel.from(texts.handle, { codec: codec.text })).send("a");
  for (const { handle } of [ring, shared]) {
    const theirs = asAgent(A, () => RecordRing.from(handle));
    theirs.push(record);
    theirs.pop();
  }
  const snapshot = Snapshot.create({ size: 4, singleReader: true });
  asAgent(A, () => Snapshot.from(snapshot.handle)).read(new Int32Array(1));
  asAgent(B, () => Snapshot.from(snapshot.handle)).write(new Int32Array(1));
  const ticks = Broadcast.create({ capacity: 4 });
  asAgent(A, () => Broadcast.from(ticks.handle)).tryPushInt(1);
  asAgent(A, () => Broadcast.from(ticks.handle)).subscribe();
  const deque = WorkDeque.create({ capacity: 4 });
  asAgent(B, () => WorkDeque.from(deque.handle)).push(1);
  const all: View[] = [
    deque,
    ticks,
    texts,
    ints,
    shared,
    ring,
    queue,
    snapshot,
  ];
  const findings = told(recover([A, B], all));
  assert.equal(findings, [
    ["snapshot", "roles freed", A, 1],
    ["snapshot", "roles freed", B, 1],
    ["spsc_queue", "roles freed", A, 1],
    ["spsc_queue", "roles freed", B, 1],
    ["work_deque", "roles freed", B, 1],
    ["record_ring", "roles freed", A, 2],
    ["channel", "roles freed", A, 1],
    ["broadcast", "roles freed", A, 1],
    ["broadcast", "subscriptions ended", A, 1],
  ]);
  assert.equal(recover([A, B], all), []);
  assert.ok(queue.tryPushInt(2));
  assert.ok(ring.tryPush(record));
  assert.ok(ints.trySend(2));
  assert.ok(ticks.tryPushInt(2));
  deque.adopt();
  assert.is(deque.pop(), 1);
});

test("recover() returns the permits that dead agents held", () => {
  const untracked = Semaphore.create(9);
  const tracked = Semaphore.create(9, { tracked: 3 });
  for (const [id, n] of [[A, 2], [B, 3]] as const) {
    for (const { buffer } of [untracked, tracked]) {
      asAgent(id, () => new Semaphore(buffer)).acquire(n);
    }
  }
  tracked.acquire(1);
  assert.equal(told(recover([A, B], [untracked, tracked])), [
    ["semaphore", "permits returned", A, 2],
    ["semaphore", "permits returned", B, 3],
  ]);
  assert.is(tracked.available, 8);
  assert.is(untracked.available, 4);
  assert.equal(recover([A, B], [untracked, tracked]), []);
  wordsOf(tracked)[LAYOUT.semaphore.permits]! |= 255 << 12;
  wordsOf(tracked)[40] = A;
  assert.equal(told(recover([A, B], tracked)), [
    ["semaphore", "damaged", 0, 1],
  ]);
});

test("recover() ends what dead agents read", () => {
  const untracked = RwLock.create();
  const tracked = RwLock.create({ tracked: 3 });
  for (const { buffer } of [untracked, tracked]) {
    asAgent(A, () => new RwLock(buffer)).read();
    const theirs = asAgent(B, () => new RwLock(buffer));
    theirs.read();
    theirs.read();
  }
  tracked.read().unlock();
  assert.equal(told(recover([A, B], [untracked, tracked])), [
    ["rw_lock", "reading ended", A, 1],
    ["rw_lock", "reading ended", B, 2],
  ]);
  assert.is(tracked.readers, 0);
  assert.is(untracked.readers, 3);
  const writing = asAgent(A, () => new RwLock(tracked.buffer)).write();
  writing.downgrade();
  asAgent(B, () => new RwLock(tracked.buffer)).tryWrite();
  assert.equal(told(recover([A, B], tracked)), [
    ["rw_lock", "reading ended", A, 1],
  ]);
  assert.is(tracked.tryWrite()!.abandoned, false);
});

test("recover() returns the tasks that dead agents had not done", () => {
  const untracked = WorkCounter.create(20, { chunk: 4 });
  const tracked = WorkCounter.create(20, { chunk: 4, tracked: 3 });
  for (const id of [A, B]) {
    for (const { buffer } of [untracked, tracked]) {
      const theirs = asAgent(id, () => new WorkCounter(buffer));
      theirs.nextRange();
      theirs.done(id === A ? 1 : 4);
    }
  }
  const findings = recover([A, B], [untracked, tracked]);
  assert.equal(told(findings), [["work_counter", "tasks returned", A, 3]]);
  assert.equal(findings[0]!.ranges, [{ start: 1, end: 4 }]);
  const tasks: number[] = [];
  for (const task of tracked) {
    tasks.push(task);
    tracked.done();
  }
  assert.equal(tasks.toSorted((a, b) => a - b), [
    ...[1, 2, 3],
    ...Array.from({ length: 12 }, (_, i) => i + 8),
  ]);
  assert.ok(tracked.tryWait());
  assert.equal(recover([A, B], [untracked, tracked]), []);
});

test("recover() takes out the parties that dead agents were", () => {
  const tracked = Barrier.create(3, { tracked: 3 });
  for (const id of [A, B]) {
    asAgent(id, () => new Barrier(tracked.buffer)).tryArriveAndWait();
  }
  assert.equal(told(recover([A, B], [Barrier.create(3), tracked])), [
    ["barrier", "parties left", A, 1],
    ["barrier", "parties left", B, 1],
  ]);
  assert.is(tracked.parties, 1);
  assert.ok(tracked.arriveAndWait().leader);
  assert.equal(recover([A, B], tracked), []);
});

test("recover() ends, whichever dead agent has the claim of a ring", () => {
  for (const claimant of [A, B]) {
    const ring = RecordRing.create({ capacity: 256 });
    asAgent(B, () => new RecordRing(ring.buffer)).reserve(4);
    wordsOf(ring)[LAYOUT.record_ring.claimant] = claimant;
    assert.equal(told(recover([A, B], ring)), [
      ["record_ring", "records skipped", B, 1],
    ]);
    assert.is(ring.claimant, 0);
    assert.ok(ring.tryPush(new Uint8Array(4)));
    assert.is(ring.tryPop()!.length, 4);
  }
});

test("recover() tells who else has the claim of a ring, and then goes on", () => {
  const ring = RecordRing.create({ capacity: 256 });
  asAgent(B, () => new RecordRing(ring.buffer)).reserve(4);
  wordsOf(ring)[LAYOUT.record_ring.claimant] = A;
  const [finding, ...more] = recover(B, ring);
  assert.equal(more, []);
  assert.is(finding!.what, "claim held");
  assert.is(finding!.id, A);
  // That agent is dead, too.
  assert.equal(told(recover([finding!.id, B], ring)), [
    ["record_ring", "records skipped", B, 1],
  ]);
});

test("recover() tells which queues are blocked, and which are not", () => {
  for (let start = 0; start < 9; start++) {
    const queue = MpmcQueue.create({ capacity: 4 });
    for (let i = 0; i < start; i++) {
      queue.tryPushInt(i);
      queue.tryPopInt();
    }
    assert.equal(recover(A, queue), []);
    queue.tryPushInt(1);
    assert.equal(recover(A, queue), []);
    const dead = new MpmcQueue(queue.buffer);
    assert.ok(dead.reserve());
    queue.tryPushInt(2);
    assert.equal(told(recover(A, queue)), [
      ["mpmc_queue", "queue blocked", 0, 1],
    ]);
    assert.ok(new MpmcQueue(queue.buffer).peek());
    assert.equal(told(recover([A, B], queue)), [
      ["mpmc_queue", "queue blocked", 0, 2],
    ]);
    assert.is(queue.tryPopInt(), undefined);
    dead.commit(); // it lived after all
    assert.is(recover(A, queue)[0]!.count, 1);
  }
  const channel = Channel.create({ codec: codec.i32, capacity: 4 });
  assert.equal(recover(A, channel), []);
  const at = LAYOUT.channel.length * 4;
  assert.ok(new MpmcQueue(channel.buffer, at).reserve());
  assert.equal(told(recover(A, channel)), [
    ["channel", "queue blocked", 0, 1],
  ]);
  const text = Channel.create({ codec: codec.text, capacity: 256 });
  asAgent(A, () => new RecordRing(text.buffer, at)).reserve(4);
  assert.equal(told(recover([B, A], text)), [
    ["channel", "records skipped", A, 1],
  ]);
});

test("who waits for a blocked slot is told after a second or two", async () => {
  const behind = MpmcQueue.create({ capacity: 2 }); // a producer died
  assert.ok(new MpmcQueue(behind.buffer).reserve());
  behind.tryPushInt(1);
  const full = MpmcQueue.create({ capacity: 2 }); // a consumer died
  full.tryPushInt(1);
  full.tryPushInt(2);
  assert.ok(new MpmcQueue(full.buffer).peek());
  const wraps = MPMC.startAt(2, 4, 2 ** 30 - 1) as MpmcQueue; // as well
  wraps.tryPushInt(1);
  wraps.tryPushInt(2);
  assert.ok(new MpmcQueue(wraps.buffer).peek());
  const empty = MpmcQueue.create({ capacity: 2 }); // nobody died
  const waits = [
    behind.popIntAsync(),
    new MpmcQueue(behind.buffer).pushIntAsync(2),
    full.pushIntAsync(3),
    wraps.pushIntAsync(3),
  ];
  const pop = empty.popIntAsync();
  for (const wait of await Promise.allSettled<unknown>(waits)) {
    if (wait.status !== "rejected") return assert.unreachable();
    assert.instance(wait.reason, DamagedError);
  }
  // One blocks: a page cannot.
  if (!("document" in globalThis)) {
    assert.throws(() => behind.popInt(), /damaged/);
  }
  empty.tryPushInt(5);
  assert.is(await pop, 5);
});

test("recover() takes the parts of a layout", () => {
  const shared = layout({ lock: Mutex, seats: [Semaphore, 4] });
  const parts = shared.create();
  asAgent(A, () => shared.attach(parts.buffer).lock.lock());
  const [finding, ...more] = recover(A, parts);
  assert.equal(more, []);
  assert.is(finding!.primitive, parts.lock);
  assert.is(finding!.what, "lock abandoned");
  assert.equal(recover(new Set([A]), shared.attach(parts.buffer)), []);
});

test("recover() works in memory of any length", () => {
  for (let more = 0; more < 4; more++) {
    const config = { capacity: 4 };
    const length = MpmcQueue.byteLength(config);
    const queue = MpmcQueue.init(
      new SharedArrayBuffer(length + more),
      0,
      config,
    );
    assert.equal(recover(A, queue), []);
    queue.reserve();
    assert.equal(told(recover(A, queue)), [
      ["mpmc_queue", "queue blocked", 0, 1],
    ]);
  }
});

test("recover() tells of damage, and recovers the rest", () => {
  const ring = RecordRing.create({ capacity: 64 });
  wordsOf(ring)[LAYOUT.record_ring.tail] = 4096;
  const mutex = Mutex.create();
  asAgent(A, () => new Mutex(mutex.buffer)).lock();
  assert.equal(told(recover(A, [mutex, ring])), [
    ["record_ring", "damaged", 0, 1],
    ["mutex", "lock abandoned", A, 1],
  ]);
  for (const at of ["capacity", "element_size"] as const) {
    const queue = MpmcQueue.create({ capacity: 4 });
    for (const word of [0, -1, 3, 2 ** 30, 2 ** 31 - 1]) {
      wordsOf(queue)[LAYOUT.mpmc_queue[at]] = word;
      assert.equal(recover(A, queue), [], `${at} is ${word}`);
    }
  }
});

test("recover() refuses what is no agent or no primitive, doing nothing", () => {
  const mutex = Mutex.create();
  asAgent(A, () => new Mutex(mutex.buffer)).lock();
  const { buffer } = mutex;
  for (const id of [0, -1, 2 ** 28, 1.5, NaN]) {
    const attempt = () => recover([A, id], mutex);
    refuses(buffer, attempt, RangeError, `received ${id}`);
  }
  refuses(buffer, () => recover("7" as never, mutex), TypeError);
  const own = agentId();
  refuses(buffer, () => recover([A, own], mutex), TypeError, `${own}`);
  for (const wrong of [[mutex, {}], [mutex, undefined], { lock: 5 }, null, 5]) {
    const attempt = () => recover(A, wrong as never);
    refuses(buffer, attempt, TypeError, "rimitive");
  }
  const loose = recover as (id: number, ...them: Mutex[]) => unknown;
  const two = () => loose(A, mutex, Mutex.create());
  refuses(buffer, two, TypeError, "a list");
  assert.equal(told(recover(A, mutex)), [["mutex", "lock abandoned", A, 1]]);
});

test("recover() is called by onAgentExit() in one line", async () => {
  const mutex = Mutex.create();
  asAgent(A, () => new Mutex(mutex.buffer)).lock();
  const worker = { threadId: -1, once() {}, off() {} }; // it has ended
  await new Promise<void>((resolve) => {
    onAgentExit(A, (id) => resolve(void recover(id, [mutex])), worker);
  });
  assert.ok(mutex.tryLock()!.abandoned);
});

test("recover() refuses the handle of a primitive", () => {
  const { handle } = Mutex.create();
  assert.throws(
    () => recover(7, handle as never),
    (error: Error) =>
      error instanceof TypeError && error.message.includes("is not a view"),
  );
});
