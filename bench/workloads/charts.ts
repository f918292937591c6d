/**
 * Draws a table's chart, for light and for dark pages, by Vega-Lite.
 *
 * @module
 */

import * as esbuild from "esbuild";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { peer } from "../peers.ts";
import { type Table, valuesOf } from "./workload.ts";

/** The parts of Vega that are used here. */
interface Vega {
  vega: {
    parse(spec: unknown): unknown;
    View: new (flow: unknown, options: { renderer: "none" }) => {
      toSVG(): Promise<string>;
    };
  };
  lite: { compile(spec: unknown): { spec: unknown } };
}

const BUNDLE = fileURLToPath(
  new URL("../../.weft/workloads/vega.js", import.meta.url),
);

/** One file of Vega, as its own modules import each other by npm's rules. */
async function load(): Promise<Vega | undefined> {
  const home = peer("vega") && peer("vega-lite");
  if (home === undefined) return undefined;
  await esbuild.build({
    stdin: {
      contents: `export * as vega from "vega";
        export * as lite from "vega-lite";`,
      resolveDir: fileURLToPath(new URL(".", home)),
    },
    bundle: true,
    format: "esm",
    platform: "browser",
    minify: true,
    outfile: BUNDLE,
    logLevel: "error",
  });
  await esbuild.stop();
  return await import(`file://${BUNDLE}`);
}

let loading: Promise<Vega | undefined> | undefined;

/** The looks in which a chart is drawn. */
const THEMES = ["light", "dark"] as const;

/** A look. */
export type Theme = typeof THEMES[number];

const COLORS: Record<
  Theme,
  { ink: string; grid: string; paper: string; own: string }
> = {
  light: { ink: "#1f2328", grid: "#d1d9e0", paper: "#ffffff", own: "#0a58b8" },
  dark: { ink: "#e6edf3", grid: "#30363d", paper: "#0d1117", own: "#6cb0ff" },
};

/** The ways that use Weft, by their names. */
const OWN =
  "^(pool\\b|WorkCounter|CallRing|MpmcQueue|RecordRing|SlabPool|slots, \\d)";

/** How a way's name looks if it is Weft's, and otherwise. */
const ownOr = (own: string, other: string) => ({
  condition: { test: `test(/${OWN}/, datum.label)`, value: own },
  value: other,
});

function configOf(theme: Theme) {
  const { ink, grid, paper } = COLORS[theme];
  const text = { labelColor: ink, titleColor: ink, titleFontWeight: "normal" };
  return {
    background: paper,
    font: "system-ui, sans-serif",
    padding: 12,
    title: {
      color: ink,
      anchor: "start",
      frame: "bounds",
      fontWeight: "normal",
      fontSize: 14,
    },
    axis: {
      ...text,
      labelFontSize: 11,
      titleFontSize: 11,
      gridColor: grid,
      domainColor: grid,
      tickColor: grid,
    },
    legend: {
      ...text,
      labelFontSize: 11,
      titleFontSize: 11,
      orient: "bottom",
      columns: 2,
    },
    view: { stroke: null },
    range: {
      category: { scheme: theme === "light" ? "tableau10" : "set2" },
      // None of the three is as pale, or as dark, as the paper.
      ordinal: theme === "light"
        ? ["#74a9dc", "#2a6db3", "#0b3a6e"]
        : ["#b9d7f5", "#5c9fe0", "#2f6fb5"],
    },
  };
}

/**
 * The pixels of a chart, and of the labels beside it, as Vega guesses them: a
 * phone shows both.
 */
const WIDE = 190;
const LABELS = 260;

/** A title in lines that a phone shows. */
function linesOf(title: string): string[] {
  const lines = [""];
  for (const word of title.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length > 40) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** The powers of ten around `figures`: where a logarithmic axis ends. */
function decades(figures: readonly number[]): [number, number] {
  const least = Math.log10(Math.min(...figures));
  const most = Math.log10(Math.max(...figures));
  const from = Math.floor(least);
  return [10 ** from, 10 ** Math.max(Math.ceil(most), from + 1)];
}

/** The chart of a table, as Vega-Lite is told. */
function specOf(table: Table, theme: Theme) {
  const { of, by, figure, unit, chart, logarithmic, findings } = table;
  const lines = chart === "lines";
  const measured = findings.filter((finding) => figure in finding);
  const shown = lines
    ? measured
    : measured.filter((finding) => chart.includes(finding[by]!));
  const figures = shown.map((finding) => Number(finding[figure]));
  const domain = logarithmic ? decades(figures) : undefined;
  const size = {
    field: figure,
    type: "quantitative",
    title: domain ? `${unit} (log)` : unit,
    scale: domain ? { type: "log", domain } : { type: "linear" },
    stack: null, // bars of different colours stand beside each other
  };
  const along = { field: by, type: "ordinal", title: by, sort: null };
  const of_ = { field: of, type: "nominal", title: null };
  const order = valuesOf(table, of);
  const lined = {
    width: 340,
    height: 260,
    mark: { type: "line", point: true, strokeWidth: 2 },
    encoding: {
      x: { ...along, axis: { labelAngle: 0 } },
      y: size,
      color: { ...of_, sort: order },
    },
  };
  const barred = {
    width: WIDE,
    height: { step: 9 },
    // A logarithmic axis has no 0, from which a bar could begin.
    mark: domain
      ? { type: "point", filled: true, size: 60, opacity: 1 }
      : "bar",
    encoding: {
      y: {
        ...of_,
        sort: order,
        axis: {
          labelLimit: LABELS,
          grid: true,
          labelColor: ownOr(COLORS[theme].own, COLORS[theme].ink),
          labelFontWeight: ownOr("bold", "normal"),
        },
      },
      yOffset: { field: by, type: "ordinal", sort: null },
      x: size,
      color: along,
    },
  };
  return {
    title: linesOf(table.title),
    data: { values: shown },
    config: configOf(theme),
    ...lines ? lined : barred,
  };
}

/** The chart as SVG; undefined if Vega cannot be installed. */
async function draw(
  table: Table,
  theme: Theme,
): Promise<string | undefined> {
  const loaded = await (loading ??= load());
  if (loaded === undefined) return undefined;
  const { vega, lite } = loaded;
  const { spec } = lite.compile(specOf(table, theme));
  const view = new vega.View(vega.parse(spec), { renderer: "none" });
  return await view.toSVG() + "\n";
}

/** Draws all charts of `tables` into a folder. */
export async function drawAll(
  tables: readonly Table[],
  folder: URL,
): Promise<void> {
  for (const table of tables) {
    for (const theme of THEMES) {
      const svg = await draw(table, theme);
      if (svg === undefined) return console.log("no charts: Vega is missing");
      fs.writeFileSync(new URL(`${table.id}-${theme}.svg`, folder), svg);
    }
  }
}
