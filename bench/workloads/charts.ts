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

const COLORS: Record<Theme, { ink: string; grid: string; paper: string }> = {
  light: { ink: "#1f2328", grid: "#d1d9e0", paper: "#ffffff" },
  dark: { ink: "#e6edf3", grid: "#30363d", paper: "#0d1117" },
};

function configOf(theme: Theme) {
  const { ink, grid, paper } = COLORS[theme];
  const text = { labelColor: ink, titleColor: ink, titleFontWeight: "normal" };
  return {
    background: paper,
    font: "system-ui, sans-serif",
    padding: 12,
    title: { color: ink, anchor: "start", fontWeight: "normal", fontSize: 14 },
    axis: { ...text, gridColor: grid, domainColor: grid, tickColor: grid },
    legend: { ...text, labelLimit: 240 },
    view: { stroke: null },
    range: { category: { scheme: theme === "light" ? "tableau10" : "set2" } },
  };
}

/** The powers of ten around `figures`: where a logarithmic axis ends. */
function decades(figures: readonly number[]): [number, number] {
  const least = Math.log10(Math.min(...figures));
  const most = Math.log10(Math.max(...figures));
  const from = Math.ceil(least) - 1; // below the least: its bar is seen
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
    title: unit,
    scale: domain ? { type: "log", domain } : { type: "linear" },
    // Vega stacks bars of different colours: on a logarithmic axis, that
    // leaves bars of no length.
    stack: null,
  };
  const along = { field: by, type: "ordinal", title: by, sort: null };
  const of_ = { field: of, type: "nominal", title: null };
  const order = valuesOf(table, of);
  const lined = {
    width: 480,
    height: 280,
    mark: { type: "line", point: true, strokeWidth: 2 },
    encoding: {
      x: { ...along, axis: { labelAngle: 0 } },
      y: size,
      color: { ...of_, sort: order },
    },
  };
  const barred = {
    width: 480,
    height: { step: 9 },
    mark: "bar",
    encoding: {
      y: { ...of_, sort: order, axis: { labelLimit: 240 } },
      yOffset: { field: by, type: "ordinal", sort: null },
      x: size,
      // A logarithmic axis has no 0, so bars begin where the axis begins.
      ...domain ? { x2: { datum: domain[0] } } : {},
      color: along,
    },
  };
  return {
    title: table.title,
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
