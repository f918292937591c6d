// also: node
// Channels of capacity 0.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Channel,
  ClosedError,
  codec,
  inspect,
  manyToMany,
  oneToOne,
  recover,
  select,
  sending,
  waitAny,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { nowOf, refuses, turns, wordsOf } from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";
import type { Body } from "./agent.ts";

const test = suite("Channel of capacity 0");

const { binary, f64, i32, text } = codec;

const AGENT = new URL("./agent.ts", import.meta.url);

const isClosed = (error: Error) => error instanceof ClosedError;

/** A channel of capacity 0, as two agents see it. */
function pair() {
  const channel = Channel.create({ codec: i32, capacity: 0 });
  return [channel, Channel.from(channel.handle, { codec: i32 })] as const;
}

/** Asserts that `promise` rejects with such an error. */
async function rejects(
  promise: Promise<unknown>,
  type: new (message: string) => Error,
  part: string,
): Promise<void> {
  try {
    await promise;
  } catch (error) {
    assert.instance(error, type);
    assert.match((error as Error).message, part);
    return;
  }
  assert.unreachable("it did not reject");
}

/** Whether nobody waits, and nothing is left. */
function isIdle(channel: Channel<number>): boolean {
  const words = wordsOf(channel);
  const { handoff, offer_waiters, message_waiters } = LAYOUT.channel;
  const { room_waiters, taken_waiters, writer } = LAYOUT.channel;
  return (words[handoff]! & 0x1fb) === 0 &&
    [offer_waiters, message_waiters, room_waiters, taken_waiters, writer]
      .every((index) => words[index] === 0);
}

test("it has no room", () => {
  const [channel] = pair();
  assert.is(channel.capacity, 0);
  assert.is(channel.size, 0);
  assert.is(channel.maxLength, 4);
  assert.not.ok(channel.trySend(1));
  assert.is(channel.tryReceive(), undefined);
  assert.not.ok(channel.trySend(1, 5));
  assert.is(channel.tryReceive(5), undefined);
  assert.ok(isIdle(channel));
});

test("a send ends when a receiver takes its message", async () => {
  const [channel, other] = pair();
  const sent = channel.sendAsync(7);
  await turns();
  assert.is(await nowOf(sent), "pending");
  assert.is(channel.size, 0);
  assert.is(other.tryReceive(), 7); // from a sender that waits
  await sent;
  assert.ok(isIdle(channel));
});

test("a look sends to a receiver that waits, and to nobody else", async () => {
  const [channel, other] = pair();
  const received = other.receiveAsync();
  assert.ok(channel.trySend(7));
  assert.not.ok(channel.trySend(8));
  assert.is(await received, 7);
  assert.ok(isIdle(channel));
});

test("several wait at each end, and each message arrives once", async () => {
  const [channel, other] = pair();
  const sent = [1, 2, 3].map((n) => channel.sendAsync(n));
  assert.equal([other.tryReceive()], [1]);
  const received = [other.receiveAsync(), other.receiveAsync()];
  assert.equal((await Promise.all(received)).toSorted(), [2, 3]);
  await Promise.all(sent);
  const waits = [1, 2, 3].map(() => channel.receiveAsync());
  for (const n of [4, 5, 6]) await other.sendAsync(n);
  assert.equal((await Promise.all(waits)).toSorted(), [4, 5, 6]);
  assert.ok(isIdle(channel));
});

test("who gives up to send takes the message back", async () => {
  const [channel, other] = pair();
  assert.not.ok(await channel.trySendAsync(1, { timeout: 5 }));
  assert.is(other.tryReceive(), undefined);
  const controller = new AbortController();
  const { signal } = controller;
  const first = channel.sendAsync(2, { signal });
  const second = channel.sendAsync(3);
  await turns();
  controller.abort(new Error("no more"));
  await rejects(first, Error, "no more");
  assert.is(await other.receiveAsync(), 3);
  await second;
  // An abort while it waits for the place.
  const third = channel.sendAsync(4);
  const late = new AbortController();
  const fourth = channel.sendAsync(5, { signal: late.signal });
  await turns();
  late.abort(new Error("no more"));
  await rejects(fourth, Error, "no more");
  assert.is(other.tryReceive(), 4);
  await third;
  assert.ok(isIdle(channel));
});

