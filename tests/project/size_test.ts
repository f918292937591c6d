// it is long
// What an import costs a bundle, and that it does not grow unnoticed.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { install, NAME, SUBPATHS } from "../_run/package.ts";
import { fetched, importOf, PROJECT, SIZES, withEsbuild } from "./size.ts";

const test = suite("Size");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-size-"));
  await install(folder);
});
test.after(async () => {
  await esbuild.stop();
  fs.rmSync(folder, { recursive: true });
});

const bundle = (name: string, subpath = "") =>
  withEsbuild(folder, importOf(name, subpath));

/** The thousands of bytes that a class of the root takes. */
const sizes = new Map<string, number>();

for (const { name, subpaths, most } of SIZES) {
  for (const subpath of subpaths) {
    const what = name === "" ? "an unused import" : name;

    test(`${what} of ${NAME}${subpath} takes at most ${most} bytes`, async () => {
      const { gzipped, modules } = await bundle(name, subpath);
      if (subpath === "") sizes.set(name, Math.round(gzipped / 1000));
      const parts = modules.map((part) => part.join(" ")).join(", ");
      assert.ok(gzipped <= most, `${gzipped} bytes, of ${parts}`);
      // Far below what it may have, nobody would notice it grow.
      assert.ok(gzipped > most * 0.9 - 100, `only ${gzipped} bytes: lower it`);
    });
  }
}

test("README says what locks, queues and a Channel take", () => {
  const text = fs.readFileSync(`${PROJECT}README.md`, "utf8");
  const said = text.match(/adds (\d+) to (\d+) KB.+?`Channel`.+?(\d+) KB/s)!;
  const usual = [...sizes].filter(([name]) =>
    /^(Mutex|RwLock|Semaphore|RecordRing|\w+Queue)$/.test(name)
  ).map(([, size]) => size);
  assert.is(usual.length, 7);
  assert.equal(said.slice(1).map(Number), [
    Math.min(...usual),
    Math.max(...usual),
    sizes.get("Channel"),
  ]);
});

test("an unused import leaves nothing in a bundle", async () => {
  for (const subpath of SUBPATHS) {
    // Programs that Node and Deno run, too: no bundle has them.
    if (subpath === "/race" || subpath === "/header") continue;
    // It is imported for its effect.
    if (subpath === "/devtools") continue;
    const { text } = await bundle("", subpath);
    assert.is(text, "", `${NAME}${subpath}`);
  }
});

test("a primitive that never waits brings no code that does", async () => {
  for (const { name } of SIZES) {
    if (!/^(Snapshot|WorkDeque|SlabPool|Striped|struct)/.test(name)) continue;
    const { modules } = await bundle(name);
    const waiting = modules.filter(([file]) => /_wait\//.test(file));
    assert.equal(waiting, [], name);
  }
});

test("a realtime queue brings no Atomics.wait", async () => {
  const { text } = await bundle("SpscQueue", "/realtime");
  assert.not.match(text, /Atomics\.wait\b/);
  // What it must not find is there to be found.
  assert.match((await bundle("SpscQueue")).text, /Atomics\.wait\b/);
});

test("Rollup puts no Atomics.wait into a realtime queue, either", async () => {
  const text = importOf("SpscQueue", "/realtime");
  const bundles = await fetched("rollup", folder, [text]);
  if (bundles === undefined) throw new Missing("registry of npm");
  assert.match(bundles[0]!, /Atomics\.compareExchange/);
  assert.not.match(bundles[0]!, /Atomics\.wait\b/);
});

test("a primitive brings no other one's row of the layout", async () => {
  const { modules } = await bundle("Mutex");
  const rows = modules.filter(([file]) => file.startsWith("_memory/layout"));
  const bytes = rows.reduce((sum, [, bytes]) => sum + bytes, 0);
  assert.ok(0 < bytes && bytes < 60, `layout: ${bytes} bytes`);
});
