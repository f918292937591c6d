// also: node, browsers
// Parts of values, looked at in their bytes, are those that decodeValue builds.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  type Carrier,
  Channel,
  decodeValue,
  lockFree,
  manyToMany,
  manyToOne,
  oneToOne,
  valueCodecWith,
  type ValueType,
  type ValueView,
  viewCodec,
  viewValue,
} from "../../mod.ts";
import { HOLES } from "../../primitives/_value/tags.ts";
import { suite } from "../_run/harness.ts";
import { assertEqual, bytesOf, readsDamaged, values } from "./values.ts";

const test = suite("value, views", 120_000);

/** Checks that `run` throws a TypeError with a message. */
function refuses(run: () => unknown, says: RegExp): void {
  assert.throws(run, (error: unknown) => {
    assert.instance(error, TypeError);
    assert.match((error as Error).message, says);
    return true;
  });
}

/** What a view says that a value is. */
function typeOf(value: unknown): ValueType {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value as ValueType;
  if (Array.isArray(value)) return "array";
  if (value instanceof Error) return "error";
  if (ArrayBuffer.isView(value)) return "view";
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  switch (tag) {
    case "Map":
    case "Set":
    case "Date":
    case "RegExp":
      return tag.toLowerCase() as ValueType;
    case "ArrayBuffer":
      return "buffer";
  }
  return tag === "Object" ? "object" : "boxed";
}

/** The parts of a value: what `parts` shows. */
function partsOf(value: unknown): [key: unknown, part: unknown][] {
  switch (typeOf(value)) {
    case "array":
      return Object.entries(value as unknown[])
        .map(([i, item]) => [Number(i), item]);
    case "object":
      return Object.keys(value as object)
        .map((key) => [key, (value as Record<string, unknown>)[key]]);
    case "set":
      return [...value as Set<unknown>].map((item, i) => [i, item]);
    case "map":
      return [...value as Map<unknown, unknown>];
    case "regexp": {
      const { source, flags } = value as RegExp;
      return [[0, source], [1, flags]];
    }
    case "boxed":
      return [[0, (value as object).valueOf()]];
  }
  return [];
}

/** Checks a view, and those of all parts, against the value that was built. */
function assertView(view: ValueView, value: unknown): void {
  const seen = new Map<unknown, ValueView>();
  const check = (view: ValueView, value: unknown) => {
    const type = typeOf(value);
    assert.is(view.type, type);
    if (typeof value !== "object" || value === null) {
      assert.ok(Object.is(view.read(), value));
      if (typeof value === "string") assert.ok(view.is(value));
      assert.not.ok(view.is(`${String(value)}.`));
      assert.is(view.size, 0);
      assert.is(view.get("a") ?? view.at(0), undefined);
      return;
    }
    const before = seen.get(value);
    if (before !== undefined) return assert.ok(view.same(before));
    for (const other of seen.values()) assert.not.ok(view.same(other));
    seen.set(value, view);
    if (type === "buffer" || type === "view") {
      const { buffer, byteOffset, byteLength } = type === "view"
        ? value as Uint8Array
        : new Uint8Array(value as ArrayBuffer);
      const bytes = new Uint8Array(buffer, byteOffset, byteLength);
      assert.equal([...view.bytes()!], [...bytes]);
    } else assert.is(view.bytes(), undefined);
    const shown = [...view.parts()];
    if (type !== "error") assert.is(shown.length, partsOf(value).length);
    partsOf(value).forEach(([key, part], i) => {
      const { key: name, value: shownPart, index } = shown[i]!;
      if (type === "map") {
        check(name as ValueView, key);
        check(shownPart, part);
        assert.is(index, i);
        return;
      }
      assert.is(type === "object" ? name : index, key);
      check(shownPart, part);
      const found = view.get(key as string)!;
      assert.ok(found.same(shownPart));
      if (type !== "object") assert.ok(view.at(index)!.same(shownPart));
      else assert.is(view.at(0), undefined);
    });
    const many = partsOf(value);
    for (let i = many.length - 1; i >= 0; i -= 3) { // the other way
      if (type === "map") break;
      const found = view.get(many[i]![0] as string)!;
      assert.ok(found.same(shown[i]!.value));
    }
    const size = type === "array"
      ? (value as unknown[]).length
      : type === "error"
      ? view.size
      : many.length;
    assert.is(view.size, size);
    if (type === "array") {
      for (let i = 0; i < Math.min(size, 40); i++) {
        assert.is(view.at(i) !== undefined, i in (value as unknown[]));
      }
    }
    assert.is(view.get("no such part"), undefined);
    for (const none of [size, -1, 0.5, NaN]) {
      assert.is(view.at(none), undefined);
    }
  };
  check(view, value);
}

