// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  decodeValue,
  encodeValue,
  valueCodec,
  valueCodecWith,
} from "../../mod.ts";
import type { PlacedCodec } from "../../primitives/_message/message.ts";
import { usage } from "../../primitives/_message/utf8.ts";
import { suite } from "../_run/harness.ts";
import { assertSuppressed, suppressed } from "../_run/suppressed.ts";
import {
  assertEqual,
  assertSame,
  bytesOf,
  readsDamaged,
  refuses,
  sent,
  values,
} from "./values.ts";

const memory = new Uint8Array(new SharedArrayBuffer(1 << 20));

const test = suite("value");

test("a name that has an escape in JSON is not taken for another one", () => {
  for (const name of ["\\", "\ud800", "\n", '"', "\udfff"]) {
    const value = { before: 1, [name]: 2, behind: 3 };
    for (let times = 0; times < 4; times++) {
      const bytes = new Uint8Array(100);
      const length = encodeValue(value, bytes);
      const got = decodeValue(bytes.subarray(0, length)) as object;
      assert.equal(Object.entries(got), Object.entries(value));
    }
  }
});

test("a value arrives as structuredClone copies it", () => {
  fc.assert(fc.property(values, assertSame), { numRuns: 300 });
});

test("an object of another prototype is told from plain ones", () => {
  class Own {
    a = 1;
    b = "b";
  }
  const plain = { a: 1, b: "b" };
  let reads = 0;
  const read = {
    get a() {
      reads++;
      return 1;
    },
    b: "b",
  };
  const error = Object.assign(new RangeError("e"), plain);
  const map = Object.assign(new Map([[1, 2]]), plain);
  const bytes = Object.assign(new Uint8Array(2), plain);
  const bare = Object.assign(Object.create(null), plain);
  for (let times = 0; times < 4; times++) {
    const rows = [plain, error, { ...plain }, map, plain, bytes, bare, bare];
    const got = sent(rows) as unknown[];
    assert.equal(got.slice(0, 3), [plain, error, plain]);
    assert.equal(got.slice(3), [new Map([[1, 2]]), plain, bytes, plain, plain]);
    assert.ok(got[0] === got[4] && got[6] === got[7]);
    for (const others of [error, map, bytes, bare]) {
      assert.equal(sent({ one: { a: 1, b: "b" } }), { one: plain });
      sent({ one: others });
    }
    refuses(() => sent([plain, plain, new Own()]), TypeError, /at \[2\]/);
    refuses(() => sent({ one: new Own() }), TypeError, /at \["one"\]/);
  }
  sent([plain, Object.setPrototypeOf(read, null)]);
  assert.is(reads, 1);
  // Its names are not listed: they are as many as its items.
  const view = new Uint8Array(1 << 19);
  const before = performance.now();
  for (let times = 0; times < 20; times++) encodeValue([plain, view], memory);
  assert.ok(performance.now() - before < 400);
});

test("encodeValue() says how many bytes it needs", () => {
  fc.assert(fc.property(values, fc.nat(), (value, room) => {
    const whole = bytesOf(value);
    const into = new Uint8Array(room % (whole.length + 40)).fill(7);
    const { length } = into;
    const view = into.subarray(length >> 2, length - (length >> 2));
    const needed = encodeValue(value, view);
    assert.ok(needed >= whole.length);
    if (whole.length <= view.length) {
      assert.is(needed, whole.length);
      assert.equal(view.slice(0, needed), new Uint8Array(whole));
    }
    // It wrote nowhere else.
    const around = [
      ...into.subarray(0, length >> 2),
      ...into.subarray(length - (length >> 2)),
    ];
    assert.ok(around.every((byte) => byte === 7));
  }));
});

test("decodeValue() refuses damaged bytes, soon", () => {
  readsDamaged(decodeValue, 1000);
});

