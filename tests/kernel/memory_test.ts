// also: node
// Where the classes of `@weft/sync/kernel` run in the kernel: in memory of an
// arena, with the exports of the program's own module, and not at all where a
// realm may not compile WebAssembly.
import { Buffer } from "node:buffer";
import * as assert from "uvu/assert";
import { codec, DamagedError } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { kernelOf, source } from "../../primitives/kernel/_instance.ts";
import * as TEXT from "../../primitives/kernel/_text.ts";
import {
  arena,
  HashMap,
  Latch,
  MpmcQueue,
  Mutex,
  RecordRing,
  Semaphore,
  SlabPool,
  Snapshot,
  SpscQueue,
  useKernel,
  WorkCounter,
} from "../../primitives/kernel/kernel.ts";
import { cloned, suite } from "../_run/harness.ts";
import { refuses } from "../_run/model.ts";

const test = suite("kernel, its memory");

/** Calls `fn` while nothing can be compiled. */
function withoutCompiling(fn: () => void) {
  const { Module } = WebAssembly;
  const refuse = () => {
    throw new WebAssembly.CompileError("blocked by Content Security Policy");
  };
  Object.assign(WebAssembly, { Module: refuse });
  try {
    fn();
  } finally {
    Object.assign(WebAssembly, { Module });
  }
}

test("an arena hands out lines of zeroed bytes until none are left", () => {
  const memory = arena(1000);
  assert.ok(memory instanceof WebAssembly.Memory);
  assert.equal([1, 128, 129, 0].map((n) => memory.allocate(n)), [
    0,
    128,
    256,
    512,
  ]);
  assert.throws(() => memory.allocate(489), RangeError);
  assert.is(memory.allocate(488), 512);
  assert.throws(() => memory.allocate(1), RangeError);
  assert.ok(new Uint8Array(memory.buffer).every((byte) => byte === 0));
  for (const bytes of [0, -1, 1.5, NaN, 2 ** 32 + 1]) {
    assert.throws(() => arena(bytes), RangeError, String(bytes));
  }
});

test("primitives of an arena share one memory, also when their handles are posted", () => {
  const memory = arena(1 << 16);
  const lock = memory.create(Mutex);
  const queue = memory.create(MpmcQueue, { capacity: 64 });
  assert.ok(lock.inKernel && queue.inKernel);
  assert.is(lock.buffer, queue.buffer);
  assert.throws(() => memory.create(RecordRing, { capacity: 1 << 20 }));
  const before = memory.allocate(0);
  for (const wrong of [undefined, null, 1, "Mutex", {}, lock, () => {}]) {
    const create = () => memory.create(wrong as never);
    assert.throws(create, /a class that has byteLength and init: received/);
  }
  assert.is(memory.allocate(0), before);
  const handles = cloned({ lock: lock.handle, queue: queue.handle });
  const theirs = MpmcQueue.from(handles.queue);
  assert.ok(theirs.inKernel && Mutex.from(handles.lock).inKernel);
  theirs.tryPushInt(7);
  assert.is(queue.tryPopInt(), 7);
});

test("a map of an arena has the types of its codecs", () => {
  const memory = arena(1 << 16);
  const codecs = { key: codec.i32, value: codec.i32 };
  const counts = memory.create(HashMap, { ...codecs, capacity: 4 });
  counts.add(7, 1); // only numbers have it
  // @ts-expect-error: a value is a number
  assert.throws(() => counts.set(7, "a"));
  const found: number | undefined = counts.get(7);
  assert.equal([found, counts.inKernel], [1, true]);
  const any = memory.create(HashMap, { capacity: 4 });
  any.set("a", [1]);
  assert.equal(any.get("a"), [1]);
});

