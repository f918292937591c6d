// also: node, browsers
import * as assert from "uvu/assert";
import fc from "fast-check";
import {
  agentId,
  type Codec,
  codec,
  DamagedError,
  HashMap,
  inspect,
  recover,
  struct,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { Places } from "../../primitives/_map/places.ts";
import { planFor } from "../../primitives/_map/plan.ts";
import { CODEC } from "../../primitives/_message/message.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  preemptedAnywhere,
  refuses,
  rejects,
  wordsOf,
} from "../_run/model.ts";

const ints = { key: codec.i32, value: codec.i32 };
const Point = struct({ id: "u8", x: "f64" });
/** The id of an agent that is dead. */
const DEAD = 77;

const test = suite("HashMap");

/** Codecs, and for each small number a key and a value. */
interface Kind<K, V> {
  readonly key: Codec<K>;
  readonly value: Codec<V>;
  readonly keyOf: (n: number) => K;
  readonly valueOf: (n: number) => V;
}

const KINDS: Kind<never, never>[] = [
  { ...ints, keyOf: (n: number) => n, valueOf: (n: number) => -n },
  {
    key: codec.text,
    value: codec.text,
    keyOf: (n: number) => "ä".repeat(n),
    valueOf: (n: number) => "x".repeat(3 * n),
  },
  {
    key: codec.record(Point),
    value: codec.record(Point),
    keyOf: (id: number) => ({ id, x: -id }),
    valueOf: (id: number) => ({ id, x: id / 3 }),
  },
  {
    key: codec.f64,
    value: codec.json,
    keyOf: (n: number) => n / 2,
    valueOf: (n: number) => ({ n }),
  },
  {
    key: codec.binary,
    value: codec.f64,
    keyOf: (n: number) => new Uint8Array(n).fill(n),
    valueOf: (n: number) => n * 1.5,
  },
] as Kind<unknown, unknown>[] as Kind<never, never>[];

/** The model: values by the number of their key. */
type Model = Map<number, number>;

test("every operation obeys the model of a Map", () => {
  const op = fc.constantFrom(
    ...["set", "set", "set", "set if absent", "delete", "take"],
    ...["update", "remove by update", "get or insert", "clear"] as const,
  );
  const n = fc.nat({ max: 9 });
  const calls = fc.array(fc.record({ op, n, m: n }), { maxLength: 60 });
  const kind = fc.constantFrom(...KINDS);
  const capacity = fc.constantFrom(1, 2, 3, 5, 8, 33);
  const seed = fc.nat();
  fc.assert(
    fc.property(kind, capacity, seed, calls, (kind, capacity, seed, calls) => {
      const { keyOf, valueOf } = kind;
      const codecs = { key: kind.key, value: kind.value };
      const map = HashMap.create({ ...codecs, capacity, seed });
      const other = HashMap.from(map.handle, codecs);
      const model: Model = new Map();
      const room = (n: number) => model.has(n) || model.size < capacity;
      for (const { op, n, m } of calls) {
        const key = keyOf(n);
        const value = valueOf(m);
        const old = model.has(n) ? valueOf(model.get(n)!) : undefined;
        if (op === "set") {
          assert.is(map.set(key, value), room(n));
          if (room(n)) model.set(n, m);
        } else if (op === "set if absent") {
          const done = room(n) && !model.has(n);
          assert.is(map.set(key, value, { ifAbsent: true }), done);
          if (done) model.set(n, m);
        } else if (op === "delete") {
          assert.is(map.delete(key), model.delete(n));
        } else if (op === "take") {
          assert.equal(map.take(key), old);
          model.delete(n);
        } else if (op === "update") {
          const done = map.update(key, (found) => {
            assert.equal(found, old);
            return value;
          });
          assert.is(done, room(n));
          if (done) model.set(n, m);
        } else if (op === "remove by update") {
          assert.ok(map.update(key, () => undefined));
          model.delete(n);
        } else if (op === "get or insert") {
          const found = map.getOrInsert(key, () => value);
          if (old !== undefined) assert.equal(found, old);
          else if (room(n)) {
            assert.equal(found, value);
            model.set(n, m);
          } else assert.is(found, undefined);
        } else {
          map.clear();
          model.clear();
        }
        assertSame(other, kind, model);
      }
      assert.equal(inspect(map).problems, []);
    }),
  );
});

/** Asserts that the map has what the model has. */
function assertSame<K, V>(
  map: HashMap<K, V>,
  { keyOf, valueOf }: Kind<K, V>,
  model: Model,
): void {
  assert.is(map.size, model.size);
  for (let n = 0; n < 10; n++) {
    const value = model.has(n) ? valueOf(model.get(n)!) : undefined;
    assert.equal(map.get(keyOf(n)), value);
    assert.is(map.has(keyOf(n)), model.has(n));
  }
  const seen = [...map].map(([key, value]) => JSON.stringify([key, value]));
  const wanted = [...model].map(([n, m]) =>
    JSON.stringify([keyOf(n), valueOf(m)])
  );
  assert.equal(seen.toSorted(), wanted.toSorted());
  assert.is([...map.keys()].length, model.size);
  assert.is([...map.values()].length, model.size);
}

