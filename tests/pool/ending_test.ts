// it waits
// A pool lets its workers end: what they wrote to the console arrives, and what
// stands behind `servePool` is done.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { TRANSITIONS } from "../../primitives/_pool/jobs.ts";
import { bundle, bundled } from "../_run/bundle.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";

const TALKER = fileURLToPath(new URL("./talker.ts", import.meta.url));
const LINES = "line 0\nline 1\nline 2\nline 3\nline 4\nthe end\n";
/** Lines are lost in Node only, and not each time. */
const TIMES = 3;

const PAGE = new URL("../../docs/primitives/pool.md", import.meta.url);

const test = suite("the end of a worker of a pool");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-talker-"));
  await bundle([TALKER], folder);
});
test.after(() => fs.rmSync(folder, { recursive: true }));

for (const how of ["close", "resize"]) {
  for (const blocking of ["true", "false"]) {
    const words = [how, blocking];

    test(`${how}() loses no line, blocking: ${blocking}`, async () => {
      const node = [bundled(TALKER, folder), ...words];
      const deno = ["run", "-A", TALKER, ...words];
      const all = { code: 0, output: LINES };
      for (let i = 0; i < TIMES; i++) {
        assert.equal(await run("node", node, 60), all);
      }
      assert.equal(await run(process.execPath, deno, 60), all);
    });
  }
}

test("a function that never ends keeps no thread of Node alive", async () => {
  const node = [bundled(TALKER, folder), "give up", "false"];
  const output = `${LINES}code 0\n`;
  assert.equal(await run("node", node, 60), { code: 0, output });
});

test("the page shows the table of a task's states", () => {
  const text = fs.readFileSync(PAGE, "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` +\|.*\|(.*)\|$/gm)]
    .map(([, state, next]) =>
      [state, [...next!.matchAll(/`(\w+)`/g)].map(([, it]) => it)] as const
    );
  const found = rows.filter(([state]) => state! in TRANSITIONS);
  assert.equal(Object.fromEntries(found), TRANSITIONS);
});
