// also: node
// An iterator that is left while a call of `next` awaits a value takes nothing
// more.
import * as assert from "uvu/assert";
import {
  Broadcast,
  Channel,
  codec,
  LockFreeQueue,
  MpmcQueue,
  oneToOne,
  RecordRing,
  SpscQueue,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { nowOf } from "../_run/model.ts";

const test = suite("iterators that await");

interface Line {
  values(options?: { signal?: AbortSignal }): AsyncGenerator<unknown>;
  send(n: number): void | Promise<void>;
  receive(): Promise<unknown>;
}

type IntQueue = MpmcQueue | SpscQueue | LockFreeQueue;

const ofQueue = (queue: IntQueue): Line => ({
  values: (options) => queue.values(options),
  send: (n) => queue.pushInt(n),
  receive: () => queue.popIntAsync(),
});

const ofChannel = (channel: Channel<number>): Line => ({
  values: (options) => channel.values(options),
  send: (n) => channel.sendAsync(n),
  receive: () => channel.receiveAsync(),
});

const ofRing = (ring: RecordRing): Line => ({
  values: (options) => ring.values(options),
  send: (n) => void ring.push(Uint8Array.of(n)),
  receive: async () => (await ring.popAsync())[0],
});

function ofBroadcast(broadcast: Broadcast): Line {
  const subscription = broadcast.subscribe();
  return {
    values: (options) => subscription.values(options),
    send: (n) => broadcast.pushInt(n),
    receive: () => subscription.popIntAsync(),
  };
}

const i32 = { codec: codec.i32, capacity: 2 };

const LINES: Record<string, () => Line> = {
  MpmcQueue: () => ofQueue(MpmcQueue.create({ capacity: 2 })),
  SpscQueue: () => ofQueue(SpscQueue.create({ capacity: 2 })),
  LockFreeQueue: () => ofQueue(LockFreeQueue.create({ capacity: 2 })),
  RecordRing: () => ofRing(RecordRing.create({ capacity: 128 })),
  Broadcast: () =>
    ofBroadcast(Broadcast.create({ capacity: 2, subscribers: 1 })),
  "Channel of values": () => ofChannel(Channel.create({ capacity: 2 })),
  "Channel of numbers": () => ofChannel(Channel.create(i32)),
  "Channel from one to one": () =>
    ofChannel(Channel.create({ ...i32, carrier: oneToOne })),
  "Channel without room": () =>
    ofChannel(Channel.create({ ...i32, capacity: 0 })),
};

const DONE = { done: true, value: undefined };

/** A signal, and how many listeners it has now and had at most. */
function watched(): {
  control: AbortController;
  signal: AbortSignal;
  listeners: { now: number; most: number };
} {
  const control = new AbortController();
  const { signal } = control;
  const listeners = { now: 0, most: 0 };
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: unknown[]) => {
    listeners.most = Math.max(listeners.most, ++listeners.now);
    Reflect.apply(addEventListener, signal, args);
  };
  signal.removeEventListener = (...args: unknown[]) => {
    listeners.now--;
    Reflect.apply(removeEventListener, signal, args);
  };
  return { control, signal, listeners };
}

for (const [name, make] of Object.entries(LINES)) {
  for (const how of ["return", "throw"] as const) {
    test(`${name}: ${how} ends what awaits a value`, async () => {
      const line = make();
      const values = line.values();
      const nexts = [values.next(), values.next()];
      assert.is(await nowOf(Promise.race(nexts)), "pending");
      const left = values[how]("enough").then((end) => end, (error) => error);
      assert.equal(await Promise.all(nexts), [DONE, DONE]);
      assert.equal(await left, how === "return" ? DONE : "enough");
      assert.equal(await values.next(), DONE);
      const sent = line.send(7);
      assert.is(await line.receive(), 7);
      await sent;
    });
  }

  test(`${name}: a signal has one listener, while a value is awaited`, async () => {
    const line = make();
    const { control, signal, listeners } = watched();
    const values = line.values({ signal });
    for (let n = 1; n <= 3; n++) {
      const next = values.next();
      assert.is(await nowOf(next), "pending");
      const sent = line.send(n);
      const { value } = await next;
      assert.is(value[0] ?? value, n);
      await sent;
      assert.equal(listeners, { now: 0, most: 1 });
    }
    const nexts = [values.next(), values.next()];
    assert.is(await nowOf(Promise.race(nexts)), "pending");
    control.abort("enough");
    const ends = nexts.map((next) => next.catch((error) => [error]));
    assert.equal(await Promise.all(ends), [["enough"], ["enough"]]);
    assert.equal(listeners, { now: 0, most: 1 });
    assert.equal(await values.next(), DONE);
    const sent = line.send(7);
    assert.is(await line.receive(), 7);
    await sent;
  });

  test(`${name}: a stream that is cancelled takes nothing more`, async () => {
    const line = make();
    const stream = ReadableStream.from(line.values());
    const reader = stream.getReader();
    const read = reader.read();
    assert.is(await nowOf(read), "pending");
    await reader.cancel();
    assert.equal(await read, DONE);
    const sent = line.send(7);
    assert.is(await line.receive(), 7);
    await sent;
  });
}
