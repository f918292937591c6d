// limit: 400 s
// it is long
// The tests of the classes, with the classes of `@weft/sync/kernel` in the
// place of those of `@weft/sync`: an import map of Deno puts them there.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { STEMS as KERNEL_STEMS } from "../../wasm/kernel_build.ts";

const test = suite("kernel, the tests of the classes", 120_000);

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const BUILT = path.join(PROJECT, ".weft", "kernel");

/** The classes whose tests run here, and those that are built on them. */
const STEMS = [...KERNEL_STEMS, "condition"];

/** An import map under which `mod.ts` is `tests/kernel/mod.ts`. */
function importMap(): string {
  const url = (...names: string[]) =>
    pathToFileURL(path.join(PROJECT, ...names)).href;
  const { imports } = JSON.parse(
    fs.readFileSync(path.join(PROJECT, "deno.json"), "utf8"),
  );
  const mod = url("mod.ts");
  const folder = url("tests", "kernel") + "/";
  const map = {
    imports: { ...imports, [mod]: url("tests", "kernel", "mod.ts") },
    scopes: { [folder]: { [mod]: mod } },
  };
  const file = path.join(BUILT, "import_map.json");
  fs.mkdirSync(BUILT, { recursive: true });
  fs.writeFileSync(file, JSON.stringify(map, null, 2));
  return file;
}

/** Runs a test file by itself; returns its output and whether it passed. */
function run(map: string, stem: string): Promise<[code: number, text: string]> {
  const file = path.join(PROJECT, "tests", stem, "unit.ts");
  const child = path.join(PROJECT, "tests", "_run", "child.ts");
  const report = path.join(BUILT, `${stem}.report`);
  const words = ["run", "-A", "--no-check", "--import-map", map, child];
  const programs = JSON.stringify([{ path: file }]);
  const child_ = spawn(process.execPath, [...words, programs, report], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, WEFT_KERNEL_TESTS: "1" },
  });
  return new Promise((resolve) => {
    let text = "";
    const add = (part: unknown) => text += part;
    child_.stdout.on("data", add);
    child_.stderr.on("data", add);
    child_.on("close", (code) => resolve([code ?? -1, text]));
    setTimeout(() => child_.kill("SIGKILL"), 100_000).unref();
  });
}

const map = importMap();
const running = new Set<Promise<unknown>>();

for (const stem of STEMS) {
  test(`the tests of ${stem} pass in the kernel`, async () => {
    while (running.size >= availableParallelism()) await Promise.race(running);
    const one = run(map, stem);
    running.add(one);
    const [code, text] = await one;
    running.delete(one);
    assert.is(code, 0, text);
  });
}
