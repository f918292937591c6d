// also: node, browsers
// Tests what `watch` writes, and when it ends.
import * as assert from "uvu/assert";
import { agentId, layout, MpmcQueue, Mutex } from "../../mod.ts";
import { AgentTable } from "../../primitives/tools/deadlocks.ts";
import { type Change, watch } from "../../primitives/tools/watch.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { listened } from "../_run/listened.ts";
import { intervalsOf, refuses } from "../_run/model.ts";

const test = suite("watch");

const PARTS = layout({ lock: Mutex, jobs: [MpmcQueue, { capacity: 8 }] });

/** A watch, and what it wrote. */
function watching(every = 1, signal = new AbortController().signal) {
  const shared = PARTS.create();
  const texts: string[] = [];
  const all: Change[][] = [];
  const write = (text: string, changes: readonly Change[]) => {
    texts.push(text);
    all.push([...changes]);
  };
  const stop = watch(shared, { every, write, signal });
  return { shared, texts, all, stop };
}

const passed = (ms: number) =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until something is true; a test that hangs is ended. */
async function until(isTrue: () => boolean) {
  while (!isTrue()) await passed(1);
}

test("the first look tells all, and the next ones what changed", async () => {
  const { shared, texts, all, stop } = watching();
  assert.equal(texts, [
    "lock: Mutex { owner 0, waiters 0 }\n" +
    "jobs: MpmcQueue { size 0, capacity 8, slots 8, waiters 0 }",
  ]);
  await passed(20);
  assert.is(texts.length, 1, "nothing has changed");
  shared.jobs.tryPushInt(4);
  await until(() => texts.length > 1);
  assert.is(
    texts[1],
    "jobs: MpmcQueue { size 0 -> 1, capacity 8, slots 8, waiters 0 } " +
      "tail 0 -> 2",
  );
  const [{ name, primitive, before, after }] = all[1]! as [Change];
  assert.is(name, "jobs");
  assert.is(primitive, shared.jobs);
  assert.equal([before!.facts.size, after.facts.size], [0, 1]);
  const guard = shared.lock.lock();
  const id = agentId();
  await until(() => texts.length > 2);
  assert.is(
    texts[2],
    `lock: Mutex { owner 0 -> ${id}, waiters 0 } state 0 -> ${id}`,
  );
  guard.unlock();
  shared.jobs.close();
  await until(() => texts.slice(3).join().includes("closed"));
  stop();
});

test("problems are told in lines of their own", async () => {
  const { shared, texts, stop } = watching();
  shared.jobs.reserve();
  await until(() => texts.length > 1);
  assert.match(texts[1], /^jobs: .*\n {2}slot 0 is 0: /);
  stop();
});

test("a problem that becomes another one is told", async () => {
  const counter = new Int32Array(new SharedArrayBuffer(8000));
  const queue = MpmcQueue.init(counter.buffer, 0, { capacity: 4 });
  const { length } = LAYOUT.mpmc_queue;
  counter[length] = 99; // the turn of slot 0
  const texts: string[] = [];
  const write = (text: string) => texts.push(text);
  const stop = watch(queue, { every: 1, write });
  assert.match(texts[0]!, "slot 0 is 99");
  counter[length] = 97;
  await until(() => texts.length > 1);
  assert.match(texts[1]!, "slot 0 is 97");
  stop();
});

test("a watch whose first look throws, or aborts, looks no more", async () => {
  const lock = Mutex.create();
  for (const way of ["throws", "aborts"] as const) {
    const control = new AbortController();
    let looks = 0;
    const write = () => {
      looks++;
      if (way === "throws") throw new RangeError("no terminal");
      control.abort();
    };
    const begin = () =>
      watch(lock, { every: 1, write, signal: control.signal });
    if (way === "throws") assert.throws(begin, /no terminal/);
    else begin();
    const guard = lock.lock(); // a change
    await passed(20);
    guard.unlock();
    assert.is(looks, 1, way);
  }
});

test("a watch keeps no process alive", () => {
  assert.equal(intervalsOf(() => watching().stop), [false]);
});

test("it ends by its function, by its signal, or never begins", async () => {
  for (const way of ["function", "signal"] as const) {
    const control = new AbortController();
    const { shared, texts, stop } = watching(1, control.signal);
    shared.lock.lock();
    await until(() => texts.length === 2);
    if (way === "signal") control.abort();
    else stop();
    shared.jobs.tryPushInt(4);
    await passed(20);
    assert.is(texts.length, 2, way);
    stop(); // again
  }
  const { texts } = watching(1, AbortSignal.abort());
  assert.equal(texts, []);
});

test("all watches of one signal have one listener", async () => {
  const { control, signal, listeners } = listened();
  const all = [1, 2, 3].map(() => watching(1, signal));
  assert.equal(listeners, { now: 1, most: 1 });
  all[0]!.stop();
  assert.is(listeners.now, 1);
  control.abort();
  assert.equal(listeners, { now: 0, most: 1 });
  for (const { shared } of all) shared.jobs.tryPushInt(4);
  await passed(20);
  assert.equal(all.map(({ texts }) => texts.length), [1, 1, 1]);
});

test("views without names, and wrong options", () => {
  const lock = Mutex.create();
  const lines: string[] = [];
  const write = (text: string) => lines.push(text);
  watch(lock, { write })();
  watch([lock, lock], { write })();
  watch({ lock, agents: AgentTable.create() }, { write })(); // a layout's parts
  const line = "Mutex { owner 0, waiters 0 }";
  assert.equal(lines, [line, `${line}\n${line}`, `lock: ${line}`]);
  const { buffer } = lock;
  const bad = (options: unknown, type: ErrorConstructor, text: string) =>
    refuses(buffer, () => watch(lock, options as never), type, text);
  for (const every of [0, -1, 0.5, NaN, Infinity, 2 ** 31]) {
    bad({ every }, RangeError, `${every}`);
  }
  bad({ write: 3 }, TypeError, "received 3");
  bad({ signal: 3 }, TypeError, "A signal must be an AbortSignal: received 3");
  bad({ each: 3 }, TypeError, "each");
  refuses(buffer, () => watch([4] as never), TypeError, "Cannot watch 4");
});
