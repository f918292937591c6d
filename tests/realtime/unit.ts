// Tests which operations `./realtime` has and lacks, and that it allocates
// nothing.
import * as esbuild from "esbuild";
import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import * as whole from "../../mod.ts";
import { Copier, type Elements } from "../../primitives/_queue/elements.ts";
import { LoopCopier } from "../../primitives/_queue/loop_copier.ts";
import * as realtime from "../../primitives/realtime.ts";
import { CONTROLS, NOISE, OPERATIONS } from "./allocations.ts";
import { cloned, suite } from "../_run/harness.ts";
import { refuses } from "../_run/model.ts";

const test = suite("realtime");

test.after(() => esbuild.stop());

const queue = { capacity: 4 };
const memory = new SharedArrayBuffer(65536);

/** One of each, at a place that the whole class attaches to, too. */
const VIEWS = {
  SpscQueue: realtime.SpscQueue.init(memory, 0, queue),
  MpmcQueue: realtime.MpmcQueue.init(memory, 4096, queue),
  LockFreeQueue: realtime.LockFreeQueue.init(memory, 8192, queue),
  RecordRing: realtime.RecordRing.init(memory, 12288, { capacity: 64 }),
  Snapshot: realtime.Snapshot.init(memory, 16384, { size: 4 }),
  Semaphore: realtime.Semaphore.init(memory, 20480, 3),
  Event: realtime.Event.init(memory, 24576, { autoReset: true }),
  Latch: realtime.Latch.init(memory, 28672, 3),
  WaitGroup: realtime.WaitGroup.init(memory, 30720),
  WorkCounter: realtime.WorkCounter.init(memory, 32768, 3, { chunk: 2 }),
  WorkDeque: realtime.WorkDeque.init(memory, 36864, { capacity: 4 }),
  SlabPool: realtime.SlabPool.init(memory, 40960, {
    capacity: 3,
    blockSize: 4,
  }),
  StripedCounter: realtime.StripedCounter.init(memory, 45056, { stripes: 2 }),
};
type Name = keyof typeof VIEWS;
const names = Object.keys(VIEWS) as Name[];

/**
 * The members that views find on their prototypes, up to those of every
 * primitive.
 */
function membersOf(view: object): Map<string | symbol, boolean> {
  const found = new Map<string | symbol, boolean>();
  for (
    let at = Object.getPrototypeOf(view);
    at !== whole.Region.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const key of Reflect.ownKeys(at)) {
      const { value, get } = Object.getOwnPropertyDescriptor(at, key)!;
      const isThere = value !== undefined || get !== undefined;
      // The nearest definition counts.
      if (!found.has(key)) found.set(key, isThere);
    }
  }
  return found;
}

test("every class of ./realtime is tested, and is one of the whole", () => {
  const classes = Object.keys(realtime).filter((name) =>
    Object.hasOwn(Reflect.get(realtime, name), "create")
  );
  assert.equal(classes.toSorted(), names.toSorted());
  for (const name of names) {
    assert.is(
      VIEWS[name].kind,
      new whole[name](memory, VIEWS[name].byteOffset).kind,
    );
  }
});

for (const name of names) {
  const view = VIEWS[name];

  test(`realtime ${name}: operations that block, await or make objects are gone`, () => {
    const members = membersOf(view);
    const all = [...members.keys()];
    const left = all.filter((key) => members.get(key));
    for (const key of all) {
      const isAsync = typeof key === "symbol" || key.endsWith("Async");
      // A method with an async form blocks, unless it only tries.
      const waits = isAsync ||
        !key.startsWith("try") && all.includes(`${key}Async`);
      if (waits) assert.not.ok(members.get(key), String(key));
      if (members.get(key)) continue;
      assert.is(Reflect.get(view, key), undefined, String(key));
    }
    // Protected methods, of which those that operations call are measured too.
    // Only the race tester calls `explored`.
    const helpers =
      /^(constructor|assert\w+|\w+Slot|slots|refuse|position|pendingAt|gongAt|passRoom|handRoomOn|wakeProducer|endClaim|takeOver|uncount|leaveProducing|isWhole|indexAt|poppable|\w+Record|oldest|unpeek|abandon|abandonRoles|tookRole|repair|bytes|explored)$/;
    const measured = Object.keys(OPERATIONS)
      .filter((operation) => operation.split(/[. ]/, 1)[0] === name)
      .flatMap((operation) => operation.split(/\W/));
    for (const key of left as string[]) {
      if (helpers.test(key)) continue;
      assert.ok(measured.includes(key), `${key} is not measured`);
    }
  });

  test(`realtime ${name}: every way to one makes one`, () => {
    const Realtime = realtime[name];
    const { buffer, byteOffset } = view;
    const attached = new Realtime(buffer, byteOffset);
    const received = Realtime.from(cloned(view.handle));
    for (const it of [view, attached, received]) {
      assert.instance(it, Realtime as unknown as typeof Object);
      assert.is(it.byteOffset, byteOffset);
      assert.is(it.kind, new whole[name](buffer, byteOffset).kind);
      assert.equal(whole.inspect(it), whole.inspect(view));
    }
    const handle = { ...view.handle, kind: "mutex" };
    refuses(buffer, () => Realtime.from(handle), TypeError, "mutex");
    refuses(buffer, () => new Realtime(buffer, 2), RangeError, "received 2");
  });
}

