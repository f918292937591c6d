// also: node
import { deepStrictEqual } from "node:assert";
import { Buffer } from "node:buffer";
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Channel,
  ClosedError,
  type Codec,
  DamagedError,
  lockFree,
  manyToMany,
  manyToOne,
  MpmcQueue,
  oneToOne,
  RecordRing,
  valueCodec,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import type { Body } from "./agent.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  bytesOf,
  NEAR_WRAP,
  nowOf,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";
import {
  binary,
  CARRIERS,
  CODECS,
  f64,
  HEAD,
  i32,
  isClosed,
  isSized,
  json,
  ringOf,
  roomFor,
  text,
  thrown,
} from "./shared.ts";

const test = suite("Channel");

test("a sender waits for room, and a receiver for a message", async () => {
  for (const [name, [codec, values]] of Object.entries(CODECS)) {
    const value = fc.sample(values, { seed: 5, numRuns: 1 })[0];
    const room = roomFor(codec, { messages: 2, bytes: 2048 });
    const channel = Channel.create({ codec, ...room });
    const receiving = [channel.receiveAsync(), channel.receiveAsync()];
    assert.is(await nowOf(Promise.race(receiving)), "pending", name);
    channel.send(value);
    channel.send(value);
    deepStrictEqual(await Promise.all(receiving), [value, value]);
    let held = 0;
    while (channel.trySend(value)) held++;
    assert.ok(held >= 2);
    const sending = channel.sendAsync(value);
    assert.is(await nowOf(sending), "pending", name);
    assert.is(channel.trySend(value, 3), false);
    assert.is(await channel.trySendAsync(value, { timeout: 3 }), false);
    assert.is(await channel.trySendAsync(value), false);
    deepStrictEqual(channel.receive(), value);
    assert.is(await sending, undefined, name);
    for (; held > 0; held--) deepStrictEqual(channel.receive(), value);
    assert.is(channel.tryReceive(3), undefined);
    assert.is(channel.tryReceive(0), undefined);
    assert.is(await channel.tryReceiveAsync({ timeout: 3 }), undefined);
    assert.is(await channel.tryReceiveAsync(), undefined);
  }
});

test("an abort rejects with its reason, and takes no message", async () => {
  for (const codec of [text as Codec<unknown>, f64 as Codec<unknown>]) {
    const value = isSized(codec) ? 1 : "a";
    const room = roomFor(codec, { messages: 32, bytes: 64 });
    const channel = Channel.create({ codec, ...room });
    const reason = new Error("enough");
    const controller = new AbortController();
    const { signal } = controller;
    const failed = channel.receiveAsync({ signal }).catch((error) => error);
    const other = channel.receiveAsync();
    controller.abort(reason);
    channel.trySend(value);
    assert.is(await other, value);
    assert.is(await failed, reason);
    const again = channel.receiveAsync({ signal });
    assert.is(await again.catch((error) => error), reason);
    let held = 0;
    while (channel.trySend(value)) held++;
    const late = new AbortController();
    const sending = channel.sendAsync(value, { signal: late.signal })
      .catch((error) => error);
    late.abort(reason);
    assert.is(await sending, reason);
    for (; held > 0; held--) assert.is(channel.receive(), value);
    assert.is(channel.tryReceive(), undefined);
  }
});

