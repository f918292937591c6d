// also: node
import { deepStrictEqual } from "node:assert";
import { decode, Encoder } from "@msgpack/msgpack";
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Broadcast,
  Channel,
  type Codec,
  encodeValue,
  field,
  type JsonValue,
  lockFree,
  manyToMany,
  manyToOne,
  oneToOne,
  RecordRing,
  struct,
  valueCodec,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { nowOf, refuses, rejects, wordsOf } from "../_run/model.ts";
import { roomy } from "../_run/roomy.ts";
import {
  binary,
  CARRIERS,
  CODECS,
  f64,
  HEAD,
  i32,
  json,
  record,
  ringOf,
  roomFor,
  structured,
  text,
  thrown,
} from "./shared.ts";

const test = suite("codecs of a channel");

for (const [name, [codec, values]] of Object.entries(CODECS)) {
  test(`every value that ${name} promises arrives equal, in order`, () => {
    const room = roomFor(codec, { messages: 4, bytes: 8192 });
    // An agent that names no codec has that of values.
    const given = { codec: codec === valueCodec ? undefined! : codec };
    fc.assert(
      fc.property(fc.array(values, { maxLength: 12 }), (values) => {
        // A new one: a run that fails leaves values in its channel.
        const sender = Channel.create({ codec, ...room });
        const receiver = Channel.from(sender.handle, given);
        const sent: unknown[] = [];
        for (const value of values) {
          if (sender.trySend(value)) sent.push(value);
          else {
            deepStrictEqual(receiver.tryReceive(), sent.shift());
            assert.ok(sender.trySend(value));
            sent.push(value);
          }
        }
        for (const value of sent) deepStrictEqual(receiver.tryReceive(), value);
        assert.is(receiver.tryReceive(), undefined);
      }),
      { numRuns: 200 },
    );
  });
}

test("text is kept to the last mark, and half a pair is refused", async () => {
  const channel = Channel.create({ codec: text, ...ringOf(256) });
  const { buffer } = channel;
  for (const kept of ["", "\ufeff", "\ufeffa\ufeff", "\0", "é", "😀\uffff"]) {
    channel.trySend(kept);
    assert.is(channel.tryReceive(), kept);
  }
  for (const half of ["ab\ud800", "\udc00", "\ud83d\ud83d\ude00"]) {
    const at = half.search(/\p{Surrogate}/u);
    const parts = ["surrogate", `received U+d`, ` at ${at}`];
    refuses(buffer, () => channel.trySend(half), RangeError, ...parts);
    refuses(buffer, () => channel.send(half), RangeError, ...parts);
    await rejects(buffer, channel.sendAsync(half), RangeError, ...parts);
  }
  refuses(buffer, () => channel.trySend(7 as never), TypeError, "received 7");
});

test("a wrong message of another language is reported, and taken", () => {
  const channel = Channel.create({ codec: text, ...ringOf(256) });
  const raw = new RecordRing(channel.buffer, HEAD);
  raw.tryPush(Uint8Array.of(0x61, 0xff));
  raw.tryPush(Uint8Array.of(0x61));
  assert.throws(() => channel.tryReceive(), TypeError);
  assert.is(channel.tryReceive(), "a");
});