test("a view that remembers a key sees what another view changes", () => {
  const sized = { keySize: 100, valueSize: 60 };
  const texts = (n: number) => "k".repeat([0, 3, 12, 13, 64, 65, 99][n]!);
  const kinds = [
    { ...ints, key: (n: number) => n, value: (n: number) => n },
    {
      codecs: { key: codec.text, value: codec.text, ...sized },
      key: texts,
      value: (n: number) => "v".repeat(n),
    },
    {
      codecs: { key: codec.text, value: codec.f64, keySize: 100 },
      key: texts,
      value: (n: number) => [-0, NaN, 1.5][n % 3],
    },
    {
      codecs: { key: codec.i32, value: codec.record(Point) },
      key: (n: number) => n - 3,
      value: (n: number) => ({ id: n, x: n / 7 }),
    },
  ];
  const step = fc.tuple(
    fc.constantFrom("get", "set", "has", "delete", "update", "clear"),
    fc.boolean(),
    fc.nat(6),
    fc.nat(20),
  );
  for (const kind of kinds) {
    const codecs = ("codecs" in kind ? kind.codecs : ints) as typeof ints;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const one = HashMap.create({ ...codecs, capacity: 5 });
        const two = HashMap.from(one.handle, {
          key: codecs.key,
          value: codecs.value,
        });
        const model = new Map<unknown, unknown>();
        for (const [what, isOne, n, m] of steps) {
          const map = isOne ? one : two;
          const key = kind.key(n) as number;
          const value = kind.value(m) as number;
          if (what === "get") assert.equal(map.get(key), model.get(key));
          if (what === "has") assert.is(map.has(key), model.has(key));
          if (what === "delete") assert.is(map.delete(key), model.delete(key));
          if (what === "clear" && m < 3) [map, model].map((all) => all.clear());
          if (what !== "set" && what !== "update") continue;
          const done = what === "set" ? map.set(key, value) : map.update(
            key,
            (old) => {
              assert.equal(old, model.get(key));
              map.get(kind.key((n + 1) % 7) as number);
              return value;
            },
          );
          assert.is(done, model.has(key) || model.size < 5);
          if (done) model.set(key, value);
        }
      }),
    );
  }
});

/** A cache as it ought to be: the entries in the order of the hand. */
class ModelOfCache {
  readonly #places: ({ key: number; value: number; used: boolean } | null)[];
  #hand = 0;
  evictions = 0;

  constructor(capacity: number) {
    this.#places = new Array(capacity).fill(null);
  }

  #find(key: number) {
    return this.#places.find((place) => place?.key === key);
  }

  get(key: number): number | undefined {
    const place = this.#find(key);
    if (place) place.used = true;
    return place?.value;
  }

  set(key: number, value: number): void {
    const place = this.#find(key);
    if (place) {
      place.value = value;
      place.used = true;
      return;
    }
    let free = this.#places.indexOf(null);
    for (; free < 0; this.#hand++) {
      const at = this.#hand % this.#places.length;
      const old = this.#places[at]!;
      if (!old.used) free = at;
      old.used = false;
    }
    if (this.#places[free] !== null) this.evictions++;
    this.#places[free] = { key, value, used: false };
  }

  delete(key: number): boolean {
    const place = this.#find(key);
    if (place) this.#places[this.#places.indexOf(place)] = null;
    return place !== undefined;
  }

  get entries(): [key: number, value: number][] {
    return this.#places.filter((place) => place !== null)
      .map(({ key, value }) => [key, value]);
  }
}

test("a cache takes out what the hand finds unused", () => {
  const step = fc.tuple(
    fc.constantFrom("get", "get", "set", "set", "add", "update", "delete"),
    fc.boolean(),
    fc.nat(9),
  );
  const capacity = fc.constantFrom(1, 2, 3, 5, 8, 32);
  const value = fc.constantFrom(codec.i32, codec.f64);
  fc.assert(fc.property(
    capacity,
    value,
    fc.array(step, { maxLength: 80 }),
    (capacity, value, steps) => {
      const codecs = { key: codec.i32, value };
      const config = { ...codecs, capacity, evict: "clock" as const };
      const one = HashMap.create(config);
      const two = HashMap.from(one.handle, { ...codecs, remember: false });
      const model = new ModelOfCache(capacity);
      let [hits, misses, m] = [0, 0, 0];
      for (const [what, isOne, n] of steps) {
        const map = isOne ? one : two;
        m++;
        if (what === "get") {
          const found = model.get(n);
          assert.is(map.get(n), found);
          if (found === undefined) misses++;
          else hits++;
        } else if (what === "set") {
          assert.is(map.set(n, m), true);
          model.set(n, m);
        } else if (what === "add") {
          const old = model.get(n) ?? 0;
          assert.is(map.add(n, m), old);
          model.set(n, old + m);
        } else if (what === "update") {
          const old = model.get(n);
          assert.ok(map.update(n, (found) => (assert.is(found, old), m)));
          model.set(n, m);
        } else assert.is(map.delete(n), model.delete(n));
        // Neither iterating nor `has` counts as a use.
        const entries = model.entries;
        assert.equal([...map], entries);
        assert.ok(entries.every(([key]) => map.has(key)));
      }
      assert.is(one.hits, hits);
      assert.is(two.misses, misses);
      assert.is(one.evictions, model.evictions);
      assert.equal(inspect(one).problems, []);
    },
  ));
});

