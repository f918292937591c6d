// also: node, browsers
// it waits
// How a pool begins and ends, and how many workers it has.
import * as assert from "uvu/assert";
import { CallRing, ClosedError } from "../../mod.ts";
import { slotsOf } from "../../primitives/_calls/wire.ts";
import { Pool, WorkerError } from "../../primitives/pool.ts";
import { IN_WEBKIT, skip, suite } from "../_run/harness.ts";
import { tasks } from "./tasks.ts";
import { pause, poolOf, rejection, withPool, workerOf } from "./pools.ts";

const test = suite("the life of a Pool");

// ---- the beginning ----------------------------------------------------------

for (const instead of ["throw", "exit", "differently"] as const) {
  // Deno does not tell that a worker has ended: there its time is over.
  const patience = instead === "exit" ? { patience: 500 } : {};

  test(`a worker that cannot start fails the pool: ${instead}`, () => {
    if (IN_WEBKIT && instead === "throw") {
      skip("WebKit does not tell what a module throws after an await");
    }
    return withPool({ orders: { instead }, ...patience }, async (pool) => {
      const task = rejection(pool.run("echo", 1));
      const error = await rejection(pool.ready);
      assert.is(await task, error);
      assert.is(await rejection(pool.run("echo", 1)), error);
      const why = {
        throw: /out of luck/,
        exit: /before it called servePool|did not call servePool/,
        differently: /declared as record#\d+ -> f64 by the pool, and as value/,
      };
      assert.match(error.message, why[instead]);
    });
  });
}

test("a worker that never serves fails the pool after its patience", () =>
  withPool({ orders: { instead: "nothing" }, patience: 100 }, async (pool) => {
    const error = await rejection(pool.run("echo", 1));
    assert.match(error.message, /did not call servePool within 100 ms/);
  }));

/** How a worker that has ended tells of it. */
interface Last {
  readonly error: unknown;
  readonly code: number;
}

/**
 * A worker that says it serves, and has ended then if `threadId` is -1. Before
 * that it tells `last`.
 */
function pretended(threadId: number, calls: string[] = [], last?: Last) {
  const tag = "@weft/sync/pool";
  const hello = { weft: tag, what: "hello", id: 4711, tasks: {}, limit: 1 };
  return {
    threadId,
    on(event: string, listener: (message: unknown) => void) {
      const tell = (what: unknown) => queueMicrotask(() => listener(what));
      if (event === "message") tell(hello);
      else if (event === "error" && last !== undefined) tell(last.error);
      else if (event === "exit" && last !== undefined) tell(last.code);
    },
    once: () => calls.push("once"),
    off: () => calls.push("off"),
    unref: () => calls.push("unref"),
    postMessage: () => calls.push("postMessage"),
    terminate: () => calls.push("terminate"),
  };
}

test("three workers in a row that end without a task fail the pool", async () => {
  const made: number[] = [];
  const make = () => {
    made.push(performance.now());
    const error = new RangeError(`no luck ${made.length}`);
    return pretended(-1, [], { error, code: made.length });
  };
  const pool = new Pool({ tasks, workers: 1, make });
  const error = await rejection(pool.run("echo", 1));
  assert.instance(error, WorkerError);
  assert.is(error.message, "A worker ended without a task (exit code 3)");
  assert.match((error.cause as Error).message, "no luck 3");
  const [first, second, third] = made;
  assert.is(made.length, 3);
  assert.is(pool.stats().died, 3);
  // The pauses are 100 ms and 400 ms; a timer may be a little early.
  assert.ok(second! - first! > 95 && third! - second! > 395, `${made}`);
});

