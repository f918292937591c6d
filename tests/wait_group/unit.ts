// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { Semaphore, WaitGroup } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./agent.ts", import.meta.url);
const { state: STATE } = LAYOUT.wait_group;
const MAX = 2 ** 18 - 1;
const ROUNDS = 2 ** 13;

const test = suite("WaitGroup");

test("a count for create() is refused", () => {
  const create = WaitGroup.create as (...args: unknown[]) => WaitGroup;
  assert.throws(
    () => create.call(WaitGroup, 2),
    /counts 0: received 2: call add\(n\)/,
  );
});

test("add(), done(), count, tryWait() and tryWait(ms) obey the model", () => {
  const n = fc.oneof(
    fc.integer({ min: -4, max: 4 }),
    fc.constantFrom(MAX, MAX - 2, -MAX, 2 - MAX),
  );
  fc.assert(fc.property(fc.array(n, { maxLength: 40 }), (steps) => {
    const group = WaitGroup.create();
    const { buffer } = group;
    let count = 0; // the model
    for (const n of steps) {
      const next = count + n;
      if (next < 0) {
        const wrong = () => group.done(-n);
        refuses(buffer, wrong, RangeError, `by ${-n}`, `is ${count}`);
      } else if (next > MAX) {
        const wrong = () => group.add(n);
        refuses(buffer, wrong, RangeError, `add ${n}`, `is ${count}`);
      } else {
        if (n < 0) group.done(-n);
        else group.add(n);
        count = next;
      }
      assert.is(group.count, count);
      assert.is(group.tryWait(), count === 0);
      assert.is(group.tryWait(0.01), count === 0);
      assert.is(group.count, count);
    }
  }));
});

test("a WaitGroup refuses wrong counts and timeouts", async () => {
  const group = WaitGroup.create();
  const { buffer } = group;
  group.add();
  for (const n of [-1, 1.5, NaN, Infinity, 2 ** 18]) {
    const told = "The number to add must be an integer from 0 to 262143";
    refuses(buffer, () => group.add(n), RangeError, `${told}: received ${n}`);
    refuses(buffer, () => group.done(n), RangeError, `received ${n}`);
  }
  refuses(buffer, () => group.done(0), RangeError, "received 0");
  for (const timeout of [NaN, -1, -Infinity]) {
    const text = `received ${timeout}`;
    refuses(buffer, () => group.tryWait(timeout), RangeError, text);
    const options = { timeout };
    await rejects(buffer, group.tryWaitAsync(options), RangeError, text);
  }
});

test("add(0) changes nothing", () => {
  const group = WaitGroup.create();
  group.add(0);
  assert.equal([...wordsOf(group)], [0]);
});

test("tryWait(timeout) returns false once the time is over", () => {
  const group = WaitGroup.create();
  group.add();
  for (const timeout of [1, 30]) {
    const begin = performance.now();
    assert.is(group.tryWait(timeout), false);
    const took = performance.now() - begin;
    assert.ok(took >= timeout - 1 && took < timeout + 10_000, `${took} ms`);
  }
});

test("waits end when all is done, and not before, round after round", async () => {
  const group = WaitGroup.create();
  for (let round = 0; round < 4; round++) {
    group.add(2);
    const waits = Array.from({ length: 50 }, () => group.waitAsync());
    group.add();
    for (let left = 2; left >= 0; left--) {
      assert.is(await nowOf(Promise.race(waits)), "pending");
      group.done();
      assert.is(group.count, left);
    }
    await Promise.all(waits);
    assert.is(wordsOf(group)[STATE]! & 0x7ffff, 0);
    assert.is(await group.tryWaitAsync({ timeout: 0 }), true);
  }
});

test("a wait ends although the count rises again at once", async () => {
  const group = WaitGroup.create();
  for (const rounds of [1, 2, ROUNDS - 1]) {
    group.add();
    const waits = [group.waitAsync()];
    for (let i = 0; i < rounds; i++) {
      group.done();
      group.add();
      // Only rounds that somebody waits for are counted.
      if (i + 1 < rounds) waits.push(group.waitAsync());
    }
    await Promise.all(waits);
    assert.is(group.count, 1);
    const next = group.waitAsync();
    assert.is(await nowOf(next), "pending");
    group.done();
    await next;
  }
});

test("waits that time out or are aborted do not end the others", async () => {
  const group = WaitGroup.create();
  group.add(2);
  const abort = new AbortController();
  const reason = new Error("enough");
  const staying = group.waitAsync();
  const late = group.tryWaitAsync({ timeout: 5 });
  const aborted = group.waitAsync({ signal: abort.signal });
  abort.abort(reason);
  assert.is(await aborted.catch((error) => error), reason);
  assert.is(await late, false);
  assert.is(group.count, 2);
  group.done(2);
  await staying;
});

test("a step and a wait may meet at any step", async () => {
  const waits: Promise<boolean>[] = [];
  const one = () => {
    const group = WaitGroup.create();
    group.add();
    return group;
  };
  preemptedAnywhere(
    one,
    (group) => void waits.push(group.tryWaitAsync({ timeout: 5000 })),
    (group) => {
      if (group.count > 0) group.done();
    },
    (group) => assert.is(group.count, 0),
  );
  preemptedAnywhere(
    one,
    (group) => group.done(),
    (group) => {
      group.add(2);
      group.done(2);
    },
    (group) => assert.is(group.count, 0),
  );
  assert.ok((await Promise.all(waits)).every(Boolean));
});

test("threads do the tasks of many rounds", async () => {
  const [threads, rounds] = [3, 1000];
  const group = WaitGroup.create();
  const go = Semaphore.create(0);
  const data = { memory: group.buffer, go: go.buffer, rounds };
  const started = await Promise.all(
    Array.from({ length: threads }, () => spawn(AGENT, data)),
  );
  for (let round = 0; round < rounds; round++) {
    group.add(threads);
    go.release(threads);
    await group.waitAsync();
    assert.is(group.count, 0);
  }
  for (const thread of started) assert.is(await thread.next(), rounds);
  for (const thread of started) thread.stop();
  await turns();
});
