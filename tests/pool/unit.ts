// also: node, browsers
import * as assert from "uvu/assert";
import fc from "fast-check";
import { ClosedError, DamagedError } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  codec,
  Pool,
  type PoolOptions,
  QueueFullError,
  servePool,
  task,
  WorkerError,
} from "../../primitives/pool.ts";
import { Line, Producers, type Standing } from "../../primitives/_pool/line.ts";
import { IN_WEBKIT, skip, suite } from "../_run/harness.ts";
import { refuses } from "../_run/model.ts";
import { start } from "../_run/workers.ts";
import { tasks } from "./tasks.ts";
import type { Orders } from "./worker.ts";

const test = suite("Pool");

const WORKER = new URL("./worker.ts", import.meta.url);

const IN_NODE = !("Deno" in globalThis || "Bun" in globalThis) &&
  "process" in globalThis;

/** Whether this runs in a worker of a page. */
const IN_PAGE = !("Deno" in globalThis) && !("process" in globalThis);

type Some = Partial<PoolOptions<typeof tasks>>;

const workerOf = (orders: Orders) => () => start(WORKER, orders);

/** A pool of workers with these orders. */
function poolOf({ orders = {}, ...options }: Some & { orders?: Orders } = {}) {
  const words = new Int32Array(new SharedArrayBuffer(12));
  const make = workerOf({ words, ...orders });
  const pool = new Pool({ tasks, workers: 1, make, ...options });
  return { pool, words };
}

/** Runs `body` with a pool, and closes it. */
async function withPool(
  options: Some & { orders?: Orders },
  body: (pool: Pool<typeof tasks>, words: Int32Array) => Promise<unknown>,
) {
  const { pool, words } = poolOf(options);
  try {
    await body(pool, words);
  } finally {
    pool.terminate();
  }
}

/** What a promise is rejected with. */
const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then((value) => {
    throw new Error(`resolved with ${value}`);
  }, (reason) => reason);

/** What must not compile; never called. */
export function types(pool: Pool<typeof tasks>) {
  const bytes: Promise<Uint8Array> = pool.run("add", Uint8Array.of(1));
  const sum: Promise<number> = pool.run("sum", { a: 1, b: 2 });
  const ended: Promise<number> = pool.run("ended");
  const all: AsyncGenerator<number> = pool.map("sum", [{ a: 1, b: 2 }]);
  // @ts-expect-error: bytes, and no text
  pool.run("add", "1");
  // @ts-expect-error: a request is missing
  pool.run("sum");
  // @ts-expect-error: no such task
  pool.run("sub", 1);
  // @ts-expect-error: a number
  const wrong: Promise<string> = pool.run("sum", { a: 1, b: 2 });
  // @ts-expect-error: an option that there is not
  pool.run("ended", undefined, { time: 1 });
  // @ts-expect-error: a function that returns something else
  servePool(tasks, { sum: () => "1" });
  return [bytes, sum, ended, all, wrong];
}

// ---- values --------------------------------------------------------------------

for (const blocking of [false, true]) {
  const how = blocking ? "a worker that blocks" : "a worker that awaits";
  let pool: Pool<typeof tasks>;

  test.before(() => {
    ({ pool } = poolOf({ workers: 2, orders: { blocking } }));
  });
  test.after(() => pool.terminate());

  test(`run() by ${how} resolves with what the function returns`, async () => {
    assert.equal([...await pool.run("add", Uint8Array.of(1, 2))], [2, 3]);
    assert.equal([...await pool.run("add", new Uint8Array(0))], []);
    assert.is(await pool.run("sum", { a: 2, b: 0.5 }), 2.5);
    const day = await pool.run("tomorrow", new Date(0));
    assert.is(+day, 86_400_000);
    assert.is(await pool.run("echo", undefined as never), undefined);
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 2 }), async (value) => {
        assert.equal(await pool.run("echo", value), value);
        assert.equal(await pool.run("text", value as never), value);
      }),
      { numRuns: 50 },
    );
    const value = { of: new Map([[1n, new Date(5)]]), not: undefined };
    assert.equal(await pool.run("echo", value), value);
    for (const name of ["toString", "constructor", "__proto__"]) {
      const value = Object.fromEntries([[name, 1], ["valueOf", undefined]]);
      const copy = await pool.run("echo", [value, value]) as object[];
      assert.is(copy[0], copy[1]);
      assert.equal(Object.entries(copy[0]!), Object.entries(value));
    }
    const refused = pool.run("text", { not: undefined } as never);
    assert.match((await rejection(refused)).message, 'at ["not"]');
  });

  test(`run() by ${how} rejects with what the function throws`, async () => {
    const error = await rejection(pool.run("fail", "no luck"));
    assert.instance(error, RangeError);
    assert.is(error.message, "no luck");
    assert.match(error.stack!, "worker");
    assert.is((error.cause as { code?: string }).code, "ENOENT");
    const value = { text: "a value" };
    assert.equal(await rejection(pool.run("throwValue", value)), value);
    const odd = { text: "b", of: [1n, undefined] };
    assert.equal(await rejection(pool.run("throwValue", odd)), odd);
  });

  test(`a result by ${how} may be longer than the room of a task`, () =>
    withPool({ bytes: 64, orders: { blocking } }, async (pool) => {
      const text = await pool.run("repeat", { text: "ü", n: 100_000 });
      assert.is(text, "ü".repeat(100_000));
      const error = await rejection(pool.run("fail", "long ".repeat(10)));
      assert.is(error.message, "long ".repeat(10));
      const many = await Promise.all(
        [1, 2, 300].map((n) => pool.run("repeat", { text: "abc", n })),
      );
      assert.equal(many.map((text) => text.length), [3, 6, 900]);
    }));

  test(`run() by ${how} does thousands of tasks, each with its result`, async () => {
    const before = pool.stats().done;
    const results = await Promise.all(
      Array.from({ length: 3000 }, (_, a) => pool.run("sum", { a, b: 0.5 })),
    );
    assert.equal(results, results.map((_, a) => a + 0.5));
    const { done, waiting, running, wait, run } = pool.stats();
    assert.equal([done - before, waiting, running], [3000, 0, 0]);
    assert.ok(wait.count > 3000 && run.count === wait.count);
    assert.ok(run.p50 <= run.p90 && run.p90 <= run.p99);
    assert.ok(run.p99 <= run.max);
  });
}

