/**
 * Operations of primitives that have returned. Their views keep nothing, so
 * what an agent does next depends on what it did before the operation, and on
 * what was returned: on nothing that it saw within. So all ways through an
 * operation that return the same lead to one state.
 *
 * The same holds within an operation, at a place where it says all that its
 * local variables keep (`keeps` in `primitives/_memory/explored.ts`).
 *
 * The histories that were taken for one are kept, to be compared after the
 * search: see `equal/promises.ts`.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Hash } from "../state/agent/snapshot.ts";
import * as k from "../kinds.ts";
import { roundOf } from "../state/agent/operation.ts";
import { mix1, mix2, show } from "../values.ts";
import type { Dropped } from "./drops.ts";
import { countsOf } from "./loops/looks.ts";
import { keptBy } from "../platform/kept.ts";

/**
 * The most places of which histories are kept: behind operations, and within
 * them. How many are kept of each place.
 */
const PLACES = 300;
const INSIDE = 100;
const MOST = 4;

const NOWHERE: readonly number[] = [];

/** The most values that are noted of a word. */
const VALUES = 64;

/** What agents saw in operations of primitives that have returned. */
export class Returns {
  /** Whether it is left out of their states. */
  on = false;
  /** Whether how often an operation has said what it keeps is told apart. */
  #counts = true;
  /** Whether states may lead back to themselves, since that is not done. */
  turns = false;
  /** By the state that follows an operation, and one within it. */
  readonly places: Map<number, Dropped> = new Map();
  readonly inside: Map<number, Dropped> = new Map();
  /** The values that operations at an address have answered. */
  readonly values: Map<number, unknown[]> = new Map();

  /** Whether anything was left out. */
  get used(): boolean {
    return this.places.size + this.inside.size > 0;
  }

