// it explores
// Tests that the tester finds what docs/race_testing.md shows.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { find } from "../../docs/race_example.ts";
import { Mutex } from "../../mod.ts";
import { race } from "../../race/mod.ts";
import { GOALS } from "./corpus/goals.ts";
import { OPTIONS } from "../../race/options.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race docs");
const read = (name: string) =>
  fs.readFileSync(
    fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)),
    "utf8",
  );

test("the example is found, and its picture is up to date", () => {
  const { kind, schedule, failure } = find();
  assert.is(kind, "lost-wakeup");
  assert.is(failure.svg(), read("race_example.svg"));
  const page = read("race_testing.md");
  assert.ok(page.includes(`"${schedule}"`), schedule);
});

test("the guide says how many states whole operations leave", () => {
  const at = Mutex.byteLength();
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(at + 4),
    agent: (memory) => ({
      mutex: new Mutex(memory),
      sum: new Int32Array(memory, at, 1),
    }),
    ops: {
      add: {
        run: ({ mutex, sum }) => mutex.run(() => void (sum[0]! += 1)),
      },
    },
  });
  const calls = [["add"], ["add"]] as const;
  const options = { primitives: "atomic" } as const;
  const { complete, states } = race.check(spec, calls, calls, calls, options);
  assert.ok(complete);
  const said = `${states.toLocaleString("en")} states`;
  assert.ok(read("guides/testing.md").includes(said), said);
});

test("the code shown is the code of the example", () => {
  const source = read("race_example.ts").replace(/^ {2}/gm, "");
  const [, shown] = /```ts ignore\n(.*?)```/s.exec(read("race_testing.md"))!;
  for (const line of shown!.split("\n")) assert.ok(source.includes(line), line);
});

test("the reference names each option and each field of a specification", () => {
  const page = read("race_reference.md");
  const source = (name: string) => read(`../race/${name}`);
  const fields = (text: string, type: string) => {
    const [, body] = RegExp(`interface ${type}\\b.*?\\{\n(.*?)^\\}`, "ms")
      .exec(text)!;
    const found = [...body!.matchAll(/^ {2}readonly (\w+)\??:/gm)];
    assert.ok(found.length > 2, type);
    return found.map(([, name]) => name!);
  };
  const names = [
    ...fields(source("report/result.ts"), "Options"),
    ...fields(source("property.ts"), "PropertyOptions"),
    ...fields(source("stress.ts"), "StressOptions"),
    ...fields(source("spec.ts"), "SpecDefinition"),
    ...fields(source("spec.ts"), "OperationSpec"),
  ];
  const missing = names.filter((name) =>
    !RegExp(`\`[^\`]*\\b${name}\\b[^\`]*\``).test(page)
  );
  assert.equal(missing, []);
});

test("each option is known to the check of options", () => {
  const source = read("../race/report/result.ts");
  const [, body] = /interface Options \{\n(.*?)^\}/ms.exec(source)!;
  const names = [...body!.matchAll(/^ {2}readonly (\w+)\?:/gm)]
    .map(([, name]) => name!);
  assert.equal(names.toSorted(), Object.keys(OPTIONS).toSorted());
});

test("the table of goals has the programs, and each ran twice the same", () => {
  const page = read("race_comparison.md");
  const [, table] = /<!-- goals -->\n(.*?)<!-- end -->/s.exec(page)!;
  const rows = [...table!.matchAll(/^\| (.*) \|$/gm)].slice(2)
    .map(([, row]) => row!.split(" | ").map((cell) => cell.trim()));
  const programs = rows.slice(0, GOALS.length);
  assert.equal(
    programs.map(([name, , , , , goal]) => [name, goal]),
    GOALS.map(({ name, goal }) => [name, goal]),
  );
  for (const [name, states, complete, , same] of programs) {
    assert.match(states!, /^[\d,]+$/, name);
    assert.ok(complete === "yes" || complete === "no", name);
    assert.is(same, "yes", name);
  }
  assert.equal(rows.slice(GOALS.length).map(([name]) => name), [
    "steps a second",
    "the same, two searches at once",
  ]);
});