test("decodeValue() refuses whatever is cut off", () => {
  fc.assert(fc.property(values, (value) => {
    const bytes = bytesOf(value);
    const step = Math.ceil(bytes.length / 50);
    for (let end = 0; end < bytes.length; end += step) {
      refuses(() => decodeValue(bytes.subarray(0, end)), TypeError);
    }
    const longer = new Uint8Array(bytes.length + 1);
    longer.set(bytes);
    refuses(() => decodeValue(longer), TypeError, /left over/);
  }));
});

test("decodeValue() refuses what no value is encoded as", () => {
  const long = Array(1020).fill(0x61); // a shape of 1026 bytes
  const wrong: [what: RegExp, bytes: number[]][] = [
    [/box/, [0xf9, 0xe0]],
    [/box/, [0xf9, 0xe1]],
    [/box/, [0xf9, 0xc0]],
    [/shape/, [0xee, 2, 4, 1, 0xfa, 0xfc, 3, 0, 0, ...long, 0xd0, 1]],
    [/shape/, [0xee, 5, 0, 2, 0x41, 0x61, 0x41, 0x61, 0xd0, 1, 2]],
  ];
  for (const [what, bytes] of wrong) {
    refuses(() => decodeValue(Uint8Array.from([0, ...bytes])), TypeError, what);
  }
  const words = (at: number, length: number) => [
    ...[0, 0xf7, 6, at, 0, 0, 0, length, 0, 0, 0],
    ...[0xf6, 12, 0, 0, 0, ...Array(12).fill(9)],
  ];
  const good = decodeValue<Int32Array>(Uint8Array.from(words(4, 4)));
  assert.equal(good, Int32Array.of(0x09090909));
  for (const [at, length] of [[2, 4], [4, 6], [4, 12]] as const) {
    const bytes = Uint8Array.from(words(at, length));
    refuses(() => decodeValue(bytes), TypeError, /view/);
  }
});

test("decodeValue() refuses lengths that no bytes follow", () => {
  const most = [0xff, 0xff, 0xff, 0xff];
  const tags = [
    0xe6,
    0xe7,
    0xe8,
    0xe9,
    0xea,
    0xeb,
    0xef,
    0xf1,
    0xf4,
    0xf5,
    0xf6,
    0xfa,
    0xfb,
  ];
  for (const tag of tags) {
    const bytes = Uint8Array.of(1, tag, ...most, 0, 0, 0);
    refuses(() => decodeValue(bytes), TypeError);
  }
  const nested = new Uint8Array(5000).fill(0xc1);
  nested[0] = 0;
  refuses(() => decodeValue(nested), TypeError, /1000 deep/);
  refuses(() => decodeValue(Uint8Array.of(0, 0x80)), TypeError, /shape 0/);
  refuses(() => decodeValue(Uint8Array.of(0, 0xd0)), TypeError, /shape 0/);
  refuses(() => decodeValue(Uint8Array.of(1, 0xf0, 0, 0, 0, 0)), TypeError);
  refuses(() => decodeValue(new Uint8Array(0)), TypeError, /nothing/);
  refuses(() => decodeValue([0, 1] as never), TypeError, /Array/);
  refuses(() => encodeValue(1, [] as never), TypeError, /Array/);
});

