// also: node, browsers
// it waits
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { Semaphore } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
} from "../_run/model.ts";
import { served, state, type Wait, wait } from "./waits.ts";

const { claim } = LAYOUT.semaphore;
const MAX = 2 ** 30 - 1;
const NO_COUNT = [0, -1, 1.5, 2 ** 30, NaN, Infinity];

const test = suite("Semaphore");

test("tryAcquire(), drain() and release() count as the model", () => {
  const start = fc.oneof(
    fc.nat({ max: 8 }),
    fc.integer({ min: MAX - 8, max: MAX }),
  );
  const op = fc.constantFrom(
    ...["tryAcquire", "acquire", "release", "drain"] as const,
  );
  const n = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(MAX));
  const calls = fc.array(fc.tuple(op, n, fc.boolean()), {
    maxLength: 60,
  });
  fc.assert(fc.property(start, calls, (start, calls) => {
    const semaphore = Semaphore.create(start);
    const other = asAgent(2, () => new Semaphore(semaphore.buffer));
    let free = start; // the model
    for (const [op, n, mine] of calls) {
      const view = mine ? semaphore : other;
      if (op === "release" && free + n > MAX) {
        const wrong = () => view.release(n);
        refuses(view.buffer, wrong, RangeError, `${n} permits`, `${free}`);
      } else if (op === "release") {
        view.release(n);
        free += n;
      } else if (op === "drain") {
        assert.is(view.drain(), free);
        free = 0;
      } else {
        const done = op === "acquire"
          ? view.tryAcquire(n, 0.01)
          : view.tryAcquire(n);
        assert.is(done, n <= free);
        if (done) free -= n;
      }
      assert.is(view.available, free);
      assert.equal(state(view), [free, 0, 0, 0, 0]);
    }
  }));
});

test("a Semaphore refuses wrong counts and timeouts", async () => {
  const semaphore = Semaphore.create(3);
  const { buffer } = semaphore;
  for (const n of NO_COUNT) {
    const text = `received ${n}`;
    refuses(buffer, () => semaphore.tryAcquire(n), RangeError, text);
    refuses(buffer, () => semaphore.acquire(n), RangeError, text);
    refuses(buffer, () => semaphore.release(n), RangeError, text);
    await rejects(buffer, semaphore.acquireAsync(n), RangeError, text);
  }
  for (const timeout of [NaN, -1, -Infinity]) {
    const text = `received ${timeout}`;
    for (const n of [1, 4]) {
      const wrong = () => semaphore.tryAcquire(n, timeout);
      refuses(buffer, wrong, RangeError, text);
      const later = semaphore.tryAcquireAsync(n, { timeout });
      await rejects(buffer, later, RangeError, text);
    }
  }
  for (const n of [-1, 1.5, 2 ** 30, NaN]) {
    const wrong = () => Semaphore.init(buffer, 0, n);
    refuses(buffer, wrong, RangeError, `received ${n}`);
  }
});

test("no agent can acquire, or release, more than `max`", async () => {
  for (const config of [{ max: 3 }, { max: 3, tracked: 2 }]) {
    const semaphore = Semaphore.create(2, config);
    const { buffer } = semaphore;
    assert.is(semaphore.max, 3);
    assert.is(Semaphore.from(semaphore.handle).max, 3);
    const text = "from 1 to 3: received 4";
    refuses(buffer, () => semaphore.acquire(4), RangeError, text);
    refuses(buffer, () => semaphore.tryAcquire(4, 1), RangeError, text);
    refuses(buffer, () => semaphore.release(4), RangeError, text);
    await rejects(buffer, semaphore.acquireAsync(4), RangeError, text);
    await rejects(buffer, semaphore.tryAcquireAsync(4), RangeError, text);
    semaphore.acquire(2);
    semaphore.release(2);
    assert.is(semaphore.available, 2);
  }
  const semaphore = Semaphore.create(2, { max: 3 });
  const { buffer } = semaphore;
  const wrong = () => semaphore.release(2);
  refuses(buffer, wrong, RangeError, "2 permits: there are 2, and at most 3");
  semaphore.release();
  assert.is(semaphore.available, 3);
  assert.is(Semaphore.create().max, MAX);
  assert.is(Semaphore.create(0, { tracked: 1 }).max, 2047);
});

test("a Semaphore refuses a wrong `max`", () => {
  const { buffer } = Semaphore.create(3);
  for (const max of [0, -1, 1.5, 2 ** 30, NaN]) {
    const wrong = () => Semaphore.init(buffer, 0, 0, { max });
    refuses(buffer, wrong, RangeError, `received ${max}`);
  }
  const more = () => Semaphore.init(buffer, 0, 3, { max: 2 });
  refuses(buffer, more, RangeError, "from 0 to 2: received 3");
  const tracked = () => Semaphore.create(0, { max: 2048, tracked: 1 });
  assert.throws(tracked, RangeError);
  const text = () => Semaphore.create(0, { max: "3" as unknown as number });
  assert.throws(text, TypeError);
});