test("inPlace sends only the place of bytes in the pool's memory", () => {
  const size = { bytes: 16, slots: 4 };
  const byteOffset = 64;
  const end = byteOffset + Pool.byteLength(size);
  const memory = new SharedArrayBuffer(end + 1000);
  const place = { ...size, ahead: 0, memory, byteOffset };
  return withPool(place, async (pool, words) => {
    const data = new Uint8Array(memory, end);
    const increment = (request: Uint8Array) => pool.run("increment", request);
    const there = await increment(data.subarray(1, 999));
    assert.is(there.buffer, memory);
    assert.is(there.byteOffset, end + 1);
    assert.equal([...data.subarray(0, 2), data[998], data[999]], [0, 1, 1, 0]);
    const bytes = Uint8Array.of(1, 2, 3);
    const copy = await increment(bytes);
    assert.equal([...copy, ...bytes], [2, 3, 4, 1, 2, 3]);
    assert.is.not(copy.buffer, memory);
    assert.match((await rejection(increment(data.slice(0, 9)))).message, /17/);
    assert.match((await rejection(increment([] as never))).message, /no|not/);
    // Those that wait, too.
    const gate = pool.run("gate", 1);
    const all = Array.from(
      { length: 8 },
      (_, i) => increment(i % 2 ? data.subarray(0, 1) : Uint8Array.of(i)),
    );
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await gate;
    const ends = await Promise.all(all);
    assert.equal(ends.map(([it]) => it), [1, 4, 3, 4, 5, 4, 7, 4]);
  });
});

// ---- bad input -------------------------------------------------------------------

test("run() refuses what cannot be sent, before anything is sent", () =>
  withPool({ bytes: 16 }, async (pool) => {
    const refused = async (promise: Promise<unknown>, what: RegExp) =>
      assert.match((await rejection(promise)).message, what);
    await refused(pool.run("echo", { a: [() => {}] }), /at \["a"\]\[0\]/);
    await refused(pool.run("sum", { a: 1 } as never), /b/);
    await refused(pool.run("add", new Uint8Array(17)), /has 17 bytes.*for 16/);
    await refused(pool.run("echo", "x".repeat(15)), /has 17 bytes.*for 16/);
    const longest = "x".repeat(14);
    assert.is(await pool.run("echo", longest), longest);
    await refused(
      pool.run("nothing" as "echo", 1),
      /no task "nothing": there are add, sum/,
    );
    const not = { time: 1 } as never;
    await refused(pool.run("echo", 1, not), /Unknown option "time"/);
    const late = { timeout: -1 };
    await refused(pool.run("echo", 1, late), /timeout/);
    await refused(pool.run("echo", 1, { priority: NaN }), /priority/);
    assert.is(pool.stats().waiting, 0);
    assert.is(await pool.run("echo", 1), 1);
  }));

test("a task that the worker has no function for is refused by name", () =>
  withPool({}, async (pool) => {
    const error = await rejection(pool.run("missing", 1));
    assert.instance(error, TypeError);
    assert.match(error.message, /no function for task "missing": it has add, /);
  }));

