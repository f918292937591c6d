// also: node
// Waits of one agent at one end of a queue end in the order in which they
// began.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Channel,
  codec,
  Condition,
  Event,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  oneToOne,
  RecordRing,
  select,
  Semaphore,
  sending,
  SpscQueue,
} from "../../mod.ts";
import { PERMITS } from "../../primitives/_lock/semaphore.ts";
import { endAt } from "../../primitives/_wait/line.ts";
import { suite } from "../_run/harness.ts";
import { nowOf } from "../_run/model.ts";
import { i32, LINES } from "./lines.ts";

const test = suite("turns");

const pause = () => new Promise((resolve) => setTimeout(resolve));

for (const [name, make] of Object.entries(LINES)) {
  test(`${name}: what finds room does not pass what awaits it`, async () => {
    const line = make();
    for (let n = 1; n <= line.room; n++) await line.send(n);
    const [a, b, c] = [line.room + 1, line.room + 2, line.room + 3];
    const first = line.send(a);
    assert.is(await nowOf(first), "pending");
    assert.is(line.take(), 1); // the wake is on its way
    const others = [line.send(b), line.trySend(c, 10_000)];
    for (let n = 2; n <= c; n++) assert.is(await line.receive(), n);
    await Promise.all([first, ...others]);
  });

  test(`${name}: who gives up lets the next one look`, async () => {
    const line = make();
    for (let n = 1; n <= line.room; n++) await line.send(n);
    const control = new AbortController();
    const { signal } = control;
    const first = line.send(90, { signal }).then(() => "sent", () => "aborted");
    assert.is(await nowOf(first), "pending");
    const late = line.trySend(91, 1);
    const second = line.send(92);
    const third = line.send(93);
    assert.is(await late, false);
    for (let n = 1; n <= line.room; n++) assert.is(line.take(), n);
    control.abort();
    // It was woken before, or it was not.
    const got = [await line.receive(), await line.receive()];
    if (await first === "sent") got.push(await line.receive());
    const from = await first === "sent" ? [90, 92, 93] : [92, 93];
    assert.equal(got, from);
    await Promise.all([second, third]);
  });

  test(`${name}: hundreds that nobody awaits keep their order`, async () => {
    const line = make();
    const sent: Promise<unknown>[] = [];
    for (let n = 1; n <= 100; n++) sent.push(line.send(n % 100));
    for (let n = 1; n <= 100; n++) {
      if (n % 3 > 0) assert.is(await line.receive(), n % 100);
      else {
        let got;
        while ((got = line.take()) === undefined) await pause();
        assert.is(got, n % 100);
      }
      if (n <= 50) sent.push(line.send((100 + n) % 100));
    }
    for (let n = 1; n <= 50; n++) assert.is(await line.receive(), n);
    await Promise.all(sent);
  });

  test(`${name}: all that stand in line end when it is closed`, async () => {
    const line = make();
    for (let n = 1; n <= line.room; n++) await line.send(n);
    const sent = [1, 2, 3].map((n) =>
      line.send(n).then(() => "sent", (error) => error.name)
    );
    assert.is(await nowOf(Promise.race(sent)), "pending");
    line.close();
    const ends = await Promise.all(sent);
    assert.equal(ends, ["ClosedError", "ClosedError", "ClosedError"]);
  });
}

for (const make of [MpmcQueue, SpscQueue]) {
  test(`${make.name}: a push stands behind a select that sends`, async () => {
    for (const isSent of [true, false]) {
      const queue = make.create({ capacity: 1 });
      const event = Event.create();
      queue.pushInt(0);
      const selected = select([sending(queue, 1), event]);
      const pushed = queue.pushIntAsync(2);
      assert.is(await nowOf(Promise.race([selected, pushed])), "pending");
      if (!isSent) {
        event.set();
        assert.is((await selected)!.index, 1);
      }
      assert.is(queue.popInt(), 0);
      if (isSent) {
        assert.is((await selected)!.index, 0);
        assert.is(queue.popInt(), 1);
      }
      await pushed;
      assert.is(queue.popInt(), 2);
    }
  });
}

test("who does not wait looks at once", async () => {
  const queue = MpmcQueue.create({ capacity: 1 });
  queue.pushInt(0);
  const first = queue.pushIntAsync(1);
  assert.is(await nowOf(first), "pending");
  assert.is(queue.popInt(), 0);
  assert.is(await queue.tryPushIntAsync(2), true);
  assert.is(await queue.popIntAsync(), 2);
  assert.is(await queue.popIntAsync(), 1);
  await first;
});

