// limit: 200 s
// Tests `primitives/kernel/_text.ts`: it holds what `wasm/kernel.c`
// compiles to, and these lack what they must not have.
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import * as assert from "uvu/assert";
import * as TEXT from "../../primitives/kernel/_text.ts";
import { findCompiler } from "../../wasm/emcc.ts";
import { kernelModule, kernelText, STEMS } from "../../wasm/kernel_build.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";

const test = suite("kernel, the modules", 120_000);

const FILE = new URL(
  "../../primitives/kernel/_text.ts",
  import.meta.url,
);
const text = fs.readFileSync(FILE, "utf8");
const all: Readonly<Record<string, string>> = TEXT;
const embedded = new Map(
  STEMS.filter((stem) => stem.toUpperCase() in all).map((stem) =>
    [stem, Buffer.from(all[stem.toUpperCase()]!, "base64")] as const
  ),
);

test("each primitive of kernel.c has a module", () => {
  assert.equal(
    Object.keys(TEXT).toSorted(),
    STEMS.map((stem) => stem.toUpperCase()).toSorted(),
  );
});

for (const [stem, bytes] of embedded) {
  test(`the module of ${stem} is small, and needs only memory`, () => {
    // Older browsers compile at most 4 KB at once on a main thread.
    const most = stem.toLowerCase() === "record_ring" ? 5120 : 4096;
    assert.ok(bytes.length < most, `${bytes.length} bytes`);
    const module = new WebAssembly.Module(bytes);
    assert.equal(WebAssembly.Module.imports(module), [
      { module: "env", name: "memory", kind: "memory" },
    ]);
    const kinds = WebAssembly.Module.exports(module).map(({ kind }) => kind);
    assert.equal(new Set(kinds), new Set(["function"]));
    const ids = sections(bytes);
    for (const [id, what] of [[4, "table"], [8, "start"], [11, "data"]]) {
      assert.not.ok(ids.has(id as number), `there is a section: ${what}`);
    }
    // Six bytes are one global: the id of the agent that called. Another one
    // would point to a stack, for which no memory is set aside.
    assert.ok((ids.get(6) ?? 0) <= 6, "it has a stack");
  });
}

/** The ids of a module's sections, and how long each is. */
function sections(bytes: Uint8Array): Map<number, number> {
  const found = new Map<number, number>();
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at++]!;
    let size = 0;
    for (let shift = 0;; shift += 7) {
      const byte = bytes[at++]!;
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    found.set(id, size);
    at += size;
  }
  return found;
}

const made = /Emscripten\n\/\/ ([\d.]+):/.exec(text)![1]!;
/** Skips a test that needs the compiler that made the modules. */
async function needCompiler() {
  // Another version of clang makes other bytes of the same code.
  const { version } = await findCompiler(true);
  if (version !== made) throw new Missing(`Emscripten ${made}`);
}

for (const stem of STEMS) {
  test(`kernel.c compiles to the module of ${stem} again`, async () => {
    await needCompiler();
    const bytes = Buffer.from(await kernelModule(stem));
    const same = bytes.equals(embedded.get(stem)!);
    assert.ok(same, "another module: run `deno task kernel`");
  });
}

test("kernel/_text.ts is written as `deno task kernel` does", async () => {
  await needCompiler();
  assert.ok(kernelText(embedded, made) === text);
});
