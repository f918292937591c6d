// it is long
// The pages of figures are written from counted and from measured results. What
// became old since is named, and is no failure: measuring takes long.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { chart, unknown } from "../../bench/chart.ts";
import { compare, differ, told } from "../../bench/compare.ts";
import type { Row } from "../../bench/contest.ts";
import { noteOn, NOTES } from "../../bench/notes.ts";
import { pages } from "../../bench/pages.ts";
import { page as benchmarks } from "../../bench/report.ts";
import {
  FOLDER,
  type Group,
  type Measurement,
  read,
} from "../../bench/results.ts";
import { changedSince, hashesOf } from "../../bench/sources.ts";
import { FILE, page as scaling } from "../../bench/traffic.ts";
import { skip, suite } from "../_run/harness.ts";

const test = suite("figures");

test("docs/scaling.md has the counts of the present code", () => {
  const text = fs.readFileSync(FILE, "utf8");
  assert.ok(scaling(text) === text, "run `deno task traffic`");
});

const groups = read(FOLDER);

test("the README's chart is drawn from docs/bench", () => {
  const file = new URL("../../docs/figures.svg", import.meta.url);
  const text = fs.readFileSync(file, "utf8");
  assert.ok(chart(groups) === text, "run bench/report.ts");
});

test("each row of the chart was measured: none is lost when it is renamed", () => {
  assert.equal(unknown(groups), []);
});

test("figures within the text of pages are those of docs/bench", () => {
  for (const [file, text] of pages(groups)) {
    const same = fs.readFileSync(file, "utf8") === text;
    assert.ok(same, `${path.basename(file)}: run bench/report.ts`);
  }
});

test("docs/benchmarks.md is written from docs/bench", () => {
  const file = new URL("../../docs/benchmarks.md", import.meta.url);
  const text = fs.readFileSync(file, "utf8");
  assert.ok(benchmarks(groups) === text, "run bench/report.ts");
});

test("each note about a figure is about a row that exists", () => {
  for (const note of NOTES) {
    const group = groups.find(({ name }) => name === note.group);
    const rows = Object.values(group?.runs ?? {}).flatMap(({ rows }) => rows);
    const about = rows.filter(({ name }) => noteOn(note.group, name) === note);
    assert.ok(about.length > 0, `${note.group}: ${note.rows}`);
  }
});

test("each measurement says how sure it is", () => {
  for (const { name, runs } of groups) {
    for (const [runtime, run] of Object.entries(runs)) {
      for (const row of run.rows) {
        const text = `${name}, ${runtime}: ${row.name}`;
        assert.ok(row.low! <= row.figure && row.figure <= row.high!, text);
        assert.ok(row.rounds! >= 1, text);
      }
    }
  }
});

test("docs/bench was measured with the present code", async () => {
  const stale: string[] = [];
  for (const { name, runs } of groups) {
    const old: string[] = [];
    for (const [runtime, run] of Object.entries(runs)) {
      if ((await changedSince(name, run)).length > 0) old.push(runtime);
    }
    if (old.length > 0) stale.push(`${name} (${old.join(", ")})`);
  }
  if (stale.length > 0) skip(`measured before a change: ${stale.join("; ")}`);
});

test("the page says which figures are older than the code", () => {
  const [{ name, runs }] = groups as [Group];
  const [[runtime, run]] = Object.entries(runs) as [[string, Measurement]];
  const { old: _, ...fresh } = run;
  const said = (run: Measurement) =>
    benchmarks([{ name, runs: { [runtime]: run } }]).includes(
      "**older than the code**",
    );
  assert.is(said({ ...fresh, old: true }), true);
  assert.is(said(fresh), false);
});

test("the code that a bench runs decides whether its figures are old", async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-figures-"));
  const write = (name: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  };
  const changed = async (name: string, text: string) => {
    const before = await hashesOf("some", folder);
    write(name, text);
    const after = await hashesOf("some", folder);
    return Object.keys(after).filter((file) => after[file] !== before[file]);
  };
  const layout = `export const USED = 1;\nexport const OTHER = 2;\n`;
  write("bench/contest.ts", "export const contest = 0;\n");
  write(
    "bench/some_bench.ts",
    `import { run } from "../mod.ts";\nexport const rows = () => run(` +
      `new URL("./_some.ts", import.meta.url));\n` +
      `export const C = new URL("./some.cpp", import.meta.url);\n`,
  );
  write("bench/some.cpp", "weft_thing thing;\n");
  write("wasm/weft/thing.h", "typedef int weft_thing;\n");
  write("bench/_some.ts", `export const push = () => 1;\n`);
  write("mod.ts", `export { run } from "./run.ts";\n`);
  const run = `import { USED } from "./layout.ts";\n` +
    `export const run = (it: unknown) => [USED, it];\n`;
  write("run.ts", run);
  write("layout.ts", layout);
  try {
    const header = "wasm/weft/thing.h";
    assert.equal(await changed(header, "typedef long weft_thing;\n"), [header]);
    const native = "bench/some.cpp";
    assert.equal(await changed(native, "static weft_thing it;\n"), [native]);
    assert.equal(await changed("layout.ts", `${layout}// more\n`), []);
    const more = `${layout}export const run = 3;\n`;
    assert.equal(await changed("layout.ts", more), []);
    const other = more.replace("USED = 1", "USED = 4");
    assert.equal(await changed("layout.ts", other), ["layout.ts"]);
    const thread = `export const push = () => 2;\n`;
    assert.equal(await changed("bench/_some.ts", thread), ["bench/_some.ts"]);
    // The bundler keeps comments within expressions, and legal ones.
    const list = "[ // one\n USED, /* two */ it]";
    const commented = run.replace("[USED, it]", list)
      .replace("export", "/*! legal */\nexport");
    assert.equal(await changed("run.ts", commented), []);
    const swapped = commented.replace("USED, /* two */ it", "it, USED");
    assert.equal(await changed("run.ts", swapped), ["run.ts"]);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

const row = (low: number, figure: number, high: number): Row => ({
  name: "a figure",
  unit: "x",
  from: "",
  low,
  figure,
  high,
  rounds: 5,
});

test("a change is told from noise by the rounds", () => {
  const old = row(1, 1.1, 1.2);
  assert.is(differ(old, row(1.19, 1.3, 1.4)), false);
  assert.is(differ(old, row(1.21, 1.3, 1.4)), true);
  assert.is(differ(old, row(0.5, 0.7, 0.99)), true);
  const group = (one: Row): Group[] => [{
    name: "some",
    runs: {
      Deno: {
        date: "",
        commit: "",
        machine: "",
        versions: {},
        seconds: 1,
        sources: {},
        rows: [one],
      },
    },
  }];
  const [change] = compare(group(old), group(row(2.1, 2.2, 2.4)));
  assert.ok(Math.abs(change!.factor! - 2) < 1e-9);
  assert.is(compare(group(old), group(old))[0]!.factor, undefined);
  assert.equal(compare([], group(old)), []);
  assert.match(told([change!]), "changed: 2.00 times the old figure: some");
  assert.match(told([change!]), "Of 1 figures, 1 changed, and 0 did not");
  assert.match(told([]), "no figure in common");
  const busy = { ...change!, is: { ...change!.is, from: "1/3 turns quiet)" } };
  assert.match(told([busy]), "unsure: 2.00 times the old figure");
  assert.match(told([busy]), "Of 1 figures, 0 changed, and 0 did not");
});
