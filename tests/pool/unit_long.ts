// also: node, browsers
// Requests that are too long for a slot.
import * as assert from "uvu/assert";
import type { PoolWorker } from "../../primitives/_pool/crew.ts";
import type { PoolMessage } from "../../primitives/_pool/wire.ts";
import { Pool, WorkerError } from "../../primitives/pool.ts";
import { suite } from "../_run/harness.ts";
import { start } from "../_run/workers.ts";
import { pause, rejection, withPool, WORKER } from "./pools.ts";

const TWICE = "a text that is sent twice";

const test = suite("long requests of pools");

for (const limit of [1, 3]) {
  test(`they go to workers and back by themselves, ${limit} at a time`, () =>
    withPool(
      { workers: 2, slots: 8, bytes: 4096, orders: { limit } },
      async (pool) => {
        const all = Array.from({ length: 100 }, async (_, n) => {
          const length = n % 3 === 0 ? n : 4000 + 50 * n;
          const bytes = new Uint8Array(length).fill(n);
          const result = pool.run("add", bytes);
          bytes.fill(255); // it was copied
          const back = await result;
          assert.is(back.length, length);
          assert.ok(back.every((byte) => byte === n + 1));
        });
        await Promise.all(all);
        const { done, waiting, running } = pool.stats();
        assert.equal([done, waiting, running], [100, 0, 0]);
      },
    ));
}

test("the codec of the task carries them", () =>
  withPool({ bytes: 16, workers: 2 }, async (pool) => {
    for (let n = 12; n < 20; n++) { // 14 letters of ASCII have room
      const text = "x".repeat(n);
      assert.is(await pool.run("echo", text), text);
      assert.is(await pool.run("text", text), text);
      assert.equal(await pool.run("add", new Uint8Array(n)), bytesOf(n, 1));
    }
    for (const text of ["é", "日本", "\ud800", "a\udc00b", "𝄞"]) {
      for (const times of [5, 8, 12, 20]) {
        const long = text.repeat(times);
        assert.is(await pool.run("echo", long), long);
        assert.equal(await pool.run("echo", [long]), [long]);
      }
    }
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id, é: "ü" }));
    const value = { rows, at: new Date(7), nested: new Map([[1, rows[0]]]) };
    assert.equal(await pool.run("echo", value), value);
    const error = await rejection(pool.run("echo", [...rows, () => {}]));
    assert.match(error.message, /\[1000\]/);
    assert.is(await pool.run("sum", { a: 1, b: 2 }), 3);
  }));

test("map() sends them, and keeps their order", () =>
  withPool({ bytes: 64, slots: 4, workers: 2 }, async (pool) => {
    let n = 0;
    const requests = Array.from({ length: 60 }, (_, n) => bytesOf(n * 5, n));
    for await (const back of pool.map("add", requests)) {
      assert.equal(back, bytesOf(n * 5, n + 1));
      n++;
    }
    assert.is(n, 60);
  }));

test("those that wait keep their priority; one that is aborted is not done", () =>
  withPool({ ahead: 0, bytes: 64, slots: 4 }, async (pool, words) => {
    const gate = pool.run("gate", 0);
    const control = new AbortController();
    const { signal } = control;
    const done: number[] = [];
    const one = async (value: number, options = {}) => {
      const back = await pool.run("add", bytesOf(100, value), options);
      assert.equal(back, bytesOf(100, value + 1));
      done.push(value);
    };
    const aborted = [2, 5].map((value) => rejection(one(value, { signal })));
    const all = [1, 3, 4, 6].map((value) => one(value));
    const first = one(7, { priority: 1 });
    const late = rejection(one(8, { timeout: 1 }));
    await pause(5);
    control.abort("enough");
    assert.is((await late).name, "TimeoutError");
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    for (const one of aborted) assert.is(await one, "enough");
    await Promise.all([gate, first, ...all]);
    assert.equal(done, [7, 1, 3, 4, 6]);
  }));

