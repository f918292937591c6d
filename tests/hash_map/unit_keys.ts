// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { codec, HashMap, inspect, struct } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { hashOf } from "../../primitives/_map/plan.ts";
import { suite } from "../_run/harness.ts";
import { refuses, wordsOf } from "../_run/model.ts";
import {
  blocksOfAll,
  ENTRIES,
  obeysModel,
  refusing,
  stepsWith,
  survivesDamage,
  usedIn,
} from "./heap_model.ts";

const test = suite("HashMap with keys in its heap");

const texts = { key: codec.text, value: codec.text };
const counts = { key: codec.text, value: codec.i32 };

/** Keys and values of more than 4 bytes lie in blocks of 8. */
const made = (capacity: number, blocks: number, more: object = {}) =>
  HashMap.create({
    ...texts,
    capacity,
    keySize: 40,
    valueSize: 40,
    heap: { bytes: 16 * blocks, blockSize: 16, inEntry: 4, keyInEntry: 4 },
    ...more,
  });

/** The same with numbers for values. */
const counting = (capacity: number, blocks: number, more: object = {}) =>
  HashMap.create({
    ...counts,
    capacity,
    keySize: 40,
    heap: { bytes: 16 * blocks, blockSize: 16, keyInEntry: 4 },
    ...more,
  });

/** Keys that agree at the beginning or at the end, and in length or not. */
const KEYS = [
  "",
  "a",
  "abcd",
  "abcde",
  "/people/ann/mail",
  "/people/bob/mail",
  "/people/ann/post",
  "/people/ann/mail/1",
  "/people/ann/mail/1/part/2/head",
  ...Array.from({ length: 12 }, (_, i) => `/people/${i}`.padEnd(40 - i, ".")),
];

const steps = stepsWith(fc.constantFrom(...KEYS));

test("a map with long keys obeys the model", () => {
  const blocks = fc.integer({ min: 10, max: 70 });
  fc.assert(fc.property(blocks, steps, (blocks, steps) => {
    const map = made(ENTRIES, blocks);
    const other = HashMap.from<string, string>(map.handle, texts);
    obeysModel(map, other, blocks, steps);
  }));
});

test("a cache with long keys keeps no blocks of those it has taken out", () => {
  fc.assert(fc.property(steps, (steps) => {
    const map = made(4, 10, { evict: "clock" });
    for (const { key, length } of steps) {
      const value = "x".repeat(length);
      const old = new Map(map).get(key) ?? "";
      assert.ok(map.set(key, value));
      const fits = blocksOfAll([key, old, value]) <= 10 || length <= 4;
      assert.is(map.get(key), fits ? value : undefined);
      const used = blocksOfAll([...map].flat());
      assert.is(usedIn(map), used);
    }
    assert.equal(inspect(map).problems, []);
  }));
});

test("an entry gives way to a long key if its own key lies in blocks", () => {
  const map = counting(8, 5, { evict: "clock" });
  map.set("a".repeat(40), 1);
  map.set("b", 2); // needs no block, and so cannot make room
  assert.ok(map.set("c".repeat(40), 3));
  assert.equal(new Map(map), new Map([["b", 2], ["c".repeat(40), 3]]));
  assert.is(map.evictions, 1);
});

test("a cache finds room however few of its entries have blocks", () => {
  const N = 2000;
  const map = counting(N, 25, { evict: "clock" }); // five long keys
  for (let i = 0; i < N / 2; i++) map.set(`${i}`, i);
  const hot = "h".repeat(40);
  map.set(hot, 1);
  for (let i = 0; i < N; i++) {
    const name = `${i}`.padEnd(40, ".");
    map.set(name, i);
    assert.ok(map.has(name)); // which is no use
    assert.is(map.get(hot), 1);
  }
  for (let i = 0; i < N / 2; i++) assert.ok(map.has(`${i}`));
  assert.is(map.size, N / 2 + 5);
  assert.is(map.evictions, N - 4);
});

test("the values of long keys may be numbers", () => {
  const map = counting(3, 9);
  const [one, two] = ["/people/ann/mail", "/people/bob/mail"] as const;
  assert.is(map.add(one, 1), 0);
  assert.is(map.add(one, 4), 1);
  assert.is(map.compareExchange(one, 5, 7), 5);
  assert.is(map.compareExchange(two, 5, 7), undefined);
  assert.is(map.getOrInsert(two, () => 9), 9);
  assert.equal(new Map(map), new Map([[one, 7], [two, 9]]));
  assert.is(usedIn(map), 4);
  assert.is(map.keySize, 40);
  assert.is(map.valueSize, 4);
  assert.is(map.set("x".repeat(40), 1), true);
  assert.is(map.set("y".repeat(40), 1), false);
  assert.is(map.set("y", 1), false);
  assert.is(usedIn(map), 9);
  assert.ok(map.delete(one));
  assert.is(map.set("y".repeat(40), 1), false);
  assert.is(usedIn(map), 7);
  assert.ok(map.set("y", 1));
});

