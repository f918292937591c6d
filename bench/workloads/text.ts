/**
 * Tables as text.
 *
 * @module
 */

import { show } from "../contest.ts";
import { figureOf, type Table, valuesOf } from "./workload.ts";

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function grid(head: readonly string[], rows: readonly string[][]): string {
  const rule = head.map((_, i) => i === 0 ? "---" : "---:");
  return [row(head), row(rule), ...rows.map(row)].join("\n");
}

/** As in `1 thread`, `2 threads`, `main thread`. */
function named(by: string, at: string | number): string {
  if (typeof at === "string") return at;
  return at === 1 ? `1 ${by.replace(/s$/, "")}` : `${at} ${by}`;
}

/** The figures of a table: a line for each `of`, a column for each `by`. */
export function tableOf(table: Table): string {
  const columns = valuesOf(table, table.by);
  const rows = valuesOf(table, table.of).map((one) => [
    String(one),
    ...columns.map((at) => {
      const figure = figureOf(table, one, at);
      return figure === undefined ? "" : show(figure);
    }),
  ]);
  const head = `${table.title}: ${table.unit}`;
  return grid([head, ...columns.map((at) => named(table.by, at))], rows);
}

/** The other figures of one column, if there are any. */
export function detailsOf(table: Table): string | undefined {
  const { details, findings, of, by } = table;
  if (details === undefined) return undefined;
  const keys = Object.keys(details.columns)
    .filter((key) => findings.some((finding) => key in finding));
  const rows = findings.filter((finding) => finding[by] === details.at)
    .map((finding) => [
      String(finding[of]),
      ...keys.map((key) => {
        const value = finding[key];
        return value === undefined ? "" : show(Number(value));
      }),
    ]);
  const head = `${table.title}, ${named(by, details.at)}`;
  return grid([head, ...keys.map((key) => details.columns[key]!)], rows);
}
