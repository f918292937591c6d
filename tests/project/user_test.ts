// What an ordinary user meets, and root does not: files that may not be read.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { skip, suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";

const DEMO = fileURLToPath(new URL("../../wasm/demo/main.ts", import.meta.url));

const test = suite("an ordinary user");
let folder = "";

test.before(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-user-"));
});
test.after(() => fs.rmSync(folder, { recursive: true }));

test.beforeEach(() => {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    fs.chmodSync(file, 0o700);
    fs.rmSync(file, { recursive: true });
  }
});

const demo = (...words: string[]) =>
  run(process.execPath, ["run", "-A", "-q", DEMO, ...words], 300);

test("one line for a file that may not be read", async () => {
  if (process.getuid!() === 0) skip("root may read every file");
  const file = path.join(folder, "secret");
  fs.writeFileSync(file, "secret");
  fs.chmodSync(file, 0); // Deno takes a mode of 0 for the default
  const { output, code } = await demo(file, "--wasm", "0");
  assert.is(output, `demo: cannot read ${file}: permission denied\n`);
  assert.is(code, 2);
  fs.chmodSync(file, 0o600);
});

test("a folder of the PATH that may not be read is passed over", async () => {
  if (process.getuid!() === 0) skip("root may read every folder");
  const closed = path.join(folder, "closed");
  fs.mkdirSync(closed);
  fs.chmodSync(closed, 0);
  const { PATH, EMCC } = process.env;
  process.env.PATH = `${closed}${path.delimiter}${PATH}`;
  process.env.EMCC = "no-such-emcc"; // looked for on the PATH
  try {
    const { output, code } = await demo(DEMO);
    assert.match(output, "demo: EMCC names no emcc that runs");
    assert.is(code, 2, output);
  } finally {
    process.env.PATH = PATH;
    if (EMCC === undefined) delete process.env.EMCC;
    else process.env.EMCC = EMCC;
    fs.chmodSync(closed, 0o700);
  }
});
