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
  const context = new OfflineAudioContext(1, samples.length, 48_000);
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
  assert.equal(rendered.getChannelData(0), samples);
  for (let i = 0; i < BLOCKS; i++) {
    const block = samples.subarray(i * FRAMES, (i + 1) * FRAMES);
    assert.is(peaks.tryPopInt(), Math.round(1000 * Math.max(...block)));
  }
  assert.is(blocks.tryPopInto(new Float32Array(FRAMES)), false);
});
