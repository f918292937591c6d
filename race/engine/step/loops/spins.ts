/**
 * Loops that count their rounds. Rounds of an endless loop that saw the same
 * are one state, which is right only if what the agent does after the loop does
 * not depend on how many there were. That cannot be seen in its code, so it is
 * tried: after a search, the agent is run once more for each history with such
 * a loop, as if the loop had taken other numbers of rounds. If it then does
 * something else, the loop counts. From then on its rounds are told apart, up
 * to the number after which they make no more difference, and the search begins
 * again.
 *
 * @module
 */
import type { Agent } from "../../state/agent/agent.ts";
import type {
  Ended,
  Event,
  Outcome,
  Snapshot,
} from "../../state/agent/snapshot.ts";
import type { World } from "../../state/core.ts";
import {
  argBits,
  roundOf as numberOf,
  signature,
} from "../../state/agent/operation.ts";
import * as k from "../../kinds.ts";
import type { Scenario } from "../../scenario.ts";
import { StatefulHandle } from "../../signals.ts";
import { bits, mix1, mix2, show } from "../../values.ts";
import {
  above,
  ALL,
  choicesOf,
  FAR,
  FIRST,
  first,
  LOOPS,
  MANY,
  MORE,
  pairs,
  pairsOf,
} from "./numbers.ts";
import { Others, type Rounds } from "./others.ts";
import {
  goesRound,
  hasRound,
  isSame,
  isSameStep,
  keyOf,
  onClock,
  type Round,
  roundOf,
  type Turn,
} from "./rounds.ts";

const PLACES = 16;

const PAIR_RUNS = 2_000;

/**
 * After `RUNS` runs of agents, all numbers but `MANY` are tried of the first
 * history that ends in some way, and one number of the others; after
 * `MANY_RUNS`, one number of each history.
 */
const RUNS = 400;

const MANY_RUNS = 20_000;

/** The most rounds that are told apart if the loop does not count further. */
const MOST = 128;

/** How many ways to go round one loop are kept. */
const WAYS = 8;

/** How many rounds are told apart of a loop that counts for ever. */
const OPEN = 8;

/** How many times a search begins again because a loop counts. */
const AGAIN = 24;

/** An agent was run: from where, why, and what it did. */
interface Ran extends Event {
  readonly agent: Agent;
  readonly from: Snapshot;
  readonly to: Snapshot;
  readonly ended: readonly Ended[];
}

/** What runs agents from other states. */
export interface Tester {
  readonly world: World;
  readonly scenario: Scenario;
  /** Runs an agent in `state`, alone and without effect. */
  tryOut(agent: Agent, state: Snapshot, event: Event): Outcome;
}

/** The endless loops of one exploration, and which of them count. */
export class Spins {
  /** How many rounds are told apart, if it is more than one, by loop. */
  readonly #told = new Map<string, number>();
  /** Loops that count further than their rounds are told apart. */
  readonly #open = new Set<string>();
  /** Rounds of loops, by what an agent saw up to their end. */
  readonly #rounds = new Map<number, Round[]>();
  /** How often agents were run, if that is noted. */
  #ran: Ran[] | null = null;
  readonly #known = new Set<number>();
  #again = 0;
  /** How often agents were run to try other numbers of rounds. */
  #runs = 0;
  /** The fewest rounds that were told apart of a loop that counts further. */
  limit = Infinity;
  /** Whether a schedule may let an agent go round its endless loop. */
  looks = false;

  /** Whether it is noted how agents are run. */
  get notes(): boolean {
    return this.#ran !== null;
  }

  /** Forgets all loops. */
  clear(): void {
    this.#told.clear();
    this.#open.clear();
    this.#again = 0;
    this.looks = false;
    this.begin(false);
  }

  /** Prepares for a search, whose steps are noted or not. */
  begin(notes: boolean): void {
    this.#ran = notes ? [] : null;
    this.#known.clear();
    this.#rounds.clear();
    this.limit = Infinity;
    this.#runs = 0;
  }

