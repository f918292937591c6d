/**
 * What agents did before. What an agent does next depends only on what it has
 * seen and on the answer it gets now. So the engine runs it a few times for
 * each answer, and from then on takes its next state from here.
 *
 * @module
 */
import type { Access, Edge, Ended, Guard, Snapshot } from "./snapshot.ts";
import type { Agent } from "./agent.ts";
import { holds } from "./guard.ts";
import { Times } from "./times.ts";
import type { Target } from "../../platform/views.ts";

/** An agent that must be run, and what is then to be remembered. */
export interface Job {
  readonly agent: Agent;
  /** The state it was in, if what follows is to be remembered. */
  readonly from: Snapshot | null;
  /** The same, if what follows is to be noted. */
  readonly before: Snapshot | null;
  readonly cause: number;
  readonly value: unknown;
  readonly now: number;
  /** What followed before, if the agent is run to check that. */
  readonly edge: Edge | undefined;
}

/** The operation of a step changed memory, or read an old value. */
export const CHANGED = 1;
export const STALE_READ = 2;
/** It is woken, or leaves a loop because a word has changed. */
export const WOKEN = 8 << 8;
export const RESUMED = 9 << 8;
/** A settled promise is put into its event queue. */
export const DELIVERED = 10 << 8;
/** Memory has changed: what it waits for may come. */
export const REFRESHED = 11 << 8;
/** It recovers what a terminated agent left behind. */
export const RECOVERS = 12 << 8;
/** A message arrives at it: this, and 4,096 times the message's number. */
export const ARRIVES = 13 << 8;

/**
 * How many times an agent is run for the same step. An agent that then does
 * something else depends on more than it has seen.
 */
export const ENOUGH = 3;

/**
 * The number of steps after which an agent is run twice for each, and the
 * number after which it is run once. Code that does something else has done so
 * before. Tests compare searches that trust agents at once.
 */
export const TRUST = { first: 100, second: 1000 };

/** The most states of agents that are kept. */
const MOST = 400_000;

/** The states of agents, and what follows from them. */
export class Memo {
  #size = 0;
  /** How many there ever were in this exploration. */
  #added = 0;
  readonly #starts = new Map<string, Snapshot[]>();
  readonly #returned = new Map<string, Snapshot[]>();
  readonly #times = new Times<Edge>(({ now }) => now);

  /** Whether it matters how many old values an agent has read. */
  countsOld = false;

  /** Whether nothing more is remembered. */
  get full(): boolean {
    return this.#size >= MOST;
  }

  /** Begins an exploration, which forgets what agents did in others. */
  begin(): void {
    this.clear();
    this.#added = 0;
  }

  /** Forgets what agents did. */
  clear(): void {
    this.#size = 0;
    this.#starts.clear();
    this.#returned.clear();
  }

  /** What follows from a state, if it is known. */
  find(
    from: Snapshot,
    cause: number,
    value: unknown,
    now: number,
  ): Edge | undefined {
    const { edges } = from;
    if (edges === null) return undefined;
    const places = this.#times.placesOf(edges, now);
    const { length } = places ?? edges;
    for (let i = 0; i < length; i++) {
      const edge = edges[places === null ? i : places[i]!]!;
      if (
        edge.cause === cause && edge.now === now &&
        Object.is(edge.value, value) &&
        (edge.guards.length === 0 || hold(edge.guards, now))
      ) return edge;
    }
    return undefined;
  }

  /** Notes that the state of `agent` follows from `from`. */
  add(
    from: Snapshot,
    cause: number,
    value: unknown,
    now: number,
    agent: Agent,
    ended: readonly Ended[],
    guards: readonly Guard[],
    sure: boolean,
  ): void {
    if (this.full) return;
    if (ended.length > 0 && agent.n === 0) this.#join(agent);
    const to = agent.save();
    this.#size++;
    const added = ++this.#added;
    const runs = sure || added > TRUST.second
      ? ENOUGH
      : added > TRUST.first
      ? ENOUGH - 1
      : 1;
    (from.edges ??= []).push({ cause, value, now, guards, to, ended, runs });
  }

