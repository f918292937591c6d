// also: node, browsers
// it waits
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { Event } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  NEAR_WRAP,
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./agent.ts", import.meta.url);
const { state: STATE } = LAYOUT.event;
const WAITERS = 16; // the bit at which they are counted

const test = suite("Event");

test("set(), reset(), tryWait() and tryWait(ms) obey the model", () => {
  const op = fc.constantFrom(...["set", "reset", "tryWait", "wait"] as const);
  const start = fc.constantFrom(0, ...NEAR_WRAP);
  fc.assert(
    fc.property(
      fc.boolean(),
      start,
      fc.array(op, { maxLength: 40 }),
      (autoReset, start, ops) => {
        const event = Event.create({ autoReset });
        assert.is(event.autoReset, autoReset);
        // The pulses of an event that is reset manually wrap.
        if (!autoReset) wordsOf(event)[STATE] = start & ~7;
        let set = false; // the model
        for (const op of ops) {
          if (op === "set" || op === "reset") {
            event[op]();
            set = op === "set";
          } else {
            assert.is(
              op === "wait" ? event.tryWait(0.01) : event.tryWait(),
              set,
            );
            if (autoReset) set = false;
          }
          assert.is(event.isSet, set);
        }
      },
    ),
  );
});

test("Event.init() makes any memory an event that is not set", () => {
  for (const autoReset of [false, true]) {
    const memory = new SharedArrayBuffer(12);
    new Uint8Array(memory).fill(0xff);
    const event = Event.init(memory, 4, { autoReset });
    assert.is(event.isSet, false);
    assert.is(event.autoReset, autoReset);
    assert.equal([...new Int32Array(memory)], [-1, autoReset ? 1 : 0, -1]);
  }
});

test("an Event refuses wrong timeouts, and a wrong configuration", async () => {
  const { buffer } = Event.create();
  const init = () => Event.init(buffer, 0, { autoReset: 7 as never });
  refuses(buffer, init, TypeError, "autoReset must be", "received 7");
  for (const autoReset of [false, true]) {
    const event = Event.create({ autoReset });
    for (const timeout of [NaN, -1, -Infinity]) {
      const text = `received ${timeout}`;
      refuses(event.buffer, () => event.tryWait(timeout), RangeError, text);
      const wait = event.tryWaitAsync({ timeout });
      await rejects(event.buffer, wait, RangeError, text);
    }
  }
});

test("tryWait(timeout) returns false once the time is over", () => {
  for (const autoReset of [false, true]) {
    const event = Event.create({ autoReset });
    for (const timeout of [0, 1, 30]) {
      const begin = performance.now();
      assert.is(event.tryWait(timeout), false);
      const took = performance.now() - begin;
      assert.ok(took >= timeout - 1 && took < timeout + 10_000, `${took} ms`);
    }
    assert.is(wordsOf(event)[STATE]! >> WAITERS, 0);
  }
});

test("every agent that waits sees a pulse", async () => {
  for (const start of [0, ...NEAR_WRAP]) {
    const event = Event.create();
    wordsOf(event)[STATE] = start & ~7;
    const waits = Array.from({ length: 20 }, () => event.waitAsync());
    event.set();
    event.reset();
    const late = event.tryWaitAsync({ timeout: 20 });
    await Promise.all(waits);
    assert.is(await late, false);
    assert.is(event.isSet, false);
  }
});

test("a pulse may meet a wait at any step of either", async () => {
  const waits: Promise<boolean>[] = [];
  const scenario = () => {
    const event = Event.create();
    waits.push(event.tryWaitAsync({ timeout: 5000 }));
    return event;
  };
  preemptedAnywhere(
    scenario,
    (event) => event.set(),
    (event) => (event.set(), event.reset()),
    () => {},
  );
  preemptedAnywhere(
    scenario,
    (event) => (event.set(), event.reset()),
    (event) =>
      void waits.push(event.tryWaitAsync({ timeout: 1 }).then(() => true)),
    () => {},
  );
  assert.ok((await Promise.all(waits)).every(Boolean), "a pulse was missed");
});

