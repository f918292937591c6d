// Each test program says at its head where and how it runs.
import * as assert from "uvu/assert";
import { find, wrongIn } from "./files.ts";
import { suite } from "./harness.ts";

const test = suite("files.ts");

test("the words at the head of a program may take several lines", () => {
  const [file] = find("_twin/structures");
  for (const folder of ["_twin", "broadcast", "slab_pool", "work_deque"]) {
    assert.ok(file!.about.has(folder), folder);
  }
  assert.ok(file!.also.has("node"));
  assert.ok(find("slab_pool").some(({ name }) => name === file!.name));
});

test("what tells the race tester about itself shares no process with others", () => {
  const named = (name: string) => find(name).find((it) => it.name === name)!;
  assert.is(named("race/whole").shares, "race, telling");
  assert.is(named("race/futures").shares, "race, silent");
  assert.is(named("race/wasm").shares, "");
});

test("words that say nothing are an error", () => {
  for (
    const right of [
      "// about: mutex, event\n// about: once\n// also: node, browsers",
      "// it explores\n// Every mistake is found.",
      "// limit: 30 s\n// it waits\n// it is long\n// Two minutes.",
    ]
  ) {
    assert.is(wrongIn(right), undefined, right);
  }
  for (
    const wrong of [
      "// about: mutex,\n// event",
      "// about: mutex, event also: node",
      "// about: a_folder",
      "// also: deno",
      "// limit: 30",
      "// it waits it is long",
    ]
  ) {
    assert.ok(wrongIn(wrong), wrong);
  }
});