test("new Pool() refuses options that it cannot follow", () => {
  const fails = (options: Some, what: RegExp) =>
    assert.throws(
      () => new Pool({ tasks, workers: 1, make: workerOf({}), ...options }),
      (error: Error) => what.test(error.message),
    );
  fails({ workers: -1 }, /workers/);
  fails({ make: undefined } as never, /make must be a function/);
  fails({ tasks: {} } as never, /1 to 65534 tasks/);
  for (const wrong of [1, null, undefined]) {
    const tasks = { a: wrong };
    fails({ tasks } as never, /Task a must be made by task\(\)/);
  }
  fails({ tasks: { a: {} } } as never, /codec/);
  fails({ bytes: 0 }, /bytes/);
  fails({ slots: 1025 }, /slots/);
  for (const maxQueue of [-1, 1.5, NaN, Infinity]) {
    fails({ maxQueue }, new RegExp(`maxQueue.*received ${maxQueue}`));
  }
  fails({ byteOffset: 4 }, /multiple of 8/);
  fails({ worker: 1 } as never, /Unknown name "worker"/);
  assert.throws(() => task({ request: 1 } as never), /codec/);
  assert.throws(() => task({ reqest: codec.json } as never), /reqest/);
  assert.throws(() => task({ idempotent: 1 } as never), /idempotent/);
});

test("new Pool() changes nothing in memory that it does not fit", () => {
  const config = { bytes: 64, slots: 2 };
  const bytes = Pool.byteLength(config);
  for (const byteOffset of [0, 8]) {
    const memory = new SharedArrayBuffer(bytes + byteOffset - 4);
    refuses(
      memory,
      () => new Pool({ tasks, workers: 0, memory, byteOffset, ...config }),
      RangeError,
      `Cannot place a pool: ${bytes} bytes at ${byteOffset} do not fit`,
    );
  }
});

test("servePool() outside a worker is refused", async () => {
  if (IN_PAGE) skip("in a page, tests run in a worker");
  const error = await rejection(servePool(tasks, { echo: (it) => it }));
  assert.match(error.message, /in a worker/);
});

// ---- the end of a task -------------------------------------------------------------

test("a task that is aborted before it begins is not done", () =>
  withPool({ ahead: 0 }, async (pool, words) => {
    const first = pool.run("gate", 1);
    const control = new AbortController();
    const { signal } = control;
    const second = rejection(pool.run("gate", 2, { signal }));
    const third = pool.run("gate", 3);
    control.abort("enough");
    assert.is(await second, "enough");
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    assert.equal([await first, await third], [1, 1003]);
    const aborted = rejection(pool.run("echo", 1, { signal }));
    assert.is(await aborted, "enough");
    assert.is(words[2], 2);
  }));

for (const name of ["spin", "wait"] as const) {
  test(`a task that is aborted while it runs ends: ${name}`, () =>
    withPool({}, async (pool) => {
      await pool.ready;
      const control = new AbortController();
      const running = rejection(
        pool.run(name, undefined, { signal: control.signal }),
      );
      while (pool.stats().running === 0) await pause();
      control.abort("late");
      assert.is(await running, "late");
      assert.is(await pool.run("ended"), 1);
    }));
}

test("a task that takes too long fails with a TimeoutError", () =>
  withPool({}, async (pool) => {
    const error = await rejection(pool.run("wait", undefined, { timeout: 1 }));
    assert.is(error.name, "TimeoutError");
    const [running, waiting] = [1, 2].map(() =>
      rejection(pool.run("spin", undefined, { timeout: 1 }))
    );
    assert.is((await running)!.name, "TimeoutError");
    assert.is((await waiting)!.name, "TimeoutError");
    assert.is(await pool.run("echo", 7), 7);
  }));

const pause = (ms = 1) => new Promise((resolve) => setTimeout(resolve, ms));

// ---- the end of a worker -----------------------------------------------------------

for (const how of ["exit", "throw"] as const) {
  test(`the task of a worker that dies fails, others go on: ${how}`, () =>
    withPool({ workers: 2 }, async (pool) => {
      const dying = rejection(pool.run("die", how));
      const others = Promise.all([1, 2, 3].map((n) => pool.run("echo", n)));
      const error = await dying;
      assert.instance(error, WorkerError);
      assert.match(error.message, /worker of task "die" died/);
      assert.equal(await others, [1, 2, 3]);
      assert.is(await pool.run("echo", 4), 4);
      while (pool.stats().workers.length < 2) await pause();
      assert.is(pool.stats().died, 1);
    }));
}

test("a task that is idempotent is done again when its worker dies", () =>
  withPool({}, async (pool, words) => {
    assert.is(await pool.run("dieOnce", 7), 7);
    assert.is(pool.stats().died, 1);
    assert.is(words[1], 1);
  }));

test("a task that ends each of its workers fails after three", () =>
  withPool({}, async (pool, words) => {
    const error = await rejection(pool.run("dieAlways"));
    assert.match(error.message, /died, 3 times/);
    assert.is(words[1], 3);
    assert.is(await pool.run("echo", 1), 1);
  }));