test("numbers are kept exactly, and other things are refused", async () => {
  const doubles = Channel.create({ codec: f64, capacity: 2 });
  for (const kept of [-0, 0, NaN, Infinity, -Infinity, 5e-324, 2 ** 53]) {
    doubles.trySend(kept);
    assert.ok(Object.is(doubles.tryReceive(), kept));
  }
  const { buffer } = doubles;
  const others = [["1", '"1"'], [null, "null"], [undefined, "undefined"]];
  for (const [wrong, said] of [...others, [1n, "1n"]] as never[][]) {
    const part = `received ${said}`;
    refuses(buffer, () => doubles.trySend(wrong!), TypeError, part);
    refuses(buffer, () => doubles.send(wrong!), TypeError, part);
    await rejects(buffer, doubles.sendAsync(wrong!), TypeError, part);
  }
  const words = Channel.create({ codec: i32, capacity: 2 });
  for (const kept of [2 ** 31 - 1, -(2 ** 31), 0]) {
    words.trySend(kept);
    assert.is(words.tryReceive(), kept);
  }
  for (const wrong of [2 ** 31, -(2 ** 31) - 1, 0.5, NaN, "1", null]) {
    const part = `received ${wrong === "1" ? '"1"' : wrong}`;
    const value = wrong as number;
    const type = typeof wrong === "number" ? RangeError : TypeError;
    refuses(words.buffer, () => words.trySend(value), type, part);
    refuses(words.buffer, () => words.send(value), type, part);
    await rejects(words.buffer, words.sendAsync(value), type, part);
  }
  const parts = Channel.create({ codec: binary, ...ringOf(64) });
  const wrong = [1] as never;
  refuses(parts.buffer, () => parts.trySend(wrong), TypeError, "Uint8Array");
});

test("a record is whole, of the type that was declared", () => {
  const Odd = struct({ a: "u8", b: "u8", c: "u8" });
  const channel = Channel.create({ codec: record(Odd), capacity: 2 });
  assert.is(channel.maxLength, 4); // 3, padded
  channel.trySend({ a: 1, b: 2, c: 3 });
  channel.trySend({ a: 255, b: 0, c: 9 });
  assert.equal(channel.tryReceive(), { a: 1, b: 2, c: 3 });
  assert.equal(channel.tryReceive(), { a: 255, b: 0, c: 9 });
  const { buffer } = channel;
  const wrong: [unknown, string][] = [
    [{ a: 1, b: 2 }, 'field "c" is missing'],
    [{ a: 1, b: undefined, c: 3 }, 'field "b" is missing'],
    [undefined, 'field "a" is missing'],
  ];
  for (const [value, why] of wrong) {
    refuses(buffer, () => channel.trySend(value as never), TypeError, why);
  }
  const large = { a: 1, b: 2, c: 256 };
  refuses(buffer, () => channel.trySend(large), RangeError, "received 256");
  const more = { a: 1, b: 2, c: 3, d: 4 };
  refuses(buffer, () => channel.trySend(more), TypeError, '"d"');

  const Other = struct({ a: "u8", b: "u8", d: "u8" });
  const attach = () => Channel.from(channel.handle, { codec: record(Other) });
  refuses(buffer, attach, TypeError, "other fields");
});

test("a channel whose shape C left open takes records of its size", () => {
  const Pair = struct({ a: "i32", b: "i32" });
  const codec = record(Pair);
  const channel = Channel.create({ codec, capacity: 2 });
  const open = Channel.init(
    new SharedArrayBuffer(channel.byteLength),
    0,
    { codec: { ...codec, shape: 0 } as typeof codec, capacity: 2 },
  );
  open.trySend({ a: 1, b: 2 });
  const other = Channel.from(open.handle, { codec });
  assert.equal(other.tryReceive(), { a: 1, b: 2 });
  const wide = record(struct({ a: "f64", b: "f64" }));
  const attach = () => Channel.from(open.handle, { codec: wide });
  refuses(open.buffer, attach, TypeError, "8 bytes, not 16");
});

test("a message of every length up to the most is sent, and no longer", async () => {
  const channel = Channel.create({ codec: binary, ...ringOf(128) });
  assert.is(channel.capacity, 4);
  assert.is(channel.maxLength, 56);
  for (let length = 0; length <= channel.maxLength; length++) {
    const value = Uint8Array.from({ length }, (_, i) => i * 7 + length);
    assert.ok(channel.trySend(value), `${length}`);
    assert.equal(channel.tryReceive(), value);
  }
  const { buffer } = channel;
  const long = new Uint8Array(57);
  const sizes = ["57 bytes", "the most is 56 bytes, by its messageSize"];
  refuses(buffer, () => channel.trySend(long), RangeError, ...sizes);
  refuses(buffer, () => channel.trySend(long, 9), RangeError, ...sizes);
  await rejects(buffer, channel.sendAsync(long), RangeError, ...sizes);
  const texts = Channel.create({ codec: text, ...ringOf(128) });
  const { buffer: shared } = texts;
  const wide = "é".repeat(29); // 58 bytes
  refuses(shared, () => texts.trySend(wide), RangeError, "58 bytes", "56");
  assert.ok(texts.trySend("é".repeat(28)));
});

