// also: node
// What `codec.json` delivers, and what it refuses.
import { deepStrictEqual } from "node:assert";
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { Channel, type Codec, type JsonValue } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { refuses, rejects, wordsOf } from "../_run/model.ts";
import { codePoint } from "../_run/points.ts";
import { hides, json, plain, ringOf, thrown } from "./shared.ts";

const test = suite("Channel, JSON");

test("json delivers any value equal, or refuses it and sends nothing", () => {
  const channel = Channel.create<unknown>({
    codec: json as Codec<unknown>,
    ...ringOf(2 ** 16),
  });
  const anything = fc.anything({
    stringUnit: codePoint,
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  });
  let refused = 0;
  let delivered = 0;
  fc.assert(
    fc.property(anything, (value) => {
      const before = wordsOf(channel).slice();
      const error = thrown(() => channel.trySend(value));
      if (error === undefined) {
        deepStrictEqual(channel.tryReceive(), value);
        delivered++;
      } else {
        assert.instance(error, TypeError);
        assert.match((error as Error).message, "Cannot encode this as json");
        assert.equal(wordsOf(channel), before);
        refused++;
      }
    }),
    { numRuns: 2000 },
  );
  assert.ok(refused > 100 && delivered > 100, `${refused} of ${delivered}`);
});

test("json keeps what is lost by the way", () => {
  const channel = Channel.create({ codec: json, ...ringOf(2 ** 16) });
  const own = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}');
  const deep = (levels: number) => {
    let value: JsonValue = 1;
    for (; levels > 0; levels--) value = levels % 2 ? [value] : { a: value };
    return value;
  };
  const same = { a: 1 };
  const kept: JsonValue[] = [
    ...[null, true, false, "", 0, -0, [-0, { a: -0 }], 5e-324, 1e21, -1e-7],
    ...["-0", [-0, "-0"], { "-0": [-0, "-0-0", '"-0"'] }],
    ...["\ud800", "\udc00a", "\u2028\u2029", "\0", "\ufeff", "😀"],
    ...[[], {}, [[]], { "": { "": [] } }, { "\ud800": 1, 2: 3, b: 4, 1: 5 }],
    ...[own, deep(999), [same, same], 2 ** 53, 0.1 + 0.2],
  ];
  for (const value of kept) {
    assert.ok(channel.trySend(value));
    deepStrictEqual(channel.tryReceive(), value);
  }
});

test("json sends an object of many names soon, whatever is in it", () => {
  const many = Object.fromEntries(
    Array.from({ length: 200_000 }, (_, i) => [`name ${i}`, -0]),
  );
  const channel = Channel.create({ codec: json, ...ringOf(2 ** 24) });
  const begin = performance.now();
  assert.ok(channel.trySend(many));
  const ms = performance.now() - begin;
  assert.ok(ms < 8000, `${ms} ms`);
  deepStrictEqual(channel.tryReceive(), many);
});

test("json refuses what would be lost, and says where it is", async () => {
  const channel = Channel.create<unknown>({
    codec: json as Codec<unknown>,
    ...ringOf(2 ** 16),
  });
  const { buffer } = channel;
  const cycle: unknown[] = [];
  cycle.push({ cycle });
  class Odd extends Array {}
  const hidden = Object.assign([1], { more: 2 });
  const wrong: [value: unknown, ...parts: string[]][] = [
    [undefined, "received undefined"],
    [[1, undefined], "no JSON form", "received undefined at [1]"],
    [{ a: [{ "b c": NaN }] }, "received NaN at ", `["a"][0]["b c"]`],
    [[Infinity], "received Infinity at [0]"],
    [-Infinity, "received -Infinity"],
    [{ a: 10n }, `received 10n at ["a"]`],
    [{ f() {} }, `received function at ["f"]`],
    [[Symbol.iterator], "received symbol at [0]"],
    [{ [Symbol.iterator]: 1 }, "some property would be lost"],
    [hidden, "some property would be lost", "[object Array]"],
    // deno-lint-ignore no-sparse-arrays
    [[1, , 2], "received undefined at [1]"],
    [new Odd(), "its prototype would be lost"],
    [Object.create(null), "its prototype would be lost"],
    [Object.create({ a: 1 }), "its prototype would be lost"],
    [{ at: new Date(0) }, "[object Date]", `at ["at"]`],
    [new Map(), "[object Map]"],
    [Uint8Array.of(1), "[object Uint8Array]"],
    [new Number(1), "[object Number]"],
    [/a/, "[object RegExp]"],
    [cycle, "more than 1000 deep, or contains itself", `[0]["cycle"][0]`],
    ...["-1", "1.5", "01", "", "4294967295"].map((
      key,
    ): [unknown, string] => [
      Object.assign([0, 1], { [key]: 2 }),
      `would be lost, ${key}`,
    ]),
    [hides({ a: 1 }, "b", 2), "some property would be lost, b"],
    [hides({ a: 1 }, "toJSON", () => 2), "property would be lost, toJSON"],
    [{ a: [hides([1], "toJSON", () => 2)] }, "lost, toJSON", `at ["a"][0]`],
    [plain(new Number(5)), "it is not a plain object", "[object Number]"],
    [plain(new Boolean(true)), "it is not a plain object", "[object Boolean]"],
    [plain(new String("ab")), "some property would be lost, length"],
    [plain(new Error("lost")), "some property would be lost"],
  ];
  for (const [value, ...parts] of wrong) {
    refuses(buffer, () => channel.trySend(value), TypeError, ...parts);
    refuses(buffer, () => channel.send(value), TypeError, ...parts);
    await rejects(buffer, channel.sendAsync(value), TypeError, ...parts);
  }
  let reads = 0;
  channel.trySend({
    get a() {
      return ++reads;
    },
  });
  // JSON.stringify reads it after it was checked.
  assert.equal(channel.tryReceive(), { a: reads });
});
