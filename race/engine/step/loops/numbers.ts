/**
 * Which numbers of rounds are tried of loops that may count them.
 *
 * @module
 */
import type { Turn } from "./rounds.ts";

/** How many numbers of rounds are tried, from the first on. */
export const FIRST = 20;

/** Further numbers of rounds that are tried. */
export const MORE: readonly number[] = [24, 31, 32, 33, 50, 63, 64, 65];

/**
 * Numbers that take long. They are tried once of some loops and the operation
 * at which the agent then is, whatever its values are: a loop that counts as
 * far as that does so for any values. In a search that is not complete, they
 * and `MORE` are tried once of some loops.
 */
export const MANY: readonly number[] = [
  ...[99, 100, 101, 127, 128, 129, 255, 256, 257, 1000],
];

/** All numbers that do not take longer, of the first `PLACES` of these. */
export const ALL: readonly number[] = Array.from(
  { length: 130 },
  (_, i) => i + 1,
);

/**
 * Of two loops of a history, so many numbers of rounds are tried each, in all
 * pairs. `PAIR_RUNS` runs of agents are spent on that.
 */
const PAIRED = 8;

/** How many loops of a history are tried one by one: the last ones. */
export const LOOPS = 4;

/** The numbers of rounds by which it is seen how far a loop counts. */
export const FAR: readonly number[] = [
  ...[200, 255, 256, 257, 500, 512, 513, 999, 1000, 1001],
];

/** Numbers from `from` on. */
export const first = (from: number, count: number): number[] =>
  Array.from({ length: Math.max(0, count) }, (_, i) => from + i);

/** Those numbers that are not among the first ones from `from` on. */
export const above = (from: number, numbers: readonly number[]): number[] =>
  numbers.filter((n) => n >= from + FIRST);

/** The last loops of a history one by one, and all together. */
export function choicesOf(all: readonly Turn[]): (readonly Turn[])[] {
  const turns = all.slice(-LOOPS);
  return turns.length === 1 ? [turns] : [...turns.map((turn) => [turn]), turns];
}

/** Each two of the last loops of a history. */
export function pairsOf(all: readonly Turn[]): (readonly Turn[])[] {
  const turns = all.slice(1 - LOOPS);
  return turns.flatMap((a, i) => turns.slice(i + 1).map((b) => [a, b]));
}

/** Two different numbers of rounds, for two loops. */
export function pairs([a, b]: readonly Turn[]): number[][] {
  const numbers = ({ told }: Turn) => first(told, PAIRED);
  return numbers(a!).flatMap((n) =>
    numbers(b!).filter((m) => m !== n).map((m) => [n, m])
  );
}
