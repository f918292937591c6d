// also: node, browsers
// it waits
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { agentId, Condition, Mutex } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  NEAR_WRAP,
  nowOf,
  passed,
  refuses,
  rejects,
  turns,
  until,
  wordsOf,
} from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./agent.ts", import.meta.url);
const { turn: TURN, even: EVEN, odd: ODD } = LAYOUT.condition;
const ONE_WAITING = 1 << 15;
const OTHER = 5;

/** A condition with its mutex, in turn `turn`. */
function pair(turn = 0): { condition: Condition; mutex: Mutex } {
  const condition = Condition.create();
  const words = wordsOf(condition);
  words[TURN] = turn;
  // Bit 31: the group of the called agents.
  words[turn & 1 ? ODD : EVEN] = (turn + 1 & 2) << 30;
  words[turn & 1 ? EVEN : ODD] = (turn & 2) << 30;
  return { condition, mutex: Mutex.create() };
}

/** Agents that are counted, called or not. */
function counted(condition: Condition): number {
  const words = wordsOf(condition);
  return [EVEN, ODD].reduce(
    (n, i) => n + (words[i]! & 0x7fff) + (words[i]! >> 15 & 0x7fff),
    0,
  );
}

const test = suite("Condition");

test("notify(n) releases the n longest waiters, and notifyAll() all", async () => {
  const op = fc.constantFrom(
    ...["wait", "wait", "wait", "notify", "notifyAll", "abort"] as const,
  );
  const call = fc.record({
    op,
    n: fc.integer({ min: 1, max: 3 }),
    at: fc.nat(),
    together: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 1, ...NEAR_WRAP, 0x7ffffffe, -2),
      fc.array(call, { maxLength: 25 }),
      async (turn, calls) => {
        const { condition, mutex } = pair(turn);
        const results: unknown[] = [];
        const aborts: AbortController[] = [];
        let waiting: number[] = []; // the model
        const asleep = () =>
          results.flatMap((r, i) => r === undefined ? [i] : []);
        /** Waits until all agents went on that may, and turns for any other. */
        const settled = async () => {
          await until(() => asleep().length <= waiting.length);
          await turns();
        };
        for (const { op, n, at, together } of calls) {
          if (op === "abort") {
            // A waiter that is aborted at the moment of a notify may take the
            // call.
            await settled();
            waiting = asleep();
          }
          if (op === "wait") {
            const i = results.push(undefined) - 1;
            const { signal } = aborts[i] = new AbortController();
            const lock = await mutex.lockAsync();
            condition.waitAsync(mutex, { signal }).then(
              () => results[i] = "notified",
              (reason) => results[i] = reason,
            ).then(() => {
              assert.is(mutex.owner, agentId(), "held again");
              lock.unlock();
            });
            waiting.push(i);
          } else if (op === "abort" && waiting.length > 0) {
            const [i] = waiting.splice(at % waiting.length, 1);
            aborts[i!]!.abort("aborted");
          } else if (op !== "abort") {
            if (op === "notify") condition.notify(n);
            else condition.notifyAll();
            waiting = waiting.slice(op === "notify" ? n : Infinity);
          }
          if (together) continue;
          await settled();
          assert.is(asleep().length, waiting.length);
          assert.is(counted(condition), waiting.length);
          waiting = asleep(); // of one group, any may have gone
        }
        condition.notifyAll();
        waiting = [];
        await settled();
        assert.not.ok(results.includes(undefined), "somebody sleeps on");
        assert.is(counted(condition), 0);
        assert.is(mutex.owner, 0);
      },
    ),
    { numRuns: 80 },
  );
});

test("a notify at the moment of an abort releases one waiter, any one", async () => {
  for (const aborted of [0, 1]) {
    const { condition, mutex } = pair();
    const aborts = [new AbortController(), new AbortController()];
    const results: unknown[] = [];
    for (const [i, { signal }] of aborts.entries()) {
      const lock = await mutex.lockAsync();
      condition.waitAsync(mutex, { signal })
        .then(() => "notified", (reason) => reason)
        .then((result) => {
          results[i] = result;
          lock.unlock();
        });
    }
    await turns();
    condition.notify();
    aborts[aborted]!.abort("aborted");
    await turns();
    assert.is(results.filter((result) => result === "notified").length, 1);
    condition.notifyAll();
    await turns();
    const other = results[1 - aborted];
    assert.is(other, "notified", "the other was called, then or now");
    assert.is(counted(condition), 0);
    assert.is(mutex.owner, 0);
  }
});

test("wait() refuses a mutex that this agent does not hold", async () => {
  const { condition, mutex } = pair();
  const { buffer } = condition;
  const text = "does not hold";
  const other = () => condition.wait(condition as never);
  refuses(buffer, other, TypeError, "a Mutex: received a condition");
  refuses(buffer, () => condition.wait(mutex), TypeError, text);
  await rejects(buffer, condition.waitAsync(mutex), TypeError, text);
  const theirs = asAgent(OTHER, () => new Mutex(mutex.buffer));
  using _lock = theirs.lock();
  refuses(buffer, () => condition.wait(mutex), TypeError, text);
  await rejects(buffer, condition.waitAsync(mutex), TypeError, text);
  assert.is(mutex.owner, OTHER);
});