  /**
   * Gives the agent, which begins a call and remembers nothing, the same state
   * as an agent that began the call before.
   */
  #join(agent: Agent): void {
    meet(this.#starts, agent, isSame);
  }

  /**
   * Gives the agent the state of an agent that came here by another way through
   * an operation of a primitive that has returned: see `step/returns.ts`. So
   * what follows is remembered for both.
   */
  join(agent: Agent): void {
    if (agent.ends > 0 || agent.looping || agent.leap > 0) return;
    const { countsOld } = this;
    meet(
      this.#returned,
      agent,
      (a, b) => (!countsOld || a.stale === b.stale) && isAlike(a, b),
    );
  }
}

/** Gives the agent a known state that is the same, or adds its own to them. */
function meet(
  states: Map<string, Snapshot[]>,
  agent: Agent,
  isSame: (a: Snapshot, b: Snapshot) => boolean,
): void {
  const mine = agent.save();
  const key = `${agent.like} ${mine.oi} ${mine.status} ${mine.kind} ` +
    `${mine.address} ${mine.serial} ${mine.h1} ${mine.h2}`;
  const known = states.get(key);
  if (known === undefined) states.set(key, [mine]);
  else {
    const same = known.find((other) => isSame(mine, other));
    if (same === undefined) known.push(mine);
    else agent.load(same);
  }
}

/** Whether memory gives all answers that are asked for. */
function hold(guards: readonly Guard[], now: number): boolean {
  for (let i = 0; i < guards.length; i++) {
    if (!holds(guards[i]!, now)) return false;
  }
  return true;
}

/** Whether two states of an agent without a record are the same. */
export const isSame = (a: Snapshot, b: Snapshot): boolean =>
  a.pure === b.pure && a.effort === b.effort && a.steps === b.steps &&
  a.stale === b.stale && isAlike(a, b);

/**
 * Whether two states of an agent whose records mean the same are the same. They
 * may differ in how many steps led to them, and in how many of these were reads
 * of old values.
 */
function isAlike(a: Snapshot, b: Snapshot): boolean {
  return a.calls === b.calls && sameTarget(a.target, b.target) &&
    a.index === b.index &&
    Object.is(a.a, b.a) && Object.is(a.b, b.b) && a.timeout === b.timeout &&
    a.deadline === b.deadline && a.invoked === b.invoked &&
    a.size === b.size && a.first === b.first &&
    a.idleFires === b.idleFires && a.fires === b.fires &&
    a.spinNext === b.spinNext &&
    a.tick === b.tick && a.ticks === b.ticks && a.leap === b.leap &&
    a.ends === b.ends && a.looping === b.looping &&
    samePlain(a.plain, b.plain) &&
    a.inbox.length + b.inbox.length + a.timers.length + b.timers.length === 0 &&
    a.open.length + b.open.length === 0 &&
    a.results.length === b.results.length &&
    a.results.every((result, i) => Object.is(result, b.results[i]));
}

/** Whether two views are of the same memory; each run may make its own. */
function sameTarget(a: Target | null, b: Target | null): boolean {
  if (a === b) return true;
  return a !== null && b !== null && a.region === b.region &&
    a.base === b.base && a.size === b.size && a.name === b.name &&
    !a.name.endsWith("DataView");
}

/** Whether two lists of plain accesses are the same. */
function samePlain(a: readonly Access[], b: readonly Access[]): boolean {
  return a === b || a.length === b.length && a.every((access, i) => {
        const { kind, address, size } = b[i]!;
        return access.kind === kind && access.address === address &&
          access.size === size;
      });
}

/** Whether an agent came to the same state as before. */
export function agrees(agent: Agent, { to, ended }: Edge): boolean {
  return agent.kind === to.kind && agent.address === to.address &&
    agent.status === to.status && agent.n === to.n && agent.oi === to.oi &&
    agent.h1 === to.h1 && agent.h2 === to.h2 && Object.is(agent.a, to.a) &&
    Object.is(agent.b, to.b) && agent.timeout === to.timeout &&
    agent.calls === to.calls && agent.results.length === to.results.length &&
    agent.results.length - ended.length >= 0;
}
