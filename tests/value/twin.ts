// also: node
// C and JavaScript send each other values.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Channel,
  decodeValue,
  encodeValue,
  type ValueType,
  type ValueView,
  viewValue,
} from "../../mod.ts";
import { guestOf } from "../_run/guest.ts";
import { suite } from "../_run/harness.ts";
import { codePoint } from "../_run/points.ts";
import { assertEqual } from "./values.ts";

const test = suite("weft_value");

const SOURCE = fileURLToPath(new URL("./twin.c", import.meta.url));
const FORMAT = fileURLToPath(
  new URL("../../docs/value_format.md", import.meta.url),
);
const BUILT = fileURLToPath(new URL("../../.weft/value/", import.meta.url));

/**
 * Where two channels lie, bytes, and a name, behind what a module has for
 * itself.
 */
const FROM = 1 << 19, TO = FROM + (1 << 17), BYTES = TO + (1 << 17);
const NAME = BYTES + (1 << 17);

/** What a value is, by its number in C. */
const TYPES: (ValueType | undefined)[] = [
  undefined,
  "undefined",
  "null",
  "boolean",
  "number",
  "string",
  "bigint",
  "array",
  "object",
  "date",
  "regexp",
  "map",
  "set",
  "buffer",
  "view",
  "error",
  "boxed",
];

type Functions = Record<string, (...words: number[]) => number>;

const config = { capacity: 4, messageSize: 4096 };

/** A module of C that runs in this thread, and the two channels. */
async function guest(source: string) {
  const pages = { initial: 16, maximum: 16, shared: true };
  const memory = new WebAssembly.Memory(pages);
  const now = () => performance.now();
  const env = { memory, weft_now: now, weft_random: () => 7 };
  const module = await guestOf(source);
  const { exports } = await WebAssembly.instantiate(module, { env });
  const c = exports as Functions;
  const from = Channel.init<unknown>(memory, FROM, config);
  const to = Channel.init<unknown>(memory, TO, config);
  return { c, from, to, bytes: new Uint8Array(memory.buffer) };
}

const strings = fc.oneof(
  fc.string(),
  fc.string({ unit: codePoint }),
  fc.string({ unit: codePoint, minLength: 50, maxLength: 80 }),
);
const { any } = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(undefined, null, true, false, -0, NaN, 2 ** 31),
    fc.integer(),
    fc.double(),
    strings,
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.float64Array(),
    fc.int16Array().map((view) => view.buffer),
    fc.array(fc.integer(), { minLength: 6, maxLength: 20 }),
    fc.array(fc.double(), { minLength: 6, maxLength: 20 }),
    fc.array(tie("any"), { maxLength: 20 }),
    fc.dictionary(
      fc.oneof(fc.constantFrom("a", "b", "__proto__"), strings),
      tie("any"),
      { maxKeys: 6 },
    ),
    fc.array(fc.record({ id: fc.nat(), more: tie("any") }), { maxLength: 8 }),
    fc.array(fc.tuple(tie("any"), tie("any")), { maxLength: 4 })
      .map((entries) => new Map(entries)),
    fc.array(tie("any"), { maxLength: 4 }).map((items) => new Set(items)),
  ),
}));

test("C reads what JavaScript sends, and writes the same", async () => {
  const { c, from, to } = await guest(SOURCE);
  let sent = 0;
  fc.assert(
    fc.property(any, (value) => {
      try {
        if (!from.trySend(value)) return;
      } catch (error) {
        assert.instance(error, RangeError); // it is too long
        return;
      }
      assert.is(c.copy!(FROM, TO), 0);
      assertEqual(to.tryReceive(), structuredClone(value));
      sent++;
    }),
    { numRuns: 500 },
  );
  assert.ok(sent > 400, `${sent}`);
  // The names of objects are in the table by now, and no more in messages.
  for (let id = 0; id < 3; id++) {
    from.trySend({ id, more: [{ x: 1 }] });
    assert.is(c.copy!(FROM, TO), 0);
    assertEqual(to.tryReceive(), { id, more: [{ x: 1 }] });
  }
});