  /** Whether the last round of an endless loop is not one with those before. */
  tellsApart(agent: Agent, period: number): boolean {
    if (this.#told.size === 0) return false;
    const key = keyOf(agent, agent.n, period);
    const told = this.#told.get(key) ?? 1;
    const { n, from } = agent;
    let rounds = 1;
    for (let end = n - period; rounds <= told; rounds++, end -= period) {
      if (end - period < from || !isSame(agent, end, n, period)) break;
    }
    if (rounds <= told) return true;
    if (this.#open.has(key)) this.limit = Math.min(this.limit, told);
    return false;
  }

  /** Notes that the last round of an agent is one with those before. */
  enter(agent: Agent, period: number): void {
    const { h1, h2, n } = agent;
    const key = numberOf(h1, h2);
    const known = this.#rounds.get(key);
    if (known === undefined) this.#rounds.set(key, [roundOf(agent, period)]);
    else if (
      known.length < WAYS && !known.some((round) => hasRound(agent, n, round))
    ) known.push(roundOf(agent, period));
  }

  /** Notes that an agent was run; `once` if it may be for the same again. */
  note(
    agent: Agent,
    from: Snapshot,
    { cause, value, now }: Event,
    ended: readonly Ended[],
    once: boolean,
  ): void {
    if (once) {
      const { h1, h2, kind, address } = from;
      const what = mix1(signature(kind, address), bits(value));
      const key = numberOf(mix1(mix1(h1, what), agent.id), mix2(h2, what));
      if (this.#known.has(key)) return;
      this.#known.add(key);
    }
    const to = agent.save();
    this.#ran!.push({ agent, from, cause, value, now, to, ended });
  }

  /**
   * Tries other numbers of rounds; returns whether more of them must be told
   * apart. Looks at up to `most` histories. Of the loops at the first `places`,
   * all numbers are tried.
   */
  check(tester: Tester, most = Infinity, places = PLACES): boolean {
    // A search that is not complete is not worth much time.
    if (most < Infinity) this.#runs = RUNS;
    const ran = this.#ran ?? [];
    this.#ran = null;
    if (this.#rounds.size === 0) return false;
    const covered = new Set<Snapshot>();
    let tried = 0;
    let paired = 0;
    const ways = new Set<string>();
    const known = new Set<string>();
    // Longer histories come later. What they tried holds for their beginnings.
    for (let i = ran.length - 1; i >= 0; i--) {
      const one = ran[i]!;
      const { from, to, ended } = one;
      const goesOn = covered.has(to) && to.n > from.n && ended.length === 0;
      if (goesOn && (to.kind !== k.WAIT || to.timeout === Infinity)) {
        covered.add(from);
        continue;
      }
      const turns = this.#turnsIn(one);
      if (turns.length === 0) continue;
      if (++tried > most) break;
      covered.add(from);
      const loops = turns.map(({ key }) => key).join(" ");
      const way = `${loops} ${textOf(tester, one)}`;
      const all = this.#runs < RUNS ||
        this.#runs < MANY_RUNS && !ways.has(way);
      ways.add(way);
      for (const some of all ? choicesOf(turns) : [turns.slice(-LOOPS)]) {
        const told = Math.max(...some.map(({ told }) => told));
        const usual = first(told, FIRST);
        const few = [...usual, ...above(told, MORE)];
        const keys = some.map(({ key }) => key).join(" ");
        const place = most < Infinity ? keys : `${keys} ${placeOf(to)}`;
        const numbers = !all
          ? [few[tried % few.length]!]
          : !known.has(place)
          ? [
            ...new Set([
              ...few,
              ...above(told, MANY),
              ...known.size < places ? above(told, ALL) : [],
            ]),
          ]
          : most < Infinity
          ? usual
          : few;
        if (all) known.add(place);
        const other = this.#differs(tester, one, some, numbers);
        if (other === undefined || !repeats(tester, one)) continue;
        this.#learn(tester, one, some);
        return this.#begins(some);
      }
      if (most < Infinity || !all || paired >= PAIR_RUNS) continue;
      for (const two of pairsOf(turns)) {
        const numbers = pairs(two);
        paired += numbers.length;
        const other = this.#differs(tester, one, two, numbers);
        if (other === undefined || !repeats(tester, one)) continue;
        const apart = Math.max(...other as number[]) + 1;
        this.#tell(tester, two, apart, apart, false);
        return this.#begins(two);
      }
    }
    return false;
  }

  /** Whether the search begins again, as rounds must be told apart. */
  #begins(turns: readonly Turn[]): boolean {
    if (++this.#again <= AGAIN) return true;
    this.limit = Math.min(this.limit, ...turns.map(({ told }) => told));
    return false;
  }

  /** The endless loops that an agent has left. */
  #turnsIn(one: Ran): Turn[] {
    const { from } = one;
    const { n, after1, after2 } = from;
    const turns: Turn[] = [];
    for (let i = 0; i < n; i++) {
      const end = i + 1;
      // With other rounds of a loop within the loop, it has other operations.
      const period = this.#rounds.get(numberOf(after1[i]!, after2[i]!))
        ?.find((round) => hasRound(from, end, round))?.period;
      if (period === undefined) continue;
      const last = turns.at(-1);
      if (last?.period === period && goesRound(from, last.end, end, period)) {
        last.end = end;
        continue;
      }
      const key = keyOf(from, end, period);
      const told = this.#told.get(key) ?? 1;
      const begin = end - told * period;
      if (begin < 0 || this.#open.has(key)) continue;
      turns.push({ begin, end, period, key, told });
    }
    return turns.filter((turn) => !staysIn(one, turn));
  }

  /** The first of these numbers after which an agent does something else. */
  #differs(
    tester: Tester,
    one: Ran,
    turns: readonly Turn[],
    numbers: readonly Rounds[],
  ): Rounds | undefined {
    const was = textOf(tester, one);
    const others = new Others(one.from, turns);
    return numbers.find((rounds) =>
      was !== this.#after(tester, one, others.with(rounds))
    );
  }

  /** What an agent does in `state` for what was the event of `one`, as text. */
  #after(tester: Tester, one: Ran, state: Snapshot): string {
    this.#runs++;
    return textOf(tester, tester.tryOut(one.agent, state, one));
  }

  /** Finds out how far a loop counts. */
  #learn(tester: Tester, one: Ran, turns: readonly Turn[]): void {
    const { scenario } = tester;
    if (
      scenario.stateless === undefined &&
      turns.some(({ end }) => end <= one.from.from)
    ) {
      scenario.stateless = false;
      throw new StatefulHandle();
    }
    const told = Math.max(...turns.map(({ told }) => told));
    const all = [...first(told, MOST + FIRST - told), ...FAR];
    const others = new Others(one.from, turns);
    const texts = all.map((rounds) =>
      this.#after(tester, one, others.with(rounds))
    );
    let at = all.length - 1;
    while (at > 0 && texts[at - 1] === texts[at]) at--;
    const rounds = all[at]!;
    const other = all[texts.findIndex((text) => text !== texts[0])];
    const apart = rounds > MOST ? Math.max(told, OPEN) : rounds;
    this.#tell(tester, turns, apart, other ?? told, rounds > MOST);
  }

  /** From now on, so many rounds of these loops are told apart. */
  #tell(
    { world }: Tester,
    turns: readonly Turn[],
    apart: number,
    onClocks: number,
    open: boolean,
  ): void {
    for (const agent of world.agents) {
      // A loop of sleeps must be able to take `apart` rounds.
      agent.patience = Math.max(agent.patience, apart + 1);
    }
    for (const { key } of turns) {
      // Time decides how often it goes round; only one number is explored.
      const timed = onClock(key);
      if (timed || open) this.#open.add(key);
      this.#told.set(key, timed ? Math.min(onClocks, MOST) : apart);
    }
  }
}

