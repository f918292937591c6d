// also: node
import { Buffer } from "node:buffer";
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Channel,
  ClosedError,
  type Codec,
  lockFree,
  manyToMany,
  manyToOne,
  oneToOne,
} from "../../mod.ts";
import { copyBytes, copyOf } from "../../primitives/_message/bytes.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, nowOf, refuses, rejects } from "../_run/model.ts";
import { binary, i32, isClosed, json, ringOf, text, thrown } from "./shared.ts";

const test = suite("bytes of a channel in place");

/** The carriers whose messages can be written and read in place. */
const PLACED = { "no carrier": undefined, oneToOne };

for (const [name, carrier] of Object.entries(PLACED)) {
  test(`bytes in place are those of a list, with ${name}`, () => {
    const config = { codec: binary, carrier };
    const room = { capacity: 3, messageSize: 32 };
    const length = fc.nat({ max: 32 });
    const step = fc.tuple(fc.nat({ max: 7 }), length, length);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const sender = Channel.create({ ...config, ...room });
        const receiver = Channel.from(sender.handle, config);
        const dst = new Uint8Array(32);
        const sent: Uint8Array[] = []; // the model
        /** Cancelled messages may keep their room: no receiver came by. */
        let gaps = false;
        for (const [i, [what, asked, less]] of steps.entries()) {
          const value = new Uint8Array(Math.min(asked, less)).fill(i);
          const [oldest] = sent;
          if (oldest === undefined && receiver.tryPeek() === undefined) {
            gaps = false;
          }
          const hasRoom = sent.length < sender.capacity;
          /** Whether it sends if it has room, and only then. */
          const expects = (done: boolean) => {
            if (done || !gaps) assert.is(done, hasRoom);
          };
          if (what === 0) {
            const done = sender.trySend(value);
            expects(done);
            if (done) sent.push(value);
          }
          if (what === 1 || what === 2) {
            const message = sender.tryReserve(asked);
            expects(message !== undefined);
            if (message === undefined) continue;
            if (what === 2 && carrier === undefined) gaps = true;
            assert.is(message.bytes.length, asked);
            message.bytes.set(value);
            if (what === 2) message.cancel();
            else message.commit(value.length);
            if (what === 1) sent.push(value);
            message.cancel();
            assert.throws(() => message.commit(), /committed or cancelled/);
            assert.throws(() => message.bytes, /committed or cancelled/);
          }
          if (what === 3) {
            const message = receiver.tryPeek();
            assert.equal(message?.bytes.slice(), oldest);
            if (message === undefined) continue;
            assert.throws(() => receiver.tryPeek(), /release it first/);
            assert.throws(() => receiver.tryReceive(), /release it first/);
            assert.throws(() => receiver.receiveInto(dst), /release it first/);
            message.release();
            message.release();
            assert.throws(() => message.bytes, /was released/);
            sent.shift();
          }
          if (what === 4 && oldest !== undefined && oldest.length > 0) {
            const little = dst.subarray(1, oldest.length);
            const take = () => receiver.tryReceiveInto(little);
            assert.instance(thrown(take), RangeError);
          }
          if (what === 5) {
            assert.is(receiver.tryReceiveInto(dst), oldest?.length);
            if (oldest === undefined) continue;
            assert.equal(dst.slice(0, oldest.length), oldest);
            sent.shift();
          }
          if (what === 6) {
            assert.equal(receiver.tryReceive(), oldest);
            sent.shift();
          }
          assert.is(receiver.size, sent.length);
        }
      }),
      { numRuns: 100 },
    );
  });

  test(`every form waits for bytes in place, with ${name}`, async () => {
    const config = { codec: binary, carrier };
    const channel = Channel.create({ ...config, capacity: 1, messageSize: 16 });
    const { buffer } = channel;
    const dst = new Uint8Array(16);
    const most = channel.maxLength;
    const peeking = channel.peekAsync();
    assert.is(await nowOf(peeking), "pending");
    assert.is(channel.tryPeek(2), undefined);
    assert.is(await channel.tryPeekAsync({ timeout: 2 }), undefined);
    const reserved = channel.reserve(most);
    const wrong = reserved.bytes.length + 1;
    refuses(buffer, () => reserved.commit(wrong), RangeError, `${wrong}`);
    const text = "1" as unknown as number;
    refuses(buffer, () => reserved.commit(text), TypeError, '"1"');
    reserved.bytes[3] = 7;
    reserved.commit();
    {
      using message = await peeking;
      assert.equal([message.bytes.length, message.bytes[3]], [most, 7]);
      const other = channel.receiveAsync();
      await rejects(buffer, other, TypeError, "release it first");
    }
    const receiving = channel.receiveIntoAsync(dst);
    assert.is(await nowOf(receiving), "pending");
    assert.is(channel.tryReceiveInto(dst, 2), undefined);
    const timeout = { timeout: 2 };
    assert.is(await channel.tryReceiveIntoAsync(dst, timeout), undefined);
    channel.send(new Uint8Array());
    assert.is(await receiving, 0);
    while (channel.trySend(new Uint8Array(16)));
    assert.is(channel.tryReserve(16), undefined);
    assert.is(channel.tryReserve(16, 2), undefined);
    assert.is(await channel.tryReserveAsync(16, { timeout: 2 }), undefined);
    const reserving = channel.reserveAsync(16);
    assert.is(await nowOf(reserving), "pending");
    channel.peek().release();
    {
      using message = await reserving;
      assert.is(message.bytes.length, 16);
      const send = () => channel.trySend(dst);
      refuses(buffer, send, TypeError, "reserved already");
    } // it is cancelled
    while (channel.tryReceiveInto(dst) !== undefined);
    (await channel.tryReserveAsync(16))!.commit(0);
    const reason = new Error("enough");
    const aborted = { signal: AbortSignal.abort(reason) };
    const error = await channel.peekAsync(aborted).catch((error) => error);
    assert.is(error, reason);
    while (channel.tryReceiveInto(dst) !== undefined);
    channel.close();
    assert.throws(() => channel.peek(), isClosed);
    assert.throws(() => channel.receiveInto(dst), isClosed);
    await rejects(buffer, channel.receiveIntoAsync(dst), ClosedError, "closed");
  });

  test(`a Buffer is sent as it was at the call, with ${name}`, async () => {
    const config = { codec: binary, carrier };
    const channel = Channel.create({ ...config, capacity: 1, messageSize: 16 });
    while (channel.trySend(new Uint8Array(16)));
    const bytes = Buffer.from([1, 2, 3]);
    const sending = channel.sendAsync(bytes);
    bytes.fill(9);
    const received: Uint8Array[] = [];
    while (received.at(-1)?.length !== 3) {
      received.push(await channel.receiveAsync());
    }
    await sending;
    assert.equal([...received.at(-1)!], [1, 2, 3]);
  });

  test(`long messages of bytes arrive equal, with ${name}`, () => {
    const lengths = [8191, 8192, 8193, 20000]; // from 8192 on, Node copies them
    const room = { capacity: 2, messageSize: 20000 };
    const sender = Channel.create({ codec: binary, carrier, ...room });
    const receiver = Channel.from(sender.handle, { codec: binary, carrier });
    const dst = new Uint8Array(20001);
    for (const [i, length] of lengths.entries()) {
      const memory = new Uint8Array(length + 1).map((_, k) => k * 7 + i);
      for (const value of [memory.subarray(1), Buffer.from(memory.slice(1))]) {
        sender.send(value);
        assert.is(receiver.receiveInto(dst.subarray(1)), length);
        assert.is(Buffer.compare(dst.subarray(1, length + 1), value), 0);
        sender.send(value);
        const little = dst.subarray(0, length - 1);
        assert.throws(() => receiver.receiveInto(little), RangeError);
        const received = receiver.receive();
        assert.is(Buffer.compare(received, value), 0);
        assert.is(received.constructor, Uint8Array);
        assert.is(received.buffer.byteLength, length);
      }
    }
    sender.close();
    assert.throws(() => sender.send(dst.subarray(0, 9000)), isClosed);
  });
}