test("a message that was taken is sent, also after the abort", async () => {
  const [channel, other] = pair();
  const controller = new AbortController();
  const sent = channel.sendAsync(1, { signal: controller.signal });
  await turns();
  assert.is(other.tryReceive(), 1);
  controller.abort();
  await sent;
  assert.ok(isIdle(channel));
});

test("who gives up to receive takes the offer back", async () => {
  const [channel, other] = pair();
  const controller = new AbortController();
  const received = other.receiveAsync({ signal: controller.signal });
  assert.is(await other.tryReceiveAsync({ timeout: 5 }), undefined);
  controller.abort(new Error("no more"));
  await rejects(received, Error, "no more");
  assert.not.ok(channel.trySend(1));
  assert.ok(isIdle(channel));
});

test("a message that was handed over is received, also after the abort", async () => {
  const [channel, other] = pair();
  const controller = new AbortController();
  const received = other.receiveAsync({ signal: controller.signal });
  assert.ok(channel.trySend(1));
  controller.abort();
  assert.is(await received, 1);
  assert.ok(isIdle(channel));
});

test("the end wakes both sides, and loses nothing", async () => {
  const [channel, other] = pair();
  const waiting = [channel.sendAsync(1), channel.sendAsync(2)].map((sent) =>
    rejects(sent, ClosedError, "closed")
  );
  await turns();
  other.close();
  await Promise.all(waiting);
  assert.throws(() => channel.trySend(1), isClosed);
  assert.throws(() => channel.send(1), isClosed);
  assert.throws(() => other.tryReceive(), isClosed);
  assert.throws(() => other.receive(), isClosed);
  const [next, last] = pair();
  const received = [last.receiveAsync(), last.receiveAsync()];
  assert.ok(next.trySend(7));
  next.close();
  const results = await Promise.allSettled(received);
  const values = results.filter(({ status }) => status === "fulfilled");
  assert.is(values.length, 1); // it was handed to a receiver
});

test("it carries every codec, and counts its ends", async () => {
  for (
    const [by, value] of [
      [{ codec: text }, "Grüße"],
      [{ codec: f64 }, 0.5],
      [{ codec: binary, messageSize: 16 }, Uint8Array.of(1, 2, 3)],
      [{ codec: codec.json }, { a: [1, "b"] }],
      [{}, { a: new Map([[1, undefined]]) }],
    ] as [{ codec: typeof text }, string][]
  ) {
    const channel = Channel.create({ ...by, capacity: 0, tracked: 1 });
    const other = Channel.from(channel.handle, by as { codec: typeof text });
    const sender = channel.sender();
    const received = other.receiveAsync();
    assert.ok(channel.trySend(value));
    assert.equal(await received, value);
    const sent = channel.sendAsync(value);
    assert.equal(other.tryReceive(), value);
    await sent;
    sender.leave();
    assert.ok(other.closed);
  }
});

test("receiveInto takes a message; none lies in place", async () => {
  const config = { codec: binary, capacity: 0, messageSize: 16 };
  const channel = Channel.create(config);
  const { buffer } = channel;
  assert.is(channel.maxLength, 16);
  refuses(buffer, () => channel.tryReserve(1), TypeError, "capacity");
  refuses(buffer, () => channel.tryPeek(), TypeError, "capacity");
  const long = new Uint8Array(17);
  refuses(buffer, () => channel.trySend(long), RangeError, "17 bytes");
  const dst = new Uint8Array(16);
  const sent = channel.sendAsync(Uint8Array.of(1, 2, 3));
  assert.is(channel.tryReceiveInto(dst), 3);
  assert.equal([...dst.subarray(0, 3)], [1, 2, 3]);
  await sent;
});