test("a cache keeps nearly what the exact order of uses would keep", () => {
  const [most, capacity, calls] = [2000, 200, 40_000];
  const sums = new Float64Array(most); // Zipf's law, with 0.99
  for (let i = 0, sum = 0; i < most; i++) sums[i] = sum += (i + 1) ** -0.99;
  const config = { ...ints, capacity, seed: 1, evict: "clock" as const };
  const cache = HashMap.create(config);
  const exact = new Map<number, number>();
  let [state, found] = [1, 0];
  for (let i = 0; i < calls; i++) {
    state = Math.imul(state, 1664525) + 1013904223 | 0;
    const point = (state >>> 0) / 2 ** 32 * sums[most - 1]!;
    const key = sums.findIndex((sum) => sum >= point);
    if (cache.get(key) === undefined) cache.set(key, key);
    if (exact.delete(key)) found++;
    else if (exact.size === capacity) exact.delete(exact.keys().next().value!);
    exact.set(key, key);
  }
  assert.is(cache.hits + cache.misses, calls);
  assert.is(cache.size, capacity);
  assert.ok(cache.hits > 0.97 * found, `${cache.hits}, ${found}`);
});

test("a cache makes room for a key whatever was used", () => {
  const capacity = 1000; // more than the hand passes for one key
  const config = { ...ints, capacity, evict: "clock" as const };
  const cache = HashMap.create(config);
  for (let n = 0; n < capacity; n++) cache.set(n, n);
  for (let n = 0; n < capacity; n++) assert.is(cache.get(n), n);
  for (let n = capacity; n < 5 * capacity; n++) {
    assert.ok(cache.set(n, n));
    assert.is(cache.get(n), n);
    assert.is(cache.size, capacity);
  }
  assert.is(cache.evictions, 4 * capacity);
});

test("a map that is no cache counts nothing", () => {
  const map = HashMap.create({ ...ints, capacity: 1 });
  map.set(1, 1);
  map.get(1);
  map.get(2);
  assert.is(map.set(2, 2), false);
  assert.equal([map.hits, map.misses, map.evictions], [0, 0, 0]);
});

test("calls that may make a value are counted", async () => {
  const map = HashMap.create({ ...ints, capacity: 2, evict: "clock" });
  assert.is(map.getOrInsert(1, () => 1), 1);
  assert.is(map.getOrInsert(1, () => 2), 1);
  assert.is(map.getInto(1, new Uint8Array(4)), 4);
  assert.is(map.getInto(9, new Uint8Array(4)), -1);
  const both = [0, 1].map(() => map.getOrInsertAsync(2, async () => await 3));
  assert.equal(await Promise.all(both), [3, 3]);
  assert.is(await map.waitForAsync(2), 3);
  assert.is(map.tryWaitFor(5), undefined);
  assert.equal([map.hits, map.misses], [3, 3]);
});

test("a key gives way itself if others write to all entries", () => {
  const map = HashMap.create({ ...ints, capacity: 1, evict: "clock" });
  const { entries, words } = cacheParts(map);
  words[entries] = 1 << 31 | DEAD; // another agent fills it
  assert.ok(map.set(1, 2));
  assert.is(map.get(1), undefined);
  assert.is(map.evictions, 1);
  words[entries] = 0;
  assert.ok(map.set(1, 2));
  assert.is(map.get(1), 2);
  assert.is(map.evictions, 1);
});

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

test("inspect() tells what does not fit in a cache", () => {
  const map = HashMap.create({ ...ints, capacity: 3, evict: "clock" });
  const { entries, key, stripes, words } = cacheParts(map);
  for (
    const [at, value] of [
      [entries + key - 1, 2],
      [stripes + 1, 8],
      [stripes + 32 + 3, -8],
      [stripes + 7 * 32 + 5, 8],
    ] as const
  ) {
    assert.equal(inspect(map).problems, []);
    words[at] = value;
    const [problem] = inspect(map).problems;
    assert.is(problem?.index, at);
    assert.is(problem?.value, value);
    words[at] = 0;
  }
});

/** Words of the parts of a cache of numbers. */
function cacheParts(map: HashMap<number, number>) {
  const { capacity } = map;
  const plan = planFor(LAYOUT.hash_map.length, capacity, 1, 1, true);
  return { ...plan, words: wordsOf(map) };
}

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

test("a view reads more texts than it remembers", () => {
  const count = 5000;
  const map = HashMap.create({
    key: codec.text,
    value: codec.text,
    capacity: count,
    keySize: 20,
    valueSize: 8,
  });
  for (let i = 0; i < count; i++) {
    map.set(`a rather long key ${i}`.slice(-20), `${i}`);
  }
  for (const round of [1, 2, 3]) {
    for (let i = 0; i < count; i++) {
      assert.is(
        map.get(`a rather long key ${i}`.slice(-20)),
        `${i}`,
        `${round}`,
      );
    }
  }
});

