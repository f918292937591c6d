// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  type Arm,
  Broadcast,
  Channel,
  codec,
  Event,
  Latch,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  select,
  Semaphore,
  sending,
  SpscQueue,
  struct,
  WaitGroup,
  WorkCounter,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, refuses, rejects, turns } from "../_run/model.ts";

const test = suite("select");

const first = { order: "first" } as const;
const now = { timeout: 0 } as const;

/** A source, how to fill it, and what is taken then. */
interface Case {
  readonly source: Arm;
  readonly fill: () => void;
  readonly value: unknown;
  /** How many signals or permits are left. */
  readonly left?: () => number;
}

const Point = struct({ x: "i32", y: "f64" });

const SOURCES: Readonly<Record<string, () => Case>> = {
  numbers() {
    const source = MpmcQueue.create({ capacity: 4 });
    return { source, fill: () => source.tryPushInt(0), value: 0 };
  },
  "a stream"() {
    const source = SpscQueue.create({ capacity: 4, elementSize: 8 });
    const bytes = new Uint8Array(8).fill(3);
    return { source, fill: () => source.tryPush(bytes), value: bytes };
  },
  "lock-free"() {
    const source = LockFreeQueue.create({ capacity: 4 });
    return { source, fill: () => source.tryPushInt(-1), value: -1 };
  },
  structs() {
    const source = MpmcQueue.create({ capacity: 4, element: Point });
    const value = { x: 1, y: 2.5 };
    return { source, fill: () => source.tryPush(value), value };
  },
  records() {
    const source = RecordRing.create({ capacity: 256 });
    const empty = new Uint8Array(0);
    return { source, fill: () => source.tryPush(empty), value: empty };
  },
  "a subscription"() {
    const it = Broadcast.create({ capacity: 4 });
    return {
      source: it.subscribe(),
      fill: () => it.tryPushInt(9),
      value: 9,
    };
  },
  messages() {
    const source = Channel.create({ codec: codec.json, capacity: 4 });
    return { source, fill: () => source.trySend(null), value: null };
  },
  "undefined as a message"() {
    const source = Channel.create({ capacity: 4 });
    return { source, fill: () => source.trySend(undefined), value: undefined };
  },
  semaphore() {
    const source = Semaphore.create(0);
    return {
      source,
      fill: () => source.release(),
      value: undefined,
      left: () => source.available,
    };
  },
  event() {
    const source = Event.create();
    return { source, fill: () => source.set(), value: undefined };
  },
  signal() {
    const source = Event.create({ autoReset: true });
    return {
      source,
      fill: () => source.set(),
      value: undefined,
      left: () => Number(source.isSet),
    };
  },
  latch() {
    const source = Latch.create(1);
    return { source, fill: () => source.countDown(), value: undefined };
  },
  group() {
    const source = WaitGroup.create();
    source.add(1);
    return { source, fill: () => source.done(), value: undefined };
  },
  tasks() {
    const source = WorkCounter.create(1);
    return {
      source,
      fill: () => {
        source.next();
        source.done();
      },
      value: undefined,
    };
  },
};

for (const [name, make] of Object.entries(SOURCES)) {
  test(`takes from ${name}, when it is ready and when it becomes so`, async () => {
    const never = Event.create();
    const { source, fill, value, left } = make();
    assert.is(await select([never, source], now), undefined);
    fill();
    const taken = { index: 1, done: false, value };
    assert.equal(await select([never, source]), taken);
    assert.is(left?.() ?? 0, 0);
    const later = make();
    const waiting = select([never, later.source], { timeout: 10_000 });
    await turns(3);
    later.fill();
    assert.equal(await waiting, { ...taken, value: later.value });
    assert.is(later.left?.() ?? 0, 0);
  });
}

for (const [name, make] of Object.entries(SOURCES)) {
  test(`${name} and another source become ready at once`, async () => {
    for (const at of [0, 1]) {
      const { source, fill, value } = make();
      const event = Event.create();
      const arms = at === 0 ? [source, event] : [event, source];
      const waiting = select(arms, { timeout: 10_000 });
      await turns(3);
      event.set();
      fill();
      const got = await waiting;
      // What was not taken is still there.
      const taken = got?.index === at ? got : await select([source], now);
      assert.equal({ ...taken, index: 0 }, { index: 0, done: false, value });
    }
  });

  test(`${name} is closed when another source becomes ready`, async () => {
    const { source } = make();
    if (!("close" in source)) return;
    const event = Event.create();
    const waiting = select([event, source], { timeout: 10_000 });
    await turns(3);
    event.set();
    (source as { close(): void }).close();
    assert.ok([0, 1].includes((await waiting)!.index));
    const over = { index: 0, done: true, value: undefined };
    assert.equal(await select([source], now), over);
  });
}