test("a long string is whole, in each of its forms", () => {
  const forms: [text: string, tag: number][] = [
    ["a".repeat(64), 0xfa],
    ["ab".repeat(20_000), 0xfa],
    ["ü".repeat(64), 0xe6],
    ["a".repeat(99) + "ÿ", 0xe6],
    ["\0".repeat(100), 0xfa],
    ["\ud800".repeat(70), 0xe7],
    ["a".repeat(600), 0xfa],
    ["a".repeat(600) + "\u0100", 0xe6],
    ["ü".repeat(600) + "\udc00", 0xe7],
  ];
  for (const [text, tag] of forms) {
    const bytes = bytesOf(text);
    assert.is(bytes[1], tag);
    assert.is(decodeValue(bytes), text);
    const before = usage.buffers;
    usage.buffers = false; // as in a browser
    try {
      assert.is(decodeValue(new Uint8Array(bytes)), text);
    } finally {
      usage.buffers = before;
    }
  }
  // Where the platform has a fast function for it, Latin-1 is written as such.
  const letters = String.fromCharCode(
    ...Array.from({ length: 256 }, (_, i) => i),
  );
  for (const length of [256, 511, 512, 513, 5000, 70_000]) {
    const text = letters.repeat(length / 256 + 1).slice(-length);
    const there = bytesOf({ before: 1, text, behind: "ü".repeat(length) });
    for (const buffers of [true, false]) {
      usage.buffers = buffers;
      const copy = decodeValue(new Uint8Array(there)) as { text: string };
      assert.ok(copy.text === text, `${length} letters`);
      assert.equal(bytesOf(copy).length >= length, true);
    }
    usage.buffers = true;
    // A room that is a byte too short holds nothing, and says what is needed.
    const needed = bytesOf(text).length;
    const room = new Uint8Array(needed + 1).fill(7);
    assert.is(encodeValue(text, room.subarray(0, needed)), needed);
    assert.is(room[needed], 7);
  }
  // Others than we may write more than ASCII as Latin-1.
  const latin1 = new Uint8Array(6 + 256).map((_, i) => i - 6);
  latin1.set([0, 0xfa, 0, 1, 0, 0]);
  const all = String.fromCharCode(...latin1.subarray(6));
  assert.is(decodeValue(latin1), all);
  usage.buffers = false;
  try {
    assert.is(decodeValue(new Uint8Array(latin1)), all);
  } finally {
    usage.buffers = true;
  }
});

/** A Map or Set as one of another realm: its prototype is not that of ours. */
function foreign<T extends object>(value: T): T {
  const own = Object.getPrototypeOf(value);
  const prototype = Object.create(
    Object.getPrototypeOf(own),
    Object.getOwnPropertyDescriptors(own),
  );
  return Object.setPrototypeOf(value, prototype);
}

test("what cannot be sent is refused with its path", () => {
  class Own {}
  class Mapped extends Map {}
  class Frozen extends Date {
    override getTime() {
      return 0;
    }
  }
  class Pattern extends RegExp {
    override exec(text: string) {
      return super.exec(text);
    }
  }
  class Bytes extends Uint8Array {}
  class List extends Array {}
  Object.defineProperty(Bytes.prototype, "BYTES_PER_ELEMENT", { value: 1 });
  const shared = new SharedArrayBuffer(8);
  const detached = new Uint8Array(8);
  structuredClone(0, { transfer: [detached.buffer] });
  const cases: [value: unknown, says: RegExp][] = [
    [() => 1, /function/],
    [{ a: [0, { b: Symbol() }] }, /symbol at \["a"\]\[1\]\["b"\]/],
    [[new Own()], /would be lost: received an instance of Own at \[0\]$/],
    [new Map([[1, new Own()]]), /instance of Own at \[0\]$/],
    [foreign(new Map([[1, [Own]]])), /received function at \[0\]\[0\]$/],
    [[foreign(new Set([1, Own]))], /received function at \[0\]\[1\]$/],
    [{ a: new Error("no", { cause: [Own] }) }, /at \["a"\]\["cause"\]\[0\]$/],
    [new Mapped(), /prototype/],
    [[new Frozen(5)], /prototype would be lost: .* at \[0\]$/],
    [new Pattern("a"), /prototype/],
    [new Bytes(1), /prototype/],
    [{ a: List.of("b") }, /prototype would be lost: .* at \["a"\]$/],
    [List.from({ length: 9 }, (_, i) => i), /prototype/],
    [new WeakMap(), /prototype/],
    [Promise.resolve(), /prototype/],
    [Object.create(Map.prototype), /not what its prototype says/],
    [{ a: shared }, /SharedArrayBuffer\] at \["a"\]/],
    [shared, /memory is shared/],
    [new Uint8Array(shared), /memory is shared/],
    [new DataView(shared), /memory is shared/],
    [{ a: detached }, /buffer is detached: .* at \["a"\]$/],
    [[detached.buffer], /buffer is detached: .* at \[0\]$/],
    [{
      get now() {
        return Own;
      },
    }, /function at \["now"\]/],
  ];
  for (const [value, says] of cases) {
    refuses(() => encodeValue(value, memory), TypeError, says);
  }
  let deep: unknown = 1;
  for (let i = 0; i < 5000; i++) deep = i % 2 ? [deep] : { deep };
  refuses(() => encodeValue(deep, memory), TypeError, /1000 deep/);
});

