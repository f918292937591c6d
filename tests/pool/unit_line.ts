// also: node, browsers
// Tasks that wait in line, and who waits for room there.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { ClosedError } from "../../mod.ts";
import { QueueFullError } from "../../primitives/pool.ts";
import { Line, Producers, type Standing } from "../../primitives/_pool/line.ts";
import { suite } from "../_run/harness.ts";
import { listened } from "../_run/listened.ts";
import { pause, rejection, withPool } from "./pools.ts";

const test = suite("tasks in line");

/** A task, as far as the line knows it. */
class Task implements Standing<Task> {
  before: Task | undefined = undefined;
  after: Task | undefined = undefined;

  constructor(readonly priority: number, readonly order: number) {}
}

test("a line gives those of the highest priority, in their order", () => {
  const step = fc.oneof(
    fc.record({ put: fc.nat(4) }),
    fc.record({ back: fc.nat(50) }),
    fc.constant({ take: true }),
    fc.record({ remove: fc.nat(50) }),
  );
  // Without the size, most arrays would have ten steps at most.
  const steps = fc.array(step, { maxLength: 100, size: "max" });
  fc.assert(fc.property(steps, (steps) => {
    const line = new Line<Task>();
    let model: Task[] = [];
    let taken: Task[] = [];
    let order = 0;
    for (const step of steps) {
      if ("put" in step || "back" in step) {
        const it = "put" in step
          ? new Task(step.put, order++)
          : taken[step.back % taken.length];
        if (it === undefined) continue;
        taken = taken.filter((other) => other !== it);
        line.put(it);
        model.push(it);
        model.sort((a, b) => b.priority - a.priority || a.order - b.order);
      } else {
        const it = "take" in step
          ? model[0]
          : model[step.remove % model.length];
        if (it === undefined) continue;
        line.remove(it);
        taken.push(it);
        model = model.filter((other) => other !== it);
      }
      assert.is(line.first, model[0]);
      const isEven = ({ order }: Task) => order % 2 === 0;
      assert.is(line.firstOf(isEven), model.find(isEven));
      assert.is(line.size, model.length);
      const lowest = model.at(-1)?.priority ?? Infinity;
      assert.is(line.lowest, lowest);
    }
    assert.equal(new Set(line), new Set(model));
  }));
});

for (const ahead of [0, undefined]) {
  test(`a worker does as many tasks at a time as its limit, ahead: ${ahead}`, () =>
    withPool({ ahead, orders: { limit: 3 } }, async (pool) => {
      await pool.ready;
      for (let i = 0; i < 10; i++) await pool.run("sleep", 5); // these are long
      const talks = [1, 2].map(() => pool.start("listen"));
      assert.is(await pool.run("echo", 3), 3);
      for (const { send } of talks) send("end");
      await Promise.all(talks.map(({ result }) => result));
    }));
}

test("a long request that waits in the last slot keeps no other out", () =>
  withPool({ slots: 2, ahead: 0, bytes: 10_000 }, async (pool) => {
    await pool.ready;
    const { result, send } = pool.start("listen");
    while (pool.stats().running < 1) await pause();
    const long = pool.run("echo", "x".repeat(5000));
    const first = pool.run("echo", 1, { priority: 1 });
    await pool.resize(2);
    assert.is(await first, 1);
    assert.is((await long as string).length, 5000);
    send("end");
    await result;
  }));

/** A task that counts the looks at it. */
class Watched implements Standing<Watched> {
  static looks = 0;
  before: Watched | undefined = undefined;
  after: Watched | undefined = undefined;
  readonly #priority: number;
  readonly #order: number;

  constructor(priority: number, order: number) {
    this.#priority = priority;
    this.#order = order;
  }

  get priority() {
    Watched.looks++;
    return this.#priority;
  }

  get order() {
    Watched.looks++;
    return this.#order;
  }
}

for (
  const [title, priorityOf, most] of [
    ["rising", (i) => i, 150], // 14 levels
    ["falling", (i) => -i, 150],
    ["three", (i) => i % 3, 20],
    ["one", () => 7, 20],
  ] satisfies [string, (i: number) => number, number][]
) {
  test(`a line takes few looks at each, priorities: ${title}`, () => {
    const N = 10_000;
    const line = new Line<Watched>();
    const all = Array.from(
      { length: N },
      (_, i) => new Watched(priorityOf(i), i),
    );
    Watched.looks = 0;
    for (const it of all) line.put(it);
    const [ahead, aborted] = [all.slice(0, N / 2), all.slice(N / 2)];
    for (const it of aborted) line.remove(it);
    for (const it of ahead) line.remove(it); // a worker takes it, and dies
    for (const it of aborted) line.put(it);
    for (const it of ahead.toReversed()) line.put(it);
    while (line.first !== undefined) line.remove(line.first);
    const { looks } = Watched;
    assert.ok(looks < 2 * N * most, `${looks} looks at ${N}`);
  });
}

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

test("maxQueue counts beside as many tasks as workers do at a time", () =>
  withPool(
    { workers: 1, maxQueue: 1, orders: { limit: 3 } },
    async (pool) => {
      await pool.ready;
      const talks = [1, 2, 3].map(() => pool.start("listen"));
      const waiting = pool.run("echo", 1);
      assert.instance(await rejection(pool.run("echo", 2)), QueueFullError);
      for (const { send } of talks) send("end");
      await Promise.all(talks.map(({ result }) => result));
      assert.is(await waiting, 1);
    },
  ));

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

test("all that waits in a pool listens to one signal once", () =>
  withPool({ slots: 2, ahead: 0 }, async (pool, words) => {
    const { control, signal, listeners } = listened();
    const waits = [0, 1, 2].map((n) => pool.run("gate", n, { signal }));
    const loops = waits.map(() => pool.map("echo", [1, 2], { signal }));
    const ends = [
      ...waits,
      ...waits.map(() => pool.room({ signal })),
      ...loops.map((loop) => loop.next()),
    ].map(rejection);
    await pause();
    control.abort("enough");
    assert.equal(await Promise.all(ends), ends.map(() => "enough"));
    assert.equal(listeners, { now: 0, most: 1 });
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    assert.is(await pool.run("echo", 1), 1);
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
