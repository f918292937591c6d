// also: node, browsers
// Maps that are full: how many steps it takes to say so, and to find room.
import * as assert from "uvu/assert";
import { codec, HashMap } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { heapIn } from "../../primitives/_map/config.ts";
import { planFor } from "../../primitives/_map/plan.ts";
import { suite } from "../_run/harness.ts";
import { wordsOf } from "../_run/model.ts";

const test = suite("a full map");

/** The words of bits that an agent looks at first, and what else it does. */
const FEW_STEPS = 60;

/** How often `call` reads a word or changes one. */
function stepsOf(call: () => void): number {
  const names = ["load", "store", "add", "and", "or", "compareExchange"];
  const all = Atomics as unknown as Record<string, (...a: never[]) => unknown>;
  const old = names.map((name) => all[name]!);
  let steps = 0;
  names.forEach((name, i) => {
    all[name] = (...given) => (steps++, old[i]!(...given));
  });
  try {
    call();
  } finally {
    names.forEach((name, i) => all[name] = old[i]!);
  }
  return steps;
}

const config = { key: codec.i32, value: codec.i32, remember: false };

/** A map of `capacity` entries that is full of the keys from 0 on. */
function fullOf(capacity: number, evict?: "clock"): HashMap<number, number> {
  const map = HashMap.create({ ...config, capacity, evict });
  for (let key = 0; key < capacity; key++) map.set(key, key);
  return map;
}

test("a full map of any size refuses a key by few steps", () => {
  for (const capacity of [1, 33, 1000, 20_000]) {
    const map = fullOf(capacity);
    assert.is(map.set(-1, 0), false);
    const calls = [
      () => map.set(-2, 0),
      () => map.add(-3, 1),
      () => map.getOrInsert(-4, () => 1),
      () => map.update(-5, () => 1),
    ];
    for (const call of calls) {
      let found;
      const steps = stepsOf(() => found = call());
      assert.not.ok(found);
      assert.ok(steps < FEW_STEPS, `${steps} steps of ${capacity}`);
    }
    assert.is(map.size, capacity);
  }
});

test("a full map takes a key by few steps when another has gone", () => {
  for (const capacity of [1, 33, 1000, 20_000]) {
    const map = fullOf(capacity);
    const other = new HashMap<number, number>(map.buffer, 0, config);
    for (let i = 1; i <= 40; i++) {
      assert.is(map.set(-i, i), false);
      // Of any word of the bits.
      const gone = i === 1 ? 0 : capacity === 1 ? 1 - i : i * 997 % capacity;
      if (!other.delete(gone)) continue;
      let isSet;
      const steps = stepsOf(() => isSet = map.set(-i, i));
      assert.ok(isSet);
      assert.ok(steps < FEW_STEPS, `${steps} steps of ${capacity}`);
      assert.is(map.set(-1000, i), false);
    }
  }
});

test("a full cache makes room by few steps", () => {
  const cache = fullOf(20_000, "clock");
  cache.set(-1, 1); // which looks at all
  const steps = stepsOf(() => cache.set(-2, 2));
  assert.ok(steps < FEW_STEPS, `${steps} steps`);
  cache.delete(-2);
  assert.is(cache.size, 19_999);
  cache.set(-3, 3); // in the place of that
  assert.is(cache.size, 20_000);
  assert.is(cache.evictions, 2);
});

test("a map that was full and is empty fills again", () => {
  const map = fullOf(1000);
  assert.is(map.set(-1, 0), false);
  map.clear();
  for (let key = 0; key < 1000; key++) assert.ok(map.set(key, key));
  assert.is(map.set(-1, 0), false);
});