test("a view that remembers few of its texts looks for none for a while", () => {
  const count = 64;
  const places = Places.for(CODEC.text, count)!;
  const look = (key: string): boolean => {
    if (places.find(key)) return true;
    places.keep(key, 1, 2, 3, () => key);
    return false;
  };
  // The first one has a place that the others take last.
  for (let i = 0; i < count; i++) assert.not(look(`text ${i}`));
  // As many as are late between them, and seven times as many that are not.
  for (let i = 0; i < 1024; i++) {
    assert.is(look(i % 8 === 7 ? `late ${i}` : "text 0"), i % 8 !== 7, `${i}`);
  }
  assert.ok(look("text 0"), "most looks found their text");
  for (let i = 0; i < 128; i++) assert.not(look(`other ${i}`));
  for (let i = 0; i < 262_144; i++) {
    if (look("text 0")) assert.unreachable(`look ${i}`);
  }
  assert.not(places.find("text 63"), "all were forgotten");
  assert.ok(look("text 0"), "the last look remembered it anew");
});

test("numbers are added and compared", () => {
  const calls = fc.array(
    fc.record({
      adds: fc.boolean(),
      key: fc.nat({ max: 4 }),
      a: fc.integer({ min: -2, max: 2 }),
      b: fc.integer({ min: -2, max: 2 }),
    }),
    { maxLength: 50 },
  );
  const value = fc.constantFrom(codec.i32, codec.f64);
  fc.assert(fc.property(value, calls, (value, calls) => {
    const map = HashMap.create({ key: codec.i32, value, capacity: 3 });
    const model = new Map<number, number>();
    for (const { adds, key, a, b } of calls) {
      const old = model.get(key);
      if (!adds) {
        assert.is(map.compareExchange(key, a, b), old);
        if (old === a) model.set(key, b);
      } else if (old !== undefined || model.size < 3) {
        assert.is(map.add(key, a), old ?? 0);
        model.set(key, (old ?? 0) + a);
      } else assert.is(map.add(key, a), undefined);
      assert.equal(
        [...map].toSorted(([a], [b]) => a - b),
        [...model].toSorted(([a], [b]) => a - b),
      );
    }
  }));
  const map = HashMap.create({ ...ints, capacity: 1 });
  map.set(1, 2 ** 31 - 1);
  assert.is(map.add(1, 1), 2 ** 31 - 1);
  assert.is(map.get(1), -(2 ** 31));
  const halves = HashMap.create({
    key: codec.i32,
    value: codec.f64,
    capacity: 1,
  });
  halves.set(1, NaN);
  assert.is.not(halves.compareExchange(1, NaN, 0.5), 0);
  assert.is(halves.get(1), 0.5);
  halves.set(1, -0);
  assert.is(Object.is(halves.compareExchange(1, 0, 2), -0), true);
  assert.is(halves.get(1), 2);
});

test("NaN is a key, and -0 the same one as 0", () => {
  const map = HashMap.create({ key: codec.f64, value: codec.i32, capacity: 4 });
  map.set(NaN, 1);
  map.set(0 / 0, 2);
  map.set(-0, 3);
  map.set(Infinity, 5);
  assert.is(map.size, 3);
  assert.is(map.get(NaN), 2);
  assert.is(map.get(0), 3);
  assert.ok([...map.keys()].some((key) => Object.is(key, 0)));
});

test("getInto() copies the bytes of a value", () => {
  const map = HashMap.create({
    key: codec.text,
    value: codec.text,
    capacity: 2,
    keySize: 4,
    valueSize: 5,
  });
  assert.ok(map.set("four", "fünf"));
  const into = new Uint8Array(6);
  assert.is(map.getInto("four", into), 5);
  assert.is(new TextDecoder().decode(into), "fünf\0");
  assert.is(map.getInto("none", into), -1);
  const short = () => map.getInto("four", new Uint8Array(4));
  refuses(map.buffer, short, RangeError, "5 bytes", "4 bytes");
  const words = () => map.getInto("four", new Int32Array(2) as never);
  refuses(map.buffer, words, TypeError, "Int32Array");
  const numbers = HashMap.create({
    key: codec.i32,
    value: codec.i32,
    capacity: 1,
  });
  numbers.set(-1, 0x04030201);
  assert.is(numbers.getInto(-1, into), 4);
  assert.equal([...into.subarray(0, 4)], [1, 2, 3, 4]);
});

