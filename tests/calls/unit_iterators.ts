// also: node
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  CallRing,
  type Codec,
  codec,
  connect,
  type Remote,
  serve,
} from "../../mod.ts";
import { stepOf } from "../../primitives/_calls/hosts.ts";
import { NEXT } from "../../primitives/_calls/wire.ts";
import { suite } from "../_run/harness.ts";
import { spawn } from "../_run/workers.ts";
import { api, ends } from "./iterators_api.ts";
import { between, collecting, rejection } from "./parts.ts";

const AGENT = new URL("./iterators_agent.ts", import.meta.url);

const test = suite("calls: iterators");

type Api = typeof api;

const pause = () => new Promise((resolve) => setTimeout(resolve, 3));

/** Waits until that number of iterators has ended, or for some seconds. */
async function ended(count: number): Promise<void> {
  for (let i = 0; ends.length < count && i < 2000; i++) await pause();
}

/** Serves the iterators while `run` calls them. */
async function within(
  run: (remote: Remote<Api>, ring: CallRing) => Promise<void>,
  { json = false, slots = 2, reply = 64 } = {},
): Promise<void> {
  const given = json ? codec.json as Codec<unknown> : undefined;
  ends.length = 0;
  const call = (ring: CallRing) =>
    run(connect<Api>(ring, { codec: given } as never), ring);
  await between(api, call, { slots, request: 128, reply, codec: given });
}

for (const json of [false, true]) {
  test(`for await gets all values, with json ${json}`, () =>
    within(async (remote) => {
      const all: unknown[] = [];
      for await (const row of remote.rows(20)) all.push(row);
      for await (const row of await remote.rows(3)) all.push(row);
      for await (const text of remote.texts(100, 2)) all.push(text.length);
      for await (const n of remote.bare(2)) all.push(n);
      for await (const n of remote.list() as never as string) all.push(n);
      const rows = Array.from({ length: 20 }, (_, i) => i);
      assert.equal(all, [...rows, 0, 1, 2, 100, 100, 1, 0, 1, 2, 3]);
      assert.equal(ends, ["end of 20", "end of 3", "end of texts"]);
    }, { json, slots: 1 }));
}

test("any steps give what the generator gives here", () =>
  fc.assert(
    fc.asyncProperty(
      fc.nat(4),
      fc.array(
        fc.oneof(
          fc.record({ op: fc.constant("next" as const), value: fc.integer() }),
          fc.record({
            op: fc.constantFrom("return" as const, "throw" as const),
            value: fc.constant(7),
          }),
        ),
        { maxLength: 7 },
      ),
      fc.boolean(),
      (n, steps, together) =>
        within(async (remote) => {
          const play = async (it: AsyncIterator<unknown, unknown>) => {
            const results: Promise<unknown>[] = [];
            for (const { op, value } of steps) {
              const given = op === "throw" ? new Error(`${value}`) : value;
              const result = Promise.resolve(it[op]!(given as never)).then(
                (result) => ({ done: result.done, value: result.value }),
                (error) => `${error} ${error.cause?.message}`,
              );
              results.push(result);
              if (!together) await result;
            }
            return Promise.all(results);
          };
          const far = await play(await remote.rows(n));
          assert.equal(far, await play(api.rows(n)));
        }),
    ),
    { numRuns: 60 },
  ));

test("a value is made when it is asked for, and break ends it", () =>
  within(async (remote, ring) => {
    api.made = 0;
    for await (const row of remote.rows(100)) {
      assert.is(api.made, row + 1);
      assert.is(ring.pending, 0, "no slot is held between two values");
      if (row === 4) break;
    }
    await ended(1);
    assert.is(api.made, 5);
    assert.equal(ends, ["end of 100"]);
    for await (const text of remote.texts(3, 9)) {
      if (text === "1xx") break;
    }
    await ended(2);
    assert.equal(ends, ["end of 100", "end of texts"]);
  }));

