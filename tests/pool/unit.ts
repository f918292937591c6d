// also: node, browsers
// Tasks, what is refused, and how a task or a worker ends.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { DamagedError } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  codec,
  inPlace,
  Pool,
  servePool,
  task,
  WorkerError,
} from "../../primitives/pool.ts";
import { IN_WEBKIT, skip, suite } from "../_run/harness.ts";
import { refuses } from "../_run/model.ts";
import { start } from "../_run/workers.ts";
import { tasks } from "./tasks.ts";
import {
  pause,
  poolOf,
  rejection,
  type Some,
  withPool,
  WORKER,
  workerOf,
} from "./pools.ts";

const test = suite("Pool");

const IN_NODE = !("Deno" in globalThis || "Bun" in globalThis) &&
  "process" in globalThis;

/** Whether this runs in a worker of a page. */
const IN_PAGE = !("Deno" in globalThis) && !("process" in globalThis);

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

// ---- values -----------------------------------------------------------------

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
  const byteOffset = 64n; // as addresses of wasm64 are
  const end = Number(byteOffset) + Pool.byteLength(size);
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
    const long = await increment(data.slice(1, 10)); // there is room for 7
    assert.equal([...long], Array(9).fill(2));
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

test("a pool works at the beginning and the end of a memory of 4 GiB", () => {
  const pages = { initial: 2 ** 16, maximum: 2 ** 16, shared: true };
  const memory = new WebAssembly.Memory(pages);
  const size = { bytes: 64, slots: 4 };
  const last = 2 ** 32 - Math.ceil(Pool.byteLength(size) / 8) * 8;
  const works = (byteOffset: number) =>
    withPool({ ...size, memory, byteOffset }, async (pool) => {
      const sum = pool.run("sum", { a: 1, b: 2 }, { timeout: 30_000 });
      assert.is(await sum, 3);
      const data = new Uint8Array(memory.buffer, last - 9, 9);
      assert.is((await pool.run("increment", data)).byteOffset, last - 9);
    });
  return works(0).then(() => works(last));
});

test("inPlace refuses bytes whose length has no room in 32 bits", () => {
  /** It stands for a part of a memory that is longer than most machines'. */
  class Long extends Uint8Array {
    override get length() {
      return 2 ** 32;
    }
  }
  assert.throws(() => inPlace.encode(new Long(4), new Uint8Array(9)), /2\^32/);
});

// ---- bad input --------------------------------------------------------------

test("run() refuses what cannot be sent, before anything is sent", () =>
  withPool({ bytes: 16 }, async (pool) => {
    const refused = async (promise: Promise<unknown>, what: RegExp) =>
      assert.match((await rejection(promise)).message, what);
    await refused(pool.run("echo", { a: [() => {}] }), /at \["a"\]\[0\]/);
    await refused(pool.run("sum", { a: 1 } as never), /b/);
    await refused(
      pool.run("nothing" as "echo", 1),
      /no task "nothing": there are add, sum/,
    );
    const not = { time: 1 } as never;
    await refused(pool.run("echo", 1, not), /Unknown option "time"/);
    const late = { timeout: -1 };
    await refused(pool.run("echo", 1, late), /timeout/);
    await refused(pool.run("echo", 1, { priority: NaN }), /priority/);
    for (const name of ["signal", "terminate"]) {
      const what = new RegExp(`${name}.*received 7`);
      await refused(pool.run("echo", 1, { [name]: 7 as never }), what);
    }
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
  for (const count of [0, 65_535]) {
    const many = Array.from({ length: count }, (_, i) => [i, tasks.echo]);
    const what = new RegExp(`1 to 65534 tasks: received ${count}$`);
    fails({ tasks: Object.fromEntries(many) }, what);
  }
  for (const wrong of [1, null]) {
    fails({ tasks: wrong } as never, new RegExp(`by name: received ${wrong}`));
  }
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
  for (const name of ["guests", "ahead"]) {
    for (const wrong of [-1, 1025]) {
      fails({ [name]: wrong }, new RegExp(`${name}.*received ${wrong}`));
    }
  }
  fails({ patience: -1 }, /timeout.*received -1/);
  for (const wrong of [4, 4n, 0.5, NaN, null, "8", Symbol("8")]) {
    fails({ byteOffset: wrong as never }, /multiple of 8.*received \S/);
  }
  fails({ worker: 1 } as never, /Unknown name "worker"/);
  const size = { slot: 1 } as never;
  assert.throws(() => Pool.byteLength(size), /Unknown name "slot"/);
  assert.throws(() => Pool.byteLength(undefined as never), /configuration of/);
  assert.throws(() => task({ request: 1 } as never), /codec/);
  for (const lost of ["name", "encode", "decode"]) {
    const request = { ...codec.json, [lost]: 1 };
    assert.throws(() => task({ request } as never), /codec of a request/);
  }
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

test("servePool() refuses what it cannot follow, in a worker or not", async () => {
  const echo = (it: unknown) => it;
  for (
    const [functions, options, what] of [
      [null, {}, "an object of functions: received null"],
      [7, {}, "an object of functions: received 7"],
      [{}, {}, "an object of functions: it has none"],
      [{ echo }, { blockin: true }, "blockin"],
      [{ echo }, { blocking: 7 }, "blocking must be a boolean: received 7"],
      [{ echo }, { limit: 0 }, "limit must be .*: received 0"],
      [{ echo }, { limit: 1025 }, "limit must be .*: received 1025"],
    ] as const
  ) {
    const serving = servePool(tasks, functions as never, options as never);
    const error = await rejection(serving);
    assert.instance(error, "limit" in options ? RangeError : TypeError);
    assert.match(error.message, new RegExp(what));
  }
});

// ---- the end of a task ------------------------------------------------------

test("a task that is aborted before it begins is not done", () =>
  withPool({ ahead: 0 }, async (pool, words) => {
    const first = pool.run("gate", 1);
    const control = new AbortController();
    const { signal } = control;
    signal.addEventListener("abort", () => {}); // others listen to it, too
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

/** Goes on in a message. */
const messaged = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });

for (const bytes of [4096, 1]) {
  test(`a result that comes while this thread is busy is in time: ${bytes} bytes`, () =>
    withPool({ bytes }, async (pool, words) => {
      await pool.ready;
      const begin = performance.now();
      const done = pool.run("gate", 0.1, { timeout: 500 }); // 9 bytes
      const next = pool.run("gate", 0); // begins behind that answer
      while (pool.stats().running === 0) await pause();
      await pause(5); // the pool sleeps
      await messaged(); // in Node, timers come next
      Atomics.store(words, 0, 1);
      // The timer is due before the pool is told.
      while (performance.now() < begin + 550 || Atomics.load(words, 2) < 2);
      assert.is(await done, 0.1);
      assert.is(await next, 1000);
    }));
}

// ---- the end of a worker ----------------------------------------------------

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

test("a task that takes long keeps nothing of those beside it", () =>
  withPool({ orders: { limit: 2 } }, async (pool) => {
    await pool.run("thens", undefined);
    const control = new AbortController();
    const { signal } = control;
    const long = rejection(pool.run("wait", undefined, { signal }));
    for (let i = 0; i < 200; i++) await pool.run("sleep", undefined);
    const most = await pool.run("thens", undefined);
    assert.ok(most! < 50, `${most} for 200 tasks`);
    control.abort("enough");
    assert.is(await long, "enough");
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
