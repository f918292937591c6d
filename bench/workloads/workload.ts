/**
 * The types of workloads and of their findings.
 *
 * @module
 */

/** One measurement: what was measured, and the figures. */
export type Finding = Readonly<Record<string, string | number>>;

/** Findings that belong together, as a table and a chart show them. */
export interface Table {
  /** As in `hash_pool_node`: the chart's file is named by it. */
  readonly id: string;
  readonly title: string;
  /** The keys of what was compared, of what it was varied by, of the figure. */
  readonly of: string;
  readonly by: string;
  readonly figure: string;
  /** The figure's unit. */
  readonly unit: string;
  /** How it is drawn: lines along `by`, or bars for these values of it. */
  readonly chart: "lines" | readonly (string | number)[];
  /** Whether the chart needs a logarithmic axis. */
  readonly logarithmic?: boolean;
  /** More figures of the findings whose `by` is `at`, by their headings. */
  readonly details?: {
    readonly at: string | number;
    readonly columns: Readonly<Record<string, string>>;
  };
  readonly findings: readonly Finding[];
}

/** The options with which a workload is run. */
export interface Scale {
  /** Whether everything is as small as possible, only to see that it works. */
  readonly tiny: boolean;
}

/**
 * How C is optimized. Where nothing is measured, it links in a third of the
 * time.
 */
export const optimization = ({ tiny }: Scale): string => tiny ? "-O1" : "-O3";

/** A workload. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  measure(scale: Scale): Promise<Table[]>;
}

/** The results that a run writes into `docs/workloads`. */
export interface Results {
  readonly name: string;
  readonly title: string;
  readonly date: string;
  readonly command: string;
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly tables: readonly Table[];
}

/** The findings' figure where `of` and `by` are these, if it was measured. */
export function figureOf(
  { findings, of, by, figure }: Table,
  one: string | number,
  at: string | number,
): number | undefined {
  const finding = findings.find((it) => it[of] === one && it[by] === at);
  const value = finding?.[figure];
  return value === undefined ? undefined : Number(value);
}

/** The values of a key, in the order they come. */
export function valuesOf({ findings }: Table, key: string) {
  return [...new Set(findings.map((finding) => finding[key]!))];
}