test("errors arrive with their class, cause and properties", () => {
  const cause = { code: 7 };
  const error = Object.assign(new RangeError("too far", { cause }), {
    code: "FAR",
    at: [1, 2],
  });
  const copy = sent(error) as typeof error;
  assertEqual(copy, error);
  assert.is(copy.stack, error.stack);
  const bare = new Error("bare");
  delete bare.stack;
  assert.is((sent(bare) as Error).stack, bare.stack);
  assert.instance(copy, RangeError);
  assert.equal(copy.cause, cause);
  assert.is(copy.code, "FAR");

  const all = new AggregateError([error, 1], "several");
  assertEqual(sent(all), all);
  assertSuppressed(
    sent(suppressed(new TypeError("late"), new RangeError("early"))),
  );
  const own = new class Own extends TypeError {
    override name = "Own";
  }("mine");
  const plain = sent(own) as Error;
  assert.is(Object.getPrototypeOf(plain), TypeError.prototype);
  assert.is(plain.name, "Own");

  const self = new Error("self");
  self.cause = { self };
  const again = sent(self) as { cause: { self: unknown } };
  assert.is(again.cause.self, again);

  const stop = sent(AbortSignal.abort().reason) as Error;
  assert.instance(stop, DOMException);
  assert.is(stop.name, "AbortError");
});

test("errors of classes of a user arrive with their class", () => {
  class NotFound extends RangeError {
    override name = "NotFound";
    constructor(readonly file: string) {
      super(`no ${file}`);
    }
  }
  const codec = valueCodecWith({ errors: [NotFound] });
  const sent = new NotFound("a.txt");
  const length = codec.encode([sent], memory);
  const [copy] = codec.decode(memory.subarray(0, length)) as [NotFound];
  assert.instance(copy, NotFound);
  assertEqual(copy, sent);
  const [plain] = decodeValue<[Error]>(memory.subarray(0, length));
  assert.is(Object.getPrototypeOf(plain), Error.prototype);
  assert.is(plain.name, "NotFound");
  const same = class NotFound extends Error {};
  const none = (() => class extends Error {})();
  // Bundlers rename a class that the platform has, too.
  const named = (name: string) =>
    Object.defineProperty(class extends Error {}, "name", { value: name });
  const taken = ["RangeError", "DOMException"].map(named);
  for (
    const errors of [
      ...[undefined, NotFound, [1], [class {}]],
      ...[[NotFound, same], [NotFound, NotFound], [none]],
      ...taken.map((one) => [NotFound, one]),
    ]
  ) refuses(() => valueCodecWith({ errors } as never), TypeError, /classes/);
  valueCodecWith({ errors: [RangeError, named("TimeoutError")] });
});

test("equal bytes do not make two objects one", () => {
  const list = Array.from({ length: 3000 }, () => ({ a: 0, b: [] }));
  const shared = list[2999]!;
  const copy = sent([...list, shared, shared.b]) as typeof list;
  assert.is(new Set(copy).size, 3001);
  assert.is(copy[2999], copy[3000]);
  assert.is(copy[2999]!.b as unknown, copy[3001]);
});

