// it is long
// Each step of docs/guides/tutorial.md runs in a folder with the package alone,
// and prints what the step says.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { findCompiler } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";
import { install } from "../_run/package.ts";

const test = suite("tutorial");

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = path.join(PROJECT, ".weft", "tutorial");
const PAGE = fs.readFileSync(
  path.join(PROJECT, "docs", "guides", "tutorial.md"),
  "utf8",
);

/** The files that the tutorial shows, by name. */
const FILES = new Map(
  [...PAGE.matchAll(/^```(?:js ignore|c)\n\/\/ (\S+)\n([^]*?)^```$/gm)]
    .map(([, name, text]) => [name!, text!]),
);
const STEPS = [...FILES.keys()].filter((name) => /^step\d/.test(name));

/** What a step prints: the comments behind its calls of `console.log`. */
const printedBy = (name: string): string =>
  [...FILES.get(name)!.matchAll(/console\.log\(.*; \/\/ (.*)$/gm)]
    .map(([, words]) => `${words}\n`).join("");

test.before(async () => {
  fs.rmSync(FOLDER, { recursive: true, force: true });
  fs.mkdirSync(FOLDER, { recursive: true });
  await install(FOLDER);
  // What npm writes has no "type".
  fs.writeFileSync(path.join(FOLDER, "package.json"), "{}");
  await esbuild.stop();
  for (const [name, text] of FILES) {
    fs.writeFileSync(path.join(FOLDER, name), text);
  }
});

test("each step has a section, a program and an output", () => {
  const sections = [...PAGE.matchAll(/^## Step (\d):/gm)].map(([, n]) => n);
  assert.equal(STEPS, sections.map((n) => `step${n}.mjs`));
  assert.is(STEPS.length, 6);
  for (const step of STEPS) assert.is.not(printedBy(step), "", step);
});

for (const step of STEPS) {
  const [, source] = FILES.get(step)!.match(/from "\.\/(\w+)\.mjs"/) ?? [];

  test(`${step} prints what it says`, async () => {
    if (source !== undefined) {
      const [, given] = PAGE.match(/^```sh\n(emcc [^]*?)^```$/m)!;
      const command = given!.replaceAll("fill", source);
      const { path: emcc } = await findCompiler();
      const line = `cd "${FOLDER}" && emcc() { "${emcc}" "$@"; } && ${command}`;
      const { code, output } = await run("bash", ["-c", line], 250);
      assert.equal({ code, output }, { code: 0, output: "" });
    }
    for (
      const [program, ...words] of [
        ["node"],
        [process.execPath, "run", "-A"],
      ] as [string, ...string[]][]
    ) {
      const file = path.join(FOLDER, step);
      const ended = await run(program, [...words, file], 120);
      assert.equal(ended, { code: 0, output: printedBy(step) }, program);
    }
  }, 400_000);
}