test("who began to receive first gets what comes first", async () => {
  for (const carrier of [undefined, oneToOne]) {
    const channel = Channel.create({ ...i32, carrier });
    const first = channel.receiveAsync();
    assert.is(await nowOf(first), "pending");
    channel.send(1);
    const second = channel.receiveAsync();
    channel.send(2);
    assert.equal(await Promise.all([first, second]), [1, 2]);
  }
});

test("calls of next that nobody awaits end in their order", async () => {
  const queues = [MpmcQueue, SpscQueue, LockFreeQueue].map((Queue) =>
    Queue.create({ capacity: 8 })
  );
  for (const queue of queues) {
    const values = queue.values();
    const first = [values.next(), values.next()];
    for (let n = 0; n < 4; n++) queue.tryPushInt(n);
    const all = [...first, values.next(), values.next(), values.next()];
    queue.close();
    const got = await Promise.all(all);
    assert.equal(got.map(({ value }) => value), [0, 1, 2, 3, undefined]);
    assert.equal(got.map(({ done }) => done), [
      false,
      false,
      false,
      false,
      true,
    ]);
  }
  const channel = Channel.create<number | undefined>({ capacity: 8 });
  const values = channel.values();
  channel.send(undefined); // its promise is resolved already
  const first = [values.next(), values.next()];
  for (const n of [1, undefined, 3]) channel.send(n);
  const all = [...first, values.next(), values.next()];
  const got = await Promise.all(all);
  assert.equal(got.map(({ value }) => value), [undefined, 1, undefined, 3]);
});

test("a short record does not pass a long one", async () => {
  const ring = RecordRing.create({ capacity: 128 });
  const of = (n: number, length: number) => new Uint8Array(length).fill(n);
  while (ring.tryPush(of(1, 16)));
  const long = ring.pushAsync(of(2, 48));
  const short = ring.pushAsync(of(3, 4));
  assert.is(await nowOf(Promise.race([long, short])), "pending");
  assert.is(ring.pop()[0], 1);
  // There is room for the short one.
  assert.is(await nowOf(Promise.race([long, short])), "pending");
  let last = 1;
  while (last < 3) {
    const [n] = await ring.popAsync();
    assert.ok(n! >= last, `${n} after ${last}`);
    last = n!;
  }
  await Promise.all([long, short]);
});

test("a short record goes when a long one before it gives up", async () => {
  const ring = RecordRing.create({ capacity: 128 });
  while (ring.tryPush(new Uint8Array(16)));
  ring.pop();
  const control = new AbortController();
  const { signal } = control;
  const long = ring.pushAsync(new Uint8Array(48), { signal });
  const short = ring.pushAsync(new Uint8Array(4));
  assert.is(await nowOf(Promise.race([long, short])), "pending");
  control.abort();
  assert.is(await long.then(() => "sent", () => "aborted"), "aborted");
  await short; // nobody pops
});

test("objects of many sizes keep their order", async () => {
  const channel = Channel.create<{ n: number; text: string }>({
    capacity: 2,
    messageSize: 64,
  });
  const sent = Array.from(
    { length: 60 },
    (_, n) => channel.sendAsync({ n, text: "x".repeat(n * 7 % 60) }),
  );
  for (let n = 0; n < 60; n++) assert.is((await channel.receiveAsync()).n, n);
  await Promise.all(sent);
});

test("messages that are handed over keep their order", async () => {
  const channel = Channel.create({ codec: codec.i32, capacity: 0 });
  const sent = Array.from({ length: 30 }, (_, n) => channel.sendAsync(n));
  for (let n = 0; n < 30; n++) {
    assert.is(await channel.receiveAsync(), n);
    if (n < 10) sent.push(channel.sendAsync(30 + n));
  }
  for (let n = 30; n < 40; n++) assert.is(await channel.receiveAsync(), n);
  await Promise.all(sent);
});

