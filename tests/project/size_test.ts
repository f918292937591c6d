// What a bundle of one primitive costs, and that it does not grow unnoticed.
import * as esbuild from "esbuild";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { measure, SIZES } from "./size.ts";

const test = suite("Size");

test.after(() => esbuild.stop());

for (const entry of SIZES) {
  const { name, from, most } = entry;

  test(`${name} of ${from} takes at most ${most} bytes`, async () => {
    const { gzipped, modules } = await measure(entry);
    const parts = modules.map((part) => part.join(" ")).join(", ");
    assert.ok(gzipped <= most, `${gzipped} bytes, of ${parts}`);
    // Far below what it may have, nobody would notice it grow.
    assert.ok(gzipped > most * 0.9 - 100, `only ${gzipped} bytes: lower it`);
  });
}

test("a primitive that never waits brings no code that does", async () => {
  for (const entry of SIZES) {
    if (!/^(Snapshot|WorkDeque|SlabPool|Striped|struct)/.test(entry.name)) {
      continue;
    }
    const { modules } = await measure(entry);
    const waiting = modules.filter(([file]) => /_wait|_spin/.test(file));
    assert.equal(waiting, [], entry.name);
  }
});

test("a primitive brings no other one's row of the layout", async () => {
  const { modules } = await measure(SIZES.find((it) => it.name === "Mutex")!);
  const row = modules.find(([file]) => file === "_layout.ts")!;
  assert.ok(row[1] < 60, `_layout.ts: ${row[1]} bytes`);
});
