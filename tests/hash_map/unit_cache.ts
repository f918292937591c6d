// also: node, browsers
// Caches: which entry gives way, and what is counted.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { agentId, codec, HashMap, inspect } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { planFor } from "../../primitives/_map/plan.ts";
import { suite } from "../_run/harness.ts";
import { NEAR_WRAP, wordsOf } from "../_run/model.ts";
import { DEAD, ints } from "./maps.ts";

const test = suite("a cache");

/** A cache as it ought to be: the entries in the order of the hand. */
class ModelOfCache {
  readonly #places: ({ key: number; value: number; used: boolean } | null)[];
  #hand: number;
  /** In which 32 places each of the views looks first for a free one. */
  readonly #maps: number[];
  evictions = 0;

  constructor(capacity: number, hand: number) {
    this.#places = new Array(capacity).fill(null);
    this.#hand = hand;
    this.#maps = [0, 0].map(() => agentId() % Math.ceil(capacity / 32));
  }

  #find(key: number) {
    return this.#places.find((place) => place?.key === key);
  }

  get(key: number): number | undefined {
    const place = this.#find(key);
    if (place) place.used = true;
    return place?.value;
  }

  #free(view: number): number {
    const maps = Math.ceil(this.#places.length / 32);
    for (let i = 0; i < maps; i++) {
      const from = 32 * this.#maps[view]!;
      const free = this.#places.slice(from, from + 32).indexOf(null);
      if (free >= 0) return from + free;
      this.#maps[view] = (this.#maps[view]! + 1) % maps;
    }
    return -1;
  }

  set(key: number, value: number, view = 0): void {
    const place = this.#find(key);
    if (place) {
      place.value = value;
      place.used = true;
      return;
    }
    let free = this.#free(view);
    for (; free < 0; this.#hand = this.#hand + 1 >>> 0) {
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
    fc.nat(39),
  );
  const capacity = fc.constantFrom(1, 2, 3, 5, 8, 32, 33);
  const value = fc.constantFrom(codec.i32, codec.f64);
  const hand = fc.tuple(fc.constantFrom(0, ...NEAR_WRAP), fc.nat(40))
    .map(([wrap, before]) => wrap - before >>> 0);
  fc.assert(fc.property(
    capacity,
    value,
    hand,
    fc.nat(33),
    fc.array(step, { maxLength: 80 }),
    (capacity, value, hand, first, steps) => {
      const codecs = { key: codec.i32, value };
      const config = { ...codecs, capacity, evict: "clock" as const };
      const one = HashMap.create(config);
      wordsOf(one)[LAYOUT.hash_map.hand] = hand;
      const two = HashMap.from(one.handle, { ...codecs, remember: false });
      const model = new ModelOfCache(capacity, hand);
      for (let n = 0; n < first; n++) {
        one.set(n, -n);
        model.set(n, -n);
      }
      let [hits, misses, m] = [0, 0, 0];
      for (const [what, isOne, all] of steps) {
        const [map, view] = isOne ? [one, 0] : [two, 1];
        const n = all % (capacity < 10 ? 10 : 40);
        m++;
        if (what === "get") {
          const found = model.get(n);
          assert.is(map.get(n), found);
          if (found === undefined) misses++;
          else hits++;
        } else if (what === "set") {
          assert.is(map.set(n, m), true);
          model.set(n, m, view);
        } else if (what === "add") {
          const old = model.get(n) ?? 0;
          assert.is(map.add(n, m), old);
          model.set(n, old + m, view);
        } else if (what === "update") {
          const old = model.get(n);
          assert.ok(map.update(n, (found) => (assert.is(found, old), m)));
          model.set(n, m, view);
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