test("errors arrive, and end the iterator", () =>
  within(async (remote) => {
    const seen: number[] = [];
    const error = await rejection((async () => {
      for await (const n of remote.fails()) seen.push(n);
    })());
    assert.equal(seen, [1]);
    assert.instance(error, RangeError);
    assert.is(error.cause, "the disk");
    const rows = await remote.rows(5);
    await rows.next();
    const thrown = new TypeError("mine");
    assert.equal(await rows.throw!(thrown), { done: false, value: -1 });
    const again = await rejection(rows.next());
    assert.is(again.message, "again");
    assert.instance(again.cause, TypeError);
    assert.equal(await rows.next(), { done: true, value: undefined });
    // It has not begun, so no code of it sees the error.
    const fresh = await remote.rows(5);
    assert.is((await rejection(fresh.throw!(thrown))).message, "mine");
  }));

test("the promise of an iterator is an iterator itself", () =>
  within(async (remote) => {
    const late = () => {
      const it = (remote.rows(5) as AsyncIterable<number>)
        [Symbol.asyncIterator]() as AsyncIterableIterator<number>;
      assert.is(it[Symbol.asyncIterator](), it);
      return it;
    };
    const rows = late();
    assert.equal(await rows.next(), { done: false, value: 0 });
    const mine = new TypeError("mine");
    assert.equal(await rows.throw!(mine), { done: false, value: -1 });
    assert.is((await rejection(rows.next())).message, "again");
    const fresh = late();
    assert.is((await rejection(fresh.throw!(mine))).message, "mine");
    // An array is copied, and iterated here.
    const numbers = (remote.list() as never as AsyncIterable<number>)
      [Symbol.asyncIterator]();
    assert.equal(await numbers.next(), { done: false, value: 1 });
    assert.is((await rejection(numbers.throw!(mine))).message, "mine");
    assert.ok((await numbers.return!()).done);
  }));

test("await using lets an iterator go", () =>
  within(async (remote) => {
    {
      await using rows = await remote.rows(5) as
        & AsyncIterableIterator<number>
        & AsyncDisposable;
      await rows.next();
    }
    assert.equal(ends, ["end of 5"]);
  }));