test("create() of a realtime class makes an instance of it", () => {
  const made = [
    realtime.SpscQueue.create(queue),
    realtime.Semaphore.create(2),
    realtime.WorkCounter.create(3, { chunk: 2 }),
    realtime.StripedCounter.create(),
  ];
  assert.instance(made[0], realtime.SpscQueue as unknown as typeof Object);
  assert.is((made[1] as realtime.Semaphore).available, 2);
  assert.is((made[2] as realtime.WorkCounter).next(), 0);
  assert.is(
    realtime.SpscQueue.byteLength(queue),
    whole.SpscQueue.byteLength(queue),
  );
  const typed = { ...queue, element: whole.struct({ x: "i32" }) as never };
  assert.throws(() => realtime.SpscQueue.create(typed), /has no element/);
  for (const it of made) {
    assert.is(it.byteLength, it.buffer.byteLength);
    assert.is(Reflect.get(it, "popAsync"), undefined);
  }
});

test("operations that only try take no timeout, so that they never block", () => {
  const free = realtime.Semaphore.create(1);
  const set = realtime.Event.create();
  set.set();
  const open = realtime.Latch.create(0);
  const idle = realtime.WaitGroup.create();
  const words = new Int32Array(1);
  const ring = realtime.RecordRing.create({ capacity: 64 });
  const queues = [
    realtime.SpscQueue,
    realtime.MpmcQueue,
    realtime.LockFreeQueue,
  ]
    .map((Queue) => Queue.create(queue));
  // Each could succeed at once.
  const tries: (readonly [buffer: SharedArrayBuffer, () => unknown])[] = [
    // @ts-expect-error: no timeout
    [free.buffer, () => free.tryAcquire(1, 5)],
    // @ts-expect-error: no timeout
    [set.buffer, () => set.tryWait(5)],
    // @ts-expect-error: no timeout
    [open.buffer, () => open.tryWait(5)],
    // @ts-expect-error: no timeout
    [idle.buffer, () => idle.tryWait(5)],
    // @ts-expect-error: no timeout
    [ring.buffer, () => ring.tryPush(words, 5)],
    // @ts-expect-error: no timeout
    [ring.buffer, () => ring.tryPopInto(words, 5)],
    ...queues.flatMap((queue) =>
      [
        // @ts-expect-error: no timeout
        () => queue.tryPushInt(1, 5),
        // @ts-expect-error: no timeout
        () => queue.tryPopInt(5),
        // @ts-expect-error: no timeout
        () => queue.tryPush(words, 5),
        // @ts-expect-error: no timeout
        () => queue.tryPopInto(words, 5),
      ].map((call) => [queue.buffer, call] as const)
    ),
  ];
  assert.is(tries.length, 18);
  for (const [buffer, call] of tries) {
    refuses(buffer, call, TypeError, "no timeout", "received 5");
  }
  // @ts-expect-error: 0 is no timeout, so code for the whole class runs
  assert.ok(free.tryAcquire(1, 0));
});

test("types of ./realtime know nothing that blocks or awaits", () => {
  const { SpscQueue: queue, Semaphore: semaphore, Event: event } = VIEWS;
  // Only the types matter: none of these is called.
  const wrong = [
    // @ts-expect-error: blocks
    () => queue.push(new Int32Array(1)),
    // @ts-expect-error: blocks
    () => queue.popInt(),
    // @ts-expect-error: awaits
    () => queue.popAsync(new Int32Array(1)),
    // @ts-expect-error: awaits
    () => queue[Symbol.asyncIterator](),
    // @ts-expect-error: blocks
    () => semaphore.acquire(),
    // @ts-expect-error: awaits
    () => event.waitAsync(),
    // @ts-expect-error: makes an array
    () => VIEWS.RecordRing.tryPop(),
    // @ts-expect-error: makes an object
    () => VIEWS.WorkCounter.nextRange(),
  ];
  for (const call of wrong) assert.throws(call, TypeError);
});