test("values of up to inEntry bytes need no heap, beside keys that do", () => {
  const map = made(2, 5, { valueSize: 4 });
  assert.is(map.valueSize, 4);
  refuses(map.buffer, () => map.set("a", "x".repeat(5)), RangeError, "4 bytes");
  map.set("/people/ann/mail", "1234");
  assert.is(usedIn(map), 2);
  assert.is(map.get("/people/ann/mail"), "1234");
});

test("keys with the same hash and length are told apart", () => {
  const words = (n: number) =>
    new Uint8Array(Int32Array.of(n, n, n >> 8, n).buffer);
  const seen = new Map<number, number>();
  let [one, two] = [0, 0];
  for (let n = 0; two === 0; n++) {
    const key = new Int32Array(words(n).buffer);
    const hash = hashOf(1, ~1, Int32Array.of(16, ...key), 5);
    const same = seen.get(hash);
    if (same !== undefined) [one, two] = [same, n];
    seen.set(hash, n);
  }
  const map = HashMap.create({
    ...counts,
    key: codec.binary,
    capacity: 4,
    seed: 1,
    keySize: 16,
    heap: { bytes: 16 * 8, blockSize: 16, keyInEntry: 4 },
  });
  map.set(words(one), 1);
  assert.is(map.has(words(two)), false);
  map.set(words(two), 2);
  assert.is(map.get(words(one)), 1);
  assert.is(map.get(words(two)), 2);
});

test("keys that differ at any byte are told apart", () => {
  const map = counting(80, 400);
  const base = "x".repeat(40);
  for (let i = 0; i < 40; i++) {
    map.set(base.slice(0, i) + "y" + base.slice(i + 1), i);
    map.set(base.slice(0, i), i);
  }
  for (let i = 0; i < 40; i++) {
    assert.is(map.get(base.slice(0, i) + "y" + base.slice(i + 1)), i);
    assert.is(map.get(base.slice(0, i)), i);
  }
  assert.is(map.get(base), undefined);
  assert.is(map.size, 80);
});

test("a heap for keys out of range is refused", () => {
  const refused = refusing(counts);
  const bytes = 1 << 20;
  for (const n of [0, 1.5, NaN, 4096]) {
    const heap = { bytes, keyInEntry: n };
    refused({ heap }, RangeError, `received ${n}`);
  }
  for (const n of [0, 32, NaN, 2 ** 20 + 1]) {
    const heap = { bytes, keyInEntry: 32 };
    refused({ heap, keySize: n }, RangeError, `received ${n}`);
  }
  for (const n of [0, NaN, 65536]) {
    const heap = { bytes, keyInEntry: 8, inEntry: n };
    refused({ heap }, RangeError, `received ${n}`);
  }
  const heap = { bytes, keyInEntry: 8 };
  for (const key of [codec.i32, codec.record(struct({ id: "u8" }))]) {
    refused({ heap, key }, TypeError, "keyInEntry");
  }
  refused({ heap: { bytes } }, TypeError, "differ in length");
  refused({ heap: { bytes: 128, keyInEntry: 8 } }, RangeError, "received 35");
  const both = { value: codec.text, valueSize: 40, keySize: 40 };
  const sizes = { blockSize: 16, inEntry: 4, keyInEntry: 4 };
  refused({ ...both, heap: { bytes: 9 * 16, ...sizes } }, RangeError, "40");
  assert.is(
    HashMap.create({
      ...texts,
      ...both,
      capacity: 1,
      heap: { bytes: 10 * 16, ...sizes },
    }).set("x".repeat(40), "y".repeat(40)),
    true,
  );
  const map = counting(1, 5);
  refuses(map.buffer, () => map.get("x".repeat(41)), RangeError, "40 bytes");
});

test("damaged words of long keys are noticed, and loops end", () => {
  const { longest_key } = LAYOUT.hash_map;
  for (const value of [0, 1, -1, 1 << 30]) {
    const map = made(2, 10);
    wordsOf(map)[longest_key] = value;
    assert.throws(
      () => HashMap.from(map.handle, texts),
      (error: Error) => error instanceof TypeError,
    );
    assert.is(inspect(map).problems[0]?.what, "damaged");
  }
  // No bytes are impossible for this codec.
  const codecs = { key: codec.binary, value: codec.i32 };
  const whole = HashMap.create({
    ...codecs,
    capacity: 2,
    keySize: 40,
    heap: { bytes: 16 * 12, blockSize: 16, keyInEntry: 4 },
  });
  const [one, two] = [new Uint8Array(20), new Uint8Array(20).fill(7)];
  whole.set(one, 1);
  whole.set(two, 2);
  survivesDamage(
    whole as HashMap<unknown, unknown>,
    (memory) => new HashMap<Uint8Array, number>(memory, 0, codecs),
    {
      get: (map) => map.get(one),
      take: (map) => map.take(two),
      delete: (map) => map.delete(one),
      set: (map) => map.set(new Uint8Array(30), 3),
      clear: (map) => map.clear(),
      entries: (map) => [...map],
    },
  );
});