test("close() drains, wakes everybody and ends iteration", async () => {
  for (const [name, [codec, values]] of Object.entries(CODECS)) {
    const value = fc.sample(values, { seed: 6, numRuns: 1 })[0];
    const room = roomFor(codec, { messages: 4, bytes: 4096 });
    const channel = Channel.create({ codec, ...room });
    const waiting = Channel.from(channel.handle, { codec }).receiveAsync();
    await turns();
    assert.not.ok(channel.closed);
    channel.trySend(value);
    deepStrictEqual(await waiting, value);
    channel.trySend(value);
    channel.trySend(value);
    channel.close();
    channel.close();
    assert.ok(channel.closed);
    const { buffer } = channel;
    refuses(buffer, () => channel.trySend(value), ClosedError, "closed");
    refuses(buffer, () => channel.send(value), ClosedError, "closed");
    await rejects(buffer, channel.sendAsync(value), ClosedError, "closed");
    const seen = [];
    for await (const message of channel) seen.push(message);
    deepStrictEqual(seen, [value, value], name);
    assert.throws(() => channel.tryReceive(), isClosed);
    assert.throws(() => channel.receive(), isClosed);
    await rejects(buffer, channel.receiveAsync(), ClosedError, "closed");
    for await (const message of channel) assert.unreachable(`${message}`);
  }
  const channel = Channel.create({ codec: i32, capacity: 1 });
  channel.send(1);
  const sleepers = [2, 3].map((value) =>
    channel.sendAsync(value).catch((error) => error)
  );
  await turns();
  channel.close();
  for (const sleeper of sleepers) assert.ok(isClosed(await sleeper));
  assert.is(channel.receive(), 1);
});

test("a closed channel calls itself a channel, whatever carries it", () => {
  const message = /^The channel is closed$/;
  const refuses = (channel: Channel<unknown>) => {
    channel.close();
    assert.throws(() => channel.trySend(1), message);
    assert.throws(() => channel.tryReceive(), message);
  };
  refuses(Channel.create({ capacity: 0 }));
  const carriers = [undefined, oneToOne, manyToOne, manyToMany, lockFree];
  for (const carrier of carriers) {
    for (const codec of [json, i32] as Codec<unknown>[]) {
      refuses(Channel.create({ codec, carrier, capacity: 4 }));
    }
  }
});

test("a loop that ends early loses no message", async () => {
  const channel = Channel.create({ codec: text, ...ringOf(256) });
  for (const word of ["a", "b", "c"]) channel.trySend(word);
  for await (const word of channel) {
    if (word === "b") break;
  }
  assert.is(channel.tryReceive(), "c");
});

test("a codec must be that of the memory, and must be one", () => {
  for (const [name, [codec]] of Object.entries(CODECS)) {
    const channel = Channel.create({ codec, capacity: 64 });
    const { buffer, handle } = channel;
    for (const [other, [wrong]] of Object.entries(CODECS)) {
      if (wrong === codec) continue;
      const attach = () => Channel.from(handle, { codec: wrong });
      refuses(buffer, attach, TypeError, `are ${name}, not ${other}`);
    }
    if (codec !== valueCodec) {
      const attach = () => Channel.from(handle);
      refuses(buffer, attach, TypeError, `are ${name}, not value`);
    }
    const lost = ["name", "encode", "decode"]
      .map((name) => ({ ...json, [name]: 7 }));
    for (const none of [null, {}, "json", { ...json, name: "" }, ...lost]) {
      const given = { codec: none as unknown as Codec<unknown> };
      refuses(
        buffer,
        () => Channel.from(handle, given),
        TypeError,
        "codec must be",
      );
      const config = { ...given, capacity: 64 };
      refuses(buffer, () => Channel.init(buffer, 0, config), TypeError);
      const named = { codec, capcity: 4 };
      refuses(
        buffer,
        () => new Channel(buffer, 0, named),
        TypeError,
        "capcity",
      );
    }
    const raw = new SharedArrayBuffer(channel.byteLength);
    new Uint8Array(raw).set(bytesOf(buffer));
    new Int32Array(raw)[HEAD / 4]! ^= 0x100;
    refuses(
      raw,
      () => new Channel(raw, 0, { codec }),
      TypeError,
      "a channel: ",
    );
  }
});

test("a configuration out of range is refused", () => {
  const memory = new SharedArrayBuffer(8192);
  for (
    const [codec, wrong] of [
      [text as Codec<unknown>, [-1, 1.5, NaN, 2 ** 30 + 1]],
      [f64 as Codec<unknown>, [-1, 1.5, NaN, 2 ** 27 + 1]],
    ] as const
  ) {
    for (const capacity of wrong) {
      const config = { codec, capacity };
      const part = `received ${capacity}`;
      refuses(memory, () => Channel.init(memory, 0, config), RangeError, part);
      refuses(memory, () => Channel.byteLength(config), RangeError, part);
    }
    const channel = Channel.create({ codec, capacity: 16 });
    for (const timeout of [NaN, -1]) {
      const part = `received ${timeout}`;
      const { buffer } = channel;
      refuses(buffer, () => channel.tryReceive(timeout), RangeError, part);
      const send = () => channel.trySend(isSized(codec) ? 1 : "a", timeout);
      refuses(buffer, send, RangeError, part);
    }
  }
});