test("long bytes are copied between stand-ins for arrays, too", () => {
  const src = new Uint8Array(9000).map((_, k) => k * 7);
  const standIn = (array: Uint8Array) =>
    new Proxy(array, {
      get(target, key) {
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  for (const way of ["from", "to"]) {
    const dst = new Uint8Array(new SharedArrayBuffer(9008));
    if (way === "from") copyBytes(standIn(src), dst, 8);
    else copyBytes(src, standIn(dst), 8);
    assert.is(Buffer.compare(dst.subarray(8), src), 0);
    const copy = copyOf(standIn(dst), 8, 9000);
    assert.is(Buffer.compare(copy, src), 0);
  }
});

test("a message that does not fit an array stays for any receiver", () => {
  for (const length of [4, 9000]) {
    const config = { codec: binary, capacity: 2, messageSize: 9000 };
    const channel = Channel.create(config);
    const { handle } = channel;
    const other = asAgent(77, () => Channel.from(handle, { codec: binary }));
    channel.send(new Uint8Array(length));
    const little = new Uint8Array(length - 1);
    assert.throws(
      () => channel.receiveInto(little),
      `A message of ${length} bytes does not fit an array of ${length - 1} `,
    );
    assert.is(other.tryReceive()?.length, length);
  }
});

test("a channel that shows no bytes in place says why", () => {
  type Bytes = Channel<Uint8Array>;
  const dst = new Uint8Array(64);
  for (const codec of [text, i32, json] as Codec<unknown>[]) {
    const channel = Channel.create({ codec, capacity: 4 }) as Bytes;
    const { buffer } = channel;
    const part = `this channel's codec is ${codec.name}`;
    refuses(buffer, () => channel.peek(), TypeError, part);
    refuses(buffer, () => channel.tryReserve(4), TypeError, part);
    refuses(buffer, () => channel.receiveInto(dst), TypeError, part);
  }
  for (const carrier of [manyToMany, lockFree]) {
    const config = { codec: binary, carrier, capacity: 4, messageSize: 64 };
    const channel = Channel.create(config);
    const { buffer } = channel;
    refuses(buffer, () => channel.peek(), TypeError, "take oneToOne");
    refuses(buffer, () => channel.reserve(4), TypeError, "take oneToOne");
    channel.send(Uint8Array.of(1, 2));
    const little = dst.subarray(1);
    const into = () => channel.receiveInto(little);
    refuses(buffer, into, RangeError, "may have 64 bytes");
    refuses(buffer, () => channel.receiveInto([] as never), TypeError);
    assert.is(channel.receiveInto(dst), 2);
    assert.equal(dst.slice(0, 3), Uint8Array.of(1, 2, 0));
  }
});

test("a dead sender's reserved bytes are abandoned", () => {
  const channel = Channel.create({ codec: binary, ...ringOf(256) });
  const { handle } = channel;
  const dead = asAgent(77, () => Channel.from(handle, { codec: binary }));
  dead.reserve(9);
  channel.send(Uint8Array.of(1));
  assert.is(channel.tryPeek(), undefined);
  assert.is(channel.abandon(77), 1);
  // An agent that dies with a peeked message leaves it to the next one.
  const peeks = asAgent(78, () => Channel.from(handle, { codec: binary }));
  assert.is(peeks.peek().bytes[0], 1);
  const next = Channel.from(handle, { codec: binary });
  assert.is(next.tryReceive(), undefined);
  assert.is(channel.abandon(78), 0);
  assert.equal(next.receive(), Uint8Array.of(1));
});

for (const [name, carrier] of Object.entries({ oneToOne, manyToOne })) {
  for (const codec of [text, binary] as Codec<unknown>[]) {
    test(`a second receiver of ${name} is refused: ${codec.name}`, async () => {
      const config = { codec, carrier };
      const value = codec === text ? "a" : Uint8Array.of(1);
      const channel = Channel.create({ ...config, capacity: 4 });
      const { handle, buffer } = channel;
      const one = asAgent(7, () => Channel.from(handle, config));
      const two = asAgent(8, () => Channel.from(handle, config));
      const same = asAgent(7, () => Channel.from(handle, config));
      channel.send(value);
      channel.send(value);
      assert.equal(one.receive(), value);
      const parts = ["one consumer, which is agent 7", "after abandon(7)"];
      refuses(buffer, () => two.tryReceive(), TypeError, ...parts);
      refuses(buffer, () => two.receive(), TypeError, ...parts);
      await rejects(buffer, two.receiveAsync(), TypeError, ...parts);
      assert.equal(same.receive(), value);
      // The first one gives its role up, and may come back later.
      channel.send(value);
      assert.is(one.abandon(7), 0);
      assert.equal(two.receive(), value);
      refuses(buffer, () => one.receive(), TypeError, "which is agent 8");
      two.abandon(8);
      assert.is(one.tryReceive(), undefined);
    });
  }
}