test("a WorkerError names the exit code, and has what was thrown as cause", () =>
  withPool({}, async (pool) => {
    const thrown = await rejection(pool.run("die", "throw"));
    const cause = thrown.cause as Error;
    // A worker of the web tells no more than a text.
    assert.match(cause.message, /the worker is out of luck/);
    const exited = await rejection(pool.run("die", "exit"));
    if (!IN_NODE) skip("only Node tells the exit code of a worker");
    assert.is(exited.message, 'The worker of task "die" died (exit code 7)');
  }));

test("a worker that ends while it starts does not shrink the pool", async () => {
  let made = 0;
  const make = () =>
    start(WORKER, made++ < 2 ? { instead: "throw" } : { instead: undefined });
  if (IN_WEBKIT) skip("WebKit does not tell what a module throws");
  await withPool({ make }, async (pool) => {
    const early = pool.run("echo", 1);
    await pool.ready;
    assert.is(await early, 1);
    assert.equal([made, pool.stats().died], [3, 2]);
    assert.is(pool.stats().workers.length, 1);
  });
});

test("terminate: true ends the worker of a task that is aborted", () =>
  withPool({}, async (pool, words) => {
    await pool.ready;
    const control = new AbortController();
    const { signal } = control;
    const running = rejection(pool.run("gate", 1, { signal, terminate: true }));
    while (pool.stats().running === 0) await pause();
    control.abort("enough");
    assert.is(await running, "enough");
    assert.is(await pool.run("echo", 1), 1);
    assert.is(words[2], 0);
  }));

// ---- the beginning -------------------------------------------------------------------

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
  const hello = { weft: tag, what: "hello", id: 4711, tasks: {} };
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
  const none = new Pool({ tasks, workers: 1, make: () => 1 as never });
  const error = await rejection(none.run("echo", 1));
  assert.match(error.message, /make must return a Worker: received 1/);
});

// ---- the end -------------------------------------------------------------------------

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

// ---- many tasks ------------------------------------------------------------------------

test("a line gives those of the highest priority, in their order", () => {
  const step = fc.oneof(
    fc.record({ put: fc.nat(4) }),
    fc.constant({ take: true }),
    fc.record({ remove: fc.nat(50) }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
    const line = new Line<Standing>();
    let model: Standing[] = [];
    let order = 0;
    for (const step of steps) {
      if ("put" in step) {
        const it = { priority: step.put, order: order++, rank: 0 };
        line.put(it);
        model.push(it);
        model.sort((a, b) => b.priority - a.priority || a.order - b.order);
      } else {
        const it = "take" in step ? model[0] : model[step.remove];
        if (it !== undefined) line.remove(it);
        model = model.filter((other) => other !== it);
      }
      assert.is(line.first, model[0]);
      assert.is(line.size, model.length);
      const lowest = model.at(-1)?.priority ?? Infinity;
      assert.is(line.lowest, lowest);
    }
    assert.equal(new Set(line), new Set(model));
  }));
});

test("a line of any priorities takes few looks at each", () => {
  const N = 10_000;
  for (const sign of [1, -1]) {
    let looks = 0;
    const line = new Line<Standing>();
    const all = Array.from({ length: N }, (_, order) => ({
      get priority() {
        looks++;
        return order * sign;
      },
      order,
      rank: 0,
    }));
    for (const it of all) line.put(it);
    while (line.first !== undefined) line.remove(line.first);
    assert.ok(looks < N * 150, `${looks} looks at ${N}`); // 14 levels
  }
});

test("tasks of a higher priority begin before others", () =>
  withPool({ ahead: 0 }, async (pool, words) => {
    const order: number[] = [];
    const one = (number: number, priority: number) =>
      pool.run("gate", number, { priority }).then((rank) => {
        order[Math.floor(rank / 1000)] = rank % 1000;
      });
    const all = [one(0, 0), ...[1, 2, 3, 4].map((n) => one(n, n % 2))];
    all.push(one(5, 7), one(6, -1));
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await Promise.all(all);
    assert.equal(order, [0, 5, 1, 3, 2, 4, 6]);
  }));

test("long requests that wait are done in their order, but aborted ones", () =>
  withPool({ slots: 4, ahead: 0, bytes: 10_000 }, async (pool, words) => {
    const gate = pool.run("gate", 0);
    const control = new AbortController();
    const { signal } = control;
    const done: number[] = [];
    const one = async (value: number, options = {}) => {
      const request = new Uint8Array(9999).fill(value);
      const result = await pool.run("add", request, options);
      assert.ok(result.length === 9999 && result.every((it) => it > value));
      done.push(value);
    };
    const aborted = [2, 5].map((value) => rejection(one(value, { signal })));
    const all = [1, 3, 4, 6].map((value) => one(value));
    const first = one(7, { priority: 1 });
    const long = await rejection(pool.run("add", new Uint8Array(10_001)));
    assert.match(long.message, /has 10001 bytes/);
    control.abort("enough");
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    for (const one of aborted) assert.is(await one, "enough");
    await Promise.all([gate, first, ...all]);
    assert.equal(done, [7, 1, 3, 4, 6]);
    const { waiting, running } = pool.stats();
    assert.equal([waiting, running], [0, 0]);
  }));