test("it has no carrier", () => {
  for (const carrier of [oneToOne, manyToMany]) {
    const config = { codec: i32, carrier, capacity: 0 };
    assert.throws(() => Channel.create(config), /leave \w+ out/);
    const { handle, buffer } = Channel.create({ codec: i32, capacity: 0 });
    const by = { codec: i32, carrier };
    refuses(buffer, () => Channel.from(handle, by), TypeError, "out");
  }
});

test("damaged words are refused and told", () => {
  const channel = Channel.create({ codec: i32, capacity: 0 });
  const { buffer, handle } = channel;
  const words = new Int32Array(buffer);
  assert.equal(inspect(channel).problems, []);
  for (const wrong of [8, 2, -4, 2 ** 30 + 4]) {
    words[LAYOUT.channel.place] = wrong;
    refuses(
      buffer,
      () => Channel.from(handle, { codec: i32 }),
      Error,
      "Cannot",
    );
  }
  words[LAYOUT.channel.place] = 2;
  words[LAYOUT.channel.handoff] = 3;
  assert.equal(inspect(channel).problems.map(({ word }) => word), [
    "place",
    "handoff",
  ]);
});

test("an agent that ended while it wrote is recovered", async () => {
  const [channel, other] = pair();
  wordsOf(channel)[LAYOUT.channel.writer] = 77;
  const received = other.receiveAsync();
  assert.not.ok(channel.trySend(1));
  const sent = channel.sendAsync(2);
  await turns();
  assert.is(await nowOf(sent), "pending");
  assert.equal(recover(78, channel), []);
  const [found, ...more] = recover(77, channel);
  assert.equal(more, []);
  assert.is(found!.what, "records skipped");
  assert.equal([found!.id, found!.count], [77, 1]);
  await sent;
  assert.is(await received, 2);
  assert.ok(isIdle(channel));
  assert.equal(recover(77, channel), []);
});

test("the offers of those who ended are ended, others are made again", async () => {
  const [channel, other] = pair();
  const words = wordsOf(channel);
  words[LAYOUT.channel.handoff]! += 8; // one that was never taken back
  const received = other.receiveAsync();
  assert.equal(recover(77, channel), []);
  await turns();
  assert.ok(channel.trySend(1));
  assert.not.ok(channel.trySend(2));
  assert.is(await received, 1);
  assert.ok(isIdle(channel));
  // A message that was handed to one that ended is for the next receiver.
  words[LAYOUT.channel.handoff]! += 8;
  assert.ok(channel.trySend(3));
  assert.is(channel.abandon(77), 0);
  assert.not.ok(channel.trySend(4));
  assert.is(await other.receiveAsync(), 3);
  assert.ok(isIdle(channel));
});

test("more receivers wait than offers fit, and none gets too many", async () => {
  const [channel, other] = pair();
  const words = wordsOf(channel);
  const { handoff } = LAYOUT.channel;
  const most = 63;
  const gets = Array.from({ length: most + 9 }, () => other.receiveAsync());
  await turns();
  assert.is(words[handoff], most << 3);
  for (let n = 0; n < gets.length; n++) await channel.sendAsync(n);
  const got = await Promise.all(gets);
  assert.equal(got.toSorted((a, b) => a - b), [...got.keys()]);
  assert.ok(isIdle(channel));
  assert.is(words[handoff]! & 0x1e00, 0); // no offers were ended
});

test("what was handed over stays there if no offer can be given back", () => {
  const [, other] = pair();
  const words = wordsOf(other);
  const { handoff } = LAYOUT.channel;
  const full = 63 << 3 | 2; // as many offers, and one of them has the message
  words[handoff] = full;
  assert.is(other.tryReceive(), undefined);
  assert.is(words[handoff], full);
  words[handoff] = 62 << 3 | 2;
  assert.is(other.tryReceive(), 0);
  assert.is(words[handoff], 63 << 3);
});

