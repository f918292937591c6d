// also: node
// inspect() and weft_inspect() say the same about the same memory.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import fc from "fast-check";
import { inspect } from "../../mod.ts";
import { KIND, LAYOUT, type Stem } from "../../primitives/_layout.ts";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { CONFIGURED, KINDS } from "../_run/kinds.ts";
import { WARNINGS } from "../_run/native.ts";

const SOURCE = fileURLToPath(new URL("./twin.c", import.meta.url));
const INCLUDE = fileURLToPath(new URL("../../wasm", import.meta.url));
const OUT = fileURLToPath(
  new URL("../../.weft/twin/inspect.mjs", import.meta.url),
);

await emcc({
  sources: [SOURCE],
  args: [...PTHREADS, ...WARNINGS, `-I${INCLUDE}`],
  out: OUT,
});

interface Module {
  wasmMemory: WebAssembly.Memory;
  _arena(): number;
  _inspected(at: number, kind: number): number;
}

const { default: load } = await import(OUT);
const module: Module = await load();
const memory = module.wasmMemory;
const arena = module._arena() >>> 0;
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
