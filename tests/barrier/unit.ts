// also: node, browsers
// it waits
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { agentId, Barrier, type Passage } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  endsBefore,
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./agent.ts", import.meta.url);
const { state: STATE } = LAYOUT.barrier;

/** Lets a barrier begin in this generation. */
function from(barrier: Barrier, generation: number): Barrier {
  wordsOf(barrier)[STATE]! |= generation << 25;
  return barrier;
}

const test = suite("Barrier");

test("a tracked barrier knows which parties have arrived", async () => {
  const op = fc.constantFrom(
    ...["arrive", "arrive", "abort", "time out", "leave", "dead"] as const,
  );
  const call = fc.record({ op, who: fc.nat({ max: 2 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 62, 63, 126, 127),
      fc.array(call, { maxLength: 25 }),
      async (generation, calls) => {
        const barrier = Barrier.create(3, { tracked: 3 });
        from(barrier, generation);
        const ids = [11, 12, 13];
        const views = ids.map((id) =>
          asAgent(id, () => new Barrier(barrier.buffer))
        );
        for (const view of views) view.tryArriveAndWait(); // each has a row
        const left = new Set([0, 1, 2]); // the model
        let waiting: {
          who: number;
          result: unknown;
          abort: AbortController;
        }[] = [];
        for (const { op, who } of calls) {
          if (!left.has(who)) continue;
          const view = views[who]!;
          const mine = waiting.find((wait) => wait.who === who);
          if (op === "arrive" || op === "time out") {
            if (mine !== undefined) {
              const text = "has arrived";
              const wrong = () => view.tryArriveAndWait();
              refuses(barrier.buffer, wrong, TypeError, text);
              continue;
            }
            const all = waiting.length + 1 === left.size;
            if (op === "time out" && !all) {
              assert.is(view.tryArriveAndWait(), undefined);
            } else {
              const abort = new AbortController();
              const { signal } = abort;
              const one = { who, result: undefined as unknown, abort };
              view.arriveAndWaitAsync({ signal }).then(
                (passage) => one.result = passage.leader,
                (reason) => one.result = reason,
              );
              waiting.push(one);
              await turns();
            }
          } else if (op === "abort") {
            mine?.abort.abort("given up");
            await turns();
            if (mine !== undefined) assert.is(mine.result, "given up");
            waiting = waiting.filter((wait) => wait !== mine);
          } else {
            left.delete(who);
            waiting = waiting.filter((wait) => wait !== mine);
            const ends = waiting.length > 0 && waiting.length === left.size;
            if (op === "leave") assert.is(view.leave(), ends);
            else assert.is(barrier.abandon(ids[who]!), 1);
            assert.is(barrier.abandon(ids[who]!), 0);
            await turns();
          }
          const passed = waiting.length > 0 && waiting.length === left.size;
          for (const { result } of waiting) {
            assert.is(result !== undefined, passed, "all pass together");
          }
          if (passed) waiting = [];
          assert.is(barrier.parties, left.size);
          assert.is(barrier.arrived, waiting.length);
        }
        for (const { abort } of waiting) abort.abort();
        await turns();
      },
    ),
    { numRuns: 60 },
  );
});

test("a tracked barrier has a row for each party, and no more", () => {
  const barrier = Barrier.create(2, { tracked: 2 });
  const { buffer } = barrier;
  assert.is(barrier.byteLength, Barrier.byteLength(2, { tracked: 2 }));
  assert.is(barrier.byteLength, 4 * (40 + 2 * 32));
  assert.is(barrier.tracked, 2);
  assert.is(Barrier.create(2).tracked, 0);
  const [one, two, three] = [21, 22, 23].map((id) =>
    asAgent(id, () => new Barrier(buffer))
  ) as [Barrier, Barrier, Barrier];
  one.tryArriveAndWait();
  two.tryArriveAndWait();
  refuses(buffer, () => three.tryArriveAndWait(), RangeError, "23", "2 agents");
  refuses(buffer, () => three.leave(), RangeError, "23", "2 agents");
  const guess = () => one.leave({ arrived: true });
  refuses(buffer, guess, TypeError, "abandon");
  assert.is(barrier.abandon(23), 0);
  assert.is(barrier.abandon(0), 0);
  assert.is(Barrier.create(2).abandon(agentId()), 0);
  const wrong = () => Barrier.init(buffer, 0, 2, { tracked: null as never });
  refuses(buffer, wrong, TypeError, "received null");
  for (const tracked of [-1, 1, 3, 256, 1.5, NaN]) {
    const wrong = () => Barrier.init(buffer, 0, 2, { tracked });
    refuses(buffer, wrong, RangeError, `received ${tracked}`);
  }
  refuses(
    buffer,
    () => Barrier.init(buffer, 0, 256, { tracked: 256 }),
    RangeError,
    "received 256",
  );
});

test("a tracked party may be terminated at any step", () => {
  for (let at = 0, ended = false; !ended; at++) {
    const barrier = Barrier.create(2, { tracked: 2 });
    const theirs = asAgent(31, () => new Barrier(barrier.buffer));
    theirs.tryArriveAndWait();
    ended = endsBefore(at, () => void theirs.tryArriveAndWait());
    assert.is(barrier.abandon(31), 1, `at ${at}`);
    assert.is(barrier.arrived, 0, `at ${at}`);
    assert.ok(barrier.arriveAndWait().leader, `at ${at}`);
  }
});

test("arrivals, timeouts, aborts and leaving obey the model", async () => {
  const op = fc.constantFrom(
    ...["arrive", "arrive", "arrive", "abort", "time out", "leave", "dead"],
  );
  const call = fc.record({ op, at: fc.nat() });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(0, 62, 63, 126, 127),
      fc.array(call, { maxLength: 20 }),
      async (parties, generation, calls) => {
        const barrier = from(Barrier.create(parties), generation);
        let left = parties; // the model
        let waiting: { result: unknown; abort: AbortController }[] = [];
        const passes = () => {
          const passed = waiting;
          waiting = [];
          return passed;
        };
        for (const { op, at } of calls) {
          let passed: typeof waiting = [];
          if (op === "arrive" && left === 0) {
            const lone = barrier.arriveAndWaitAsync();
            await rejects(barrier.buffer, lone, RangeError, "is left");
          } else if (op === "arrive") {
            const abort = new AbortController();
            const one = { result: undefined as unknown, abort };
            const { signal } = abort;
            barrier.arriveAndWaitAsync({ signal }).then(
              (passage) => one.result = passage!.leader,
              (reason) => one.result = reason,
            );
            if (waiting.length + 1 >= left) {
              passed = passes();
              await turns();
              assert.is(one.result, true, "the last one leads");
            } else waiting.push(one);
          } else if (op === "abort" && waiting.length > 0) {
            const [one] = waiting.splice(at % waiting.length, 1);
            one!.abort.abort("aborted");
            await turns();
            assert.is(one!.result, "aborted");
          } else if (op === "time out" && waiting.length + 1 < left) {
            assert.is(barrier.tryArriveAndWait(0), undefined);
            const timeout = 1;
            const late = await barrier.tryArriveAndWaitAsync({ timeout });
            assert.is(late, undefined);
          } else if (op === "leave" && left > 0) {
            const ends = waiting.length > 0 && waiting.length >= left - 1;
            assert.is(barrier.leave(), ends);
            left--;
            if (ends) passed = passes();
          } else if (op === "dead" && waiting.length > 0) {
            // This agent goes on sleeping, although it is dead for the model;
            // so the model ends here.
            waiting.splice(at % waiting.length, 1);
            const ends = waiting.length > 0 && waiting.length >= left - 1;
            assert.is(barrier.leave({ arrived: true }), ends);
            return await turns();
          }
          await turns();
          for (const { result } of passed) assert.is(result, false);
          for (const { result } of waiting) assert.is(result, undefined);
          assert.is(barrier.arrived, waiting.length);
          assert.is(barrier.parties, left);
        }
        for (const { abort } of waiting) abort.abort("end");
        await turns();
        assert.is(barrier.arrived, 0);
      },
    ),
    { numRuns: 80 },
  );
});

