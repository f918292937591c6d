// also: node
// inspect() and weft_inspect() say the same about the same memory.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { inspect } from "../../mod.ts";
import {
  type ConfiguredStem,
  KIND,
  LAYOUT,
  type Stem,
} from "../../primitives/_memory/layout.ts";
import { sealOf } from "../../primitives/_memory/region.ts";
import { suite } from "../_run/harness.ts";
import { CONFIGURED, KINDS } from "../_run/kinds.ts";
import { type TwinModule, twinModule } from "../_twin/module.ts";
import { CASES } from "./rule_cases.ts";

const SOURCE = fileURLToPath(new URL("./twin.c", import.meta.url));
const OUT = fileURLToPath(
  new URL("../../.weft/twin/inspect.mjs", import.meta.url),
);

interface Module extends Pick<TwinModule, "wasmMemory" | "_arena"> {
  _inspected(at: number, kind: number): number;
}

const { module, memory, arena } = await twinModule<Module>(
  SOURCE,
  OUT,
  ["-O1"],
);
/** The names of kinds lie before the primitives. */
const PRIMITIVES = arena + 64;

const test = suite("Twins of inspect");

/** Below this an answer is an errno. */
const FEW = 256;

/** C's output, without the end of the line, or the errno it returns. */
function inspected(at: number, kind = ""): string | number {
  const bytes = new Uint8Array(memory.buffer as unknown as SharedArrayBuffer);
  bytes.set([...kind].map((letter) => letter.charCodeAt(0)), arena);
  bytes[arena + kind.length] = 0;
  const from = module._inspected(at, kind === "" ? 0 : arena) >>> 0;
  if (from < FEW) return from;
  const text = bytes.slice(from, bytes.indexOf(0, from));
  const [line, rest] = new TextDecoder().decode(text).split("\n");
  assert.is(rest, "");
  return line!;
}

for (const kind of KINDS) {
  const stem = kind.stem as Stem;

  test(`C prints of a ${stem} what JavaScript tells`, () => {
    const { length, ...row }: Record<string, number> = LAYOUT[stem];
    const values = fc.array(fc.integer(), {
      minLength: length!,
      maxLength: length!,
    });
    fc.assert(fc.property(fc.nat({ max: 9 }), values, (word, values) => {
      const at = PRIMITIVES + word * 4;
      kind.init(memory, at);
      const view = new Int32Array(memory.buffer, at, length);
      const told = JSON.stringify(inspect(memory, at, stem));
      assert.is(inspected(at, stem), told);
      for (const [name, index] of Object.entries(row)) {
        if (name !== "magic") view[index] = values[index]!;
      }
      const changed = JSON.stringify(inspect(memory, at, stem));
      assert.is(inspected(at, stem), changed);
      if (CONFIGURED.includes(kind)) assert.is(inspected(at), changed);
    }));
  });

  test(`C finds the problems of a ${stem} that JavaScript finds`, () => {
    const { length, seal = 0 }: Record<string, number> = LAYOUT[stem];
    const all = kind.byteLength / 4;
    // The configuration stays, or nothing else is looked at.
    const first = Object.hasOwn(KIND, stem) ? seal + 1 : 0;
    const change = fc.tuple(
      fc.nat({ max: 2 ** 20 }),
      fc.oneof(
        fc.integer({ min: -9, max: 9 }),
        fc.integer(),
        fc.constantFrom(1 << 28, 1 << 29, 1 << 30, 1 << 31),
      ),
    );
    const changes = fc.array(change, { maxLength: 4 });
    fc.assert(fc.property(changes, fc.boolean(), (changes, near) => {
      kind.use(kind.init(memory, PRIMITIVES));
      const view = new Int32Array(memory.buffer, PRIMITIVES, all);
      const end = near ? length! : all;
      for (const [place, value] of changes) {
        const index = first + place % (end - first);
        view[index]! ^= value;
      }
      const { problems } = inspect(memory, PRIMITIVES, stem);
      const { problems: theirs } = JSON.parse(`${inspected(PRIMITIVES, stem)}`);
      assert.equal(theirs, problems);
    }));
    for (const value of [-7, 8, 0x5a5a5a5a]) {
      kind.init(memory, PRIMITIVES);
      new Int32Array(memory.buffer, PRIMITIVES, all).fill(value, first);
      const { problems } = inspect(memory, PRIMITIVES, stem);
      const { problems: theirs } = JSON.parse(`${inspected(PRIMITIVES, stem)}`);
      assert.equal(theirs, problems);
    }
  });
}

