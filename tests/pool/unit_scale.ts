// also: node, browsers
// A pool whose workers are as many as there is work for, and are replaced when
// they have done enough.
import * as assert from "uvu/assert";
import {
  ClosedError,
  Pool,
  type PoolOptions,
  QueueFullError,
} from "../../primitives/pool.ts";
import { skip, suite } from "../_run/harness.ts";
import { start } from "../_run/workers.ts";
import { pause, WORKER } from "./pools.ts";
import { tasks } from "./tasks.ts";
import type { Orders } from "./worker.ts";

const test = suite("Pool that scales");

type Some = Partial<PoolOptions<typeof tasks>> & { orders?: Orders };

/** Runs `body` with a pool, the gate of its tasks, and how many were made. */
async function withPool(
  { orders = {}, ...options }: Some,
  body: (
    pool: Pool<typeof tasks>,
    gate: (open: boolean) => void,
    made: () => number,
  ) => Promise<unknown>,
) {
  const words = new Int32Array(new SharedArrayBuffer(16));
  let made = 0;
  const make = () => {
    made++;
    return start(WORKER, { words, ...orders });
  };
  const workers = { max: 3 };
  const pool = new Pool({ tasks, workers, make, idleTimeout: 20, ...options });
  const gate = (open: boolean) => {
    Atomics.store(words, 0, Number(open));
    Atomics.notify(words, 0);
  };
  try {
    await body(pool, gate, () => made);
  } finally {
    pool.terminate();
  }
}

const sizeOf = (pool: Pool<typeof tasks>) => pool.stats().workers.length;

test("a pool starts a worker for each task that waits for none, and ends them", () =>
  withPool({}, async (pool, gate, made) => {
    await pool.ready;
    await pause(5);
    assert.is(made(), 0);
    const first = pool.run("gate", 1);
    await pause(5);
    assert.is(made(), 1);
    const others = [2, 3, 4, 5].map((n) => pool.run("gate", n));
    while (pool.stats().running < 3) await pause();
    assert.is(made(), 3, "no more than max");
    gate(true);
    const ends = await Promise.all([first, ...others]);
    assert.equal(ends.map((it) => it % 1000).sort(), [1, 2, 3, 4, 5]);
    while (sizeOf(pool) > 0) await pause();
    assert.is(pool.stats().died, 0);
    assert.is(await pool.run("echo", 7), 7);
    assert.is(made(), 4);
    await pool.close();
  }));

test("a pool keeps min workers, and those that its tasks need", () => {
  // On a busy machine, tasks that end together end at different times.
  const idleTimeout = 300;
  const options = { workers: { min: 1, max: 3 }, idleTimeout };
  return withPool(options, async (pool, gate, made) => {
    await pool.ready;
    assert.is(made(), 1);
    const all = [1, 2, 3].map((n) => pool.run("gate", n));
    while (pool.stats().running < 3) await pause();
    await pause(2 * idleTimeout); // all of them are needed
    assert.is(sizeOf(pool), 3);
    gate(true);
    await Promise.all(all);
    gate(false);
    const last = [4, 5].map((n) => pool.run("gate", n));
    while (sizeOf(pool) > 2) await pause();
    await pause(2 * idleTimeout);
    assert.is(sizeOf(pool), 2);
    gate(true);
    await Promise.all(last);
    while (sizeOf(pool) > 1) await pause();
    await pause(2 * idleTimeout);
    assert.is(sizeOf(pool), 1);
    assert.is(made(), 3);
  });
});

test("a worker that does several tasks at a time counts for as many", () =>
  withPool({ orders: { limit: 4 } }, async (pool, _, made) => {
    assert.is(await pool.run("echo", 1), 1);
    const all = Array.from({ length: 4 }, () => pool.run("sleep", 10));
    await Promise.all(all);
    assert.is(made(), 1);
  }));

test("maxQueue counts the workers that may be started", () =>
  withPool({ maxQueue: 0, workers: { max: 2 } }, async (pool, gate) => {
    const all = [pool.run("gate", 1), pool.run("gate", 2)];
    const refused = await pool.run("gate", 3).catch((error) => error);
    assert.instance(refused, QueueFullError);
    gate(true);
    await Promise.all(all);
    assert.is(await pool.run("echo", 1), 1);
  }));