test("room comes when another arm becomes ready", async () => {
  const queue = SpscQueue.create({ capacity: 1 });
  queue.tryPushInt(1);
  const event = Event.create();
  const waiting = select([event, sending(queue, 2)], { timeout: 10_000 });
  await turns(3);
  event.set();
  assert.is(queue.tryPopInt(), 1);
  const { index } = (await waiting)!;
  assert.is(queue.tryPopInt(), index === 0 ? undefined : 2);
});

test("adds to each kind of sink, once there is room", async () => {
  const never = Event.create();
  const ints = MpmcQueue.create({ capacity: 1 });
  const bytes = SpscQueue.create({ capacity: 1, elementSize: 8 });
  const points = LockFreeQueue.create({ capacity: 1, element: Point });
  const ring = RecordRing.create({ capacity: 32, most: 1 });
  const channel = Channel.create({ codec: codec.i32, capacity: 1 });
  const text = Channel.create({ codec: codec.text, capacity: 1 });
  const eight = new Uint8Array(8).fill(7);
  const point = { x: 3, y: 4 };
  const sinks: [Arm, () => unknown, unknown][] = [
    [sending(ints, 5), () => ints.tryPopInt(), 5],
    [sending(bytes, eight), () => bytes.tryPop(), eight],
    [sending(points, point), () => points.tryPop(), point],
    [sending(ring, eight), () => ring.tryPop(), eight],
    [sending(channel, 6), () => channel.tryReceive(), 6],
    [sending(text, ""), () => text.tryReceive(), ""],
  ];
  for (const [arm, take, value] of sinks) {
    const done = { index: 1, done: false, value: undefined };
    const until = async () => {
      for (let n = 0; n < 1000; n++) {
        const got = await select([never, arm], now);
        if (got === undefined) return n;
        assert.equal(got, done);
      }
      throw new Error("it is never full");
    };
    const held = await until();
    assert.ok(held > 0);
    const waiting = select([never, arm]);
    await turns(3);
    assert.equal(take(), value, "the oldest is still there");
    assert.equal(await waiting, done);
    for (let n = 0; n < held; n++) assert.equal(take(), value);
    assert.is(take(), undefined, "each was added once");
  }
});

test("does one of those that can be done, and leaves the others", async () => {
  const arms = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 });
  await fc.assert(fc.asyncProperty(arms, fc.boolean(), async (ready, ahead) => {
    const queues = ready.map(() => MpmcQueue.create({ capacity: 2 }));
    const room = MpmcQueue.create({ capacity: 2 });
    ready.forEach((is, i) => is && queues[i]!.tryPushInt(i));
    const options = ahead ? { ...first, ...now } : now;
    const got = await select([...queues, sending(room, 9)], options);
    const left = queues.map(({ size }) => size);
    assert.ok(got !== undefined && !got.done, "there is room to send");
    const expected = ready.map(Number);
    const { index } = got as { index: number };
    if (index < ready.length) {
      assert.is(got.value, index, "the value of that queue");
      expected[index]!--;
      assert.is(room.size, 0);
    } else assert.is(room.tryPopInt(), 9);
    assert.equal(left, expected);
    if (ahead) {
      const at = ready.indexOf(true);
      assert.is(index, at < 0 ? ready.length : at);
    }
  }));
});

test("each of two that are ready is chosen in at least 20 of 200", async () => {
  const a = Semaphore.create(200);
  const b = Semaphore.create(200);
  const counts = [0, 0];
  for (let n = 0; n < 200; n++) counts[(await select([a, b])).index]!++;
  assert.ok(Math.min(...counts) >= 20, String(counts));
});

test("says which arm is closed, and takes what is left before", async () => {
  const jobs = MpmcQueue.create({ capacity: 4 });
  const never = Event.create();
  jobs.tryPushInt(1);
  jobs.close();
  const options = { timeout: 1000 };
  assert.equal(await select([never, jobs], options), {
    index: 1,
    done: false,
    value: 1,
  });
  const closed = { index: 1, done: true, value: undefined };
  assert.equal(await select([never, jobs], options), closed);
  assert.equal(await select([never, sending(jobs, 1)], options), closed);
  const channel = Channel.create({ codec: codec.text, capacity: 1 });
  channel.trySend("x");
  while (channel.trySend("x"));
  const sent = select([never, sending(channel, "late")]);
  await turns(3);
  channel.close();
  assert.equal(await sent, closed);
});

