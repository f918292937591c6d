// docs/race_internals.md names files and tests that exist.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => fs.readFileSync(PROJECT + file, "utf8");
const page = read("docs/race_internals.md").replace(/\s+/g, " ");

const test = suite("docs/race_internals.md");

test("its files exist", () => {
  const files = [...page.matchAll(/`((?:race|tests)\/[\w/]+\.ts)`/g)];
  assert.ok(files.length > 20);
  const missing = files.map(([, file]) => file!)
    .filter((file) => !fs.existsSync(PROJECT + file));
  assert.equal(missing, []);
});

test("each reduction names a test that exists", () => {
  const sections = page.split(" ### ").slice(1);
  assert.ok(sections.length >= 10);
  for (const section of sections) {
    const [, rest] = section.split("Test: ");
    assert.ok(rest, section.slice(0, 40));
    let file = "";
    let named = 0;
    for (const [, path, title] of rest!.matchAll(/`(tests[^`]+)`|"([^"]+)"/g)) {
      if (path !== undefined) file = read(path);
      else {
        assert.ok(file.includes(`test("${title}"`), title!);
        named++;
      }
    }
    assert.ok(named > 0, section.slice(0, 40));
  }
});

test("each row of the reductions has a section", () => {
  const rows = [...page.matchAll(/\]\(#([\w-]+)\)/g)].map(([, name]) => name!);
  const titles = page.split(" ### ").slice(1);
  for (const row of rows) {
    const title = row.replaceAll("-", " ");
    assert.ok(titles.some((text) => text.toLowerCase().startsWith(title)), row);
  }
});
