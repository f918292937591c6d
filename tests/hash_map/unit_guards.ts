// also: node, browsers
// What few programs meet: marks and values of entries that are used again, and
// words that are damaged where no other test looks.
import * as assert from "uvu/assert";
import { codec, HashMap } from "../../mod.ts";
import { heapIn, planOf } from "../../primitives/_map/config.ts";
import { suite } from "../_run/harness.ts";
import { wordsOf } from "../_run/model.ts";
import { DEAD, ints, Point } from "./maps.ts";

const test = suite("guards of HashMap");

const texts = { key: codec.text, value: codec.text };
const points = { key: codec.i32, value: codec.record(Point) };

test("a view that finds a key anew forgets the value that it had", () => {
  const one = HashMap.create({ ...texts, capacity: 5 });
  const two = HashMap.from<string, string>(one.handle, texts);
  one.set("key", "old");
  assert.is(one.get("key"), "old");
  two.delete("key");
  two.set("key", "new"); // the first value of its entry, as "old" was
  assert.ok(one.has("key"));
  assert.is(one.get("key"), "new");
});

test("an entry that is used again has no second chance of the key before", () => {
  const cache = HashMap.create({ ...ints, capacity: 2, evict: "clock" });
  cache.set(1, 1);
  cache.set(2, 2);
  cache.get(1);
  cache.delete(1);
  cache.set(3, 3); // in the entry of 1
  cache.set(4, 4);
  assert.not.ok(cache.has(3));
  assert.ok(cache.has(2));
});

test("an entry that a view finds where it was has a second chance", () => {
  const evict = "clock";
  const cache = HashMap.create({ ...points, capacity: 2, evict });
  const point = { id: 1, x: 1.5 };
  cache.set(1, point);
  cache.set(2, point);
  cache.get(1);
  cache.set(3, point); // instead of 2
  assert.equal(cache.get(1), point);
  cache.set(4, point);
  assert.ok(cache.has(1));
  assert.not.ok(cache.has(3));
});

test("the bytes between the fields of a key are 0 whatever was read", () => {
  const codecs = { key: codec.record(Point), value: codec.i32 };
  const map = HashMap.create({ ...codecs, capacity: 3 });
  map.set({ id: 1, x: 1 }, 1);
  const words = wordsOf(map);
  const { entries, key } = planOf(words[1]!, words[2]!);
  words[entries + key] = words[entries + key]! | 0x7777_7700;
  assert.is([...map].length, 0); // nobody finds such a key
  map.set({ id: 2, x: 2 }, 2);
  const other = HashMap.from<{ id: number; x: number }, number>(
    map.handle,
    codecs,
  );
  assert.is(other.get({ id: 2, x: 2 }), 2);
});

/** A map of one entry, with a value in two of three blocks of 8 bytes. */
function inBlocks(): HashMap<number, string> {
  const map = HashMap.create<number, string>({
    key: codec.i32,
    value: codec.text,
    capacity: 1,
    valueSize: 9,
    remember: false,
    heap: { bytes: 48, blockSize: 16, inEntry: 4 },
  });
  map.set(1, "nine text");
  return map;
}

test("a length above the longest is damage, even if the blocks are there", () => {
  const map = inBlocks();
  const words = wordsOf(map);
  const { entries, key, keyWords } = planOf(words[1]!, words[2]!);
  const length = entries + key + keyWords;
  assert.is(words[length], 9);
  words[length] = 10;
  assert.throws(() => map.get(1), /damaged/);
});

test("a length near 2^31 is damage, too", () => {
  const map = HashMap.create({ ...texts, capacity: 1, remember: false });
  map.set("key", "value");
  const words = wordsOf(map);
  const { entries, key, keyWords } = planOf(words[1]!, words[2]!);
  for (const length of [2 ** 31 - 4, 2 ** 31 - 3, 2 ** 31 - 1, -1]) {
    words[entries + key + keyWords] = length;
    assert.throws(() => map.get("key"), /damaged/);
    assert.throws(() => map.getInto("key", new Uint8Array(9)), /damaged/);
  }
});

test("blocks in a circle are mended, and the loop ends", () => {
  const map = inBlocks();
  const words = wordsOf(map);
  const { buckets, entries, key, keyWords } = planOf(words[1]!, words[2]!);
  const { blocks, blockWords } = heapIn(words)!;
  const at = (number: number) => blocks + (number - 1) * blockWords;
  const first = words[entries + key + keyWords + 1]!;
  const second = words[at(first) + 1]!;
  const third = 6 - first - second;
  words[at(second) + 1] = first;
  words[at(third)] = 1; // the dead agent took it
  words[buckets] = DEAD;
  assert.is(map.abandon(DEAD), 1);
  assert.is(words[at(third)], 0);
});