test("an abort, or a timeout, loses nothing", async () => {
  const moments = fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 }));
  await fc.assert(
    fc.asyncProperty(moments, fc.boolean(), async ([fill, abort], before) => {
      const jobs = MpmcQueue.create({ capacity: 4 });
      const more = MpmcQueue.create({ capacity: 4 });
      const controller = new AbortController();
      const reason = new Error("enough");
      const waiting = select([jobs, more], { signal: controller.signal })
        .then((got) => got.value, (error) => {
          assert.is(error, reason);
          return "aborted";
        });
      const steps = async (n: number) => {
        for (let i = 0; i < n; i++) await null;
      };
      const filling = steps(fill).then(() => {
        jobs.tryPushInt(7);
        more.tryPushInt(7);
      });
      const aborting = steps(abort).then(() => controller.abort(reason));
      await (before ? filling.then(() => aborting) : aborting);
      const got = await waiting;
      await filling;
      assert.is(jobs.size + more.size, got === "aborted" ? 2 : 1);
    }),
    { numRuns: 50 },
  );
});

test("many selects share what comes, each once", async () => {
  const N = 300;
  const a = MpmcQueue.create({ capacity: 4 });
  const b = Channel.create({ codec: codec.i32, capacity: 4 });
  const seen: number[] = [];
  const take = async () => {
    const open = new Set([0, 1]);
    while (open.size > 0) {
      const arms = [...open];
      const got = await select(arms.map((i) => i === 0 ? a : b));
      if (got.done) open.delete(arms[got.index]!);
      else seen.push(got.value as number);
    }
  };
  const takers = [take(), take(), take()];
  for (let n = 0; n < N; n++) {
    const sent = await select([sending(a, n), sending(b, n)]);
    assert.is(sent.done, false);
  }
  a.close();
  b.close();
  await Promise.all(takers);
  assert.equal(seen.sort((x, y) => x - y), [...Array(N).keys()]);
});

test("refuses what it cannot wait for, and changes nothing", async () => {
  const jobs = MpmcQueue.create({ capacity: 1 });
  const ready = Semaphore.create(1);
  const WRONG: [unknown, unknown, typeof TypeError, string][] = [
    [7, {}, TypeError, "array of arms: received 7"],
    [[], {}, RangeError, "needs an arm"],
    [[ready, {}], first, TypeError, "arm 1: expected a queue"],
    [[ready, null], first, TypeError, "received null"],
    [new Array(1), first, TypeError, "arm 0: expected a queue"],
    [[ready], { order: "last" }, RangeError, '"last"'],
    [[ready], { patience: 1 }, TypeError, "patience"],
    [[ready], { timeout: -1 }, RangeError, "-1"],
    [[sending(jobs, 2 ** 31), ready], first, RangeError, "2147483648"],
    [[sending(jobs, "a" as never), ready], first, TypeError, '"a"'],
  ];
  for (const [arms, options, type, says] of WRONG) {
    const wrong = select(arms as Arm[], options as never);
    await rejects(ready.buffer, wrong, type, says);
    assert.is(jobs.size, 0);
  }
  const none = (sink: unknown) => () => sending(sink as never, 1 as never);
  refuses(ready.buffer, none(ready), TypeError, "received a semaphore");
  refuses(ready.buffer, none(null), TypeError, "received null");
  const heard = Broadcast.create({ capacity: 2 }).subscribe();
  refuses(ready.buffer, none(heard), TypeError, "Cannot send to this");
});

test("refuses the queue that another agent consumes, and takes nothing", async () => {
  const queue = SpscQueue.create({ capacity: 4 });
  const other = Semaphore.create(1);
  queue.tryPushInt(1);
  queue.tryPushInt(2);
  assert.is(queue.tryPopInt(), 1);
  const view = asAgent(77, () => SpscQueue.from(queue.handle));
  await rejects(queue.buffer, select([view, other], first), TypeError, "agent");
  assert.is(other.available, 1);
  assert.is(queue.tryPopInt(), 2);
});

test("types tell the arms apart", async () => {
  const jobs = MpmcQueue.create({ capacity: 4 });
  const texts = Channel.create({ codec: codec.text, capacity: 4 });
  texts.trySend("ab");
  const got = await select([jobs, texts], now);
  if (got === undefined || got.done) throw new Error("nothing");
  const length: number = got.index === 1 ? got.value.length : got.value;
  assert.is(length, 2);
  // @ts-expect-error: a text is no number
  void (() => sending(jobs, "a"));
  // @ts-expect-error: a number is no text
  void (() => sending(texts, 1));
});
