// also: node, browsers
// Entries that expire.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { codec, HashMap, inspect } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { refuses, wordsOf } from "../_run/model.ts";
import { ints } from "./maps.ts";

const test = suite("HashMap and time");

test("inspect() tells a time that does not fit", () => {
  const evict = "clock" as const;
  for (const ttl of [undefined, 1, 2 ** 30]) {
    const map = HashMap.create({ ...ints, capacity: 3, evict, ttl });
    assert.equal(inspect(map).problems, []);
    const wrongs = ttl === undefined ? [1, -1] : [0, -1, 2 ** 30 + 1];
    for (const wrong of wrongs) {
      wordsOf(map)[LAYOUT.hash_map.ttl] = wrong;
      const [problem] = inspect(map).problems;
      assert.is(problem?.index, LAYOUT.hash_map.ttl);
      assert.is(problem?.value, wrong);
    }
  }
});

/** Runs `use` with a clock that it sets, and that begins at `now`. */
function withClock<T>(now: number, use: (clock: { now: number }) => T): T {
  const clock = { now };
  const { now: own } = Date;
  const restore = () => void (Date.now = own);
  Date.now = () => clock.now;
  let result: T | undefined;
  try {
    result = use(clock);
  } finally {
    if (!(result instanceof Promise)) restore();
  }
  return result instanceof Promise ? result.finally(restore) as T : result;
}

/** Values with the time when they expire, by their keys. */
type Expiring = Map<number, { n: number; until: number }>;

test("every operation takes what has expired as absent", () => {
  const op = fc.constantFrom(
    ...["set", "set if absent", "delete", "take", "add", "update"],
    ...["remove by update", "get or insert", "exchange", "pass", "pass"],
    ...["set briefly", "set briefly if absent"],
  );
  const step = fc.record({ op, one: fc.boolean(), n: fc.nat(4), m: fc.nat(9) });
  const value = fc.constantFrom(codec.i32, codec.f64);
  // Clocks of now, and before each wrap of 31 and 32 bits.
  const begin = fc.constantFrom(1e12, 2 ** 43 - 9, 2 ** 43 + 2 ** 31 - 9);
  const steps = fc.array(step, { maxLength: 60 });
  fc.assert(
    fc.property(
      value,
      begin,
      steps,
      (value, begin, steps) =>
        withClock(begin, (clock) => {
          const codecs = { key: codec.i32, value };
          const ttl = 12;
          const config = {
            ...codecs,
            capacity: 8,
            evict: "clock" as const,
            ttl,
          };
          const one = HashMap.create(config);
          const two = HashMap.from(one.handle, { ...codecs, remember: false });
          const model: Expiring = new Map();
          for (const { op, one: isOne, n, m } of steps) {
            const map = isOne ? one : two;
            const old = model.get(n)?.n;
            const put = (to: number, until = clock.now + ttl) =>
              model.set(n, { n: to, until });
            const keep = (to: number) => put(to, model.get(n)?.until);
            if (op === "pass") {
              clock.now += m;
            } else if (op === "set") {
              assert.ok(map.set(n, m));
              put(m);
            } else if (op === "set if absent") {
              const done = map.set(n, m, { ifAbsent: true });
              assert.is(done, old === undefined);
              if (done) {
                put(m);
              }
            } else if (op === "set briefly") {
              assert.ok(map.set(n, m, { ttl: 1 + m }));
              put(m, clock.now + 1 + m);
            } else if (op === "set briefly if absent") {
              const done = map.set(n, m, { ifAbsent: true, ttl: ttl - m });
              assert.is(done, old === undefined);
              if (done) put(m, clock.now + ttl - m);
            } else if (op === "delete") {
              assert.is(map.delete(n), model.delete(n));
            } else if (op === "take") {
              assert.is(map.take(n), old);
              model.delete(n);
            } else if (op === "add") {
              assert.is(map.add(n, m), old ?? 0);
              keep((old ?? 0) + m);
            } else if (op === "exchange") {
              assert.is(map.compareExchange(n, m, m + 1), old);
              if (old === m) keep(m + 1);
            } else if (op === "update") {
              assert.ok(map.update(n, (found) => (assert.is(found, old), m)));
              put(m);
            } else if (op === "remove by update") {
              assert.ok(map.update(n, () => undefined));
              model.delete(n);
            } else {
              assert.is(map.getOrInsert(n, () => m), old ?? m);
              if (old === undefined) put(m);
            }
            for (const [key, { until }] of model) {
              if (until <= clock.now) model.delete(key);
            }
            for (const view of [one, two]) {
              for (let key = 0; key < 5; key++) {
                assert.is(view.get(key), model.get(key)?.n);
                assert.is(view.has(key), model.has(key));
                assert.is(view.tryWaitFor(key), model.get(key)?.n);
              }
              const seen = [...view].toSorted(([a], [b]) => a - b);
              const wanted = [...model].map(([key, { n }]) =>
                [key, n] as const
              );
              assert.equal(seen, wanted.toSorted(([a], [b]) => a - b));
            }
          }
          assert.is(one.evictions, 0);
          assert.equal(inspect(one).problems, []);
        }),
    ),
  );
});