test("a view shows the parts that decodeValue builds", () => {
  fc.assert(
    fc.property(values, (value) => {
      const bytes = bytesOf(value);
      assertView(viewValue(bytes), decodeValue(bytes));
    }),
    { numRuns: 500 },
  );
});

test("read() builds each part as decodeValue does", () => {
  fc.assert(
    fc.property(values, (value) => {
      const bytes = bytesOf(value);
      const view = viewValue(bytes);
      assertEqual(view.read(), decodeValue(bytes));
      const whole = decodeValue(bytes);
      for (const { key, value: part, index } of view.parts()) {
        if (view.type === "error") continue;
        const [name, expected] = partsOf(whole)[
          view.type === "array" && bytes[0] === 0
            ? partsOf(whole).findIndex(([i]) => i === index)
            : [...view.parts()].findIndex((it) => it.index === index)
        ]!;
        assertEqual(part.read(), expected);
        if (typeof key === "object") assertEqual(key.read(), name);
      }
    }),
    { numRuns: 300 },
  );
});

test("objects that occur twice are the same ones when they are read", () => {
  const tag = { name: "a" };
  const value: Record<string, unknown> = { first: tag, list: [tag, 1], n: 5 };
  value.self = value;
  const view = viewValue<Record<string, { name: string }>>(bytesOf(value));
  const first = view.get("first")!;
  assert.ok(first.same(view.get("list", 0)!));
  assert.ok(view.get("self", "self", "list", 0)!.same(first));
  assert.is(view.get("list", 0)!.read(), first.read());
  assert.is(view.get("self")!.read() as unknown, view.read());
  assert.is(view.get("self", "n")!.read(), 5);
});

test("a path leads through all kinds of parts", () => {
  const value = {
    a: [{ b: new Set(["x", { c: 7 }]) }],
    numbers: [1, 2, 3, 4, 5, 6, 7, 800],
    error: Object.assign(new RangeError("far"), { code: "FAR" }),
    map: new Map([["key", 1]]),
    long: "é".repeat(100),
    ["x".repeat(2000)]: { y: 1 },
    7: "seven",
    view: new Uint8Array([9, 8, 7, 6]).subarray(1, 3),
  };
  const view = viewValue<typeof value>(bytesOf(value));
  assert.is(view.get("a", 0, "b", 1, "c")!.read(), 7);
  assert.is(view.get("a", 0, "none", 1, "c"), undefined);
  assert.is(view.get("numbers")!.get(7)!.read(), 800);
  assert.is(view.get("numbers")!.at(7)!.type, "number");
  assert.ok(view.get("error", "message")!.is("far"));
  assert.ok(view.get("error", "code")!.is("FAR"));
  assert.is(view.get("error")!.class, "RangeError");
  assert.is(view.get("map", "key"), undefined);
  assert.ok(view.get("long")!.is(value.long));
  assert.is(view.get("x".repeat(2000), "y")!.read(), 1);
  assert.ok(view.get(7)!.is("seven"));
  assert.is(view.get("view")!.class, "Uint8Array");
  assert.equal([...view.get("view")!.bytes()!], [8, 7]);
  assert.is(view.get("view", 0), undefined);
  assert.is(view.class, undefined);
});