test("with automatic reset, each set releases exactly one", async () => {
  const event = Event.create({ autoReset: true });
  const passed: number[] = [];
  const waits = Array.from(
    { length: 10 },
    (_, i) => event.waitAsync().then(() => passed.push(i)),
  );
  event.set();
  await turns();
  assert.equal(passed, [0]);
  event.set();
  await turns();
  assert.equal(passed, [0, 1]);
  // Two sets in a row release two waiters, although none had looked in between.
  event.set();
  event.set();
  await turns();
  assert.is(passed.length, 4);
  for (let i = 0; i < 20; i++) event.set();
  await Promise.all(waits);
  assert.is(event.tryWait(), false, "no more than there were waiters");
  event.set();
  event.set();
  assert.is(event.tryWait(), true, "remembered if nobody waits");
  assert.is(event.tryWait(), false, "once");
});

test("with automatic reset, sets and waits of many kinds add up", async () => {
  const op = fc.constantFrom(
    ...["wait", "wait", "set", "abort", "time out", "take"] as const,
  );
  const call = fc.record({ op, at: fc.nat(), together: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
      const event = Event.create({ autoReset: true });
      const results: (boolean | "aborted" | undefined)[] = [];
      const aborts: AbortController[] = [];
      let sets = 0;
      let released = 0;
      for (const { op, at, together } of calls) {
        if (op === "wait" || op === "time out") {
          const i = results.push(undefined) - 1;
          const { signal } = aborts[i] = new AbortController();
          const timeout = op === "wait" ? Infinity : at % 3;
          event.tryWaitAsync({ signal, timeout }).then(
            (result) => results[i] = result,
            () => results[i] = "aborted",
          );
        } else if (op === "abort") aborts[at % aborts.length]?.abort();
        else if (op === "take") released += event.tryWait() ? 1 : 0;
        else {
          event.set();
          sets++;
        }
        if (!together) await turns();
      }
      await turns();
      const count = (wanted: unknown) =>
        results.filter((result) => result === wanted).length;
      const pending = count(undefined);
      const waiters = wordsOf(event)[STATE]! >> WAITERS;
      assert.is(waiters, pending, "a waiter is counted");
      assert.not.ok(pending > 0 && event.isSet, "asleep beside a signal");
      released += count(true) + (event.isSet ? 1 : 0);
      assert.ok(released <= sets, `${released} of ${sets}`);
      for (const abort of aborts) abort.abort();
      await turns();
      assert.is(wordsOf(event)[STATE]! >> WAITERS, 0);
    }),
    { numRuns: 60 },
  );
});

test("more waiters than can be counted lose nothing", async () => {
  const event = Event.create({ autoReset: true });
  const most = 0x7fff;
  wordsOf(event)[STATE]! |= most << WAITERS;
  const waits = [event.waitAsync(), event.waitAsync()];
  assert.is(await nowOf(Promise.race(waits)), "pending");
  event.set();
  event.set();
  await Promise.all(waits);
  assert.is(wordsOf(event)[STATE], most << WAITERS | 1);
  assert.is(await event.tryWaitAsync({ timeout: 5 }), false);
  assert.is(wordsOf(event)[STATE], most << WAITERS | 1);
});

test("a signal for each waiter, and no more than can be counted", () => {
  const event = Event.create({ autoReset: true });
  wordsOf(event)[STATE]! |= 0x7fff << WAITERS;
  for (let i = 0; i < 0x8100; i++) event.set();
  assert.is(wordsOf(event)[STATE], 0x7fffffff);
  event.reset();
  assert.is(wordsOf(event)[STATE], 0x7fff << WAITERS | 1);
});

test("threads take each signal once, whatever the form of the wait", async () => {
  const [threads, pulses] = [3, 1000];
  const memory = new SharedArrayBuffer(12);
  const ping = Event.init(memory, 0, { autoReset: true });
  const pong = Event.init(memory, 4, { autoReset: true });
  const start = new Event(memory, 8);
  const started = await Promise.all(
    Array.from({ length: threads }, () => spawn(AGENT, { memory, pulses })),
  );
  start.set();
  for (let i = 0; i < threads * pulses; i++) {
    ping.set();
    const answer = i % 2
      ? pong.tryWait(10_000)
      : await pong.tryWaitAsync({ timeout: 10_000 });
    assert.ok(answer, `the answer to signal ${i}`);
  }
  for (const thread of started) assert.is(await thread.next(), pulses);
  for (const thread of started) thread.stop();
  assert.is(ping.isSet, false);
  assert.is(pong.isSet, false);
});