test("a channel is a head before a whole ring or queue", () => {
  const words = Channel.create({ codec: i32, capacity: 4 });
  words.trySend(-7);
  assert.is(new MpmcQueue(words.buffer, HEAD).tryPopInt(), -7);
  const lines = Channel.create({ codec: text, ...ringOf(64) });
  lines.trySend("ü");
  const [first] = new RecordRing(lines.buffer, HEAD).tryPop()!;
  assert.is(first, 0xc3);
});

test("messages cross the wrap of every position", () => {
  const lines = Channel.create({ codec: text, ...ringOf(64) });
  const numbers = Channel.create({ codec: f64, capacity: 4 });
  const ring = new RecordRing(lines.buffer, HEAD);
  const queue = new MpmcQueue(numbers.buffer, HEAD);
  const { tail, head, head_cache, tail_cache } = LAYOUT.record_ring;
  for (const wrap of NEAR_WRAP) {
    for (const word of [tail, head, head_cache, tail_cache]) {
      wordsOf(ring)[word] = (wrap - 40) & ~7;
    }
    const start = (wrap - 12) & ~7;
    const slots = wordsOf(queue);
    slots[LAYOUT.mpmc_queue.tail] = slots[LAYOUT.mpmc_queue.head] = start;
    for (let i = 0; i < 4; i++) {
      const ticket = start + i * 2 | 0;
      const stride = 4; // a turn, a spare word and 8 bytes
      slots[LAYOUT.mpmc_queue.length + (ticket >>> 1 & 3) * stride] = ticket;
    }
    for (let i = 0; i < 40; i++) {
      assert.ok(lines.trySend(`line ${i}`));
      assert.ok(numbers.trySend(i / 3));
      assert.is(lines.tryReceive(), `line ${i}`);
      assert.is(numbers.tryReceive(), i / 3);
    }
  }
});

test("abandon() lets a sender's half message go", () => {
  const channel = Channel.create({ codec: text, ...ringOf(256) });
  const dead = asAgent(77, () => new RecordRing(channel.buffer, HEAD));
  dead.reserve(9);
  channel.trySend("behind");
  assert.is(channel.tryReceive(), undefined);
  assert.is(channel.abandon(5), 0);
  assert.is(channel.abandon(77), 1);
  assert.is(channel.tryReceive(), "behind");
  assert.is(Channel.create({ codec: i32, capacity: 2 }).abandon(77), 0);
});

test("a second sender of oneToOne is refused", async () => {
  const config = { codec: text, carrier: oneToOne };
  const { handle, buffer } = Channel.create({ ...config, capacity: 4 });
  const one = asAgent(7, () => Channel.from(handle, config));
  const two = asAgent(8, () => Channel.from(handle, config));
  one.send("a");
  const parts = ["one producer, which is agent 7", "after abandon(7)"];
  refuses(buffer, () => two.trySend("b"), TypeError, ...parts);
  refuses(buffer, () => two.send("b"), TypeError, ...parts);
  await rejects(buffer, two.sendAsync("b"), TypeError, ...parts);
  two.abandon(7);
  two.send("b");
  assert.equal([two.receive(), two.receive()], ["a", "b"]);
});

test("any number of agents receive from a channel without a carrier", () => {
  for (const codec of [text, json] as Codec<unknown>[]) {
    const { handle } = Channel.create({ codec, capacity: 100 });
    const agents = [1, 2, 3].map((id) =>
      asAgent(id, () => Channel.from(handle, { codec }))
    );
    const seen: unknown[] = [];
    for (let i = 0; i < 90; i++) {
      agents[i % 3]!.send(`${i}`);
      if (i % 2 === 1) {
        seen.push(agents[i % 5 % 3]!.receive(), agents[i % 3]!.receive());
      }
    }
    assert.equal(seen, Array.from({ length: 90 }, (_, i) => `${i}`));
  }
});