test("a key or value that does not fit is refused", () => {
  const map = HashMap.create({
    key: codec.text,
    value: codec.binary,
    capacity: 2,
    keySize: 3,
    valueSize: 5,
  });
  const long = new Uint8Array(6);
  const some = new Uint8Array(5);
  const { buffer } = map;
  refuses(buffer, () => map.set("four", some), RangeError, "3 bytes", "four");
  refuses(buffer, () => map.get("four"), RangeError, "key", "3 bytes");
  refuses(buffer, () => map.set("ab", long), RangeError, "value", "5 bytes");
  refuses(buffer, () => map.update("ab", () => long), RangeError, "5 bytes");
  refuses(buffer, () => map.getOrInsert("ab", () => long), RangeError, "5");
  refuses(buffer, () => map.has("\ud800"), RangeError, "surrogate");
  refuses(buffer, () => map.get(7 as never), TypeError, "7");
  refuses(buffer, () => map.set("a", "b" as never), TypeError, "b");
  refuses(buffer, () => map.update("ab", 7 as never), TypeError, "7");
  refuses(buffer, () => map.getOrInsert("ab", 7 as never), TypeError, "7");
  const option = { ifabsent: true } as never;
  refuses(buffer, () => map.set("ab", some, option), TypeError, "ifabsent");
  const flag = { ifAbsent: 1 } as never;
  refuses(buffer, () => map.set("ab", some, flag), TypeError, "ifAbsent");
  const add = () => (map as never as HashMap<string, number>).add("ab", 1);
  refuses(buffer, add, TypeError, "are numbers");
  const exchange = () =>
    (map as never as HashMap<string, number>).compareExchange("ab", 1, 2);
  refuses(buffer, exchange, TypeError, "are numbers");
  const numbers = HashMap.create({ ...ints, capacity: 1 });
  const half = () => numbers.set(0.5, 1);
  refuses(numbers.buffer, half, RangeError, "0.5");
  refuses(numbers.buffer, () => numbers.set(1, NaN), RangeError, "NaN");
});

test("a configuration out of range is refused", () => {
  const memory = new SharedArrayBuffer(4096);
  const texts = { key: codec.text, value: codec.text };
  const refused = (
    config: object,
    type: new (message: string) => Error,
    text: string,
  ) => {
    const whole = { capacity: 1, ...texts, ...config } as never;
    refuses(memory, () => HashMap.init(memory, 0, whole), type, text);
    refuses(memory, () => HashMap.byteLength(whole), type, text);
    refuses(memory, () => HashMap.create(whole), type, text);
  };
  for (const n of [0, -1, 1.5, NaN, 2 ** 28]) {
    refused({ capacity: n }, RangeError, `received ${n}`);
  }
  for (const n of [0, -1, 1.5, NaN, 4096]) {
    refused({ keySize: n }, RangeError, `received ${n}`);
  }
  for (const n of [0, -1, 1.5, NaN, 65536]) {
    refused({ valueSize: n }, RangeError, `received ${n}`);
  }
  for (const n of [-1, 1.5, NaN, 2 ** 32]) {
    refused({ seed: n }, RangeError, `received ${n}`);
  }
  refused({ capacity: "1" }, TypeError, "capacity");
  refused({ evict: "lru" }, TypeError, "lru");
  refused({ evict: true }, TypeError, "true");
  for (const n of [0, -1, 1.5, NaN, Infinity, 2 ** 30 + 1]) {
    refused({ evict: "clock", ttl: n }, RangeError, `received ${n}`);
  }
  refused({ evict: "clock", ttl: "1" }, TypeError, "ttl");
  refused({ ttl: 5 }, TypeError, "received 5");
  refused({ key: "text" }, TypeError, "codec");
  refused({ value: { name: "x" } }, TypeError, "codec");
  refused({ keysize: 4 }, TypeError, "keysize");
  refused({ key: codec.i32, keySize: 4 }, TypeError, "received 4");
  refused({ value: codec.f64, valueSize: 8 }, TypeError, "received 8");
});

test("a view needs the codecs of the map", () => {
  const Other = struct({ id: "u8", y: "f64" });
  const points = { key: codec.text, value: codec.record(Point) };
  const map = HashMap.create({ ...points, capacity: 2 });
  const { buffer, handle } = map;
  assert.is(HashMap.from(handle, points).capacity, 2);
  assert.is(map.keySize, 32);
  assert.is(map.valueSize, Point.size);
  const from = (codecs: object) => () => HashMap.from(handle, codecs as never);
  const number = { ...points, key: codec.i32 };
  refuses(buffer, from(number), TypeError, "keys are text", "not i32");
  const short = { ...points, value: codec.f64 };
  refuses(buffer, from(short), TypeError, "values are record", "not f64");
  const other = { ...points, value: codec.record(Other) };
  refuses(buffer, from(other), TypeError, "values have other fields");
  refuses(buffer, from({ key: codec.text }), TypeError, "undefined");
  const mine = { key: mineOf("mine"), value: codec.i32 };
  const named = HashMap.create({ ...mine, capacity: 1 });
  named.set("a", 1);
  assert.is(HashMap.from(named.handle, mine).get("a"), 1);
  const renamed = () =>
    HashMap.from(named.handle, { ...mine, key: mineOf("mine 2") });
  refuses(named.buffer, renamed, TypeError, '"mine 2"');
});

/** A codec of a user's. */
function mineOf(name: string): Codec<string> {
  return {
    name,
    encode: (value, into) => {
      if (value.length > into.length) return value.length;
      for (let i = 0; i < value.length; i++) into[i] = value.charCodeAt(i);
      return value.length;
    },
    decode: (bytes) => String.fromCharCode(...bytes),
  };
}

