// also: node, browsers
// What every map does, whatever its codecs.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  agentId,
  type Codec,
  codec,
  HashMap,
  inspect,
  struct,
} from "../../mod.ts";
import { Places } from "../../primitives/_map/places.ts";
import { CODEC } from "../../primitives/_message/message.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { refuses, wordsOf } from "../_run/model.ts";
import { ints, parts, Point } from "./maps.ts";

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
    keyOf: (n: number) => n < 10 ? "ä".repeat(n) : `ä${n}`,
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
    keyOf: (n: number) => new Uint8Array(n < 10 ? n : n % 9 + 1).fill(n),
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
  const call = fc.record({ op, n: fc.nat(39), m: fc.nat(9) });
  const calls = fc.array(call, { maxLength: 60 });
  const kind = fc.constantFrom(...KINDS);
  const capacity = fc.constantFrom(1, 2, 3, 5, 8, 33);
  const start = fc.record({ seed: fc.nat(), first: fc.nat(33) });
  fc.assert(
    fc.property(
      kind,
      capacity,
      start,
      calls,
      (kind, capacity, start, calls) => {
        const { keyOf, valueOf } = kind;
        const { seed, first } = start;
        const keys = capacity < 10 ? 10 : 40;
        const codecs = { key: kind.key, value: kind.value };
        const map = HashMap.create({ ...codecs, capacity, seed });
        const other = HashMap.from(map.handle, codecs);
        const model: Model = new Map();
        const room = (n: number) => model.has(n) || model.size < capacity;
        for (let n = 0; n < Math.min(first, capacity); n++) {
          assert.ok(map.set(keyOf(n), valueOf(1)));
          model.set(n, 1);
        }
        for (const { op, n: any, m } of calls) {
          const n = any % keys;
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
          assertSame(other, kind, model, keys);
        }
        assert.equal(inspect(map).problems, []);
      },
    ),
  );
});

/** Asserts that the map has what the model has. */
function assertSame<K, V>(
  map: HashMap<K, V>,
  { keyOf, valueOf }: Kind<K, V>,
  model: Model,
  keys: number,
): void {
  assert.is(map.size, model.size);
  for (let n = 0; n < keys; n++) {
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
    places.keep(key, 1, 2, 3, { take: () => key });
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

test("a view that remembers few of its numbers looks for none for a while", () => {
  const places = Places.for(CODEC.i32, 64)!;
  const look = (key: number): boolean => {
    if (places.find(key)) return true;
    places.keep(key, 1, 2, 3, { take: () => key });
    return false;
  };
  let late = 0;
  for (; late < 256; late++) assert.not(look(late)); // each has its place
  // Three of four looks find their number, unless its place was just taken.
  for (let i = 0; i < 2048; i++) look(i % 4 === 3 ? late++ : 7);
  assert.ok(places.keeps, "most looks found their number");
  assert.ok(look(7));
  for (let i = 0; i < 256; i++) assert.not(look(late++));
  assert.not(places.keeps);
  while (!places.keeps) assert.not(look(7));
  assert.not(look(7));
  assert.ok(look(7), "it is remembered anew");
  assert.not(places.find(late - 1), "all were forgotten");
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

test("a message says how a text begins that is too long", () => {
  const map = HashMap.create({
    capacity: 1,
    key: codec.text,
    value: codec.text,
  });
  const long = "x".repeat(1000);
  for (const put of [() => map.set(long, ""), () => map.set("", long)]) {
    refuses(map.buffer, put, RangeError, `received 1000 bytes, "xx`);
    try {
      put();
    } catch (error) {
      assert.ok((error as Error).message.length < 200);
    }
  }
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
  for (const lost of ["name", "encode", "decode"]) {
    const value = { ...codec.json, [lost]: 7 };
    refused({ value }, TypeError, "The value of a hash_map must be a codec");
  }
  for (const value of [null, { ...codec.json, name: "" }]) {
    refused({ value }, TypeError, "The value of a hash_map must be a codec");
  }
  refused({ keysize: 4 }, TypeError, "keysize");
  refused({ key: codec.i32, keySize: 4 }, TypeError, "received 4");
  const keeps = { capacity: 1, ...texts, remember: 7 as never };
  const init = () => HashMap.init(memory, 0, keeps);
  refuses(memory, init, TypeError, "remember must be", "received 7");
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
  const keeps = from({ ...points, remember: 7 });
  refuses(buffer, keeps, TypeError, "remember must be", "received 7");
  // C code that does not know the shape leaves it 0, but the size must be right.
  wordsOf(map)[LAYOUT.hash_map.value_shape] = 0;
  assert.is(HashMap.from(handle, points).capacity, 2);
  const longer = codec.record(struct({ id: "u8", x: "f64", y: "f64" }));
  const large = from({ ...points, value: longer });
  refuses(buffer, large, TypeError, "values are record of 16 bytes");
  const unnamed = from({ key: codec.text }); // valueCodec
  refuses(buffer, unnamed, TypeError, "values are record", "not value");
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

test("update() refuses a key that its function changes", () => {
  const bytes = { key: codec.binary, value: codec.i32, keySize: 4 };
  for (const isThere of [false, true]) {
    for (const next of [7, undefined]) {
      const map = HashMap.create({ ...bytes, capacity: 8 });
      const key = Uint8Array.of(1, 2);
      for (const other of [2, 3]) map.set(Uint8Array.of(other, 2), other);
      if (isThere) map.set(key, 1);
      const size = map.size;
      const change = () => map.update(key, () => (key[0] = 3, next));
      if (isThere && next !== undefined) {
        change(); // it stays the entry that was found
        assert.is(map.get(Uint8Array.of(1, 2)), 7);
      } else if (isThere || next !== undefined) {
        refuses(map.buffer, change, TypeError, "changed within its update");
      } else assert.ok(change()); // nothing to do
      assert.is(map.size, size);
      const found = [...map];
      assert.is(found.length, size);
      for (const [key, value] of found) assert.is(map.take(key), value);
      assert.is(map.size, 0);
    }
  }
});

test("update() writes its own key, whatever else it reads", () => {
  const map = HashMap.create({ ...ints, capacity: 8 });
  map.set(1, 10);
  assert.ok(map.update(2, () => map.get(1)! + 1));
  assert.is(map.get(2), 11);
  assert.is(map.get(1), 10);
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