test("resize() takes a range, and a number", () =>
  withPool({ idleTimeout: Infinity }, async (pool, gate, made) => {
    await pool.resize({ min: 2, max: 4 });
    assert.is(made(), 2);
    const all = [1, 2, 3, 4].map((n) => pool.run("gate", n));
    while (pool.stats().running < 4) await pause();
    gate(true);
    await Promise.all(all);
    await pause(30);
    assert.is(sizeOf(pool), 4, "workers may idle for ever");
    await pool.resize(1);
    assert.is(sizeOf(pool), 1);
    await Promise.all([1, 2, 3].map((n) => pool.run("echo", n)));
    assert.is(sizeOf(pool), 1, "a number is both bounds");
    for (const wrong of [{ min: 2, max: 1 }, { max: -1 }, { max: 1.5 }]) {
      const error = await pool.resize(wrong).catch((error) => error);
      assert.instance(error, RangeError);
    }
    assert.is(await pool.run("echo", 1), 1);
  }));

test("a pool that scales fails when no worker can start", () =>
  withPool({ orders: { instead: "throw" } }, async (pool, _, made) => {
    if (made() > 0) skip("unreachable");
    const error = await pool.run("echo", 1).catch((error) => error);
    assert.match((error as Error).message, /out of luck|not call servePool/);
    const again = await pool.run("echo", 1).catch((error) => error);
    assert.is(again, error);
    assert.is(made(), 3);
  }));

test("a pool that scales is closed, whatever starts or idles", async () => {
  for (const end of ["close", "terminate"] as const) {
    await withPool({}, async (pool) => {
      const first = pool.run("echo", 1).catch((error) => error);
      await pool[end]();
      const result = await first;
      if (end === "close") assert.is(result, 1);
      else assert.instance(result, ClosedError);
      while (sizeOf(pool) > 0) await pause();
    });
  }
});

test("recycle.tasks: each worker does that many tasks, and none is lost", () =>
  withPool(
    { workers: 2, recycle: { tasks: 5 } },
    async (pool, _, made) => {
      const all = Array.from({ length: 40 }, (_, n) => pool.run("echo", n));
      assert.equal(await Promise.all(all), all.map((_, n) => n));
      assert.is(pool.stats().died, 0);
      assert.ok(made() >= 8, `${made()}`);
      for (const { tasks } of pool.stats().workers) assert.ok(tasks <= 5);
      assert.is(await pool.run("echo", 1), 1);
    },
  ));

test("recycle.tasks: a worker that blocks is replaced, too", () =>
  withPool(
    { workers: 1, recycle: { tasks: 1 }, orders: { blocking: true } },
    async (pool, _, made) => {
      for (let n = 0; n < 3; n++) assert.is(await pool.run("echo", n), n);
      while (made() < 4) await pause();
      assert.is(pool.stats().died, 0);
    },
  ));

test("recycle.memory: a worker with more memory is replaced", () =>
  withPool({ workers: 1, recycle: { memory: 1 } }, async (pool, _, made) => {
    const { process, performance } = globalThis as unknown as {
      process?: { memoryUsage?: unknown };
      performance: { memory?: unknown };
    };
    const tells = process?.memoryUsage ?? performance.memory;
    if (tells === undefined) skip("the platform does not tell the heap's size");
    for (let n = 0; n < 3; n++) assert.is(await pool.run("echo", n), n);
    while (made() < 4) await pause();
    assert.is(pool.stats().died, 0);
  }));

test("recycle.memory: a worker with less memory stays", () =>
  withPool(
    { workers: 1, recycle: { memory: 2 ** 40 } },
    async (pool, _, made) => {
      for (let n = 0; n < 3; n++) assert.is(await pool.run("echo", n), n);
      await pause(5);
      assert.is(made(), 1);
    },
  ));

test("a worker that does what was given up is not the one for the next task", () =>
  withPool({ workers: { max: 2 } }, async (pool, _, made) => {
    assert.is(await pool.run("echo", 1), 1);
    assert.is(made(), 1);
    const control = new AbortController();
    const { signal } = control;
    const endless = pool.run("listen", undefined, { signal });
    while (pool.stats().running < 1) await pause();
    control.abort("enough");
    assert.is(await endless.catch((reason) => reason), "enough");
    assert.is(await pool.run("echo", 2), 2);
    assert.is(made(), 2);
  }));

