// also: node
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  type Arm,
  Channel,
  codec,
  Event,
  layout,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  select,
  Semaphore,
  sending,
  SpscQueue,
  struct,
  waitAny,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, refuses } from "../_run/model.ts";

const test = suite("select.blocking");

const first = { order: "first" } as const;
const soon = { timeout: 20 } as const;
const Point = struct({ x: "i32", y: "f64" });

/** Queues in one buffer. */
const shared = layout({
  a: [MpmcQueue, { capacity: 4 }],
  b: [MpmcQueue, { capacity: 4 }],
  one: [SpscQueue, { capacity: 4 }],
  bytes: [SpscQueue, { capacity: 2, elementSize: 8 }],
  points: [MpmcQueue, { capacity: 2, element: Point }],
  numbers: [Channel, { codec: codec.i32, capacity: 4 }],
  free: [LockFreeQueue, { capacity: 4 }],
  values: [Channel, { capacity: 1, messageSize: 64 }],
  ring: [RecordRing, { capacity: 32 }],
});

test("takes the oldest element of the first arm that has one", () => {
  const { a, b, one, bytes, points, numbers, free, values, ring } = shared
    .create();
  const arms = [a, b, one, bytes, points, numbers, free, values, ring] as const;
  assert.is(select.blocking(arms, soon), undefined);
  const eight = new Uint8Array(8).fill(3);
  const point = { x: 1, y: 2.5 };
  const fills: [() => unknown, unknown][] = [
    [() => a.tryPushInt(1), 1],
    [() => b.tryPushInt(2), 2],
    [() => one.tryPushInt(3), 3],
    [() => bytes.tryPush(eight), eight],
    [() => points.tryPush(point), point],
    [() => numbers.trySend(4), 4],
    [() => free.tryPushInt(5), 5],
    [() => values.trySend({ n: [6] }), { n: [6] }],
    [() => ring.tryPush(eight), eight],
  ];
  for (const [index, [fill, value]] of fills.entries()) {
    fill();
    assert.is(waitAny.blocking(arms, soon), index);
    const got = { index, done: false, value };
    assert.equal(select.blocking(arms), got);
    assert.is(waitAny.blocking(arms, { timeout: 0 }), undefined);
  }
  for (const [fill] of fills) fill();
  assert.is(select.blocking(arms, first).index, 0);
  assert.is(select.blocking(arms, first).index, 1);
});

test("adds once there is room", () => {
  const { a, one, points, numbers, free, values, ring } = shared.create();
  const until = (arm: Arm) => {
    for (let n = 0;; n++) {
      if (select.blocking([arm], { timeout: 1 }) === undefined) return n;
    }
  };
  assert.is(until(sending(a, 7)), 4);
  assert.is(until(sending(one, 7)), 4);
  assert.is(until(sending(points, { x: 1, y: 2 })), 2);
  assert.is(until(sending(numbers, 7)), 4);
  assert.is(until(sending(free, 7)), 4);
  const long = "long".repeat(12), record = new Uint8Array(8);
  assert.is(until(sending(values, long)), 1);
  assert.is(until(sending(ring, record)), 2);
  const arms = [
    sending(a, 8),
    sending(one, 8),
    sending(points, { x: 8, y: 8 }),
    sending(numbers, 8),
    sending(free, 8),
    sending(values, long),
    sending(ring, record),
  ];
  assert.is(select.blocking(arms, soon), undefined);
  const takes = [
    () => a.popInt(),
    () => one.popInt(),
    () => points.pop().x,
    () => numbers.receive(),
    () => free.popInt(),
    () => values.receive(),
    () => ring.pop(),
  ];
  for (const [index, take] of takes.entries()) {
    take();
    const added = { index, done: false, value: undefined };
    assert.equal(select.blocking(arms), added);
    assert.is(select.blocking(arms, { timeout: 0 }), undefined);
  }
});

test("says which arm is closed, and takes what is left before", () => {
  const { a, b, one, free, values, ring } = shared.create();
  a.tryPushInt(1);
  a.close();
  const arms = [b, a] as const;
  assert.equal(select.blocking(arms), { index: 1, done: false, value: 1 });
  const closed = { index: 1, done: true, value: undefined };
  assert.equal(select.blocking(arms), closed);
  assert.equal(select.blocking([b, sending(a, 1)]), closed);
  assert.is(waitAny.blocking(arms), 1);
  for (const other of [one, free, values, ring]) {
    other.close();
    assert.equal(select.blocking([b, other]), closed);
    assert.is(waitAny.blocking([b, other]), 1);
  }
});

