// The native program of one folder, built in several ways: under sanitizers,
// and with `--all` by each compiler, in each language.
import * as path from "node:path";
import * as assert from "uvu/assert";
import { all } from "../depth.ts";
import { TESTS, thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import {
  build,
  MAKES,
  needSanitizers,
  Pool,
  run,
  WARNINGS,
} from "../native.ts";

/** Sleeps at once, and for ever but for a wake: a lost one is a hang. */
const SLEEPY = [
  "-DWEFT_SPIN_ROUNDS=0",
  "-DWEFT__LOOK=INT64_C(3600000000000)",
];
const THREAD_SANITIZER = ["-O1", "-g1", "-fsanitize=thread"];

/** How a program is built, and how much it is to do. */
interface Way {
  readonly words: readonly string[];
  readonly amount: number;
  readonly cpp?: boolean;
  /** Whether it is built without `--all`, by the first make. */
  readonly first?: boolean;
}

const WAYS: Readonly<Record<string, Way>> = {
  "C11": { words: ["-std=c11", "-O2"], amount: 10 },
  "C11, sleepy": { words: ["-std=c11", "-O1", ...SLEEPY], amount: 5 },
  "C++17, ThreadSanitizer": {
    words: ["-x", "c++", "-std=c++17", ...THREAD_SANITIZER],
    amount: 5,
    cpp: true,
  },
  "C11, sleepy, ThreadSanitizer": {
    words: ["-std=c11", ...SLEEPY, ...THREAD_SANITIZER],
    amount: 2,
    first: true,
  },
  "C17, Address- and UBSanitizer": {
    words: [
      "-std=c17",
      "-O0", // nothing wrong is optimized away
      "-g1",
      "-fsanitize=address,undefined",
      "-fno-sanitize-recover=all",
    ],
    amount: 5,
    first: true,
  },
};

const folder = thisFolder(import.meta.url);
const pool = new Pool(2);
const test = suite(`${folder}, natively`);

for (const [i, [c, cpp]] of MAKES.entries()) {
  for (const [title, way] of Object.entries(WAYS)) {
    if (!all() && !(i === 0 && way.first)) continue;
    const end = pool.run(() => play(c, cpp, title, way))
      .then(() => undefined, (error) => error);
    test(`${c}, ${title}`, async () => {
      const error = await end;
      if (error !== undefined) throw error;
    });
  }
}

/** Builds the program, and runs it until it says "done". */
async function play(c: string, cpp: string, title: string, way: Way) {
  const { words, amount } = way;
  const compiler = way.cpp ? cpp : c;
  if (title.includes("Sanitizer")) await needSanitizers(compiler);
  const file = await build({
    name: `${folder}-${c}-${title.replace(/\W/g, "")}`,
    compiler,
    words: [...WARNINGS, "-pthread", ...words],
    sources: [path.join(TESTS, folder, "native.c")],
  });
  let ended = await run(file, [`${amount}`], 250);
  if (ended.output.includes("unexpected memory mapping")) {
    // Some kernels place memory more randomly than the tool supports.
    ended = await run("setarch", ["-R", file, `${amount}`], 250);
  }
  const { code, output } = ended;
  assert.is(code, 0, `ended with ${code}:\n${output.slice(-4000)}`);
  assert.match(output, /^done$/m);
}