test("an object that looks different each time is one object still", () => {
  let n = 0;
  const changing = () => ({
    get n() {
      return n++;
    },
  });
  const twice = changing();
  const [a, b] = sent([twice, twice]) as object[];
  assert.ok(a === b);
  const [child, parent] = [changing(), changing()];
  Object.assign(child, { parent });
  Object.assign(parent, {
    child,
    all: Array.from({ length: 40 }, () => child),
  });
  const copy = sent(child) as { parent: { child: unknown; all: unknown[] } };
  assert.ok([copy.parent.child, ...copy.parent.all].every((it) => it === copy));
});

test("of many containers, each is found again", () => {
  // They have the same bytes, or differ in the middle alone, or in all bytes.
  const text = (i: number) => `${"same".repeat(4)}${i}${"same".repeat(4)}`;
  const kinds: ((i: number) => object)[] = [
    () => ({ a: 1 }),
    (i) => [text(i)],
    (i) => [i, i / 3],
    (i) => new Map([[i, []]]),
    (i) => ({ name: text(i), tags: [] }), // the lists are equal, the rows differ
  ];
  for (const make of kinds) {
    for (const size of [3, 4, 5, 15, 16, 17, 18, 19, 200, 3000]) {
      const all = Array.from({ length: size }, (_, i) => make(i));
      const copy = sent([...all, ...all]) as object[];
      assert.is(new Set(copy).size, size);
      assert.ok(copy.every((it, i) => it === copy[(i + size) % (2 * size)]));
    }
  }
});

test("containers are found again wherever in a memory the value begins", () => {
  const placed = valueCodec as PlacedCodec<unknown>;
  for (const at of [0, 4, 7, 1000]) {
    memory.fill(0x5a);
    for (const size of [3, 4, 5, 6, 20]) {
      const all = Array.from({ length: size }, (_, i) => [i, `${i}`, [i]]);
      const twice = [...all, ...all];
      const room = memory.length - at;
      const length = placed.encodeAt(twice, memory, at, room);
      const copy = placed.decodeAt(memory, at, length) as typeof all;
      assert.equal(copy, twice);
      assert.is(new Set(copy).size, size, `${size} at ${at}`);
    }
  }
});

test("many containers with the same bytes are sent soon", () => {
  const all = Array.from({ length: 40_000 }, () => []);
  const before = performance.now();
  const copy = sent([...all, all[39_999]]) as object[];
  assert.ok(performance.now() - before < 5000);
  assert.is(copy[40_000], copy[39_999]);
});

test("an array of few items far apart is sent soon", () => {
  const array: number[] = [];
  array[3e9] = 1;
  array[3e9 + 100] = 2;
  const copy = sent(array) as number[];
  assert.is(copy.length, 3e9 + 101);
  assert.equal(Object.keys(copy), ["3000000000", "3000000100"]);
});

test("of an array only the items are sent", () => {
  const match = "abc".match(/b/)!;
  const copy = sent(match) as typeof match;
  assert.equal([...copy], ["b"]);
  assert.not.ok("index" in copy);
});

test("a few bytes that say that many items are missing need no memory", () => {
  const bytesOf = (n: number) => [n & 255, n >>> 8 & 255, n >>> 16 & 255, 0];
  const most = bytesOf(10_000_000);
  const holes = [0xe8, ...most, 0xec, ...most];
  const list = Array.from({ length: 300 }, () => holes).flat();
  const bytes = Uint8Array.from([0, 0xe8, ...bytesOf(300), ...list]);
  const rows = decodeValue<unknown[][]>(bytes); // else these need 24 GB
  assert.is(rows.length, 300);
  for (const row of rows) {
    assert.is(row.length, 10_000_000);
    assert.equal(Object.keys(row), []);
  }
  for (const gap of [64, 65, 100]) {
    const array: unknown[] = [0];
    for (let at = gap; at < 9 * gap; at += gap) array[at] = { at };
    for (const item of [1, "a", [2]]) array.push(item);
    const copy = sent(array) as unknown[];
    assert.is(copy.length, array.length);
    assert.equal(Object.entries(copy), Object.entries(array));
  }
});

