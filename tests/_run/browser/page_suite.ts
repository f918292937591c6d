/// <reference lib="dom" />
// Tests that only the main thread of a page can run: nothing blocks it, async
// forms work there, a terminated worker is noticed, and an AudioWorklet uses
// the same memory.
import * as assert from "uvu/assert";
import {
  agentId,
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  codec,
  Condition,
  Event,
  Latch,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  onAgentExit,
  Once,
  RecordRing,
  RwLock,
  Semaphore,
  SpscQueue,
  waitAny,
  WorkCounter,
} from "../../../mod.ts";
import { suite } from "../harness.ts";
import { spawn, type Thread } from "../workers.ts";
import type { AudioOptions } from "./_audio.ts";
import type { Part } from "./_partner.ts";

const test = suite("A page's main thread");

const PARTNER = new URL("./_partner.ts", import.meta.url);
const AUDIO = new URL("./_audio.ts", import.meta.url);

const partner = (part: Part): Promise<Thread> => spawn(PARTNER, part);

const queue = { capacity: 4 };

/** The blocking operations, each with the form that does not block. */
const BLOCKING: [name: string, call: () => unknown][] = [
  ["lockAsync", () => Mutex.create().lock()],
  ["readAsync", () => RwLock.create().read()],
  ["writeAsync", () => RwLock.create().write()],
  ["waitAsync", () => {
    const mutex = Mutex.create();
    using _held = mutex.tryLock()!;
    Condition.create().wait(mutex);
  }],
  ["acquireAsync", () => Semaphore.create(1).acquire()],
  ["waitAsync", () => Event.create().wait()],
  ["waitAsync", () => Latch.create(1).wait()],
  ["arriveAndWaitAsync", () => Barrier.create(1).arriveAndWait()],
  ["runAsync", () => Once.create().run(() => {})],
  ["pushIntAsync", () => SpscQueue.create(queue).pushInt(1)],
  ["popIntAsync", () => MpmcQueue.create(queue).popInt()],
  ["popIntAsync", () => LockFreeQueue.create({ capacity: 4 }).popInt()],
  ["popAsync", () => RecordRing.create({ capacity: 64 }).pop()],
  ["popIntAsync", () => Broadcast.create(queue).subscribe().popInt()],
  [
    "sendAsync",
    () => Channel.create({ codec: codec.json, capacity: 64 }).send(1),
  ],
  [
    "callAsync",
    () =>
      CallRing.create({ slots: 1, request: 4, reply: 4 }).call(
        new Uint8Array(1),
      ),
  ],
  ["waitAsync", () => WorkCounter.create(1).wait()],
];

for (const [name, call] of BLOCKING) {
  test(`${call} is refused, and names ${name}`, () => {
    assert.throws(
      call,
      (error: Error) =>
        error instanceof TypeError && error.message.includes(name),
    );
  });
}

test("a lock that a worker holds is awaited, and the page goes on", async () => {
  const mutex = Mutex.create();
  const thread = await partner({ part: "hold", mutex: mutex.handle });
  await thread.next(); // it holds it
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  const waiting = mutex.lockAsync();
  setTimeout(() => thread.post("unlock"), 100);
  using guard = await waiting;
  clearInterval(timer);
  thread.stop();
  assert.is(guard.abandoned, false);
  assert.ok(ticks >= 3, `${ticks} ticks of a timer`);
});

test("numbers come from a worker that blocks, in order", async () => {
  const numbers = SpscQueue.create({ capacity: 16 });
  const thread = await partner({ part: "count", to: numbers.handle, n: 5000 });
  let expected = 0;
  for await (const number of numbers) assert.is(number, expected++);
  assert.is(expected, 5000);
  thread.stop();
});

test("calls are answered by a worker that blocks", async () => {
  const ring = CallRing.create({ slots: 8, request: 4, reply: 4 });
  const thread = await partner({ part: "double", calls: ring.handle });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => ring.callAsync(Int32Array.of(i))),
  );
  answers.forEach((answer, i) => {
    assert.is(new Int32Array(answer!.slice().buffer)[0], 2 * i);
  });
  ring.close();
  thread.stop();
});

/** How well a page responds: the longest delays in ms. */
interface Delays {
  frame: number;
  timer: number;
  abort: number;
}

/** Measures how well the page responds for a second. */
function delaysNow(): Promise<Delays> {
  const delays: Delays = { frame: 0, timer: 0, abort: 0 };
  const begin = performance.now();
  const late = (due: number) => performance.now() - begin - due;
  const lateOf = (name: "timer" | "abort", due: number) => () => {
    delays[name] = Math.max(delays[name], late(due));
  };
  for (let due = 50; due < 1000; due += 50) {
    setTimeout(lateOf("timer", due), due);
    AbortSignal.timeout(due).onabort = lateOf("abort", due);
  }
  return new Promise((resolve) => {
    let last = begin;
    const onFrame = () => {
      const now = performance.now();
      delays.frame = Math.max(delays.frame, now - last);
      last = now;
      if (now - begin < 1100) requestAnimationFrame(onFrame);
      else resolve(delays);
    };
    requestAnimationFrame(onFrame);
  });
}