/** Looks at up to `most` parts, in each way. */
function lookAt(view: ValueView, most: { left: number }, depth = 0): void {
  if (most.left-- <= 0 || depth > 50) return;
  view.is("a");
  view.bytes();
  void view.class;
  view.get("a");
  view.at(1);
  for (const { key, value } of view.parts()) {
    if (most.left <= 0) break;
    if (typeof key === "object") lookAt(key, most, depth + 1);
    lookAt(value, most, depth + 1);
  }
  view.read();
}

test("damaged bytes are a TypeError, soon, or another value", () => {
  const says = /^These bytes are not a value|encoded/;
  readsDamaged((cut) => lookAt(viewValue(cut), { left: 200 }), 2000, says);
});

test("lengths that no bytes follow are refused", () => {
  const most = [0xff, 0xff, 0xff, 0xff];
  for (const tag of [0xe6, 0xe7, 0xe9, 0xea, 0xeb, 0xef, 0xf1, 0xf4, 0xf5]) {
    const bytes = Uint8Array.of(1, tag, ...most, 0, 0, 0);
    refuses(() => viewValue(bytes), /end is missing/);
  }
  const holes = Uint8Array.of(0, 0xe8, ...most, 0xec, ...most);
  assert.is(viewValue(holes).at(2 ** 31), undefined);
  assert.equal([...viewValue(holes).parts()], []);
  const items = viewValue(Uint8Array.of(0, 0xe8, ...most, 1, 2));
  refuses(() => items.at(2 ** 31), /end is missing at \[2147483648\]/);
  refuses(() => [...items.parts()], /end is missing/);
  refuses(() => viewValue(Uint8Array.of(0, 0xf0, 0, 0, 0, 0)), /object 0/);
  refuses(() => viewValue(Uint8Array.of(1, 0xf0, 0, 0, 0, 0)), /object 0/);
  refuses(() => viewValue(Uint8Array.of(0, 0x80)), /shape 0/);
  refuses(() => viewValue(new Uint8Array(0)), /nothing/);
  refuses(() => viewValue(Uint8Array.of(2, 1)), /begins with 2/);
  refuses(() => viewValue([0, 1] as never), /Array/);
  const nested = new Uint8Array(5000).fill(0xc1);
  nested[0] = 0;
  refuses(() => viewValue(nested).read(), /1000 deep/);
  refuses(() => viewValue(nested).at(0)!.read(), /1000 deep at \[0\]/);
});

test("text that is not UTF-8 has the same error in every runtime", () => {
  const bytes = bytesOf(["Ж"]);
  bytes[bytes.length - 1] = 0xff;
  const says = /^The encoded text is not UTF-8 at \[0\]$/;
  refuses(() => viewValue(bytes).at(0)!.read(), says);
});

