// What the race tester's verdicts depend on, and when one is known.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { bareC } from "./bare.ts";
import { find } from "./files.ts";
import { TESTS } from "./folders.ts";
import { suite } from "./harness.ts";
import type { Outcome } from "./process.ts";
import { keyOf, knownOf, textsOf } from "./verdicts.ts";

const test = suite("verdicts");

const PROJECT = path.join(TESTS, "..");

const fileOf = (name: string) => find(name).find((file) => file.name === name)!;

/** The files on which a row depends. */
const dependencies = (name: string) =>
  [...textsOf(fileOf(name)).keys()].map((file) => path.relative(PROJECT, file));

/** Rows, what each depends on, and what has nothing to do with it. */
const ROWS: readonly (readonly [string, readonly string[], string])[] = [
  ["latch/scenarios", ["race/mod.ts", "primitives/_wait/wait.ts"], "rw_lock"],
  ["condition/scenarios", ["primitives/mutex.ts"], "rw_lock"],
  ["latch/mutants", ["tests/latch/scenarios.ts"], "rw_lock"],
  ["_queue/mutants", ["tests/spsc_queue/scenarios.ts"], "rw_lock"],
  ["recover/scenarios", ["primitives/rw_lock.ts"], "striped_counter"],
  ["pool/scenarios", ["tests/pool/parts.ts"], "striped_counter"],
];

for (const [row, files, other] of ROWS) {
  test(`${row} depends on what it imports, and names`, () => {
    const found = dependencies(row);
    const [folder, part] = row.split("/");
    const room = folder === "recover" ? "tools/" : "";
    const own = `primitives/${room}${folder}.ts`;
    const all = [`tests/${folder}/${part}.ts`];
    if (fs.existsSync(path.join(PROJECT, own)) && folder !== "pool") {
      all.push(own);
    }
    for (const file of [...all, ...files]) {
      assert.ok(found.includes(file), `not on ${file}: ${found.join("\n")}`);
    }
    assert.not(found.includes(`primitives/${other}.ts`), `on ${other}`);
  });
}

test("a row of C depends on every header, and on who calls it", () => {
  const found = dependencies("latch/scenarios_c");
  for (const file of ["weft.h", "tests/mutex/kind.ts"]) {
    assert.ok(found.some((name) => name.endsWith(file)), file);
  }
});

/** Whether a row has another key once `from` stands as `to` in a text. */
async function matters(row: string, name: string, from: string, to: string) {
  const file = fileOf(row);
  const texts = textsOf(file);
  const [path, text] = [...texts].find(([path]) => path.endsWith(name))!;
  assert.is(text.split(from).length, 2, `${name}: ${from}`);
  const changed = new Map(texts).set(path, text.replace(from, to));
  return await keyOf(file, changed) !== await keyOf(file, texts);
}

/** A line with a word that decides, and one that does not. */
const LINE = "const WAITING_BIT = 1; // LATCH_BITS.WAITING";
const LINE_OF_C = "#define WEFT_LATCH_WAITING_BIT 1 /* LATCH_BITS.WAITING */";

test("a comment or a type decides nothing, unless mistakes quote it", async () => {
  const latch = "primitives/latch.ts";
  const changes = [
    [latch, LINE, LINE.replace("1; //", "1; // more:"), false],
    [latch, LINE, LINE.replace("_BIT =", "_BIT: number ="), false],
    [latch, LINE, LINE.replace("1;", "2;"), true],
  ] as const;
  for (const [name, from, to, does] of changes) {
    assert.is(await matters("latch/scenarios", name, from, to), does, to);
    assert.is(await matters("latch/mutants", name, from, to), true, to);
  }
});

test("nor does a comment of C, but a text in quotes does", async () => {
  const changes = [
    [LINE_OF_C.replace("/*", "/* more:"), false],
    [LINE_OF_C.replace("BIT 1", "BIT 2"), true],
    [LINE_OF_C.replace("BIT 1", 'BIT "/* a text */"'), true],
  ] as const;
  for (const [to, does] of changes) {
    assert.is(
      await matters("latch/scenarios_c", "weft.h", LINE_OF_C, to),
      does,
    );
    assert.is(await matters("latch/mutants_c", "weft.h", LINE_OF_C, to), true);
  }
  const quoted = LINE_OF_C.replace("BIT 1", 'BIT "/* a text */"');
  const other = quoted.replace("a text", "another");
  assert.is.not(bareC(quoted), bareC(other));
  assert.is(bareC('1 /* " */ + /* \' */ 2 // "'), "1 + 2 ");
});

test("a verdict is known while nothing has changed, and every test passed", async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-verdicts-"));
  let runs = 0;
  const file = fileOf("latch/scenarios");
  const judge = async (trusts: boolean, failed: number, of = file) => {
    const outcome: Outcome = {
      ...{ passed: 3, failed, skipped: 0, cut: 2, reasons: {} },
      ...{ problem: "", output: "" },
    };
    const known = await knownOf(of, folder);
    if (trusts && known.outcome !== undefined) return known.outcome;
    runs++;
    known.keep(outcome);
    return outcome;
  };
  try {
    await judge(true, 1);
    await judge(true, 0);
    assert.is(runs, 2); // what failed was not kept
    const { passed, cut } = await judge(true, 1);
    assert.equal([passed, cut], [3, 2]);
    assert.is(runs, 2);
    await judge(false, 0);
    assert.is(runs, 3);
    const [name] = fs.readdirSync(folder);
    const kept = path.join(folder, name!);
    fs.writeFileSync(kept, fs.readFileSync(kept, "utf8").replace(/.":/, 'x":'));
    await judge(true, 0);
    assert.is(runs, 4); // of another content
    // Real threads take another way each time.
    const unit = fileOf("latch/unit");
    await judge(true, 0, unit);
    await judge(true, 0, unit);
    assert.is(runs, 6);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
