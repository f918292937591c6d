/**
 * States in which loops have taken other numbers of rounds.
 *
 * @module
 */
import type { Snapshot } from "../../state/agent/snapshot.ts";
import type { Log, Turn } from "./rounds.ts";

/** Numbers of rounds: the same of all loops, or one of each. */
export type Rounds = number | readonly number[];

/** States in which loops have taken other numbers of rounds. */
export class Others {
  readonly #state: Snapshot;
  readonly #turns: readonly Turn[];
  /** If it is one loop: the record up to its end, and more of its rounds. */
  #res: readonly unknown[] = [];
  #sig: readonly number[] = [];
  #args: readonly number[] = [];

  /** States in which some loops of the record of `state` go on or end. */
  constructor(state: Snapshot, turns: readonly Turn[]) {
    this.#state = state;
    this.#turns = turns;
    if (turns.length > 1) return;
    const { end } = turns[0]!;
    this.#res = state.res.slice(0, end);
    this.#sig = state.sig.slice(0, end);
    this.#args = state.args.slice(0, end);
  }

  /** The state after these numbers of rounds. */
  with(rounds: Rounds): Snapshot {
    if (this.#turns.length === 1) return this.#one(rounds as number);
    const counts = this.#turns.map((_, i) =>
      typeof rounds === "number" ? rounds : rounds[i]!
    );
    return withRounds(this.#state, this.#turns, counts);
  }

  /** The same for one loop, of which long ones are beginnings of longer ones. */
  #one(rounds: number): Snapshot {
    const { begin, end, period } = this.#turns[0]!;
    const { n, res, sig, args } = this.#state;
    const left = begin + rounds * period;
    this.#res = grown(this.#res, end - period, left);
    this.#sig = grown(this.#sig, end - period, left);
    this.#args = grown(this.#args, end - period, left);
    const records = {
      res: this.#res.slice(0, left).concat(res.slice(end, n)),
      sig: this.#sig.slice(0, left).concat(sig.slice(end, n)),
      args: this.#args.slice(0, left).concat(args.slice(end, n)),
    };
    return withRecords(this.#state, records, [{ end, more: left - end }]);
  }
}

/** `list`, which from `begin` on consists of rounds, with more rounds. */
function grown<T>(
  list: readonly T[],
  begin: number,
  length: number,
): readonly T[] {
  while (list.length < length) list = list.concat(list.slice(begin));
  return list;
}

/** The state in which loops have taken other numbers of rounds. */
function withRounds(
  state: Snapshot,
  turns: readonly Turn[],
  rounds: readonly number[],
): Snapshot {
  const { n } = state;
  // The last one first: what is before a loop then stays where it is. At least
  // one round is left of each, which ends behind the loop before.
  const edits = turns.map(({ begin, end, period }, i) => {
    return { end, period, more: begin + rounds[i]! * period - end };
  }).reverse();
  const other = <T>(list: readonly T[]): T[] => {
    const left = list.slice(0, n);
    const after: T[][] = [];
    for (const { end, period, more } of edits) {
      const round = left.slice(end - period, end);
      after.unshift(repeated(round, more), left.slice(end));
      left.length = Math.min(end, end + more);
    }
    return left.concat(...after);
  };
  const records = {
    res: other(state.res),
    sig: other(state.sig),
    args: other(state.args),
  };
  return withRecords(state, records, edits);
}

/** The state with another record, which has more operations before `end`. */
function withRecords(
  state: Snapshot,
  records: Log,
  edits: readonly { readonly end: number; readonly more: number }[],
): Snapshot {
  let { n, from, ends } = state;
  for (const { end, more } of edits) {
    n += more;
    if (end <= from) from += more;
    if (ends !== 0) ends += more;
  }
  return {
    ...state,
    ...records,
    // Only loops are looked for there, and none are here.
    after1: [],
    after2: [],
    n,
    from,
    ends,
    edges: null,
    group: null,
  };
}

/** `length` items: those of a list, again and again. */
function repeated<T>(list: readonly T[], length: number): T[] {
  if (length <= 0) return [];
  // One by one, they would take as long as the run for which they are made.
  let all = [...list];
  while (all.length < length) all = all.concat(all);
  return all.slice(0, length);
}
