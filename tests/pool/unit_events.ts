// also: node, browsers
// What a pool tells of its workers and its line, and what it gives to workers
// when they start.
import * as assert from "uvu/assert";
import {
  Pool,
  type PoolEvents,
  type PoolOptions,
} from "../../primitives/pool.ts";
import { IN_WEBKIT, skip, suite } from "../_run/harness.ts";
import { start } from "../_run/workers.ts";
import { pause, WORKER } from "./pools.ts";
import { tasks } from "./tasks.ts";
import type { Orders } from "./worker.ts";

const test = suite("events of a Pool, and init");

type Some = Partial<PoolOptions<typeof tasks>>;

/** A pool, its gate, and what it tells. */
function poolOf(orders: Orders = {}, options: Some = {}) {
  const words = new Int32Array(new SharedArrayBuffer(16));
  const make = () => start(WORKER, { words, ...orders });
  const pool = new Pool({ tasks, workers: 1, make, ...options });
  const told: string[] = [];
  const workers = new Map<unknown, number>();
  pool.on("worker:start", ({ worker, id }) => {
    workers.set(worker, id);
    told.push("start");
  });
  pool.on("worker:end", ({ worker, id, died }) => {
    assert.is(workers.get(worker), id);
    workers.delete(worker);
    told.push(died ? "died" : "end");
  });
  pool.on("drain", () => told.push("drain"));
  const open = () => {
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
  };
  return { pool, told, open };
}

test("a pool tells when a worker starts, dies and ends", async () => {
  const { pool, told } = poolOf();
  await pool.ready;
  await pause();
  assert.equal(told, ["start"]);
  await pool.run("die", "throw").catch(() => {});
  assert.is(await pool.run("echo", 1), 1);
  assert.equal(told, ["start", "died", "start"]);
  await pool.resize(0);
  assert.equal(told, ["start", "died", "start", "end"]);
  await pool.resize(2);
  await pool.close();
  assert.equal(told.slice(4), ["start", "start", "end", "end"]);
});

test("a pool tells why a worker died, as far as it is known", async () => {
  const { pool } = poolOf();
  const ends: PoolEvents["worker:end"][] = [];
  const stop = pool.on("worker:end", (end) => ends.push(end));
  await pool.run("die", "throw").catch(() => {});
  assert.is(await pool.run("echo", 1), 1);
  assert.match((ends[0]!.error as Error).message, /out of luck/);
  stop();
  stop();
  pool.terminate();
  await pause(5);
  assert.is(ends.length, 1);
});

test("terminate() ends each worker, and one that has yet to start is not told", async () => {
  const { pool, told } = poolOf();
  pool.terminate();
  await pause(5);
  assert.equal(told, []);
  const other = poolOf();
  await other.pool.ready;
  other.pool.terminate();
  await pause(5);
  assert.equal(other.told, ["start", "end"]);
});

test("a pool drains when no task waits for room any more", async () => {
  const { pool, told, open } = poolOf({}, { ahead: 0, slots: 1 });
  await pool.ready;
  assert.is(await pool.run("echo", 1), 1); // it has not waited
  const all = [1, 2, 3].map((n) => pool.run("gate", n));
  await pause(5);
  assert.not(told.includes("drain"));
  open();
  await Promise.all(all);
  assert.equal(told.filter((it) => it === "drain"), ["drain"]);
  const more = [1, 2].map((n) => pool.run("echo", n));
  await Promise.all(more);
  assert.equal(told.filter((it) => it === "drain"), ["drain", "drain"]);
  pool.terminate();
});

test("on() refuses an event that there is not", () => {
  const { pool } = poolOf();
  const on = (event: unknown, listener: unknown = () => {}) => () =>
    pool.on(event as "drain", listener as () => void);
  assert.throws(on("exit"), /worker:start, worker:end, drain: received "exit"/);
  assert.throws(on("toString"), /received "toString"/);
  assert.throws(on("drain", 1), /function: received 1/);
  pool.terminate();
});

test("a worker may make its functions, of the pool's init", async () => {
  const init = { by: 3, at: new Date(5) };
  const { pool, told } = poolOf({ instead: "make" }, { init });
  const early = pool.run("sum", { a: 1, b: 1 });
  await pool.ready;
  assert.is(await early, 6);
  assert.equal(await pool.run("echo", 1), init);
  assert.equal(told, ["start"]);
  const missing = await pool.run("gate", 1).catch((error) => error);
  assert.match((missing as Error).message, /no function for task "gate"/);
  pool.terminate();
});

test("a worker that cannot make its functions cannot start", async () => {
  if (IN_WEBKIT) skip("WebKit does not tell what a module throws");
  const { pool, told } = poolOf({ instead: "cannot make" });
  const error = await pool.run("echo", 1).catch((error) => error);
  assert.match((error as Error).message, /out of luck/);
  assert.is(pool.stats().died, 3);
  assert.equal(told, []);
});
