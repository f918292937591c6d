import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { findCompiler } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";

const test = suite("The example in C");

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLE = path.join(PROJECT, "wasm", "example");
const FILES = ["example.c", "main.ts", "worker.ts"];

/** The command that the head of `example.c` gives, on one line. */
function commandOfSource(): string {
  const text = fs.readFileSync(path.join(EXAMPLE, "example.c"), "utf8");
  const lines = text.match(/^ \* emcc (?:.*\\\n)*.*$/m)![0];
  return joined(lines.replace(/^ \* /gm, ""));
}

/** The command that the README gives, on one line. */
function commandOfReadme(): string {
  const text = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");
  const block = /<!-- example: build -->\s+```sh\n(emcc [^`]*)```/;
  return joined(text.match(block)![1]!);
}

const joined = (text: string) => text.replace(/\s*\\?\n\s*/g, " ").trim();

/** A folder as a user has it: the example, and `weft.h` if `header`. */
async function copy(name: string, header: boolean): Promise<string> {
  const folder = path.join(PROJECT, ".weft", name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  for (const file of FILES) {
    fs.copyFileSync(path.join(EXAMPLE, file), path.join(folder, file));
  }
  if (!header) return folder;
  const program = path.join(PROJECT, "wasm", "header.ts");
  const words = ["run", "-A", program, "--out", folder];
  const { code, output } = await run(Deno.execPath(), words, 60);
  assert.is(code, 0, output);
  return folder;
}

/** Runs `command` as a user would, and then the example. */
async function runsWith(command: string, folder: string) {
  const { path: emcc } = await findCompiler();
  // The command is the README's, but for where this machine has its emcc.
  const line = `cd "${folder}" && emcc() { "${emcc}" "$@"; } && ${command}`;
  const built = await run("bash", ["-c", line], 150);
  assert.is(built.code, 0, built.output);
  const main = path.join(folder, "main.ts");
  const { code, output } = await run(Deno.execPath(), ["run", "-A", main], 60);
  assert.is(code, 0, output);
  const squares = Array.from({ length: 100 }, (_, i) => `${(i + 1) ** 2}\n`);
  assert.is(output, squares.join(""));
}

test("the README and the source give one command", () => {
  assert.is(commandOfReadme(), commandOfSource());
});

test("it runs as the README says", async () => {
  const folder = await copy("example", true);
  await runsWith(commandOfSource(), folder);
});

test("it runs with the port, which finds weft.h itself", async () => {
  const folder = await copy("example-port", false);
  const port = path.join(PROJECT, "wasm", "weft.py");
  const given = commandOfSource();
  const command = given
    .replace("emcc ", `emcc --use-port="${port}" `)
    .replace("-sEXPORTED_RUNTIME_METHODS=wasmMemory ", "");
  assert.is.not(command, given);
  await runsWith(command, folder);
});

test("it is small enough to be read", () => {
  const text = fs.readFileSync(path.join(EXAMPLE, "example.c"), "utf8");
  assert.ok(text.split("\n").length <= 45, "example.c has grown");
});