test("results of short tasks come while a long one runs", () =>
  withPool({ workers: 2, orders: { blocking: true } }, async (pool, words) => {
    const sums = () =>
      Promise.all(
        Array.from({ length: 500 }, (_, a) => pool.run("sum", { a, b: 0 })),
      );
    await sums(); // from now on, workers tell of several results at a time
    const gate = pool.run("gate", 1);
    const results = await sums();
    assert.equal(results, results.map((_, a) => a));
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    assert.is(await gate, 1);
  }));

test("a result comes although the worker does not tell of it", () =>
  withPool({ orders: { blocking: true } }, async (pool, words) => {
    const sum = (a: number) => pool.run("sum", { a, b: 0 });
    const sums = (n: number) =>
      Promise.all(Array.from({ length: n }, (_, a) => sum(a)));
    const open = (value: number) => {
      Atomics.store(words, 0, value);
      Atomics.notify(words, 0);
    };
    await sums(500);
    // Of the eleventh and the twelfth task the worker is to tell together with
    // the thirteenth, which does not end: only a look finds their results. The
    // worker may begin the gate before the ten. Then they wait for it, and the
    // test begins again.
    for (let left = 5;; left--) {
      open(0);
      const before = sums(10).then(() => true);
      const gate = pool.run("gate", 1);
      const untold = sum(7);
      const control = new AbortController();
      const endless = pool.run("spin", undefined, { signal: control.signal });
      const aborted = rejection(endless);
      const inOrder = await Promise.race([before, pause(2000)]);
      open(1);
      if (inOrder === true) {
        const late = pause(30_000).then(() => "nobody looked");
        assert.is(await Promise.race([untold, late]), 7);
      }
      control.abort("enough");
      assert.is(await aborted, "enough");
      await Promise.all([gate, before, untold]);
      if (inOrder === true) return;
      assert.ok(left > 1, "the gate was first five times");
    }
  }));

test("tasks of about 2 ms lie ready for a worker", () =>
  withPool({}, async (pool, words) => {
    const order = async () => {
      words.fill(0);
      const ranks = await Promise.all([
        ...[0, 1, 2, 3].map((n) => pool.run("gate", n)),
        pool.run("gate", 9, { priority: 1 }),
        Promise.resolve().then(() => {
          Atomics.store(words, 0, 1);
          Atomics.notify(words, 0);
          return 0;
        }),
      ]);
      ranks.pop();
      return ranks.sort((a, b) => a - b).map((rank) => rank % 1000);
    };
    await pool.run("sleep", 5);
    assert.equal(await order(), [0, 1, 9, 2, 3], "one task is more than 2 ms");
    const sum = (a: number) => pool.run("sum", { a, b: 0 });
    await Promise.all(Array.from({ length: 500 }, (_, a) => sum(a)));
    assert.equal(await order(), [0, 1, 2, 3, 9], "more than four are less");
  }));

test("map() yields in the order of the requests", () =>
  withPool({ workers: 2, orders: { limit: 4 } }, async (pool) => {
    async function* requests() {
      for (let a = 0; a < 100; a++) {
        if (a % 16 === 0) await pause();
        yield { a, b: 0 };
      }
    }
    const sums: number[] = [];
    for await (const sum of pool.map("sum", requests())) sums.push(sum);
    assert.equal(sums, sums.map((_, a) => a));
    assert.is(sums.length, 100);
    const set = new Set<number>();
    const pairs = sums.map((a) => ({ a, b: 0.5 }));
    for await (const sum of pool.map("sum", pairs, { ordered: false })) {
      set.add(sum);
    }
    assert.equal([...set].sort((a, b) => a - b), sums.map((a) => a + 0.5));
  }));

test("map() yields as results come, with ordered: false", () =>
  withPool({ workers: 2 }, async (pool, words) => {
    await pool.ready;
    const gate = pool.run("gate", 1);
    while (pool.stats().running === 0) await pause();
    const values = pool.map("echo", [1, 2], { ordered: false });
    // Which of the two comes first is open: a worker looks at slots in turn.
    const two = [await values.next(), await values.next()];
    assert.equal(two.map(({ value }) => value).sort(), [1, 2]);
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await gate;
  }));