test("sendAsync() sends the value as it was at the call", async () => {
  const channel = Channel.create({ codec: binary, ...ringOf(64) });
  let empty = 0;
  while (channel.trySend(new Uint8Array())) empty++;
  const value = new Uint8Array();
  const sending = channel.sendAsync(value);
  const doubles = Channel.create({ codec: f64, capacity: 1 });
  doubles.trySend(1);
  const more = [2, 3, 4].map((value) => doubles.sendAsync(value));
  const objects = Channel.create({ codec: json, ...ringOf(64) });
  while (objects.trySend("0123456789"));
  const changing = { a: 1 };
  const object = objects.sendAsync(changing);
  changing.a = 2;
  for (const value of [1, 2, 3, 4]) {
    assert.is(await doubles.receiveAsync(), value);
  }
  let last: JsonValue | undefined;
  for (; last !== undefined || await nowOf(object) === "pending";) {
    last = objects.tryReceive();
  }
  for (let next; (next = objects.tryReceive()) !== undefined;) last = next;
  await Promise.all(more);
  for (; empty > 0; empty--) channel.tryReceive();
  await sending;
  await object;
});

test("value sends more shapes than the channel's table holds", () => {
  const config = { codec: valueCodec, capacity: 8 };
  const { handle } = Channel.create<unknown>(config);
  const sender = Channel.from<unknown>(handle, config);
  const receiver = Channel.from<unknown>(handle, config);
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 200; i++) {
      const value = { [`k${i}`]: i, [`some longer name ${i}`]: [{ i }] };
      sender.trySend(value);
      assert.equal(receiver.tryReceive(), value);
    }
  }
});

test("value refuses a message whose shape is not in the table", () => {
  const config = { codec: valueCodec, capacity: 8 };
  const channel = Channel.create<unknown>(config);
  for (let i = 0; i < 3; i++) {
    channel.trySend({ id: i });
    if (i < 2) channel.tryReceive();
  }
  const other = Channel.from<unknown>(channel.handle, config);
  const words = wordsOf(channel);
  const { length } = LAYOUT.shape_table;
  // The table lies at the end; its 64 slots come before 3568 bytes of texts.
  const slots = words.length - 3568 / 4 - 128;
  assert.ok(slots > length);
  words.fill(0, slots, slots + 128);
  assert.throws(() => other.tryReceive(), /there is no shape \d+/);
  other.trySend([1]);
  assert.equal(other.tryReceive(), [1]);
});

test("a channel without a codec has that of values", () => {
  assert.is(structured, valueCodec);
  const channel = Channel.create({ capacity: 4 });
  assert.is(channel.codec, valueCodec);
  const memory = new SharedArrayBuffer(Channel.byteLength({ capacity: 4 }));
  const ends = [
    Channel.init(memory, 0, { capacity: 4 }),
    new Channel(memory),
    Channel.from({ kind: "channel", buffer: memory, byteOffset: 0 }),
    new Channel(memory, 0, { codec: structured }),
  ];
  for (const sender of ends) {
    for (const receiver of ends) {
      sender.send(new Map([[1n, undefined]]));
      assert.equal(receiver.receive(), new Map([[1n, undefined]]));
    }
  }
});

test("values says where one lies that it cannot carry", () => {
  const channel = Channel.create({ capacity: 4 });
  const value = { a: [1, { f() {} }] };
  const parts = ["a value", `received function at ["a"][1]["f"]`];
  refuses(channel.buffer, () => channel.send(value), TypeError, ...parts);
  const cycle: { self?: unknown; list: unknown[] } = { list: [1n, undefined] };
  cycle.self = cycle;
  const sent = [new Map([[new Date(5), new Set([/a/g])]]), undefined, cycle];
  for (const value of sent) {
    channel.send(value);
    deepStrictEqual(channel.receive(), value);
  }
});