test("one that wants more than there are does not stop the others", async () => {
  const semaphore = Semaphore.create(2, { max: 2 });
  const mistake = semaphore.acquireAsync(3, { ref: false });
  assert.instance(await mistake.catch((error) => error), RangeError);
  let served = 0;
  const user = async () => {
    for (let i = 0; i < 20; i++) {
      await semaphore.runAsync(() => turns(1));
      served++;
    }
  };
  await Promise.all([user(), user(), user(), user()]);
  assert.is(served, 80);
});

test("tryAcquire(n, timeout) returns false once the time is over", () => {
  const semaphore = Semaphore.create(2);
  for (const [n, timeout] of [[3, 30], [3, 1], [5, 30], [3, 0]] as const) {
    const begin = performance.now();
    assert.is(semaphore.tryAcquire(n, timeout), false);
    const took = performance.now() - begin;
    assert.ok(took >= timeout - 1 && took < timeout + 10_000, `${took} ms`);
    assert.equal(state(semaphore), [2, 0, 0, 0, 0]);
  }
  semaphore.acquire(2);
  assert.is(semaphore.tryAcquire(1, 30), false);
  assert.equal(state(semaphore), [0, 0, 0, 0, 0]);
});

test("release(1) serves the one it is enough for, in any line", async () => {
  for (const order of [[1, 2], [2, 1]]) {
    const semaphore = Semaphore.create(0);
    const waits = order.map((n) => wait(semaphore, n));
    semaphore.release();
    await turns();
    const single = waits.find(({ n }) => n === 1)!;
    const double = waits.find(({ n }) => n === 2)!;
    assert.is(single.result, true, `${order}`);
    assert.is(double.result, undefined);
    semaphore.release(2);
    await turns();
    assert.is(double.result, true);
    assert.equal(state(semaphore), [0, 0, 0, 0, 0]);
  }
});

test("no wait for n sleeps beside n permits, and none is lost", async () => {
  const op = fc.constantFrom(
    ...["wait", "wait", "release", "abort", "time out", "take"] as const,
  );
  const n = fc.integer({ min: 1, max: 4 });
  const call = fc.record({ op, n, at: fc.nat(), together: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 3 }),
      fc.array(call, { maxLength: 25 }),
      async (start, calls) => {
        const semaphore = Semaphore.create(start);
        const waits: Wait[] = [];
        let total = start;
        for (const { op, n, at, together } of calls) {
          if (op === "wait") waits.push(wait(semaphore, n));
          else if (op === "time out") waits.push(wait(semaphore, n, at % 3));
          else if (op === "take") total -= semaphore.tryAcquire(n) ? n : 0;
          else if (op === "abort") waits[at % waits.length]?.abort.abort();
          else {
            semaphore.release(n);
            total += n;
          }
          if (together) continue; // the next call comes in the same turn
          await turns();
          const { available } = semaphore;
          const missed = waits.find((wait) =>
            wait.result === undefined && wait.n <= available
          );
          assert.is(missed, undefined, `sleeps beside ${available}`);
          // The first waiter in line is not behind a claim.
          const first = waits.find((wait) => wait.result === undefined);
          const free = total - served(waits);
          const claims = calls.length > 8; // newcomers may have passed it
          assert.ok(claims || !first || first.n > free, `first: ${free} free`);
        }
        await turns();
        const pending = () => waits.filter((w) => w.result === undefined);
        while (pending().length > 0) {
          semaphore.release(); // whoever is left is served in the end
          total++;
          await turns(5);
        }
        const sum = waits.reduce(
          (s, w) => s + (w.result === true ? w.n : 0),
          0,
        );
        assert.equal(state(semaphore), [total - sum, 0, 0, 0, 0]);
      },
    ),
    { numRuns: 60 },
  );
});

test("a pair of operations may meet at any step", async () => {
  type Scenario = { mine: Semaphore; theirs: Semaphore; waits: Wait[] };
  const ops: Record<string, (view: Semaphore, scenario: Scenario) => void> = {
    "tryAcquire(1)": (view) => void (view.tryAcquire(1) && view.release(1)),
    "tryAcquire(2)": (view) => void (view.tryAcquire(2) && view.release(2)),
    "release(1)": (view) => view.release(1),
    "release(3)": (view) => view.release(3),
    "drain()": (view) => {
      const n = view.drain();
      if (n > 0) view.release(n);
    },
    "wait for 1": (view, { waits }) => void waits.push(wait(view, 1)),
    "wait for 2": (view, { waits }) => void waits.push(wait(view, 2)),
    "abort": (_, { waits }) => waits[0]?.abort.abort(),
  };
  const ended: { path: string; mine: Semaphore; waits: Wait[] }[] = [];
  for (const [one, run] of Object.entries(ops)) {
    for (const [two, meet] of Object.entries(ops)) {
      for (const before of [[], [1], [2], [3, 1]]) {
        preemptedAnywhere<Scenario>(
          () => {
            const mine = Semaphore.create(0);
            const theirs = asAgent(2, () => new Semaphore(mine.buffer));
            const waits = before.map((n) => wait(mine, n));
            return { mine, theirs, waits };
          },
          (scenario) => run(scenario.mine, scenario),
          (scenario) => meet(scenario.theirs, scenario),
          ({ mine, waits }, at) => {
            const path = `${one}, ${two} at ${at}, after ${before}`;
            ended.push({ path, mine, waits });
          },
        );
      }
    }
  }
  await turns(10);
  for (const { path, mine, waits } of ended) {
    const { available } = mine;
    const missed = waits.find((wait) =>
      wait.result === undefined && wait.n <= available
    );
    assert.is(missed, undefined, `${path}: beside ${available}`);
    mine.release(20);
  }
  await turns(10);
  for (const { path, mine, waits } of ended) {
    const left = waits.map((wait) => wait.result);
    assert.ok(!left.includes(undefined), `${path}: ${left}`);
    assert.equal(state(mine).slice(1), [0, 0, 0, 0], path);
  }
});

