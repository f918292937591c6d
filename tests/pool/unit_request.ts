// also: node, browsers
// Requests whose getters use the pool, and requests that are sent again.
import * as assert from "uvu/assert";
import { ClosedError } from "../../mod.ts";
import { Pool } from "../../primitives/pool.ts";
import { suite } from "../_run/harness.ts";
import { pause, poolOf, rejection, withPool } from "./pools.ts";
import { tasks } from "./tasks.ts";

const test = suite("requests");

test("a record is the same when its task is done again", () =>
  withPool({ ahead: 0 }, async (pool) => {
    const sums = Array.from(
      { length: 6 },
      (_, a) => pool.run("sumOnce", { a, b: 0.5 }),
    );
    assert.equal(await Promise.all(sums), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
  }));

test("a record that waited in line is the same when its task is done again", () =>
  withPool({ ahead: 0 }, async (pool) => {
    await pool.ready;
    const talk = pool.start("listen");
    const sums = Array.from(
      { length: 6 },
      (_, a) => pool.run("sumOnce", { a, b: 0.5 }),
    );
    talk.send("end");
    await talk.result;
    sums.push(pool.run("sumOnce", { a: 6, b: 0.5 }));
    assert.equal(await Promise.all(sums), [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]);
  }));

test("bytes in a record that waits are those of the call", () =>
  withPool({ ahead: 0 }, async (pool) => {
    await pool.ready;
    const talk = pool.start("listen");
    const buffer = new ArrayBuffer(4, { maxByteLength: 64 });
    const mark = new Uint8Array(buffer).fill(1);
    const waits = pool.run("mark", { mark, n: 7 });
    mark.fill(9);
    buffer.resize(64); // a field has room for 4 bytes
    talk.send("end");
    await talk.result;
    assert.equal([...await waits], [1, 1, 1, 1]);
    assert.equal(await pool.run("sum", { a: 1, b: 2 }), 3);
  }));

test("long requests in line, and those that may be sent again, are whole", () =>
  withPool({ slots: 2, ahead: 0, bytes: 200_000 }, async (pool) => {
    await pool.ready;
    const talk = pool.start("listen");
    // All but the first wait, each longer than what is kept in one chunk.
    const texts = [..."abcde"].map((letter) => letter.repeat(70_000));
    const again = texts.map((text) => pool.run("repeat", { text, n: 1 }));
    const once = texts.map((text) => pool.run("echo", text));
    talk.send("end");
    await talk.result;
    assert.ok((await Promise.all(again)).every((text, i) => text === texts[i]));
    assert.ok((await Promise.all(once)).every((text, i) => text === texts[i]));
  }));

test("a codec may abort the task whose result it decodes", () => {
  const control = new AbortController();
  const { request, reply } = tasks.tomorrow;
  const decode = (bytes: Uint8Array): Date => {
    control.abort(new Error("enough"));
    return reply.decode(bytes);
  };
  const aborting = { request, reply: { ...reply, decode } };
  const memory = new SharedArrayBuffer(Pool.byteLength({}));
  const options = { memory, tasks: { ...tasks, tomorrow: aborting } };
  return withPool(options, async (pool) => {
    const { signal } = control;
    const head = new Int32Array(memory, 0, 4).slice();
    const task = pool.run("tomorrow", new Date(0), { signal });
    assert.is((await rejection(task)).message, "enough");
    assert.equal(new Int32Array(memory, 0, 4), head, "the ring is as it was");
    await pool.resize(2); // another worker finds it
    assert.is(await pool.run("echo", 1), 1);
  });
});

test("a codec that does not say how many bytes it wrote is named", () => {
  const { request, reply } = tasks.tomorrow;
  const encode = () => undefined as never;
  const mute = { request: { ...request, encode }, reply };
  return withPool({ tasks: { ...tasks, tomorrow: mute } }, async (pool) => {
    const error = await rejection(pool.run("tomorrow", new Date(0)));
    assert.match(error.message, /must return how many bytes it wrote/);
    assert.is(await pool.run("echo", 1), 1);
  });
});

test("a codec may ask for more room than a request may have", () => {
  const { request, reply } = tasks.tomorrow;
  const encode = (value: Date, into: Uint8Array): number =>
    into.length < 100 ? 100 : request.encode(value, into);
  const asking = { request: { ...request, encode }, reply };
  const options = { tasks: { ...tasks, tomorrow: asking }, bytes: 64 };
  return withPool({ ...options, ahead: 0 }, async (pool) => {
    await pool.ready;
    const talk = pool.start("listen");
    const days = [1, 2, 3].map((n) => new Date(n * 86_400_000));
    const next = days.map((day) => pool.run("tomorrow", day)); // in line
    talk.send("end");
    await talk.result;
    assert.equal(await Promise.all(next), days.map((day) => later(day)));
    assert.equal(await pool.run("tomorrow", days[0]!), days[1]);
  });
});

/** The next day. */
const later = (day: Date): Date => new Date(day.getTime() + 86_400_000);

test("a codec that refuses a result fails its task, however long that is", () => {
  const { request, reply } = tasks.repeat;
  const decode = (bytes: Uint8Array): string => {
    const text = reply.decode(bytes);
    if (text.startsWith("no")) throw new RangeError(`refused ${text.length}`);
    return text;
  };
  const { name } = reply;
  const encode = reply.encode.bind(reply);
  const repeat = { request, reply: { name, encode, decode } };
  return withPool({ tasks: { ...tasks, repeat }, bytes: 64 }, async (pool) => {
    for (const n of [1, 1000]) { // in a slot, and by a message
      const error = await rejection(pool.run("repeat", { text: "no", n }));
      assert.instance(error, RangeError);
      assert.is(error.message, `refused ${2 * n}`);
      const text = await pool.run("repeat", { text: "yes", n });
      assert.is(text, "yes".repeat(n));
    }
  });
});

test("a codec that never has enough room fails the task", () =>
  withPool({ bytes: 64 }, async (pool) => {
    const error = await rejection(pool.run("greedy", new Uint8Array(1)));
    assert.instance(error, TypeError);
    assert.match(error.message, /greedy asks for more bytes each time/);
    assert.is(await pool.run("echo", 1), 1);
  }));

/** An object of which a getter calls `act`. */
const acting = (act: () => unknown) => ({
  before: "x".repeat(20),
  get acts() {
    act();
    return true;
  },
  behind: "y".repeat(20),
});

for (const waits of [false, true]) {
  const where = waits ? "in line" : "in a slot";

  test(`a getter of a request ${where} may submit another one`, () =>
    withPool({ ahead: 0 }, async (pool) => {
      await pool.ready;
      const talk = waits ? pool.start("listen") : undefined;
      const inner: Promise<unknown>[] = [];
      const nested = acting(() =>
        inner.push(pool.run("echo", ["z".repeat(99)]))
      );
      const outer = pool.run(
        "echo",
        acting(() => {
          inner.push(pool.run("echo", nested));
        }),
      );
      talk?.send("end");
      const same = (it: unknown) => assert.equal(it, { ...acting(() => {}) });
      same(await outer);
      assert.is(inner.length, 2);
      assert.equal(await inner[0], ["z".repeat(99)]);
      same(await inner[1]);
    }));

  for (const how of ["terminate", "close"] as const) {
    test(`a getter of a request ${where} may ${how} the pool`, async () => {
      const { pool } = poolOf({ ahead: 0 });
      try {
        await pool.ready;
        const talk = waits ? pool.start("listen") : undefined;
        talk?.result.catch(() => {});
        const closing: Promise<void>[] = [];
        const outer = pool.run(
          "echo",
          acting(() => {
            if (how === "terminate") pool.terminate();
            closing.push(pool.close());
          }),
        );
        assert.instance(await rejection(outer), ClosedError);
        talk?.send("end");
        await Promise.all(closing);
      } finally {
        pool.terminate();
      }
    });
  }

  test(`a getter of a request ${where} may abort it`, () =>
    withPool({ ahead: 0 }, async (pool) => {
      await pool.ready;
      const talk = waits ? pool.start("listen") : undefined;
      const controller = new AbortController();
      const { signal } = controller;
      const request = acting(() => controller.abort(new Error("enough")));
      const outer = pool.run("echo", request, { signal });
      assert.is((await rejection(outer)).message, "enough");
      talk?.send("end");
      await pause();
      assert.is(await pool.run("echo", 1), 1);
    }));
}

test("options that are no object are refused", () =>
  withPool({}, async (pool) => {
    for (const options of [null, 0, false, ""]) {
      const error = await rejection(pool.run("echo", 1, options as never));
      assert.instance(error, TypeError);
      assert.match(error.message, /Options must be an object/);
    }
  }));
