import { suite } from "../_run/harness.ts";
import { asAgent, refuses } from "../_run/model.ts";
import { Missing } from "../_run/missing.ts";
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import {
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  codec,
  Condition,
  Event,
  field,
  type Fields,
  type FieldType,
  HashMap,
  Latch,
  layout,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  Once,
  RecordRing,
  RwLock,
  Semaphore,
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  struct,
  type StructType,
  WaitGroup,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import { HashMap as HashMapInKernel } from "../../primitives/kernel/kernel.ts";
import { findCompiler } from "../../wasm/emcc.ts";
import { codePoint } from "../_run/points.ts";

const { array, bytes, text } = field;

const test = suite("struct");

const integer = (low: bigint, high: bigint) =>
  fc.bigInt({ min: low, max: high });

/** A type and a value it holds. */
interface Sample {
  type: FieldType;
  value: unknown;
}

const small = (type: FieldType, min: number, max: number) =>
  fc.integer({ min, max }).map((value): Sample => ({ type, value }));

const number: fc.Arbitrary<Sample> = fc.oneof(
  small("i8", -128, 127),
  small("u8", 0, 255),
  small("i16", -(2 ** 15), 2 ** 15 - 1),
  small("u16", 0, 2 ** 16 - 1),
  small("i32", -(2 ** 31), 2 ** 31 - 1),
  small("u32", 0, 2 ** 32 - 1),
  integer(-(2n ** 63n), 2n ** 63n - 1n).map((value) => ({
    type: "i64" as const,
    value,
  })),
  integer(0n, 2n ** 64n - 1n).map((value) => ({ type: "u64" as const, value })),
  fc.float().map((value) => ({ type: "f32" as const, value })),
  fc.double().map((value) => ({ type: "f64" as const, value })),
);

const blob: fc.Arbitrary<Sample> = fc.uint8Array({ minLength: 1, maxLength: 9 })
  .map((value) => ({ type: bytes(value.length), value }));

const words: fc.Arbitrary<Sample> = fc.string({ unit: codePoint, maxLength: 9 })
  .map((word) => word.replaceAll("\0", "0"))
  .map((value) => ({
    type: text(Math.max(new TextEncoder().encode(value).length, 1)),
    value,
  }));

const { record: anyRecord } = fc.letrec<{ record: Sample; field: Sample }>((
  tie,
) => ({
  field: fc.oneof(
    { depthSize: "small" },
    number,
    blob,
    words,
    fc.tuple(number, fc.integer({ min: 1, max: 4 })).map((
      [{ type, value }, n],
    ): Sample => ({ type: array(type, n), value: Array(n).fill(value) })),
    tie("record"),
  ),
  record: fc.array(tie("field"), { minLength: 1, maxLength: 5 }).map(
    (samples): Sample => {
      const named = samples.map((s, i) => [`f${i}`, s] as const);
      const fields = Object.fromEntries(named.map(([n, s]) => [n, s.type]));
      const value = Object.fromEntries(named.map(([n, s]) => [n, s.value]));
      return { type: struct(fields) as StructType, value };
    },
  ),
}));

test("read() gives back what write() wrote, at any byte", () => {
  fc.assert(
    fc.property(anyRecord, fc.nat({ max: 17 }), ({ type, value }, at) => {
      const { size, read, write } = type as StructType<Fields>;
      const memory = new Uint8Array(new SharedArrayBuffer(at + size + 3));
      write(memory, value as object, at);
      assert.equal(read(memory, at), value);
      assert.ok(memory.subarray(0, at).every((byte) => byte === 0));
      assert.ok(memory.subarray(at + size).every((byte) => byte === 0));
    }),
  );
});

test("offsets, size and toC() are what gcc and emcc make of them", async () => {
  const samples = fc.sample(anyRecord, 60);
  const types = samples.map(({ type }) => type as StructType<Fields>);
  const checks = types.flatMap((type, i) => [
    type.toC(`s${i}`),
    `_Static_assert(sizeof(s${i}) == ${type.size}, "size of s${i}");`,
    `_Static_assert(_Alignof(s${i}) == ${type.alignment}, "s${i}");`,
    ...Object.entries(type.offsets).map(([field, at]) =>
      `_Static_assert(offsetof(s${i}, ${field}) == ${at}, "s${i}.${field}");`
    ),
  ]);
  await compile(
    `#include <stddef.h>\n#include <stdint.h>\n${checks.join("\n")}\n`,
  );
});

test("layout() puts its parts apart, and attach() finds them", () => {
  const shared = layout({
    lock: Mutex,
    slots: [Semaphore, 3],
    jobs: [MpmcQueue, { capacity: 5, elementSize: 8 }],
    out: [SpscQueue, { capacity: 2 }],
    work: [WorkCounter, 10, { chunk: 4 }],
  });
  for (const at of Object.values(shared.offsets)) assert.is(at % 128, 0);
  const made = shared.create();
  assert.is(made.buffer.byteLength, shared.byteLength);
  made.out.tryPushInt(5);
  const { lock, slots, jobs, out, work } = shared.attach(made.buffer);
  assert.is(lock.byteOffset, shared.offsets.lock);
  assert.is(slots.available, 3);
  assert.is(jobs.capacity, 8);
  assert.is(out.tryPopInt(), 5);
  assert.equal(work.nextRange(), { start: 0, end: 4 });
  const memory = new SharedArrayBuffer(shared.byteLength + 4);
  shared.init(memory, 4);
  assert.is(shared.attach(memory, 4).slots.available, 3);
  assert.throws(() => shared.attach(memory), /no initialized primitive/);
  assert.throws(() => shared.init(memory, 8), /does not fit/);
});

const QUEUES = [SpscQueue, MpmcQueue, LockFreeQueue] as (typeof MpmcQueue)[];

for (const Queue of QUEUES) {
  test(`${Queue.name} has elements of a struct, in place`, async () => {
    const Item = struct({
      id: "u8",
      x: "f64",
      name: text(5),
      at: array("i16", 3),
    });
    const config = { capacity: 4, element: Item };
    const queue = Queue.create(config);
    assert.is(queue.byteLength, Queue.byteLength(config));
    assert.is(queue.elementSize, 32);
    const from = Queue.from as unknown as (
      handle: unknown,
      config: unknown,
    ) => typeof queue;
    const other = from.call(Queue, queue.handle, { element: Item });
    const item = (id: number) => ({
      id,
      x: id / 3,
      name: "ü" + id,
      at: [id, -id, 0],
    });
    for (let round = 0; round < 3; round++) {
      queue.push(item(1));
      assert.ok(queue.tryPush(item(2)));
      const place = queue.reserve()!;
      Object.assign(place, { id: 3, x: 1, name: "ü3" });
      for (let i = 0; i < 3; i++) place.at.set(i, item(3).at[i]!);
      queue.commit();
      assert.throws(() => place.id, RangeError);
      assert.throws(() => place.id = 4, RangeError);
      await queue.pushAsync(item(4));
      assert.is(queue.size, 4);
      assert.not.ok(queue.tryPush(item(5)));
      assert.is(queue.reserve(), undefined);
      assert.equal(other.pop(), item(1));
      const seen = other.peek()!;
      assert.is(seen.name, "ü2");
      assert.equal([...seen.at], [2, -2, 0]);
      other.consume();
      assert.throws(() => seen.name, RangeError);
      assert.equal(other.tryPop(), { ...item(3), x: 1 });
      assert.equal(await other.popAsync(), item(4));
      assert.is(other.tryPop(), undefined);
    }
    const missing = { id: 1, x: 2, name: "" } as never;
    assert.throws(() => queue.push(missing), /"at" is missing/);
    assert.throws(() => queue.push({ ...item(1), id: 256 }), /"id" is u8/);
    const shared = layout({ jobs: [Queue, config] });
    const { buffer, jobs } = shared.create();
    jobs.push(item(7));
    assert.is(shared.attach(buffer).jobs.pop().x, 7 / 3);
    const values = queue.values();
    const next = values.next(); // it waits
    const ends = values.return();
    assert.equal(await next, { done: true, value: undefined });
    assert.equal(await ends, { done: true, value: undefined });
    assert.throws(() => queue.values({ sinal: 1 } as never), /sinal/);
    queue.push(item(1));
    queue.close();
    const left = [];
    for await (const { id } of other) left.push(id);
    assert.equal(left, [1]);
    const words = Queue.create({ capacity: 4, element: struct({ a: "f32" }) });
    words.push({ a: 0.5 });
    words.close();
    for await (const { a } of words) assert.is(a, 0.5);
    const wrong = /elements of this queue have 32 bytes: .* needs 4/;
    const Word = struct({ a: "i32" });
    assert.throws(
      () => from.call(Queue, queue.handle, { element: Word }),
      wrong,
    );
    // As long, with other fields; where nobody knows the fields, any will do.
    const Long = struct({ id: "u8", x: "f64", name: bytes(16) });
    assert.is(Long.size, Item.size);
    const attach = (type: unknown) =>
      from.call(Queue, queue.handle, { element: type });
    assert.throws(() => attach(Long), /elements of this queue have other/);
    const again = shared.attach(buffer).jobs.handle;
    assert.throws(
      () => from.call(Queue, again, { element: Long }),
      /elements of this queue have other fields/,
    );
    const head = new Int32Array(queue.buffer, queue.untyped.byteOffset, 5);
    assert.is(head[4], Item.shape);
    assert.is.not(Item.shape, Long.shape);
    head[4] = 0;
    attach(Long);
    assert.is(head[4], 0);
    const none = { capacity: 4, element: "u8" as never };
    assert.throws(() => Queue.create(none), /type that struct\(\) made/);
    const both = { ...config, elementSize: 32 };
    assert.throws(() => Queue.create(both), /element or elementSize/);
    const plain = { capacity: 4, element: undefined };
    assert.instance(Queue.create(plain), Queue);
    assert.is(Queue.byteLength(plain), Queue.byteLength({ capacity: 4 }));
    const misspelt = { capacity: 4, elements: Item } as never;
    assert.throws(() => Queue.create(misspelt), /"elements".* element\b/);
  });
}

test("layout().toC() compiles against weft.h", async () => {
  const shared = layout({ lock: Mutex, jobs: [MpmcQueue, { capacity: 4 }] });
  const code = `#include "weft.h"\n${shared.toC("app")}
    int use(void *at);
    int use(void *at) {
      return weft_mutex_try_lock(app_lock(at)) +
        weft_mpmc_queue_try_push_int(app_jobs(at), app_BYTES);
    }\n`;
  await compile(code);
});

test("layout() places every class, and C finds each", async () => {
  const shared = layout({
    barrier: [Barrier, 2],
    broadcast: [Broadcast, { capacity: 4, subscribers: 2 }],
    calls: [CallRing, { slots: 2, request: 8, reply: 8 }],
    values: [Channel, { codec: codec.json, capacity: 4 }],
    pairs: [Channel, {
      codec: codec.record(struct({ x: "i32", y: "f64" })),
      capacity: 4,
    }],
    changed: Condition,
    ready: [Event, { autoReset: true }],
    opens: [Latch, 2],
    tasks: WaitGroup,
    safe: [LockFreeQueue, { capacity: 4, agents: 2 }],
    jobs: [MpmcQueue, { capacity: 4 }],
    lock: Mutex,
    once: Once,
    records: [RecordRing, { capacity: 256 }],
    many: RwLock,
    slots: [Semaphore, 3],
    latest: [Snapshot, { size: 16 }],
    blocks: [SlabPool, { capacity: 4, blockSize: 64 }],
    single: [SpscQueue, { capacity: 4 }],
    sum: StripedCounter,
    work: [WorkCounter, 10],
    own: [WorkDeque, { capacity: 8 }],
  });
  const made = shared.create();
  const same = shared.attach(made.buffer);
  for (const [name, part] of Object.entries(same)) {
    assert.is(part.buffer, made.buffer, name);
    assert.is(part.byteOffset, shared.offsets[name as keyof typeof same], name);
  }
  assert.ok(made.values.trySend({ id: 7, tags: ["a"] }));
  assert.equal(same.values.tryReceive(), { id: 7, tags: ["a"] });
  assert.ok(made.pairs.trySend({ x: 1, y: 0.5 }));
  assert.is(same.pairs.tryReceive()!.y, 0.5);
  const found = Object.keys(same).map((name) => `!app_${name}(at)`);
  await compile(`#include "weft.h"\n${shared.toC("app")}
    int missing(void *at);
    int missing(void *at) { return ${found.join(" + ")}; }\n`);
});

test("a console shows a view, whatever its fields are called", () => {
  const view = struct({ toJSON: "u8", a: "u8" }).view(new Uint8Array([7, 8]));
  const show = (value: unknown) => JSON.stringify(value);
  const inDeno = Reflect.get(view, Symbol.for("Deno.customInspect"));
  assert.is(inDeno.call(view, show), '{"toJSON":7,"a":8}');
});

test("a map in a layout has the types of its codecs", () => {
  const codecs = { key: codec.text, value: codec.i32 };
  const parts = layout({
    counts: [HashMap, { ...codecs, capacity: 4 }],
    inKernel: [HashMapInKernel, { ...codecs, capacity: 4 }],
    any: [HashMap, { capacity: 4 }],
  });
  const { buffer, counts, inKernel, any } = parts.create();
  counts.add("a", 1); // only numbers have it
  inKernel.add("a", 2);
  any.set("a", 3);
  const again = parts.attach(buffer);
  const found: number | undefined = again.counts.get("a");
  // @ts-expect-error: a key is a text
  assert.throws(() => again.counts.get(7));
  // @ts-expect-error: it has any values
  const other: number | undefined = any.get("a");
  assert.equal([found, again.inKernel.get("a"), other], [1, 2, 3]);
});

test("layout() names the part that is wrong", () => {
  const none = (part: unknown, message: RegExp) =>
    assert.throws(
      () => layout({ jobs: part as typeof Mutex }),
      (error: unknown) =>
        error instanceof TypeError && message.test(error.message),
    );
  none(undefined, /"jobs" must be a primitive's class.*received undefined/);
  none("Mutex", /"jobs" must be/);
  none([], /"jobs" must be/);
  none(Channel, /"jobs" needs a configuration/);
  none(MpmcQueue, /"jobs" needs a configuration/);
  const hides = () => layout({ buffer: Mutex });
  assert.throws(hides, /A part cannot be named "buffer": create\(\) returns/);
  const others = { constructor: Mutex, byteOffset: Mutex, then: Mutex };
  const { buffer, constructor: lock } = layout(others).create();
  assert.ok(buffer instanceof SharedArrayBuffer && lock instanceof Mutex);
});

test("layout().init() writes nothing if a part refuses its configuration", () => {
  const shared = layout({ lock: Mutex, permits: [Semaphore, -1] });
  const memory = new SharedArrayBuffer(128 + shared.byteLength);
  const words = new Int32Array(memory).fill(7);
  assert.throws(() => shared.init(memory, 128), /received -1/);
  assert.ok(words.every((word) => word === 7));
});

test("wrong types, names and values are refused, and nothing is written", () => {
  assert.throws(() => struct({}), /needs a field/);
  assert.throws(() => struct({ "a-b": "u8" }), /received "a-b"/);
  assert.throws(() => struct({ a: "u9" as "u8" }), /received "u9"/);
  assert.throws(() => bytes(0), /received 0/);
  assert.throws(() => array("u8", 1.5), /received 1.5/);
  const both = array("u8", 2);
  const Point = struct({ x: "i16", y: "u8", tag: bytes(2), n: "u64", both });
  const memory = new Uint8Array(Point.size);
  const wrong: [object, RegExp][] = [
    [{ x: 1, y: 256 }, /"y" is u8 \(0 to 255\): received 256/],
    [{ x: 1, y: 0.5 }, /received 0.5/],
    [{ x: 1, z: 0 }, /no field "z"/],
    [{ x: 1, tag: new Uint8Array(3) }, /has 2 bytes: received 3/],
    [{ x: 1, n: 7 }, /takes a bigint: received 7/],
    [{ x: 1, tag: [1] }, /takes a Uint8Array: received \[object Array\]/],
    [{ x: 1, both: 7 }, /"both" takes an array: received 7/],
    [{ x: 1, both: [1] }, /"both" has 2 items: received 1/],
    [{ x: 1, both: [1, 2, 3] }, /"both" has 2 items: received 3/],
  ];
  for (const [value, message] of wrong) {
    assert.throws(() => Point.write(memory, value), message);
    assert.ok(memory.every((byte) => byte === 0));
  }
  assert.throws(() => Point.read(memory, 1), /does not fit/);
  const Named = struct({ name: text(4), at: Point });
  const place = new Uint8Array(Named.size);
  const names: [object, RegExp][] = [
    [{ name: "grüß" }, /"name" has 4 bytes: received 6/],
    [{ name: "a\0" }, /without U\+0000/],
    [{ name: "\ud800" }, /half of a surrogate pair/],
    [{ name: 7 }, /takes a string: received 7/],
    [{ name: "a", at: { y: 300 } }, /"at.y" is u8 \(0 to 255\): received 300/],
    [{ name: "a", at: { z: 1 } }, /no field "z" in "at"/],
    [{ name: "a", at: 1 }, /"at" must be an object: received 1/],
  ];
  for (const [value, message] of names) {
    assert.throws(() => Named.write(place, value), message);
    assert.ok(place.every((byte) => byte === 0));
  }
  assert.throws(() => Named.write(place, null as never), /A record must be/);
  assert.throws(() => struct({ ["__proto__"]: "u8" }), /"__proto__"/);
  assert.throws(() => struct(undefined as never), /an object of fields/);
  for (const name of ["a b", "", "1a", 7]) {
    const received = new RegExp(`received ${JSON.stringify(name)}`);
    assert.throws(() => Point.toC(name as string), received);
    const shared = layout({ lock: Mutex });
    assert.throws(() => shared.toC(name as string), received);
  }
});

test("a place must be given, unless the array is one record", () => {
  const Pair = struct({ a: "i32", b: "i32" });
  const one = new Uint8Array(8);
  Pair.write(one, { a: 1, b: 2 });
  assert.equal(Pair.read(one), { a: 1, b: 2 });
  assert.is(Pair.view(one).b, 2);
  const two = new Uint8Array(16);
  const missing = /Give the offset/;
  assert.throws(() => Pair.write(two, { a: 1 }), missing);
  assert.throws(() => Pair.read(two), missing);
  assert.throws(() => Pair.view(two), missing);
  assert.ok(two.every((byte) => byte === 0));
  const short = new Uint8Array(7);
  const long = /^A record of 8 bytes does not fit 7 bytes at byte 0$/;
  assert.throws(() => Pair.write(short, { a: 1 }), long);
  assert.throws(() => Pair.read(short), long);
  assert.throws(() => Pair.view(short), long);
  for (const at of [-1, 9, 0.5, NaN, Infinity, "0", 1n] as number[]) {
    assert.throws(() => Pair.write(two, { a: 1 }, at), /does not fit 16/);
    assert.throws(() => Pair.read(two, at), /does not fit 16/);
    assert.throws(() => Pair.view(two, at), /does not fit 16/);
  }
  for (const no of [new ArrayBuffer(8), [1], undefined, "x"] as never[]) {
    assert.throws(() => Pair.read(no), /or a DataView: received/);
    assert.throws(() => Pair.write(no, { a: 1 }), /or a DataView: received/);
    assert.throws(() => Pair.view(no), /or a DataView: received/);
  }
});

test("a record of numbers alone is checked as others are", () => {
  const Pair = struct({ a: "i32", b: "f64" });
  const Nested = struct({ pair: Pair, tag: bytes(1) });
  const wrong: [unknown, RegExp][] = [
    [7, /must be an object.*received 7/],
    [null, /must be an object.*received null/],
    [
      { a: 2 ** 31 },
      /a" is i32 \(-2147483648 to 2147483647\): received 2147483648/,
    ],
    [{ b: "1" }, /b" takes a number: received "1"/],
    [{ c: 1 }, /no field "c"/],
  ];
  for (const [value, message] of wrong) {
    const memory = new Uint8Array(Nested.size);
    const pair = value as { a: number; b: number };
    assert.throws(() => Pair.write(memory, pair, 0), message);
    assert.throws(() => Nested.write(memory, { pair }), message);
    assert.ok(memory.every((byte) => byte === 0));
  }
});

test("write() leaves the fields that are not given as they were", () => {
  const plain = struct({ a: "f64", b: "i32", c: "u32" });
  const other = struct({ a: "f64", b: "i16", c: "u32" });
  for (const type of [plain, other]) {
    const target = new Uint8Array(type.size);
    const another = new Uint8Array(type.size);
    const before = { a: 1.5, b: -2, c: 4_000_000_000 };
    const given = { a: 0.25, b: 7, c: 9 };
    for (let which = 0; which < 8; which++) {
      const some = (["a", "b", "c"] as const).filter((_, i) => which >> i & 1);
      const record = Object.fromEntries(
        some.map((name) => [name, given[name]]),
      );
      type.write(target, before);
      type.write(another, { a: 3, b: 3, c: 3 });
      type.write(target, record);
      assert.equal(type.read(target), { ...before, ...record });
      type.write(target, before);
      type.write(another, { a: 3, b: 3, c: 3 });
      const none = { a: undefined, b: undefined, c: undefined };
      type.write(target, { ...none, ...record } as never);
      assert.equal(type.read(target), { ...before, ...record });
    }
  }
});

test("write() writes where it was told to, whatever a getter does", () => {
  const Pair = struct({ a: "i32", b: "i32" });
  const [one, two] = [new Int32Array(2), new Int32Array(2)];
  Pair.write(one, {
    a: 1,
    get b() {
      Pair.write(two, { a: 3, b: 4 });
      return 2;
    },
  });
  assert.equal([...one, ...two], [1, 2, 3, 4]);
  const buffer = new ArrayBuffer(8, { maxByteLength: 8 });
  const shrinking = new Uint8Array(buffer);
  const record = {
    a: 1,
    get b() {
      buffer.resize(4);
      return 2;
    },
  };
  assert.throws(() => Pair.write(shrinking, record), /record of 8 bytes/);
  assert.equal([...new Uint8Array(buffer)], [0, 0, 0, 0]);
});

test("a view reads and writes what read() and write() do", () => {
  fc.assert(
    fc.property(anyRecord, fc.nat({ max: 9 }), ({ type, value }, at) => {
      const { size, read, write, view } = type as StructType<Fields>;
      const memory = new Uint8Array(new SharedArrayBuffer(at + 2 * size));
      write(memory, value as object, at + size);
      const place = view(memory, at);
      place.$at += size;
      assert.is(place.$at, at + size);
      assert.equal(plain(place), value);
      place.$at = at;
      assign(place, value as Record<string, unknown>);
      assert.equal(read(memory, at), value);
      assert.equal(JSON.stringify(shown(place)), JSON.stringify(shown(value)));
      assert.throws(() => place.$at = at + size + 1, /does not fit/);
      assert.is(place.$at, at);
    }),
  );
});

test("a number of another type is named, wherever it is written", () => {
  const types = ["i8", "u8", "i16", "u16", "i32", "u32", "f32", "f64"] as const;
  const wrong = [1n, "1", null, true, Symbol("1"), {}, Object.create(null)];
  for (const type of types) {
    const One = struct({ n: type, row: array(type, 2) });
    const memory = new Uint8Array(One.size);
    const view = One.view(memory);
    for (const value of wrong as never[]) {
      const message = /takes a number: received \S/;
      assert.throws(() => One.write(memory, { n: value }), message);
      assert.throws(() => One.write(memory, { row: [1, value] }), message);
      assert.throws(() => view.n = value, message);
      assert.throws(() => view.row.set(1, value), message);
    }
    assert.ok(memory.every((byte) => byte === 0), type);
  }
});

test("a view checks what is written, and lists its fields", () => {
  const Odd = struct({ a: "u8", b: "i64", c: array("i16", 2), d: bytes(2) });
  const memory = new Uint8Array(Odd.size);
  const view = Odd.view(memory);
  assert.throws(() => view.a = 256, /"a" is u8 \(0 to 255\): received 256/);
  assert.throws(() => view.b = 1 as never, /"b" takes a bigint/);
  assert.throws(() => view.c.set(2, 1), /has 2 items: received index 2/);
  for (const index of [-1, 0.5, NaN]) {
    const received = new RegExp(`has 2 items: received index ${index}`);
    assert.throws(() => view.c.set(index, 1), received);
    assert.throws(() => view.c.get(index), received);
  }
  assert.throws(() => view.c.set(0, 2 ** 15), /"c\[0\]" is i16/);
  assert.throws(() => view.d = new Uint8Array(3), /"d" has 2 bytes/);
  assert.ok(memory.every((byte) => byte === 0));
  assert.equal(Object.keys(view), []);
  const names = [];
  for (const name in view) names.push(name);
  assert.equal(names, ["a", "b", "c", "d"]);
  view.c.set(1, -7);
  assert.equal([...view.c], [0, -7]);
});

test("each accessor refuses a value of another type", () => {
  const wrong = {
    ...{ i8: 128, u8: -1, i16: 2 ** 15, u16: -1, i32: 2 ** 31, u32: -1 },
    ...{ i64: 2n ** 63n, u64: -1n, f32: "1", f64: "1" },
  };
  for (const [name, value] of Object.entries(wrong)) {
    const Record = struct({ it: name as "u8" });
    const bytes = new Uint8Array(Record.size).fill(1);
    const view = Record.view(bytes);
    const type = typeof value === "string" ? TypeError : RangeError;
    const set = () => view.it = value as number;
    refuses(bytes.buffer, set, type, `"it"`, "received ", `${value}`);
  }
});

/** A view's fields, copied. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return value.slice();
  if (Symbol.iterator in value) {
    return [...value as Iterable<unknown>].map(plain);
  }
  const copy: Record<string, unknown> = {};
  for (const name in value) copy[name] = plain(value[name as never]);
  return copy;
}

/** Writes a record by the accessors of its view. */
function assign(view: unknown, record: Record<string, unknown>): void {
  const target = view as Record<string, unknown>;
  for (const [name, value] of Object.entries(record)) {
    if (Array.isArray(value)) {
      const items = target[name] as { set(i: number, item: unknown): void };
      value.forEach((item, i) => items.set(i, item));
    } else if (
      typeof value === "object" && !(value instanceof Uint8Array)
    ) assign(target[name], value as Record<string, unknown>);
    else target[name] = value;
  }
}

/** The value in a form that JSON can show. */
function shown(value: unknown): unknown {
  const text = (_: string, item: unknown) =>
    typeof item === "bigint" ? `${item}` : item;
  return JSON.parse(JSON.stringify(value, text));
}

/** Compiles C code only for its errors, natively and for wasm32. */
async function compile(code: string): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "weft-"));
  const file = path.join(folder, "check.c");
  fs.writeFileSync(file, code);
  const include = fileURLToPath(new URL("../../wasm", import.meta.url));
  const words = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", include];
  const emcc = (await findCompiler()).path;
  const compilers: [string, string[]][] = [["gcc", []], [emcc, ["-pthread"]]];
  for (const [program, more] of compilers) {
    const compiler = spawnSync(
      program,
      [...words, ...more, "-fsyntax-only", file],
      { encoding: "utf8" },
    );
    if (compiler.error !== undefined) throw new Missing(program);
    assert.is(compiler.status, 0, `${compiler.stderr}\n${code}`);
  }
  fs.rmSync(folder, { recursive: true });
}

test("a queue of records refuses a second producer", () => {
  const [A, B] = [1001, 1002];
  const element = struct({ x: "i32" });
  const queue = asAgent(
    A,
    () => SpscQueue.create({ capacity: 4, element }),
  );
  const other = asAgent(B, () => SpscQueue.from(queue.handle, { element }));
  queue.push({ x: 1 });
  refuses(queue.buffer, () => other.reserve(), TypeError, `agent ${A}`);
  assert.is(other.abandon(A), 1);
  other.push({ x: 2 });
  assert.equal([other.pop(), other.pop()], [{ x: 1 }, { x: 2 }]);
});