test("where nothing may be compiled, everything runs in JavaScript", () => {
  withoutCompiling(() => {
    const memory = arena(1 << 16);
    const pool = memory.create(SlabPool, { capacity: 4, blockSize: 64 });
    const queue = SpscQueue.create({ capacity: 4 });
    assert.not.ok(pool.inKernel || queue.inKernel);
    const block = pool.allocate();
    assert.ok(block > 0);
    pool.free(block);
    assert.ok(queue.tryPushInt(7));
    assert.is(queue.tryPopInt(), 7);
  });
});

test("the exports that a program gives are the kernel of its memory", () => {
  const { memory, exports, calls } = ownModule();
  useKernel(memory, exports);
  withoutCompiling(() => {
    const lock = new Mutex(memory, 0);
    assert.ok(lock.inKernel);
    lock.run((guard) => assert.is(guard.mutex, lock));
    assert.equal(calls, ["lock", "unlock"]);
    // A class whose functions they lack needs the library's own module.
    assert.not.ok(Semaphore.init(memory, 256).inKernel);
  });
  assert.ok(WorkCounter.init(memory, 1024, 10).inKernel);
  for (const none of [undefined, null, 7, () => {}]) {
    assert.throws(() => useKernel(memory, none as never), /received/);
  }
  const wrong = memory.buffer as unknown as WebAssembly.Memory;
  assert.throws(() => useKernel(wrong, exports), TypeError);
});

test("with a part of a class's exports, this library's kernel is used", () => {
  const names = ["lock", "try_lock", "unlock"];
  for (const missing of [undefined, ...names]) {
    const { memory, exports, calls } = ownModule();
    const name = `weft_kernel_mutex_${missing}`;
    const wrong: unknown[] = [undefined, memory]; // absent, and no function
    for (const value of missing === undefined ? [undefined] : wrong) {
      useKernel(memory, { ...exports, [name]: value as never });
      const lock = new Mutex(memory, 0);
      assert.ok(lock.inKernel);
      lock.lock().unlock();
      lock.tryLock()!.unlock();
    }
    const own = ["lock", "unlock", "try_lock", "unlock"];
    assert.equal(calls, missing === undefined ? own : []);
  }
});

test("the functions of a 64-bit module are not called", () => {
  const { exports } = ownModule();
  const buffer = new SharedArrayBuffer(65536);
  const memory = { // not each engine has one
    [Symbol.toStringTag]: "WebAssembly.Memory",
    buffer,
    grow(pages: unknown) {
      if (typeof pages !== "bigint") throw new TypeError("not a BigInt");
      return 1n;
    },
  } as unknown as WebAssembly.Memory;
  const calls: unknown[] = [];
  const wide = Object.fromEntries(
    Object.keys(exports).map((name) => [name, () => calls.push(name)]),
  );
  useKernel(memory, wide);
  const lock = Mutex.init(memory, 0);
  assert.not.ok(lock.inKernel);
  lock.lock().unlock();
  assert.equal(calls, []);
});

test("an arena keeps the bytes of what it could not make", () => {
  const memory = arena(128);
  assert.throws(() => memory.create(Latch, -1), RangeError);
  assert.throws(() => memory.create(Semaphore, 3, { max: 2 }), RangeError);
  assert.is(memory.create(Latch, 1).byteOffset, 0);
  assert.throws(() => memory.create(Latch, 1), RangeError);
});

test("memory may end in the middle of a word", () => {
  const config = { key: codec.i32, value: codec.i32, capacity: 4 };
  const bytes = Math.max(WorkCounter.byteLength(9), HashMap.byteLength(config));
  for (let more = 1; more < 4; more++) {
    const memory = new SharedArrayBuffer(bytes + more);
    assert.is(WorkCounter.init(memory, 0, 9).next(), 0);
    assert.is(HashMap.init(memory, 0, config).size, 0);
  }
});

test("a damaged Snapshot is noticed, where the kernel copies, too", () => {
  const memory = arena(1 << 12);
  const config = { size: 8, singleReader: true };
  const latest = memory.create(Snapshot, config);
  const value = new Int32Array(memory.buffer, memory.allocate(8), 2);
  latest.write(value);
  assert.is(latest.read(value), 1);
  new Int32Array(memory.buffer, latest.byteOffset)[LAYOUT.snapshot.state] = 15;
  refuses(memory.buffer, () => latest.write(value), DamagedError);
  refuses(memory.buffer, () => latest.read(value), DamagedError);
});

