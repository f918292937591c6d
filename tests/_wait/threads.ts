// also: node
// it waits
// Waits of several agents that must leave each other's wakes alone.
import type { Handle } from "../../mod.ts";
import * as assert from "uvu/assert";
import process from "node:process";
import { Worker } from "node:worker_threads";
import {
  agentId,
  MpmcQueue,
  Mutex,
  type Region,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../../mod.ts";
import type { OrphanJob } from "./orphan.ts";
import { type SleeperJob, WAITS } from "./sleeper.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, endsWithin, passed } from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const CROWD = new URL("./crowd.ts", import.meta.url);
const ORPHAN = new URL("./orphan.ts", import.meta.url);
const SLEEPER = new URL("./sleeper.ts", import.meta.url);
const WAITER = new URL("../semaphore/waiter.ts", import.meta.url);

const test = suite("Waits in threads");

test("async waits and blocking calls of one agent share a word", async () => {
  const semaphore = Semaphore.create(0);
  const done = Semaphore.create(0);
  const { handle } = semaphore;
  const data = { handle, done: done.handle, rounds: 150 };
  const threads = [await spawn(CROWD, data), await spawn(CROWD, data)];
  for (const thread of threads) await thread.next(); // up
  let ended = false;
  Promise.all(threads.map((thread) => thread.next())).then(() => ended = true);
  let permits = 0;
  let used = 0;
  while (!ended) {
    semaphore.release();
    permits++;
    // Mostly one at a time. Not every use is counted: a wait of an agent may
    // have its permit while the agent blocks for another one.
    for (let ms = 0; ms < 20_000 && !ended; ms += 20) {
      if (await done.tryAcquireAsync(1, { timeout: 20 })) {
        used++;
        break;
      }
      if (semaphore.available === 0) break;
      assert.ok(ms < 19_000, "all are asleep beside a permit");
    }
  }
  while (done.tryAcquire()) used++;
  assert.is(used + semaphore.available, permits);
  for (const thread of threads) thread.stop();
});

test("an aborted wait takes no wake from another agent's", async () => {
  for (const blocks of [true, false]) {
    const semaphore = Semaphore.create(0);
    const thread = await spawn(WAITER, { handle: semaphore.handle, blocks });
    await thread.next(); // up
    let late = 0;
    for (let round = 0; round < 50; round++) {
      const abort = new AbortController();
      const { signal } = abort;
      const gone = semaphore.acquireAsync(1, { signal }).catch(() => {});
      thread.post(1);
      await thread.next(); // waiting, behind ours
      await passed(1);
      abort.abort();
      await gone;
      const served = thread.next();
      semaphore.release();
      if (!await endsWithin(700, served)) {
        late++;
        await served;
      }
    }
    assert.ok(late <= 1, `${late} wakes in 50 went to a wait given up`);
    thread.stop();
  }
});

test("an agent that gave up and then computes takes no wake", async () => {
  const late: number[] = [];
  for (let round = 0; round < 4; round++) {
    const semaphore = Semaphore.create(0);
    const { handle } = semaphore;
    const abort = new AbortController();
    const { signal } = abort;
    const gone = semaphore.acquireAsync(1, { signal }).catch(() => {});
    const notes = new SharedArrayBuffer(16);
    const words = new Int32Array(notes);
    const threads = [];
    for (const role of ["acquire", "release"] as const) {
      const job: OrphanJob = { handle, role, notes };
      const thread = await spawn(ORPHAN, job);
      await thread.next(); // up
      threads.push(thread);
    }
    await passed(100); // the one sleeps, behind ours
    abort.abort();
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    const end = performance.now() + 1500;
    while (performance.now() < end && Atomics.load(words, 1) === 0);
    await gone;
    for (const thread of threads) await thread.next(); // done
    for (const thread of threads) thread.stop();
    const took = words[3]! - words[2]! | 0;
    if (took > 400) late.push(took);
  }
  // The look each second would end it, but only after 500 ms or more.
  assert.ok(late.length <= 1, `a release took ${late} ms to be seen`);
});

/** An idle primitive for each kind of wait. */
function idle(wait: keyof typeof WAITS): Region {
  if (wait.startsWith("lock")) {
    const mutex = Mutex.create();
    asAgent(5, () => new Mutex(mutex.buffer)).lock();
    return mutex;
  }
  if (wait.startsWith("acquire")) return Semaphore.create(0);
  if (wait.startsWith("wait")) return WorkCounter.create(1);
  const Class = wait.startsWith("spsc") ? SpscQueue : MpmcQueue;
  const queue = Class.create({ capacity: 1 });
  if (wait.includes("push")) queue.pushInt(1);
  if (queue instanceof SpscQueue) queue.abandon(agentId()); // for the sleeper
  return queue;
}

test("eight agents asleep in each kind of wait use no CPU", async () => {
  const kinds = Object.keys(WAITS)
    .filter((wait) => wait !== "hold") as (keyof typeof WAITS)[];
  const blocking = kinds.filter((wait) => !wait.includes("Async"));
  assert.is(blocking.length, 8);
  const asleep = new SharedArrayBuffer(4);
  const threads = kinds.map((wait) => {
    const { handle } = idle(wait);
    const workerData: SleeperJob = {
      handle: handle as Handle<never>,
      wait,
      asleep,
    };
    return new Worker(SLEEPER, { workerData });
  });
  while (new Int32Array(asleep)[0]! < threads.length) await passed(20);
  // Work that is left from the start does not count, nor does a garbage
  // collection.
  const shares: number[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    await passed(500);
    const before = process.cpuUsage();
    await passed(3000);
    const { user, system } = process.cpuUsage(before);
    shares.push((user + system) / 1000 / 3000);
    if (shares.at(-1)! < 0.01) break;
  }
  const percent = shares.map((share) => `${(share * 100).toFixed(2)} %`);
  assert.ok(shares.at(-1)! < 0.01, `used ${percent} of a core`);
  await Promise.all(threads.map((thread) => thread.terminate()));
});
