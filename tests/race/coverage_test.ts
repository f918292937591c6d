// it explores
// What an exploration reached, and what it never reached.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import * as assert from "uvu/assert";
import { type Coverage, race } from "../../race/mod.ts";
import { Counts } from "../../race/report/coverage.ts";
import { suite } from "../_run/harness.ts";
import { CoveredLock } from "./fixtures/covered_lock.ts";

const test = suite("race coverage");

const lock = race.spec({
  memory: () => new SharedArrayBuffer(4),
  agent: (memory) => new CoveredLock(memory),
  ops: {
    use: { run: (lock) => (lock.lock(), lock.unlock()) },
    tryFor: {
      run: (lock, ms: number) => void (lock.lock(ms) && lock.unlock()),
    },
  },
});

/** The outcomes of an operation, and whether there were any. */
function outcomes({ reached }: Coverage, name: string) {
  const found = reached.filter(({ operation }) => operation === name);
  assert.is(found.length, 1, name);
  const { outcomes } = found[0]!;
  return Object.keys(outcomes).filter((key) => outcomes[key]! > 0).sort();
}

test("an agent alone meets no contention, and that is told", () => {
  const { coverage } = race.check(lock, [["use"]], { coverage: true });
  assert.equal(outcomes(coverage!, "compareExchange"), ["wrote"]);
  assert.equal(coverage!.never, [
    "covered_lock.ts:12: compareExchange never failed",
    "covered_lock.ts:13: wait was never reached",
    "covered_lock.ts:22: notify never woke anybody",
    "covered_lock.ts:27: load was never reached",
  ]);
  assert.equal(
    coverage!.reached.map(({ site, operation }) => `${site} ${operation}`),
    [
      "covered_lock.ts:12 compareExchange",
      "covered_lock.ts:21 store",
      "covered_lock.ts:22 notify",
    ],
  );
});

for (const options of [{}, { sample: "random", runs: 200 }] as const) {
  test(`two agents sleep and wake: ${JSON.stringify(options)}`, () => {
    const result = race.check(lock, [["use"]], [["use"]], {
      ...options,
      coverage: true,
    });
    const { coverage } = result;
    assert.equal(outcomes(coverage!, "compareExchange"), ["failed", "wrote"]);
    assert.equal(outcomes(coverage!, "wait"), ["not equal", "slept"]);
    assert.equal(outcomes(coverage!, "notify"), ["woke", "woke nobody"]);
    assert.equal(coverage!.never, [
      "covered_lock.ts:27: load was never reached",
    ]);
  });
}

test("a timeout is reached, or told if it was not", () => {
  const program = [[["tryFor", 5]], [["use"]]] as const;
  const may = race.check(lock, ...program, { coverage: true, rescue: true });
  assert.ok(outcomes(may.coverage!, "wait").includes("timed out"));
  const not = race.check(lock, ...program, { coverage: true, timeouts: 0 });
  assert.ok(
    not.coverage!.never.includes("covered_lock.ts:13: wait never timed out"),
    not.coverage!.never.join("\n"),
  );
});

test("the states are those of a search without it", () => {
  const states = (coverage: boolean) =>
    race.check(lock, [["use"], ["use"]], [["use"]], { coverage }).states;
  assert.is(states(true), states(false));
  const plain = race.check(lock, [["use"]], [["use"]]);
  assert.is(plain.coverage, undefined);
});

test("assert adds up what its programs reached", () => {
  const options = { programs: 15, ops: 2, seed: 1 };
  const uses = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new CoveredLock(memory),
    ops: { use: { run: (lock) => (lock.lock(), lock.unlock()) } },
  });
  const { coverage } = race.assert(uses, { ...options, coverage: true });
  assert.equal(coverage!.never, [
    "covered_lock.ts:27: load was never reached",
  ]);
  assert.is(race.assert(uses, options).coverage, undefined);
});

test("files may have spaces in their names", () => {
  const reached = [
    { site: "my file.ts:7", operation: "load", outcomes: { done: 1 } },
    { site: "my file.ts:8", operation: "plain read", outcomes: { done: 2 } },
  ];
  const counts = new Counts();
  counts.include({ reached, never: [] });
  assert.equal(counts.told().reached, reached);
});

test("folders may have brackets and spaces in their names", async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft (a) [b] 100% "));
  try {
    const file = path.join(folder, "word.mjs");
    const code = (name: string) => `Atomics.${name}(words, 0);\n`;
    fs.writeFileSync(
      file,
      `export const use = (words, never) =>\n  never\n    ? ${
        code("load").replace(";", "")
      }    : ${code("notify")}`,
    );
    const { use } = await import(pathToFileURL(file).href);
    const word = race.spec({
      memory: () => new SharedArrayBuffer(4),
      agent: (memory) => new Int32Array(memory),
      ops: { use: { run: (words) => void use(words, false) } },
    });
    const { coverage } = race.check(word, [["use"]], { coverage: true });
    assert.equal(coverage!.never, [
      "word.mjs:3: load was never reached",
      "word.mjs:4: notify never woke anybody",
    ]);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