test("buffers are delivered as they were, and shared ones refused", () => {
  const channel = Channel.create({ capacity: 8 });
  const copyOf = <T>(value: T): T => {
    channel.send(value);
    return channel.receive() as T;
  };
  for (const length of [0, 1, 2, 100]) {
    const { buffer, byteOffset } = copyOf(new Float64Array(length));
    assert.equal([buffer.byteLength, byteOffset], [8 * length, 0]);
  }
  const whole = Uint8Array.of(1, 2, 3, 4);
  const [all, part, data] = copyOf(
    [whole, whole.subarray(2), new DataView(whole.buffer, 1, 2)] as const,
  );
  assert.equal([part.byteOffset, part.length, data.byteOffset], [2, 2, 1]);
  assert.is(all.buffer, part.buffer);
  assert.is(all.buffer, data.buffer);
  all[2] = 9;
  assert.equal([part[0], data.getUint8(1), whole[2]], [9, 9, 3]);
  const memory = new SharedArrayBuffer(8);
  const view = new Int32Array(memory);
  const wrong: [unknown, string][] = [
    [memory, ""],
    [view, ""],
    [{ a: [1, new DataView(memory)] }, `at ["a"][1]`],
    [new Set([[view]]), "at [0][0]"],
    [new Map([[view, 1]]), "at [0]"],
  ];
  for (const [value, where] of wrong) {
    const parts = ["a value", where];
    refuses(channel.buffer, () => channel.send(value), TypeError, ...parts);
  }
});

/** A codec of numbers that does something before each. */
const during = (act: { encode?(): void; decode?(): void }): Codec<number> => ({
  name: "numbers",
  encode(value, into) {
    into[0] = value;
    act.encode?.();
    into[1] = value;
    return 2;
  },
  decode(bytes) {
    const first = bytes[0]!;
    act.decode?.();
    return first === bytes[1]! ? first : NaN;
  },
});

test("a codec that uses its own channel harms no message, or is told", () => {
  const carriers = { undefined, manyToOne, oneToOne, manyToMany, lockFree };
  for (const [name, carrier] of Object.entries(carriers)) {
    const act: { encode?(): void; decode?(): void } = {};
    const channel = Channel.create({
      codec: during(act),
      carrier,
      capacity: 8,
      messageSize: 16,
    });
    const told = /own|works for|reserved already/;
    const sent: number[] = [];
    const send = (value: number) => {
      channel.send(value);
      sent.push(value);
    };
    act.encode = () => {
      delete act.encode;
      try {
        send(2);
      } catch (error) {
        assert.match((error as Error).message, told, name);
      }
    };
    send(1);
    send(3);
    const received: (number | undefined)[] = [];
    act.decode = () => {
      delete act.decode;
      try {
        received.push(channel.tryReceive());
      } catch (error) {
        assert.match((error as Error).message, told, name);
      }
    };
    while (received.length < sent.length) received.push(channel.tryReceive());
    assert.equal(received.toSorted(), sent.toSorted(), name);
  }
});

test("a codec that asks for ever more bytes is refused soon", async () => {
  let calls = 0;
  const greedy: Codec<number> = {
    name: "greedy",
    encode: (_, into) => (calls++, into.length + 1),
    decode: () => 0,
  };
  for (const carrier of [undefined, ...Object.values(CARRIERS)]) {
    const config = { codec: greedy, carrier, capacity: 4, messageSize: 32 };
    const channel = Channel.create(config);
    const { buffer } = channel;
    const parts = ["The codec greedy asks for more bytes each time"];
    thrown(() => channel.trySend(1)); // makes this agent the sender
    calls = 0;
    refuses(buffer, () => channel.trySend(1), TypeError, ...parts);
    refuses(buffer, () => channel.send(1), TypeError, ...parts);
    await rejects(buffer, channel.sendAsync(1), TypeError, ...parts);
    assert.ok(calls < 100, `${calls} calls`);
  }
});