test("waits of any priorities end in their order, beside aborts", async () => {
  const step = fc.oneof(
    fc.record({ priority: fc.integer({ min: -2, max: 2 }) }),
    fc.record({ priority: fc.float({ noNaN: true }) }),
    fc.record({ abort: fc.nat(9) }),
  );
  interface Wait {
    priority: number;
    control: AbortController;
  }
  const all = fc.array(step, { minLength: 1, maxLength: 40, size: "max" });
  await fc.assert(
    fc.asyncProperty(all, async (steps) => {
      const semaphore = Semaphore.create(0);
      const served: Wait[] = [];
      const model: Wait[] = [];
      const ends = steps.map((step) => {
        if ("abort" in step) {
          const [aborted] = model.splice(step.abort, 1);
          return aborted?.control.abort();
        }
        const { priority } = step;
        const control = new AbortController();
        const wait = { priority, control };
        const { signal } = control;
        const place = model.findLastIndex((it) => it.priority >= priority);
        model.splice(place + 1, 0, wait);
        return semaphore.acquireAsync(1, { priority, signal })
          .then(() => served.push(wait), () => {});
      });
      if (model.length > 0) semaphore.release(model.length);
      await Promise.all(ends);
      assert.is(served.length, model.length);
      for (const [i, it] of served.entries()) assert.is(it, model[i]);
    }),
    { numRuns: 300 },
  );
});

for (const each of [0, 1]) {
  const title = each === 0 ? "one lower priority" : "many lower priorities";
  test(`a wait passes those of ${title} in one step`, async () => {
    await passesInOneStep((i) => i * each);
  });
}

async function passesInOneStep(priorityOf: (i: number) => number) {
  const semaphore = Semaphore.create(0);
  const controls = Array.from({ length: 9 }, () => new AbortController());
  const low = controls.map(({ signal }, i) =>
    semaphore.acquireAsync(1, { signal, priority: priorityOf(i) })
      .catch(() => {})
  );
  // The first of them leaves, and the next one is passed by as they were.
  controls[0]!.abort();
  const end = endAt(new Int32Array(semaphore.buffer), PERMITS)!;
  const fifth = end.behind.behind.behind.behind;
  let looks = 0;
  let { before } = fifth;
  Object.defineProperty(fifth, "before", {
    get: () => (looks++, before),
    set: (value) => before = value,
  });
  const high = semaphore.acquireAsync(1, { priority: 10 });
  assert.is(looks, 0);
  semaphore.release();
  await high;
  semaphore.release(8);
  await Promise.all(low);
}

test("who locks again stands before a lower priority", async () => {
  const mutex = Mutex.create();
  const condition = Condition.create();
  const ended: string[] = [];
  mutex.lock();
  const waited = condition.waitAsync(mutex).then(() => ended.push("waited"));
  mutex.lock();
  const low = mutex.lockAsync({ priority: -1 }).then(() => ended.push("low"));
  const last = mutex.lockAsync({ priority: -2 }).then(() => ended.push("last"));
  condition.notify();
  assert.is(await nowOf(waited), "pending");
  const same = mutex.lockAsync().then(() => ended.push("same"));
  assert.is(await nowOf(same), "pending");
  for (let n = 1; n <= 4; n++) {
    mutex.unlock();
    while (ended.length < n) await pause();
  }
  mutex.unlock();
  assert.equal(ended, ["waited", "same", "low", "last"]);
  await Promise.all([waited, same, low, last]);
});

test("a select between two waits of one priority is in no run", async () => {
  const semaphore = Semaphore.create(0);
  const event = Event.create();
  const control = new AbortController();
  const { signal } = control;
  const first = semaphore.acquireAsync();
  const low = { priority: -1 };
  const aborted = semaphore.acquireAsync(1, { ...low, signal }).catch(() => {});
  const selected = select([semaphore, event]);
  const ended: string[] = [];
  const last = semaphore.acquireAsync(1, low).then(() => ended.push("last"));
  control.abort();
  event.set();
  await Promise.all([aborted, selected]);
  semaphore.release();
  await first;
  const next = semaphore.acquireAsync().then(() => ended.push("next"));
  semaphore.release(2);
  await Promise.all([next, last]);
  assert.equal(ended, ["next", "last"]);
});

test("a call whose signal is aborted does not enter an empty line", async () => {
  const semaphore = Semaphore.create(0);
  const leaves = (priority: number) => {
    const control = new AbortController();
    const { signal } = control;
    const left = semaphore.acquireAsync(1, { signal, priority });
    return { abort: () => control.abort(), left: left.catch(() => {}) };
  };
  const first = leaves(0);
  first.abort(); // the line stays until its native wait has ended
  const signal = AbortSignal.abort();
  const never = semaphore.acquireAsync(1, { signal, priority: 1 });
  const low = leaves(1), high = leaves(2);
  low.abort();
  high.abort();
  const last = semaphore.acquireAsync(1, { priority: 1 });
  await Promise.all([first.left, never.catch(() => {}), low.left, high.left]);
  semaphore.release();
  await last;
});
