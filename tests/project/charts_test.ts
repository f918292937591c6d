// The checked-in charts, as they are drawn: each bar is as long as its figure
// says, each point as high or as far, and none is missing.
import * as fs from "node:fs";
import * as assert from "uvu/assert";
import type { Results, Table } from "../../bench/workloads/workload.ts";
import { suite } from "../_run/harness.ts";

const test = suite("charts");

const FOLDER = new URL("../../docs/workloads/", import.meta.url);

const tables = fs.readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .flatMap((file): readonly Table[] => {
    const results: Results = JSON.parse(
      fs.readFileSync(new URL(file, FOLDER), "utf8"),
    );
    return results.tables;
  });

/** A bar or a point of a chart. */
interface Mark {
  readonly figure: number;
  /** Pixels, from where the axis begins if it is a bar. */
  readonly size: number;
}

/** All marks of a chart whose labels name a figure. */
function marksOf(svg: string, { chart, unit, logarithmic }: Table): Mark[] {
  const marks = svg.matchAll(/<path aria-label="([^"]*)"([^>]*)>/g);
  const title = logarithmic ? `${unit} (log)` : unit;
  return [...marks].flatMap(([, label, rest]) => {
    const field = label!.split("; ").find((it) => it.startsWith(`${title}: `));
    const figure = field?.slice(title.length + 2);
    const size = chart === "lines"
      ? /roledescription="point".*translate\([^,]*,([\d.e+-]+)\)/.exec(rest!)
      : logarithmic
      ? /roledescription="point".*translate\(([\d.e+-]+),/.exec(rest!)
      : /roledescription="bar".* d="M[\d.e+-]+,[\d.e+-]+h([\d.e+-]+)/
        .exec(rest!);
    if (figure === undefined || size === null) return [];
    return [{ figure: Number(figure), size: Number(size[1]) }];
  });
}

/** The figures that a table's chart shows. */
function figuresOf({ chart, findings, figure, by }: Table): number[] {
  return findings
    .filter((finding) =>
      figure in finding && (chart === "lines" || chart.includes(finding[by]!))
    )
    .map((finding) => Number(finding[figure]));
}

const ascending = (a: number, b: number) => a - b;

/** Asserts that the pixels grow with `along` by one scale. */
function assertScale(
  marks: readonly Mark[],
  along: (figure: number) => number,
) {
  const least = marks.reduce((a, b) => a.figure < b.figure ? a : b);
  const most = marks.reduce((a, b) => a.figure > b.figure ? a : b);
  const scale = (most.size - least.size) /
    (along(most.figure) - along(least.figure));
  for (const { figure, size } of marks) {
    const expected = least.size + scale * (along(figure) - along(least.figure));
    assert.ok(Math.abs(size - expected) < 0.5, `${figure}: ${size} px`);
  }
}

for (const table of tables) {
  const { id, chart, logarithmic } = table;
  for (const theme of ["light", "dark"]) {
    test(`${id}-${theme}.svg shows each figure at its size`, () => {
      const svg = fs.readFileSync(
        new URL(`${id}-${theme}.svg`, FOLDER),
        "utf8",
      );
      const marks = marksOf(svg, table);
      const figures = figuresOf(table);
      assert.ok(figures.length > 1);
      assert.equal(
        marks.map(({ figure }) => figure).sort(ascending),
        figures.toSorted(ascending),
      );
      assertScale(marks, logarithmic ? Math.log10 : (figure) => figure);
      if (logarithmic) assert.match(svg, "(log)");
      if (chart === "lines" || logarithmic) return;
      for (const { figure, size } of marks) {
        assert.ok(size >= 1, `the bar of ${figure} is ${size} pixels long`);
      }
      // The bars begin where the axis does: at 0.
      const [a, b] = [
        marks[0]!,
        marks.find((m) => m.figure !== marks[0]!.figure)!,
      ];
      assert.ok(Math.abs(a.size / a.figure / (b.size / b.figure) - 1) < 0.01);
    });

    test(`${id}-${theme}.svg is legible on a phone`, () => {
      const file = new URL(`${id}-${theme}.svg`, FOLDER);
      const svg = fs.readFileSync(file, "utf8");
      const [, width] = /viewBox="0 0 ([\d.]+) /.exec(svg)!;
      assert.ok(Number(width) <= 500, `${width} pixels wide`);
      const sizes = [...svg.matchAll(/font-size="([\d.]+)px"/g)]
        .map(([, size]) => Number(size));
      assert.ok(Math.min(...sizes) >= 11, `${Math.min(...sizes)} pixels`);
    });
  }
}