test("a loop of awaits that are always ready leaves the page responsive", async () => {
  const WORKERS = 4;
  const beside = async (part: Part, body: () => Promise<Delays>) => {
    const threads = await Promise.all(
      Array.from({ length: WORKERS }, () => partner(part)),
    );
    const delays = await body();
    for (const thread of threads) thread.stop();
    return delays;
  };
  // A loop that starves the page does so in every round; other load does not.
  for (let round = 1;; round++) {
    const control = await beside({ part: "spin" }, delaysNow);
    const numbers = MpmcQueue.create({ capacity: 1024 });
    const end = new AbortController();
    let count = 0;
    const to = numbers.handle;
    const found = await beside({ part: "saturate", to }, async () => {
      const { signal } = end;
      await numbers.popIntAsync(); // they have begun
      const loop = (async () => {
        for await (const n of numbers.values({ signal })) count += n as number;
      })().catch((reason) => assert.is(reason, "over"));
      const delays = await delaysNow();
      end.abort("over");
      await loop;
      return delays;
    });
    console.log(`| ${JSON.stringify({ control, found, count })}`);
    const worse = (["frame", "timer", "abort"] as const)
      .filter((name) => found[name] > control[name] + 16);
    if (worse.length === 0 && count > 1000) break;
    const told = JSON.stringify({ control, found, count });
    assert.ok(round < 12, `in each of ${round} rounds; the last one: ${told}`);
  }
});

/** The most time that `for await` may take, in that of as many bare awaits. */
const MOST_AWAITS = 5;

test("for await takes an int in the time of a few awaits", async () => {
  const N = 1_000_000;
  const numbers = MpmcQueue.create({ capacity: N });
  for (let round = 1;; round++) {
    let begin = performance.now();
    for (let i = 0; i < N; i++) await i;
    const control = performance.now() - begin;
    for (let i = 0; i < N; i++) numbers.tryPushInt(1);
    begin = performance.now();
    let count = 0;
    for await (const n of numbers) {
      count += n as number;
      if (count === N) break;
    }
    const took = performance.now() - begin;
    console.log(
      `| a million ints: ${Math.round(took)} ms by for await, ` +
        `${Math.round(control)} ms by bare awaits`,
    );
    if (took < MOST_AWAITS * control) break;
    assert.ok(round < 5, `${took} ms; as many awaits take ${control} ms`);
  }
});

test("waitAny tells which of two workers was first", async () => {
  const one = Event.create();
  const other = Event.create();
  const thread = await partner({ part: "set", event: other.handle });
  assert.is(await waitAny([one, other], { timeout: 10_000 }), 1);
  thread.stop();
});

test("a worker terminated with the lock is noticed", async () => {
  const mutex = Mutex.create();
  const thread = await partner({ part: "hold", mutex: mutex.handle });
  const id = await thread.next<number>();
  assert.is(mutex.owner, id);
  assert.is.not(id, agentId());
  const exited = new Promise<number>((resolve) => onAgentExit(id, resolve));
  thread.stop();
  assert.is(await exited, id);
  assert.is(mutex.abandon(id), 1);
  using guard = await mutex.tryLockAsync({ timeout: 10_000 });
  assert.is(guard!.abandoned, true);
});

test("a thread of C squares what a worker sends the page", async () => {
  const { href } = new URL("/example.mjs", location.origin);
  const { default: createModule } = await import(href);
  const program = await createModule();
  assert.is(program._start(), 0);
  const memory: WebAssembly.Memory = program.wasmMemory;
  const numbers = new MpmcQueue(memory, program._get_numbers() >>> 0);
  const squares = new MpmcQueue(memory, program._get_squares() >>> 0);
  const thread = await partner({ part: "number", to: numbers.handle, n: 100 });
  let expected = 1;
  for await (const square of squares) assert.is(square, expected++ ** 2);
  assert.is(expected, 101);
  thread.stop();
});

test("C does not block the page, unless the program allows it", async () => {
  const { href } = new URL("/example.mjs", location.origin);
  const { default: createModule } = await import(href);
  const program = await createModule();
  const begin = performance.now();
  assert.is(program._refuse_to_block(), 0);
  // Each of 14 forms would have taken 300 ms.
  assert.ok(performance.now() - begin < 3000, "it was not at once");
  assert.is(program._block_if_allowed(), program._timed_out());
});

test("an AudioWorklet hears every sample, and answers", async () => {
  const BLOCKS = 200;
  const FRAMES = 128;
  const blocks = SpscQueue.create({ capacity: 256, elementSize: FRAMES * 4 });
  const peaks = MpmcQueue.create({ capacity: 256 });
  const samples = Float32Array.from(
    { length: BLOCKS * FRAMES },
    (_, i) => Math.sin(i / 10),
  );
  for (let i = 0; i < BLOCKS; i++) {
    const block = samples.subarray(i * FRAMES, (i + 1) * FRAMES);
    assert.is(blocks.tryPush(block), true);
  }
  // In the worklet, a pop from a queue that is closed and empty is false.
  blocks.close();
  const length = samples.length + FRAMES;
  const context = new OfflineAudioContext(1, length, 48_000);
  await context.audioWorklet.addModule(AUDIO.href);
  const processorOptions: AudioOptions = {
    blocks: blocks.handle,
    peaks: peaks.handle,
  };
  const node = new AudioWorkletNode(context, "weft", { processorOptions });
  const failed = new Promise<never>((_, reject) => {
    node.onprocessorerror = () => reject(new Error("the processor failed"));
  });
  node.connect(context.destination);
  const rendered = await Promise.race([context.startRendering(), failed]);
  const heard = rendered.getChannelData(0);
  assert.equal(heard.subarray(0, samples.length), samples);
  for (let i = 0; i < BLOCKS; i++) {
    const block = samples.subarray(i * FRAMES, (i + 1) * FRAMES);
    assert.is(peaks.tryPopInt(), Math.round(1000 * Math.max(...block)));
  }
  assert.is(blocks.size, 0);
});