test("a channel holds as many messages as it may, and no more", () => {
  for (const carrier of [undefined, ...Object.values(CARRIERS)]) {
    for (const capacity of [1, 2, 8, 33]) {
      const channel = Channel.create({ codec: binary, carrier, capacity });
      const most = channel.capacity;
      assert.ok(most >= capacity && most < 2 * capacity);
      if (carrier === undefined || "records" in carrier) {
        assert.is(most, capacity);
      }
      const empty = new Uint8Array(0);
      for (let turn = 0; turn < 3; turn++) {
        for (let i = 0; i < most; i++) assert.ok(channel.trySend(empty));
        assert.not(channel.trySend(empty));
        assert.is(channel.size, most);
        if (carrier === undefined || "records" in carrier) {
          channel.receive();
          channel.reserve(0).cancel();
          channel.reserve(99).commit(3);
          assert.not(channel.trySend(empty));
          assert.is(channel.size, most);
        }
        for (let i = 0; i < most; i++) channel.receive();
        assert.is(channel.size, 0);
      }
    }
  }
});

test("a damaged channel says so soon, and never runs on", () => {
  const { tail, head, pushed, popped } = LAYOUT.record_ring;
  const at = LAYOUT.channel.length;
  for (const carrier of [undefined, oneToOne]) {
    for (const word of [tail, head, pushed, popped]) {
      for (const value of [-8, 8, 2 ** 31 - 8, -(2 ** 31), 2 ** 30]) {
        const config = { codec: text, carrier, capacity: 2, messageSize: 16 };
        const channel = Channel.create(config);
        for (let i = 0; i < 3; i++) {
          channel.send("a");
          channel.receive();
        }
        wordsOf(channel)[at + word] = value;
        const began = performance.now();
        for (
          const use of [
            () => channel.size,
            () => channel.trySend("b"),
            () => channel.tryReceive(),
            () => channel.size,
          ]
        ) {
          const error = thrown(use);
          if (error !== undefined) assert.instance(error, DamagedError);
        }
        assert.ok(performance.now() - began < 1000);
      }
    }
  }
});

const AGENT = new URL("./agent.ts", import.meta.url);

for (const codec of ["json", "f64"] as const) {
  test(`threads lose and mix up nothing: ${codec}`, async () => {
    const count = 400;
    const senders = 2;
    const channel = codec === "json"
      ? Channel.create<unknown>({
        codec: json as Codec<unknown>,
        ...ringOf(512),
      })
      : Channel.create<unknown>({ codec: f64 as Codec<unknown>, capacity: 4 });
    const threads = await Promise.all(
      Array.from({ length: senders }, (_, number) => {
        const body: Body = { handle: channel.handle, codec, number, count };
        return spawn(AGENT, body);
      }),
    );
    const next = new Array(senders).fill(0);
    for (let i = 0; i < senders * count; i++) {
      const message = i % 3 === 0
        ? await channel.receiveAsync()
        : channel.receive();
      const [number, at] = codec === "json"
        ? message as [number, number]
        : [(message as number) % 1 * 4, Math.floor(message as number)];
      assert.is(at, next[number]++);
      if (codec === "json") {
        assert.equal(message, [number, at, "ü".repeat(at % 20)]);
      }
    }
    for (const thread of threads) assert.is(await thread.next(), "over");
    assert.is(channel.tryReceive(), undefined);
    for (const thread of threads) thread.stop();
  });
}

/** With one size of messages, these are one. */
const SAME = new Set<unknown>([undefined, manyToOne, manyToMany]);

