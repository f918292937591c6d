// also: node, browsers
// A map that names no codec.
import * as assert from "uvu/assert";
import {
  type Codec,
  codec,
  encodeValue,
  HashMap,
  struct,
  valueCodec,
  valueCodecWith,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { roomy } from "../_run/roomy.ts";

const test = suite("HashMap of any values");

/** Checks that `run` throws an error of a class, with a message. */
function refuses(
  run: () => unknown,
  type: new (message: string) => Error,
  text: RegExp,
): void {
  assert.throws(run, (error: Error) => {
    assert.instance(error, type);
    assert.match(error.message, text);
    return true;
  });
}

interface User {
  readonly id: number;
  readonly tags: Set<string>;
}

test("a map that names no codec takes any keys and values", () => {
  const map = HashMap.create({ capacity: 20 });
  const keys = [0, NaN, 7, -1.5, 2 ** 40, 7n, "7", "", "Zoë", "€", true, null];
  keys.forEach((key, i) => assert.ok(map.set(key, { i, key })));
  keys.forEach((key, i) => assert.equal(map.get(key), { i, key }));
  assert.is(map.size, keys.length);
  const same = HashMap.from(map.handle);
  assert.equal(same.get("Zoë"), { i: 8, key: "Zoë" });
  assert.equal(new HashMap(map.buffer).take(7n), { i: 5, key: 7n });
  const seen = new Map(map);
  assert.equal([...seen.keys()].length, keys.length - 1);
  for (const [key, value] of seen) assert.equal(map.get(key), value);
});

test("NaN is one key, and -0 is 0, as in a Map", () => {
  const map = HashMap.create<unknown, number>({ capacity: 4 });
  const other = new Float64Array(1);
  new BigInt64Array(other.buffer)[0] = 0x7ff8_0000_0000_0001n;
  map.set(NaN, 1);
  map.set(other[0], 2);
  map.set(0, 3);
  map.set(-0, 4);
  assert.is(map.size, 2);
  assert.is(map.get(NaN), 2);
  assert.is(map.get(0), 4);
  assert.ok(Object.is([...map.keys()].find((key) => key === 0), 0));
  map.set(1, -0); // a value keeps its sign
  assert.ok(Object.is(map.get(1), -0));
});

test("objects are equal keys if their bytes are", () => {
  const map = HashMap.create<object, string>({ capacity: 4 });
  map.set({ x: 1, y: [2] }, "a");
  assert.is(map.get({ x: 1, y: [2] }), "a");
  assert.is(map.get({ y: [2], x: 1 }), undefined);
  assert.is(map.get([1, 2]), undefined);
});

test("values arrive as structuredClone copies them", () => {
  const map = HashMap.create<string, User | undefined>({
    capacity: 4,
    valueSize: 200,
  });
  const user = { id: 7, tags: new Set(["a"]) };
  map.set("ann", user);
  assert.equal(map.get("ann"), user);
  assert.is.not(map.get("ann"), map.get("ann"));
  map.update("ann", (old) => ({ id: old!.id + 1, tags: old!.tags }));
  assert.is(map.get("ann")?.id, 8);
  map.set("nobody", undefined);
  assert.ok(map.has("nobody"));
  assert.is(map.get("nobody"), undefined);
  const self: unknown[] = [];
  self.push(self);
  const any = HashMap.create<string, unknown>({ capacity: 1 });
  any.set("self", self);
  const copy = any.get("self") as unknown[];
  assert.is(copy[0], copy);
});

test("getInto() copies the bytes that encodeValue writes", () => {
  const map = HashMap.create<string, unknown>({ capacity: 1 });
  const value = { a: [1, "two", 3n] };
  const bytes = new Uint8Array(100);
  const into = new Uint8Array(100);
  const length = encodeValue(value, bytes);
  map.set("a", value);
  assert.is(map.getInto("a", into), length);
  assert.equal(into, bytes);
});

test("long values lie in a heap, and a cache takes any", () => {
  const heap = { bytes: 4000, inEntry: 16 };
  const map = HashMap.create({ capacity: 4, valueSize: 3000, heap });
  const long = Array.from({ length: 100 }, (_, i) => ({ id: i }));
  assert.ok(map.set("long", long));
  assert.equal(map.get("long"), long);
  const cache = HashMap.create({ capacity: 4, evict: "clock", ttl: 60_000 });
  for (let i = 0; i < 100; i++) assert.ok(cache.set(i, { i }));
  assert.is(cache.size, 4);
  assert.equal(cache.get(99), { i: 99 });
});

test("what it cannot carry is refused, and nothing changes", () => {
  const map = HashMap.create<unknown, unknown>({ capacity: 4 });
  map.set("a", 1);
  refuses(() => map.set("a", { f: () => 1 }), TypeError, /function at \["f"\]/);
  refuses(() => map.set(Symbol(), 1), TypeError, /symbol/);
  refuses(() => map.get(Symbol()), TypeError, /symbol/);
  refuses(
    () => map.set("k".repeat(40), 1),
    RangeError,
    /at most 32 bytes, its keySize/,
  );
  refuses(
    () => map.set("a", "v".repeat(140)),
    RangeError,
    /at most 128 bytes, its valueSize/,
  );
  const numbers = map as unknown as HashMap<string, number>;
  refuses(() => numbers.add("a", 1), TypeError, /codec.i32/);
  assert.equal([...map], [["a", 1]]);
});

test("an error says that a key or a value is not one of its codec", () => {
  const map = HashMap.create({
    key: codec.text,
    value: codec.i32,
    capacity: 4,
  });
  const no = 1 as unknown as string;
  const none = undefined as unknown as number;
  refuses(() => map.get(no), TypeError, /^Cannot encode this as text: /);
  refuses(() => map.set("a", none), TypeError, /^An i32 must be an integer/);
  assert.is(map.size, 0);
});

test("a view needs the codecs of the map, if any were named", () => {
  const numbers = HashMap.create({
    key: codec.i32,
    value: codec.i32,
    capacity: 1,
  });
  refuses(() => HashMap.from(numbers.handle), TypeError, /not value/);
  const texts = HashMap.create({ key: codec.text, capacity: 1 });
  texts.set("a", [1]);
  const same = HashMap.from(texts.handle, { key: codec.text });
  assert.equal(same.get("a"), [1]);
  refuses(() => HashMap.from(texts.handle), TypeError, /not value/);
  assert.equal(
    HashMap.from(texts.handle, { key: codec.text, value: valueCodec }).get("a"),
    [1],
  );
  refuses(
    () => HashMap.create({ key: null as never, capacity: 1 }),
    TypeError,
    /must be a codec/,
  );
});

test("errors of classes of yours arrive with their class", () => {
  class NotFound extends Error {}
  const value = valueCodecWith({ errors: [NotFound] });
  const map = HashMap.create<number, Error>({
    value,
    capacity: 1,
    valueSize: 5000,
  });
  map.set(1, new NotFound("no"));
  assert.instance(map.get(1), NotFound);
});

test("a getter, and a codec, cannot use the map that they work for", () => {
  const map = HashMap.create<unknown, unknown>({ capacity: 8 });
  map.set("other", [1, 2]);
  map.set("a", 1);
  const uses = [
    () => map.get("other"),
    () => map.get({ of: "an object" }),
    () => map.has("other"),
    () => map.set("b", 1),
    () => map.delete("b"),
    () => map.take("b"),
    () => map.update("b", () => 1),
    () => map.getOrInsert("b", () => 1),
    () => map.getInto("other", new Uint8Array(99)),
    () => map.tryWaitFor("other"),
    () => [...map],
  ];
  for (const use of uses) {
    const value = {
      get part() {
        return use();
      },
    };
    const says = /cannot use the map/;
    refuses(() => map.set("a", value), TypeError, says);
    refuses(() => map.set(value, 1), TypeError, says);
    refuses(() => map.get(value), TypeError, says);
    refuses(() => map.update("a", () => value), TypeError, says);
    refuses(() => map.getOrInsert("c", () => value), TypeError, says);
    assert.equal(map.get("a"), 1);
    assert.equal(
      new Map(map),
      new Map<unknown, unknown>([["other", [1, 2]], ["a", 1]]),
    );
  }
  const texts = HashMap.create<string, unknown>({
    key: codec.text,
    capacity: 4,
  });
  texts.set("remembered", [1]);
  assert.equal([texts.get("remembered"), texts.get("remembered")], [[1], [1]]);
  const value = {
    get part() {
      return texts.get("remembered");
    },
  };
  refuses(() => texts.set("a", value), TypeError, /cannot use the map/);
  const another = HashMap.from<string, unknown>(texts.handle, {
    key: codec.text,
  });
  another.set("a", value); // by another view
  assert.equal(texts.get("a"), { part: [1] });

  const own: Codec<string> = {
    name: "own",
    encode: (text, into) => new TextEncoder().encodeInto(text, into).written,
    decode: (bytes) => `${bytes.length}${owned.get("b")}`,
  };
  const owned = HashMap.create({ key: codec.text, value: own, capacity: 4 });
  owned.set("a", "text");
  refuses(() => owned.get("a"), TypeError, /cannot use the map/);
  assert.is(owned.get("b"), undefined);
});

test("a codec that does not say how many bytes it wrote changes nothing", () => {
  const wrong: unknown[] = [undefined, NaN, -5, 2.5, "3"];
  for (const answer of wrong) {
    for (const first of [answer, 9]) { // or at its second call
      const answers: unknown[] = [];
      const own: Codec<string> = {
        name: "own",
        encode: () => answers.shift() as number,
        decode: (bytes) => `${bytes.length}`,
      };
      const config = { capacity: 4, keySize: 8, valueSize: 8 };
      const map = HashMap.create({ key: own, value: own, ...config });
      const says = /must return how many bytes/;
      answers.push(first, answer);
      refuses(() => map.has("key"), TypeError, says);
      answers.length = 0;
      answers.push(first, answer);
      refuses(() => map.set("key", "value"), TypeError, says);
      assert.is(map.size, 0);
    }
  }
});

test("a value of one word that is no number is read again as it was", () => {
  const record = codec.record(struct({ a: "i16", b: "u8", c: "u8" }));
  const value = { a: -2, b: 3, c: 4 };
  const of = { key: codec.i32, value: record };
  for (const evict of [undefined, "clock"] as const) {
    const map = HashMap.create({ ...of, evict, capacity: 4 });
    map.set(1, value);
    for (let times = 0; times < 3; times++) assert.equal(map.get(1), value);
    map.set(1, { ...value, a: 7 });
    for (let times = 0; times < 3; times++) assert.is(map.get(1)!.a, 7);
  }
});

test("a codec may ask for more than it needs, but not for more than fits", () => {
  const sizes = { keySize: 8, valueSize: 8, capacity: 4 };
  const map = HashMap.create({ key: roomy, value: roomy, ...sizes });
  map.set("key 4567", "value 78");
  map.set("ä", "b");
  assert.is(map.get("key 4567"), "value 78");
  assert.equal([...map].sort(), [["key 4567", "value 78"], ["ä", "b"]]);
  const says = /at most 8 bytes, its valueSize: received 9 bytes/;
  refuses(() => map.set("ä", "value 789"), RangeError, says);
  refuses(() => map.get("key 45678"), RangeError, /its keySize/);
  assert.is(map.get("ä"), "b");
});

test("a getter of a record cannot use the map either", () => {
  const record = codec.record(struct({ x: "f64", y: "i32" }));
  const map = HashMap.create({ key: record, value: record, capacity: 4 });
  const one = { x: 1, y: 1 };
  const two = { x: 2, y: 2 };
  map.set(one, one);
  for (const use of [() => map.get(one), () => map.set(one, two)]) {
    const acting = {
      get x() {
        return use() ? 3 : 4;
      },
      y: 3,
    };
    const says = /cannot use the map/;
    refuses(() => map.set(acting, two), TypeError, says);
    refuses(() => map.set(two, acting), TypeError, says);
    refuses(() => map.get(acting), TypeError, says);
    assert.equal([...map], [[one, one]]);
  }
});

/** What compiles; nothing runs here. */
export function types(): void {
  const Point = struct({ x: "f64" });
  interface Job {
    run(): void;
  }
  const some = { capacity: 4 };
  HashMap.create<string, User>(some).get("a")?.tags.has("b");
  HashMap.create<string, User>({ ...some, value: valueCodec }).get("a")?.id;
  HashMap.create({ ...some, key: codec.text, value: codec.record(Point) })
    .get("a")?.x.toFixed();
  HashMap.create<string, { a: number[] }>({ ...some, value: codec.json });
  HashMap.create({ ...some, key: codec.i32, value: codec.i32 }).add(1, 2);
  HashMap.create<string, number>(some).keys().next().value?.at(0);
  // @ts-expect-error: a function stays where it is
  HashMap.create<string, Job>(some);
  // @ts-expect-error: it would be copied
  HashMap.create<SharedArrayBuffer, string>(some);
  // @ts-expect-error: it has no JSON form
  HashMap.create<string, User>({ ...some, value: codec.json });
  // @ts-expect-error: its values are texts
  HashMap.create<string, number>({ ...some, value: codec.text });
}
