// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { agentId, Condition, Mutex, MutexGuard } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  endsWithin,
  nowOf,
  passed,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";

const { state: STATE, starving: STARVING } = LAYOUT.mutex;
const ABANDONED_BIT = 1 << 28;
const HANDOFF_BIT = 1 << 29;
const CONTENDED_BIT = 1 << 30;
const OTHER = 5;

/** The views of a mutex of this agent and of another one. */
function pair(): { mine: Mutex; theirs: Mutex } {
  const mine = Mutex.create();
  return { mine, theirs: asAgent(OTHER, () => new Mutex(mine.buffer)) };
}

/** The state of a mutex, read from its words. */
const words = (mutex: Mutex) => [...wordsOf(mutex)];

const test = suite("Mutex");

test("tryLock(), tryLock(ms), unlock() and abandon() obey the model", () => {
  const op = fc.constantFrom(
    ...["tryLock", "lock", "unlock", "abandon", "dispose"] as const,
  );
  const calls = fc.array(fc.tuple(op, fc.nat({ max: 2 })));
  fc.assert(fc.property(calls, (calls) => {
    const memory = Mutex.create().buffer;
    const agents = [1, 2, 2 ** 28 - 1];
    const views = agents.map((id) => asAgent(id, () => new Mutex(memory)));
    const guards: (MutexGuard | undefined)[] = [];
    let owner = -1; // the model: an index, or -1
    let abandoned = false;
    for (const [op, who] of calls) {
      const mutex = views[who]!;
      if (op === "lock" && owner === who) {
        refuses(
          memory,
          () => mutex.tryLock(0.01),
          TypeError,
          `agent ${agents[who]}`,
        );
      } else if (op === "tryLock" || op === "lock") {
        const guard = op === "lock" ? mutex.tryLock(0.01) : mutex.tryLock();
        assert.is(guard !== undefined, owner === -1);
        if (guard === undefined) continue;
        assert.is(guard.mutex, mutex);
        assert.is(guard.abandoned, abandoned);
        guards[who] = guard;
        owner = who;
        abandoned = false;
      } else if (op === "unlock" && owner !== who) {
        const holder = owner < 0
          ? "nobody does"
          : `agent ${agents[owner]} does`;
        refuses(memory, () => mutex.unlock(), TypeError, holder);
      } else if (op === "unlock") {
        mutex.unlock();
        owner = -1;
        guards[who] = undefined; // unlocked behind its back: not to be used
      } else if (op === "dispose") {
        const guard = guards[who];
        guards[who] = undefined;
        if (guard === undefined || owner !== who) continue;
        guard[Symbol.dispose]();
        assert.is(guard.mutex, undefined);
        guard[Symbol.dispose](); // once more changes nothing
        guard.unlock();
        owner = -1;
      } else {
        assert.is(views[0]!.abandon(agents[who]!), owner === who ? 1 : 0);
        if (owner !== who) continue;
        owner = -1;
        abandoned = true;
      }
      assert.is(mutex.owner, owner < 0 ? 0 : agents[owner]);
    }
  }));
});

test("a free Mutex has only zero words again", () => {
  const { mine, theirs } = pair();
  for (const mutex of [mine, theirs]) {
    mutex.lock().unlock();
    assert.equal(words(mine), [0, 0]);
    mutex.tryLock()!.unlock();
    assert.equal(words(mine), [0, 0]);
  }
});

test("Mutex.init() makes any memory an unlocked mutex", () => {
  const memory = new SharedArrayBuffer(16);
  new Uint8Array(memory).fill(0xff);
  const mutex = Mutex.init(memory, 4);
  assert.equal([...new Int32Array(memory)], [-1, 0, 0, -1]);
  mutex.lock().unlock();
});

test("lock() throws a TypeError in the agent that holds it", async () => {
  const mutex = Mutex.create();
  using _lock = await mutex.lockAsync();
  const relock = () => mutex.lock();
  refuses(mutex.buffer, relock, TypeError, "twice", `${agentId()}`);
  for (const timeout of [10, Infinity]) {
    const relock = () => mutex.tryLock(timeout);
    refuses(mutex.buffer, relock, TypeError, "twice", `${agentId()}`);
    assert.is(mutex.tryLock(), undefined);
  }
});

test("tryLock(timeout) returns undefined once the time is over", () => {
  const { mine, theirs } = pair();
  theirs.lock();
  for (const timeout of [0, 1, 30]) {
    const begin = performance.now();
    assert.is(mine.tryLock(timeout), undefined);
    const took = performance.now() - begin;
    assert.ok(took >= timeout - 1 && took < timeout + 10_000, `${took} ms`);
  }
  theirs.unlock();
  assert.equal(words(mine), [0, 0].with(1, words(mine)[STARVING]!));
});