test("promises among the values are awaited", async () => {
  const promises = function* (n: number) {
    try {
      for (let i = 0; i < n; i++) yield Promise.resolve(i);
      yield n;
      yield Promise.reject(new RangeError("no more"));
    } finally {
      ends.push("end of promises");
    }
  } as unknown as (n: number) => Generator<number>;
  const all: unknown[] = [];
  const take = async (numbers: AsyncIterable<number>) => {
    for await (const n of numbers) all.push(n);
  };
  const served = { promises, take };
  ends.length = 0;
  await between(served, async (ring) => {
    const remote = connect<typeof served>(ring);
    const both = [take(remote.promises(3)), remote.take(promises(3) as never)];
    for (const error of await Promise.all(both.map(rejection))) {
      assert.instance(error, RangeError);
      assert.is(error.message, "no more");
    }
    assert.equal(all.sort(), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert.equal(ends, ["end of promises", "end of promises"]);
  }, { slots: 4, request: 128, reply: 64 });
});

test("for await over what is no iterator says so", () =>
  within(async (remote) => {
    const error = await rejection((async () => {
      for await (const n of remote.nothing() as never as string) {
        assert.unreachable(n);
      }
    })());
    assert.instance(error, TypeError);
    assert.match(error.message, "must return an iterator");
    // A Map is copied, as ever.
    assert.equal(await remote.numbers(), new Map([[1, 2]]));
  }));

test("an iterator that nobody goes on with returns", () =>
  collecting((collect) =>
    within(async (remote) => {
      const rows = await remote.rows(5);
      await rows.next();
      collect[0]!();
      await ended(1);
      assert.equal(ends, ["end of 5"]);
    })
  ));

test("what an iterator gives may be a thenable that is no promise", async () => {
  const thenable = <T>(value: T) => ({
    then: (resolve: (value: T) => void) => void resolve(value),
  });
  let n = 0;
  const api = {
    steps: (): AsyncIterableIterator<number> => ({
      next: () => thenable({ done: ++n > 2, value: n }) as never,
      [Symbol.asyncIterator]() {
        return this;
      },
    }),
    *values(): IterableIterator<number> {
      yield thenable(7) as never;
    },
  };
  await between(api, async (ring) => {
    const remote = connect<typeof api>(ring);
    const all: number[] = [];
    for await (const step of remote.steps()) all.push(step);
    for await (const value of remote.values()) all.push(value);
    assert.equal(all, [1, 2, 7]);
  });
});

test("a step that gives no object ends the iterator", async () => {
  let result: unknown;
  const steps = (isAsync: boolean) => ({
    next: () => (isAsync ? Promise.resolve(result) : result) as never,
    [Symbol.asyncIterator]() {
      return this;
    },
  });
  const api = {
    steps: (isAsync: boolean): AsyncIterableIterator<number> => steps(isAsync),
    first: async (of: AsyncIterable<number>) => {
      for await (const value of of) return value;
      return "none";
    },
  };
  await between(api, async (ring) => {
    const remote = connect<typeof api>(ring);
    for (result of [5, undefined, null, "done"]) {
      for (const isAsync of [true, false]) {
        const numbers = await remote.steps(isAsync);
        const mine = remote.first(steps(isAsync));
        for (const promise of [numbers.next(), mine]) {
          const error = await rejection(promise);
          assert.instance(error, TypeError);
          assert.match(error.message, /must give an object: received /);
        }
        assert.ok((await numbers.next()).done);
      }
    }
    result = { done: 1, value: 7 }; // any true value is an end
    for (const isAsync of [true, false]) {
      for await (const _ of remote.steps(isAsync)) assert.unreachable();
      assert.is(await remote.first(steps(isAsync)), "none");
    }
  });
});

test("whatever ends an iterator lets it go once", async () => {
  const broken = new Error("broken");
  const late = <T>(value: T) => Promise.resolve(value);
  const fails = () => Promise.reject(broken);
  const cases: [step: () => unknown, ends: number, error?: unknown][] = [
    [() => ({ done: false, value: 1 }), 0],
    [() => late({ done: false, value: 1 }), 0],
    [() => ({ done: false, value: late(1) }), 0],
    [() => ({ done: true, value: 1 }), 1],
    [() => late({ done: true, value: 1 }), 1],
    [() => ({ done: true, value: late(1) }), 1],
    [() => Object.assign(() => {}, { done: true, value: 1 }), 1],
    [
      () => {
        throw broken;
      },
      1,
      broken,
    ],
    [fails, 1, broken],
    [() => ({ done: false, value: fails() }), 1, broken],
    [() => 5, 1, TypeError],
    [() => late(5), 1, TypeError],
  ];
  for (const [step, expected, error] of cases) {
    let ended = 0;
    const iterator = { next: step } as { next(): IteratorResult<unknown> };
    const run = async () =>
      await stepOf(NEXT, iterator, [], () => ended++) as { value: unknown };
    const result = await run().then(({ value }) => value, (error) => error);
    assert.is(ended, expected, String(step));
    if (error === TypeError) assert.instance(result, TypeError, String(step));
    else assert.is(result, error ?? 1, String(step));
  }
});

test("an iterator that cannot be thrown at returns instead", async () => {
  let returned = 0;
  const api = {
    numbers(): IterableIterator<number> {
      return {
        next: () => ({ done: false, value: 1 }),
        return: () => ({ done: true, value: returned++ }),
        [Symbol.iterator]() {
          return this;
        },
      };
    },
  };
  await between(api, async (ring) => {
    const numbers = await connect<typeof api>(ring).numbers();
    await numbers.next();
    const reason = new RangeError("enough");
    assert.is((await rejection(numbers.throw!(reason))).message, "enough");
    assert.is(returned, 1);
  });
  assert.is(returned, 1);
});

test("iterators return when their server ends", async () => {
  await within(async (remote) => {
    await (await remote.rows(5)).next();
    await (await remote.texts(5, 5)).next();
  });
  await ended(2);
  assert.equal(ends.toSorted(), ["end of 5", "end of texts"]);
});

test("an iterator that cannot be iterated itself returns then, too", async () => {
  let returned = 0;
  const api = {
    bare: (): AsyncIterable<number> => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false, value: 1 }),
        return: () => (returned++, Promise.resolve({ done: true, value: 0 })),
      }),
    }),
  };
  const ring = CallRing.create({ slots: 2, request: 128, reply: 64 });
  const served = serve(ring, api);
  const numbers = await connect<typeof api>(ring).bare();
  assert.equal(await numbers.next(), { done: false, value: 1 });
  assert.is(returned, 0);
  ring.close();
  await served;
  assert.is(returned, 1);
});

