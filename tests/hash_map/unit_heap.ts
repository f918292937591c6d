// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { codec, DamagedError, HashMap, inspect, struct } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { heapIn } from "../../primitives/_map/config.ts";
import { suite } from "../_run/harness.ts";
import { NEAR_WRAP, refuses, wordsOf } from "../_run/model.ts";
import {
  blocksOfAll,
  ENTRIES,
  obeysModel,
  refusing,
  stepsWith,
  survivesDamage,
  usedIn,
} from "./heap_model.ts";

const test = suite("HashMap with a heap");

const codecs = { key: codec.i32, value: codec.text };

/** A map whose values of more than 4 bytes lie in blocks of 8. */
const made = (capacity: number, blocks: number, more: object = {}) =>
  HashMap.create({
    ...codecs,
    capacity,
    valueSize: 40,
    heap: { bytes: 16 * blocks, blockSize: 16, inEntry: 4 },
    ...more,
  });

const steps = stepsWith(fc.nat(19));

test("a map with a heap obeys the model, and any free blocks serve a value", () => {
  const blocks = fc.integer({ min: 5, max: 70 });
  fc.assert(fc.property(blocks, steps, (blocks, steps) => {
    const map = made(ENTRIES, blocks);
    const other = HashMap.from<number, string>(map.handle, codecs);
    obeysModel(map, other, blocks, steps);
  }));
});

test("a cache with a heap sets each value, and keeps no more blocks", () => {
  const hand = fc.constantFrom(0, ...NEAR_WRAP.map((wrap) => wrap - 9 | 0));
  fc.assert(fc.property(hand, steps, (hand, steps) => {
    const map = made(4, 8, { evict: "clock" });
    wordsOf(map)[LAYOUT.hash_map.hand] = hand;
    for (const { key, length } of steps) {
      const value = "x".repeat(length);
      const old = new Map(map).get(key) ?? "";
      assert.ok(map.set(key, value));
      // The old value keeps its blocks until the new one is there.
      const fits = blocksOfAll([old, value]) <= 8 || length <= 4;
      assert.is(map.get(key), fits ? value : undefined);
      assert.is(usedIn(map), blocksOfAll(map.values()));
    }
    assert.equal(inspect(map).problems, []);
  }));
});

test("what was used stays when a long value needs room", () => {
  const map = made(8, 10, { evict: "clock" });
  map.set(1, "a".repeat(40));
  map.set(2, "b".repeat(40));
  map.set(3, "c"); // needs no block, and so cannot make room
  map.get(1);
  assert.ok(map.set(4, "d".repeat(40)));
  assert.ok(map.has(1) && map.has(3) && map.has(4));
  assert.is(map.size, 3);
  assert.is(map.evictions, 1);
});

test("a value that expires gives its blocks back", () => {
  const map = made(2, 5, { evict: "clock", ttl: 1000 });
  map.set(1, "a".repeat(40), { ttl: 1 });
  const end = Date.now() + 5;
  while (Date.now() < end);
  assert.is(map.get(1), undefined);
  assert.ok(map.set(2, "b".repeat(40)));
  assert.is(map.get(2), "b".repeat(40));
  assert.is(map.evictions, 0);
});

test("a map takes as many bytes as docs/guides/maps.md says", () => {
  const capacity = 2 ** 17;
  const entries = 0.8 * capacity;
  const { i32, f64, text } = codec;
  const takes = (
    keySize: number,
    valueSize: number,
    bytes: number,
    ratio: number,
    config: object,
  ) => {
    const whole = HashMap.byteLength({ ...config, capacity } as never);
    const each = whole / entries;
    assert.is(Math.round(each), bytes);
    assert.is((each / (keySize + valueSize + 16)).toFixed(2), ratio.toFixed(2));
  };
  takes(4, 4, 30, 1.26, { key: i32, value: i32 });
  takes(4, 8, 50, 1.79, { key: i32, value: f64 });
  const nine = { key: text, keySize: 9 };
  takes(9, 4, 45, 1.56, { ...nine, value: i32 });
  takes(9, 9, 85, 2.51, { ...nine, value: text, valueSize: 9 });
  const long = { key: text, keySize: 32, value: text };
  takes(32, 128, 400, 2.27, { ...long, valueSize: 128 });
  const heapOf = (blocks: number, blockSize: number) => ({
    bytes: Math.ceil(entries * blocks) * blockSize,
    blockSize,
    inEntry: 4,
  });
  const one = { valueSize: 128, heap: heapOf(1, 136) };
  takes(32, 128, 226, 1.29, { ...long, ...one });
  const nineBlocks = { valueSize: 1000, heap: heapOf(9, 128) };
  takes(32, 1000, 1243, 1.19, { ...long, ...nineBlocks });
});