test("one that may be repeated is sent again if its worker dies", () =>
  withPool({ workers: 1, bytes: 8 }, async (pool) => {
    const padded = (ok: boolean) => ({ text: ok ? "ab" : "a", n: 3 });
    assert.is(await pool.run("repeat", padded(true)), "ababab");
    const all = Array.from({ length: 5 }, () => pool.run("dieLong", TWICE));
    assert.equal(await Promise.all(all), Array(5).fill(TWICE));
    const error = await rejection(pool.run("die", "a long word" as "exit"));
    assert.instance(error, WorkerError);
    assert.is(await pool.run("repeat", padded(false)), "aaa");
  }));

test("one that talks tells, and hears", () =>
  withPool({ bytes: 64 }, async (pool) => {
    const told: unknown[] = [];
    const onReport = (it: unknown) => void told.push(it);
    const end = "x".repeat(500);
    const one = pool.start("report", { count: 3, end }, { onReport });
    assert.ok(one.send("nobody listens"));
    assert.is(await one.result, end);
    assert.equal(told, [0, 1, 2]);
  }));

test("workers that end after each task do all of them", () =>
  withPool({ bytes: 16, workers: 2, recycle: { tasks: 1 } }, async (pool) => {
    const all = Array.from({ length: 12 }, async (_, n) => {
      assert.equal(await pool.run("add", bytesOf(100, n)), bytesOf(100, n + 1));
    });
    await Promise.all(all);
    await pool.close();
  }));

test("their messages, and those of long results, have no views", async () => {
  const sent: unknown[] = [];
  const make = () => {
    const worker = start(WORKER, {});
    const post = worker.postMessage.bind(worker) as Worker["postMessage"];
    worker.postMessage = (message: PoolMessage, list: never) => {
      if (message.what === "moved") sent.push(...message.values);
      post(message, list);
    };
    const hear = (data?: PoolMessage) => {
      if (data?.what === "long") sent.push(data.bytes);
    };
    if ("on" in worker) worker.on("message", hear);
    else worker.addEventListener("message", (event) => hear(event.data));
    return worker as PoolWorker;
  };
  await withPool({ bytes: 16, make }, async (pool) => {
    assert.equal(await pool.run("add", bytesOf(100, 1)), bytesOf(100, 2));
    // Deno's workers of Node's kind look at each element of a view.
    assert.ok(sent.every((it) => it instanceof ArrayBuffer));
    assert.is(sent.length, 2);
    const text = "a text is sent as it is";
    assert.is(await pool.run("echo", text), text);
    assert.equal(sent.splice(0).slice(2), [text, text]);
    assert.is(await pool.run("echo", "short"), "short");
    assert.equal(sent, []);
    await pool.run("text", text); // another codec
    assert.ok(sent.every((it) => it instanceof ArrayBuffer));
  });
});

test("a worker that blocks refuses them", () =>
  withPool({ bytes: 16, orders: { blocking: true } }, async (pool) => {
    const error = await rejection(pool.run("add", new Uint8Array(17)));
    assert.match(error.message, /more than 16 bytes, .* option bytes.*blocks/);
    assert.is((await pool.run("add", new Uint8Array(16))).length, 16);
    const text = await rejection(pool.run("echo", "x".repeat(17)));
    assert.match(text.message, /more than 16 bytes, .* option bytes.*blocks/);
  }));

test("64 KiB and a little need no message in memory of the pool's own", () =>
  withPool({ orders: { blocking: true } }, async (pool) => {
    for (const length of [2 ** 16, 2 ** 16 + 64]) {
      assert.equal(
        await pool.run("add", bytesOf(length, 1)),
        bytesOf(length, 2),
      );
    }
    const error = await rejection(pool.run("add", new Uint8Array(65_601)));
    assert.match(error.message, /more than 65600 bytes/);
  }));

test("in given memory, 4096 bytes need none", () => {
  const memory = new SharedArrayBuffer(Pool.byteLength({}));
  assert.ok(memory.byteLength < 2 ** 21);
  return withPool({ memory, orders: { blocking: true } }, async (pool) => {
    assert.is((await pool.run("add", new Uint8Array(4096))).length, 4096);
    const error = await rejection(pool.run("add", new Uint8Array(4097)));
    assert.match(error.message, /more than 4096 bytes/);
  });
});

const bytesOf = (length: number, value: number) =>
  new Uint8Array(length).fill(value);