for (const kind of KINDS) {
  const stem = kind.stem as Stem;

  test(`C says of each case of a ${stem} what JavaScript says`, () => {
    const { length, ...row }: Record<string, number> = LAYOUT[stem];
    const { seal } = row;
    for (const [words] of CASES[stem] ?? []) {
      kind.init(memory, PRIMITIVES);
      const view = new Int32Array(memory.buffer, PRIMITIVES, length);
      for (const [name, value] of Object.entries(words)) {
        view[row[name]!] = value;
      }
      if (seal !== undefined) {
        const [magic = 0, first = 0, second = 0] = view;
        view[seal] = sealOf(magic, first, seal > 2 ? second : 0);
      }
      const told = JSON.stringify(inspect(memory, PRIMITIVES, stem));
      assert.is(inspected(PRIMITIVES, stem), told);
    }
  });
}

for (const kind of CONFIGURED) {
  test(`C and JavaScript refuse the same configurations of a ${kind.stem}`, () => {
    const stem = kind.stem as ConfiguredStem;
    const { seal } = LAYOUT[stem];
    const word = fc.constantFrom(-5, -1, 0, 3, 5, 1 << 30, 1 << 31);
    kind.init(memory, PRIMITIVES);
    const view = new Int32Array(memory.buffer, PRIMITIVES, 8);
    const [magic = 0, ...config] = view.slice(0, seal);
    fc.assert(fc.property(word, fc.nat({ max: 1 }), (value, which) => {
      const words = config.slice();
      if (which < words.length) words[which] = value;
      view.set(words, 1);
      const [first = 0, second = 0] = words;
      view[seal] = ~(magic ^ Math.imul(first, 31) ^
        Math.imul(second, 0x9e3779b1));
      const { problems } = inspect(memory, PRIMITIVES, stem);
      // C does not know where the memory ends.
      if (problems.some(({ text }) => text.includes("not fit"))) return;
      const { problems: theirs } = JSON.parse(`${inspected(PRIMITIVES, stem)}`);
      assert.equal(theirs, problems);
      const any = ["channel", "call_ring"].includes(stem);
      if (which === 0 && value < 0 && seal > 1 && !any) {
        assert.is(problems.length, 1, `${words}`);
      }
    }));
  });
}

test("C and JavaScript refuse the same places and names", () => {
  const all: (Stem | "" | "toString")[] = [
    ...Object.keys(LAYOUT) as Stem[],
    "",
    "toString",
  ];
  for (const kind of KINDS) {
    kind.init(memory, PRIMITIVES);
    for (const change of [0, 1, 256]) { // another version, another kind
      const view = new Int32Array(memory.buffer, PRIMITIVES, 1);
      if (Object.hasOwn(KIND, kind.stem)) view[0]! += change;
      for (const name of all) {
        for (const at of [PRIMITIVES, PRIMITIVES + 2]) {
          let told = "refused";
          try {
            const named = name === "" ? undefined : name;
            told = JSON.stringify(inspect(memory, at, named));
          } catch (error) {
            assert.ok(
              error instanceof TypeError || error instanceof RangeError,
            );
          }
          const printed = inspected(at, name);
          const refused = typeof printed === "number" && printed > 0;
          assert.is(refused ? "refused" : printed, told);
        }
      }
    }
  }
});
