// also: node, browsers
// Many tasks by `map` and `mapSettled`.
import * as assert from "uvu/assert";
import { ClosedError } from "../../mod.ts";
import { WorkerError } from "../../primitives/pool.ts";
import { suite } from "../_run/harness.ts";
import { collecting } from "../calls/parts.ts";
import { pause, rejection, withPool } from "./pools.ts";

const test = suite("Pool.map");

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

test("map() and mapSettled() end when nobody goes on with their loops", () =>
  collecting((collect) =>
    withPool({}, async (pool) => {
      let ended = 0;
      function* requests() {
        try {
          for (;;) yield { a: 1, b: 1 };
        } finally {
          ended++;
        }
      }
      const { signal } = new AbortController();
      const whole = pool.map("sum", [{ a: 1, b: 1 }], { signal });
      assert.equal(await whole.next(), { done: false, value: 2 });
      assert.ok((await whole.next()).done);
      await pool.map("sum", requests(), { signal, limit: 2 }).next();
      await pool.mapSettled("sum", requests(), { signal, limit: 2 }).next();
      assert.is(ended, 0);
      for (const run of collect) run();
      assert.is(ended, 2);
      while (pool.stats().running + pool.stats().waiting > 0) await pause();
      assert.is(await pool.run("sum", { a: 1, b: 2 }), 3);
    })
  ));

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
    for (const wrong of [7, null, undefined]) {
      const map = () => pool.map("echo", wrong as never, { signal });
      assert.throws(map, new RegExp(`iterate over: received ${wrong}`));
    }
    for (
      const [options, what] of [
        [{ limt: 1 }, /limt/],
        [{ limit: 0 }, /limit must be .*received 0/],
        [{ ordered: 7 }, /ordered must be .*received 7/],
        [{ signal: 7 }, /signal must be .*received 7/],
      ] as const
    ) {
      assert.throws(() => pool.map("echo", [1], options as never), what);
    }
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
      for (const text of texts) assert.ok(said.includes(text)); // long ones, too
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

test("requests that abort the loop are closed, and none is sent", () =>
  withPool({}, async (pool) => {
    for (const ordered of [true, false]) {
      const control = new AbortController();
      let ended = false;
      const requests = (function* () {
        try {
          yield 1;
          control.abort(new Error("enough"));
          yield 2;
        } finally {
          ended = true;
        }
      })();
      const { signal } = control;
      const before = pool.stats();
      const values = pool.map("echo", requests, { signal, ordered });
      assert.is((await rejection(values.next())).message, "enough");
      assert.ok(ended);
      const { done, failed, running, waiting } = pool.stats();
      assert.is(done + failed, before.done + before.failed + 1);
      assert.equal([running, waiting], [0, 0]);
    }
  }));

test("requests that come when the loop was left are closed", () =>
  withPool({}, async (pool) => {
    for (const how of ["a generator", "an async generator"]) {
      let ended = false;
      let come = (_: unknown) => {};
      const second = new Promise((resolve) => come = resolve);
      const one = function* () {
        try {
          yield 1;
          yield second;
          yield 3;
        } finally {
          ended = true;
        }
      };
      const many = async function* () {
        try {
          yield 1;
          yield await second;
          yield 3;
        } finally {
          ended = true;
        }
      };
      const requests = how === "a generator" ? one() : many();
      const before = pool.stats().done;
      for await (const value of pool.map("echo", requests)) {
        assert.is(value, 1);
        break;
      }
      assert.not(ended, "it makes its second value");
      come(2);
      for (let i = 0; !ended && i < 2000; i++) await pause();
      assert.ok(ended, how);
      assert.is(pool.stats().done, before + 1);
    }
  }));

test("map() ends with what the iterator of the requests throws", () =>
  withPool({}, async (pool) => {
    const error = new RangeError("no requests");
    const fails = () => {
      throw error;
    };
    for (const name of [Symbol.iterator, Symbol.asyncIterator]) {
      const requests = { [name]: fails } as unknown as Iterable<unknown>;
      assert.is(await rejection(pool.map("echo", requests).next()), error);
    }
    assert.is(await pool.run("echo", 1), 1);
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
    for (const symbol of [Symbol.iterator, Symbol.asyncIterator]) {
      let result: unknown;
      const odd = { [symbol]: () => ({ next: () => result }) } as never;
      for (result of [undefined, null, 5]) {
        const nothing = pool.map("echo", odd);
        assert.ok(await rejection(nothing.next()) instanceof TypeError);
      }
      result = { done: 1 }; // any true value is an end
      assert.ok((await pool.map("echo", odd).next()).done);
    }
    assert.is(await pool.run("echo", 1), 1);
    const none = pool.map("echo", []);
    assert.equal(await none.next(), { value: undefined, done: true });
    const unsendable = pool.map("echo", [1, () => {}, 3]);
    assert.equal((await unsendable.next()).value, 1);
    assert.ok(await rejection(unsendable.next()) instanceof TypeError);
    const closed = rejection(pool.map("nothing" as never, [1] as never).next());
    assert.match((await closed).message, /no task "nothing"/);
  }));

test("map() ends requests of which one is a promise that fails", () =>
  withPool({}, async (pool) => {
    for (const method of ["map", "mapSettled"] as const) {
      let ended = false;
      const requests = function* () {
        try {
          yield 1;
          yield Promise.reject(new Error("no request"));
        } finally {
          ended = true;
        }
      };
      const values = pool[method]("echo", requests());
      await values.next();
      assert.is((await rejection(values.next())).message, "no request");
      assert.ok(ended);
    }
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
