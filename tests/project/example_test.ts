// it is long
// The README's example of C, and that its steps work in an empty folder.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { findCompiler } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";
import { install } from "../_run/package.ts";

const test = suite("The example in C");

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLE = path.join(PROJECT, "wasm", "example");

/** The commands that the README gives. */
function steps(): string[] {
  const text = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");
  const [, section] = text.match(/^## From C\n([^]*?)^## /m)!;
  const blocks = [...section!.matchAll(/^```sh\n([^]*?)^```$/gm)];
  return blocks.flatMap(([, commands]) =>
    commands!.trim().split(/(?<!\\)\n/).map(joined)
  );
}

/** The command that the head of `example.c` gives, on one line. */
function commandOfSource(): string {
  const text = fs.readFileSync(path.join(EXAMPLE, "example.c"), "utf8");
  const lines = text.match(/^ \* emcc (?:.*\\\n)*.*$/m)![0];
  return joined(lines.replace(/^ \* /gm, ""));
}

const joined = (text: string) => text.replace(/\s*\\?\n\s*/g, " ").trim();

/**
 * A folder in which nothing is but the package, as the first command leaves it.
 */
async function emptyFolder(name: string): Promise<string> {
  const folder = path.join(PROJECT, ".weft", name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  await install(folder);
  // What npm writes has no "type".
  fs.writeFileSync(path.join(folder, "package.json"), "{}");
  await esbuild.stop();
  return folder;
}

/** Runs `commands` in `folder`; the output of the last one. */
async function follow(commands: readonly string[], folder: string) {
  const { path: emcc } = await findCompiler();
  let output = "";
  for (const command of commands) {
    // The command is the README's, but for where this machine has its emcc.
    const line = `cd "${folder}" && emcc() { "${emcc}" "$@"; } && ${command}`;
    const ended = await run("bash", ["-c", line], 250);
    assert.is(ended.code, 0, `${command}\n${ended.output}`);
    output = ended.output;
  }
  return output;
}

/** What the example prints for `n` numbers. */
const squares = (n: number) =>
  Array.from({ length: n }, (_, i) => `${(i + 1) ** 2}\n`).join("");

const SQUARES = squares(100);

test("the README and the source give one command", () => {
  assert.ok(steps().includes(commandOfSource()), commandOfSource());
});

test("the README's steps work in an empty folder, also in Deno", async () => {
  const [first, ...others] = steps();
  assert.is(first, "npx jsr add @weft/sync");
  assert.is(others.at(-1), "node main.mjs");
  const folder = await emptyFolder("example");
  assert.is(await follow(others, folder), SQUARES);
  assert.is(
    await follow([`"${Deno.execPath()}" run -A main.mjs`], folder),
    SQUARES,
  );
  // Also with more numbers than its queues hold.
  const worker = path.join(folder, "worker.mjs");
  const text = fs.readFileSync(worker, "utf8").replace("N = 100", "N = 1000");
  fs.writeFileSync(worker, text);
  assert.is(await follow(["node main.mjs"], folder), squares(1000));
});

test("they work with the port, which finds weft.h itself", async () => {
  const folder = await emptyFolder("example-port");
  const port = '--use-port="node_modules/@weft/sync/wasm/weft.py"';
  const given = commandOfSource();
  const command = given
    .replace("-Inode_modules/@weft/sync/wasm", port)
    .replace("-sEXPORTED_RUNTIME_METHODS=wasmMemory ", "");
  assert.is.not(command, given);
  const others = steps().slice(1).map((step) =>
    step === given ? command : step
  );
  assert.is(await follow(others, folder), SQUARES);
});

test("the README shows a part of it", () => {
  const readme = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");
  const [, shown] = readme.match(/^```c\n([^]*?)^```$/m)!;
  const text = fs.readFileSync(path.join(EXAMPLE, "example.c"), "utf8");
  assert.ok(text.includes(shown!));
});

test("it is small enough to be read", () => {
  const text = fs.readFileSync(path.join(EXAMPLE, "example.c"), "utf8");
  assert.ok(text.split("\n").length <= 45, "example.c has grown");
});