test("tryLock() and tryLockAsync() refuse a wrong timeout", async () => {
  const mutex = Mutex.create();
  for (const timeout of [NaN, -1, -Infinity]) {
    const wrong = () => mutex.tryLock(timeout);
    refuses(mutex.buffer, wrong, RangeError, `received ${timeout}`);
    const error = await mutex.tryLockAsync({ timeout }).catch((error) => error);
    assert.instance(error, RangeError);
    assert.match(error.message, `received ${timeout}`);
    assert.is(mutex.owner, 0);
  }
});

test("tryLock() takes a mutex that is kept for a sleeper", () => {
  const { mine } = pair();
  wordsOf(mine)[STATE] = HANDOFF_BIT | CONTENDED_BIT;
  using lock = mine.tryLock();
  assert.ok(lock);
  assert.is(words(mine)[STATE], agentId() | CONTENDED_BIT);
});

test("tryLock(timeout) takes a mutex kept for a dead sleeper", () => {
  const { mine } = pair();
  wordsOf(mine).set([HANDOFF_BIT | CONTENDED_BIT, 1]);
  const begin = performance.now();
  using lock = mine.tryLock(30_000);
  assert.ok(lock, "the hand-off outlived its sleeper");
  assert.ok(performance.now() - begin < 20_000);
});

test("tryLockAsync() takes a mutex kept for a dead sleeper", async () => {
  const { mine } = pair();
  wordsOf(mine).set([HANDOFF_BIT | CONTENDED_BIT, 1]);
  const begin = performance.now();
  using lock = await mine.tryLockAsync({ timeout: 30_000 });
  assert.ok(lock, "the hand-off outlived its sleeper");
  assert.ok(performance.now() - begin < 20_000);
});

test("a sleeper that gives up does not keep the mutex", async () => {
  const { mine, theirs } = pair();
  wordsOf(mine)[STARVING] = 1;
  theirs.lock();
  const abort = new AbortController();
  const wait = mine.lockAsync({ signal: abort.signal }).catch(() => "aborted");
  await turns();
  theirs.unlock();
  abort.abort(); // after the wake, and before this agent hears of it
  assert.is(await wait, "aborted");
  assert.is(words(mine)[STATE], 0);
});

test("tryLock() never answers a guard of a lock it does not hold", () => {
  const starts = [
    ABANDONED_BIT,
    HANDOFF_BIT | CONTENDED_BIT,
    OTHER,
    OTHER | CONTENDED_BIT,
    0,
  ];
  for (const from of starts) {
    for (const to of starts) {
      preemptedAnywhere<{ mine: Mutex; guard?: MutexGuard | undefined }>(
        () => {
          const { mine } = pair();
          wordsOf(mine)[STATE] = from;
          return { mine };
        },
        (scenario) => {
          scenario.guard = scenario.mine.tryLock();
        },
        ({ mine }) => {
          Atomics.compareExchange(wordsOf(mine), STATE, from, to);
        },
        ({ mine, guard }, at) => {
          const held = mine.owner === agentId();
          const path = `${from.toString(16)} -> ${to.toString(16)} at ${at}`;
          assert.is(guard !== undefined, held, path);
        },
      );
    }
  }
});

test("unlock(), tryLock() and abandon() may meet at any step", () => {
  const ops: Record<string, (mutex: Mutex) => unknown> = {
    unlock: (mutex) => {
      try {
        mutex.unlock();
        return true;
      } catch {
        return false;
      }
    },
    tryLock: (mutex) => mutex.tryLock(),
    abandon: (mutex) => mutex.abandon(OTHER) === 1,
  };
  for (const bits of [0, CONTENDED_BIT]) {
    for (const starving of [0, 1]) {
      for (const [first, run] of Object.entries(ops)) {
        for (const [second, meet] of Object.entries(ops)) {
          // An agent that is abandoned must never run again.
          const both = `${first} ${second}`;
          if (/abandon/.test(both) && /unlock/.test(both)) continue;
          preemptedAnywhere(
            () => {
              const agents = pair();
              agents.theirs.lock();
              wordsOf(agents.mine)[STATE]! |= bits;
              wordsOf(agents.mine)[STARVING] = starving;
              return { ...agents, results: [] as unknown[] };
            },
            ({ theirs, results }) => results.push(run(theirs)),
            ({ mine, results }) => results.push(meet(mine)),
            ({ mine, theirs, results }, at) => {
              const path = `${first}, ${second} at ${at}: ${words(mine)}`;
              const locks = results.filter((r) => r instanceof MutexGuard);
              const frees = results.filter((r) => r === true).length;
              const free = mine.owner === 0;
              assert.is(1 + locks.length - frees, free ? 0 : 1, path);
              // However it ended, the mutex can be locked.
              if (mine.owner === agentId()) mine.unlock();
              else if (!free) theirs.unlock();
              assert.ok(mine.tryLock(), path);
            },
          );
        }
      }
    }
  }
});