test("ended offers wrap, and who gives up takes no other one back", async () => {
  const [channel, other] = pair();
  const controller = new AbortController();
  const gone = other.receiveAsync({ signal: controller.signal });
  const received = other.receiveAsync();
  for (let n = 0; n < 40; n++) {
    channel.abandon(77);
    if (n % 3) await turns();
  }
  controller.abort();
  await rejects(gone, Error, "abort");
  await turns();
  assert.ok(channel.trySend(1));
  assert.is(await received, 1);
  assert.ok(isIdle(channel));
});

test("abandon refuses what is no id", () => {
  const [channel] = pair();
  const { buffer } = channel;
  assert.is(channel.abandon(0), 0);
  refuses(buffer, () => channel.abandon(-1), RangeError, "-1");
  refuses(buffer, () => channel.abandon("7" as never), TypeError, "7");
});

test("waitAny sees a sender that waits", async () => {
  const [channel, other] = pair();
  const ready = waitAny([other]);
  assert.not.ok(channel.trySend(1)); // it offers nothing
  const sent = channel.sendAsync(1);
  assert.is(await ready, 0);
  assert.is(other.tryReceive(), 1);
  await sent;
  assert.ok(isIdle(channel));
});

test("select receives, and sends to receivers that wait", async () => {
  const [channel, other] = pair();
  const [second, third] = pair();
  const got = select([other, third]);
  await turns();
  assert.ok(second.trySend(7));
  assert.equal(await got, { index: 1, done: false, value: 7 });
  const put = select([sending(channel, 1), sending(second, 2)]);
  await turns();
  assert.is(other.tryReceive(), undefined);
  assert.is(await third.receiveAsync(), 2);
  assert.is((await put).index, 1);
  assert.ok(isIdle(channel));
  assert.ok(isIdle(second));
});

test("one select sends to another one", async () => {
  const [channel, other] = pair();
  const [second, third] = pair();
  const put = select([sending(channel, 1), sending(second, 2)]);
  const got = select([third]);
  assert.is((await got)!.value, 2);
  assert.is((await put).index, 1);
  assert.ok(isIdle(channel));
  assert.ok(isIdle(second));
  assert.is(other.tryReceive(), undefined);
});

test("a select cannot meet itself", async () => {
  const [channel, other] = pair();
  const { buffer } = channel;
  await rejects(
    select([other, sending(channel, 1)]),
    TypeError,
    "both ends",
  );
  refuses(
    buffer,
    () => select.blocking([other, sending(channel, 1)]),
    TypeError,
    "both ends",
  );
});

test("select.blocking meets others, and gives up", async () => {
  const [channel, other] = pair();
  assert.is(select.blocking([other], { timeout: 5 }), undefined);
  const arm = sending(channel, 1);
  assert.is(select.blocking([arm], { timeout: 5 }), undefined);
  assert.ok(isIdle(channel));
  const sent = channel.sendAsync(3);
  assert.equal(select.blocking([other]), { index: 0, done: false, value: 3 });
  await sent;
  const received = other.receiveAsync();
  assert.is(select.blocking([sending(channel, 4)]).index, 0);
  assert.is(await received, 4);
  channel.close();
  assert.ok(select.blocking([other]).done);
  assert.ok(select.blocking([sending(channel, 4)]).done);
});

test("what another arm leaves is for the next receiver", async () => {
  const [channel, other] = pair();
  const [second, third] = pair();
  const got = select([other, third], { order: "first" });
  await turns();
  assert.ok(channel.trySend(1)); // both before it runs
  assert.ok(second.trySend(2));
  const { index, value } = await got;
  assert.is(value, index + 1);
  const left = index === 0 ? third : other;
  assert.is(left.tryReceive(), 2 - index);
  assert.ok(isIdle(channel));
  assert.ok(isIdle(second));
});