test("the seed decides who shares a bucket", () => {
  const order = (seed?: number) => {
    const map = HashMap.create({ ...ints, capacity: 64, seed });
    for (let n = 0; n < 64; n++) map.set(n, n);
    return wordsOf(map).slice(parts(map).buckets).join();
  };
  assert.is(order(7), order(7));
  assert.is.not(order(7), order(8));
  assert.is.not(order(), order());
});

test("update() leaves the map alone if it throws, or writes to it", () => {
  const map = HashMap.create({ ...ints, capacity: 1 });
  map.set(1, 2);
  const oops = () =>
    map.update(1, () => {
      throw new RangeError("oops");
    });
  refuses(map.buffer, oops, RangeError, "oops");
  const within = () => map.update(1, (old) => (map.set(1, 3), old));
  refuses(map.buffer, within, TypeError, "within its own update");
  assert.ok(map.update(1, (old) => old! + map.get(1)!)); // it may read
  assert.is(map.get(1), 4);
});

test("update() writes its own key, whatever else it reads", () => {
  const map = HashMap.create({ ...ints, capacity: 8 });
  map.set(1, 10);
  assert.ok(map.update(2, () => map.get(1)! + 1));
  assert.is(map.get(2), 11);
  assert.is(map.get(1), 10);
});

/** Words of the parts of a map of numbers. */
function parts({ capacity, buffer, byteOffset }: HashMap<number, number>) {
  const plan = planFor(LAYOUT.hash_map.length, capacity, 1, 1);
  const words = new Int32Array(buffer, byteOffset, plan.length);
  return { ...plan, words };
}

test("damage is noticed, and loops end", () => {
  const wrongs: ((map: HashMap<number, number>) => void)[] = [
    (map) => {
      const { words, buckets } = parts(map);
      words[buckets + 3] = 9; // no such entry
    },
    (map) => {
      const { words, buckets } = parts(map);
      words[buckets + 3] = -1;
    },
    (map) => {
      const { words, entries } = parts(map);
      words[entries] = 1 << 30 | 1; // it leads to itself
    },
    (map) => {
      const { words, entries } = parts(map);
      words[entries] = 0; // free, and in a chain
    },
  ];
  for (const wrong of wrongs) {
    const map = HashMap.create({ ...ints, capacity: 1 });
    map.set(1, 2);
    wrong(map);
    const calls: (() => unknown)[] = [
      () => map.get(5),
      () => map.has(5),
      () => map.set(5, 1),
      () => map.delete(5),
      () => map.take(5),
      () => map.add(5, 1),
      () => map.compareExchange(5, 1, 2),
      () => map.update(5, () => 1),
      () => map.getOrInsert(5, () => 1),
      () => map.clear(),
    ];
    for (const call of calls) refuses(map.buffer, call, DamagedError, "map");
    asAgent(DEAD, () => new HashMap(map.buffer, 0, ints));
    const { words, buckets } = parts(map);
    words[buckets] = DEAD;
    refuses(map.buffer, () => map.abandon(DEAD), DamagedError, "map");
    assert.equal(recover(DEAD, map).map(({ what }) => what), ["damaged"]);
  }
});

test("a length that is impossible is noticed", () => {
  const texts = { key: codec.text, value: codec.text };
  const sizes = { keySize: 4, valueSize: 4 };
  const map = HashMap.create({ ...texts, ...sizes, capacity: 1 });
  map.set("a", "b");
  const { entries } = planFor(LAYOUT.hash_map.length, 1, 2, 2);
  for (const length of [-1, 5, 1 << 30]) {
    wordsOf(map)[entries + 5] = length;
    refuses(map.buffer, () => map.get("a"), DamagedError, "map");
    refuses(map.buffer, () => map.take("a"), DamagedError, "map");
    assert.ok(map.has("a"));
  }
});

test("inspect() tells what does not fit together", () => {
  const rows: [index: (map: HashMap<number, number>) => number, number][] = [
    [(map) => parts(map).buckets, -1],
    [(map) => parts(map).buckets + 3, 4],
    [(map) => parts(map).entries, 1],
    [(map) => parts(map).entries, 1 << 30 | 4],
    [(map) => parts(map).entries, 1 << 31],
  ];
  for (const [index, value] of rows) {
    const map = HashMap.create({ ...ints, capacity: 3 });
    assert.equal(inspect(map).problems, []);
    parts(map).words[index(map)] = value;
    const [problem] = inspect(map).problems;
    assert.is(problem?.index, index(map));
    assert.is(problem?.value, value);
    assert.is(problem?.what, "damaged");
  }
});

const operations: Record<string, (map: HashMap<number, number>) => unknown> = {
  "set a new key": (map) => map.set(3, 30),
  "overwrite": (map) => map.set(1, 11),
  delete: (map) => map.delete(1),
  "delete the other": (map) => map.delete(2),
  take: (map) => map.take(2),
  add: (map) => map.add(1, 1),
  update: (map) => map.update(2, (old) => (old ?? 0) + 1),
  get: (map) => map.get(2),
  iterate: (map) => [...map],
};

