// limit: 900 s
// it waits
// it is long
// Two minutes of `deno task torture`: each row of its table is a test. It runs
// beside all other tests, and leaves the cores to them.
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { skip, suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";
import { findCompiler } from "../../wasm/emcc.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const MINUTES = 2;

const test = suite("torture");

// If there is none, the torture skips what needs it.
await findCompiler(true).catch(() => {});

// With this priority it takes about a seventh of what another program would.
const words = ["-n", "8", process.execPath, "run", "-A", MAIN];
const { code, output } = await run(
  "nice",
  [...words, "--minutes", `${MINUTES}`],
  800,
);
const rows = output.split("\n").filter((line) => /^(ok {3}|FAIL )/.test(line));
console.log(rows.map((row) => `| ${row}\n`).join(""));

for (const row of rows) {
  test(row.slice(5).replace(/ {2,}/g, ": "), () => {
    assert.match(row, /^ok/, output);
  });
}

for (const [, why] of output.matchAll(/^ *skipped: (.+)$/gm)) {
  test(`a part that is skipped: ${why}`, () => skip(why!));
}

test("it ended, and had nothing else to say", () => {
  assert.is(code, 0, output);
  assert.ok(rows.length > 20, output);
});