test("a codec may ask for more bytes than a message may have", async () => {
  for (const carrier of [undefined, ...Object.values(CARRIERS)]) {
    const config = { codec: roomy, carrier, capacity: 8, messageSize: 16 };
    const channel = Channel.create(config);
    const texts = ["sixteen bytes of", "", "ä", "15 of the bytes"];
    for (const text of texts) assert.ok(channel.trySend(text));
    for (const text of texts) assert.is(await channel.receiveAsync(), text);
    const { buffer } = channel;
    const long = () => channel.trySend("x".repeat(1000));
    refuses(buffer, long, RangeError, "A message of 1000 bytes");
    channel.send("c");
    assert.is(channel.receive(), "c");
  }
});

/** Never called: `deno task check` looks at the types. */
export function types(
  { handle }: Channel<never>,
  // deno-lint-ignore no-explicit-any
  any: any,
) {
  interface Job {
    id: number;
    tags: readonly string[];
    next?: Job;
    at: Record<string, Job | null>;
  }
  interface Point {
    x: number;
    length(): number;
  }
  const values = { codec: json, capacity: 4 };
  const things = { codec: structured, capacity: 4 };
  const none = { capacity: 4 };
  Channel.create<Job>(values).send({ id: 1, tags: ["a"], at: {} });
  Channel.create<JsonValue>(values).send([{ a: null }]);
  Channel.create<[number, "a" | "b"]>(values).send([1, "b"]);
  Channel.from<Job>(handle, { codec: json }).receive().next?.id.toFixed();
  Channel.create<Map<bigint, Set<Date>>>(things).receive().get(1n)?.size;
  Channel.create<Job | undefined>(things).send(undefined);
  Channel.create(things).send(any as unknown);
  Channel.create<Map<bigint, Set<Date>>>(none).receive().get(1n)?.size;
  Channel.create<Job | undefined>(none).send(undefined);
  Channel.create(none).send(any as unknown);
  const jobs: Channel<Job> = Channel.from(handle);
  jobs.receive().next?.id.toFixed();
  Channel.from<Job>(handle, { carrier: lockFree }).receive().tags.length;
  new Channel<Date>(any).receive().getTime();
  // @ts-expect-error: it arrives as a text
  Channel.create<Date>(values);
  // @ts-expect-error: so it does inside of others
  Channel.create<{ at: { when: Date }[] }>(values);
  // @ts-expect-error: JSON has no bytes
  Channel.create<Uint8Array>(values);
  // @ts-expect-error: it is refused
  Channel.create<number | undefined>(values);
  // @ts-expect-error: so are these
  Channel.create<bigint>(values);
  // @ts-expect-error: its entries would be lost
  Channel.from<Map<string, number>>(handle, { codec: json });
  // @ts-expect-error: its method would be lost
  Channel.init<Point>(any, 0, values);
  // @ts-expect-error: nobody knows what that is
  Channel.create<unknown>(values);
  // @ts-expect-error: here, too
  Channel.create<Point>(things);
  // @ts-expect-error: a function stays where it is
  Channel.create<{ done(): void }>(things);
  // @ts-expect-error: a function stays where it is
  Channel.create<{ done(): void }>(none);
  // @ts-expect-error: a function stays where it is
  Channel.from<() => void>(handle);
  // @ts-expect-error: a function stays where it is
  Channel.init<Point>(any, 0, none);
  // @ts-expect-error: a function stays where it is
  new Channel<() => void>(any);
  // @ts-expect-error: it would be copied
  Channel.create<SharedArrayBuffer[]>(things);
  // @ts-expect-error: it carries texts
  Channel.create<number>({ codec: text, capacity: 4 });
  // @ts-expect-error: it does not carry all of these
  Channel.create<number | string>({ codec: text, capacity: 4 });
  // @ts-expect-error: the elements of a broadcast have no fields
  Broadcast.create({ capacity: 4, element: Point3 });
}

