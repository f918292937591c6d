// also: node, browsers
import * as assert from "uvu/assert";
import { type WorkConfig, WorkCounter } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { spawn } from "../_run/workers.ts";

const WORKER = new URL("./worker.ts", import.meta.url);
const TASKS = 50_000;

const test = suite("WorkCounter in threads");

const schedules: [name: string, config: WorkConfig][] = [
  ["single tasks", {}],
  ["chunks of 7", { chunk: 7 }],
  ["guided ranges", { schedule: "guided", agents: 3 }],
];

/** Starts threads at once; returns how many tasks each took. */
async function share(work: WorkCounter, marks: SharedArrayBuffer) {
  const threads = await Promise.all(
    [true, false, true].map((ranges) =>
      spawn(WORKER, { handle: work.handle, marks, ranges })
    ),
  );
  for (const thread of threads) await thread.next(); // up
  for (const thread of threads) thread.post("go");
  return threads;
}

for (const [name, config] of schedules) {
  test(`hands out ${name}, each once, to three threads`, async () => {
    const work = WorkCounter.create(TASKS, config);
    const marks = new SharedArrayBuffer(TASKS * 4);
    const threads = await share(work, marks);
    await work.waitAsync();
    assert.is(work.completed, TASKS);
    assert.is(work.remaining, 0);
    assert.ok(new Int32Array(marks).every((times) => times === 1));
    let taken = 0;
    for (const thread of threads) taken += await thread.next<number>();
    assert.is(taken, TASKS);
    for (const thread of threads) thread.stop();
  });

  test(`cancel() ends ${name} between two tasks`, async () => {
    const work = WorkCounter.create(TASKS, config);
    const marks = new SharedArrayBuffer(TASKS * 4);
    const threads = await share(work, marks);
    while (work.completed < TASKS / 20) await Promise.resolve();
    work.cancel();
    await work.waitAsync();
    let taken = 0;
    for (const thread of threads) taken += await thread.next<number>();
    assert.is(work.completed, taken);
    const times = new Int32Array(marks);
    assert.ok(times.subarray(0, taken).every((times) => times === 1));
    assert.ok(times.subarray(taken).every((times) => times === 0));
    for (const thread of threads) thread.stop();
  });
}
