// it waits
// A program that starts a sync worker by its URL: the output of the worker
// comes in order, and the program ends though the worker does not.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { bun } from "../_run/bun.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { need, run } from "../_run/native.ts";
import { homeIn, writePackage } from "../_run/package.ts";

const MODULE = fileURLToPath(
  new URL("../../primitives/sync_worker.ts", import.meta.url),
);

const WORKER = `
let timers = 0;
setInterval(() => timers++, 1000);
const say = async (text) => {
  console.log(text);
  await undefined;
  console.log(text + " again");
};
export { say };
`;
const main = (entry: string) => `
import { syncWorker } from ${JSON.stringify(entry)};
const worker = syncWorker(new URL("./worker.mjs", import.meta.url));
for (let i = 0; i < 3; i++) {
  console.log("before " + i);
  worker.say("line " + i);
  console.log("after " + i);
}
`;
const LINES = [0, 1, 2].map((i) =>
  `before ${i}\nline ${i}\nline ${i} again\nafter ${i}\n`
).join("");

const test = suite("the end of a sync worker");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-sync-worker-"));
  fs.writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  await writePackage(homeIn(folder));
  await esbuild.stop();
  fs.writeFileSync(path.join(folder, "worker.mjs"), WORKER);
});
test.after(() => fs.rmSync(folder, { recursive: true }));

/** Runs the program, whose library is at `entry`. */
async function ends(command: readonly string[], entry: string) {
  const file = path.join(folder, "main.mjs");
  fs.writeFileSync(file, main(entry));
  const [program, ...words] = command as [string, ...string[]];
  const ended = await run(program, [...words, file], 60);
  assert.equal(ended, { code: 0, output: LINES });
}

test("in Node", async () => {
  await need("node");
  await ends(["node"], "@weft/sync/sync_worker");
}, 90_000);

test("in Deno", () => ends([process.execPath, "run", "-A"], MODULE), 90_000);

test("in Bun", async () => {
  const command = bun({ fetches: false });
  if (command === undefined) throw new Missing("Bun");
  await ends(command, "@weft/sync/sync_worker");
}, 90_000);