// Each step begins or ends an operation. What was sent is received once.
test("every mix of operations hands each message over once", async () => {
  const steps = fc.array(
    fc.constantFrom(
      "send",
      "trySend",
      "receive",
      "tryReceive",
      "abortSend",
      "abortReceive",
    ),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (names) => {
      const [channel, other] = pair();
      const senders: [n: number, AbortController, Promise<boolean>][] = [];
      const receivers: [AbortController, Promise<number | undefined>][] = [];
      const sent: number[] = [];
      const received: number[] = [];
      let n = 0;
      const open = async (all: Promise<unknown>[]) =>
        (await Promise.all(all.map(nowOf))).filter((now) => now === "pending")
          .length;
      for (const name of names) {
        await turns();
        const [senderCount, receiverCount] = await Promise.all([
          open(senders.map(([, , done]) => done)),
          open(receivers.map(([, done]) => done)),
        ]) as [number, number];
        assert.ok(senderCount === 0 || receiverCount === 0);
        const controller = new AbortController();
        const { signal } = controller;
        if (name === "send") {
          const value = n++;
          const done = channel.sendAsync(value, { signal })
            .then(() => (sent.push(value), true), () => false);
          senders.push([value, controller, done]);
        } else if (name === "receive") {
          const done = other.receiveAsync({ signal })
            .then((value) => (received.push(value), value), () => undefined);
          receivers.push([controller, done]);
        } else if (name === "trySend") {
          const value = n++;
          const done = channel.trySend(value);
          assert.is(done, receiverCount > 0);
          if (done) sent.push(value);
        } else if (name === "tryReceive") {
          const value = other.tryReceive();
          assert.is(value !== undefined, senderCount > 0);
          if (value !== undefined) received.push(value);
        } else if (name === "abortSend") senders.at(-1)?.[1].abort();
        else receivers.at(-1)?.[0].abort();
      }
      for (const [, controller] of senders) controller.abort();
      for (const [controller] of receivers) controller.abort();
      await Promise.all([
        ...senders.map(([, , done]) => done),
        ...receivers.map(([, done]) => done),
      ]);
      assert.equal(sent.toSorted(), received.toSorted());
      assert.ok(isIdle(channel));
    }),
    { numRuns: 60 },
  );
});

test("senders and receivers that are counted give up now and then", async () => {
  const N = 500;
  const channel = Channel.create<unknown>({ capacity: 0, tracked: 1 });
  /** Every third wait is too short for most messages. */
  const patience = (n: number) => ({ timeout: n % 3 === 0 ? 0.1 : 1000 });
  const sent = new Set<string>();
  const received: string[] = [];
  const receive = async () => {
    using _receiver = channel.receiver();
    for (let n = 0;; n++) {
      try {
        const got = await channel.tryReceiveAsync(patience(n));
        if (got !== undefined) received.push((got as { name: string }).name);
      } catch (error) {
        if (isClosed(error as Error)) return;
        throw error;
      }
    }
  };
  const send = async (from: number) => {
    using _sender = channel.sender();
    for (let n = 0; n < N; n++) {
      const message = { name: `${from} ${n}`, n, letters: "a".repeat(n % 50) };
      while (!await channel.trySendAsync(message, patience(n)));
      sent.add(message.name);
    }
  };
  const receivers = [receive(), receive()];
  await Promise.all([send(1), send(2)]);
  await Promise.all(receivers);
  assert.ok(channel.closed);
  assert.is(received.length, 2 * N);
  assert.equal(new Set(received), sent);
});

test("two threads send, two receivers take each message once", async () => {
  const N = 500;
  const channel = Channel.create<number>({ capacity: 0 });
  const threads = await Promise.all([0, 1].map((number) => {
    const { handle } = channel;
    const body: Body = { handle, codec: "value", number, count: N };
    return spawn(AGENT, body);
  }));
  const taken: number[] = [];
  const receive = async () => {
    const other = Channel.from<number>(channel.handle);
    for await (const n of other) taken.push(n);
  };
  const receivers = [receive(), receive()];
  for (const thread of threads) assert.is(await thread.next(), "over");
  channel.close();
  await Promise.all(receivers);
  const all = [0, 1].flatMap((from) =>
    Array.from({ length: N }, (_, i) => i * 4 + from)
  );
  const order = (a: number, b: number) => a - b;
  assert.equal(taken.toSorted(order), all.toSorted(order));
  for (const thread of threads) thread.stop();
});