/** A memory, and exports as those of a program with `wasm/kernel.c` in it. */
function ownModule() {
  const memory = new WebAssembly.Memory({
    initial: 1,
    maximum: 1,
    shared: true,
  });
  const bytes = Buffer.from(TEXT.MUTEX, "base64");
  const module = new WebAssembly.Module(bytes);
  const instance = new WebAssembly.Instance(module, { env: { memory } });
  const calls: string[] = [];
  const exports: Record<string, WebAssembly.ExportValue> = { memory };
  for (const [name, value] of Object.entries(instance.exports)) {
    const fn = value as (...words: number[]) => number;
    exports[`weft_kernel_mutex_${name}`] = (...words: number[]) => {
      calls.push(name);
      return fn(...words);
    };
  }
  return { memory, exports, calls };
}

test("a look at an empty queue, or ring, does not end the use of the kernel", () => {
  const { find } = source;
  let calls = 0;
  type Found = { functions: Record<string, (...words: number[]) => number> };
  source.find = (stem, text, memory) => {
    const found = find(stem, text, memory) as Found;
    const counted = Object.entries(found.functions).map(([name, fn]) =>
      [name, (...words: number[]) => (calls++, fn(...words))] as const
    );
    return { ...found, functions: Object.fromEntries(counted) };
  };
  const memory = arena(1 << 14);
  const array = new Int32Array(1);
  try {
    for (
      const queue of [
        memory.create(SpscQueue, { capacity: 4 }),
        memory.create(RecordRing, { capacity: 256 }),
      ]
    ) {
      queue.tryPush(array);
      queue.tryPopInto(array);
      assert.is(queue.peek(), undefined);
      queue.tryPush(array);
      calls = 0;
      assert.ok(queue.tryPopInto(array));
      assert.ok(calls > 0, `${queue.handle.kind}: in JavaScript`);
    }
  } finally {
    source.find = find;
  }
});

test("a memory has one kernel for all objects of a class", () => {
  const memory = arena(1 << 16);
  const first = kernelOf("mutex", TEXT.MUTEX, memory);
  assert.is(kernelOf("mutex", TEXT.MUTEX, memory), first);
  const { buffer } = new Mutex(memory);
  assert.is(kernelOf("mutex", TEXT.MUTEX, buffer), undefined);
});

test("the kernel moves elements of 1 and 2 bytes, too", () => {
  for (const elementSize of [1, 2] as const) {
    const memory = arena(1 << 12);
    const queue = memory.create(SpscQueue, { capacity: 8, elementSize });
    assert.ok(queue.inKernel);
    const at = memory.allocate(32);
    for (const shared of [false, true]) {
      const buffer = shared ? memory.buffer : new ArrayBuffer(at + 32);
      const src = new Uint8Array(buffer, at, 5 * elementSize);
      const dst = new Uint8Array(buffer, at + 16, 5 * elementSize);
      for (let n = 0; n < 20; n++) {
        src.forEach((_, i) => src[i] = n * 11 + i);
        assert.is(queue.tryPushMany(src, 5), 5);
        assert.ok(queue.tryPush(src.subarray(0, elementSize)));
        assert.ok(queue.tryPopInto(dst.subarray(0, elementSize)));
        assert.equal(dst[0], src[0]);
        assert.is(queue.tryPopMany(dst, 4), 4);
        const rest = [...src.subarray(elementSize)];
        assert.equal([...dst.subarray(0, 4 * elementSize)], rest);
        const place = queue.peek()!;
        assert.equal([...place], [...src.subarray(0, elementSize)]);
        queue.consume();
        assert.is(queue.size, 0);
      }
    }
  }
});
