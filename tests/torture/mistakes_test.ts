// Each mistake of the storms changes a text that occurs once in its source.
// The storms themselves take minutes; this tells at once that a text moved.
import * as fs from "node:fs";
import * as assert from "uvu/assert";
import { edited, editedSource } from "../_run/edits.ts";
import { suite } from "../_run/harness.ts";
import { MISTAKES } from "./_mistakes.ts";
import { MAP_MISTAKES } from "./_mistakes_maps.ts";

const test = suite("mistakes of storms");

test("the page says how many there are", () => {
  const page = new URL("../../docs/reliability.md", import.meta.url);
  const text = fs.readFileSync(page, "utf8").replaceAll(/\s+/g, " ");
  const planned = MISTAKES.filter(({ plan }) => plan !== undefined).length;
  assert.match(text, ` makes ${MISTAKES.length} mistakes in the pool`);
  assert.match(text, ` ${planned} of them have one plan of their own`);
});

for (const { storm, what, edits } of MISTAKES) {
  test(`${storm}: ${what}`, () => {
    for (const [source, changes] of Object.entries(edits)) {
      editedSource(source, changes);
    }
  });
}

for (const { what, ts, c } of MAP_MISTAKES) {
  test(`maps: ${what}`, () => {
    const [source, edit] = ts;
    editedSource(source, edit);
    const [header, inC] = c;
    const file = new URL(`../../wasm/weft/${header}.h`, import.meta.url);
    edited(header, fs.readFileSync(file, "utf8"), inC);
  });
}
