/**
 * Compares two measurements, and tells a change from noise.
 *
 * @module
 */

import { disturbed, type Row } from "./contest.ts";
import { figureOf, type Group, type Measurement } from "./results.ts";

/** What became of a figure. */
export interface Change {
  readonly group: string;
  readonly runtime: string;
  readonly name: string;
  readonly was: Row;
  readonly is: Row;
  /** What the two measurements do not have in common: machine, versions. */
  readonly apart: readonly string[];
  /**
   * The new figure divided by the old one if the two differ beyond noise;
   * undefined if they do not.
   */
  readonly factor: number | undefined;
}

/**
 * Whether two figures differ by more than their rounds do among themselves: no
 * round of one lies within the rounds of the other. If nothing changed, this
 * happens to 1 of 126 figures of five rounds each.
 */
export function differ(was: Row, is: Row): boolean {
  const [low, high] = [was.low ?? was.figure, was.high ?? was.figure];
  return (is.low ?? is.figure) > high || (is.high ?? is.figure) < low;
}

/** Compares the figures that both results have. */
export function compare(
  before: readonly Group[],
  after: readonly Group[],
): Change[] {
  return after.flatMap(({ name: group, runs }) => {
    const old = before.find(({ name }) => name === group);
    return Object.entries(runs).flatMap(([runtime, run]) => {
      const before = old?.runs[runtime];
      if (before === undefined) return [];
      const apart = differences(before, run);
      return run.rows.flatMap((is): Change[] => {
        const was = before.rows.find((it) => it.name === is.name);
        if (was === undefined) return [];
        const factor = differ(was, is) ? is.figure / was.figure : undefined;
        return [{ group, runtime, name: is.name, was, is, apart, factor }];
      });
    });
  });
}

/** As in `Node 20.20.2 -> 24.1.0`. */
function differences(was: Measurement, is: Measurement): string[] {
  const names = Object.keys(is.versions).filter((name) => name in was.versions);
  return [
    ...was.machine === is.machine ? [] : [`${was.machine} -> ${is.machine}`],
    ...names.filter((name) => was.versions[name] !== is.versions[name])
      .map((name) => `${name} ${was.versions[name]} -> ${is.versions[name]}`),
  ];
}

/** As people read it: the changes, and how many figures show none. */
export function told(changes: readonly Change[]): string {
  if (changes.length === 0) return "The two results have no figure in common.";
  const apart = changes.filter(({ factor }) => factor !== undefined);
  const unsure = apart.filter(({ was, is }) => disturbed(was) || disturbed(is));
  const sure = apart.filter((change) => !unsure.includes(change));
  const same = changes.length - apart.length;
  const others = [...new Set(changes.flatMap(({ apart }) => apart))];
  return [
    ...sure.map((change) => `changed: ${lineOf(change)}`),
    ...unsure.map((change) => `unsure: ${lineOf(change)}`),
    ...others.map((what) => `not the same in both results: ${what}`),
    `Of ${changes.length} figures, ${sure.length} changed, and ${same} did ` +
    `not: a figure changed if no round of the new result is as in a round of ` +
    `the old one.`,
    ...unsure.length === 0 ? [] : [
      `${unsure.length} differ, but other programs disturbed the measurement: ` +
      `measure again on a quiet machine.`,
    ],
  ].join("\n");
}

function lineOf({ group, runtime, name, was, is, factor }: Change): string {
  return `${factor!.toFixed(2)} times the old figure: ${group}, ${runtime}: ` +
    `${name}\n      ${figureOf(was)} -> ${figureOf(is)}`;
}