test("in a large map, a new entry lies at the home of its bucket, or near it", () => {
  for (const capacity of [4095, 4096, 4097, 4130, 6000]) {
    const map = HashMap.create({ ...config, capacity });
    const words = wordsOf(map);
    const { buckets, bucketCount } = planFor(
      LAYOUT.hash_map.length,
      capacity,
      1,
      1,
    );
    let near = 0;
    const heads = () =>
      Array.from(
        { length: bucketCount },
        (_, i) => words[buckets + 4 * i + 3]!,
      );
    map.set(-1, 0);
    const first = heads().findIndex((head) => head !== 0);
    const homeOf = (bucket: number) =>
      Math.floor(bucket * capacity / bucketCount);
    if (capacity >= 4096) assert.is(heads()[first], homeOf(first) + 1);
    for (let key = 1; key < capacity * 0.8; key++) assert.ok(map.set(key, key));
    for (const [bucket, head] of heads().entries()) {
      const distance = head - 1 - homeOf(bucket);
      if (head !== 0 && distance >= 0 && distance < 32) near++;
    }
    const used = heads().filter((head) => head !== 0).length;
    if (capacity >= 4096) assert.ok(near > 0.75 * used, `${near} of ${used}`);
    for (let key = map.size; key < capacity; key++) {
      assert.ok(map.set(-key, key));
    }
    assert.is(map.size, capacity);
    assert.is(map.set(capacity, 0), false);
    for (const key of [-1, 1, 7]) assert.ok(map.has(key));
  }
});

test("any hint where there is room is harmless", () => {
  for (const word of [-1, 2 ** 31 - 1, -(2 ** 31), 7]) {
    const map = fullOf(300);
    map.set(-1, 0);
    map.delete(299);
    const words = wordsOf(map);
    words[LAYOUT.hash_map.room] = word;
    assert.ok(map.set(-1, 0));
    // What changes with each entry that is freed wraps around.
    words[LAYOUT.hash_map.full] = word | 3;
    assert.is(map.set(-2, 0), false);
    map.delete(-1);
    assert.ok(map.set(-2, 0));
    // An agent looks: that says nothing yet.
    map.delete(-2);
    words[LAYOUT.hash_map.full] = 2;
    assert.ok(map.set(-2, 0));
  }
});

test("a map that says that it is full looks at no bits", () => {
  const map = fullOf(300);
  map.set(-1, 0);
  const { bits } = planFor(LAYOUT.hash_map.length, 300, 1, 1);
  const words = wordsOf(map);
  const bit = words[bits]!;
  words[bits] = 0;
  assert.is(map.set(-1, 0), false);
  words[bits] = bit;
});

const texts = { key: codec.i32, value: codec.text, evict: "clock" } as const;

test("a cache whose heap is full makes room by few steps", () => {
  // Each value has one block of 12 bytes.
  for (const blocks of [5000, 100_000]) {
    const heap = { bytes: 12 * blocks, blockSize: 12, inEntry: 1 };
    const config = { ...texts, capacity: blocks, valueSize: 4, heap };
    const cache = HashMap.create<number, string>(config);
    for (let key = 0; key < blocks; key++) cache.set(key, "text");
    for (let key = -1; key > -20; key--) {
      const steps = stepsOf(() => cache.set(key, "more"));
      assert.ok(steps < 1500, `${steps} steps of ${blocks}`);
      assert.is(cache.get(key), "more");
    }
    // Few gave way while blocks were free elsewhere.
    assert.ok(cache.evictions < 19 + blocks / 50, `${cache.evictions}`);
  }
});

test("a heap has room where a cache does not look at first", () => {
  const heap = { bytes: 12 * 9000, blockSize: 12, inEntry: 1 };
  const config = { ...texts, capacity: 10, valueSize: 8, heap };
  for (let key = 0; key < 20; key++) {
    const cache = HashMap.create<number, string>(config);
    const words = wordsOf(cache);
    const { bits } = heapIn(words)!;
    words.fill(-1, bits, bits + 281); // but the last one
    assert.ok(cache.set(key, "eight ch"));
    assert.is(cache.get(key), "eight ch");
    assert.is(cache.evictions, 0);
    words.fill(-1, bits, bits + 282);
    assert.ok(cache.set(key + 1, "eight ch")); // it gives way itself
    assert.is(cache.evictions, 1);
  }
});
