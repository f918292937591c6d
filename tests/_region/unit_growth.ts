// also: node
// it waits
// A WebAssembly.Memory that grows has another buffer each time. Views of both
// buffers work together in one agent.
import process from "node:process";
import * as assert from "uvu/assert";
import {
  CallRing,
  MpmcQueue,
  Mutex,
  select,
  Semaphore,
  waitAny,
} from "../../mod.ts";
import { inPlace, Pool, task } from "../../primitives/pool.ts";
import { suite } from "../_run/harness.ts";
import { nowOf } from "../_run/model.ts";

const PAGE = 65536;
const test = suite("Memory that grows");

const growing = () =>
  new WebAssembly.Memory({ initial: 1, maximum: 9, shared: true });

test("an agent blocks at queues that were viewed before and after", () => {
  for (const [low, high] of [[0, 1], [1, 0]] as const) {
    const memory = growing();
    const config = { capacity: 4 };
    const first = MpmcQueue.init(memory, 4096, config);
    memory.grow(1);
    const second = MpmcQueue.init(memory, PAGE, config); // not in the old one
    const both = [first, second];
    const sources = [both[low]!, both[high]!] as const;
    second.pushInt(7);
    assert.is(waitAny.blocking(sources), high);
    assert.equal(select.blocking(sources), {
      index: high,
      value: 7,
      done: false,
    });
    assert.is(select.blocking(sources, { timeout: 5 }), undefined);
    first.pushInt(8);
    assert.is(select.blocking(sources).index, low);
  }
  const apart = [growing(), growing()].map((memory) =>
    MpmcQueue.init(memory, 0, { capacity: 4 })
  );
  assert.throws(() => waitAny.blocking(apart), /one SharedArrayBuffer/);
});

test("views before and after keep one order of priorities", async () => {
  const memory = growing();
  const before = Semaphore.init(memory, 0, 0);
  const order: string[] = [];
  const low = before.tryAcquireAsync(1, { priority: 1, timeout: 5000 })
    .then(() => order.push("low"));
  memory.grow(1);
  const after = new Semaphore(memory, 0);
  const high = after.tryAcquireAsync(1, { priority: 2, timeout: 5000 })
    .then(() => order.push("high"));
  before.release();
  await Promise.race([low, high]);
  after.release();
  await Promise.all([low, high]);
  assert.equal(order, ["high", "low"]);
});

test("a wait at the buffer itself ends beside views of the memory", async () => {
  for (const grows of [false, true]) {
    const memory = growing();
    if (grows) {
      Mutex.init(memory, 0);
      memory.grow(1);
    }
    const { buffer } = memory;
    const raw = new Mutex(buffer as unknown as SharedArrayBuffer, 0);
    raw.lock();
    const next = raw.lockAsync();
    assert.is(await nowOf(next), "pending");
    const view = new Mutex(memory, 0);
    raw.unlock();
    await next;
    view.unlock();
    assert.ok(view.tryLock());
  }
});

test("a view made after cancels what awaits by one made before", async () => {
  const memory = growing();
  const mutex = Mutex.init(memory, 0);
  const semaphore = Semaphore.init(memory, 4096, 0);
  mutex.lock();
  const late = { timeout: 5000 };
  const waits = [mutex.tryLockAsync(late), semaphore.tryAcquireAsync(1, late)]
    .map((wait) => wait.catch((reason) => reason));
  memory.grow(1);
  new Mutex(memory, 0).cancel("enough");
  new Semaphore(memory, 4096).cancel("enough");
  assert.equal(await Promise.all(waits), ["enough", "enough"]);
});

test("bytes in place are those of the grown memory, too", () => {
  const memory = growing();
  const pool = Mutex.init(memory, 0); // as a pool does
  const into = new Uint8Array(pool.buffer, 4096, 64);
  memory.grow(1);
  const bytes = new Uint8Array(memory.buffer, 8192, 16);
  const length = inPlace.encode(bytes, into);
  inPlace.decode(into.subarray(0, length))[3] = 5;
  assert.is(bytes[3], 5);
  // Who has the old buffer alone finds no bytes behind it.
  const behind = new Uint8Array(memory.buffer, 2 * PAGE - 16, 16).fill(6);
  const copied = inPlace.encode(behind, into);
  assert.equal([...inPlace.decode(into.subarray(0, copied))], [...behind]);
});

test("new memory takes room only where it is used", () => {
  const room = (make: () => { byteLength: number }, n: number) => {
    const before = process.memoryUsage().rss;
    const all = Array.from({ length: n }, make);
    const bytes = all.reduce((sum, { byteLength }) => sum + byteLength, 0);
    assert.ok(bytes > 80e6);
    const took = process.memoryUsage().rss - before;
    assert.ok(took < bytes / 4, `${took} of ${bytes} bytes`);
  };
  room(() => CallRing.create(), 60);
  room(() => {
    const pool = new Pool({ tasks: { a: task() }, workers: 0 });
    void pool.close();
    return { byteLength: Pool.byteLength({ bytes: 65_600 }) };
  }, 6);
});

test("memory that was used before is cleared", () => {
  const ring = CallRing.create({ slots: 2, request: 4, reply: 4 });
  const { buffer } = ring;
  for (let i = 0; i < 2; i++) assert.ok(ring.tryPost(new Uint8Array(4)));
  assert.is(ring.tryPost(new Uint8Array(4)), undefined);
  const again = CallRing.init(buffer, 0, { slots: 2, request: 4, reply: 4 });
  assert.is(again.tryTake(), undefined);
  assert.ok(again.tryPost(new Uint8Array(4)));
});