test("a getter that encodes, throws or changes the object does no harm", () => {
  const inner = new Uint8Array(100);
  const outer = {
    a: 1,
    get b() {
      const length = encodeValue({ b: [2] }, inner);
      return decodeValue(inner.subarray(0, length));
    },
    c: 3,
  };
  assert.equal(sent(outer), { a: 1, b: { b: [2] }, c: 3 });
  const failing = {
    get a() {
      throw new RangeError("mine");
    },
  };
  refuses(() => encodeValue(failing, memory), RangeError, /mine/);
  const deletes = (key: "a" | "c") => {
    const object: Record<string, unknown> = {
      a: 1,
      get b() {
        delete object[key];
        return 2;
      },
      c: 3,
    };
    return object;
  };
  // The shape that was sent before is tried first.
  const shapes = [{ a: 0, b: 0, c: 0 }, { x: 0 }, { a: 0, b: 0 }];
  for (const before of [...shapes, { a: 0, b: 0, x: 0 }]) {
    for (const key of ["a", "c"] as const) {
      encodeValue(before, memory);
      assert.equal(sent(deletes(key)), structuredClone(deletes(key)));
    }
  }
  assert.equal(sent(outer), { a: 1, b: { b: [2] }, c: 3 });
});

test("of many values a getter may delete some", () => {
  const make = (gone: string[]) => {
    const object: Record<string, unknown> = { a: undefined, b: [1], c: 3 };
    Object.defineProperty(object, "d", {
      enumerable: true,
      get: () => gone.forEach((key) => delete object[key]),
    });
    return Object.assign(object, { e: undefined, f: 6, g: undefined, h: {} });
  };
  // `a` was read before, so it is sent.
  for (const gone of ["", "a", "e", "f", "gh", "bef", "abcefgh"]) {
    const keys = [...gone];
    for (let i = 0; i < 3; i++) {
      encodeValue(make([]), memory);
      const items = () => [make(keys), make(keys), { x: make([]) }];
      assertEqual(sent(items()), structuredClone(items()));
    }
  }
});

test("objects that occur twice are found among any number", () => {
  for (let n = 0; n < 70; n++) {
    for (let round = 0; round < 3; round++) {
      const items = Array.from({ length: n }, (_, i) => i % 3 ? [i % 20] : {});
      const value = { first: items, again: items.slice(round) };
      assertEqual(sent(value), value);
      const copy = sent(value) as typeof value;
      assert.is(new Set([...copy.first, ...copy.again]).size, n);
    }
  }
});

test("properties of all objects are no properties of one", () => {
  const all = Object.prototype as unknown as Record<string, unknown>;
  assert.equal(sent({ a: 1, b: 2 }), { a: 1, b: 2 });
  try {
    all.b = 7;
    const copy = sent([{ a: 1 }, { a: 1, b: 2 }]) as object[];
    assert.equal(copy.map((item) => Object.keys(item)), [["a"], ["a", "b"]]);
  } finally {
    delete all.b;
  }
});

test("a getter is called once", () => {
  let calls = 0;
  const object = {
    a: 1,
    get b() {
      calls++;
      return 2;
    },
    c: 3,
  };
  for (const before of [{ a: 0, b: 0, c: 0 }, { a: 0, b: 0 }, { x: 0 }]) {
    encodeValue(before, memory);
    calls = 0;
    encodeValue(object, memory);
    assert.is(calls, 1);
  }
});