/** Thrown instead of the next step of an agent that ends. */
class Ended extends Error {}

test("an agent may end at any step", () => {
  for (const value of [codec.i32, codec.f64]) {
    const codecs = { key: codec.i32, value };
    for (const [name, operation] of Object.entries(operations)) {
      for (let at = 0, ended = true; ended; at++) {
        const [map, whole] = [filled(value), filled(value)];
        const before = sorted(map);
        operation(whole);
        const victim = asAgent(DEAD, () => new HashMap(map.buffer, 0, codecs));
        ended = endsAt(at, () => operation(victim));
        const path = `${name}, step ${at}`;
        const seen = sorted(map);
        assert.ok(
          seen === before || seen === sorted(whole),
          `${path}: ${seen}`,
        );
        const found = recover([DEAD], map);
        assert.ok(found.every(({ what }) => what === "writes ended"), path);
        assert.equal(recover([DEAD], map), [], path);
        assert.is(sorted(map), seen, path);
        assert.equal(inspect(map).problems, []);
        // Every entry can be used, and every bucket be written to.
        for (let n = 10; map.size < 4; n++) assert.ok(map.set(n, n), path);
        assert.not.ok(map.set(99, 1), path);
        map.clear();
        assert.is(map.size, 0, path);
        for (let n = 0; n < 4; n++) assert.ok(map.set(n, n), path);
      }
    }
  }
});

const sorted = (map: Iterable<[number, number]>) =>
  JSON.stringify([...map].toSorted(([a], [b]) => a - b));

/** A map of four entries with two keys. */
function filled(value: Codec<number>): HashMap<number, number> {
  const codecs = { key: codec.i32, value };
  const map = HashMap.create({ ...codecs, capacity: 4, seed: 1 });
  map.set(1, 10);
  map.set(2, 20);
  return map;
}

/** Ends an operation before its step number `at`; whether it came so far. */
function endsAt(at: number, operation: () => unknown): boolean {
  const names = [
    "load",
    "store",
    "add",
    "and",
    "or",
    "compareExchange",
    "notify",
  ] as const;
  const atomics = Atomics as unknown as Record<string, unknown>;
  const originals = names.map((name) => atomics[name]);
  let steps = 0;
  names.forEach((name, i) => {
    const original = originals[i] as (...args: never[]) => unknown;
    atomics[name] = (...args: never[]) => {
      if (steps++ >= at) throw new Ended();
      return original.apply(Atomics, args);
    };
  });
  try {
    operation();
    return false;
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return true;
  } finally {
    names.forEach((name, i) => atomics[name] = originals[i]);
  }
}

test("any two operations may meet at any step", () => {
  for (const value of [codec.i32, codec.f64]) {
    const codecs = { key: codec.i32, value };
    // The operation does not hold a lock while a reader comes.
    for (const [one, run] of Object.entries(operations)) {
      preemptedAnywhere(
        () => {
          const map = filled(value);
          const reader = asAgent(5, () => new HashMap(map.buffer, 0, codecs));
          const before = sorted(map);
          return { map, reader, before, seen: "" };
        },
        ({ map }) => void run(map),
        (it) => void (it.seen = sorted(it.reader)),
        ({ map, before, seen }, step) => {
          const after = sorted(map);
          assert.ok(seen === before || seen === after, `${one} at ${step}`);
        },
      );
    }
    for (const [one, run] of Object.entries(operations)) {
      if (one !== "get" && one !== "iterate") continue;
      for (const [two, meet] of Object.entries(operations)) {
        preemptedAnywhere(
          () => {
            const map = filled(value);
            const other = asAgent(5, () => new HashMap(map.buffer, 0, codecs));
            return { map, other, seen: new Map<number, number>() };
          },
          (it) => {
            if (one === "get") it.seen.set(2, run(it.map) as number);
            else it.seen = new Map(run(it.map) as [number, number][]);
          },
          ({ other }) => {
            meet(other);
            other.delete(8);
            other.set(8, 80); // what was freed is used again
            other.delete(8);
          },
          ({ seen }, step) => {
            const path = `${one}, ${two} at ${step}`;
            for (const [key, value] of seen) {
              const known = { 1: [10, 11], 2: [20, 21, undefined], 3: [30] }[
                key
              ];
              assert.ok(known?.includes(value as never), `${path}: ${value}`);
            }
          },
        );
      }
    }
  }
});

test("waitFor() and its forms wait until a key is there", async () => {
  const map = HashMap.create({
    key: codec.text,
    value: codec.i32,
    capacity: 4,
  });
  const other = HashMap.from(map.handle, { key: codec.text, value: codec.i32 });
  const waits = [
    map.waitForAsync("a"),
    map.getAsync("a"),
    map.tryWaitForAsync("a", { timeout: 1e4 }),
    other.waitForAsync("a"),
  ];
  const late = map.tryWaitForAsync("none", { timeout: 1 });
  other.set("b", 1);
  other.set("a", 7);
  assert.equal(await Promise.all(waits), [7, 7, 7, 7]);
  assert.is(await late, undefined);
  assert.is(map.waitFor("a"), 7);
  assert.is(map.tryWaitFor("a", 1), 7);
  assert.is(map.tryWaitFor("c"), undefined);
  assert.is(map.tryWaitFor("c", 1), undefined);
  const { buffer } = map;
  refuses(buffer, () => map.tryWaitFor("c", NaN), RangeError, "NaN");
  refuses(buffer, () => map.waitFor(7 as never), TypeError, "7");
  const signal = AbortSignal.abort(new Error("enough"));
  const wait = map.waitForAsync("c", { signal });
  await rejects(buffer, wait, Error, "enough");
  const unknown = map.waitForAsync("c", { timeout: 1 } as never);
  await rejects(buffer, unknown, TypeError, "timeout");
  assert.equal(inspect(map).problems, []);
});