test("a heap out of range is refused", () => {
  const refused = refusing(codecs);
  const bytes = 1 << 20;
  refused({ heap: 5 }, TypeError, "received 5");
  refused({ heap: {} }, TypeError, "heap");
  refused({ heap: { bytes, size: 1 } }, TypeError, "size");
  for (const n of [0, -1, 1.5, NaN, 127, 2 ** 30 + 1]) {
    refused({ heap: { bytes: n } }, RangeError, `received ${n}`);
  }
  for (const n of [0, 8, 14, NaN, 65540]) {
    refused({ heap: { bytes, blockSize: n } }, RangeError, `received ${n}`);
  }
  for (const n of [0, 1.5, NaN, 65536]) {
    refused({ heap: { bytes, inEntry: n } }, RangeError, `received ${n}`);
  }
  for (const n of [0, 32, NaN, 2 ** 20 + 1]) {
    refused({ heap: { bytes }, valueSize: n }, RangeError, `received ${n}`);
  }
  const told =
    "The valueSize of a map with this heap must be an integer from 0 to";
  refused(
    { heap: { bytes: 1280 } },
    RangeError,
    `${told} 1200: received 65535`,
  );
  refused(
    { heap: { bytes }, value: codec.i32 },
    TypeError,
    "differ in length",
  );
  refused(
    { heap: { bytes }, value: codec.record(struct({ id: "u8" })) },
    TypeError,
    "differ in length",
  );
  const map = made(1, 5);
  refuses(map.buffer, () => map.set(1, "x".repeat(41)), RangeError, "40 bytes");
  assert.is(map.valueSize, 40);
});

test("damaged words of a heap are noticed, and loops end", () => {
  const at = LAYOUT.hash_map;
  for (const word of [at.blocks, at.block_words, at.longest, at.heap_seal]) {
    for (const value of [0, 1, -1, 1 << 30]) {
      const map = made(2, 5);
      wordsOf(map)[word] = value;
      if (value === map.valueSize) continue;
      assert.throws(
        () => HashMap.from(map.handle, codecs),
        (error: Error) => error instanceof TypeError,
      );
      assert.is(inspect(map).problems[0]?.what, "damaged");
    }
  }
  // No bytes are impossible for this codec.
  const bytes = { key: codec.i32, value: codec.binary };
  const whole = HashMap.create({
    ...bytes,
    capacity: 2,
    valueSize: 40,
    heap: { bytes: 16 * 12, blockSize: 16, inEntry: 4 },
  });
  whole.set(1, new Uint8Array(20));
  whole.set(2, new Uint8Array(20));
  survivesDamage(
    whole as HashMap<unknown, unknown>,
    (memory) => new HashMap<number, Uint8Array>(memory, 0, bytes),
    {
      get: (map) => map.get(1),
      take: (map) => map.take(1),
      delete: (map) => map.delete(1),
      set: (map) => map.set(1, new Uint8Array(30)),
      clear: (map) => map.clear(),
    },
  );
});

test("a heap that no map has is refused, even under a seal that fits", () => {
  const at = LAYOUT.hash_map;
  for (
    const [received, blocks, blockWords, longest, longestKey] of [
      ["2", 5, 2, 40, 0], // a block has three words or more
      ["16385", 5, 16385, 40, 0],
      ["0", 0, 4, 40, 0],
      ["67108865", 2 ** 26 + 1, 4, 40, 0], // more than 2^30 bytes
      ["4", 5, 4, 4, 0], // it fits into the entry
      ["1048577", 2 ** 20, 4, 2 ** 20 + 1, 0],
      ["41", 5, 4, 41, 0], // more than all blocks have
      ["0", 5, 4, 32, 8], // keys of one size lie in no blocks
      ["6", 5, 4, 0, 41], // nor this one
    ] as const
  ) {
    const map = made(1, 5);
    const words = wordsOf(map);
    words[at.blocks] = blocks;
    words[at.block_words] = blockWords;
    words[at.longest] = longest;
    words[at.longest_key] = longestKey;
    words[at.heap_seal] = ~(blocks ^ Math.imul(blockWords, 31) ^
      Math.imul(longest, 0x9e3779b1) ^ Math.imul(longestKey, 0x85ebca6b));
    refuses(
      map.buffer,
      () => HashMap.from(map.handle, codecs),
      TypeError,
      "impossible",
      `received ${received}`,
    );
  }
});

test("an impossible place or length is noticed", () => {
  const map = made(1, 5);
  map.set(1, "a".repeat(20));
  const words = wordsOf(map);
  const { blocks } = heapIn(words)!;
  const at = words.findIndex((word, i) => word === 20 && words[i + 1] !== 0);
  const [length, first] = [words[at]!, words[at + 1]!];
  for (const value of [-1, 41, 1 << 30]) {
    words[at] = value;
    refuses(map.buffer, () => map.get(1), DamagedError, "map");
    refuses(map.buffer, () => map.take(1), DamagedError, "map");
  }
  words[at] = length;
  for (const value of [0, -1, 6]) {
    words[at + 1] = value;
    refuses(map.buffer, () => map.get(1), DamagedError, "map");
    words[at + 1] = first;
    words[blocks + (first - 1) * 4 + 1] = value;
    refuses(map.buffer, () => map.get(1), DamagedError, "map");
    words[blocks + (first - 1) * 4 + 1] = first - 1;
  }
  assert.is(map.get(1), "a".repeat(20));
});

test("inspect() tells what does not fit in a heap", () => {
  const map = made(1, 5);
  map.set(1, "a".repeat(20));
  const words = wordsOf(map);
  const { blocks } = heapIn(words)!;
  assert.equal(inspect(map).problems, []);
  for (const [index, value] of [[0, -1], [0, 2], [5, 6], [5, -1]] as const) {
    const before = words[blocks + index]!;
    words[blocks + index] = value;
    const [problem] = inspect(map).problems;
    assert.is(problem?.index, blocks + index);
    assert.is(problem?.value, value);
    words[blocks + index] = before;
  }
});