for (const blocks of [false, true]) {
  test(`an agent that blocks iterates, of one that ${blocks ? "blocks" : "awaits"}`, async () => {
    const ring = CallRing.create({ slots: 2, request: 128, reply: 64 });
    const thread = await spawn(AGENT, { ring: ring.handle, blocks });
    await thread.next();
    const remote = connect.blocking<Api>(ring);
    assert.equal([...remote.texts(3, 3)], ["0xx", "1xx", "2xx"]);
    for (const text of remote.texts(80, 9)) if (text[0] === "2") break;
    assert.equal(remote.howEnded(), ["end of texts", "end of texts"]);
    if (blocks) {
      assert.throws(() => [...remote.rows(2)], /cannot await it/);
    } else {
      assert.equal([...remote.rows(10)].length, 10);
      assert.throws(() => [...remote.fails()], /no more/);
      assert.equal(remote.howEnded(), ["end of 10"]);
    }
    ring.close();
    await thread.next();
    thread.stop();
  });
}

/** Serves one iterator, which waits before each step; how often it ended. */
async function lateRows(
  run: (
    remote: Remote<{ rows: () => Promise<AsyncIterableIterator<number>> }>,
  ) => Promise<void>,
  { open = 0, step = 0, timeout = Infinity, value = 1 as unknown } = {},
): Promise<void> {
  const late = (ms: number) =>
    new Promise((resolve) => setTimeout(resolve, ms));
  const ring = CallRing.create({ slots: 2, request: 128, reply: 64 });
  let ended = 0;
  const rows = {
    next: async () => (await late(step), { done: false, value }),
    return: () => (ended++, Promise.resolve({ done: true, value: undefined })),
    [Symbol.asyncIterator]() {
      return this;
    },
  } as unknown as AsyncIterableIterator<number>;
  const api = { rows: async () => (await late(open), rows) };
  const served = serve(ring, api);
  await run(connect<typeof api>(ring, { timeout }));
  for (let i = 0; ended === 0 && i < 1000; i++) await pause();
  assert.is(ended, 1);
  ring.close();
  await served;
}

test("an iterator ends that comes after its caller gave up", () =>
  lateRows(async (remote) => {
    assert.is((await rejection(remote.rows())).name, "TimeoutError");
  }, { open: 300, timeout: 100 }));

test("an iterator ends whose step came too late", () =>
  lateRows(async (remote) => {
    const rows = await remote.rows();
    assert.is((await rejection(rows.next())).name, "TimeoutError");
    assert.equal(await rows.next(), { done: true, value: undefined });
  }, { step: 300, timeout: 100 }));

test("an iterator ends whose value cannot be sent", () =>
  lateRows(async (remote) => {
    const rows = await remote.rows();
    assert.match((await rejection(rows.next())).message, "Cannot encode");
  }, { value: Symbol("none") }));