test("objects of one shape arrive alike, however often", () => {
  // More shapes than have places of their own in the reader's code.
  const odd = ["__proto__", "toString", "7", "constructor", "", "z"];
  for (const size of [0, 1, 3, 4, 5, 12, 13, 40, 64]) {
    for (let kind = 0; kind < 12; kind++) {
      const entries = Array.from(
        { length: size },
        (_, i): [string, unknown] => {
          const name = (i + kind) % 7 === 0 && odd[i];
          return [name || `name ${kind} ${i}`, i % 5 === 0 ? [i, {}] : i - 2.5];
        },
      );
      const object = Object.fromEntries(entries);
      for (let i = 0; i < 4; i++) {
        const copy = sent(object) as object;
        assertEqual(copy, object);
        assert.equal(Object.keys(copy), Object.keys(object));
        assert.is(Object.getPrototypeOf(copy), Object.prototype);
      }
    }
  }
});

test("each length of a short string and of a short array arrives", () => {
  for (let length = 0; length < 70; length++) {
    const ascii = "abcdefghij".repeat(7).slice(0, length);
    for (const text of [ascii, ascii.replace(/.$/, "é"), `${ascii}€`]) {
      assert.is(sent(text), text);
    }
    const array = Array.from({ length }, (_, i) => i % 2 ? `${i}` : i);
    assert.equal(sent(array), array);
    for (const hole of [0, 1, length - 1, length - 2]) {
      if (!(hole in array)) continue;
      delete array[hole];
      assertEqual(sent(array), array);
    }
  }
});

test("objects of several shapes take turns", () => {
  const make = [
    (i: number): object => ({ a: i, b: "x" }),
    (i: number): object => ({ a: i, b: "x", c: [i] }),
    (i: number): object => ({ c: { a: i } }),
    (i: number): object => ({ b: i, a: undefined }),
    (): object => ({}),
  ];
  const turns = fc.array(fc.nat(make.length - 1), { maxLength: 12 });
  fc.assert(fc.property(turns, fc.nat(40), (turns, times) => {
    const all = Array.from(
      { length: times * turns.length },
      (_, i) => make[turns[i % turns.length]!]!(i),
    );
    const copy = sent(all) as object[];
    assertEqual(copy, all);
    copy.forEach((it, i) =>
      assert.equal(Object.keys(it), Object.keys(all[i]!))
    );
  }));
});

test("names whose bytes have one hash are told apart", () => {
  const names = [["bbwrivkl", "rsnotekc"], ["digwqtzi", "mgfyrqxg"]] as const;
  for (const [one, two] of names) {
    const [text, other] = [one, two].map((name) => shapeText(name));
    assert.is(hashOf(text!), hashOf(other!));
    for (const name of [one, two, one, two]) {
      assert.equal(sent({ [name]: 1 }), { [name]: 1 });
    }
    assert.equal(sent([{ [one]: 1 }, { [two]: 2 }]), [
      { [one]: 1 },
      { [two]: 2 },
    ]);
  }
});

/** The bytes of the only name of an object. */
const shapeText = (name: string) => [
  1,
  0x40 | name.length,
  ...new TextEncoder().encode(name),
];

/** As `Shapes` computes it (FNV-1a). */
const hashOf = (bytes: number[]) =>
  bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);

test("it may use more shapes than it remembers", () => {
  for (let i = 0; i < 3000; i++) {
    const value = { [`a${i}`]: 1, b: { [`c${i}`]: [i] } };
    assert.equal(sent([value, value.b]), [value, value.b]);
  }
  const many = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`key ${i}`, { i }]),
  );
  assert.equal(sent(many), many);
  const long = { ["x".repeat(5000)]: 1 };
  assert.equal(sent([long, long]), [long, long]);
  const shapes = Array.from({ length: 300 }, (_, i) => ({ [`k${i}`]: i }));
  assert.equal(sent([shapes, ...shapes, ...structuredClone(shapes)]), [
    shapes,
    ...shapes,
    ...shapes,
  ]);
});
