// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { agentId, Once } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  wordsOf,
} from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./agent.ts", import.meta.url);
const OTHER = 5;
const DONE = 1 << 28;
const nothing = () => {};

/** The views of a once of this agent and of another one. */
function pair(): { mine: Once; theirs: Once } {
  const mine = Once.create();
  return { mine, theirs: asAgent(OTHER, () => new Once(mine.buffer)) };
}

/** The first word of a once. */
const word = (once: Once) => wordsOf(once)[0];

const test = suite("Once");

test("run() runs until one try succeeds, and never again", () => {
  const calls = fc.array(fc.tuple(fc.boolean(), fc.boolean()), {
    maxLength: 30,
  });
  fc.assert(fc.property(calls, (calls) => {
    const { mine, theirs } = pair();
    let done = false; // the model
    for (const [ours, succeeds] of calls) {
      const once = ours ? mine : theirs;
      let ran = false;
      const fn = () => {
        ran = true;
        assert.is(once.runner, ours ? agentId() : OTHER);
        assert.is(once.done, false);
        if (!succeeds) throw new Error("not this time");
      };
      try {
        assert.is(once.tryRun(fn, 0), true);
        assert.ok(done || succeeds);
      } catch (error) {
        assert.is((error as Error).message, "not this time");
        assert.not.ok(done || succeeds);
      }
      assert.is(ran, !done);
      done ||= succeeds;
      assert.is(once.done, done);
      assert.is(once.runner, 0);
      assert.is(word(once), done ? DONE : 0);
    }
  }));
});

test("runAsync() awaits its function, and others await it", async () => {
  const { mine, theirs } = pair();
  let ends!: () => void;
  const gate = new Promise<void>((resolve) => ends = resolve);
  let ran = 0;
  const first = mine.runAsync(async () => {
    ran++;
    await gate;
  });
  const others = [mine.runAsync(() => void ran++), theirs.runAsync(nothing)];
  assert.is(await nowOf(Promise.race([first, ...others])), "pending");
  assert.is(theirs.tryRun(nothing, 1), false, "it is being run");
  assert.is(await theirs.tryRunAsync(nothing, { timeout: 1 }), false);
  ends();
  await Promise.all([first, ...others]);
  assert.is(ran, 1);
  assert.is(word(mine), DONE);
  theirs.run(() => assert.unreachable());
  assert.is(theirs.tryRun(() => assert.unreachable()), true);
});

test("what the function throws, its caller gets, and the next one tries", async () => {
  const { mine, theirs } = pair();
  const wrong = new Error("wrong");
  const first = mine.runAsync(async () => {
    await nowOf(new Promise(() => {}));
    throw wrong;
  });
  const second = theirs.runAsync(() => Promise.reject(wrong));
  let ran = 0;
  const others = [0, 1, 2].map(() => theirs.runAsync(() => void ran++));
  for (const promise of [first, second]) {
    assert.is(await promise.catch((error) => error), wrong);
  }
  await Promise.all(others);
  assert.is(ran, 1);
  assert.throws(() =>
    Once.create().run(() => {
      throw wrong;
    }), (error: unknown) => error === wrong);
});

test("run() within itself throws, by the agent that runs it", async () => {
  const once = Once.create();
  once.run(() => {
    const again = () => once.run(nothing);
    refuses(once.buffer, again, TypeError, "itself", `${agentId()}`);
    const soon = () => once.tryRun(nothing, 10);
    refuses(once.buffer, soon, TypeError, "itself", `${agentId()}`);
    assert.is(once.tryRun(nothing), false, "it does not wait");
  });
  const later = Once.create();
  await later.runAsync(() => {
    refuses(later.buffer, () => later.run(nothing), TypeError, "itself");
  });
  assert.ok(later.done);
});

test("a Once refuses wrong timeouts", async () => {
  const once = Once.create();
  const never = () => assert.unreachable();
  for (const timeout of [NaN, -1, -Infinity]) {
    const text = `received ${timeout}`;
    refuses(once.buffer, () => once.tryRun(never, timeout), RangeError, text);
    const run = once.tryRunAsync(never, { timeout });
    await rejects(once.buffer, run, RangeError, text);
  }
  const signal = AbortSignal.abort(new Error("enough"));
  await rejects(once.buffer, once.runAsync(never, { signal }), Error, "enough");
});

test("an abort ends a wait, and leaves the others theirs", async () => {
  const { mine, theirs } = pair();
  let ends!: () => void;
  const first = mine.runAsync(() => new Promise<void>((end) => ends = end));
  await nowOf(first);
  const abort = new AbortController();
  const { signal } = abort;
  const aborted = theirs.runAsync(nothing, { signal });
  const staying = theirs.runAsync(nothing);
  assert.is(await nowOf(aborted), "pending");
  abort.abort(OTHER);
  assert.is(await aborted.catch((reason) => reason), OTHER);
  ends();
  await Promise.all([first, staying]);
});

test("abandon() lets the next one try", async () => {
  const { mine, theirs } = pair();
  wordsOf(mine)[0] = OTHER;
  let ran = 0;
  const waits = [mine.runAsync(() => void ran++), mine.runAsync(nothing)];
  assert.is(await nowOf(Promise.race(waits)), "pending");
  assert.is(mine.runner, OTHER);
  assert.is(mine.abandon(0), 0);
  assert.is(mine.abandon(agentId()), 0);
  assert.is(mine.abandon(OTHER), 1);
  assert.is(theirs.abandon(OTHER), 0);
  await Promise.all(waits);
  assert.is(ran, 1);
  assert.is(mine.abandon(agentId()), 0, "it is done");
});

test("run() and abandon() may meet at any step", () => {
  for (const bits of [0, 1 << 30]) {
    preemptedAnywhere(
      () => {
        const agents = pair();
        wordsOf(agents.mine)[0] = OTHER | bits;
        return { ...agents, ran: 0 };
      },
      (scenario) => void scenario.mine.tryRun(() => void scenario.ran++, 0),
      ({ theirs }) => void theirs.abandon(OTHER),
      (scenario, at) => {
        const { mine, ran } = scenario;
        assert.is(mine.done, ran === 1, `at ${at}`);
        assert.is(mine.runner, 0);
        if (!mine.done) assert.ok(mine.tryRun(nothing));
      },
    );
  }
});

test("threads run each function once, and see what it did", async () => {
  const [threads, onces] = [3, 600];
  const memory = new SharedArrayBuffer(onces * Once.byteLength());
  const counts = new Int32Array(new SharedArrayBuffer(onces * 4));
  const started = await Promise.all(
    Array.from(
      { length: threads },
      (_, seed) => spawn(AGENT, { memory, counts, seed }),
    ),
  );
  for (const thread of started) assert.is(await thread.next(), onces);
  for (const thread of started) thread.stop();
});