test("a Barrier refuses wrong numbers and timeouts", async () => {
  const barrier = Barrier.create(2);
  const { buffer } = barrier;
  for (const n of [0, -1, 1.5, 4096, NaN, Infinity]) {
    const wrong = () => Barrier.init(buffer, 0, n);
    refuses(buffer, wrong, RangeError, `received ${n}`);
  }
  for (const timeout of [NaN, -1, -Infinity]) {
    const text = `received ${timeout}`;
    refuses(buffer, () => barrier.tryArriveAndWait(timeout), RangeError, text);
    const wait = barrier.tryArriveAndWaitAsync({ timeout });
    await rejects(buffer, wait, RangeError, text);
  }
  const dead = () => barrier.leave({ arrived: true });
  refuses(buffer, dead, RangeError, "has arrived");
  const signal = AbortSignal.abort(new Error("enough"));
  const never = barrier.arriveAndWaitAsync({ signal });
  await rejects(buffer, never, Error, "enough");
  barrier.leave();
  barrier.leave();
  refuses(buffer, () => barrier.leave(), RangeError, "is left");
  refuses(buffer, () => barrier.arriveAndWait(), RangeError, "is left");
  for (const timeout of [0, 5, Infinity]) {
    const arrive = () => barrier.tryArriveAndWait(timeout);
    refuses(buffer, arrive, RangeError, "is left");
    const wait = barrier.tryArriveAndWaitAsync({ timeout });
    await rejects(buffer, wait, RangeError, "is left");
  }
  await rejects(buffer, barrier.arriveAndWaitAsync(), RangeError, "is left");
  const alone = Barrier.create(1, { tracked: 1 });
  alone.arriveAndWait();
  alone.leave();
  refuses(alone.buffer, () => alone.arriveAndWait(), RangeError, "a row");
});

