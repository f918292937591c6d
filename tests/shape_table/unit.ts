// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { ShapeTable } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { refuses, wordsOf } from "../_run/model.ts";

const SLOTS = LAYOUT.shape_table.length;
/** Two texts with one hash, and so with one slot where they begin. */
const COLLIDING = ["uzvjmvfw", "ohnbzekz"];
const test = suite("ShapeTable");

/** A text that no other number has. */
const textOf = (n: number, length = 4) => {
  const text = new Uint8Array(length).fill(7);
  text.set([n & 255, n >> 8]);
  return text;
};

test("add() and textAt() obey the model", () => {
  const texts = fc.array(
    fc.tuple(fc.nat(90), fc.integer({ min: 2, max: 40 })),
    { maxLength: 150 },
  );
  fc.assert(fc.property(texts, (texts) => {
    const { buffer } = ShapeTable.create({ bytes: 1000 });
    const views = [new ShapeTable(buffer), new ShapeTable(buffer)];
    const numbers = new Map<string, number>(); // the model
    let used = 0;
    texts.forEach(([n, length], i) => {
      const text = textOf(n, length);
      const number = views[i % 2]!.add(text);
      const known = numbers.get(`${text}`);
      if (known !== undefined) return assert.is(number, known);
      if (number < 0) {
        assert.is(number, -2);
        assert.ok(numbers.size === 64 || used + length > 1000);
        return;
      }
      assert.not.ok([...numbers.values()].includes(number));
      numbers.set(`${text}`, number);
      used += Math.ceil(length / 4) * 4;
      assert.is(views[0]!.size, numbers.size);
    });
    for (let number = 0; number < 64; number++) {
      const text = views[1]!.textAt(number);
      const known = [...numbers].find(([, it]) => it === number)?.[0];
      assert.is(text && `${text}`, known);
    }
  }));
});

test("64 shapes fit, of which two may have one hash", () => {
  const table = ShapeTable.create({ bytes: 4096 });
  const [a, b] = COLLIDING.map((text) => new TextEncoder().encode(text));
  const number = table.add(a!);
  assert.is(table.add(b!), (number + 1) % 64);
  const words = wordsOf(table);
  const states = [number, (number + 1) % 64].map((n) => words[SLOTS + 2 * n]);
  assert.is(states[0], states[1]);
  assert.is(table.add(a!), number);
  assert.equal(table.textAt(table.add(b!)), b);
  for (let n = 0; n < 62; n++) assert.ok(table.add(textOf(n)) >= 0);
  assert.is(table.size, 64);
  assert.is(table.add(textOf(999)), -2);
  assert.ok(table.add(textOf(61)) >= 0);
});

test("add() waits for nobody: another agent's claim is -1, or is passed", () => {
  const table = ShapeTable.create();
  const text = textOf(1);
  const words = wordsOf(table);
  const slot = ShapeTable.create().add(text);
  words[SLOTS + 2 * slot] = 1; // an agent is adding, or was terminated
  assert.is(table.add(text), -1);
  const number = table.add(text, true);
  assert.is(number, (slot + 1) % 64);
  assert.equal(table.textAt(number), text);
  assert.is(table.add(text), number);
  assert.is(table.size, 1);
});

test("a text that is damaged is no text", () => {
  const text = textOf(5, 10);
  fc.assert(fc.property(fc.nat(2 ** 32 - 1), fc.nat(40), (word, at) => {
    const table = ShapeTable.create({ bytes: 64 });
    const number = table.add(text);
    const words = wordsOf(table);
    const places = [SLOTS + 2 * number, SLOTS + 2 * number + 1];
    const i = at < 2 ? places[at]! : SLOTS + 128 + at % 3;
    words[i] = word;
    const found = table.textAt(number);
    if (found !== undefined) assert.equal(found, text);
    table.add(text, true);
  }));
});

test("arguments are checked", () => {
  const table = ShapeTable.create();
  const length = "shape's text";
  refuses(table.buffer, () => table.add(new Uint8Array(0)), RangeError, length);
  refuses(
    table.buffer,
    () => table.add(new Uint8Array(1025)),
    RangeError,
    length,
  );
  refuses(
    table.buffer,
    () => table.add("id" as never),
    TypeError,
    'Uint8Array: received "id"',
  );
  for (const bytes of [3, 0, -4, 2 ** 20 + 1, 4.5, NaN]) {
    refuses(
      table.buffer,
      () => ShapeTable.create({ bytes }),
      RangeError,
      "bytes of a table",
    );
  }
  assert.is(ShapeTable.byteLength(), 4096);
  assert.is(ShapeTable.byteLength({ bytes: 5 }), 528 + 8);
  assert.ok(table.add(new Uint8Array(1024)) >= 0);
  for (const number of [-1, 64, 0.5, NaN]) {
    refuses(
      table.buffer,
      () => table.textAt(number),
      RangeError,
      "number of a shape",
    );
  }
});
