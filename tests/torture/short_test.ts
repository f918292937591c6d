// limit: 900 s
// A short form of `deno task torture`: each row of its table is a test.
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const SECONDS = 45;

const test = suite("torture");

const words = ["run", "-A", MAIN, "--minutes", `${SECONDS / 60}`];
const { code, output } = await run(process.execPath, words, 800);
const rows = output.split("\n").filter((line) => /^(ok {3}|FAIL )/.test(line));
console.log(rows.map((row) => `| ${row}\n`).join(""));

for (const row of rows) {
  test(row.slice(5).replace(/ {2,}/g, ": "), () => {
    assert.match(row, /^ok/, output);
  });
}

test("it ended, and had nothing else to say", () => {
  assert.is(code, 0, output);
  assert.ok(rows.length > 20, output);
});