for (const [name, carrier] of Object.entries(CARRIERS)) {
  test(`${name} delivers what every codec promises, in order`, () => {
    for (const [codec, values] of Object.values(CODECS)) {
      const room = isSized(codec)
        ? { capacity: 4 }
        : { capacity: 4, messageSize: 4096 };
      const list = fc.array(values, { minLength: 4, maxLength: 4 });
      fc.assert(
        fc.property(list, (values) => {
          // Make a new one each time: the rest of a failed run would block the
          // next.
          const sender = Channel.create({ codec, carrier, ...room });
          const receiver = Channel.from(sender.handle, { codec, carrier });
          assert.is(receiver.capacity, sender.capacity);
          assert.ok(sender.capacity >= 4);
          for (const value of values) assert.ok(sender.trySend(value));
          assert.is(sender.size, 4);
          for (const value of values) {
            deepStrictEqual(receiver.tryReceive(), value);
          }
          assert.is(receiver.tryReceive(), undefined);
          sender.close();
          assert.throws(() => receiver.receive(), isClosed);
        }),
        { numRuns: 20 },
      );
    }
  });

  test(`a channel by ${name} must be attached to by it`, () => {
    for (const codec of [text, i32] as Codec<unknown>[]) {
      const { handle, buffer } = Channel.create({
        codec,
        carrier,
        capacity: 2,
      });
      for (const other of [undefined, ...Object.values(CARRIERS)]) {
        if (other === carrier) continue;
        const attach = () => Channel.from(handle, { codec, carrier: other });
        if (codec === i32 && SAME.has(carrier) && SAME.has(other)) attach();
        else {
          const part = "it was made with another carrier";
          refuses(buffer, attach, TypeError, part);
        }
      }
      Channel.from(handle, { codec, carrier });
    }
  });
}

test("in memory of its own, a small channel has the room of a larger one", () => {
  for (const capacity of [0, 1, 2, 15, 31, 32, 33, 62, 63, 64]) {
    const carriers = capacity > 0 ? [undefined, oneToOne, manyToOne] : [];
    for (const carrier of [undefined, ...carriers]) {
      for (const codec of [json, text, binary]) {
        const channel = Channel.create({ codec, carrier, capacity } as never);
        const { byteLength } = Channel.create({ codec, capacity: 64 } as never);
        assert.ok(channel.maxLength >= 16_376);
        assert.ok(channel.byteLength <= byteLength);
        assert.is(channel.capacity, capacity);
      }
    }
  }
  const enough = { capacity: 64 };
  assert.is(Channel.create(enough).byteLength, Channel.byteLength(enough));
  const channel = Channel.create({ capacity: 1 });
  const long = "x".repeat(16_000);
  assert.ok(channel.trySend(long));
  assert.is(channel.trySend("y"), false);
  assert.is(channel.tryReceive(), long);
  for (const carrier of [manyToMany, lockFree]) {
    assert.is(Channel.create({ carrier, capacity: 2 }).maxLength, 256);
  }
  assert.is(Channel.create({ capacity: 2, messageSize: 64 }).maxLength, 120);
  const memory = new SharedArrayBuffer(Channel.byteLength({ capacity: 2 }));
  assert.ok(Channel.init(memory, 0, { capacity: 2 }).maxLength < 1024);
});

test("capacity counts messages of messageSize, however they lie", () => {
  for (const carrier of [undefined, ...Object.values(CARRIERS)]) {
    for (const messageSize of [16, 17, 100, 300]) {
      for (const capacity of [1, 2, 5]) {
        const codec = binary;
        const config = { codec, carrier, capacity, messageSize };
        const channel = Channel.create(config);
        const longest = new Uint8Array(messageSize);
        for (let turn = 0; turn < 9; turn++) {
          for (let i = 0; i < capacity; i++) {
            assert.ok(channel.trySend(longest));
          }
          assert.is(channel.size, capacity);
          for (let i = 0; i < capacity; i++) channel.receive();
          channel.send(longest.subarray(turn));
          channel.receive();
        }
      }
    }
  }
});