// ---- one memory, whichever class --------------------------------------------

/** An array of some type, over part of a buffer. */
type ArrayType = new (
  buffer: ArrayBuffer,
  byteOffset: number,
  length: number,
) => Elements;
const TYPES: (ArrayType & { BYTES_PER_ELEMENT?: number })[] = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
];

const bytesOf = ({ buffer, byteOffset, byteLength }: Elements) =>
  new Uint8Array(buffer, byteOffset, byteLength);

test("copying by a loop gives the same result as other copying", () => {
  const type = fc.constantFrom(...TYPES);
  // No exponent is all ones: as a float, each value but NaN keeps its bits.
  const values = fc.array(fc.nat(0x7e), { minLength: 1024, maxLength: 1024 });
  fc.assert(fc.property(
    type,
    values,
    fc.nat({ max: 3 }),
    fc.nat({ max: 20 }),
    fc.nat({ max: 20 }),
    fc.nat({ max: 90 }),
    (Type, values, shift, from, at, count) => {
      const size = Type.BYTES_PER_ELEMENT ?? 1;
      const place = size >= 4 ? size : shift * size;
      const results = [Copier, LoopCopier].map((Kind) => {
        const words = new Int32Array(new SharedArrayBuffer(1024), 4, 200);
        const copier = new Kind(words);
        const buffer = Uint8Array.from(values).buffer;
        const array = new Type(buffer, place, 512 / size);
        copier.put(array, from, at, count);
        copier.put(array, from, at, count); // with the view that was kept
        const copied = bytesOf(array).slice(4 * from, 4 * (from + count));
        const there = new Uint8Array(words.buffer, 4 + 4 * at, 4 * count);
        assert.equal([...there], [...copied]);
        const target = new Type(new ArrayBuffer(1024), place, 512 / size);
        copier.get(target, from, at, count);
        copier.get(target, from, at, count);
        return [
          ...new Uint8Array(words.buffer),
          ...bytesOf(target),
        ];
      });
      assert.equal(results[0], results[1]);
    },
  ));
});

test("a realtime side and a whole one share a queue", () => {
  for (const name of ["SpscQueue", "MpmcQueue", "LockFreeQueue"] as const) {
    const config = { capacity: 8, elementSize: 512 };
    const ours = realtime[name].create(config);
    const { buffer } = ours;
    const theirs: whole.Queue = name === "SpscQueue"
      ? new whole.SpscQueue(buffer)
      : name === "MpmcQueue"
      ? new whole.MpmcQueue(buffer)
      : new whole.LockFreeQueue(buffer);
    const block = Float32Array.from({ length: 128 }, (_, i) => i / 3);
    const seen = new Float32Array(128);
    for (let round = 0; round < 20; round++) {
      block[0] = round;
      assert.ok(ours.tryPush(block));
      theirs.popInto(seen);
      assert.equal(seen, block);
      theirs.push(block);
      assert.ok(ours.tryPopInto(seen));
      assert.equal(seen, block);
    }
    assert.ok(ours.tryPush(block));
    theirs.close();
    // No operation throws on a closed queue, so no worklet ends by it.
    assert.is(ours.closed, true);
    assert.is(ours.tryPush(block), false);
    assert.is(ours.tryPushMany(block, 1), 0);
    assert.is(ours.reserve(), undefined);
    assert.ok(ours.tryPopInto(seen));
    assert.is(ours.tryPopInto(seen), false);
    assert.is(ours.tryPopMany(seen, 1), 0);
    assert.is(ours.peek(), undefined);
  }
});

test("realtime operations on a closed queue of ints, or ring, do not throw", () => {
  for (const name of ["SpscQueue", "MpmcQueue", "LockFreeQueue"] as const) {
    const ints = realtime[name].create({ capacity: 2 });
    ints.tryPushInt(7);
    assert.ok(ints.reserve());
    ints.close();
    assert.is(ints.commit(), name === "MpmcQueue");
    assert.is(ints.tryPushInt(8), false);
    assert.is(ints.tryPopInt(), 7);
    if (name === "MpmcQueue") assert.is(ints.tryPopInt(), 0);
    assert.is(ints.tryPopInt(), undefined);
  }
  for (const singleProducer of [false, true]) {
    const ring = realtime.RecordRing.create({ capacity: 64, singleProducer });
    const record = new Uint8Array(3);
    ring.tryPush(record);
    ring.close();
    assert.is(ring.tryPush(record), false);
    assert.is(ring.tryPopInto(record), 3);
    assert.is(ring.tryPopInto(record), undefined);
  }
});

