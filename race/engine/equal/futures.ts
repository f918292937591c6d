/**
 * States of an agent with the same future. What an agent saw and never uses
 * again does not tell two of its states apart. Whether it still uses it cannot
 * be seen in its code, so the engine tries it: it gives an agent in one state
 * each answer that an agent got in the other, and compares what follows. Two
 * states that do the same for all answers are one.
 *
 * While a search goes on, it meets answers that it had not met. Then every
 * state that was taken for the same is given the new answer. If one of them
 * does something else, the search was wrong and begins again; it then knows the
 * answer that tells these states apart.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type {
  Edge,
  Ended,
  Group,
  Label,
  Snapshot,
} from "../state/agent/snapshot.ts";
import { hashAgent } from "../state/key.ts";
import { roundOf, signature, writtenIn } from "../state/agent/operation.ts";
import * as k from "../kinds.ts";
import { sameGuards } from "../state/agent/guard.ts";
import { realNow } from "../platform/native.ts";
import type { Engine } from "../step/replay.ts";
import { shadow } from "./shadow.ts";
import { keyOf, show } from "../values.ts";
import { Times } from "../state/agent/times.ts";
import type { Target } from "../platform/views.ts";

/** The most states that are compared with one state to find its equal. */
const CANDIDATES = 48;
/** The most runs of an agent to compare two states. */
const RUNS = 1500;
/**
 * The most such runs in a search, and how many more for each state of the
 * search. Where it takes more, the search goes on without comparing agents.
 */
const ALL_RUNS = 20_000;
const RUNS_A_STATE = 1;

/**
 * What seeking a group, and running an agent, cost: in steps of a search that
 * compares nothing.
 */
const ASKING = 2, RUNNING = 5;

/** The wrong comparisons before an operation after which there are no more. */
const FAILS = 3;
/** The most operations in a round of a loop that is seen at once. */
const SHORT = 3;

/** Thrown when states that were taken for the same do something else. */
export class Apart extends Error {}

/** Thrown when states of agents cannot be compared at all. */
export const HOPELESS: Apart = new Apart("states cannot be compared");

/** Stands for an answer where a state could be. */
const LABEL = -1;

/** What an agent does next after an answer. */
interface Next {
  readonly edge: Edge;
  /** What followed, or `null` if the agent threw or cannot be compared. */
  readonly to: Snapshot | null;
  readonly ended: readonly Ended[];
}

/** The groups that one search has found. */
export class Futures {
  /** How often an agent was run to compare states. */
  #runs = 0;
  /** The number of the next walk through groups. */
  #sought = 1;
  /**
   * Of groups that lead to rounds alone: a label that ends this counts it up.
   */
  #closed = 0;
  /** How many steps the search has taken. */
  steps = 0;
  readonly #engine: Engine;
  readonly #agents: readonly Agent[];
  readonly #results: boolean;
  readonly #most: number;
  readonly #until: number;
  /** The work of earlier comparisons. */
  readonly #before: number;
  /** How many groups were sought. */
  #asked = 0;
  readonly #tried: WeakMap<Snapshot, Next[]>;
  /** Operations of loops: states before them are not compared. */
  readonly #loops: Map<number, number>;
  /** Whether two states differ only in how far they are in a loop. */
  #turned = false;
  /** The place of the state that is being compared. */
  #place = 0;
  readonly #byKey = new Map<number, Group>();
  readonly #bySight = new Map<string, Group[]>();
  readonly #edges = new Times<Edge>(({ now }) => now);
  readonly #labels = new Times<Label>(({ edge }) => edge.now);
  /** What was assumed in the present comparison. */
  readonly #assumed: { group: Group; key: number }[] = [];
  #left = 0;

  /**
   * With `results`, states in which calls returned other values differ. After
   * the work `most`, or from the time `until` on, states cannot be compared.
   * What agents did for `earlier` groups is used again, and its work counts.
   */
  constructor(
    engine: Engine,
    results: boolean,
    most: number,
    until: number,
    earlier: Futures | null,
  ) {
    this.#engine = engine;
    this.#agents = engine.world.agents;
    this.#results = results;
    this.#most = most;
    this.#until = until;
    this.#before = earlier === null ? 0 : earlier.work;
    this.#loops = earlier === null ? new Map() : earlier.#loops;
    this.#tried = earlier === null ? new WeakMap() : earlier.#tried;
  }

  /** How long it has taken, in steps of a search that compares nothing. */
  get work(): number {
    return this.#before + ASKING * this.#asked + RUNNING * this.#runs;
  }

