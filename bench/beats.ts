/**
 * Compares operations that one thread does alone. A core of a virtual machine
 * may be half of a real one: while the other half works, for this guest or for
 * another, two exchanges take 50 ns in place of 30, and this changes within
 * milliseconds. So the rivals take turns of a millisecond, and each turn is
 * compared with the rivals' turns beside it.
 *
 * @module
 */

import * as fs from "node:fs";
import process from "node:process";
import {
  type Contestant,
  type Figure,
  type Measured,
  median,
  medians,
  type Run,
  spread,
  type Summary,
} from "./contest.ts";

/** The rounds of a contest, and the turns of each rival in a round. */
const ROUNDS = 5;
const BEATS = 25;
/** A turn counts if its thread waited for a core for no longer share of it. */
const DISTURBED = 0.05;
/** How many rounds there are at most if too few turns count. */
const MOST_ROUNDS = 20;

/** Does an operation `n` times. */
export type Loop = (n: number) => void;

/** A turn that does an operation `n` times: enough for about a millisecond. */
export function short(loop: Loop, n: number = 10_000): Run {
  return () => {
    const before = waited();
    const begin = performance.now();
    loop(n);
    const took = performance.now() - begin;
    return { ops: n, ns: took * 1e6 / n, waited: (waited() - before) / took };
  };
}

/** The ms that this thread waited for a core. Only Linux tells. */
function waited(): number {
  try {
    const text = fs.readFileSync("/proc/thread-self/schedstat", "utf8");
    return Number(text.split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** The ns of the turns that count, by the number of their round and beat. */
type Turns = Map<number, Map<number, number>>;

/** The turns of one contestant, and what they say. */
export interface Beaten {
  readonly turns: ReadonlyMap<number, ReadonlyMap<number, number>>;
  readonly summary: Summary;
}

/** The results of a contest by the names of its contestants. */
export type Results = Readonly<Record<string, Beaten>>;

/**
 * Lets the contestants of each contest, whose turns are {@linkcode short}, take
 * their turns one after the other, after a round that does not count. The
 * rounds of the contests alternate, so that all of them meet the same states of
 * the machine.
 */
export async function beats(
  contests: readonly (readonly Contestant[])[],
): Promise<Results[]> {
  const all = contests.map((contestants) =>
    contestants.map((contestant) => ({ contestant, turns: new Map() as Turns }))
  );
  const isMissing = () =>
    all.flat().some(({ turns }) => count(turns) < ROUNDS * BEATS / 2);
  for (let round = -1; round < MOST_ROUNDS; round++) {
    if (round >= ROUNDS && !isMissing()) break;
    for (const [k, contest] of all.entries()) {
      progress(round + 1 + k / all.length, ROUNDS + 1);
      for (let beat = 0; beat < BEATS; beat++) {
        for (const { contestant, turns } of contest) {
          const { ns, waited } = await contestant.turn();
          if (round < 0 || waited! > DISTURBED) continue;
          if (!turns.has(round)) turns.set(round, new Map());
          turns.get(round)!.set(beat, ns!);
        }
      }
    }
  }
  progress(1, 1);
  for (const { contestant } of all.flat()) contestant.stop?.();
  return all.map((contest) =>
    Object.fromEntries(contest.map(({ contestant: { name }, turns }) => {
      if (count(turns) === 0) throw new Error(`${name} was always disturbed`);
      return [name, { turns, summary: summed(turns) }];
    }))
  );
}

/** Shows on a terminal how far the contests are. */
function progress(done: number, all: number) {
  if (!process.stderr.isTTY) return;
  const share = Math.min(Math.floor(100 * done / all), 100);
  process.stderr.write(share < 100 ? `\r      ${share} %\x1b[K` : "\r\x1b[K");
}

/** How many turns count. */
function count(turns: Turns): number {
  return [...turns.values()].reduce((sum, { size }) => sum + size, 0);
}

function summed(turns: Turns): Summary {
  const rounds = new Map<number, Measured>(
    [...turns].map(([round, its]) => [round, middle(its)]),
  );
  const quiet = count(turns);
  return { medians: middle(rounds), turns: quiet, quiet, rounds };
}

function middle(its: ReadonlyMap<number, number | Measured>): Measured {
  const values = [...its.values()].map((it) =>
    typeof it === "number" ? it : it.ns!
  );
  return { ns: median(values) };
}

/**
 * How many times as long `over` takes as `under`: the median over the rounds,
 * of which each has the median of its neighbouring turns.
 */
export function paired(results: Results, over: string, under: string): Figure {
  const each = [...results[over]!.turns].flatMap(([round, its]) => {
    const pairs = [...its].flatMap(([beat, ns]) => {
      const other = results[under]!.turns.get(round)?.get(beat);
      return other === undefined ? [] : [ns / other];
    });
    return pairs.length === 0 ? [] : [median(pairs)];
  });
  if (each.length === 0) throw new Error(`${over} and ${under} never met`);
  const names = Object.keys(results)
    .filter((name) => name === over || name === under);
  const summaries = Object.fromEntries(
    names.map((name) => [name, results[name]!.summary]),
  );
  return {
    figure: median(each),
    unit: "x",
    ...spread(each),
    from: medians(summaries, names),
  };
}
