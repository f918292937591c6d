// The pages of figures are written from counted and from measured results. What
// became old since is named, and is no failure: measuring takes long.
import * as fs from "node:fs";
import * as assert from "uvu/assert";
import { chart } from "../../bench/chart.ts";
import { compare, differ } from "../../bench/compare.ts";
import type { Row } from "../../bench/contest.ts";
import { page as benchmarks } from "../../bench/report.ts";
import { FOLDER, type Group, read } from "../../bench/results.ts";
import { changedSince } from "../../bench/sources.ts";
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

test("docs/benchmarks.md is written from docs/bench", () => {
  const file = new URL("../../docs/benchmarks.md", import.meta.url);
  const text = fs.readFileSync(file, "utf8");
  assert.ok(benchmarks(groups) === text, "run bench/report.ts");
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
    for (const [runtime, run] of Object.entries(runs)) {
      const changed = await changedSince(run);
      if (changed.length === 0) continue;
      stale.push(`${name} in ${runtime} (${changed.join(", ")})`);
    }
  }
  if (stale.length > 0) skip(`measured before a change: ${stale.join("; ")}`);
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
});
