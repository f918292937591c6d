/**
 * A line of the torture's table.
 *
 * @module
 */

/** What one part did with one primitive. */
export interface Row {
  /** What was done, such as "Mutex: threads killed". */
  readonly what: string;
  readonly volume: number;
  /** What the volume counts, such as `"kills"`. */
  readonly unit: string;
  /** Elements that nobody got, and how many may be lost. */
  readonly lost?: number;
  readonly allowed?: number;
  /** What else was measured. */
  readonly note?: string;
  /** Broken promises, each with an example. */
  readonly problems: readonly string[];
}

/** Takes a line as soon as it is known. */
export type Tell = (row: Row) => void;

/** The longest time that anybody waited for a turn, in ms. */
export interface Longest {
  readonly volume: number;
  /** The longest wait of an agent that uses the primitive. */
  readonly longest: number;
  /** The longest that the machine kept a thread from its core meanwhile. */
  readonly control: number;
}

/** Nobody may wait for a second, in ms: the goal on a machine that is free. */
const GOAL = 1000;
/**
 * A wait of this many ms counts as one for ever, however busy the machine is.
 */
const HANGS = 10_000;

/**
 * Whether somebody waited for more than `most` ms beyond what the machine does.
 * A turn needs several agents in sequence, and each of them may wait for a
 * core.
 */
const isBeyond = (most: number, { longest, control }: Longest): boolean =>
  longest > most + 4 * control;

/**
 * Measures for `seconds`, and again if somebody seems to be starved: a machine
 * is slow once and not again. The row says so if that was so each time. It
 * fails only if somebody hangs. Less than a second is only measured, not
 * judged.
 */
export async function loadRow(
  name: string,
  seconds: number,
  measure: () => Promise<Longest>,
): Promise<Row> {
  const beyond = (most: number, it: Longest) =>
    seconds >= 1 && isBeyond(most, it);
  let volume = 0;
  let worst: Longest | undefined;
  for (let i = 0; i < 3; i++) {
    worst = await measure();
    volume += worst.volume;
    if (!beyond(GOAL, worst)) break;
  }
  const note = (beyond(GOAL, worst!) ? "MISSES THE GOAL OF 1 S: " : "") +
    `longest wait ${Math.round(worst!.longest)} ms, ` +
    `the machine's own ${Math.round(worst!.control)} ms`;
  return {
    what: `${name}: turns in a crowd`,
    volume,
    unit: "turns",
    note,
    problems: beyond(HANGS, worst!) ? [`${name}: somebody hangs: ${note}`] : [],
  };
}

/**
 * Whether a class's name contains a word such as `spsc_queue` or `SpscQueue`.
 */
export const matches = (name: string, only: string): boolean =>
  name.toLowerCase().includes(only.toLowerCase().replaceAll("_", ""));