  /**
   * Lets the state that stands for its group take the place of each agent's.
   */
  settle(before: readonly Snapshot[] | null): void {
    this.steps++;
    const { memo } = this.#engine;
    const agents = this.#agents;
    for (let i = 0; i < agents.length; i++) {
      const agent = agents[i]!;
      const state = agent.save();
      if (before !== null) {
        const from = before[i]!;
        if (from === state) continue;
        const { edges } = from;
        if (edges === null || agent.leap > 0 || memo.full) throw HOPELESS;
        if (from.proved < edges.length) this.#prove(agent, from);
      }
      const group = this.#groupOf(agent, state, null);
      let face = group.faces[i];
      if (face === undefined || face.effort > state.effort) {
        group.faces[i] = face = state;
        face.key1 = group.key1;
        face.key2 = group.key2;
      }
      if (face !== state) agent.load(face);
    }
  }

  /** The group of a state that the search has reached. */
  #groupOf(agent: Agent, state: Snapshot, from: Group | null): Group {
    if ((this.#asked++ & 63) === 0) {
      if (this.work > this.#most) throw HOPELESS;
      if (realNow() > this.#until) {
        this.#engine.hurried = true;
        throw HOPELESS;
      }
    }
    const known = state.group;
    if (known !== null && known.of === this) return known;
    const key = this.#keyOf(state);
    const same = this.#byKey.get(key);
    const mark = this.#assumed.length;
    if (same !== undefined) {
      // A loop of rounds alone needs no walk, which is as long as the program.
      if (
        from !== null && same.closed !== this.#closed && this.#leads(same, from)
      ) this.#round(same, from);
      return mark > 0 ? same : enter(state, same);
    }
    const sight = sightOf(this.#engine, this.#results, agent, state);
    let list = this.#bySight.get(sight);
    if (list === undefined) this.#bySight.set(sight, list = []);
    if (mark === 0) {
      this.#place = placeOf(state);
      this.#left = RUNS;
    }
    const end = Math.max(0, list.length - CANDIDATES);
    const alone = this.#isRound(state);
    for (let i = list.length - 1; i >= end && this.#left > 0 && !alone; i--) {
      const other = list[i]!;
      // Of a state that had no answer yet, nothing is known.
      if (!isTried(other) || from !== null && this.#leads(other, from)) {
        continue;
      }
      if (this.#joins(agent, state, other)) {
        if (mark === 0) this.#keep();
        return other;
      }
      this.#undo(mark);
    }
    const group: Group = {
      of: this,
      sight,
      members: [{ state, agent: agent.id, place: -1 }],
      labels: [],
      faces: [],
      key1: state.key1,
      key2: state.key2,
      sought: 0,
      round: alone,
      closed: alone ? this.#closed : -1,
      begun: false,
    };
    this.#byKey.set(key, group);
    list.push(group);
    return enter(state, group);
  }

  /** The answer of a group that is the same as `edge`. */
  #known(labels: readonly Label[], edge: Edge): Label | undefined {
    const fits = (label: Label) => isSame(label.edge, edge);
    return this.#labels.find(labels, edge.now, fits);
  }

  /** Notes that the groups between two are the rounds of a loop. */
  #round(first: Group, last: Group): void {
    const { rounds } = this.#engine;
    const sought = this.#sought++;
    const reached = [first];
    first.sought = sought;
    for (const group of reached) {
      for (const { to } of group.labels) {
        if (to.sought === sought) continue;
        to.sought = sought;
        reached.push(to);
      }
    }
    let several = false;
    for (const group of reached) {
      if (group.round || !this.#leads(group, last)) continue;
      (group as { round: boolean }).round = true;
      for (const { state: { h1, h2 } } of group.members) {
        rounds.add(roundOf(h1, h2));
      }
      if (group.members.length > 1) several = true;
    }
    if (several) throw new Apart();
    if (reached.every(({ round }) => round)) {
      for (const group of reached) group.closed = this.#closed;
    }
  }

  #keep(): void {
    this.#assumed.length = 0;
  }