for (const how of ["recycle", "resize"]) {
  test(`a worker ends beside a task that was given up: ${how}`, () => {
    const recycle = how === "recycle" ? { tasks: 2 } : {};
    return withPool(
      { workers: 1, slots: 2, recycle, orders: { limit: 3 } },
      async (pool, _, made) => {
        for (let n = 1; n <= 3; n++) {
          // It is given up once it has begun; it never hears of that, and
          // keeps its slot as long as its worker.
          const control = new AbortController();
          const talk = pool.start("listen", undefined, {
            signal: control.signal,
            onReport: () => control.abort(),
          });
          const name = await talk.result.then(() => "", ({ name }) => name);
          assert.is(name, "AbortError");
          assert.is(await pool.run("echo", n), n);
          if (how === "resize") {
            await pool.resize(0);
            await pool.resize(1);
          }
          while (made() <= n) await pause();
        }
        assert.is(pool.stats().died, 0);
      },
    );
  });
}

/** The parts of a worker of any platform that this test puts itself into. */
interface Listened {
  on?(event: string, listener: (data: unknown) => void): unknown;
  addEventListener?(
    event: string,
    listener: (event: { data?: unknown }) => void,
  ): unknown;
  terminate(): unknown;
}

test("a task is done again whose result was lost when no worker was needed", async () => {
  let made = 0;
  const make = () => {
    const worker = start(WORKER, {}) as Listened & Worker;
    if (made++ > 0) return worker;
    // Its result comes by a message, and it ends before that arrives.
    const isLost = (data: unknown) => {
      const loses = (data as { what?: string } | undefined)?.what === "long";
      if (loses) worker.terminate();
      return loses;
    };
    const on = worker.on?.bind(worker);
    const add = worker.addEventListener?.bind(worker) as
      | Listened["addEventListener"]
      | undefined;
    if (on !== undefined) {
      worker.on = (event, listener) =>
        on(event, (data) => {
          if (event !== "message" || !isLost(data)) listener(data);
        });
    } else {
      worker.addEventListener = ((event: string, listener: never) =>
        add!(event, (told) => {
          if (event !== "message" || !isLost(told.data)) {
            (listener as (event: unknown) => void)(told);
          }
        })) as never;
    }
    return worker;
  };
  const workers = { min: 0, max: 1 };
  const pool = new Pool({ tasks, workers, make, bytes: 64, idleTimeout: 5 });
  const text = await pool.run("repeat", { text: "x", n: 1000 });
  assert.is(text.length, 1000);
  assert.ok(made > 1, "the first one is lost");
  pool.terminate();
});

test("what was given up answers nobody once its worker has ended", () =>
  withPool(
    { workers: 1, slots: 2, recycle: { tasks: 2 }, orders: { limit: 3 } },
    async (pool, _, made) => {
      await pool.ready;
      const control = new AbortController();
      const { signal } = control;
      const sleep = pool.run("sleep", 1500, { signal }).catch(() => "given up");
      while (pool.stats().running === 0) await pause();
      control.abort();
      assert.is(await sleep, "given up");
      assert.is(await pool.run("echo", 1), 1);
      while (made() < 2) await pause();
      // These have both slots when the function ends that was given up.
      const talks = [1, 2].map(() => pool.start("listen"));
      await pause(700);
      for (const { send } of talks) send("end");
      const heard = await Promise.all(talks.map(({ result }) => result));
      assert.equal(heard, [["end"], ["end"]]);
    },
  ));

test("a worker that blocks counts for one task, whatever its limit", () =>
  withPool(
    { workers: { max: 2 }, orders: { blocking: true, limit: 4 } },
    async (pool, gate) => {
      assert.is(await pool.run("echo", 1), 1);
      const gates = [1, 2].map((n) => pool.run("gate", n));
      while (pool.stats().running < 2) await pause();
      gate(true);
      assert.is((await Promise.all(gates)).length, 2);
    },
  ));

test("new Pool() refuses a range, or a limit, that it cannot follow", () => {
  const fails = (options: object, what: RegExp) =>
    assert.throws(
      () => new Pool({ tasks, workers: 1, make: () => null!, ...options }),
      (error: Error) => what.test(error.message),
    );
  fails({ workers: { min: 3, max: 2 } }, /workers.min.*received 3/);
  fails({ workers: { max: 1025 } }, /workers.max.*received 1025/);
  fails({ workers: {} }, /workers.max.*received undefined/);
  fails({ workers: { most: 1 } }, /Unknown name "most"/);
  fails({ workers: null }, /workers.*received null/);
  fails({ idleTimeout: -1 }, /timeout.*received -1/);
  fails({ recycle: { tasks: 0 } }, /recycle.tasks.*received 0/);
  fails({ recycle: { memory: NaN } }, /recycle.memory.*received NaN/);
  fails({ recycle: { task: 1 } }, /"task"/);
});