test("does one of those that can be done, and leaves the others", () => {
  const ready = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(ready, fc.boolean(), (ready, ahead) => {
    const bytes = MpmcQueue.byteLength({ capacity: 2 });
    const buffer = new SharedArrayBuffer(bytes * ready.length);
    const queues = ready.map((is, i) => {
      const queue = MpmcQueue.init(buffer, i * bytes, { capacity: 2 });
      if (is) queue.tryPushInt(i);
      return queue;
    });
    const options = { timeout: 1, order: ahead ? "first" : "random" } as const;
    const got = select.blocking(queues, options);
    const left = ready.map(Number);
    if (got === undefined) assert.not(ready.includes(true));
    else {
      assert.is(got.value, got.index);
      left[got.index]!--;
      if (ahead) assert.is(got.index, ready.indexOf(true));
    }
    assert.equal(queues.map(({ size }) => size), left);
    const words = new Int32Array(buffer);
    for (const i of ready.keys()) {
      const waiters = i * bytes / 4 + LAYOUT.mpmc_queue.pop_waiters;
      assert.is(words[waiters], 0, "a waiter is left");
    }
  }));
});

test("each of two that are ready is chosen in at least 20 of 200", () => {
  const { a, b } = shared.create();
  const counts = [0, 0];
  for (let n = 0; n < 200; n++) {
    a.tryPushInt(n);
    b.tryPushInt(n);
    const { index } = select.blocking([a, b]);
    counts[index]!++;
    (index === 0 ? b : a).popInt();
  }
  assert.ok(Math.min(...counts) >= 20, String(counts));
});

test("queues that were linked stay so, and work one by one", () => {
  const { a, b, one, numbers } = shared.create();
  for (
    const arms of [[one, numbers], [b, numbers], [a, b], [a, one]] as const
  ) {
    assert.is(select.blocking(arms, { timeout: 1 }), undefined);
  }
  for (const queue of [a, b, one]) {
    queue.pushInt(5);
    assert.is(queue.tryPopInt(50), 5);
    assert.is(queue.tryPopInt(1), undefined);
    queue.pushInt(6);
    assert.is(queue.popInt(), 6);
  }
});

test("refuses what it cannot block on, and changes nothing", () => {
  const { a, b, one } = shared.create();
  const other = MpmcQueue.create({ capacity: 4 });
  const semaphore = Semaphore.create(1);
  other.tryPushInt(1);
  const WRONG: [unknown, unknown, typeof TypeError, string][] = [
    [7, {}, TypeError, "array of arms: received 7"],
    [[], {}, RangeError, "needs an arm"],
    [[a, {}], first, TypeError, "arm 1: expected a queue, RecordRing or"],
    [[a, null], first, TypeError, "received null"],
    [[a, semaphore], first, TypeError, "arm 1"],
    [[Event.create(), a], first, TypeError, "arm 0"],
    [[a, other], {}, TypeError, "in one SharedArrayBuffer"],
    [[a], { order: "last" }, RangeError, '"last"'],
    [[a], { signal: undefined }, TypeError, "signal"],
    [[a], { timeout: -1 }, RangeError, "-1"],
    [[a], { timeout: NaN }, RangeError, "NaN"],
    [[a], { timeout: "1" }, TypeError, '"1"'],
    [[sending(a, 2 ** 31), b], soon, RangeError, "2147483648"],
    [[sending(a, "a" as never), b], soon, TypeError, '"a"'],
  ];
  for (const [arms, options, type, says] of WRONG) {
    const wrong = () => select.blocking(arms as Arm[], options as never);
    refuses(a.buffer, wrong, type, says);
  }
  const SOURCES: [unknown, unknown, typeof TypeError, string][] = [
    [7, {}, TypeError, "array of sources"],
    [[], {}, RangeError, "received none"],
    [[a, semaphore], {}, TypeError, "source 1"],
    [[a, other], {}, TypeError, "in one SharedArrayBuffer"],
    [[a], { order: "first" }, TypeError, "order"],
    [[a], { timeout: -1 }, RangeError, "-1"],
  ];
  for (const [sources, options, type, says] of SOURCES) {
    const wrong = () => waitAny.blocking(sources as never, options as never);
    refuses(a.buffer, wrong, type, says);
  }
  one.tryPushInt(1);
  one.tryPushInt(2);
  assert.is(one.tryPopInt(), 1);
  const view = asAgent(77, () => SpscQueue.from(one.handle));
  b.tryPushInt(3);
  refuses(
    a.buffer,
    () => select.blocking([view, b], first),
    TypeError,
    "agent",
  );
});

test("a gong that leads nowhere is damaged, and a strike ignores it", () => {
  const { a, b } = shared.create();
  const words = new Int32Array(a.buffer, a.byteOffset);
  const { pop_gong, pop_waiters } = LAYOUT.mpmc_queue;
  for (const gong of [-1, 2, 0x7fff_fffd, 0x676e_0002]) {
    words[pop_gong] = gong;
    assert.throws(
      () => select.blocking([a, b], soon),
      (error: Error) => error.name === "DamagedError",
    );
    words[pop_waiters] = 1;
    a.pushInt(1);
    assert.is(words[pop_gong], gong);
    assert.is(a.popInt(), 1);
    words[pop_waiters] = 0;
  }
});
