// about: barrier, condition, event, latch, once, rw_lock, striped_counter
// The native program that is about several synchronizers.
import * as path from "node:path";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { build, Pool, run, SOURCES, WARNINGS } from "../_run/native.ts";

const PROGRAMS = ["synchronizers"];
const WAYS: Record<string, [compiler: string, ...words: string[]]> = {
  "C11": ["gcc", "-std=c11", "-O2"],
  "ThreadSanitizer, C++17": [
    "g++",
    "-x",
    "c++",
    "-std=c++17",
    "-O1",
    "-g",
    "-fsanitize=thread",
  ],
  "Address- and UBSanitizer": [
    "gcc",
    "-std=c17",
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
  ],
};

const pool = new Pool(2);
const test = suite("data structures, natively");

for (const name of PROGRAMS) {
  for (const [title, [compiler, ...words]] of Object.entries(WAYS)) {
    test(`${name}, ${title}`, () =>
      pool.run(async () => {
        const file = await build({
          name: `${name}-${title.replace(/\W/g, "")}`,
          compiler,
          words: [...WARNINGS, "-pthread", ...words],
          sources: [path.join(SOURCES, `${name}.c`)],
        });
        let ended = await run(file, ["5"], 100);
        if (ended.output.includes("unexpected memory mapping")) {
          // Kernels that place memory more randomly than the tool can bear.
          ended = await run("setarch", ["-R", file, "5"], 100);
        }
        const { code, output } = ended;
        assert.is(code, 0, `ended with ${code}:\n${output.slice(-4000)}`);
        assert.match(output, /^done$/m);
      }));
  }
}