test("an error names the path to what is damaged", () => {
  const bytes = bytesOf({ id: 1, list: [1, { name: 0.5, at: 2 }] });
  const at = bytes.length - 10;
  assert.is(bytes[at], 0xe5);
  bytes[at] = 0xff;
  const view = viewValue(bytes);
  refuses(
    () => view.get("list", 1, "name"),
    /kind 255 at \["list"\]\[1\]\["na/,
  );
  refuses(() => view.get("list")!.read(), /kind 255 at \["list"\]$/);
  refuses(() => [...view.get("list", 1)!.parts()], /at \["list"\]\[1\]$/);
  refuses(() => view.read(), /kind 255$/);
  assert.is(view.get("id")!.read(), 1);
});

interface Job {
  id: number;
  text: string;
  list: { deep: string }[];
}

const job = (id: number): Job => ({
  id,
  text: `job ${id}`,
  list: [{ deep: "a" }, { deep: `b${id}` }],
});

const CARRIERS: [Carrier | undefined, capacity: number][] = [
  [undefined, 8],
  [oneToOne, 8],
  [manyToOne, 8],
  [manyToMany, 8],
  [lockFree, 8],
];

test("a channel shows its messages, whatever carries them", () => {
  for (const [carrier, capacity] of CARRIERS) {
    const made = { carrier, capacity, messageSize: 1024 };
    const jobs = Channel.create<Job>(made);
    let kept: ValueView<Job> | undefined;
    const codec = viewCodec((job: ValueView<Job>) => {
      kept = job;
      return `${job.get("id")!.read()} ${job.get("list", 1, "deep")!.read()}`;
    });
    const received = Channel.from<string>(jobs.handle, { codec, carrier });
    for (let i = 0; i < 50; i++) {
      jobs.send(job(i));
      jobs.send({ ...job(i), [`other${i}`]: 1 } as Job);
      assert.is(received.receive(), `${i} b${i}`);
      assert.is(received.receive(), `${i} b${i}`);
      refuses(() => kept!.get("id"), /was released$/);
      refuses(() => kept!.read(), /was released$/);
      refuses(() => [...kept!.parts()], /was released$/);
    }
    refuses(() => received.send("a"), /only receives/);
    refuses(() => received.trySend("a"), /only receives/);
    assert.is(received.tryReceive(), undefined);
  }
});

test("no member of a view works once its message was released", () => {
  const things = Channel.create<unknown>({ capacity: 4096 });
  let kept: ValueView | undefined;
  const codec = viewCodec((it) => {
    kept = it;
  });
  const received = Channel.from<void>(things.handle, { codec });
  for (
    const thing of [1, "a", [1], { a: 1 }, new Error("a"), Uint8Array.of(1)]
  ) {
    things.send(thing);
    received.receive();
    const view = kept!;
    const uses: (() => unknown)[] = [
      () => view.type,
      () => view.size,
      () => view.class,
      () => view.is("a"),
      () => view.same(view),
      () => view.bytes(),
      () => view.get(),
      () => view.get("a"),
      () => view.at(0),
      () => [...view.parts()],
      () => view.read(),
    ];
    for (const use of uses) refuses(use, /was released$/);
  }
});

test("a function that throws, or receives, does no harm to a channel", () => {
  const jobs = Channel.create<Job>({ capacity: 8, carrier: oneToOne });
  const others = Channel.create<Job>({ capacity: 8 });
  const codec = viewCodec((it: ValueView<Job>) => {
    const id = it.get("id")!.read();
    if (id === 1) throw new RangeError("one");
    if (id === 2) return received.receive();
    if (id === 3) return `${other.receive()} ${it.get("text")!.read()}`;
    return it.get("text")!.read();
  });
  const received: Channel<string> = Channel.from<string>(jobs.handle, {
    codec,
    carrier: oneToOne,
  });
  const other: Channel<string> = Channel.from<string>(others.handle, { codec });
  for (let i = 0; i < 4; i++) jobs.send(job(i));
  others.send(job(9));
  assert.is(received.receive(), "job 0");
  assert.throws(() => received.receive(), /^one$/);
  refuses(() => received.receive(), /works for/);
  assert.is(received.receive(), "job 9 job 3");
  assert.is(received.size, 0);
});

test("errors of a user's classes are read with their class", () => {
  class NotFound extends Error {}
  const config = { codec: valueCodecWith({ errors: [NotFound] }) };
  const errors = Channel.create<Error>({ ...config, capacity: 4 });
  const codec = viewCodec(
    (error: ValueView<Error>): [unknown, Error] => [error.class, error.read()],
    config.codec,
  );
  const received = Channel.from(errors.handle, { codec });
  errors.send(new NotFound("a.txt"));
  const [name, error] = received.receive();
  assert.is(name, "NotFound");
  assert.instance(error, NotFound);
  for (const wrong of [[1], [() => 1, {}], []]) {
    refuses(() => viewCodec(...wrong as [never]), /viewCodec takes/);
  }
});

test("missing items for which an array has no room are refused", () => {
  // deno-lint-ignore no-sparse-arrays
  const bytes = bytesOf([1, , , 2]);
  const at = bytes.indexOf(HOLES) + 1;
  assert.is(bytes[at], 2);
  for (const missing of [0, 4]) {
    bytes[at] = missing;
    refuses(() => decodeValue(bytes), /length/);
    refuses(() => [...viewValue(bytes).parts()], /length/);
    refuses(() => viewValue(bytes).at(3), /length/);
  }
});