test("a Condition refuses wrong numbers and timeouts", async () => {
  const { condition, mutex } = pair();
  const { buffer } = condition;
  using _lock = mutex.lock();
  for (const n of [0, -1, 1.5, NaN, Infinity, 2 ** 31]) {
    refuses(buffer, () => condition.notify(n), RangeError, `received ${n}`);
  }
  for (const timeout of [NaN, -1, -Infinity]) {
    const text = `received ${timeout}`;
    refuses(buffer, () => condition.tryWait(mutex, timeout), RangeError, text);
    const wait = condition.tryWaitAsync(mutex, { timeout });
    await rejects(buffer, wait, RangeError, text);
  }
  const signal = AbortSignal.abort(new Error("enough"));
  const never = condition.waitAsync(mutex, { signal });
  await rejects(buffer, never, Error, "enough");
  wordsOf(condition)[ODD] = 0x7fff * ONE_WAITING;
  const text = "32767 agents";
  refuses(buffer, () => condition.wait(mutex), RangeError, text);
  await rejects(buffer, condition.waitAsync(mutex), RangeError, text);
  assert.is(mutex.owner, agentId(), "the mutex was unlocked");
});

test("tryWait(timeout) returns false in time, with the mutex held", async () => {
  const { condition, mutex } = pair();
  for (const timeout of [0, 1, 30]) {
    using _lock = mutex.lock();
    const begin = performance.now();
    assert.is(condition.tryWait(mutex, timeout), false);
    const took = performance.now() - begin;
    assert.ok(took >= timeout - 1 && took < timeout + 10_000, `${took} ms`);
    assert.is(mutex.owner, agentId());
    assert.is(await condition.tryWaitAsync(mutex, { timeout }), false);
    assert.is(mutex.owner, agentId());
    assert.is(counted(condition), 0);
  }
  assert.is(mutex.owner, 0, "one guard for all of it");
});

test("a timeout or an abort waits for the mutex, however long", async () => {
  const { condition, mutex } = pair();
  const abort = new AbortController();
  const { signal } = abort;
  const waits = [{ timeout: 200 }, { signal }].map(async (options) => {
    const lock = await mutex.lockAsync();
    const limits = { timeout: Infinity, ...options };
    const result = await condition.tryWaitAsync(mutex, limits)
      .catch((reason) => reason);
    assert.is(mutex.owner, agentId());
    lock.unlock();
    return result;
  });
  await turns();
  const theirs = asAgent(OTHER, () => new Mutex(mutex.buffer));
  theirs.lock();
  abort.abort("aborted");
  await passed(250);
  assert.is(await nowOf(Promise.race(waits)), "pending");
  assert.is(counted(condition), 0, "they no longer wait to be notified");
  condition.notify(); // reaches nobody
  theirs.unlock();
  assert.equal(await Promise.all(waits), [false, "aborted"]);
});

test("a later waiter takes no call of an earlier one", async () => {
  const { condition, mutex } = pair();
  const order: string[] = [];
  const waits = async (name: string) => {
    using _lock = await mutex.lockAsync();
    await condition.waitAsync(mutex);
    order.push(name);
  };
  const first = [waits("a"), waits("b"), waits("c")];
  await until(() => counted(condition) === 3);
  condition.notify(); // for one of the three, which did not go yet
  const late = [waits("x"), waits("y")];
  condition.notify();
  await turns();
  condition.notify();
  await Promise.all(first);
  assert.equal(order.toSorted(), ["a", "b", "c"]);
  await until(() => counted(condition) === 2);
  condition.notifyAll();
  await Promise.all(late);
});

test("notify() costs little more with many waiters in one agent", async () => {
  const time = async (count: number) => {
    const { condition, mutex } = pair();
    const waits = Array.from({ length: count }, async () => {
      using _lock = await mutex.lockAsync();
      await condition.waitAsync(mutex);
    });
    while (counted(condition) < count) await turns();
    const atomics = Atomics as unknown as Record<"load", unknown>;
    const load = Atomics.load as (...args: never[]) => unknown;
    let steps = 0;
    atomics.load = (...args: never[]) => {
      steps++;
      return load.apply(Atomics, args);
    };
    try {
      for (let i = 0; i < 50; i++) {
        condition.notify();
        await turns(1);
      }
    } finally {
      atomics.load = load;
    }
    condition.notifyAll();
    await Promise.all(waits);
    return steps / 50;
  };
  const [few, many] = [await time(60), await time(3000)];
  assert.ok(many < few * 3 + 20, `${few} looks, with more waiters ${many}`);
});

test("a terminated waiter loses no wake of others", async () => {
  for (const dead of ["called", "waiting"] as const) {
    const { condition, mutex } = pair();
    // It waits in the group whose turn it is, and will never leave.
    wordsOf(condition)[EVEN] = dead === "called" ? 1 : ONE_WAITING;
    const begin = performance.now();
    const wait = mutex.lockAsync().then(async (lock) => {
      await condition.tryWaitAsync(mutex, { timeout: 30_000 });
      lock.unlock();
    });
    await turns();
    condition.notify();
    await wait;
    const took = performance.now() - begin;
    assert.ok(took < 20_000, `${dead}: ${took} ms`);
  }
});

for (const all of [false, true]) {
  const name = all ? "notifyAll()" : "notify()";
  test(`threads lose nothing on the way through a box, by ${name}`, async () => {
    const memory = new SharedArrayBuffer(40);
    const times = all ? 400 : 1500;
    const roles = ["put", "take", "put", "take"];
    const started = await Promise.all(
      roles.map((role) => spawn(AGENT, { memory, role, times, all })),
    );
    for (const thread of started) {
      assert.ok(await thread.next<number>() >= 0);
    }
    for (const thread of started) thread.stop();
    assert.equal([...new Int32Array(memory, 32, 2)], [0, 2 * times]);
    assert.is(counted(new Condition(memory, 8)), 0);
    assert.is(counted(new Condition(memory, 20)), 0);
  });
}