test("a configuration that lacks something says what", () => {
  const wrong: [unknown, string][] = [
    [
      undefined,
      "codec, carrier, capacity, messageSize, tracked: received undefined",
    ],
    [8, "received 8"],
    [{ codec: null }, "A channel's codec must be valueCodec"],
    [{}, "capacity must be an integer"],
    [{ codec: json }, "capacity must be an integer"],
    [{ codec: json, capacity: 8, size: 3 }, 'Unknown name "size"'],
    [{ codec: json, capacity: 8, carrier: "fast" }, "oneToOne, manyToMany"],
    [
      { codec: json, capacity: 8, carrier: "oneToOne" },
      "what is imported as oneToOne",
    ],
    [{ codec: i32, capacity: 8, messageSize: 32 }, "messages of i32 have one"],
  ];
  for (const [config, part] of wrong) {
    const create = () =>
      Channel.create(
        config as {
          codec: Codec<unknown> & { name: "json" };
          capacity: number;
        },
      );
    const error = thrown(create) as Error;
    assert.ok(error instanceof TypeError || error instanceof RangeError);
    assert.match(error.message, part);
  }
  const little = () =>
    Channel.create({ codec: json, capacity: 8, messageSize: 15 });
  assert.match((thrown(little) as Error).message, "messageSize must be");
  const config = { codec: json, capacity: 2 ** 20, messageSize: 2 ** 12 };
  const { message } = thrown(() => Channel.byteLength(config)) as Error;
  assert.match(message, "1048576 messages of 4096 bytes has more than 2^30");
});

for (const carrier of [undefined, oneToOne, manyToMany, lockFree]) {
  const name = carrier?.name ?? "no carrier";

  test(`value sends the names of objects once, with ${name}`, () => {
    const config = { codec: valueCodec, carrier, capacity: 8 };
    const { handle } = Channel.create<unknown>(config);
    const ends = [1, 2].map((id) =>
      // Two views of one agent, where only one may send.
      asAgent(carrier === oneToOne ? 1 : id, () =>
        Channel.from<unknown>(handle, config))
    );
    const name = "a name that is found in memory";
    const count = () =>
      Buffer.from(new Uint8Array(handle.buffer as ArrayBufferLike)).toString(
        "latin1",
      ).split(name).length - 1;
    // Message 0 carries the name itself; later ones have the table's number.
    for (let i = 0; i < 100; i++) {
      const value = { [name]: i, inner: [{ [name]: `${i}`, i }] };
      ends[i % 2]!.trySend(value);
      const copy = ends[i % 3 % 2]!.tryReceive();
      assert.equal(copy, value);
    }
    // In the table, and in the first messages of each agent.
    // The elements of a queue keep what earlier messages left behind theirs.
    const inRing = carrier === undefined || carrier === oneToOne;
    if (inRing) assert.ok(count() < 10, `${count()} times`);
  });
}

test("values() ends with its signal, and using closes", async () => {
  const channel = Channel.create({ codec: i32, capacity: 4 });
  channel.send(1);
  const controller = new AbortController();
  const seen: number[] = [];
  const reason = new Error("enough");
  const loop = (async () => {
    for await (const value of channel.values({ signal: controller.signal })) {
      seen.push(value);
    }
  })().catch((error) => error);
  await turns();
  controller.abort(reason);
  assert.is(await loop, reason);
  assert.equal(seen, [1]);
  {
    using closing = channel;
    closing.send(2);
  }
  assert.ok(channel.closed);
});

test("values() yields undefined, too, and ends when it is returned", async () => {
  const channel = Channel.create({ capacity: 64 });
  const sent = [undefined, 1, undefined, undefined, null, 2];
  const values = channel.values();
  const early = [values.next(), values.next()]; // these wait
  for (const value of sent.slice(0, 3)) await channel.sendAsync(value);
  const seen = [];
  for (const next of await Promise.all(early)) seen.push(next.value);
  for (const value of sent.slice(3)) await channel.sendAsync(value);
  for await (const value of values) {
    seen.push(value);
    if (seen.length === sent.length) break;
  }
  assert.equal(seen, sent);
  assert.equal(await values.next(), { done: true, value: undefined });
  assert.throws(() => channel.values({ sinal: 1 } as never), /sinal/);
});