test("map() takes no more requests than its limit, and ends with the loop", () =>
  withPool({}, async (pool) => {
    let taken = 0;
    let ended = false;
    function* requests() {
      try {
        for (;;) yield taken++;
      } finally {
        ended = true;
      }
    }
    for await (const value of pool.map("echo", requests(), { limit: 3 })) {
      assert.ok(taken <= Number(value) + 4, `${taken} requests at ${value}`);
      if (value === 20) break;
    }
    await pause();
    assert.ok(ended);
    const error = await rejection(pool.map("fail", ["no luck", "2"]).next());
    assert.is(error.message, "no luck");
    const { signal } = new AbortController();
    assert.throws(() => pool.map("echo", 7 as never, { signal }), /iterate/);
  }));

test("mapSettled() tells how each task ended, and goes on", () =>
  withPool({ bytes: 64 }, async (pool) => {
    const texts = ["a", "b", "c".repeat(1000), "d"];
    for (const ordered of [true, false]) {
      const said: string[] = [];
      for await (const end of pool.mapSettled("fail", texts, { ordered })) {
        assert.is(end.status, "rejected");
        said.push(`${(end as PromiseRejectedResult).reason.message}`);
      }
      assert.is(said.length, 4);
      for (const text of ["a", "b", "d"]) assert.ok(said.includes(text));
      assert.ok(said.some((text) => text.includes("was made for 64")));
    }
    const ends = [];
    for await (const end of pool.mapSettled("echo", [1, 2])) ends.push(end);
    assert.equal(ends, [1, 2].map((value) => ({ status: "fulfilled", value })));
  }));

test("mapSettled() ends by errors that are not of a task", () =>
  withPool({}, async (pool) => {
    const wrong = pool.mapSettled("nothing" as "echo", [1, 2]);
    assert.match((await rejection(wrong.next())).message, "no task");
    const requests = (function* () {
      yield 1;
      throw new Error("no more");
    })();
    const run = pool.mapSettled("echo", requests);
    assert.equal((await run.next()).value, { status: "fulfilled", value: 1 });
    assert.is((await rejection(run.next())).message, "no more");
    const control = new AbortController();
    const { signal } = control;
    const waits = pool.mapSettled("wait", [undefined], { signal });
    const next = rejection(waits.next());
    control.abort(new Error("enough"));
    assert.is((await next).message, "enough");
    function* endless() {
      for (;;) yield 1;
    }
    const last = pool.mapSettled("echo", endless());
    await last.next();
    const closed = pool.close();
    const end = async () => {
      for await (const _ of last);
    };
    assert.instance(await rejection(end()), ClosedError);
    await closed;
  }));

test("map() waits for requests, and ends with their error", () =>
  withPool({ workers: 2 }, async (pool) => {
    const later = [1, 2, 3].map((n) => pause().then(() => n));
    const values: unknown[] = [];
    for await (const value of pool.map("echo", later as never)) {
      values.push(value);
    }
    assert.equal(values, [1, 2, 3]);
    const broken = new RangeError("no more");
    function* some() {
      yield 1;
      throw broken;
    }
    async function* others() {
      yield* some();
      await pause();
    }
    for (const requests of [some, others]) {
      const results = pool.map("echo", requests());
      assert.equal((await results.next()).value, 1);
      assert.is(await rejection(results.next()), broken);
      assert.ok((await results.next()).done);
    }
    const odd = { [Symbol.iterator]: () => ({ next: () => undefined }) };
    const nothing = pool.map("echo", odd as never);
    assert.ok(await rejection(nothing.next()) instanceof TypeError);
    assert.is(await pool.run("echo", 1), 1);
    const none = pool.map("echo", []);
    assert.equal(await none.next(), { value: undefined, done: true });
    const unsendable = pool.map("echo", [1, () => {}, 3]);
    assert.equal((await unsendable.next()).value, 1);
    assert.ok(await rejection(unsendable.next()) instanceof TypeError);
    const closed = rejection(pool.map("nothing" as never, [1] as never).next());
    assert.match((await closed).message, /no task "nothing"/);
  }));

test("an aborted map() ends all that it has begun, and its requests", () =>
  withPool({ workers: 2, slots: 4 }, async (pool) => {
    await pool.ready;
    let ended = false;
    function* endless() {
      ended = false;
      try {
        for (;;) yield undefined;
      } finally {
        ended = true;
      }
    }
    async function* slowly() {
      for (const request of endless()) {
        await pause();
        yield request;
      }
    }
    for (const ordered of [true, false]) {
      for (const isAsync of [true, false]) {
        const before = pool.stats();
        const control = new AbortController();
        const { signal } = control;
        const results = pool.map(
          "wait",
          isAsync ? slowly() : endless(),
          { signal, ordered, limit: 3 },
        );
        const error = rejection(results.next());
        while (pool.stats().running < 2) await pause();
        const reason = new Error("enough");
        control.abort(reason);
        assert.is(await error, reason);
        while (!ended) await pause();
        assert.is(pool.stats().done, before.done);
        assert.ok(pool.stats().failed >= before.failed + 2);
        while (pool.stats().running > 0) await pause();
        assert.is(pool.stats().waiting, 0);
        assert.is(
          await rejection(pool.map("wait", [], { signal }).next()),
          reason,
        );
      }
    }
    const late = pool.map("wait", [undefined], { timeout: 5 }).next();
    assert.is((await rejection(late)).name, "TimeoutError");
    const odd = pool.map("echo", [1], { priority: NaN }).next();
    assert.ok(await rejection(odd) instanceof RangeError);
  }));

