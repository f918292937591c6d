/**
 * Rounds of loops, as an agent's record shows them.
 *
 * @module
 */
import type { Agent } from "../../state/agent/agent.ts";
import type { Snapshot } from "../../state/agent/snapshot.ts";
import * as k from "../../kinds.ts";

/** The rounds of an endless loop in a record. */
export interface Turn {
  readonly begin: number;
  end: number;
  readonly period: number;
  readonly key: string;
  /** How many rounds are told apart. */
  readonly told: number;
}

/** A record of operations. */
export type Log = Pick<Snapshot, "sig" | "args" | "res">;

/** A round of a loop. */
export interface Round extends Log {
  readonly period: number;
}

/** The last operations of an agent, which are a round of a loop. */
export function roundOf({ n, sig, args, res }: Agent, period: number): Round {
  const from = n - period;
  return {
    period,
    sig: sig.slice(from, n),
    args: args.slice(from, n),
    res: res.slice(from, n),
  };
}

/** Whether a record has the round before `end`. */
export function hasRound(
  { sig, args, res }: Log,
  end: number,
  { period, ...round }: Round,
): boolean {
  const from = end - period;
  for (let i = 0; i < period; i++) {
    if (sig[from + i] !== round.sig[i] || args[from + i] !== round.args[i]) {
      return false;
    }
    if (res[from + i] !== round.res[i]) return false;
  }
  return true;
}

/** What loops are told apart by: the kinds of operations of a round. */
export function keyOf({ sig }: Log, end: number, period: number): string {
  return sig.slice(end - period, end).map((sign) => sign % 32).sort().join();
}

/** Whether a loop looks at the clock. */
export const onClock = (key: string): boolean =>
  key.split(",").includes(`${k.CLOCK}`);

/** Whether the rounds before `a` and `b` are the same. */
export function isSame(
  log: Log,
  a: number,
  b: number,
  period: number,
): boolean {
  for (let i = 1; i <= period; i++) {
    if (!isSameStep(log, a - i, b - i)) return false;
  }
  return true;
}

export const isSameStep = (
  { sig, args, res }: Log,
  a: number,
  b: number,
): boolean => sig[a] === sig[b] && args[a] === args[b] && res[a] === res[b];

/** Whether the operations from `begin` to `end` go on with a loop. */
export function goesRound(
  log: Log,
  begin: number,
  end: number,
  period: number,
): boolean {
  if ((end - begin) % period !== 0) return false;
  for (let i = begin; i < end; i++) {
    if (!isSameStep(log, i, i - period)) return false;
  }
  return true;
}
