// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { Latch } from "../../mod.ts";
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
const { state: STATE } = LAYOUT.latch;
const MAX = 2 ** 30 - 1;

const test = suite("Latch");

test("countDown(), count, tryWait() and tryWait(ms) obey the model", () => {
  const start = fc.oneof(
    fc.nat({ max: 9 }),
    fc.integer({ min: MAX - 9, max: MAX }),
  );
  const n = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(MAX - 2));
  fc.assert(
    fc.property(start, fc.array(n, { maxLength: 30 }), (start, steps) => {
      const latch = Latch.create(start);
      let count = start; // the model
      for (const n of steps) {
        if (n > count) {
          const wrong = () => latch.countDown(n);
          refuses(latch.buffer, wrong, RangeError, `by ${n}`, `is ${count}`);
        } else {
          latch.countDown(n);
          count -= n;
        }
        assert.is(latch.count, count);
        assert.is(latch.tryWait(), count === 0);
        assert.is(latch.tryWait(0.01), count === 0);
        assert.is(latch.count, count);
      }
    }),
  );
});

test("a Latch refuses wrong counts and timeouts", async () => {
  const latch = Latch.create(3);
  const { buffer } = latch;
  for (const n of [0, -1, 1.5, NaN, Infinity, 2 ** 30]) {
    const told = [`The number to count down by`, `received ${n}`];
    refuses(buffer, () => latch.countDown(n), RangeError, ...told);
  }
  for (const n of [-1, 1.5, NaN, Infinity, 2 ** 30]) {
    const wrong = () => Latch.init(buffer, 0, n);
    refuses(buffer, wrong, RangeError, `received ${n}`);
  }
  for (const timeout of [NaN, -1, -Infinity]) {
    const text = `received ${timeout}`;
    refuses(buffer, () => latch.tryWait(timeout), RangeError, text);
    refuses(buffer, () => latch.tryArriveAndWait(timeout), RangeError, text);
    const options = { timeout };
    await rejects(buffer, latch.tryWaitAsync(options), RangeError, text);
    const arrived = latch.tryArriveAndWaitAsync(options);
    await rejects(buffer, arrived, RangeError, text);
  }
  latch.countDown(3);
  refuses(buffer, () => latch.arriveAndWait(), RangeError, "the count is 0");
  await rejects(buffer, latch.arriveAndWaitAsync(), RangeError, "is 0");
});

test("tryWait(timeout) returns false once the time is over", () => {
  const latch = Latch.create(2);
  for (const timeout of [1, 30]) {
    const begin = performance.now();
    assert.is(latch.tryWait(timeout), false);
    const took = performance.now() - begin;
    assert.ok(took >= timeout - 1 && took < timeout + 10_000, `${took} ms`);
  }
  assert.is(latch.tryArriveAndWait(1), false);
  assert.is(latch.count, 1, "the step down stands");
});

test("waits end with the last step, and not before", async () => {
  const latch = Latch.create(3);
  const waits = Array.from({ length: 50 }, () => latch.waitAsync());
  const arrived = latch.arriveAndWaitAsync();
  for (let left = 2; left > 0; left--) {
    assert.is(await nowOf(Promise.race([...waits, arrived])), "pending");
    assert.is(latch.count, left);
    latch.countDown();
  }
  await Promise.all([...waits, arrived]);
  assert.is(wordsOf(latch)[STATE], 0);
  assert.is(await latch.tryWaitAsync({ timeout: 0 }), true);
});

test("waits that time out or are aborted do not end the others", async () => {
  const latch = Latch.create(2);
  const abort = new AbortController();
  const reason = new Error("enough");
  const staying = latch.waitAsync();
  const late = latch.tryWaitAsync({ timeout: 5 });
  const aborted = latch.waitAsync({ signal: abort.signal });
  const arrived = latch.arriveAndWaitAsync({ signal: abort.signal });
  abort.abort(reason);
  for (const wait of [aborted, arrived]) {
    assert.is(await wait.catch((error) => error), reason);
  }
  assert.is(await late, false);
  assert.is(latch.count, 1, "the step down stands");
  const { signal } = abort;
  const never = latch.arriveAndWaitAsync({ signal });
  assert.is(await never.catch((error) => error), reason);
  assert.is(latch.count, 1, "nothing was counted");
  latch.countDown();
  await staying;
});

test("a step down and a wait may meet at any step", async () => {
  const waits: Promise<boolean>[] = [];
  preemptedAnywhere(
    () => Latch.create(1),
    (latch) => void waits.push(latch.tryWaitAsync({ timeout: 5000 })),
    (latch) => {
      if (latch.count > 0) latch.countDown();
    },
    (latch) => assert.is(latch.count, 0),
  );
  preemptedAnywhere(
    () => {
      const latch = Latch.create(2);
      waits.push(latch.tryWaitAsync({ timeout: 5000 }));
      return latch;
    },
    (latch) => latch.countDown(),
    (latch) => latch.countDown(),
    (latch) => assert.is(latch.count, 0),
  );
  assert.ok((await Promise.all(waits)).every(Boolean));
});

test("threads pass a row of latches together", async () => {
  const [threads, latches] = [3, 2000];
  const bytes = Latch.byteLength();
  const memory = new SharedArrayBuffer(latches * bytes);
  for (let i = 0; i < latches; i++) Latch.init(memory, i * bytes, threads);
  const started = await Promise.all(
    Array.from({ length: threads }, () => spawn(AGENT, { memory, latches })),
  );
  for (const thread of started) assert.is(await thread.next(), latches);
  for (const thread of started) thread.stop();
  await turns();
  assert.ok(new Latch(memory, (latches - 1) * bytes).tryWait());
});