test("a value counts no longer than the ttl of its cache", () => {
  const evict = "clock" as const;
  const cache = HashMap.create({ ...ints, capacity: 2, evict, ttl: 100 });
  cache.set(1, 2);
  const { buffer } = cache;
  for (const ttl of [0, -1, 1.5, 101, NaN, Infinity]) {
    const call = () => cache.set(1, 3, { ttl });
    refuses(buffer, call, RangeError, "1 to 100", `${ttl}`);
  }
  const text = () => cache.set(1, 3, { ttl: "5" as never });
  refuses(buffer, text, TypeError, "ttl", "5");
  for (const config of [{}, { evict }]) {
    const map = HashMap.create({ ...ints, ...config, capacity: 2 });
    assert.ok(map.set(1, 2, { ttl: undefined }));
    const call = () => map.set(1, 3, { ttl: 5 });
    refuses(map.buffer, call, TypeError, "made with one", "received 5");
  }
});

test("an entry may expire while it is updated", () =>
  withClock(1e12, (clock) => {
    const config = { ...ints, capacity: 2, evict: "clock" as const, ttl: 100 };
    const cache = HashMap.create(config);
    cache.set(1, 2);
    assert.ok(cache.update(1, () => (clock.now += 100, undefined)));
    assert.is(cache.size, 0);
    cache.set(1, 3);
    assert.ok(cache.update(1, () => (clock.now += 100, 4)));
    assert.is(cache.get(1), 4);
  }));

test("an entry that has expired gives way to a new key", () =>
  withClock(1e12, (clock) => {
    const codecs = { key: codec.text, value: codec.text };
    const config = { ...codecs, evict: "clock" as const, ttl: 100 };
    const cache = HashMap.create({ ...config, capacity: 3 });
    cache.set("a", "1");
    clock.now += 50;
    cache.set("b", "2");
    cache.set("c", "3");
    clock.now += 50;
    for (const key of ["a", "b", "c"]) cache.get(key); // as used as can be
    assert.is(cache.size, 3); // it is counted until somebody needs its place
    cache.set("d", "4");
    assert.equal([...cache.keys()].toSorted(), ["b", "c", "d"]);
    assert.equal([cache.evictions, cache.hits, cache.misses], [0, 2, 1]);
    cache.set("e", "5");
    assert.is(cache.evictions, 1);
    assert.equal(inspect(cache).problems, []);
  }));

test("a value counts no longer than its time, whatever the clock says", () =>
  withClock(1e12, (clock) => {
    const config = { ...ints, capacity: 1, evict: "clock" as const, ttl: 100 };
    const cache = HashMap.create(config);
    cache.set(1, 2);
    clock.now -= 1000; // another agent's clock may be late
    assert.is(cache.get(1), 2);
    clock.now -= 1; // it was set back
    assert.is(cache.get(1), undefined);
    clock.now += 1001 + 2 ** 31; // the difference of 32 bits has wrapped
    assert.is(cache.get(1), undefined);
    assert.is(cache.add(1, 5), 0);
    assert.is(cache.add(1, 2 ** 31 - 5), 5);
    assert.is(cache.get(1), -(2 ** 31)); // sums wrap
  }));

test("a waiter takes what has expired as absent", () =>
  withClock(1e12, async (clock) => {
    const config = { ...ints, capacity: 4, evict: "clock" as const, ttl: 100 };
    const cache = HashMap.create(config);
    cache.set(1, 5);
    clock.now += 100;
    assert.is(await cache.tryWaitForAsync(1, { timeout: 1 }), undefined);
    const late = cache.waitForAsync(1);
    cache.set(1, 6);
    assert.is(await late, 6);
    // A value that expires before the waiter looks does not end its wait.
    clock.now += 100;
    const later = cache.waitForAsync(1);
    cache.set(1, 7);
    clock.now += 100;
    await cache.tryWaitForAsync(2, { timeout: 5 });
    cache.set(1, 8);
    assert.is(await later, 8);
    clock.now += 100;
    assert.is(await cache.getOrInsertAsync(1, () => Promise.resolve(9)), 9);
  }));

test("five agents make a value that has expired once", () =>
  withClock(1e12, async (clock) => {
    const config = { ...ints, capacity: 4, evict: "clock" as const, ttl: 100 };
    const cache = HashMap.create(config);
    cache.set(1, 5);
    clock.now += 100;
    let made = 0;
    const make = () => {
      made++;
      return new Promise<number>((done) => setTimeout(() => done(6), 5));
    };
    const views = Array.from(
      { length: 5 },
      () => HashMap.from(cache.handle, ints),
    );
    const got = await Promise.all(
      views.map((view) => view.getOrInsertAsync(1, make)),
    );
    assert.equal(got, [6, 6, 6, 6, 6]);
    assert.is(made, 1);
  }));