const Point3 = struct({ x: "f64" });

test("a codec of one's own writes into the channel's memory", () => {
  let shared = 0;
  const points: Codec<{ x: number }> = {
    name: "points 1",
    encode({ x }, into) {
      if (x < 0) throw new RangeError("below 0");
      if (into.buffer instanceof SharedArrayBuffer) shared++;
      if (into.length >= 300) into.fill(x, 0, 300);
      return 300;
    },
    decode: (bytes) => ({ x: bytes[299]! }),
  };
  for (const carrier of [undefined, ...Object.values(CARRIERS)]) {
    const config = { codec: points, carrier };
    const room = { capacity: 4, messageSize: 300 };
    const channel = Channel.create({ ...config, ...room });
    for (let x = 0; x < 20; x++) {
      channel.send({ x });
      if (x === 3) assert.throws(() => channel.send({ x: -1 }), /below 0/);
      assert.equal(Channel.from(channel.handle, config).receive(), { x });
    }
    assert.is(channel.tryReceive(), undefined);
    const other = { ...config, codec: { ...points, name: "points 2" } };
    const attach = () => Channel.from(channel.handle, other);
    refuses(channel.buffer, attach, TypeError, 'not named "points 2"');
  }
  assert.ok(shared >= 20); // by oneToOne
});

test("MessagePack of a library is a codec", () => {
  const encoder = new Encoder();
  const msgpack: Codec<unknown> = {
    name: "msgpack",
    encode(value, into) {
      const bytes = encoder.encodeSharedRef(value);
      if (bytes.length <= into.length) into.set(bytes);
      return bytes.length;
    },
    decode: (bytes) => decode(bytes.slice()),
  };
  for (const carrier of [undefined, ...Object.values(CARRIERS)]) {
    const config = { codec: msgpack, carrier };
    const room = { capacity: 8, messageSize: 2000 };
    // The library decodes no key that is called __proto__.
    const value = fc.jsonValue({ maxDepth: 2 })
      .filter((value) => !JSON.stringify(value).includes("__proto__"));
    fc.assert(fc.property(value, (value) => {
      const sent = JSON.parse(JSON.stringify(value) ?? "null");
      const channel = Channel.create({ ...config, ...room });
      const other = Channel.from(channel.handle, config);
      channel.send({ sent, text: "ü".repeat(300) });
      assert.equal(other.receive(), { sent, text: "ü".repeat(300) });
    }));
    const channel = Channel.create<unknown>({ ...config, ...room });
    channel.send({ bytes: Uint8Array.of(1, 2, 3) });
    const { bytes } = channel.receive() as { bytes: Uint8Array };
    for (let i = 0; i < 20; i++) {
      channel.send("overwritten ".repeat(50));
      channel.receive();
    }
    assert.equal([...bytes], [1, 2, 3]);
  }
});

/** Bytes as those of another realm: their prototype is not that of ours. */
function foreignBytes(bytes: number[]): Uint8Array {
  const all = Object.getPrototypeOf(Uint8Array.prototype);
  return Object.setPrototypeOf(Uint8Array.from(bytes), Object.create(all));
}

test("bytes of another realm are bytes", () => {
  const channel = Channel.create<Uint8Array>({ codec: binary, capacity: 2 });
  channel.send(foreignBytes([1, 2, 3]));
  assert.equal([...channel.receive()], [1, 2, 3]);
  channel.send(foreignBytes([4, 5]));
  const into = foreignBytes([0, 0, 0]);
  assert.is(channel.receiveInto(into), 2);
  assert.equal(Array.from(into), [4, 5, 0]);
  const length = encodeValue("word", foreignBytes([0, 0, 0, 0, 0, 0, 0, 0]));
  assert.ok(length > 4);
  const Raw = struct({ raw: field.bytes(2) });
  const written = new Uint8Array(2);
  Raw.write(written, { raw: foreignBytes([6, 7]) });
  assert.equal([...written], [6, 7]);
  assert.throws(() => channel.send([1] as never), /not a Uint8Array/);
});