test("a tracked party that leaves while it waits takes no other row", async () => {
  for (const timeout of [undefined, 20]) {
    const barrier = Barrier.create(3, { tracked: 3 });
    const [one, two] = [21, 22].map((id) =>
      asAgent(id, () => new Barrier(barrier.buffer))
    );
    const abort = new AbortController();
    const { signal } = abort;
    const wait = barrier.tryArriveAndWaitAsync(
      timeout === undefined ? { timeout: Infinity, signal } : { timeout },
    ).catch((error) => error);
    assert.is(barrier.arrived, 1);
    barrier.leave(); // before the timeout can end
    if (timeout === undefined) abort.abort("enough");
    assert.is(await wait, timeout === undefined ? "enough" : undefined);
    assert.equal([barrier.parties, barrier.arrived], [2, 0]);
    const passed = one!.arriveAndWaitAsync();
    assert.is(await nowOf(passed), "pending");
    assert.equal(two!.tryArriveAndWait(), { leader: true });
    assert.equal(await passed, { leader: false });
  }
});

test("tryArriveAndWait(timeout) takes its arrival back", () => {
  const barrier = Barrier.create(2);
  for (const timeout of [0, 1, 30]) {
    const begin = performance.now();
    assert.is(barrier.tryArriveAndWait(timeout), undefined);
    const took = performance.now() - begin;
    assert.ok(took >= timeout - 1 && took < timeout + 10_000, `${took} ms`);
    assert.is(barrier.arrived, 0);
  }
  assert.equal(Barrier.create(1).tryArriveAndWait(0), { leader: true });
});

test("fast parties pass again while slow ones wake", async () => {
  const barrier = from(Barrier.create(4), 126);
  const results: Passage[] = [];
  const party = async () => {
    for (let i = 0; i < 200; i++) {
      results.push(await barrier.arriveAndWaitAsync());
    }
  };
  await Promise.all([party(), party(), party(), party()]);
  assert.is(results.length, 800);
  assert.is(results.filter(({ leader }) => leader).length, 200);
  assert.is(barrier.arrived, 0);
});

test("the largest Barrier passes all of its parties", async () => {
  const barrier = Barrier.create(4095);
  const waits = Array.from(
    { length: 4094 },
    () => barrier.arriveAndWaitAsync(),
  );
  assert.is(await nowOf(Promise.race(waits)), "pending");
  assert.is(barrier.arrived, 4094);
  assert.equal(barrier.arriveAndWait(), { leader: true });
  assert.ok((await Promise.all(waits)).every(({ leader }) => !leader));
});

test("a party that gives up may meet the last arrival at any step", async () => {
  type Scenario = { barrier: Barrier; wait: Promise<Passage | undefined> };
  const ended: Promise<void>[] = [];
  preemptedAnywhere<Scenario & { abort: AbortController; last?: unknown }>(
    () => {
      const barrier = from(Barrier.create(2), 127);
      const abort = new AbortController();
      const { signal } = abort;
      return { barrier, abort, wait: barrier.arriveAndWaitAsync({ signal }) };
    },
    ({ abort }) => abort.abort("given up"),
    (scenario) => scenario.last = scenario.barrier.tryArriveAndWait(0),
    ({ barrier, wait, last }, at) => {
      assert.is(barrier.arrived, 0, `at ${at}`);
      const check = (passed: boolean) =>
        assert.equal(last, passed ? { leader: true } : undefined, `at ${at}`);
      ended.push(wait.then(() => check(true), () => check(false)));
    },
  );
  await Promise.all(ended);
  assert.ok(ended.length > 2);
});

test("threads go from round to round together", async () => {
  const [parties, count] = [3, 1500];
  const memory = Barrier.create(parties).buffer;
  const rounds = new Int32Array(new SharedArrayBuffer(parties * 4));
  const started = await Promise.all(
    Array.from(
      { length: parties },
      (_, me) => spawn(AGENT, { memory, rounds, me, count }),
    ),
  );
  let leads = 0;
  for (const thread of started) {
    const did = await thread.next<{ leads: number; wrong: number }>();
    assert.is(did.wrong, 0);
    leads += did.leads;
  }
  for (const thread of started) thread.stop();
  assert.is(leads, count);
});