test("C writes the same bytes for what is a key of a map", async () => {
  const { c, bytes } = await guest(SOURCE);
  const room = 1 << 14;
  const message = bytes.subarray(BYTES, BYTES + room);
  const text = fc.string({ unit: "grapheme", maxLength: 200 })
    .filter((text) => text.length < 512);
  const keys = fc.oneof(
    fc.constantFrom(undefined, null, true, false, NaN, -0, 63, 64, 2 ** 31),
    fc.constantFrom("", "a".repeat(63), "a".repeat(64), "\xeb".repeat(63)),
    fc.constant("\xeb".repeat(64)),
    text,
    fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)) }),
    fc.integer(),
    fc.double(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  );
  fc.assert(
    fc.property(fc.oneof(keys, fc.tuple(keys, keys)), (key) => {
      const length = encodeValue(key, message);
      const to = BYTES + room;
      assert.is(c.copy_bytes!(BYTES, length, to, room), length);
      const copy = bytes.subarray(to, to + length);
      assert.equal([...copy], [...message.subarray(0, length)]);
    }),
    { numRuns: 500 },
  );
});

test("C and a view look at the same parts", async () => {
  const { c, bytes } = await guest(SOURCE);
  const encoder = new TextEncoder();
  const look = (depth: number, key: string | number) => {
    if (typeof key === "number") return TYPES[c.look!(depth, 0, key)];
    const name = encoder.encode(`${key}\0`);
    bytes.set(name, NAME);
    return TYPES[c.look!(depth, NAME, 0)];
  };
  const compare = (view: ValueView, depth: number) => {
    assert.is(c.size!(depth), view.size);
    for (const key of ["a", "none", 0, view.size]) {
      const part = typeof key === "number" ? view.at(key) : view.get(key);
      assert.is(look(depth + 1, key), part?.type);
    }
    if (depth > 40 || view.type === "map") return;
    for (const { key = "", value, index } of view.parts()) {
      const by = view.type === "object" ? key as string : index;
      if (typeof by === "string" && by.includes("\0")) continue; // C's end
      assert.is(look(depth + 1, by), value.type);
      compare(value, depth + 1);
    }
  };
  fc.assert(fc.property(any, (value) => {
    const twice = { first: value, again: [value] };
    const length = encodeValue(twice, bytes.subarray(BYTES, NAME));
    if (length > NAME - BYTES) return;
    assert.is(c.check!(BYTES, length), 0);
    const view = viewValue(bytes.subarray(BYTES, BYTES + length));
    look(0, "");
    compare(view, 0);
    look(0, "");
    look(1, "again");
    look(2, 0);
    look(1, "first");
    const isSame = view.get("first")!.same(view.get("again", 0)!);
    assert.is(c.same!(1, 2) !== 0, isSame);
    assert.is(isSame, typeof value === "object" && value !== null);
  }));
});

test("C sends an error", async () => {
  const { c, to } = await guest(SOURCE);
  assert.is(c.fail!(TO), 0);
  const error = to.tryReceive() as Error;
  assert.instance(error, RangeError);
  assert.is(error.message, "grüß");
});

test("what decodeValue accepts, weft_value_open does", async () => {
  const { c, bytes } = await guest(SOURCE);
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 });
  const refused = [0, 0];
  fc.assert(
    fc.property(any, damage, (value, damage) => {
      const room = new Uint8Array(1 << 16);
      const length = encodeValue(value, room);
      for (const [at, byte] of damage) room[at % length] = byte;
      bytes.set(room, BYTES);
      const result = c.check!(BYTES, length);
      try {
        decodeValue(room.subarray(0, length));
      } catch {
        refused[result === 0 ? 0 : 1]!++;
        return;
      }
      assert.is(result, 0);
    }),
    { numRuns: 2000 },
  );
  // It does not look at what only matters when a part is read.
  assert.ok(refused[1]! > 2 * refused[0]!, `${refused}`);
});

test("the program of C in docs/value_format.md answers JavaScript", async () => {
  const text = fs.readFileSync(FORMAT, "utf8");
  const [, program] = text.match(/^```c\n(.*?)^```$/ms)!;
  fs.mkdirSync(BUILT, { recursive: true });
  const source = path.join(BUILT, "greet.c");
  fs.writeFileSync(source, program!);
  const { c, from, to } = await guest(source);
  for (let id = 0; id < 3; id++) {
    from.trySend({ id, user: { name: `Zoë ${id}` }, tags: ["a", "b"] });
    assert.is(c.greet!(FROM, TO), 0);
    assertEqual(to.tryReceive(), {
      id,
      greeting: `Hello, Zoë ${id}!`,
      tags: 2,
    });
  }
});
