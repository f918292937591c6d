// What the README shows: its worker example runs as it is pasted.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { skip, suite } from "../_run/harness.ts";
import { run, versionOf } from "../_run/native.ts";
import { install } from "../_run/package.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const README = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");

const test = suite("README");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-readme-"));
  await install(folder);
  // What npm writes has no "type".
  fs.writeFileSync(path.join(folder, "package.json"), "{}");
  await esbuild.stop();
  const files = [
    ...README.matchAll(/^```js ignore\n\/\/ (.*)\n([^]*?)^```$/gm),
  ];
  assert.equal(files.map(([, name]) => name), ["main.mjs", "worker.mjs"]);
  for (const [, name, text] of files) {
    fs.writeFileSync(path.join(folder, name!), text!);
  }
});
test.after(() => fs.rmSync(folder, { recursive: true }));

/** What the example says that it prints. */
const SUM = README.match(/^console\.log\(sum\); \/\/ (\d+)$/m)![1];

test("its worker example runs in Node, as it is pasted", async () => {
  if (await versionOf("node") === undefined) skip("no node here");
  const ended = await run("node", [path.join(folder, "main.mjs")], 250);
  assert.equal(ended, { code: 0, output: `${SUM}\n` });
});

test("its worker example runs in Deno, as it is pasted", async () => {
  const words = ["run", "-A", path.join(folder, "main.mjs")];
  const ended = await run(process.execPath, words, 250);
  assert.equal(ended, { code: 0, output: `${SUM}\n` });
});

test("it is shorter than 200 lines, and gives two commands", () => {
  assert.ok(README.trimEnd().split("\n").length < 200);
  const [, section] = README.match(/^## Two commands\n([^]*?)^[^\n]*More:/m)!;
  const fenced = [...section!.matchAll(/^```sh\n([^]*?)^```$/gm)];
  assert.equal(fenced.map(([, lines]) => lines!.trim().split("\n")), [[
    "npx -y deno@2.9.6 task demo",
    "npx -y deno@2.9.6 task test",
  ]]);
});