  #undo(to: number): void {
    while (this.#assumed.length > to) {
      const { group, key } = this.#assumed.pop()!;
      if (key === LABEL) {
        group.labels.pop();
        this.#labels.shorten(group.labels);
        group.begun = false;
      } else {
        group.members.pop()!.state.group = null;
        this.#byKey.delete(key);
      }
    }
  }

  /**
   * Whether a state may join a group: it does the same for each answer that is
   * known of a state of the group. If not, the caller takes back what was
   * assumed.
   */
  #joins(agent: Agent, state: Snapshot, group: Group): boolean {
    const known = state.group;
    if (known !== null && known.of === this) return known === group;
    const key = this.#keyOf(state);
    const same = this.#byKey.get(key);
    if (same !== undefined) return same === group;
    if (sightOf(this.#engine, this.#results, agent, state) !== group.sight) {
      this.#turned ||= turns(state) || turns(group.members[0]!.state);
      return false;
    }
    enter(state, group);
    this.#byKey.set(key, group);
    const { members } = group;
    members.push({ state, agent: agent.id, place: this.#place });
    this.#assumed.push({ group, key });
    const labels = this.#labelsOf(group);
    for (let i = 0; i < labels.length; i++) {
      const { edge, to } = labels[i]!;
      if (!this.#follows(agent, state, edge, to)) return false;
    }
    // An answer that only this state got is new to the others.
    const { edges } = state;
    for (; edges !== null && state.proved < edges.length; state.proved++) {
      const edge = edges[state.proved]!;
      if (this.#known(labels, edge) !== undefined) continue;
      const to = this.#groupOf(agent, edge.to, group);
      this.#label(group, edge, to);
      for (let i = 0; members[i]!.state !== state; i++) {
        const { state: other, agent: owner } = members[i]!;
        if (!this.#follows(this.#agents[owner]!, other, edge, to)) return false;
      }
    }
    return true;
  }

  /** Notes an answer as long as the present assumptions hold. */
  #label(group: Group, edge: Edge, to: Group): void {
    this.#link(group, edge, to);
    this.#assumed.push({ group, key: LABEL });
  }

  #link(group: Group, edge: Edge, to: Group): void {
    group.labels.push({ edge, to });
    if (group.closed === this.#closed && to.closed !== this.#closed) {
      this.#closed++;
    }
  }

  /** The answers that are known of the states of a group. */
  #labelsOf(group: Group): readonly Label[] {
    const { labels, members } = group;
    const { state, agent: owner } = members[0]!;
    const agent = this.#agents[owner]!;
    const { edges } = state;
    if (group.begun || edges === null) return labels;
    group.begun = true;
    for (let i = 0; i < edges.length; i++) {
      const edge = edges[i]!;
      if (this.#known(labels, edge) !== undefined) continue;
      this.#label(group, edge, this.#groupOf(agent, edge.to, group));
    }
    return labels;
  }

  /**
   * Whether a group leads to another one. A state does not join a group that
   * leads to it: the rounds of a loop stay apart, so that a loop without end is
   * seen as such.
   */
  #leads(from: Group, to: Group): boolean {
    if (from === to) return true;
    const sought = this.#sought++;
    const open = [from];
    from.sought = sought;
    for (let group = open.pop(); group !== undefined; group = open.pop()) {
      for (const { to: next } of group.labels) {
        if (next === to) return true;
        if (next.sought === sought) continue;
        next.sought = sought;
        open.push(next);
      }
    }
    return false;
  }

  /** Notes that a comparison before the operation `place` was wrong. */
  #blame(place: number): void {
    const fails = this.#turned ? FAILS : 1;
    this.#loops.set(place, (this.#loops.get(place) ?? 0) + fails);
  }

  /** Whether a state must not join others, as it may be a round of a loop. */
  #isRound(state: Snapshot): boolean {
    return isShort(state) || (this.#loops.get(placeOf(state)) ?? 0) >= FAILS ||
      this.#engine.rounds.has(roundOf(state.h1, state.h2));
  }

  /** Whether the answer of `edge` leads the agent to the group `to`, too. */
  #follows(agent: Agent, state: Snapshot, edge: Edge, to: Group): boolean {
    const next = this.#next(agent, state, edge);
    if (next.to === null) this.#turned = true;
    return next.to !== null && sameAnswers(edge.ended, next.ended) &&
      this.#joins(agent, next.to, to);
  }

  /** Gives all states of a group the answers that one of them got. */
  #prove(agent: Agent, from: Snapshot): void {
    const group = from.group!;
    const edges = from.edges!;
    while (from.proved < edges.length) {
      const edge = edges[from.proved]!;
      const to = this.#groupOf(agent, edge.to, group);
      from.proved++;
      const known = this.#known(group.labels, edge);
      if (known !== undefined) {
        if (known.to !== to) throw new Apart();
        if (!sameAnswers(known.edge.ended, edge.ended)) throw new Apart();
        continue;
      }
      this.#link(group, edge, to);
      // Those that join while this goes on look at the labels themselves.
      for (const { state, agent: owner, place } of group.members.slice()) {
        if (state === from) continue;
        this.#place = place;
        this.#left = Infinity;
        this.#turned = false;
        if (!this.#follows(this.#agents[owner]!, state, edge, to)) {
          const mine = group.members.find((one) => one.state === from);
          this.#blame(place < 0 ? mine?.place ?? -1 : place);
          throw new Apart();
        }
        this.#keep();
      }
    }
  }

  #keyOf(state: Snapshot): number {
    // What stood for a group in an earlier search has that group's hash.
    hashAgent(state);
    let key1 = state.key1;
    let key2 = state.key2;
    if (this.#results) {
      key1 ^= state.results1;
      key2 ^= state.results2;
    }
    return (key1 >>> 0) * 0x200000 + (key2 >>> 11);
  }

  /** What an agent does after the answer of `edge`. */
  #next(agent: Agent, state: Snapshot, edge: Edge): Next {
    const { edges } = state;
    if (edges !== null) {
      const real = this.#edges.find(
        edges,
        edge.now,
        (other) => isSame(other, edge),
      );
      if (real !== undefined) return { edge, to: real.to, ended: real.ended };
    }
    let tried = this.#tried.get(state);
    if (tried === undefined) this.#tried.set(state, tried = []);
    let next = tried.find((other) => isSame(other.edge, edge));
    if (next !== undefined) return next;
    if (this.#left-- <= 0) return { edge, to: null, ended: [] };
    if (this.#runs++ > ALL_RUNS + RUNS_A_STATE * this.steps) throw HOPELESS;
    const { guards } = edge;
    next = { edge, ...shadow(this.#engine, agent, state, edge, guards) };
    tried.push(next);
    return next;
  }
}

/** What others can see of a state. */
export function sightOf(
  engine: Engine,
  results: boolean,
  { like }: Agent,
  s: Snapshot,
): string {
  const name = nameOf(s.target);
  let text = `${like} ${s.status} ${s.oi} ${s.kind} ${s.address} ` +
    `${s.size} ${name} ${s.index} ${textOf(s.a)} ${textOf(s.b)} ` +
    `${s.timeout} ${s.waitAddress} ${s.deadline} ${s.invoked} ` +
    `${s.spinNext} ${s.stale} ${s.serial} ${s.idleFires} ${s.fires} ` +
    `${s.looping} ${s.leap} ${s.tick} ${s.ticks} ${Math.max(0, s.ends - s.n)}`;
  if (s.status === k.SPINNING) text += ` ${s.spinAddresses}`;
  if (s.looping) text += ` ${roundIn(s)}`;
  if (results) text += ` ${s.results1} ${s.results2}`;
  if (engine.world.judge !== null) text += ` ${writtenIn(s)}`;
  for (const { kind, address, size } of s.plain) {
    text += ` ${kind},${address},${size}`;
  }
  const alone = name.endsWith("DataView") ||
    s.inbox.length + s.timers.length > 0;
  return alone ? `${text} ${s.key1} ${s.key2}` : text;
}

/** Puts a state into a group. */
function enter(state: Snapshot, group: Group): Group {
  state.group = group;
  state.proved = 0;
  return group;
}

/** Whether an agent is in a loop that seems to have no end. */
const turns = ({ looping, status, ends, n }: Snapshot): boolean =>
  looping || status === k.SPINNING || ends > n;

/** Whether an agent seems to begin another round of a short loop. */
function isShort({ kind, address, from, n, sig }: Snapshot): boolean {
  const next = signature(kind, address);
  for (let i = n - 1; i >= from && i >= n - SHORT; i--) {
    if (sig[i] === next) return true;
  }
  return false;
}

/** The operation that an agent does next, and its call. */
const placeOf = ({ oi, kind, address }: Snapshot): number =>
  (address * 32 + kind) * 64 + oi;

/** Whether an answer is known that an agent got in a state of a group. */
const isTried = ({ labels, members }: Group): boolean =>
  labels.length > 0 || members.some(({ state }) => state.edges !== null);

const textOf = (value: unknown): string =>
  Object.is(value, -0) ? "-0" : String(value);

/** The last round of the loop that an agent is in. */
function roundIn({ n, period, sig, res }: Snapshot): string {
  let text = `${period}`;
  for (let i = n - period; i < n; i++) text += ` ${sig[i]} ${show(res[i])}`;
  return text;
}

const nameOf = (target: Target | null): string =>
  target === null ? "" : target.name;

/** Whether calls returned the same. */
function sameAnswers(a: readonly Ended[], b: readonly Ended[]): boolean {
  return a.length === b.length &&
    a.every(({ result }, i) => Object.is(keyOf(result), keyOf(b[i]!.result)));
}

/** Whether two edges have the same cause. */
function isSame(a: Edge, b: Edge): boolean {
  return a.cause === b.cause && a.now === b.now &&
    Object.is(a.value, b.value) && sameGuards(a.guards, b.guards);
}
