/**
 * Compares two measurements, and tells a change from noise.
 *
 * @module
 */

import type { Row } from "./contest.ts";
import { figureOf, type Group } from "./results.ts";

/** What became of a figure. */
export interface Change {
  readonly group: string;
  readonly runtime: string;
  readonly name: string;
  readonly was: Row;
  readonly is: Row;
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
    return Object.entries(runs).flatMap(([runtime, { rows }]) =>
      rows.flatMap((is): Change[] => {
        const was = old?.runs[runtime]?.rows.find((it) => it.name === is.name);
        if (was === undefined) return [];
        const factor = differ(was, is) ? is.figure / was.figure : undefined;
        return [{ group, runtime, name: is.name, was, is, factor }];
      })
    );
  });
}

/** As people read it: the changes, and how many figures show none. */
export function told(changes: readonly Change[]): string {
  const real = changes.filter(({ factor }) => factor !== undefined);
  const lines = real.map(({ group, runtime, name, was, is, factor }) =>
    `${
      factor!.toFixed(2)
    } times the old figure: ${group}, ${runtime}: ${name}` +
    `\n      ${figureOf(was)} -> ${figureOf(is)}`
  );
  const same = changes.length - real.length;
  return [
    ...lines,
    `${real.length} of ${changes.length} figures changed; ${same} differ no ` +
    `more than their rounds do`,
  ].join("\n");
}
