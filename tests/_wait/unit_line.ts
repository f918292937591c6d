// also: node, browsers
// Waits of one agent that stand in line, and loops of them.
import * as assert from "uvu/assert";
import { Channel, MpmcQueue, Semaphore, waitAny } from "../../mod.ts";
import { blockAsync, type Waiting } from "../../primitives/_wait/wait.ts";
import { turn } from "../../primitives/_wait/turn.ts";
import { suite } from "../_run/harness.ts";
import { turns } from "../_run/model.ts";
import { set, until, WORDS } from "./words.ts";

const test = suite("Waits in line", 60_000);

test("waits are served in line, and one wake serves all it can", async () => {
  const words = WORDS();
  const order: number[] = [];
  const waits = Array.from(
    { length: 50 },
    (_, i) => blockAsync(() => until(words, 1)).then(() => order.push(i)),
  );
  await turns();
  set(words, 1, 1);
  await Promise.all(waits);
  assert.equal(order, [...order.keys()]);
});

test("a wake for all reaches those behind one that sleeps on", async () => {
  const words = WORDS();
  const goals = [9, 2, 9, 1, 2, 9];
  const ended: number[] = [];
  for (const goal of goals) {
    blockAsync(() => until(words, goal, [], { all: true }))
      .then(() => ended.push(goal));
  }
  for (const value of [1, 2, 9]) {
    await turns();
    set(words, value);
    await turns();
    assert.equal(ended, goals.filter((goal) => goal <= value).toSorted());
  }
});

test("many words, many waits: each is woken by its own", async () => {
  const words = new Int32Array(new SharedArrayBuffer(4 * 200));
  const own = (i: number) =>
    blockAsync(function* (): Waiting<number> {
      while (Atomics.load(words, i) === 0) {
        yield { words, index: i, value: 0 };
      }
      return i;
    });
  const waits = Array.from({ length: 200 }, (_, i) => own(i));
  await turns();
  for (let i = 199; i >= 0; i--) {
    Atomics.store(words, i, 1);
    Atomics.notify(words, i, 1);
    assert.is(await waits[i]!, i);
  }
});

test("a wait of this agent does not take the wakes of a blocking call", () => {
  const semaphore = Semaphore.create(0);
  const wait = semaphore.acquireAsync();
  wait.then(() => semaphore.release());
  for (let i = 0; i < 3; i++) {
    const begin = performance.now();
    assert.is(semaphore.tryAcquire(1, 30), false);
    assert.ok(performance.now() - begin < 10_000);
  }
  semaphore.release();
  assert.ok(semaphore.tryAcquire(1, 30), "the permit is there");
  semaphore.release();
  return wait;
});

test("each blocking call ends the native waits of its agent", async () => {
  const words = WORDS();
  const own = blockAsync(() => until(words, 1));
  for (let i = 0; i < 4; i++) {
    await turns(); // it sleeps again
    const other = Atomics.waitAsync(words, 0, 0, 3000); // as another agent's
    assert.ok(other.async);
    assert.is(Semaphore.create(0).tryAcquire(1, 1), false);
    assert.is(Atomics.notify(words, 0), 0, `block ${i}: one waits still`);
    assert.is(await other.value, "ok"); // it is woken, too
  }
  await turns();
  set(words, 1, 1);
  assert.ok(await own);
});

// A loop of awaits that are all ready must leave the event loop free.

test("a loop of ready awaits lets timers and aborts in", async () => {
  const queue = MpmcQueue.create({ capacity: 4 });
  const semaphore = Semaphore.create(1e6);
  const closed = MpmcQueue.create({ capacity: 4 });
  closed.close();
  const channel = Channel.create({ capacity: 4 });
  const messages = channel.values();
  const loops: [string, () => Promise<unknown>][] = [
    ["values", async () => {
      queue.tryPushInt(1);
      await queue.popIntAsync();
    }],
    ["permits", () => semaphore.acquireAsync()],
    ["errors", () => closed.popIntAsync().catch(() => {})],
    ["any", () => waitAny([semaphore])],
    ["messages that are undefined", () => {
      channel.send(undefined);
      return messages.next();
    }],
  ];
  for (const [name, ready] of loops) {
    let ticks = 0;
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      ticks++;
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const signal = AbortSignal.timeout(200);
    const end = last + 30_000;
    const isOver = () => signal.aborted && ticks >= 2;
    while (!isOver() && performance.now() < end) await ready();
    clearInterval(timer);
    // Without the budget no tick comes at all.
    assert.ok(signal.aborted, `${name}: the abort did not come in 30 s`);
    assert.ok(ticks >= 2, `${name}: ${ticks} ticks of 1 ms in 30 s`);
    assert.ok(longest < 20_000, `${name}: no tick for ${longest} ms`);
  }
});

test("results that come late come in order, errors as well", async () => {
  const { period, post } = turn;
  const order: number[] = [];
  const posted: (() => void)[] = [];
  try {
    Object.assign(turn, { period: 0, post: (f: () => void) => posted.push(f) });
    for (let i = 0; i < 5; i++) {
      const wait = blockAsync(() => {
        if (i === 3) throw new Error("late, too");
        return until(WORDS(), 0);
      });
      const note = () => order.push(i);
      wait.then(note, note);
    }
    for (let i = 0; i < 9; i++) await null;
    assert.ok(order.length < 5, "nothing came late");
    const before = order.length;
    while (posted.length > 0) posted.shift()!();
    await turns();
    assert.equal(order, [0, 1, 2, 3, 4]);
    assert.ok(before >= 1);
  } finally {
    Object.assign(turn, { period, post });
  }
});
