/**
 * Groups of agents that concern no others. If what the agents of a group do
 * next commutes with all that the others can still do, only the group's steps
 * need be taken from a state: the others' steps come later. Such a set of steps
 * is a persistent set (Godefroid 1996).
 *
 * Which words an agent uses is learned while the search goes on, and also
 * which it may still use from where it stands. If an agent uses a word that the
 * search relied on to be left alone, the search starts again.
 *
 * @module
 */
import type { Snapshot } from "../state/agent/snapshot.ts";
import * as k from "../kinds.ts";
import type { Memory } from "../state/memory.ts";
import type { Prospects } from "../state/prospects.ts";
import type { Region } from "../region.ts";

/** All agents. */
export const ALL = -1;
/** No agent. */
const NOBODY = 0;

/** The most bytes that an agent looks at in one operation. */
const WIDEST = 8;

/** What decides about groups. */
export interface Ground {
  readonly memory: Memory;
  /** Whether a model or an invariant observes when calls begin. */
  readonly observed: boolean;
  /** What agents can still do, if that may be relied on. */
  prospects: Prospects | null;
  /** For each agent, the first one that does the same. */
  readonly likes: readonly number[];
}

/**
 * The smallest group of agents whose steps alone need be taken in a state, as a
 * set of bits, or `ALL`.
 *
 * A cycle of states contains a state in which an agent is in a loop that
 * changes memory. There is no group in such a state, so that no agent waits for
 * ever for a group that goes round.
 */
export function groupOf(
  ground: Ground,
  agents: readonly Snapshot[],
): number {
  const alive = aliveIn(agents);
  if (alive === NOBODY) return ALL;
  let best = ALL;
  let least = countOf(alive);
  for (let id = 0; id < agents.length; id++) {
    if (agents[id]!.status !== k.READY) continue;
    const group = closed(ground, agents, 1 << id, alive);
    const count = countOf(group);
    if (count >= least) continue;
    best = group;
    least = count;
  }
  if (best === ALL) return ALL;
  for (let id = 0; id < agents.length; id++) {
    if ((best >> id & 1) === 1) concernedBy(ground, agents, id, best | ~alive);
  }
  return best;
}

/** An agent that is a group, or -1. */
export function loneIn(ground: Ground, agents: readonly Snapshot[]): number {
  const alive = aliveIn(agents);
  if (countOf(alive) < 2) return -1;
  for (let id = 0; id < agents.length; id++) {
    if (agents[id]!.status !== k.READY) continue;
    const mine = 1 << id;
    if ((concernedBy(ground, agents, id) & alive & ~mine) !== 0) continue;
    concernedBy(ground, agents, id, mine | ~alive);
    return id;
  }
  return -1;
}

/** The agents that are not done, or `NOBODY` if there can be no group. */
function aliveIn(agents: readonly Snapshot[]): number {
  let alive = NOBODY;
  for (let id = 0; id < agents.length; id++) {
    const { status, looping, leap, idleFires, deadline } = agents[id]!;
    if (looping || leap > 0 || idleFires > 0 || deadline !== Infinity) {
      return NOBODY;
    }
    if (status !== k.DONE) alive |= 1 << id;
  }
  return alive;
}

/** How many agents a set has. */
function countOf(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** A set of agents, with all those that they concern. */
function closed(
  ground: Ground,
  agents: readonly Snapshot[],
  first: number,
  alive: number,
): number {
  let group = first;
  for (let todo = first; todo !== 0;) {
    const id = 31 - Math.clz32(todo);
    const more = concernedBy(ground, agents, id) & alive & ~group;
    group |= more;
    if (group === alive) return alive;
    todo = todo & ~(1 << id) | more;
  }
  return group;
}

/**
 * The agents that may still do something that does not commute with what an
 * agent does next, or that can let it go on. The search relies on it that these
 * are among `only`.
 */
function concernedBy(
  ground: Ground,
  agents: readonly Snapshot[],
  id: number,
  only = ALL,
): number {
  const { memory, observed } = ground;
  const agent = agents[id]!;
  const { status, kind, target, address, size, timeout, invoked } = agent;
  if (status === k.DONE) return 0;
  if (status === k.SPINNING) {
    let writers = 0;
    for (const at of agent.spinAddresses) {
      const region = memory.regionAt(at);
      writers |= others(ground, agents, region, at, WIDEST, true, only);
    }
    return writers;
  }
  if (target === null || kind > k.WRITE) return ALL;
  if (kind === k.WAIT && timeout !== Infinity) return ALL;
  if (status === k.READY && observed && !invoked) return ALL;
  const reads = kind === k.LOAD || kind === k.READ;
  const { region } = target;
  return others(ground, agents, region, address, size, reads, only) |
    racing(ground, agents, agent, only);
}

/**
 * The agents that may still use what an agent has accessed plainly: they may be
 * in a data race with it, which only shows before its next operation.
 */
function racing(
  ground: Ground,
  agents: readonly Snapshot[],
  { plain }: Snapshot,
  only: number,
): number {
  let found = 0;
  for (const { kind, address, size } of plain) {
    const region = ground.memory.regionAt(address);
    const reads = kind === k.READ;
    found |= others(ground, agents, region, address, size, reads, only);
  }
  return found;
}

/**
 * The agents that were seen to use, or write, `size` bytes, and may still do so
 * from where they stand.
 */
function others(
  { memory, prospects, likes }: Ground,
  agents: readonly Snapshot[],
  region: Region,
  address: number,
  size: number,
  writing: boolean,
  only: number,
): number {
  const seen = memory.agentsAt(region, address, size, writing);
  if (prospects === null) {
    if (only !== ALL) memory.rely(region, only, address, size, writing);
    return seen;
  }
  if (only !== ALL) memory.rely(region, only | seen, address, size, writing);
  if (seen === 0) return 0;
  const words = prospects.wordsOf(region, address, size);
  let still = seen;
  for (let id = 0; id < agents.length; id++) {
    const agent = agents[id]!;
    if ((seen >> id & 1) === 0 || agent.status === k.DONE) continue;
    if (prospects.may(agent, likes[id]!, words, writing)) continue;
    still &= ~(1 << id);
    if (only === ALL || (only >> id & 1) === 1) continue;
    prospects.rely(agent, likes[id]!, words, writing);
  }
  return still;
}
