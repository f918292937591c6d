// The page of `recover` says what to do about each of its findings.
import * as fs from "node:fs";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const test = suite("the page of recover");

const textOf = (path: string): string =>
  fs.readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("its table has a row for each finding, of both languages", () => {
  const [, union] = textOf("primitives/tools/recover.ts")
    .match(/export type Found =([^]+?");\n/)!;
  const [, names] = textOf("wasm/weft/recover.h")
    .match(/enum \{([^}]+WEFT_RECORDS_SKIPPED[^}]+)\}/)!;
  const page = textOf("docs/primitives/recover.md");
  const rows = [...page.matchAll(/^\| `"([^"]+)"` +\| `(\w+)` /gm)];
  const sorted = (found: IterableIterator<RegExpMatchArray>) =>
    [...found].map(([, name]) => name!).sort();
  const found = rows.map(([, found]) => found!).sort();
  assert.equal(found, sorted(union!.matchAll(/\| "([^"]+)"/g)));
  const inC = rows.map(([, , name]) => name!).sort();
  assert.equal(inC, sorted(names!.matchAll(/^ +(WEFT_\w+)/gm)));
});