test("a task that a worker takes after its exit is lost with it", async () => {
  const memory = new SharedArrayBuffer(Pool.byteLength({}));
  const exits: (() => void)[] = [];
  const once = (_: string, exited: () => void) => exits.push(exited);
  const make = () => ({ ...pretended(1), once });
  const pool = new Pool({ tasks, workers: 1, make, memory });
  await pool.ready;
  const lost = rejection(pool.run("echo", 1));
  const slots = slotsOf(new CallRing(memory), 4711);
  while (pool.stats().waiting < 1) await pause();
  exits[0]!();
  // Deno tells of the exit while the thread is in its last step.
  while (slots.takeOrEnd() < 1) await pause();
  const error = await Promise.race([lost, pause(5000)]);
  assert.instance(error, WorkerError);
  pool.terminate();
});

test("a worker that is ready keeps no process alive by itself", async () => {
  const calls: string[] = [];
  const make = () => pretended(1, calls);
  const pool = new Pool({ tasks, workers: 1, make });
  await pool.ready;
  assert.equal(calls, ["postMessage", "unref", "once"]);
  pool.terminate();
  assert.equal(calls.slice(3), ["off", "terminate"]);
});

test("a make that throws, or makes no worker, fails the pool", async () => {
  const make = () => {
    throw new RangeError("no thread left");
  };
  const { ready } = new Pool({ tasks, workers: 1, make });
  assert.match((await rejection(ready)).message, /no thread left/);
  for (const thrown of [undefined, null]) {
    const make = () => {
      throw thrown; // no error, yet a reason for the pool to fail
    };
    const error = await rejection(
      new Pool({ tasks, workers: 1, make }).run("echo", 1),
    );
    assert.is(error.message, "A worker could not start");
  }
  const worker = { on() {}, postMessage() {}, terminate() {} };
  for (const lost of ["on", "postMessage", "terminate"]) {
    const make = () => ({ ...worker, [lost]: 1 }) as never;
    const error = await rejection(
      new Pool({ tasks, workers: 1, make }).run("echo", 1),
    );
    assert.match(error.message, /make must return a Worker: received \[object/);
  }
  const none = new Pool({ tasks, workers: 1, make: () => 1 as never });
  const error = await rejection(none.run("echo", 1));
  assert.match(error.message, /make must return a Worker: received 1/);
});

// ---- the end ----------------------------------------------------------------

test("close() waits for all tasks, and refuses others", async () => {
  const { pool } = poolOf({ workers: 2 });
  const results = Promise.all([1, 2, 3].map((n) => pool.run("echo", n)));
  const closed = pool.close();
  assert.instance(await rejection(pool.run("echo", 4)), ClosedError);
  await closed;
  assert.equal(await results, [1, 2, 3]);
  assert.is(pool.stats().workers.length, 0);
  await pool.close();
});

test("close({ force }) lets only tasks end that have begun", async () => {
  const { pool, words } = poolOf({ workers: 2, ahead: 3, slots: 4 });
  await pool.ready;
  const begun = [0, 1].map((n) => pool.run("gate", n));
  while (pool.stats().running < 2) await pause();
  const long = "a".repeat(100);
  const others = Array.from({ length: 20 }, () => pool.run("echo", long));
  const refused = others.map(rejection);
  const closed = pool.close({ force: true });
  for (const error of refused) assert.instance(await error, ClosedError);
  assert.is(pool.stats().running, 2);
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  await closed;
  const results = await Promise.all(begun);
  assert.equal(results.map((n) => n % 1000).sort(), [0, 1]);
});

test("a pool that is closed before a worker has started says so", async () => {
  const { pool } = poolOf({ workers: 1 });
  const resized = rejection(pool.resize(2));
  const ready = rejection(pool.ready);
  await pool.close();
  assert.instance(await resized, ClosedError);
  assert.instance(await ready, ClosedError);
});

test("who does not await resize() need not catch its end", async () => {
  const { pool } = poolOf({ workers: 0 });
  // An uncaught rejection would end this process.
  pool.resize(2);
  await pool.close();
  await pause(5);
  const late = pool.resize(1);
  assert.instance(await rejection(late), ClosedError);
});

test("a worker that has taken an order was ready, heard or not", async () => {
  const held: (() => void)[] = [];
  const make = () => {
    // deno-lint-ignore no-explicit-any -- a worker of Node, or of the web
    const worker = workerOf({ instead: "make" })() as any;
    const listen = typeof worker.on === "function" ? "on" : "addEventListener";
    const hear = worker[listen].bind(worker);
    // deno-lint-ignore no-explicit-any -- a message, or its event
    worker[listen] = (event: string, listener: (message: any) => void) =>
      hear(event, (message: Parameters<typeof listener>[0]) => {
        const { what } = message?.data ?? message ?? {};
        if (what === "ready") held.push(() => listener(message));
        else listener(message);
      });
    return worker;
  };
  const pool = new Pool({ tasks, workers: 1, make, init: { by: 1 } });
  const { ready } = pool;
  await pool.resize(0); // the worker does as it is told
  await ready;
  for (const tell of held) tell();
  assert.is(pool.stats().workers.length, 0);
  await pool.resize(0);
  await pool.close();
});

test("close({ timeout }) ends as terminate() does after that time", async () => {
  const { pool } = poolOf();
  await pool.ready;
  const endless = rejection(pool.run("wait"));
  const patient = pool.close({ timeout: 60_000 });
  await pool.close({ timeout: 5 });
  await patient;
  assert.instance(await endless, ClosedError);
  assert.is(pool.stats().workers.length, 0);
  const quick = poolOf().pool;
  const last = quick.run("echo", 1);
  await quick.close({ timeout: 60_000 });
  assert.is(await last, 1);
});

test("close() refuses options that it cannot follow", () =>
  withPool({}, async (pool) => {
    const error = (options: object) => rejection(pool.close(options));
    assert.match((await error({ force: 1 })).message, "force");
    assert.match((await error({ timeout: -1 })).message, "received -1");
    assert.match((await error({ wait: 1 })).message, "wait");
    assert.is(await pool.run("echo", 1), 1);
  }));

test("using and await using close a pool", async () => {
  let rest: Promise<unknown>;
  {
    await using pool = poolOf().pool;
    rest = pool.run("echo", 1);
  }
  assert.is(await rest, 1);
  {
    using pool = poolOf().pool;
    rest = rejection(pool.run("wait"));
  }
  assert.instance(await rest, ClosedError);
});

test("terminate() fails all tasks", async () => {
  const { pool } = poolOf();
  await pool.ready;
  const tasks = [1, 2].map(() => rejection(pool.run("wait")));
  const long = rejection(pool.run("repeat", { text: "a", n: 1e5 }));
  pool.terminate();
  for (const task of [...tasks, long]) {
    assert.instance(await task, ClosedError);
  }
  assert.instance(await rejection(pool.run("echo", 1)), ClosedError);
});

test("resize() makes workers, and lets them go when their task is done", () =>
  withPool({ orders: { limit: 2 } }, async (pool, words) => {
    await pool.resize(3);
    assert.is(pool.stats().workers.length, 3);
    const gates = [1, 2, 3].map((n) => pool.run("gate", n));
    while (pool.stats().running < 3) await pause();
    const resized = pool.resize(1);
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    assert.is((await Promise.all(gates)).length, 3);
    await resized;
    assert.is(pool.stats().workers.length, 1);
    assert.is(pool.stats().died, 0);
    assert.is(await pool.run("echo", 1), 1);
    await pool.resize(0);
    const late = pool.run("echo", 2);
    await pool.resize(1);
    assert.is(await late, 2);
  }));

for (const limit of [1, 2]) {
  test(`close() lets a worker end beside a function that does not: ${limit}`, () =>
    withPool({ orders: { limit } }, async (pool, words) => {
      const control = new AbortController();
      const { signal } = control;
      const given = rejection(pool.run("sleep", 1e6, { signal }));
      while (pool.stats().running < 1) await pause();
      control.abort();
      await given;
      await pool.close();
      assert.is(Atomics.load(words, 3), 1, "what stands behind servePool");
    }));
}

test("resize() and abandon() refuse what is out of range, or too late", async () => {
  const { pool } = poolOf();
  await pool.ready;
  for (const guests of [-1, 1025]) {
    const { message } = await rejection(pool.resize(2, guests));
    assert.match(message, new RegExp(`guests.*received ${guests}`));
  }
  for (const id of [0, 2 ** 28]) {
    const what = new RegExp(`An agent id.*received ${id}`);
    assert.throws(() => pool.abandon(id), what);
  }
  assert.is(pool.stats().workers.length, 1);
  await pool.close();
  assert.instance(await rejection(pool.resize(2)), ClosedError);
  const bare = new Pool({ tasks, workers: 0, guests: 1 });
  const error = await rejection(bare.resize(1));
  assert.match(error.message, "Cannot add workers");
  await bare.resize(0);
  bare.terminate();
});

for (const how of ["dies", "is terminated"] as const) {
  test(`resize(1) leaves a worker if one ${how} meanwhile`, () =>
    withPool({ workers: 2 }, async (pool, words) => {
      await pool.ready;
      const control = new AbortController();
      const options = { signal: control.signal, terminate: true };
      const first = how === "dies"
        ? pool.run("dieAtGate", 7)
        : pool.run("gate", 7, options);
      const dying = rejection(first);
      const second = pool.run("gate", 8);
      while (pool.stats().running < 2) await pause();
      const resized = pool.resize(1); // its order waits behind both
      const open = () => {
        Atomics.store(words, 0, 1);
        Atomics.notify(words, 0);
      };
      if (how === "dies") open();
      else control.abort("enough");
      await dying;
      open();
      await second;
      await resized;
      assert.is(await pool.run("echo", 1), 1);
      assert.is(pool.stats().workers.length, 1);
      await pool.close(); // the order was taken back, so none is open
    }));
}

test("close() refuses the tasks of a pool that has no workers", () =>
  withPool({ workers: 2 }, async (pool) => {
    await pool.ready;
    await pool.resize(0);
    const run = rejection(pool.run("echo", 1));
    const loop = rejection(pool.map("echo", [1, 2]).next());
    while (pool.stats().waiting < 3) await pause();
    await pool.close();
    assert.instance(await run, ClosedError);
    assert.instance(await loop, ClosedError);
  }));

test("close() lets the last worker do what it can, after resize(0)", () =>
  withPool({ ahead: 0 }, async (pool, words) => {
    await pool.ready;
    const gate = pool.run("gate", 1);
    while (pool.stats().running < 1) await pause();
    const resized = pool.resize(0);
    const late = rejection(pool.run("echo", 2)); // behind the order
    const closed = pool.close();
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    assert.is(await gate, 1);
    assert.instance(await late, ClosedError);
    await Promise.all([resized, closed]);
  }));

test("an order to end is no task that waits", () =>
  withPool({ workers: 2 }, async (pool, words) => {
    await pool.ready;
    const gates = [1, 2].map((n) => pool.run("gate", n));
    while (pool.stats().running < 2) await pause();
    const resized = pool.resize(1);
    const third = pool.run("echo", 3);
    const { waiting, running } = pool.stats();
    assert.equal([waiting, running], [1, 2]);
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await Promise.all([...gates, third, resized]);
    assert.is(pool.stats().waiting, 0);
  }));

test("resize(0) lets the last worker do what waits", () =>
  withPool({ ahead: 0 }, async (pool, words) => {
    await pool.ready;
    const gates = [1, 2, 3].map((n) => pool.run("gate", n));
    const resized = pool.resize(0);
    const late = pool.run("echo", 4);
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    assert.is((await Promise.all(gates)).length, 3);
    await resized;
    assert.is(pool.stats().waiting, 1);
    await pool.resize(1);
    assert.is(await late, 4);
  }));