/** Whether an agent does the same if it is run again for the same. */
const repeats = (tester: Tester, one: Ran): boolean =>
  textOf(tester, one) ===
    textOf(tester, tester.tryOut(one.agent, one.from, one));

/** The operation that an agent does next. */
const placeOf = ({ status, kind, address }: Snapshot): string =>
  `${status} ${kind} ${address}`;

/** Whether an agent stays in a loop, or only begins another round of it. */
function staysIn({ from, value }: Ran, { end, period }: Turn): boolean {
  const { n, sig, args, res, kind, address, a, b } = from;
  for (let i = end; i < n; i++) {
    if (!isSameStep(from, i, i - period)) return false;
  }
  const before = n - period;
  return sig[before] === signature(kind, address) &&
    args[before] === argBits(a, b) && res[before] === value;
}

/**
 * What an agent did, as text: the calls that ended, with their results if they
 * are judged, and what it does next.
 */
function textOf(
  { world, scenario }: Tester,
  { to, ended, strayed }: Outcome,
): string {
  if (to === null) return strayed ?? "";
  const { status, kind, address, size, a, b, timeout } = to;
  const next = status === k.DONE
    ? "done"
    : `${kind} ${address} ${size} ${show(a)} ${show(b)} ${timeout}`;
  const judged = world.judge !== null || scenario.finalResults;
  const results = ended.map(({ result }) => judged ? show(result) : "");
  return `${results.join()} ${next}`;
}