test("a realtime release wakes the waiters", async () => {
  const semaphore = whole.Semaphore.create(0);
  const acquired = semaphore.acquireAsync();
  realtime.Semaphore.from(semaphore.handle).release();
  await acquired;
  const event = whole.Event.create();
  const set = event.waitAsync();
  realtime.Event.from(event.handle).set();
  await set;
  assert.equal([semaphore.available, event.isSet], [0, true]);
});

/** How many views pushing a long element that is not aligned takes of it. */
function viewsOf(
  Queue: typeof realtime.SpscQueue | typeof whole.SpscQueue,
): number {
  let views = 0;
  class Watched extends Int32Array<ArrayBuffer> {
    override subarray(begin?: number, end?: number): Int32Array<ArrayBuffer> {
      views++;
      return super.subarray(begin, end);
    }
  }
  const queue = Queue.create({ capacity: 2, elementSize: 1024 });
  assert.ok(queue.tryPush(new Watched(new ArrayBuffer(1028), 4)));
  return views;
}

test("a realtime class that cannot be made leaves others as they were", () => {
  assert.throws(() => new realtime.SpscQueue(new SharedArrayBuffer(4096)));
  assert.ok(viewsOf(whole.SpscQueue) > 0, "a native copy takes a view");
  assert.is(viewsOf(realtime.SpscQueue), 0);
  assert.ok(viewsOf(whole.SpscQueue) > 0);
});

test("./realtime needs nothing but the language", async () => {
  const { outputFiles } = await esbuild.build({
    entryPoints: [
      fileURLToPath(new URL("../../primitives/realtime.ts", import.meta.url)),
    ],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "realtime",
    target: "es2022",
    logLevel: "error",
  });
  // As in an AudioWorklet: no timers, no performance, no crypto.
  const context = createContext({});
  const found = runInContext(
    `${outputFiles[0]!.text}
    const queue = realtime.SpscQueue.create({ capacity: 4 });
    queue.tryPushInt(7);
    const pool = realtime.SlabPool.create({ capacity: 4, blockSize: 4 });
    [typeof setTimeout, typeof performance, typeof crypto].join() +
      queue.tryPopInt() + pool.allocate();`,
    context,
  );
  assert.match(found, /^undefined,undefined,undefined7\d+$/);
});

// ---- allocation -------------------------------------------------------------

/**
 * The output of `allocations.ts` under these flags of V8, without operations
 * whose names match `but`.
 */
function allocations(
  times: number,
  but: RegExp,
  ...flags: string[]
): Promise<Record<string, number>> {
  const file = fileURLToPath(new URL("./allocations.ts", import.meta.url));
  const all = [
    "--expose-gc",
    "--min-semi-space-size=64",
    "--max-semi-space-size=64",
    ...flags,
  ];
  const words = ["run", "-A", `--v8-flags=${all.join()}`, file];
  const args = [`${times}`, but.source];
  return new Promise((resolve, reject) =>
    execFile(
      process.execPath,
      [...words, ...args],
      { timeout: 270_000 },
      (error, text) => {
        if (error) reject(error);
        else resolve(JSON.parse(text));
      },
    )
  );
}

/** Fails if an operation allocates whose name does not match `but`. */
async function assertNone(times: number, but: RegExp, ...flags: string[]) {
  const found = await allocations(times, but, ...flags);
  for (const name of Object.keys(CONTROLS)) {
    assert.ok(found[name]! > 3 * NOISE, `${name}: only ${found[name]} bytes`);
  }
  for (const name of Object.keys(OPERATIONS)) {
    if (but.test(name)) continue;
    assert.ok(found[name]! < NOISE, `${name}: ${found[name]} bytes`);
  }
}

test("no operation allocates", async () => {
  await assertNone(10_000, /^$/);
});

test("an operation that is not compiled allocates only for floats", async () => {
  // Without the compiler, every float that is not stored at once is an object.
  const floats = /of floats|of both|tryPush tryPopInto|sum|SpscQueue.close/;
  const flags = ["--no-opt", "--no-sparkplug", "--no-maglev"];
  await assertNone(1000, floats, ...flags);
});
