// also: node, browsers
// What a task reports while it runs, and what is sent to it.
import * as assert from "uvu/assert";
import { CallRing } from "../../mod.ts";
import { Watches } from "../../primitives/_calls/watch.ts";
import { slotsOf } from "../../primitives/_calls/wire.ts";
import { Context } from "../../primitives/_pool/worker/context.ts";
import type { Pool } from "../../primitives/pool.ts";
import { skip, suite } from "../_run/harness.ts";
import { pause, withPool as withOne } from "./pools.ts";
import type { tasks } from "./tasks.ts";
import type { Orders } from "./worker.ts";

const test = suite("tasks that talk");

/** Runs `body` with a pool of one worker, whose slots have 1,000 bytes. */
const withPool = (
  orders: Orders,
  body: (pool: Pool<typeof tasks>, words: Int32Array) => Promise<unknown>,
) => withOne({ orders, bytes: 1000 }, body);

for (const blocking of [false, true]) {
  const how = blocking ? "blocks" : "awaits";
  test(`what a task reports comes before its end, if its worker ${how}`, () =>
    withPool({ blocking }, async (pool) => {
      const long = "x".repeat(900);
      for (const throws of [false, true]) {
        for (const end of [undefined, null, 7, { a: [1n] }, long]) {
          const told: unknown[] = [];
          const onReport = (it: number) => told.push(it);
          const request = { count: 5, end, throws };
          const result = await pool.run("report", request, { onReport })
            .then((it) => ["done", it], (it) => ["failed", it]);
          assert.equal(result, [throws ? "failed" : "done", end]);
          assert.equal(told, [0, 1, 2, 3, 4]);
        }
      }
      const error = new RangeError("no luck");
      const onReport = () => {};
      const request = { count: 1, end: error, throws: true };
      const reason = await pool.run("report", request, { onReport })
        .catch((error) => error);
      assert.instance(reason, RangeError);
      // Nobody wants to know.
      assert.is(await pool.run("report", { count: 3, end: 1 }), 1);
      const many = Array.from({ length: 50 }, (_, n) => {
        const told: number[] = [];
        const onReport = (it: number) => void told.push(it);
        return pool.run("report", { count: n % 3, end: n }, { onReport })
          .then((end) => assert.equal([told.length, end], [n % 3, n]));
      });
      await Promise.all(many);
    }));
}

test("a function may take its context apart", () => {
  const slots = slotsOf(CallRing.create({ request: 12, reply: 4 }), 1);
  const told: unknown[] = [];
  const post = (value: unknown) => void told.push(value);
  const watches = new Watches(slots);
  const context = new Context("talk", slots.claim(), watches, true, post);
  const { report, listen } = context;
  context.hear("early");
  listen((message: string) => told.push(message));
  report(1);
  assert.equal(told, ["early", 1]);
  assert.is(context.reported, true);
});

test("a signal that is asked for too late looks at no slot", () => {
  const ring = CallRing.create({ request: 12, reply: 4 });
  const slots = slotsOf(ring, 1);
  const context = new Context("late", slots.claim(), new Watches(slots), true);
  context.end();
  const real = globalThis.setInterval;
  let timers = 0;
  globalThis.setInterval = (() => ++timers) as never;
  try {
    assert.not(context.signal.aborted); // its task is over, and the slot free
    assert.is(context.signal, context.signal);
  } finally {
    globalThis.setInterval = real;
  }
  assert.is(timers, 0);
  assert.throws(() => context.listen(undefined as never), TypeError);
  const deaf = new Context("deaf", 0, new Watches(slots), false);
  const what = /Task "deaf" cannot listen: a worker that blocks/;
  assert.throws(() => deaf.listen(() => {}), what);
});

test("map() reports, too", () =>
  withPool({}, async (pool) => {
    let told = 0;
    const requests = [1, 2, 3].map((count) => ({ count, end: count }));
    const onReport = () => void told++;
    const ends: unknown[] = [];
    for await (const end of pool.map("report", requests, { onReport })) {
      ends.push(end);
    }
    assert.equal([ends, told], [[1, 2, 3], 6]);
  }));

test("a message reaches its task, also if it is sent before that begins", () =>
  withPool({ limit: 2 }, async (pool) => {
    const tasks = [1, 2, 3].map((n) => {
      const handle = pool.start("listen");
      assert.ok(handle.send({ n }));
      return handle;
    });
    await pause(20);
    for (const { send } of tasks) {
      assert.ok(send(undefined));
      assert.ok(send("end"));
    }
    const ends = await Promise.all(tasks.map(({ result }) => result));
    assert.equal(ends, [1, 2, 3].map((n) => [{ n }, undefined, "end"]));
    for (const { send } of tasks) assert.not(send("late"));
  }));

test("a value that no message carries is refused where it is sent", () =>
  withPool({}, async (pool) => {
    const { result, send } = pool.start("listen");
    const refused = () => assert.throws(() => send(() => {}), /clone/i);
    refused();
    await pause(30);
    refused();
    send("end");
    assert.equal(await result, ["end"]);
  }));

test("a task of a worker that blocks cannot listen", () =>
  withPool({ blocking: true }, async (pool) => {
    const { result } = pool.start("listen");
    const error = await result.catch((error) => error);
    assert.match((error as Error).message, /promise|cannot listen/);
  }));

test("start() rejects as run() does, and refuses options that it cannot follow", () =>
  withPool({}, async (pool) => {
    const { result, send } = pool.start("nothing" as "listen");
    const error = await result.catch((error) => error);
    assert.match((error as Error).message, /no task "nothing"/);
    assert.not(send(1));
    const wrong = pool.run("echo", 1, { onReport: 1 as never });
    assert.match(
      (await wrong.catch((it) => it) as Error).message,
      /function.*received 1/,
    );
    const control = new AbortController();
    const { signal } = control;
    const aborted = pool.start("listen", undefined, { signal });
    control.abort("enough");
    assert.is(await aborted.result.catch((it) => it), "enough");
    assert.not(aborted.send(1));
    assert.is(await pool.run("echo", 1), 1);
  }));

test("callbacks of a task run in the context of its caller", async () => {
  const { process } = globalThis as unknown as {
    process?: { getBuiltinModule?(name: string): unknown };
  };
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as
    | typeof import("node:async_hooks")
    | undefined;
  if (hooks === undefined) skip("there is no AsyncLocalStorage");
  const storage = new hooks.AsyncLocalStorage<number>();
  await withPool({}, async (pool) => {
    await storage.run(-1, () => pool.run("echo", 1)); // begins to collect
    const all = [1, 2, 3].map((n) =>
      storage.run(n, async () => {
        const seen: unknown[] = [];
        const note = () => seen.push(storage.getStore());
        const request = { count: 2, end: n };
        await pool.run("report", request, { onReport: note });
        function* requests() {
          for (let i = 0; i < 200; i++) {
            note();
            yield i;
          }
        }
        for await (const _ of pool.map("echo", requests())) note();
        assert.is(seen.length, 402);
        assert.equal(new Set(seen), new Set([n]));
      })
    );
    await Promise.all(all);
  });
});