  /** Tells that apart, or not; returns whether that is new. */
  count(counts: boolean): boolean {
    if (counts === this.#counts) return false;
    this.#counts = counts;
    this.turns = false;
    return true;
  }

  /** Forgets all. */
  begin(on: boolean): void {
    this.on = on;
    this.#counts = true;
    this.turns = false;
    this.places.clear();
    this.inside.clear();
    this.values.clear();
  }

  /** Notes an answer. */
  answered(address: number, value: unknown): void {
    const list = this.values.get(address);
    if (list === undefined) this.values.set(address, [value]);
    else if (list.length < VALUES && !list.includes(value)) list.push(value);
  }

  /**
   * The operation `what`, which began when the record had `begin` operations,
   * has returned `value` to the agent.
   */
  end(agent: Agent, what: string, value: unknown, begin: number): void {
    const shown = textOf(value);
    // A larger operation does not go round without a change or a sleep.
    const isPart = agent.entered >= 0;
    if (shown === undefined || !isPart && onlyLooked(agent, begin)) return;
    if (!this.#leaveOut(agent, `${what} ${shown}`, begin)) return;
    if (!isPart) agent.kept = NOWHERE;
    this.#note(this.places, PLACES, agent, what);
  }

  /**
   * The operation in which the agent is keeps only what the text `what` says;
   * it began when the record had `begin` operations. How often it has said so
   * is told apart, so that no cycle of states is closed by this.
   */
  keep(agent: Agent, what: string, begin: number): void {
    const { n } = agent;
    const before = agent.kept.filter((at) => at < n);
    const round = this.#round(before);
    if (!this.#leaveOut(agent, `${what}${round}`, begin)) return;
    agent.kept = [...before, n];
    this.#note(this.inside, INSIDE, agent, what);
  }

  /** What tells an operation apart that has said `before` what it keeps. */
  #round(before: readonly number[]): string {
    if (this.#counts) return ` ${before.length}`;
    if (before.length > 0) this.turns = true;
    return "";
  }

  /** The same of a sleep, which comes next: nothing that it saw then counts. */
  sleep(agent: Agent, what: string, begin: number): void {
    const { n } = agent;
    const round = this.#round(agent.kept.filter((at) => at < n));
    const asleep = hashOf(agent, `asleep ${what}${round}`, begin);
    if (asleep !== undefined) agent.asleep = asleep;
  }

  /**
   * The agent, which has said what it keeps `asleep`, looked at the clock
   * before that: it showed `now`.
   */
  look(agent: Agent, asleep: Hash, now: number): void {
    agent.asleep = withText(asleep, `${now} ${countsOf(agent)}`);
  }

  /** The agent sleeps, and is in the state that it said. */
  slept(agent: Agent): void {
    if (!this.on || agent.asleep === null) return;
    this.#note(this.inside, INSIDE, agent, "asleep", "ok");
    if (agent.timeout === Infinity) return;
    this.#note(this.inside, INSIDE, agent, "asleep", "timed-out");
  }

  /**
   * Makes the state of the agent from what it saw before its record had `begin`
   * operations, and from the text `what`. Returns whether that was done.
   */
  #leaveOut(agent: Agent, what: string, begin: number): boolean {
    const { n, after1, after2 } = agent;
    const hash = hashOf(agent, what, begin);
    if (hash === undefined) return false;
    [agent.h1, agent.h2] = hash;
    [after1[n - 1], after2[n - 1]] = hash;
    agent.returned = n;
    return true;
  }

  /**
   * Notes the history that led to a state, unless there are enough; if it is
   * one of a sleep, with how that ends.
   */
  #note(
    places: Map<number, Dropped>,
    most: number,
    agent: Agent,
    site: string,
    woken?: "ok" | "timed-out",
  ): void {
    const { oi, first, n, res, h1, h2 } = agent;
    const key = roundOf(woken === "timed-out" ? ~h1 : h1, h2);
    const known = places.get(key);
    if (known !== undefined) {
      if (known.histories.length === MOST || known.first !== first) return;
    } else if (places.size === most) return;
    const history = res.slice(0, n);
    if (woken !== undefined) history.push(woken);
    if (known === undefined) {
      places.set(key, { agent, oi, first, site, histories: [history] });
      return;
    }
    const isSame = (other: readonly unknown[]) =>
      other.length === history.length &&
      other.every((value, i) => Object.is(value, history[i]));
    if (!known.histories.some(isSame)) known.histories.push(history);
  }
}

/**
 * The hashes of an agent that keeps what it saw before its record had `begin`
 * operations, and the text `what`; undefined if it is where it was before.
 */
function hashOf(agent: Agent, what: string, begin: number): Hash | undefined {
  const { n, from, merged, after1, after2, beginning } = agent;
  // After a round of a loop it is where it was before that round.
  if (begin < from || begin === n || merged === n) return;
  return withText(
    begin > from ? [after1[begin - 1]!, after2[begin - 1]!] : beginning,
    what,
  );
}

/** The hashes of what is kept and of a text. */
function withText([before1, before2]: Hash, what: string): Hash {
  // Not a number of its own: what agents did before is remembered for longer
  // than any list of these.
  let a = mix1(before1, 0x3c6ef372);
  let b = mix2(before2, 0x3c6ef372);
  for (let i = 0; i < what.length; i++) {
    const letter = what.charCodeAt(i);
    a = mix1(a, letter);
    b = mix2(b, letter);
  }
  return [a, b];
}

/**
 * Whether an operation has changed nothing and has not slept. An agent that
 * calls it again and again may wait so: then its rounds must show what it saw.
 */
function onlyLooked({ n, pure, sig }: Agent, begin: number): boolean {
  if (pure < n - begin) return false;
  for (let i = begin; i < n; i++) {
    if (sig[i]! % 32 === k.WAIT) return false;
  }
  return true;
}

/**
 * What code can tell of a value, as text: a plain value, the fields of a guard,
 * or of an error. Of anything else it is not known.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value === "function" || typeof value === "symbol") return;
  if (typeof value !== "object" || value === null) {
    return show(value);
  }
  if ("explored" in value) return keptBy(value); // a seat of a broadcast
  const fields = Object.entries(value);
  const isError = value instanceof Error;
  const isPlain = fields.every(([, field]) =>
    typeof field === "boolean" || isError && typeof field === "string"
  );
  if (!isPlain) return undefined;
  const message = isError ? value.message : "";
  return `${value.constructor.name} ${message} ${fields}`;
}
