import { suite } from "../_run/harness.ts";
import * as assert from "uvu/assert";
import fc from "fast-check";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import {
  array,
  Barrier,
  Broadcast,
  bytes,
  CallRing,
  Channel,
  Condition,
  Event,
  type Fields,
  type FieldType,
  json,
  Latch,
  layout,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  Once,
  record,
  RecordRing,
  RwLock,
  Semaphore,
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  struct,
  type StructType,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import { findCompiler } from "../../wasm/emcc.ts";

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

const { record: anyRecord } = fc.letrec<{ record: Sample; field: Sample }>((
  tie,
) => ({
  field: fc.oneof(
    { depthSize: "small" },
    number,
    blob,
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
    values: [Channel, { codec: json, capacity: 1024 }],
    pairs: [Channel, {
      codec: record(struct({ x: "i32", y: "f64" })),
      capacity: 4,
    }],
    changed: Condition,
    ready: [Event, { autoReset: true }],
    opens: [Latch, 2],
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

test("layout() says which part is none", () => {
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
});

test("wrong types, names and values are refused, and nothing is written", () => {
  assert.throws(() => struct({}), /needs a field/);
  assert.throws(() => struct({ "a-b": "u8" }), /received "a-b"/);
  assert.throws(() => struct({ a: "u9" as "u8" }), /received u9/);
  assert.throws(() => bytes(0), /received 0/);
  assert.throws(() => array("u8", 1.5), /received 1.5/);
  const Point = struct({ x: "i16", y: "u8", tag: bytes(2), n: "u64" });
  const memory = new Uint8Array(Point.size);
  const wrong: [object, RegExp][] = [
    [{ x: 1, y: 256 }, /"y" is u8: received 256/],
    [{ x: 1, y: 0.5 }, /received 0.5/],
    [{ x: 1, z: 0 }, /no field "z"/],
    [{ x: 1, tag: new Uint8Array(3) }, /has 2 bytes: received 3/],
    [{ x: 1, n: 7 }, /takes a bigint: received number/],
  ];
  for (const [value, message] of wrong) {
    assert.throws(() => Point.write(memory, value), message);
    assert.ok(memory.every((byte) => byte === 0));
  }
  assert.throws(() => Point.read(memory, 1), /does not fit/);
});

/** Compiles C code for nothing but its errors: natively, and for wasm32. */
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
    if (compiler.error !== undefined) throw compiler.error;
    assert.is(compiler.status, 0, `${compiler.stderr}\n${code}`);
  }
  fs.rmSync(folder, { recursive: true });
}