test("several uses of map(), and run(), take turns", () =>
  withPool({ workers: 2, slots: 4 }, async (pool) => {
    function* endless() {
      for (let n = 0;; n++) yield n;
    }
    const runs = [1, 2, 3].map(() => pool.map("echo", endless()));
    for (let i = 0; i < 50; i++) {
      for (const run of runs) assert.is((await run.next()).value, i);
      assert.is(await pool.run("echo", i), i);
    }
    const closing = pool.close();
    for (const run of runs) {
      const all = async () => {
        for await (const _ of run);
      };
      assert.ok(await rejection(all()) instanceof ClosedError);
    }
    await closing;
  }));

test("a map() goes on when workers die, or with what they have done", () =>
  withPool({ workers: 2 }, async (pool, words) => {
    await pool.ready;
    const values: unknown[] = [];
    for await (const value of pool.map("dieOnce", [1, 2, 3, 4])) {
      values.push(value);
    }
    assert.equal(values, [1, 2, 3, 4]);
    assert.is(words[1], 1);
    const dying = pool.map("die", ["exit" as const]).next();
    assert.ok(await rejection(dying) instanceof WorkerError);
    const nobody = pool.map("wait", [undefined, undefined, undefined]);
    const failed = rejection(nobody.next());
    while (pool.stats().running < 2) await pause();
    pool.terminate();
    assert.ok(await failed instanceof ClosedError);
  }));

test("run() is refused at once if maxQueue tasks wait", async () => {
  for (const maxQueue of [0, 3]) {
    await withPool({ workers: 2, maxQueue }, async (pool, words) => {
      const tasks = Array.from(
        { length: 2 + maxQueue },
        (_, n) => pool.run("gate", n),
      );
      const refused = await rejection(pool.run("gate", 9));
      assert.instance(refused, QueueFullError);
      assert.is(refused.name, "QueueFullError");
      assert.match(refused.message, `maxQueue is ${maxQueue}`);
      let roomy = false;
      const room = pool.room().then(() => roomy = true);
      const mapped = pool.map("gate", [7, 8]).next();
      await pause();
      assert.not.ok(roomy);
      const { failed, done } = pool.stats();
      assert.equal([failed, done], [0, 0]);
      Atomics.store(words, 0, 1);
      Atomics.notify(words, 0);
      await Promise.all([...tasks, room]);
      assert.ok((await mapped).value! % 1000 >= 7);
      assert.is(await pool.run("echo", 1), 1);
      await pool.close();
      const closed = await rejection(pool.run("echo", 1));
      assert.instance(closed, ClosedError);
    });
  }
});

test("the end of a pool without workers is told to who waits for room", async () => {
  for (const end of ["close", "terminate"] as const) {
    await withPool({ workers: 0, maxQueue: 0 }, async (pool) => {
      const room = pool.room();
      const mapped = rejection(pool.map("echo", [1, 2]).next());
      await pause();
      await pool[end]();
      await room;
      assert.instance(await mapped, ClosedError);
      assert.instance(await rejection(pool.run("echo", 1)), ClosedError);
    });
  }
});

test("room() waits while too many tasks wait", () =>
  withPool({ slots: 2, ahead: 0 }, async (pool, words) => {
    const tasks = [pool.run("gate", 0)];
    await pool.room();
    tasks.push(pool.run("gate", 1), pool.run("gate", 2));
    let roomy = false;
    const room = pool.room().then(() => roomy = true);
    await pause();
    assert.not.ok(roomy);
    assert.is(pool.stats().waiting + pool.stats().running, 3);
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await room;
    await Promise.all(tasks);
  }));

test("room() ends by its signal or its timeout, and others wait on", () =>
  withPool({ slots: 2, ahead: 0 }, async (pool, words) => {
    const control = new AbortController();
    const { signal } = control;
    await pool.room({ signal, timeout: 0 }); // there is room
    const tasks = [0, 1, 2].map((n) => pool.run("gate", n));
    const aborted = rejection(pool.room({ signal, timeout: 60_000 }));
    const late = await rejection(pool.room({ timeout: 1 }));
    assert.is(late.name, "TimeoutError");
    assert.match(late.message, "no room for a task within 1 ms");
    const room = pool.room({ signal: new AbortController().signal });
    control.abort("enough");
    assert.is(await aborted, "enough");
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await room;
    await Promise.all(tasks);
    assert.is(await rejection(pool.room({ signal })), "enough");
    const refused = async (options: unknown, what: RegExp) =>
      assert.match(
        (await rejection(pool.room(options as never))).message,
        what,
      );
    await refused({ time: 1 }, /Unknown option "time"/);
    await refused({ timeout: -1 }, /timeout.*received -1/);
    await refused({ signal: 1 }, /AbortSignal: received 1/);
    pool.terminate();
    await pool.room(); // as all tasks, the next one fails at once
  }));