test("abandon() wakes a waiter, whose guard alone says abandoned", async () => {
  const { mine, theirs } = pair();
  theirs.lock();
  const waits = [mine.lockAsync(), mine.lockAsync()];
  assert.is(await nowOf(waits[0]!), "pending");
  assert.is(mine.abandon(0), 0);
  assert.is(mine.abandon(agentId()), 0);
  assert.is(mine.abandon(OTHER), 1);
  assert.is(mine.abandon(OTHER), 0);
  const woken = await endsWithin(700, waits[0]!);
  assert.ok(woken, "found by a look, not by a wake");
  const first = await waits[0]!;
  assert.is(first.abandoned, true);
  first.unlock();
  const second = await waits[1]!;
  assert.is(second.abandoned, false);
  second.unlock();
  assert.is(mine.owner, 0);
});

test("lockAsync() serves many waits of one agent in line", async () => {
  const { mine, theirs } = pair();
  theirs.lock();
  const order: number[] = [];
  let inside = 0;
  const waits = Array.from({ length: 100 }, async (_, i) => {
    using _lock = await mine.lockAsync();
    assert.is(inside++, 0);
    order.push(i);
    if (i % 10 === 0) await passed(1);
    assert.is(--inside, 0);
  });
  await passed(5);
  theirs.unlock();
  await Promise.all(waits);
  assert.equal(order, order.toSorted((a, b) => a - b));
  assert.is(mine.owner, 0);
});

test("lockAsync({ priority }) is served by priority, then in line", async () => {
  const some = fc.array(fc.integer({ min: -2, max: 2 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(some, async (priorities) => {
      const { mine, theirs } = pair();
      theirs.lock();
      const order: number[] = [];
      const waits = priorities.map(async (priority, i) => {
        // 0 is what it is unless given.
        const options = priority === 0 ? {} : { priority };
        using _lock = await mine.lockAsync(options);
        order.push(i);
      });
      await turns();
      assert.is(mine.awaiting, priorities.length);
      theirs.unlock();
      await Promise.all(waits);
      const expected = [...priorities.keys()]
        .sort((a, b) => priorities[b]! - priorities[a]! || a - b);
      assert.equal(order, expected);
      assert.equal([mine.awaiting, mine.owner], [0, 0]);
    }),
    { numRuns: 30 },
  );
});

test("cancel() ends what this agent awaits, and nothing else", async () => {
  const { mine, theirs } = pair();
  assert.is(mine.cancel(), 0);
  theirs.lock();
  const said = (wait: Promise<unknown>) =>
    wait.then(() => "done", (reason) => reason);
  const own = new AbortController();
  const waits = [
    said(mine.lockAsync()),
    said(mine.lockAsync({ signal: own.signal })),
    said(mine.tryLockAsync({ timeout: 10_000 })),
    said(mine.waitForUnlockAsync()),
    said(mine.runAsync(() => assert.unreachable("it never has the lock"))),
  ];
  await turns();
  assert.is(mine.awaiting, 5);
  assert.is(mine.cancel("over"), 5);
  assert.equal([mine.awaiting, mine.cancel()], [0, 0]);
  assert.equal(await Promise.all(waits), Array(5).fill("over"));
  own.abort(); // nobody listens any more
  const again = said(mine.lockAsync());
  await turns();
  mine.cancel();
  assert.is((await again as Error).name, "AbortError");
  theirs.unlock();
  using lock = mine.tryLock();
  assert.ok(lock, "nothing was left behind");
});

test("cancel() leaves a condition its lock", async () => {
  const { mine, theirs } = pair();
  const condition = Condition.create();
  mine.lock();
  const waiting = condition.waitAsync(mine);
  await turns();
  theirs.lock();
  condition.notify();
  await turns(3);
  assert.equal([mine.awaiting, mine.cancel()], [0, 0]);
  theirs.unlock();
  await waiting;
  assert.is(mine.owner, agentId());
});

test("waitForUnlockAsync() leaves the mutex as it was", async () => {
  const { mine, theirs } = pair();
  await mine.waitForUnlockAsync(); // nobody holds it
  assert.is(mine.owner, 0);
  theirs.lock();
  const order: string[] = [];
  const waits = [
    mine.waitForUnlockAsync().then(() => order.push("unlocked")),
    mine.lockAsync().then((guard) => {
      order.push("locked");
      guard.unlock();
    }),
  ];
  await turns();
  assert.equal(order, []);
  theirs.unlock();
  await Promise.all(waits);
  assert.equal(order, ["unlocked", "locked"]);
  theirs.lock();
  const waiting = mine.waitForUnlockAsync();
  await turns();
  mine.abandon(OTHER);
  await waiting;
  using lock = mine.tryLock();
  assert.is(lock!.abandoned, true, "the next one that locks it is told");
});

test("a wrong priority is refused", async () => {
  const { mine } = pair();
  for (const wrong of [NaN, "1", null, {}]) {
    const options = { priority: wrong as number };
    const type = typeof wrong === "number" ? RangeError : TypeError;
    await rejects(mine.buffer, mine.lockAsync(options), type, "priority");
    await rejects(mine.buffer, mine.tryLockAsync(options), type, "priority");
    const wait = mine.waitForUnlockAsync(options);
    await rejects(mine.buffer, wait, type, "priority");
  }
});
