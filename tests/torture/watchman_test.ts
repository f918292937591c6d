// A main thread that blocks for ever must not do so without a word.
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { bundle, bundled } from "../_run/bundle.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";

const test = suite("watchman");

const STUCK = fileURLToPath(new URL("./_stuck.ts", import.meta.url));
const FOLDER = fileURLToPath(
  new URL("../../.weft/torture/stuck/", import.meta.url),
);

async function assertTold(program: string, words: string[]) {
  const { output } = await run(program, words, 60);
  const { problems } = JSON.parse(output.split("\n", 1)[0]!);
  assert.match(problems[0], "1000 ms, in the plan that blocks");
}

test("in Node, it is told what the main thread was at", async () => {
  await bundle([STUCK], FOLDER);
  await assertTold("node", [path.resolve(bundled(STUCK, FOLDER))]);
});

test("and in Deno", () => assertTold(process.execPath, ["run", "-A", STUCK]));