test("a wait does not keep a key that the caller changes", async () => {
  const codecs = { key: codec.binary, value: codec.i32 };
  const map = HashMap.create({ ...codecs, capacity: 4 });
  const key = Uint8Array.of(1);
  const wait = map.waitForAsync(key);
  key[0] = 2;
  map.set(key, 2);
  map.set(Uint8Array.of(1), 1);
  assert.is(await wait, 1);
});

test("getOrInsertAsync() makes a value once", async () => {
  const map = HashMap.create({ ...ints, capacity: 2 });
  let made = 0;
  let go = () => {};
  const make = async (key: number) => {
    made++;
    await new Promise<void>((resolve) => go = resolve);
    if (made === 1) throw new Error("the first fails");
    return 10 * key;
  };
  const calls = [1, 2, 3].map(() => map.getOrInsertAsync(1, make));
  assert.is(await map.getOrInsertAsync(2, (key) => key), 2); // another key
  const late = map.getOrInsertAsync(1, make, {
    signal: AbortSignal.abort(new Error("enough")),
  });
  await rejects(map.buffer, late, Error, "enough");
  go();
  const failed = await calls[0]!.catch(({ message }) => message);
  assert.is(failed, "the first fails");
  await new Promise((resolve) => setTimeout(resolve, 5));
  go();
  assert.equal(await Promise.all(calls.slice(1)), [10, 10]);
  assert.is(made, 2);
  assert.is(await map.getOrInsertAsync(3, () => 30), undefined); // it is full
  const no = map.getOrInsertAsync(1, 7 as never);
  await rejects(map.buffer, no, TypeError, "7");
  assert.equal(inspect(map).problems, []);
});

test("a value whose maker is dead is made by another", async () => {
  const map = HashMap.create({ ...ints, capacity: 2 });
  const { words, flights } = parts(map);
  const dead = asAgent(DEAD, () => HashMap.from(map.handle, ints));
  const never = dead.getOrInsertAsync(1, () => new Promise<number>(() => {}));
  assert.ok(never instanceof Promise);
  await Promise.resolve();
  assert.is(words[flights], DEAD);
  const value = map.getOrInsertAsync(1, () => 5);
  assert.equal(
    recover([DEAD], map).map(({ what, count }) => [what, count]),
    [["writes ended", 1]],
  );
  assert.is(await value, 5);
  assert.is(words[flights], 0);
});

test("more values than flights may be made at once", async () => {
  const map = HashMap.create({ ...ints, capacity: 1 });
  const one = map.getOrInsertAsync(1, async () => (await undefined, 1));
  const two = map.getOrInsertAsync(2, async () => (await undefined, 2));
  assert.equal(await Promise.all([one, two]), [1, undefined]);
});

test("an iteration sees what stays once", () => {
  const map = HashMap.create({ ...ints, capacity: 40 });
  for (let n = 0; n < 20; n++) map.set(n, n);
  const seen: number[] = [];
  let n = 20;
  for (const [key] of map) {
    seen.push(key);
    map.delete(n - 1);
    map.set(n++, 0);
    if (n > 400) break;
  }
  for (let key = 0; key < 19; key++) {
    assert.is(seen.filter((other) => other === key).length, 1, `${key}`);
  }
  map.clear();
  assert.equal([...map], []);
});

test("abandon() refuses what is no id", () => {
  const map = HashMap.create({ ...ints, capacity: 1 });
  for (const id of [-1, 1.5, NaN, 2 ** 28]) {
    refuses(map.buffer, () => map.abandon(id), RangeError, `${id}`);
  }
  refuses(map.buffer, () => map.abandon("7" as never), TypeError, "7");
  assert.is(map.abandon(0), 0);
  assert.is(map.abandon(agentId() === 9 ? 8 : 9), 0);
});

test("a cache far too small serves those that make values, and those that wait", async () => {
  const cache = HashMap.create({ ...ints, capacity: 2, evict: "clock" });
  const made = (key: number) => Promise.resolve(key);
  const keys = Array.from({ length: 200 }, (_, i) => i % 20);
  const values = await Promise.all(
    keys.map((key) => cache.getOrInsertAsync(key, made)),
  );
  assert.equal(values, keys);
  assert.is(cache.size, 2);
  const late = cache.waitForAsync(1000);
  for (let key = 100; key < 150; key++) cache.set(key, key);
  cache.set(1000, 7);
  assert.is(await late, 7);
});
