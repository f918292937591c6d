// The native program of one folder, built in several ways.
import * as path from "node:path";
import * as assert from "uvu/assert";
import { TESTS, thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import { build, Pool, run, WARNINGS } from "../native.ts";

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

const folder = thisFolder();
const pool = new Pool(2);
const test = suite(`${folder}, natively`);

for (const [title, [compiler, ...words]] of Object.entries(WAYS)) {
  test(title, () =>
    pool.run(async () => {
      const file = await build({
        name: `${folder}-${title.replace(/\W/g, "")}`,
        compiler,
        words: [...WARNINGS, "-pthread", ...words],
        sources: [path.join(TESTS, folder, "native.c")],
      });
      let ended = await run(file, ["5"], 250);
      if (ended.output.includes("unexpected memory mapping")) {
        // Some kernels place memory more randomly than the tool supports.
        ended = await run("setarch", ["-R", file, "5"], 250);
      }
      const { code, output } = ended;
      assert.is(code, 0, `ended with ${code}:\n${output.slice(-4000)}`);
      assert.match(output, /^done$/m);
    }));
}