test("abandon() gives back what a dead agent claimed in advance", async () => {
  const semaphore = Semaphore.create(2);
  const theirs = asAgent(9, () => new Semaphore(semaphore.buffer));
  wait(theirs, 5);
  for (let i = 0; i < 8; i++) {
    theirs.release(1); // newcomers pass it over, until it claims
    await turns();
    if (i < 7) assert.ok(semaphore.tryAcquire(1));
  }
  assert.equal(state(semaphore), [-2, 1, 2, 9, 5]);
  assert.is(semaphore.available, 0);
  assert.is(semaphore.drain(), 0); // what is there is the claimant's
  assert.equal(state(semaphore), [-2, 1, 2, 9, 5]);
  const waits = [wait(semaphore, 1), wait(semaphore, 2)];
  assert.is(semaphore.abandon(0), 0);
  assert.is(semaphore.abandon(8), 0);
  assert.is(semaphore.abandon(9), 5);
  assert.is(semaphore.abandon(9), 0);
  await turns();
  assert.equal(waits.map((wait) => wait.result), [true, true]);
  assert.is(semaphore.available, 0);
});

test("acquireAsync() rejects with the reason of its signal", async () => {
  const semaphore = Semaphore.create(1);
  const signal = AbortSignal.abort("no more");
  const wait = semaphore.acquireAsync(1, { signal });
  assert.is(await wait.catch((reason) => reason), "no more");
  assert.is(semaphore.available, 1);
  assert.is(await nowOf(semaphore.tryAcquireAsync(1, { timeout: 0 })), true);
  assert.is(await nowOf(semaphore.tryAcquireAsync(1, { timeout: 0 })), false);
});

test("acquireAsync(n, { priority }) is served by priority", async () => {
  for (const config of [undefined, { tracked: 2 }]) {
    const semaphore = Semaphore.create(1, config);
    semaphore.acquire();
    const order: number[] = [];
    const waits = [0, 2, 1, 2].map(async (priority, i) => {
      await semaphore.acquireAsync(1, { priority });
      order.push(i);
      semaphore.release();
    });
    await turns();
    assert.equal([semaphore.awaiting, semaphore.waiters], [4, 4]);
    semaphore.release();
    await Promise.all(waits);
    assert.equal(order, [1, 3, 2, 0]);
    assert.equal([semaphore.awaiting, semaphore.waiters], [0, 0]);
    const wrong = semaphore.acquireAsync(1, { priority: NaN });
    await rejects(semaphore.buffer, wrong, RangeError, "priority");
  }
});

test("one that claimed is served behind one with a higher priority", async () => {
  for (const config of [undefined, { tracked: 2 }]) {
    const semaphore = Semaphore.create(1, config);
    semaphore.acquire();
    const order: string[] = [];
    const claiming = semaphore.acquireAsync().then(() => order.push("claimed"));
    const words = new Int32Array(semaphore.buffer, semaphore.byteOffset);
    for (let i = 0; words[claim] === 0; i++) {
      assert.ok(i < 100, "it did not claim");
      semaphore.release();
      assert.ok(semaphore.tryAcquire()); // it finds that this was faster
      await turns();
    }
    const first = semaphore.acquireAsync(1, { priority: 1 })
      .then(() => order.push("first"));
    await turns();
    semaphore.release();
    await claiming;
    semaphore.release();
    await first;
    semaphore.release();
    assert.equal(order, ["claimed", "first"]);
    assert.equal([semaphore.available, semaphore.waiters], [1, 0]);
  }
});

test("cancel() ends what this agent awaits, also of several permits", async () => {
  for (const config of [undefined, { tracked: 2 }]) {
    const semaphore = Semaphore.create(1, config);
    const waits = [2, 3, 2].map((n) =>
      semaphore.acquireAsync(n).catch((reason) => reason)
    );
    await turns();
    assert.is(semaphore.cancel("over"), 3);
    assert.equal(await Promise.all(waits), ["over", "over", "over"]);
    assert.equal(
      [semaphore.available, semaphore.awaiting, semaphore.waiters],
      [1, 0, 0],
    );
  }
});