test("room() heeds an abort in each stage of its wait", async () => {
  let isFull = true;
  const producers = new Producers(() => isFull);
  const begin = () => {
    const control = new AbortController();
    const listeners = new Set<unknown>();
    const { signal } = control;
    const counted = {
      get aborted() {
        return signal.aborted;
      },
      get reason() {
        return signal.reason;
      },
      addEventListener(_: string, listener: () => void) {
        listeners.add(listener);
        signal.addEventListener("abort", listener);
      },
      removeEventListener(_: string, listener: () => void) {
        listeners.delete(listener);
        signal.removeEventListener("abort", listener);
      },
    } as unknown as AbortSignal;
    let end = "";
    producers.wait({ signal: counted }).then(() => end = "room", (reason) => {
      end = reason;
    });
    const ended = async () => {
      await pause();
      return `${end}, ${listeners.size} listen`;
    };
    return { abort: () => control.abort("aborted"), ended };
  };
  const first = begin();
  assert.is(await first.ended(), ", 1 listen");
  first.abort(); // it sleeps
  assert.is(await first.ended(), "aborted, 0 listen");
  const second = begin();
  await pause();
  isFull = false;
  producers.tell();
  second.abort(); // it is woken, and did not run yet
  assert.is(await second.ended(), "aborted, 0 listen");
  isFull = true;
  const third = begin();
  const fourth = begin();
  await pause();
  isFull = false;
  producers.tell();
  isFull = true; // somebody was first
  assert.is(await third.ended(), ", 1 listen");
  third.abort(); // it sleeps again
  assert.is(await third.ended(), "aborted, 0 listen");
  isFull = false;
  producers.tell();
  assert.is(await fourth.ended(), "room, 0 listen");
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
    }));
}

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

test("a long result settles though its worker is terminated behind it", () =>
  withPool({ bytes: 64, orders: { limit: 4 } }, async (pool) => {
    await pool.ready;
    for (let i = 0; i < 3; i++) {
      const control = new AbortController();
      const { signal } = control;
      const endless = pool.run("wait", undefined, { signal, terminate: true });
      const ended = rejection(endless);
      const long = pool.run("repeat", { text: "0123456789", n: 500_000 })
        .then((it) => it.length, (error) => error);
      await pause(i * 5);
      control.abort("enough");
      await ended;
      const length = await long;
      if (length !== 5_000_000) assert.instance(length, WorkerError);
    }
    assert.is(await pool.run("echo", 1), 1);
  }));

test("a reply whose length is damaged is refused", () => {
  const size = { bytes: 64, slots: 2 };
  const memory = new SharedArrayBuffer(Pool.byteLength(size));
  return withPool({ ...size, memory }, async (pool) => {
    await pool.ready;
    const ring = new Int32Array(memory);
    const { length } = LAYOUT.call_ring;
    const stride = 64; // words of a slot
    const replied = 5 << 28; // the phase of a slot that was answered
    for (const wrong of [32 + 65, 31, -1]) {
      const refused = rejection(pool.run("add", new Uint8Array(8)));
      let slot: number | undefined;
      while (slot === undefined) { // this thread must not look first
        slot = [length, length + stride].find((at) =>
          (Atomics.load(ring, at) & 7 << 28) === replied
        );
      }
      ring[slot + 3] = wrong;
      assert.instance(await refused, DamagedError);
    }
    assert.equal([...await pool.run("add", Uint8Array.of(1))], [2]);
  });
});

test("stats() tells time in tasks from time asleep", () =>
  withPool({}, async (pool, words) => {
    await pool.ready;
    const [idle] = pool.stats().workers;
    assert.equal([idle!.state, idle!.tasks, idle!.busy], ["idle", 0, 0]);
    const gate = pool.run("gate", 1);
    const worker = () => pool.stats().workers[0]!;
    while (worker().busy < 20) await pause();
    assert.is(worker().state, "busy");
    assert.ok(worker().share > 0);
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    await gate;
    const before = pool.stats().workers[0]!;
    await pause(20);
    const after = pool.stats().workers[0]!;
    assert.is(after.busy, before.busy);
    assert.ok(after.idle > before.idle);
    const { run, wait } = pool.stats();
    assert.ok(run.max >= 10 && run.p50 === run.max && run.count === 1);
    assert.is(wait.count, 1);
    assert.is(run.buckets.length, 1);
    assert.ok(run.buckets[0]!.below > run.max);
  }));
